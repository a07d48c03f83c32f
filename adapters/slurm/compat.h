/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences between Slurm 22.05, 24.11 and 26.05 for a client of libslurm, and the few exported
 * functions that its headers leave out. The only header outside plugin/ that includes Slurm's.
 */
#ifndef LT_COMPAT_H
#define LT_COMPAT_H

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/slurmdb.h>

/* Functions that libslurm has on all three (its version script exports slurm_*). */
int32_t slurm_bit_set_count(bitstr_t *bits);
void slurm_free_stats_response_msg(stats_info_response_msg_t *reply);
void slurm_free_will_run_response_msg(will_run_response_msg_t *reply);
int slurm_conf_reinit(const char *path);
extern slurm_conf_t slurm_conf; /* what slurm_init() read */
/* The bit of its accounting_storage_enforce, which no header has. */
enum { LT_SLURM_ENFORCE_LIMITS = 1 << 1 };
/* The items of slurmdb_config_get(): config_key_pair_t, which no header has. */
typedef struct {
	char *name, *value;
} lt_slurm_config_pair;

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
typedef list_t lt_slurm_list;
typedef list_itr_t lt_slurm_iterator;
#else
typedef struct xlist lt_slurm_list;
typedef struct listIterator lt_slurm_iterator;
#endif

/* 26.05 takes ids of steps where it took ids of jobs. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
static inline slurm_step_id_t
lt_slurm_step(uint32_t job_id)
{
	slurm_step_id_t step = SLURM_STEP_ID_INITIALIZER;

	step.job_id = job_id;
	return step;
}
#define LT_SLURM_LOAD_JOB(reply, id, flags) slurm_load_job((reply), lt_slurm_step(id), (flags))
#define LT_SLURM_KILL_JOB(id, signal, flags) slurm_kill_job(lt_slurm_step(id), (signal), (flags))
#define LT_SLURM_FREE_CONF slurm_free_conf
#else
#define LT_SLURM_LOAD_JOB slurm_load_job
#define LT_SLURM_KILL_JOB slurm_kill_job
#define LT_SLURM_FREE_CONF slurm_free_ctl_conf
#endif

/* Since 25.11 records have step ids, and SelectTypeParameters other names. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define LT_SLURM_JOB_ID(record) ((record)->step_id.job_id)
#define LT_SLURM_MEMORY SELECT_MEMORY
#define LT_SLURM_BY_CORE SELECT_CORE
#define LT_SLURM_BY_SOCKET SELECT_SOCKET
#define LT_SLURM_TASK_PER_CORE SELECT_ONE_TASK_PER_CORE
#else
#define LT_SLURM_JOB_ID(record) ((record)->job_id)
#define LT_SLURM_MEMORY CR_MEMORY
#define LT_SLURM_BY_CORE CR_CORE
#define LT_SLURM_BY_SOCKET CR_SOCKET
#define LT_SLURM_TASK_PER_CORE CR_ONE_TASK_PER_CORE
#endif

/* AllowSpecResourcesUsage */
#ifdef CONF_FLAG_ASRU
#define LT_SLURM_SPEC_USAGE CONF_FLAG_ASRU
#else
#define LT_SLURM_SPEC_USAGE CTL_CONF_ASRU
#endif

/* Versions where an update counts tasks anew. Before, a running job refuses a number. */
#ifdef TASKS_CHANGED
#define LT_SLURM_KEEP_TASKS(request, tasks) ((request)->num_tasks = (tasks) == 0 ? NO_VAL : (tasks))
#else
#define LT_SLURM_KEEP_TASKS(request, tasks) ((void)(request), (void)(tasks))
#endif

/* MaxCPUsPerSocket came in 23.02, RestrictedCoresPerGPU in 24.05. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#define LT_SLURM_CPUS_PER_SOCKET(partition) ((partition)->max_cpus_per_socket)
#define LT_SLURM_CORES_PER_GPU(node) ((node)->res_cores_per_gpu)
#else
#define LT_SLURM_CPUS_PER_SOCKET(partition) ((void)(partition), 0U)
#define LT_SLURM_CORES_PER_GPU(node) ((void)(node), 0U)
#endif

/* Nodes that came by slurmd -Z; partitions that power down what is idle. */
#ifdef NODE_STATE_DYNAMIC_NORM
#define LT_SLURM_NODE_DYNAMIC NODE_STATE_DYNAMIC_NORM
#else
#define LT_SLURM_NODE_DYNAMIC 0
#endif
#ifdef PART_FLAG_PDOI
#define LT_SLURM_PART_FLAGS PART_FLAG_PDOI
#else
#define LT_SLURM_PART_FLAGS 0
#endif

/* shared: 0 = --exclusive; 26.05 has a field of its own for it. */
#ifdef JOB_EXCLUSIVE_NODE
#define LT_SLURM_EXCLUSIVE(job) ((job)->exclusive == JOB_EXCLUSIVE_NODE)
#else
#define LT_SLURM_EXCLUSIVE(job) ((job)->shared == JOB_SHARED_NONE)
#endif

/* Newer releases cancel a scrontab job only when asked for by name. */
#ifdef KILL_CRON
#define LT_SLURM_KILL_FLAGS KILL_CRON
#else
#define LT_SLURM_KILL_FLAGS 0
#endif

/* Sets whose a node's reason is; 26.05 knows that from the sender. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define LT_SLURM_REASON_UID(message, uid) ((void)(message), (void)(uid))
#else
#define LT_SLURM_REASON_UID(message, uid) ((message)->reason_uid = (uid))
#endif

/* slurmdbd counts restarts from 24.11 on. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
#define LT_SLURM_RESTARTS(row) ((row)->restart_cnt)
#else
#define LT_SLURM_RESTARTS(row) ((void)(row), 0)
#endif

/* A type of its own in 22.05, a pointer to one since. */
typedef __typeof__(slurm_hostlist_create("")) lt_slurm_hostlist;

#endif
