/*
 * lt_decide(): the one decision function. Pure: no clock, no global state; the same inputs give the
 * same plan on every machine.
 */
#ifndef LT_DECIDE_H
#define LT_DECIDE_H

#include "brief.h"
#include "error.h"
#include "gpu.h"
#include "history.h"
#include "interruption.h"
#include "market.h"
#include "power_cap.h"

/* Options of the job's own that forbid a move; 0 = free to move. */
enum lt_pin {
	LT_PIN_PARTITION = 1 << 0, /* one the user named */
	LT_PIN_BEGIN = 1 << 1,	   /* user's --begin, or in-place only */
	LT_PIN_HET = 1 << 2,
	LT_PIN_RESERVATION = 1 << 3,
	LT_PIN_DEPENDENCY = 1 << 4,
	LT_PIN_LICENSES = 1 << 5,
	LT_PIN_BURST_BUFFER = 1 << 6,
	LT_PIN_CRON = 1 << 7,
	LT_PIN_INTERACTIVE = 1 << 8, /* srun, salloc: partition only */
	LT_PIN_NODELIST = 1 << 9,    /* --nodelist: partition stays */
	/* --gpu-freq, --cpu-freq: no power cap. It keeps nothing from moving. */
	LT_PIN_FREQUENCY = 1 << 10,
	/* Something that lowtide can't check for another partition: the request's pinned_by. The
	 * partition stays. */
	LT_PIN_OTHER = 1 << 11,
	LT_PIN_END = 1 << 12, /* above all of them */
};
const char *lt_pin_name(enum lt_pin pin); /* "--dependency", ... */

enum { LT_UNSET_64 = -1 };

struct lt_resources; /* size.h */

/* Experience with jobs of its account, user, name and script. */
struct lt_proof {
	uint32_t survived; /* interruptions after which it went on; 0 = none */
	/* Measured, s; 0 = not. They count before what was said. */
	uint32_t write_s, restart_s;
};

/* An amount per currency. has_x false: not known, never zero. */
struct lt_amount {
	bool has_money, has_carbon;
	int64_t money_micros;
	int64_t carbon_mg;
};

/*
 * Wishes of a user that are one number each, by the same name in options, request and quote;
 * WISH(type, name, value where nothing was said):
 *
 *   expected_run_s     --expected-time, of a task; wins over what was learned
 *   max_cost_micros    --max-cost
 *   gpu_memory_mib     --gpu-memory, of each GPU
 *   max_interruptions  --max-interruptions
 *   max_price_micros   --max-price, of a node-hour
 */
#define LT_WISHES(WISH)                                                                            \
	WISH(int64_t, expected_run_s, LT_UNSET_64)                                                 \
	WISH(int64_t, max_cost_micros, LT_UNSET_64)                                                \
	WISH(uint32_t, gpu_memory_mib, 0)                                                          \
	WISH(uint32_t, max_interruptions, 0)                                                       \
	WISH(int64_t, max_price_micros, 0)

#define LT_WISH_MEMBER(type, name, unset) type name;

struct lt_request {
	uint64_t asked; /* lt_request_asked(); 0 = not known */
	/* who */
	uint32_t uid;
	char account[LT_ACCOUNT_SIZE]; /* lower case */
	char qos[LT_ACCOUNT_SIZE];     /* "" = default, not known here */
	char name[LT_JOB_NAME_SIZE];   /* of the job; "" = none, or not known */
	/* what was asked; 0 = not said, but for min_nodes and max_nodes. What Slurm makes of it on
	 * a partition: size.h */
	uint32_t min_nodes, max_nodes;
	bool nodes_open;	/* no maximum: max_nodes is min_nodes */
	bool spread;		/* --spread-job: as many nodes as it can */
	uint32_t nodes_named;	/* --nodelist */
	uint32_t nodes_counted; /* "ib*4" of --constraint or --prefer: 4 */
	uint32_t tasks, cpus_per_task;
	bool tasks_implied;	      /* Slurm's number of tasks, not --ntasks */
	uint32_t cpus, cpus_per_node; /* least, of the whole job, --mincpus */
	uint32_t max_cpus;
	uint32_t tasks_per_node, tasks_per_socket, tasks_per_core, tasks_per_board, tasks_per_gpu;
	uint32_t sockets_per_node, cores_per_socket; /* least */
	uint32_t excluded_nodes;		     /* --exclude */
	uint64_t tmp_disk_mib;
	char features[LT_FEATURES_SIZE]; /* --constraint */
	uint32_t threads_per_core;	 /* that the job uses */
	uint32_t gpus;			 /* of the whole job */
	uint32_t gpus_per_node, gpus_per_socket, gpus_per_task, cpus_per_gpu;
	uint32_t shards_per_node; /* gres/shard, gres/mps */
	uint32_t spec_cores;	  /* --core-spec: of each node, not for tasks */
	bool spec_threads;	  /* they are threads: --thread-spec */
	bool bind_gpus;		  /* --gres-flags=enforce-binding */
	bool plane;		  /* --distribution=plane */
	bool overcommit;	  /* tasks ask for no CPUs of their own */
	uint64_t memory_mib_per_node, memory_mib_per_cpu, memory_mib_per_gpu;
	bool whole_memory;		 /* --mem=0 */
	char gpu_type[LT_GPU_NAME_SIZE]; /* "" = any; LT_GPU_TYPES */
	bool exclusive;
	struct lt_exact pod; /* of a task, on nodes that pods share */
	/* Resources that it was given, lent; NULL = it waits: what was asked counts. */
	const struct lt_resources *allocated;
	uint32_t array_tasks;	 /* 1 = no array */
	uint32_t array_parallel; /* %N; 0 = no limit */
	/* time; LT_UNSET_64 = not set by the user */
	int64_t limit_s;
	/* For a job without --time, where the partition has no DefaultTime: the longest MaxWall of
	 * its QOS and association, 0 = none; is there one whichever QOS it takes? */
	int64_t wall_s;
	bool wall_always;
	struct lt_expected learned; /* what runs of its kind have shown */
	/* The median of runs of its name and shape on each GPU of the market, by its index,
	 * seconds; 0 = too few. Two of them say how much faster one is, before the table does.
	 * Lent; NULL = none. */
	const uint32_t *gpu_median_s;
	LT_WISHES(LT_WISH_MEMBER)
	enum lt_precision precision;
	bool precision_said; /* --amp, else the site's rules count */
	/* Figures are wanted of the candidates alone that a quote tells them of, lt_why_of_plan():
	 * the reasons of all, but best unset for others. */
	bool brief;
	/* freedom */
	uint32_t pins;		      /* enum lt_pin */
	char pinned_by[LT_NAME_SIZE]; /* of LT_PIN_OTHER: "--switches" */
	int home;		      /* partition index where it goes by itself */
	/* Partitions of which no node takes the job; NULL = each may. Lent. */
	const bool *closed;
	uint32_t named_count; /* -p a,b: only these; 0 = all */
	uint16_t named[LT_PARTITIONS_MAX];
	int64_t earliest_utc_s; /* <= now: at once */
	int64_t latest_utc_s;	/* start without a deadline; 0 = max_delay
				 * after the earliest */
	int64_t deadline_utc_s; /* LT_UNSET_64 = none */
	enum lt_objective objective;
	struct lt_checkpoint checkpoint;
	uint64_t script_hash; /* 0 = not known: then nothing is proven */
	struct lt_proof proof;
	/* of a job that ran before and lost its node */
	uint32_t interruptions;
	int64_t done_s;	   /* of its work that need not be done again */
	int64_t cut_s;	   /* of that, what its limit was lowered by */
	bool is_on_demand; /* preemptible partitions are no candidates */
	/* holdout.h: the share that is kept at home to compare with, 0 = none; and whether this
	 * user is drawn. */
	uint32_t holdout_ppm;
	bool is_held_out;
	bool has_available; /* the team's balance is known: */
	/* of the budgets that bind, not of those that only warn */
	int64_t available_micros, available_mg; /* INT64_MAX = no budget */
	/* Left in those budgets behind this job's own hold; as far as it is known, for messages to
	 * its user. */
	struct lt_amount left;
};

/* Nothing is wished: no LT_WISHES, no deadline. */
void lt_request_unset(struct lt_request *request);

/*
 * Returns the request as one number, never 0: who asks, and all that Slurm looks at to start it.
 * The same request gives the same number by the way that it came; read from a job's record it may
 * give another. Pure.
 */
uint64_t lt_request_asked(const struct lt_request *request);

/* True if its word that it resumes from a checkpoint counts on preemptible nodes: by its proof, or
 * where the site believes the word. */
static inline bool
lt_resume_counts(const struct lt_request *request, const struct lt_market *market)
{
	return request->checkpoint.enabled &&
	       (request->proof.survived > 0 || !market->proof_required);
}

/* Its class; NULL = none. */
static inline const struct lt_class *
lt_request_class(const struct lt_request *request, const struct lt_market *market)
{
	return lt_market_class(market, &(struct lt_class_of){.account = request->account,
					   .qos = request->qos,
					   .name = request->name,
					   .partition = request->home});
}

/* The most that a node-hour of it may cost on average over a run, by
 * --max-price and its class, micros; 0 = any. */
int64_t lt_max_price_micros(const struct lt_request *request, const struct lt_market *market);

static inline bool
lt_request_wants_gpus(const struct lt_request *request)
{
	return request->gpus > 0 || request->gpus_per_node > 0 || request->gpus_per_socket > 0 ||
	       request->gpus_per_task > 0 || request->tasks_per_gpu > 0;
}

/* True if the user said how much memory it gets, by any option. */
static inline bool
lt_memory_said(const struct lt_request *request)
{
	return request->memory_mib_per_node > 0 || request->memory_mib_per_cpu > 0 ||
	       request->memory_mib_per_gpu > 0 || request->whole_memory;
}

/* True if DefMemPerGPU counts there for a job that says no memory. */
static inline bool
lt_memory_by_gpu(const struct lt_request *request, const struct lt_partition *partition)
{
	return partition->default_memory_mib_per_gpu > 0 && lt_request_wants_gpus(request);
}

/* A window booked after the snapshot was compiled. */
struct lt_planned {
	uint16_t partition;
	float nodes; /* node equivalents: nodes x share x tasks at once */
	int64_t start_utc_s, end_utc_s;
};

enum lt_reject {	/* why a candidate partition lost; text by lt_reject_name */
	LT_REJECT_NONE, /* the plan itself, or dearer: see the figures */
	LT_REJECT_DEARER,
	LT_REJECT_MAX_TIME,
	LT_REJECT_NODES,
	LT_REJECT_GPU_COUNT,
	LT_REJECT_GPU_TYPE,
	LT_REJECT_GPU_MEMORY,
	LT_REJECT_PRECISION,
	LT_REJECT_CPUS,
	LT_REJECT_MEMORY,
	LT_REJECT_ATTRIBUTES, /* features, temporary disk, sockets, --exclude */
	LT_REJECT_DEFAULTS,   /* other unset defaults would change the job */
	LT_REJECT_STATE,      /* not UP, root only */
	LT_REJECT_ACCOUNT,
	LT_REJECT_QOS,
	LT_REJECT_GROUPS,
	LT_REJECT_CANCELS,   /* PreemptMode=CANCEL */
	LT_REJECT_UNMANAGED, /* not in the policy file */
	LT_REJECT_NO_PRICE,
	LT_REJECT_NO_CARBON,
	LT_REJECT_STALE,
	LT_REJECT_RISK,	     /* restart chance over max_restart_risk */
	LT_REJECT_ON_DEMAND, /* preemptible: not by its class, or not any more
			      */
	LT_REJECT_DEADLINE,
	LT_REJECT_CAPACITY,
	LT_REJECT_BUDGET,
	LT_REJECT_MAX_COST,
	LT_REJECT_MAX_PRICE,	/* no start at such a mean price per node-hour */
	LT_REJECT_PINNED,	/* the user named another partition */
	LT_REJECT_HOLDOUT,	/* best, and kept at home to compare with */
	LT_REJECT_CLOSED,	/* hidden, for reservations, or not understood */
	LT_REJECT_LIMITS,	/* a QOS or association may refuse it there */
	LT_REJECT_GPU_JOBS,	/* the policy: for jobs that ask for GPUs */
	LT_REJECT_CPU_JOBS,	/* the policy: for jobs that ask for none */
	LT_REJECT_NO_TARGET,	/* the policy: no job is moved there */
	LT_REJECT_CANNOT_START, /* Slurm could not start it there */
	LT_REJECT_NO_NODES,	/* none is there now */
	LT_REJECT_NO_LIMIT,	/* how long it may run is not known */
	LT_REJECT_NO_PLACE,	/* the request's closed: by taints, labels or
				 * room of its nodes */
	LT_REJECT_COUNT,
};
const char *lt_reject_name(enum lt_reject reject);
const char *lt_reject_word(enum lt_reject reject); /* "gpu_memory": in files */

struct lt_share { /* of each of `nodes` nodes, in lowest terms, at most 1 */
	int64_t numerator, denominator;
	uint32_t nodes;
};

struct lt_estimate {   /* one partition, one start */
	int partition; /* index; -1 = none */
	int64_t start_utc_s;
	/* "Done by": when the last task is, on average, each running as long as it may: as its user
	 * said, else the upper quantile or the limit. */
	int64_t end_utc_s;
	/* Until then its nodes are booked: as long as they work in all, were all tasks to take the
	 * mean. */
	int64_t free_utc_s;
	bool too_late;		       /* there is no room in time: home only */
	double expected_active_s;      /* of one task */
	double expected_interruptions; /* of all tasks */
	double expected_lost_s;	       /* by them: work and restarts */
	double restart_chance;	       /* running so long */
	double interval_s;	       /* checkpoint interval used */
	double time_ratio;	       /* run time here over at home */
	bool time_ratio_known;
	double node_equivalents; /* nodes x share x tasks at once */
	double task_nodes;	 /* nodes x share of one */
	double task_w;		 /* of one, at the plug, PUE in it */
	bool has_cost, has_carbon;
	double expected_compute_micros, expected_energy_micros, expected_storage_micros,
	    expected_failure_micros;
	int64_t cost_micros; /* their sum, all tasks, half away from zero */
	int64_t most_micros; /* the same, running so long */
	int64_t carbon_mg;
	double energy_wh;
	/* The objective's score with the worth of waiting: micros, mg or s. For a plan's home and
	 * choice. */
	double score;
};

struct lt_candidate { /* a start of one partition, or why there is none */
	enum lt_reject reject;
	/* The best of the starts that were looked at; the first, where it was plain without a look
	 * that none can be best. */
	struct lt_estimate best;
	double wanted, found; /* of the reject: MiB, GPUs, seconds, ppm ... */
};

/* Which side of the site's comparison a job is on that moving could better, and that could as well
 * stay. */
enum lt_compared { LT_COMPARED_NOT, LT_COMPARED_MOVED, LT_COMPARED_KEPT };

/* A job at home behind others: the figures of all starts from now to the one that is expected. */
struct lt_line {
	bool known;
	bool waits; /* without a begin time, as no hour of them is worse */
	int64_t least_micros, most_micros, least_mg, most_mg;
};

struct lt_plan {
	bool moved; /* differs from home at once */
	enum lt_objective objective;
	uint32_t pins;		      /* what kept it from moving */
	char pinned_by[LT_NAME_SIZE]; /* of LT_PIN_OTHER; "" = not known */
	bool fits;		      /* home can run it at all */
	bool home_was_dear;	      /* it has room before, at a price too high */
	struct lt_estimate chosen;    /* home when !moved, but for a cap */
	/* Where it would have gone, at the first start with room there; now, where none is
	 * known. */
	struct lt_estimate home;
	/* Where home can't run it: the best start now, or at the first hour at which there is any,
	 * in another partition. partition -1 = none. */
	struct lt_estimate elsewhere;
	/* Steps between that and the choice: home at the choice's start; the choice's partition at
	 * home's start, and at its own, were it as slow as home. */
	struct lt_estimate home_then, there_now, there_slow;
	struct lt_line line;
	int64_t room_utc_s; /* when the choice's partition first had room */
	enum lt_compared compared;
	uint32_t holdout_ppm; /* of KEPT: one of so many */
	/* The power cap that chosen has; home has none. */
	struct lt_capped capped;
	uint32_t candidate_count; /* == market->partition_count */
	struct lt_candidate candidates[LT_PARTITIONS_MAX];
};

/* Returns the estimate that the choice is measured against: home, or elsewhere. Lent. */
const struct lt_estimate *lt_plan_base(const struct lt_plan *plan);

/* Moved for no other reason than that home has no room at once. */
bool lt_plan_waits_for_room(const struct lt_plan *plan);

/*
 * Decide. market is loaded, planned has planned_count windows (may be NULL when 0). *plan is always
 * written, candidates up to their count. LT_OK also when nothing moves. LT_EINPUT when the request
 * has no home partition, LT_ENOMEM without memory to work in. Thread safe. Source: docs/model.md.
 */
int lt_decide(struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market, const struct lt_planned *planned, uint32_t planned_count,
    int64_t now_utc_s, struct lt_error *err);

/* The cost of one partition and start, by the same formulas (eqs. of docs/model.md); false when the
 * partition can't run it, reject says why. */
bool lt_estimate_at(struct lt_estimate *estimate, enum lt_reject *reject,
    const struct lt_request *request, const struct lt_market *market, int partition,
    int64_t start_utc_s);

/* The time limit that Slurm will give in that partition (user's, DefaultTime, MaxWall, MaxTime,
 * assume_time); of a job with a deadline what is left of its own, as lowtide then sets it;
 * LT_UNSET_64 when there is none at all. */
int64_t lt_limit_of(
    const struct lt_request *request, const struct lt_market *market, int partition);

/*
 * Text for the user. All write at most size bytes, ended.
 * table: every candidate with its figures or its reason, for `plan`; then the
 * plan in a line, and what else is to be said of it.
 */
void lt_plan_table(char *out, size_t size, const struct lt_plan *plan,
    const struct lt_request *request, const struct lt_market *market, int64_t now_utc_s);
/* "class big (QOS batch): at most 3 h of delay, deadlines kept in 99 %": the
 * request's class, by what it is that, and what it says otherwise than the
 * site;
 * "" without one. */
void lt_class_text(
    char *out, size_t size, const struct lt_request *request, const struct lt_market *market);
/* "no fp8 on A100-SXM4-40GB: bf16" where --amp asked for what the partition's GPU lacks; "" else,
 * and where its GPU is not known. */
void lt_precision_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market, int partition);
/* Writes the notes for a --checkpoint job without proof, and the consequence, in parts; none where
 * its word counts, or no node is taken back. */
void lt_proof_note(
    struct lt_brief *notes, const struct lt_request *request, const struct lt_market *market);
void lt_reject_text(char *out, size_t size, const struct lt_candidate *candidate,
    const char *currency); /* the name, and what was found */
/* "about 1.2 interruptions expected, 0:50 of work lost"; "" for so few that the figure would be
 * 0.0. Returns out. */
const char *lt_interruptions_text(char *out, size_t size, double interruptions, double lost_s);
#endif
