/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The batch system as a source: partitions, nodes, associations, jobs and finished runs.
 * adapters/slurm/ has these functions of Slurm, by libslurm; kubernetes/ of a Kubernetes cluster: a
 * daemon is linked with one of them. No type of theirs passes this header. The words are Slurm's.
 */
#ifndef LT_BATCH_H
#define LT_BATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "error.h"
#include "market.h"
#include "pool.h"

/*
 * slurm.conf as libslurm sees it; conf_path NULL = SLURM_CONF, else the usual places. state_dir is
 * lowtide's own; Slurm's adapter has nothing there. Not thread safe, as all of this header: one
 * thread calls it.
 *
 * Every call is bounded: slurmctld refusing connections, LT_ENET at once; hanging, LT_ENET after
 * MessageTimeout (10 s by default).
 */
int lt_batch_init(const char *conf_path, const char *state_dir, struct lt_error *err);
void lt_batch_fini(void);

/* PrivateData, as far as it is about what lowtide shows. */
enum {
	LT_PRIVATE_JOBS = 1 << 0,
	LT_PRIVATE_USAGE = 1 << 1,
	LT_PRIVATE_ACCOUNTS = 1 << 2,
};

struct lt_batch_conf {
	char cluster[LT_NAME_SIZE];
	char release[32];     /* "22.05.8", of slurmctld */
	char our_release[32]; /* of the libslurm we were built with */
	char job_submit_plugins[256], plugin_dir[512], plugstack[512];
	char control_host[256];
	char munge_socket[512]; /* from AuthInfo; "" = default */
	char accounting_storage[64], accounting_enforce[128];
	char priority_type[64], preempt_type[64];
	char slurm_user[64];
	char cloud[8], region[64]; /* "aws", "eu-west-2"; "" = not said */
	uint32_t slurm_uid, slurmd_uid;
	int64_t started_utc_s; /* slurmctld itself; 0 = not said */
	int64_t min_job_age_s;
	int64_t kill_wait_s;
	uint32_t max_array_size, max_job_count;
	uint32_t private_data; /* LT_PRIVATE_*, of slurm.conf */
	bool federated, job_requeue;
	bool keeps_rows; /* by itself, without slurmdbd */
	/* lt_batch_suspend(), _signal() and _requeue() are there */
	bool suspends;
	bool memory_counts;	   /* SelectTypeParameters=*_Memory: else AllocTRES
				    * has no memory, and --mem costs nothing */
	bool core_spec_counts;	   /* AllowSpecResourcesUsage */
	bool gpus_counted;	   /* AccountingStorageTRES has gres/gpu: else rows of
				    * slurmdbd and AllocTRES lack GPUs */
	bool shards_counted;	   /* the same of gres/shard and gres/mps, as far as
				    * GresTypes has them */
	bool is_acting_controller; /* this host's slurmctld is in charge */
};
int lt_batch_conf(struct lt_batch_conf *conf, struct lt_error *err);
/* True if there are rows of finished runs, in slurmdbd or what stands for
 * it. */
static inline bool
lt_batch_has_dbd(const struct lt_batch_conf *conf)
{
	return conf->keeps_rows || strstr(conf->accounting_storage, "slurmdbd") != NULL;
}
/* slurm_uid and munge_socket (the rest is 0) as this host's slurm.conf has them; nobody is asked.
 * After lt_batch_init(). */
void lt_batch_conf_here(struct lt_batch_conf *conf);

struct lt_node_range { /* of a partition: places in Slurm's table of nodes */
	uint32_t partition, first, last;
};
struct lt_batch_nodes {
	struct lt_node_range *ranges;
	bool *are_there; /* by place; false: a hole of the table, FUTURE, or a
			  * cloud's that is powered down */
	uint32_t range_count, count;
	bool *are_away; /* by place: there, and take no job now; NULL: none */
};
void lt_batch_nodes_free(struct lt_batch_nodes *nodes);
struct lt_batch_partitions { /* malloc'd, each */
	struct lt_partition *partitions;
	struct lt_shape *shapes;
	char *strings; /* of lists */
	struct lt_batch_nodes nodes;
	uint32_t count, shape_count;
	uint32_t job_limits; /* enum lt_job_limit, of QOS */
	/* Partitions that pass a bound of limits.h: as if they were not there; why the first one
	 * is. */
	uint32_t left_out;
	struct lt_error why_left_out;
};
/*
 * Partitions and node shapes into a new market's tables: only what Slurm knows; policy fields are
 * zero and series LT_NO_SERIES. *read is written on success.
 */
int lt_batch_partitions(struct lt_batch_partitions *read, struct lt_error *err);
void lt_batch_partitions_free(struct lt_batch_partitions *read);

/*
 * The partition that a run was in: one that has this node, its first,
 * and, if `among` (names with commas) is not empty, is one of those; of several
 * `preferred`, else the first. LT_ENOENT: none. *out is written on success.
 */
int lt_batch_partition_of(char out[LT_NAME_SIZE], const char *node, const char *among,
    const char *preferred, struct lt_error *err);

struct lt_batch_account {
	char name[LT_ACCOUNT_SIZE], parent[LT_ACCOUNT_SIZE];
};
struct lt_batch_pair {
	char account[LT_ACCOUNT_SIZE];
	char user[LT_NAME_SIZE];
	uint32_t uid;
	bool is_default;
	bool by_partition; /* each of its associations is of one partition */
	/* The QOS of a job without --qos, lower case; "" = not known, or not the same in all of its
	 * associations. */
	char default_qos[LT_ACCOUNT_SIZE];
	int64_t wall_s; /* as those of struct lt_pair (budget.h) */
	bool wall_always;
};
/* The name of a user, in pairs that are by uid; NULL: they have none. */
const char *lt_pairs_user(const struct lt_batch_pair *pairs, uint32_t count, uint32_t uid);
/* The uid of the user of that name; false: none of the pairs has it. */
bool lt_pairs_uid(
    const struct lt_batch_pair *pairs, uint32_t count, const char *name, uint32_t *uid);
struct lt_batch_tie { /* users of the account have associations of it */
	char account[LT_ACCOUNT_SIZE], partition[LT_NAME_SIZE];
};
struct lt_batch_associations { /* malloc'd, each */
	struct lt_batch_account *accounts;
	struct lt_batch_pair *pairs; /* by (uid, account), each once */
	struct lt_batch_tie *ties;   /* by account, each once */
	uint32_t account_count, pair_count, tie_count;
	uint32_t unknown_users; /* to the system: left out, and counted */
	uint32_t private_data;	/* LT_PRIVATE_*, of slurmdbd.conf */
	uint32_t job_limits;	/* enum lt_job_limit */
};
/* Lists those of this cluster; empty on failure. */
int lt_batch_associations(struct lt_batch_associations *all, struct lt_error *err);
void lt_batch_associations_free(struct lt_batch_associations *all);
/* Each one's parent becomes the account that it was made below since then; "":
 * it was not made, or that is not known. */
int lt_batch_births(
    struct lt_batch_account *accounts, uint32_t count, int64_t since_utc_s, struct lt_error *err);

struct lt_batch_qoses {
	bool are_known;			/* false: the system has none */
	char (*names)[LT_ACCOUNT_SIZE]; /* malloc'd */
	uint32_t count;
};
int lt_batch_qoses(struct lt_batch_qoses *all, struct lt_error *err);

struct lt_batch_manager { /* who may change others' jobs */
	uint32_t uid;
	char account[LT_ACCOUNT_SIZE]; /* a coordinator's; "" = an operator */
};
/* Lists who manages others' jobs, as slurmctld has them now: operators and administrators, and
 * coordinators with all accounts below theirs; malloc'd. */
int lt_batch_managers(struct lt_batch_manager **managers, uint32_t *count, struct lt_error *err);

enum lt_job_state { LT_JOB_PENDING, LT_JOB_RUNNING, LT_JOB_SUSPENDED, LT_JOB_FINISHED };

/* A pending job's reason: it passes by itself, or has nothing to do with the partition; it says
 * nothing; no wait helps. */
enum lt_reason { LT_REASON_PASSES, LT_REASON_NOTHING, LT_REASON_NEVER };

/* The request of a job, as slurmctld has it after its own checks; 0 = not said. As in struct
 * lt_request (decide.h). */
struct lt_batch_asked {
	uint32_t min_nodes, max_nodes, tasks, cpus_per_task, cpus, cpus_per_node, max_cpus,
	    tasks_per_node, tasks_per_socket, tasks_per_core, tasks_per_board, tasks_per_gpu,
	    sockets_per_node, threads_per_core, gpus, gpus_per_node, gpus_per_socket, gpus_per_task,
	    cpus_per_gpu, shards_per_node, spec_cores, nodes_named, nodes_counted;
	bool tasks_implied, spread, bind_gpus, overcommit, whole_memory;
	bool expands;	     /* another job, whose limit it takes at its start */
	struct lt_exact pod; /* Kubernetes: of a task */
	uint64_t memory_mib_per_node, memory_mib_per_cpu, memory_mib_per_gpu;
};

enum { LT_BATCH_PARTITIONS_SIZE = 1024 }; /* of a job's partition */

/* One record of slurmctld. What it points to is in one block of its own, or with that of others in
 * its list's pool: a list of jobs is long. */
struct lt_batch_job {
	uint32_t job_id, array_job_id, het_job_id;
	uint32_t array_task;	/* UINT32_MAX = none */
	uint32_t array_pending; /* tasks this record stands for, >= 1 */
	uint32_t uid;
	/* None is NULL but admin_comment, where that is "". */
	const char *user, *account, *qos, *partition, *name, *state_text, *reason_text, *node_list,
	    *comment_head, *admin_comment;
	/* Those of an array that wait by this record, "1-4,7"; cut where it is long, with "..."
	 * then. NULL: no array's, or a task's own record. */
	const char *array_tasks;
	const struct lt_batch_asked *asked; /* NULL: nothing; lt_job_asked() */
	/* Its wishes, as options of sbatch, "NAME=VALUE" each in a line; NULL:
	 * its submission had them (job_submit, SPANK). */
	const char *wishes;
	/* Nodes that its user named (--nodelist), "v[1-4],w7", cut where it is long; NULL: none. */
	const char *req_nodes;
	/* Whom its user lets Slurm mail, a user or an address as it was given; NULL: nobody, or of
	 * nothing that lowtide has to say. */
	const char *mail_to;
	char *texts; /* malloc'd: where they are; NULL: in the pool */
	enum lt_job_state state;
	enum lt_reason reason; /* elsewhere NEVER: to be decided again */
	/* requeued: has been at least once. While it is still completing, it is PENDING with the
	 * submit time of the run that ends. held: has priority 0; one that runs continues, and
	 * waits after a requeue. */
	bool completing, requeued, is_cron, is_batch, held, user_held, exclusive, requeue_allowed;
	/* Events to mail of; mails_tasks: of an array's single tasks, too. */
	bool mails_begin, mails_requeue, mails_end, mails_tasks;
	/* Lowtide alone lets it start; partition_named: its user chose
	 * where. */
	bool is_kept, partition_named;
	/* lowtide's choice of where is a wish: it may run elsewhere. */
	bool may_stray;
	/* Kubernetes: not all that it asks for is known, so what it may cost is not. */
	bool is_unsized;
	/* 0 = none. eligible: a begin time that was asked for; start and end of a pending job are
	 * none, of a running one end is the limit. */
	int64_t submit_utc_s, start_utc_s, end_utc_s, eligible_utc_s, deadline_utc_s;
	int64_t start_by_utc_s; /* it would be ended if it waited longer; 0 =
				 * it would not */
	int64_t limit_s;	/* INT64_MAX = none */
	uint32_t nodes, cpus, gpus, shards, priority;
	uint32_t restarts;     /* so often it was requeued */
	uint64_t memory_mib;   /* whole job */
	struct lt_exact exact; /* Kubernetes: of all its pods */
	uint64_t asked_hash;   /* of all that was asked: changes with any of it */
	/* is_allocated: these are AllocTRES; else ReqTRES, less than it gets */
	bool is_allocated;
	int64_t seen_utc_s; /* slurmctld's time of this record */
	/* Left 0 here; the reader's own: nodes x share that it may get, the rates by which its hold
	 * was last priced (reprice.c), whether
	 * release.c has something to do with it, and whether it is seen
	 * first. */
	double node_shares;
	float priced_at[2];
	bool at_release, is_new;
	int64_t suspended_s; /* of its run until now, or its end */
	/* Time when its run was last suspended or resumed; 0: never. */
	int64_t changed_utc_s;
	/* Left 0 here; the reader's own: seconds of suspension that lowtide holds for, as it lets
	 * the job stand still. */
	int64_t pause_s;
};
/* The earlier of our latest start and the time at which something else would end the job. */
static inline int64_t
lt_latest_start(const struct lt_batch_job *job, int64_t latest_utc_s)
{
	return job->start_by_utc_s != 0 && job->start_by_utc_s < latest_utc_s ? job->start_by_utc_s
									      : latest_utc_s;
}
struct lt_batch_jobs {
	uint32_t count;
	struct lt_batch_job *jobs;
	int64_t begun_utc_s; /* slurmctld's time of the list */
	struct lt_pool *pool;
};
static inline const struct lt_batch_asked *
lt_job_asked(const struct lt_batch_job *job)
{
	static const struct lt_batch_asked nothing;

	return job->asked != NULL ? job->asked : &nothing;
}
/* Writes the id by which a command means just this record: "23_1" for a task, because one task of
 * each array has the array's own id, by which Slurm means all of them; the leader of a
 * heterogeneous job, which is started and requeued whole. */
enum { LT_JOB_ADDRESS_SIZE = 24 };
const char *lt_job_address(char out[LT_JOB_ADDRESS_SIZE], const struct lt_batch_job *job);
/* All jobs (shows all partitions, users). job_id 0 = all, else one: all records of an array or het
 * job by its first id. LT_ENOENT: no such job. */
int lt_batch_jobs(struct lt_batch_jobs *jobs, uint32_t job_id, struct lt_error *err);
void lt_batch_jobs_free(struct lt_batch_jobs *jobs);
/* All jobs, with no copy of all: how many, and when slurmctld made the list; then each, by its id,
 * lent to take(). */
struct lt_batch_jobs_reader {
	void *context;
	void (*begin)(void *context, uint32_t count, int64_t begun_utc_s);
	void (*take)(void *context, const struct lt_batch_job *job);
};
int lt_batch_jobs_each(const struct lt_batch_jobs_reader *reader, struct lt_error *err);

/*
 * Could this job that waits ever start where it is, from its begin on? Of the nodes that are up;
 * limits of QOS and association are not looked at, nor is its place in line. Slurm only, else
 * LT_EINPUT. slurmctld takes its locks for writing for it: seldom. LT_ENOENT: it waits no more. By
 * name and uid job_submit knows the question.
 */
enum lt_start { LT_START_UNKNOWN, LT_START_CAN, LT_START_CANNOT };
struct lt_start_answer {
	enum lt_start start;
	int64_t start_utc_s; /* when it expects that; 0 = not said */
};
int lt_batch_can_start(struct lt_start_answer *answer, uint32_t job_id, struct lt_error *err);

/* LT_USER_HOLD: one that the user may release. */
enum lt_batch_hold { LT_LEAVE, LT_HOLD, LT_USER_HOLD, LT_RELEASE };
struct lt_batch_update { /* start as lt_batch_update_init() */
	uint32_t job_id;
	const char *task;		       /* "23_1": of the record's tasks only this one, which
						* has one of its own then; NULL = all of them */
	const char *partition, *admin_comment; /* NULL = leave */
	int64_t begin_utc_s, limit_s;	       /* LT_UNSET_64 = leave */
	enum lt_batch_hold hold;
	/* Number of tasks, as the job has it: 23.02 to 24.11 count those of a job that says
	 * --ntasks-per-node anew where an update has no number, and refuse the update then if it
	 * runs. 0 = not said. */
	uint32_t tasks;
};
void lt_batch_update_init(struct lt_batch_update *update, uint32_t job_id);
int lt_batch_update_job(const struct lt_batch_update *update, struct lt_error *err);
/* The first id of an array or het job cancels all of it. LT_ENOENT: no such job, or it has
 * ended. */
int lt_batch_cancel(uint32_t job_id, struct lt_error *err);

/* A job that runs goes back to the queue, as a hold that its user may
 * release. */
int lt_batch_requeue_held(const struct lt_batch_job *job, struct lt_error *err);

/* Nodes that are taken back. Slurm only, else LT_EINPUT. LT_EINPUT or LT_ENOENT of a node that is
 * not there. */
int lt_batch_drain(const char *node, const char *reason, struct lt_error *err);
/* Jobs there are requeued at once, without grace. reason NULL: it keeps its own. */
int lt_batch_down(const char *node, const char *reason, struct lt_error *err);
/* Takes jobs again. */
int lt_batch_resume(const char *node, struct lt_error *err);
/* Reads a node as slurmctld has it now; asked for by its name, which finds a powered-down cloud
 * node, too. LT_ENOENT: no such node. */
struct lt_batch_node {
	bool is_drained, is_powered_down, responds;
	int64_t boot_utc_s; /* of its last registration; 0: none */
	char reason[256];   /* "" if there is none */
};
int lt_batch_node(struct lt_batch_node *found, const char *node, struct lt_error *err);
/* Finds the node that has an IPv4 address (in network order), by the addresses that slurmctld has
 * (NodeAddr). Names are resolved, which may take long. */
enum lt_whose { LT_WHOSE_NODE, LT_WHOSE_OTHER_NODE, LT_WHOSE_NO_NODE };
struct lt_batch_address {
	enum lt_whose whose;
	char node_address[256];	  /* of the node that was asked for */
	char other[LT_NAME_SIZE]; /* the other node */
};
int lt_batch_whose_address(
    struct lt_batch_address *found, const char *node, uint32_t address, struct lt_error *err);
/* True if the node is in a list such as "v[1-4],w7"; NULL is an empty list. */
bool lt_batch_has_node(const char *list, const char *node);
/* Sends a signal to the steps of a job, or of one task of an array. */
int lt_batch_signal(const struct lt_batch_job *job, uint32_t signal, struct lt_error *err);
/* A job that runs goes back to the queue; Slurm sends TERM, and KILL after KillWait, and lets it
 * wait for two minutes. */
int lt_batch_requeue(const struct lt_batch_job *job, struct lt_error *err);

/* Suspends a running job, which keeps all but its CPUs, until lt_batch_go_on(). Slurm only, else
 * LT_EINPUT. */
int lt_batch_suspend(const struct lt_batch_job *job, struct lt_error *err);
int lt_batch_go_on(const struct lt_batch_job *job, struct lt_error *err);

struct lt_batch_run { /* one row of slurmdbd: a run */
	uint32_t job_id, array_job_id, array_task, uid, restarts;
	char user[LT_NAME_SIZE], account[LT_ACCOUNT_SIZE], partition[LT_NAME_SIZE],
	    qos[LT_ACCOUNT_SIZE], state_text[32], name[LT_NAME_SIZE],
	    wckey[LT_NAME_SIZE]; /* cut; "" = not known */
	uint32_t exit_code;	 /* as of wait(2) */
	bool finished, requeued;
	bool is_interactive; /* of srun or salloc */
	bool resized;	     /* a row after the first of one run */
	bool pod_resized;    /* so, by its user, who may give it more */
	bool goes_on;	     /* resized at its end: the run has further rows; or its
			      * job has other runs by the same hold */
	bool is_estimated;   /* nobody saw its end */
	bool is_part;	     /* of a run that is charged in parts: of how long
			      * that is it says nothing */
	int64_t submit_utc_s, eligible_utc_s, start_utc_s, end_utc_s; /* 0 = none */
	/* within start and end. A row of a job that was resized while it ran starts when it was,
	 * though slurmdbd has the first start there. */
	int64_t suspended_s;
	int64_t limit_s;
	uint32_t nodes, cpus, gpus, shards;
	bool has_gpus; /* AllocTRES has GPUs or shards of them */
	/* Use by its steps, if lt_batch_used() was asked and they say so: CPU time, and an upper
	 * bound for its GPUs. */
	bool has_cpu_used, has_gpu_used;
	int64_t cpu_used_ms;
	uint32_t gpu_used_ppm;
	uint64_t memory_mib;	 /* from AllocTRES, whole job */
	struct lt_pod_size size; /* Kubernetes */
	int64_t energy_joules;	 /* -1 = unknown */
	char first_node[128];	 /* "" if it had none */
	char *admin_comment;
};
struct lt_batch_runs {
	uint32_t count;
	struct lt_batch_run *runs;
};
/*
 * Rows of this cluster that ended in [from, to], or started and overlap it, requeued and resized
 * runs too (DUPLICATES, NO_STEP, NO_TRUNC), deduplicated by (job id, submit). A job cancelled
 * before it ran has an end and no start. Tasks cancelled out of a pending array have no row; a
 * whole one is one row, without a task. Costs 0.1 s a day of the window; a slurmdbd that hangs,
 * LT_ENET after MessageTimeout + 35 s.
 */
int lt_batch_runs(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
/* Only those that ended then: few of its rows are looked at for it. */
int lt_batch_ended(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
/* The same with what their steps used: a query of the database for each run, some 0.2 ms in
 * slurmdbd. */
int lt_batch_used(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
/* Rows of these jobs, 1 to LT_BATCH_RUNS_OF_MAX: one query. */
enum { LT_BATCH_RUNS_OF_MAX = 500 };
int lt_batch_runs_of(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err);
void lt_batch_runs_free(struct lt_batch_runs *runs);

/* ---- what Kubernetes has and Slurm has not ---- */

/* Places where a job's pods find a node, in the order of the market's partitions. */
struct lt_batch_places {
	/* No node takes it; or none has room beside what is not lowtide's, where another partition
	 * has some. */
	bool closed[LT_PARTITIONS_MAX];
	bool full[LT_PARTITIONS_MAX]; /* the same of all that runs now */
};
/* Looks at a job that lowtide may place, of a list or of a manifest. */
void lt_batch_places(
    struct lt_batch_places *places, const struct lt_batch_job *job, const struct lt_market *market);
/* Node equivalents of a partition that are taken by what is in no list of jobs. */
double lt_batch_taken(const char *partition);

/* Checks that the files of the adapter itself fit a ledger that has charged runs. After
 * lt_batch_init() with a state_dir. */
int lt_batch_check(bool has_history, struct lt_error *err);
/* The daemon's name on that system. */
extern const char lt_batch_program[];
/* Words for people. */
struct lt_batch_words {
	const char *system; /* in JSON: "slurm" */
	const char *lock;   /* what shows that lowtide holds a job again */
	const char *record; /* what a charge rests on before there is a row */
	const char *name;   /* as "NAMESPACE/NAME"; NULL: jobs have none */
	/* Nodes can report the progress of its jobs; otherwise nothing proves that a job resumes,
	 * and its user's word counts. */
	bool tells_progress;
	/* A job without a limit of its own is held for one time after another for as long as it
	 * runs. */
	bool renews;
	/* Nodes of all partitions with a price are paid for, used or not, and not only the site's
	 * own: the report shows what nobody requested. */
	bool pays_all_nodes;
	/* Nodes of a partition that scales come as jobs want them: how many are there says nothing
	 * of how many could be. */
	bool brings_nodes;
};
extern const struct lt_batch_words lt_batch_words;
/* A word of its own on the command line: its exit status; -1: it has none. */
int lt_batch_main(int argc, char **argv);
struct pollfd;
enum { LT_BATCH_FDS = 1 };
/* Fills in the descriptors of what is read as it comes, at most LT_BATCH_FDS. Returns how many. */
int lt_batch_fds(struct pollfd *fds);
/* Takes what has come: what is not as it was. */
enum { LT_BATCH_CHANGED_MAX = 32 };
struct lt_batch_changes {
	bool tables, all; /* all: any job may be another */
	uint32_t count;
	uint32_t jobs[LT_BATCH_CHANGED_MAX];
};
void lt_batch_take(struct lt_batch_changes *changes, int64_t now_utc_s);
/* All that is asked below is known here, and needs no child that asks. */
bool lt_batch_is_near(void);
/* True if another job may be updated now: requests are bounded. */
bool lt_batch_may_update(void);
/* The users of these pairs are known from now on, and named without the system's directory of
 * users; lent until the next call. */
void lt_batch_know_users(const struct lt_batch_pair *pairs, uint32_t count);
/* This process is a child, which may wait for the directory. Others give the number of a user who
 * is not known. */
void lt_batch_may_wait(void);
struct lt_budget_snapshot;
struct lt_batch_named { /* a partition of the policy; texts are lent */
	const char *name;
	bool scales; /* target: yes: nodes come as they are wanted */
	/* node:, what one is while none is there; cpus 0: it is not said. */
	uint32_t cpus, memory_mib, gpus;
	uint32_t most; /* nodes that there may be */
	/* Labels and taints, as kubelet's --node-labels and
	 * --register-with-taints. */
	const char *labels, *taints;
};
/* The policy names these partitions; lent for the call. Before each lt_batch_partitions(): on
 * Kubernetes one may be a part of a pool. */
void lt_batch_name_partitions(const struct lt_batch_named *named, uint32_t count);
/* A market was compiled of its tables; lent for the call. */
void lt_batch_know(const struct lt_market *market);
struct lt_batch_view { /* what lowtide knows now; lent */
	const struct lt_market *market;
	const struct lt_budget_snapshot *budgets;
	bool is_off;		    /* lowtide holds back nothing */
	int64_t erase_before_utc_s; /* who ran what then is kept no longer */
};
/* Runs once a pass: starts what waits for its hour and may start, and shows what lowtide knows in
 * the system itself. */
void lt_batch_tend(const struct lt_batch_view *view, int64_t now_utc_s);
/* The id of a job by the name that its system knows it by. LT_ENOENT. */
int lt_batch_find(const char *name, uint32_t *job_id, struct lt_error *err);

/* A job that is not there: what its manifest (JSON) would make. */
enum { LT_MANIFEST_NAME_SIZE = 320 }; /* namespace 63, name 253 */
struct lt_batch_manifest {
	struct lt_batch_jobs jobs; /* one, without a number */
	char name[LT_MANIFEST_NAME_SIZE];
	char note[256]; /* why lowtide would leave it alone; "" = it would
			 * not */
	/* Why nobody knows what it may cost, as the beginning of a sentence; "" = nothing of it
	 * says so. */
	char unknown[160];
};
/* *out is written on success; free its jobs. LT_EINPUT. */
int lt_batch_job_of_manifest(
    struct lt_batch_manifest *out, const char *text, size_t length, struct lt_error *err);

/* Messages in slurmctld's queue for slurmdbd; 0 = all delivered. */
int lt_batch_dbd_queue(uint32_t *queued, struct lt_error *err);

/* ---- a system that is watched (Kubernetes): how that goes, what waits there,
 * and what runs that is no job. One that is asked (Slurm) has none of it. ---- */

/* State of the watch, and what waits. Times: 0 = never. */
struct lt_batch_watch {
	const char *namespace; /* lowtide's own; lent */
	bool runs;	       /* what reads */
	bool places_anew;      /* a job that finds no node is placed anew */
	int64_t heard_utc_s, failed_utc_s, balances_utc_s;
	int64_t away_from_utc_s, away_to_utc_s; /* nobody watched; the last */
	char failed[LT_ERROR_TEXT_SIZE];	/* the last failure */
	/* Why it is not known what pods are given at their creation; "" = it is. */
	char given_failed[LT_ERROR_TEXT_SIZE];
	uint32_t waiting, waiting_budget; /* Jobs in all, and for budget */
	uint32_t left;			  /* Jobs that wait for somebody else */
	uint32_t unheld;		  /* pods that run and are charged, without a Job */
	uint32_t unsuspended;		  /* came since the start as no policy lets them,
					   * in a mode that holds back */
};
/* Pods that run, of an owner that is no job: charged, and nothing is held. */
struct lt_batch_unheld {
	char name[2 * LT_MANIFEST_NAME_SIZE]; /* "team-a/deployment/web" */
	char account[LT_ACCOUNT_SIZE], partitions[LT_BATCH_PARTITIONS_SIZE];
	uint32_t id, uid, pods;
};
/* All, by their names; malloc'd, NULL: there are none. */
int lt_batch_unheld(struct lt_batch_unheld **all, uint32_t *count, struct lt_error *err);
/* Names who starts a job that lowtide leaves alone; lent. NULL: no such job. */
const char *lt_batch_starter(uint32_t job_id);
/* False: this system is asked, not watched. */
bool lt_batch_watch(struct lt_batch_watch *watch);

/* The last times in which nobody watched that touch this one, oldest first. Returns how many of
 * most there are. */
struct lt_batch_away {
	int64_t from_utc_s, to_utc_s;
};
int lt_batch_aways(struct lt_batch_away *aways, int most, int64_t from_utc_s, int64_t to_utc_s);

#endif
