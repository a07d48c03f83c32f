/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a request, by the names of sbatch's options where there is one: one table from text
 * to job_desc_msg_t. client.c gives the result to Slurm.
 */
#include "request.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm_version.h>

enum kind {
	NUMBER8,
	NUMBER16,
	NUMBER32,
	NUMBER64,
	TEXT,
	TRES,	 /* a text in which "gres:" is what this release writes */
	BIT,	 /* 1: the bits are set in bitflags */
	MEM_CPU, /* MiB per CPU */
	THREADS, /* core_spec as threads */
	NODES,	 /* "N", "N-M" */
	DIST,
	NICE,
	SECONDS, /* from now */
	BATCH,
	RPC,
};

struct field {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t bits;
};

#define AT(member) offsetof(job_desc_msg_t, member)

static const struct field fields[] = {
    {"partition", TEXT, AT(partition), 0},
    {"account", TEXT, AT(account), 0},
    {"qos", TEXT, AT(qos), 0},
    {"ntasks", NUMBER32, AT(num_tasks), JOB_NTASKS_SET},
    {"nodes", NODES, 0, 0},
    {"min_nodes", NUMBER32, AT(min_nodes), 0},
    {"max_nodes", NUMBER32, AT(max_nodes), 0},
    {"cpus_per_task", NUMBER16, AT(cpus_per_task), JOB_CPUS_SET},
    {"min_cpus", NUMBER32, AT(min_cpus), 0},
    {"max_cpus", NUMBER32, AT(max_cpus), 0},
    {"mincpus", NUMBER16, AT(pn_min_cpus), 0},
    {"ntasks_per_node", NUMBER16, AT(ntasks_per_node), 0},
    {"ntasks_per_socket", NUMBER16, AT(ntasks_per_socket), 0},
    {"ntasks_per_core", NUMBER16, AT(ntasks_per_core), 0},
    {"ntasks_per_board", NUMBER16, AT(ntasks_per_board), 0},
    {"ntasks_per_gpu", NUMBER16, AT(ntasks_per_tres), 0},
    {"boards_per_node", NUMBER16, AT(boards_per_node), 0},
    {"sockets_per_board", NUMBER16, AT(sockets_per_board), 0},
    {"sockets_per_node", NUMBER16, AT(sockets_per_node), 0},
    {"cores_per_socket", NUMBER16, AT(cores_per_socket), 0},
    {"threads_per_core", NUMBER16, AT(threads_per_core), 0},
    {"plane_size", NUMBER16, AT(plane_size), 0},
    {"distribution", DIST, AT(task_dist), 0},
    {"contiguous", NUMBER16, AT(contiguous), 0},
    {"shared", NUMBER16, AT(shared), 0},
    {"overcommit", NUMBER8, AT(overcommit), 0},
    {"core_spec", NUMBER16, AT(core_spec), 0},
    {"thread_spec", THREADS, AT(core_spec), 0},
    {"mem", NUMBER64, AT(pn_min_memory), 0},
    {"mem_per_cpu", MEM_CPU, AT(pn_min_memory), 0},
    {"mem_per_gpu", TRES, AT(mem_per_tres), 0},
    {"cpus_per_gpu", TRES, AT(cpus_per_tres), 0},
    {"gpus", TRES, AT(tres_per_job), 0},
    {"gres", TRES, AT(tres_per_node), 0},
    {"gpus_per_socket", TRES, AT(tres_per_socket), 0},
    {"gpus_per_task", TRES, AT(tres_per_task), 0},
    {"tres_bind", TRES, AT(tres_bind), 0},
    {"tres_freq", TRES, AT(tres_freq), 0},
    {"enforce_binding", BIT, AT(bitflags), GRES_ENFORCE_BIND},
    {"disable_binding", BIT, AT(bitflags), GRES_DISABLE_BIND},
    {"spread_job", BIT, AT(bitflags), SPREAD_JOB},
    {"use_min_nodes", BIT, AT(bitflags), USE_MIN_NODES},
#ifdef GRES_ONE_TASK_PER_SHARING
    {"one_task_per_sharing", BIT, AT(bitflags), GRES_ONE_TASK_PER_SHARING},
    {"multiple_tasks_per_sharing", BIT, AT(bitflags), GRES_MULT_TASKS_PER_SHARING},
#endif
#ifdef GRES_ALLOW_TASK_SHARING
    {"allow_task_sharing", BIT, AT(bitflags), GRES_ALLOW_TASK_SHARING},
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
    {"segment", NUMBER16, AT(segment_size), 0},
#endif
    {"constraint", TEXT, AT(features), 0},
    {"prefer", TEXT, AT(prefer), 0},
    {"batch_features", TEXT, AT(batch_features), 0},
    {"nodelist", TEXT, AT(req_nodes), 0},
    {"exclude", TEXT, AT(exc_nodes), 0},
    {"switches", NUMBER32, AT(req_switch), 0},
    {"wait4switch", NUMBER32, AT(wait4switch), 0},
    {"licenses", TEXT, AT(licenses), 0},
    {"tmp", NUMBER32, AT(pn_min_tmp_disk), 0},
    {"time", NUMBER32, AT(time_limit), 0},
    {"time_min", NUMBER32, AT(time_min), 0},
    {"deadline", SECONDS, AT(deadline), 0},
    {"array", TEXT, AT(array_inx), 0},
    {"nice", NICE, AT(nice), 0},
    {"requeue", NUMBER16, AT(requeue), 0},
    {"wait_all_nodes", NUMBER16, AT(wait_all_nodes), 0},
    {"no_kill", NUMBER16, AT(kill_on_node_fail), 0},
    {"delay_boot", NUMBER32, AT(delay_boot), 0},
    {"cpu_freq", NUMBER32, AT(cpu_freq_max), 0},
    {"profile", NUMBER32, AT(profile), 0},
    {"acctg_freq", TEXT, AT(acctg_freq), 0},
    {"cpu_bind", NUMBER16, AT(cpu_bind_type), 0},
    {"mem_bind", NUMBER16, AT(mem_bind_type), 0},
    {"signal", NUMBER16, AT(warn_signal), 0},
    {"signal_time", NUMBER16, AT(warn_time), 0},
    {"comment", TEXT, AT(comment), 0},
    {"name", TEXT, AT(name), 0},
    {"batch", BATCH, 0, 0},
    {"rpc", RPC, 0, 0},
};

static const struct {
	const char *name;
	uint32_t value;
} distributions[] = {
    {"block", SLURM_DIST_BLOCK},
    {"cyclic", SLURM_DIST_CYCLIC},
    {"arbitrary", SLURM_DIST_ARBITRARY},
    {"plane", SLURM_DIST_PLANE},
    {"block:block", SLURM_DIST_BLOCK_BLOCK},
    {"block:cyclic", SLURM_DIST_BLOCK_CYCLIC},
    {"block:fcyclic", SLURM_DIST_BLOCK_CFULL},
    {"cyclic:block", SLURM_DIST_CYCLIC_BLOCK},
    {"cyclic:cyclic", SLURM_DIST_CYCLIC_CYCLIC},
    {"cyclic:fcyclic", SLURM_DIST_CYCLIC_CFULL},
    {"block:block:cyclic", SLURM_DIST_BLOCK_BLOCK_CYCLIC},
    {"block,pack", SLURM_DIST_BLOCK | SLURM_DIST_PACK_NODES},
    {"block,nopack", SLURM_DIST_BLOCK | SLURM_DIST_NO_PACK_NODES},
    {"cyclic,pack", SLURM_DIST_CYCLIC | SLURM_DIST_PACK_NODES},
};

/* From 23.02 on the commands write "gres/gpu:1" where it was "gres:gpu:1". */
static char *
tres_text(char *value)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
	for (char *at = value; (at = strstr(at, "gres:")) != NULL; at += 5)
		at[4] = '/';
#endif
	return value;
}

static bool
put_distribution(job_desc_msg_t *desc, const char *value)
{
	for (size_t i = 0; i < sizeof(distributions) / sizeof(*distributions); i++)
		if (strcmp(distributions[i].name, value) == 0) {
			desc->task_dist = distributions[i].value;
			return true;
		}
	return false;
}

static bool
put(struct cover_request *request, const struct field *field, char *value)
{
	job_desc_msg_t *const desc = &request->desc;
	char *const at = (char *)desc + field->offset;
	char *end = NULL;
	const uint64_t number = strtoull(value, &end, 10);

	switch (field->kind) {
	case NUMBER8:
		*(uint8_t *)at = (uint8_t)number;
		break;
	case NUMBER16:
		*(uint16_t *)at = (uint16_t)number;
		break;
	case NUMBER32:
		*(uint32_t *)at = (uint32_t)number;
		break;
	case NUMBER64:
		*(uint64_t *)at = number;
		break;
	case TEXT:
		*(char **)at = value;
		return true;
	case TRES:
		*(char **)at = tres_text(value);
		return true;
	case BIT:
		break;
	case MEM_CPU:
		*(uint64_t *)at = number | MEM_PER_CPU;
		break;
	case THREADS:
		*(uint16_t *)at = (uint16_t)(number | CORE_SPEC_THREAD);
		break;
	case NODES:
		desc->min_nodes = desc->max_nodes = (uint32_t)number;
		if (*end == '-')
			desc->max_nodes = (uint32_t)strtoul(end + 1, &end, 10);
		break;
	case DIST:
		return put_distribution(desc, value);
	case NICE:
		*(uint32_t *)at = NICE_OFFSET + (uint32_t)number;
		break;
	case SECONDS:
		*(time_t *)at = time(NULL) + (time_t)number;
		break;
	case BATCH:
		request->is_batch = number == 1;
		break;
	case RPC:
		request->is_rpc = number == 1;
		break;
	}
	return *end == '\0';
}

/* As sbatch and salloc fill in what was not said. */
static void
derive(job_desc_msg_t *desc)
{
	uint32_t tasks = desc->num_tasks;
	const uint32_t nodes = desc->min_nodes == NO_VAL ? 1 : desc->min_nodes;

	if (tasks == NO_VAL) {
		tasks = nodes;
		if (desc->ntasks_per_node != NO_VAL16 && desc->ntasks_per_node != 0)
			tasks *= desc->ntasks_per_node;
	}
	if (desc->overcommit != NO_VAL8)
		desc->min_cpus = nodes;
	else if (desc->cpus_per_task != NO_VAL16)
		desc->min_cpus = tasks * desc->cpus_per_task;
	else
		desc->min_cpus = tasks;
}

bool
cover_request_read(struct cover_request *request, char *line)
{
	static char script[] = "#!/bin/sh\nexit 0\n", directory[] = "/tmp",
		    path[] = "PATH=/usr/bin:/bin", output[] = "/dev/null", name[] = "cover";
	static char *environment[] = {path, NULL};
	job_desc_msg_t *const desc = &request->desc;
	char *rest = NULL;

	memset(request, 0, sizeof(*request));
	slurm_init_job_desc_msg(desc);
	desc->name = name;
	desc->user_id = getuid();
	desc->group_id = getgid();
	desc->work_dir = directory;
	for (char *word = strtok_r(line, " \n", &rest); word != NULL;
	     word = strtok_r(NULL, " \n", &rest)) {
		char *const value = strchr(word, '=');
		bool known = false;

		if (value != NULL) {
			*value = '\0';
			for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
				if (strcmp(fields[i].name, word) == 0) {
					known = put(request, &fields[i], value + 1);
					desc->bitflags |= fields[i].bits;
				}
		}
		if (!known) {
			snprintf(request->bad, sizeof(request->bad), "%s", word);
			return false;
		}
	}
	if (!request->is_rpc)
		derive(desc);
	if (request->is_batch) {
		desc->script = script;
		desc->environment = environment;
		desc->env_size = 1;
		desc->std_out = output;
	}
	return true;
}
