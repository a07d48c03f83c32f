/*
 * The market: what lowtided compiled for deciding. Policy, partitions, GPU facts, signal series and
 * what is already booked. Loaded from the market snapshot, then read only; one arena, freed whole.
 */
#ifndef LT_MARKET_H
#define LT_MARKET_H

#include <stdbool.h>
#include <stdint.h>

#include "availability.h"
#include "gpu.h"
#include "limits.h"
#include "series.h"
#include "zone.h"

enum lt_mode { LT_MODE_OBSERVE, LT_MODE_ADVISE, LT_MODE_ENFORCE, LT_MODE_COUNT };

enum lt_objective {
	LT_OBJECTIVE_OFF, /* the job did not ask, or said off */
	LT_OBJECTIVE_BALANCED,
	LT_OBJECTIVE_COST,
	LT_OBJECTIVE_CARBON,
	LT_OBJECTIVE_FAST,
	LT_OBJECTIVE_COUNT,
};

const char *lt_mode_name(enum lt_mode mode);

/* Permissions that a mode gives lowtide; everything else it does in every mode. */
enum lt_may {
	LT_MAY_EDIT = 1 << 0,	/* write a plan into a job */
	LT_MAY_REFUSE = 1 << 1, /* a job, a change, an early start */
	LT_MAY_HOLD = 1 << 2,	/* hold back, lock and requeue jobs */
	LT_MAY_ADVISE = 1 << 3, /* advise users who did not ask */
};
bool lt_mode_may(enum lt_mode mode, enum lt_may what);

const char *lt_objective_name(enum lt_objective objective);
/* -1 for an unknown word. */
int lt_objective_find(const char *word);

/* GPUs of one Gres type on a node. */
struct lt_gpu_kind {
	char type[LT_GPU_NAME_SIZE]; /* Slurm's */
	uint32_t count;		     /* of a node; 0 = no more kinds */
	int gpu_index;		     /* in market->gpus; -1 = unknown */
	double watts;		     /* of one GPU; 0 = unknown */
};

/* One kind of node within a partition. */
/* Sizes by which nodes are shared on Kubernetes, where whole CPUs, MiB and GPUs are too coarse: for
 * a node what pods may request, for pods what they do. 0 = not so. */
struct lt_exact {
	uint64_t cpu_milli, memory_kib;
	uint64_t gpu_micro; /* 0 = by whole GPUs */
};

/* Sizes of a pod that ran, and of its node then. 0 = Slurm, or not known. */
struct lt_pod_size {
	struct lt_exact pod, node;
	uint32_t node_gpus;
};

struct lt_shape {
	uint32_t node_count;
	/* Those of them that take no new jobs now: down, drained, reserved. They don't count for a
	 * job that is moved there. */
	uint32_t closed_count;
	uint32_t cpus;		   /* that jobs can be given */
	uint32_t sockets, threads; /* of a node, of a core; 0 = 1 */
	uint32_t gpus;
	uint32_t shards;       /* of all its GPUs: gres/shard or gres/mps */
	uint32_t gpu_cores;    /* kept for jobs with GPUs */
	uint32_t socket_cores; /* with those that the system keeps; 0 = n/a */
	uint64_t memory_mib;
	struct lt_exact exact; /* Kubernetes: its share is a weighted sum */
	uint64_t tmp_disk_mib;
	char features[LT_FEATURES_SIZE];	    /* comma list; cut = as if none */
	struct lt_gpu_kind kinds[LT_GPU_KINDS_MAX]; /* most first */
	bool gpus_unclear;			    /* more types, or a name that is too long */
	/* In market->gpus; of several the least memory. -1 = unknown. */
	int gpu_index;
};

enum { LT_NO_SERIES = -1 };

enum lt_partition_flag {
	LT_PARTITION_DEFAULT = 1 << 0,	   /* Slurm's default partition */
	LT_PARTITION_UP = 1 << 1,	   /* state UP */
	LT_PARTITION_MANAGED = 1 << 2,	   /* named in the policy file */
	LT_PARTITION_CANCELS = 1 << 3,	   /* PreemptMode=CANCEL, and jobs
					    * there may be preempted */
	LT_PARTITION_EXCLUSIVE = 1 << 4,   /* whole nodes always */
	LT_PARTITION_PREEMPTIBLE = 1 << 5, /* policy: preemptible */
	LT_PARTITION_OWNED = 1 << 6,	   /* decide by energy, charge by price */
	LT_PARTITION_GROUPS = 1 << 7,	   /* AllowGroups set: home only */
	LT_PARTITION_ROOT_ONLY = 1 << 8,
	LT_PARTITION_OVERSUBSCRIBE = 1 << 9,
	/* Slurm rounds a job's CPUs on a node up to this: CR_Core, CR_Socket; neither: single
	 * CPUs. */
	LT_PARTITION_BY_CORE = 1 << 10,
	LT_PARTITION_BY_SOCKET = 1 << 11,
	LT_PARTITION_TASK_PER_CORE = 1 << 12, /* CR_ONE_TASK_PER_CORE */
	/* GPUs bring CPUs by sockets: enforce-binding takes whole ones, and
	 * --gpus-per-socket counts on all of them */
	LT_PARTITION_BIND_SOCKETS = 1 << 13,
	/* --ntasks-per-node is how many, whatever --ntasks says; what
	 * MaxMemPerCPU brings is whole CPUs for each task */
	LT_PARTITION_TASKS_BY_NODE = 1 << 14,
	/* --gpus of fewer than the nodes: each node has so many */
	LT_PARTITION_GPUS_BY_NODE = 1 << 15,
	/* Jobs wait in line there, for nodes or for those before them. */
	LT_PARTITION_QUEUED = 1 << 16,
	LT_PARTITION_STAYS_ON = 1 << 17, /* idle nodes are not powered down */
	/* A job's CPUs are those of its tasks, a node without one has none. */
	LT_PARTITION_DEALS_TASKS = 1 << 18,
	/* Where these hold, --ntasks-per-node on each node goes before
	 * --ntasks. */
	LT_PARTITION_DEALS_BY_NODE = 1 << 19,
	/* Jobs that are never moved there, unless their user named it: jobs without GPUs, jobs with
	 * some, any. */
	LT_PARTITION_NO_CPU_JOBS = 1 << 20,
	LT_PARTITION_NO_GPU_JOBS = 1 << 21,
	LT_PARTITION_NO_TARGET = 1 << 22,
	/* Slurm shows no node of it now: what its shapes say is of those that were there last, or
	 * the policy's. */
	LT_PARTITION_NO_NODES = 1 << 23,
	/* Hidden, for reservations only, or with a flag that lowtide does not know: no job is moved
	 * there. */
	LT_PARTITION_CLOSED = 1 << 24,
	LT_PARTITION_NO_ROOT = 1 << 25, /* not for root's jobs */
};

/* Amounts of one job that Slurm's limits count. */
enum lt_limited {
	LT_LIMITED_CPU,
	LT_LIMITED_MEMORY, /* MiB */
	LT_LIMITED_NODE,
	LT_LIMITED_GPU,
	LT_LIMITED_COUNT,
};

/* The limits of a QOS, as far as a single job meets them; 0 = none. */
struct lt_limits {
	uint64_t most[LT_LIMITED_COUNT], most_per_node[LT_LIMITED_COUNT];
	uint64_t least[LT_LIMITED_COUNT];
	int64_t most_s; /* MaxWall */
	bool others;	/* of something else, or to nothing: not understood */
};

/* A limit from a site's QOS and associations: a job that Slurm takes at home may be refused where
 * it is given more, or other things. */
enum lt_job_limit {
	LT_LIMITS_AMOUNTS = 1 << 0, /* CPUs, memory, nodes, GPUs of a job */
	LT_LIMITS_OTHERS = 1 << 1,  /* GPUs of a type, billing and the like */
};

struct lt_partition {
	char name[LT_NAME_SIZE];
	uint32_t flags;
	/* Slurm's limits; INT64_MAX / UINT32_MAX = none */
	int64_t max_time_s;
	int64_t default_time_s; /* 0 = not set */
	/* How much longer than its limit a job may run: OverTimeLimit, and until slurmctld looks.
	 * INT64_MAX = UNLIMITED; lt_overrun_s() */
	int64_t overrun_s;
	uint32_t min_nodes, max_nodes;
	uint64_t default_memory_mib; /* per node or CPU, as the flag says */
	bool default_memory_is_per_cpu;
	uint64_t max_memory_mib; /* 0 = none */
	bool max_memory_is_per_cpu;
	uint32_t default_cpus_per_gpu; /* the partition's, else Slurm's; 0 = no */
	uint64_t default_memory_mib_per_gpu;
	uint32_t max_cpus_per_node, max_cpus_per_socket; /* of jobs; 0 = none */
	const char *allow_accounts;			 /* comma lists, lower case; "" = all */
	const char *deny_accounts;
	const char *allow_qos;
	const char *deny_qos;
	/* Accounts whose jobs without --qos one of these two lists lets in */
	const char *qos_accounts;
	struct lt_limits limits; /* of the partition's own QOS */
	/* A hash of what lowtide does not understand of the partition: home's must be equal. Of its
	 * TRESBillingWeights. 0 = nothing set. */
	uint64_t unlike_hash, billing_hash;
	/* When the next reservation takes some of its nodes; 0 = none does. */
	int64_t reserved_utc_s;
	/* When all of its nodes that are reserved now are free; 0 = none is. */
	int64_t free_utc_s;
	/* Since when all that are down or drained were, INT64_MAX = not known; 0 = none is. */
	int64_t away_utc_s;
	/* hardware */
	uint32_t node_count;
	uint32_t first_shape, shape_count; /* in market->shapes */
	/* Its kinds of nodes, and what it gives of them, are those of all partitions with the same
	 * number: lt_market_liken(); 0 = not known. */
	uint32_t like;
	/* signals; index into market->series or LT_NO_SERIES */
	int price_series;     /* micros per node-hour, charged */
	int carbon_series;    /* g CO2e per kWh */
	int tariff_series;    /* micros per kWh, where the site pays energy */
	int occupancy_series; /* nodes booked or running, over time */
	/* power of one whole node, watts at the plug before PUE */
	double node_idle_w, node_cpu_w;
	double node_gpu_w; /* the most; 0 = none or not known */
	double pue;
	/* interruption, per node */
	double hazard_per_node_hour;
	double notice_s, restart_s;
	struct lt_availability availability;  /* of preemptible ones */
	int64_t engineer_micros_per_restart;  /* 0 = nobody */
	int64_t storage_micros_per_gib_month; /* checkpoints; 0 = free */
	double storage_gib_per_s;	      /* one job writes them; 0 = unknown */
	double embodied_g_per_node_hour;      /* SCI's M; 0 = not set */
	double worst_intensity;		      /* g/kWh for holds; 0 = none */
};

/* How a class's running jobs may wait through dirty or dear hours. */
enum lt_pause { LT_PAUSE_NEVER, LT_PAUSE_REQUEUE, LT_PAUSE_SUSPEND };

#define LT_INTERRUPTIONS_ANY UINT32_MAX

enum {
	LT_JOB_NAME_SIZE = 256, /* of a longer name the rest is not matched */
	LT_JOB_PATTERNS_SIZE = 1024,
};

/* Rules of the site for jobs: the first class whose account, QOS, partition (home; "" = any) and
 * patterns of names are the job's. */
struct lt_class {
	char name[LT_NAME_SIZE];
	/* Patterns of the job's name, one a line, lt_job_name_matches(); "" = any. */
	char patterns[LT_JOB_PATTERNS_SIZE];
	char account[LT_ACCOUNT_SIZE], qos[LT_ACCOUNT_SIZE], partition[LT_NAME_SIZE];
	enum lt_objective default_objective; /* OFF: places who asks */
	/* In place of the site's. */
	bool has_max_delay;
	int64_t max_delay_s;
	uint32_t deadline_confidence_ppm; /* 0 = the site's */
	int64_t max_price_micros;	  /* per node-hour; 0 = any */
	bool on_demand_only;		  /* never moved to preemptible nodes */
	uint32_t max_interruptions;	  /* then it continues on demand */
	enum lt_pause pause;
	bool canary; /* the first run there proves that it can resume */
	/* Kubernetes: in place of the site's; 0 = that. In no file. */
	int64_t assume_time_s;
	/* smoke.h: more node-seconds need a run so recent; within 0: none do */
	int64_t smoke_above_node_s, smoke_within_s;
};

/* Which mixed precision without --amp; the first that matches counts. */
enum lt_precision_of {
	LT_PRECISION_OF_ACCOUNT,
	LT_PRECISION_OF_QOS,
	LT_PRECISION_OF_PARTITION,
	LT_PRECISION_OF_COUNT,
};
struct lt_precision_rule {
	enum lt_precision_of of;
	char name[LT_NAME_SIZE];
	enum lt_precision precision;
};

/* Rule for jobs that run slower in dirty hours, and how much. A name of "" is any. */
struct lt_power_cap {
	char account[LT_ACCOUNT_SIZE], qos[LT_ACCOUNT_SIZE];
	char partition[LT_NAME_SIZE];
	char gpu[LT_GPU_NAME_SIZE]; /* of the market's rows */
	/* Slurm's words for --gpu-freq and --cpu-freq; "" = left alone */
	char gpu_freq[LT_FREQUENCY_SIZE], cpu_freq[LT_FREQUENCY_SIZE];
	double slow_down; /* run time over that without, from 1 */
	double power;	  /* the same of what is slowed: up to 1 */
};

/* A request that Slurm could not start there: not tried again for now. */
struct lt_bar {
	uint64_t asked; /* lt_request_asked() */
	uint32_t partition;
};

struct lt_market {
	uint64_t generation;
	int64_t compiled_utc_s;
	/* The occupancy has all jobs that were submitted until then; 0 = none are known. */
	int64_t jobs_utc_s;
	char cluster[LT_NAME_SIZE];
	char currency[8]; /* "" = the site shows no money */
	enum lt_mode mode;
	int64_t carbon_price_micros_per_tonne; /* what one is worth */
	int64_t charge_micros_per_tonne;       /* what one is charged with */
	int64_t max_delay_s;
	int64_t stale_after_s;
	int64_t deadline_slack_s;
	int64_t assume_time_s; /* 0 = a job without limit is refused */
	uint32_t deadline_confidence_ppm;
	uint32_t max_restart_risk_ppm;
	uint32_t max_extra_cost_ppm;
	uint32_t hold_margin_ppm;
	/* The worth of an hour of waiting, for a job, and the part of its cost that a later start
	 * must save. */
	int64_t waiting_micros_per_hour, waiting_mg_per_hour;
	uint32_t min_saving_ppm;
	uint32_t max_array_size;
	uint32_t job_limits;	/* enum lt_job_limit, of any QOS or account */
	bool memory_ignored;	/* SelectTypeParameters without _Memory: memory
				 * is no part of a share */
	bool core_spec_counts;	/* AllowSpecResourcesUsage: --core-spec gives
				 * whole nodes, else it is ignored */
	bool proof_required;	/* that a job resumes, before it counts on
				 * preemptible nodes */
	double power_cap_above; /* g CO2e per kWh; for the rules below */
	struct lt_zone zone;

	uint32_t partition_count, shape_count, series_count, gpu_count;
	uint32_t class_count, power_cap_count, precision_rule_count, bar_count;
	struct lt_partition *partitions;
	struct lt_shape *shapes;
	struct lt_series *series;
	struct lt_gpu *gpus;
	struct lt_class *classes;
	struct lt_power_cap *power_caps;	   /* the first that matches counts */
	struct lt_precision_rule *precision_rules; /* the same */
	struct lt_bar *bars;			   /* lt_bar_compare(): each once, in order */
	void *arena;				   /* owned by whoever made the market */
};

/* Index of a partition by name (Slurm's are case sensitive), -1 = none. */
int lt_market_partition(const struct lt_market *market, const char *name);
/* The default partition's index, -1 = none. */
int lt_market_default_partition(const struct lt_market *market);
/* How much longer than its limit a hold there counts a job, s. UNLIMITED bounds nothing: 0, and
 * what runs over is settled by that name. */
int64_t lt_overrun_s(const struct lt_partition *partition);
/*
 * Set each partition's like: 1 .. partition_count. Two are alike if every job takes the same of a
 * node of one as of the other: the same shapes in the same order, but for how many nodes are of
 * each, and the same of what Slurm's settings give there. Whoever loads a market calls it once;
 * lt_decide() then lays a job out once for all that are alike. The plan is the same without it.
 */
void lt_market_liken(struct lt_market *market) __attribute__((nonnull));
/* Orders by request, then by partition. */
int lt_bar_compare(const struct lt_bar *a, const struct lt_bar *b);
/* True if Slurm could not start it there. asked 0: not known, false. */
bool lt_market_bars(const struct lt_market *market, uint64_t asked, int partition);
/* Whether it is the price, the carbon or the tariff of a partition. */
bool lt_market_uses(const struct lt_market *market, int series);

/* The GPU of all its nodes that have one; NULL: none has, or they differ. */
const struct lt_gpu *lt_market_gpu(const struct lt_market *market, int partition);

/* True if one of the patterns, a line each, is the job's name. "*" stands for any bytes, "?" for
 * one; case does not count. An empty name is none of them. */
bool lt_job_name_matches(const char *patterns, const char *name);

/* Facts that decide a job's class. partition: where it would run without lowtide, or -1. */
struct lt_class_of {
	const char *account, *qos, *name;
	int partition;
};
/* Its class; NULL = none. */
const struct lt_class *lt_market_class(
    const struct lt_market *market, const struct lt_class_of *job);
/* Return the value of a class, else the site's; NULL = no class. */
int64_t lt_class_max_delay_s(const struct lt_class *class, const struct lt_market *market);
uint32_t lt_class_confidence_ppm(const struct lt_class *class, const struct lt_market *market);

/* The longest start on preemptible nodes, s: boot and reload. */
double lt_market_restart_s(const struct lt_market *market);

/* Micros that a milligram of CO2e is charged with; and what one is worth in a decision beyond that,
 * in micros. */
double lt_charge_per_mg(const struct lt_market *market);
double lt_worth_per_mg(const struct lt_market *market);

/* Age of a partition's oldest non-constant signal at now; 0 if all are constants. INT64_MAX when it
 * has no signal at all, or an empty series; one that is merely absent (no prices: carbon only) does
 * not count. */
int64_t lt_market_signal_age_s(const struct lt_market *market, int partition, int64_t now_utc_s);

#endif
