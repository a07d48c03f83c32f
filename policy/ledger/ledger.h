/*
 * The ledger: SQLite, two files in the state directory. signals.db keeps the rates that held in
 * each partition; ledger.db holds, runs, charges and adjustments, a projection of slurmdbd that
 * `lowtide rebuild` makes again. One writer: lowtided. Every call is one transaction unless said.
 */
#ifndef LT_LEDGER_H
#define LT_LEDGER_H

#include "columns.h"
#include "history_file.h"
#include "posterior.h"
#include "quote.h"
#include "rate.h"
#include "run_lengths.h"

struct lt_ledger; /* opaque */
struct lt_account_sum;

/* Nobody's: of adjustments, and of runs whose users were erased. */
#define LT_NOBODY_UID UINT32_MAX

/* Opens or makes both, 0600, WAL, synchronous=FULL, migrations up only. */
int lt_ledger_open(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err);
/* The same two for one thread beside the writer's: it may only read, keeps nobody waiting, and sees
 * one state of each until it is closed. */
int lt_ledger_open_reader(struct lt_ledger **ledger, const char *state_dir, struct lt_error *err);
/* Its directory, as long as it is open; absolute, without links. */
const char *lt_ledger_state(const struct lt_ledger *ledger);
void lt_ledger_close(struct lt_ledger *ledger);
/* Group several calls: begin, then commit or roll back. No nesting. */
int lt_ledger_begin(struct lt_ledger *ledger, struct lt_error *err);
int lt_ledger_commit(struct lt_ledger *ledger, struct lt_error *err);
void lt_ledger_rollback(struct lt_ledger *ledger);

/* ---- signals.db: what held, when ---- */
/* Record steps of one partition from steps[0].start on: what was stored for the same times is
 * replaced (a measured value is never replaced by a forecast). */
int lt_ledger_put_rates(struct lt_ledger *ledger, const char *partition, enum lt_rate rate,
    const struct lt_rates *rates, struct lt_error *err);
struct lt_rates_asked {
	const char *partition;
	enum lt_rate rate;
	struct lt_span span;
};
/* Steps overlapping the span, in order, without gaps; malloc'd. Where
 * nothing is stored before the first known step, the first goes back and is
 * ESTIMATED; in gaps and after the last, the step before goes on as
 * LAST_VALUE; a partition that never had the rate gives count 0. Steps are
 * not cut to the span. */
int lt_ledger_rates(struct lt_ledger *ledger, const struct lt_rates_asked *asked,
    struct lt_rate_step **steps, uint32_t *count, struct lt_error *err);
/* Start of the first stored step in the span that was a guess, or that was to hold until changed;
 * INT64_MAX = none. */
int lt_ledger_rate_unsure(struct lt_ledger *ledger, const struct lt_rates_asked *asked,
    int64_t *start_utc_s, struct lt_error *err);
/* Names of the partitions that ever had the rate, sorted; malloc'd. */
int lt_ledger_rated(struct lt_ledger *ledger, enum lt_rate rate, char (**names)[LT_NAME_SIZE],
    uint32_t *count, struct lt_error *err);
/* Raw points of a source, for forecasts and `signals`. One that is there for the same start is
 * revised (a measured value never by a forecast); one that only says that the point before it goes
 * on, lengthens that. Read in order, without overlaps: the later start wins. */
int lt_ledger_put_points(struct lt_ledger *ledger, const char *source,
    const struct lt_rate_step *steps, uint32_t count, struct lt_error *err);
struct lt_points_asked {
	const char *source;
	struct lt_span span; /* they overlap it */
};
int lt_ledger_points(struct lt_ledger *ledger, const struct lt_points_asked *asked,
    struct lt_rate_step **steps, uint32_t *count, struct lt_error *err);
/* Drop raw points that ended before, and the oldest of more than points_max; rates stay, to charge
 * again from. */
int lt_ledger_prune_signals(
    struct lt_ledger *ledger, int64_t before_utc_s, uint32_t points_max, struct lt_error *err);

/* ---- forecasts and how far they were off; hours are since 1970 ---- */
enum {
	LT_FORECASTS_WAIT_HOURS = 72, /* for a measured value; then dropped */
	LT_FORECAST_ERROR_DAYS = 90,  /* kept of errors */
};
/* Keep fresh ones, forget those that were scored, add to the sums of this hour's day, and drop what
 * of any source is too old. */
struct lt_forecast_news {
	int64_t hour; /* now */
	const struct lt_issued *fresh, *scored;
	uint32_t fresh_count, scored_count;
	const struct lt_error_sum *sums;
	uint32_t sum_count;
};
int lt_ledger_put_forecasts(struct lt_ledger *ledger, const char *source,
    const struct lt_forecast_news *news, struct lt_error *err);
/* Those of which the target hour is over; malloc'd. */
int lt_ledger_due_forecasts(struct lt_ledger *ledger, const char *source, int64_t hour,
    struct lt_due *due, struct lt_error *err);
/* When the last one that still waits was issued; -1 = none waits. */
int lt_ledger_last_forecast(
    struct lt_ledger *ledger, const char *source, int64_t *hour, struct lt_error *err);
/* Reads the errors by kind and bucket over all days kept, at most room. Returns how many; negative
 * = failed. */
int lt_ledger_forecast_errors(struct lt_ledger *ledger, const char *source,
    struct lt_error_sum *sums, uint32_t room, struct lt_error *err);

/* ---- holds ---- */
enum lt_hold_state { LT_HOLD_OPEN, LT_HOLD_SETTLED, LT_HOLD_VOID, LT_HOLDS };
struct lt_ledger_hold {
	struct lt_quote quote; /* quote.account = team account */
	uint32_t uid;
	uint64_t sequence; /* of the ring; 0 = made by lowtided */
	enum lt_hold_state state;
	uint32_t live_tasks;  /* tasks whose share is still held */
	uint32_t job_id;      /* 0 = not yet seen on a job */
	int64_t submit_utc_s; /* of the run it holds for, 0 = not yet seen */
	int64_t start_utc_s;  /* running since; 0 = pending */
	int64_t made_utc_s;
	char why[128]; /* void: reason */
};
/* Insert or update by quote id (rev not lower). */
int lt_ledger_put_hold(
    struct lt_ledger *ledger, const struct lt_ledger_hold *hold, struct lt_error *err);
int lt_ledger_hold(struct lt_ledger *ledger, uint64_t quote_id, struct lt_ledger_hold *hold,
    struct lt_error *err); /* LT_ENOENT */
int lt_ledger_hold_of_job(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_ledger_hold *hold, struct lt_error *err);
/* Gives `take` each open one, lent for the call, until it fails; it must not write holds. */
typedef int lt_hold_function(
    void *context, const struct lt_ledger_hold *hold, struct lt_error *err);
int lt_ledger_each_open(
    struct lt_ledger *ledger, lt_hold_function *take, void *context, struct lt_error *err);
/* The wall clock was set: open holds were made as long ago as before, and
 * none after now. */
int lt_ledger_move_holds(
    struct lt_ledger *ledger, int64_t by_s, int64_t now_utc_s, struct lt_error *err);
int lt_ledger_end_hold(struct lt_ledger *ledger, uint64_t quote_id, enum lt_hold_state state,
    const char *why, struct lt_error *err);

/* Reads what runs of its job, an array's id, were charged by its quote so far:
 * those that started since its submission. */
int lt_ledger_charged_of(struct lt_ledger *ledger, const struct lt_ledger_hold *hold,
    struct lt_amount *charged, struct lt_error *err);

/*
 * The inputs of a hold's amount. price and carbon are the worst of its window, in micros and mg per
 * node-hour with the margin in them, and limit_s has OverTimeLimit in it; 0 = not known.
 */
struct lt_admission {
	struct lt_amount admitted; /* a task, before it was raised while it
				    * runs */
	double price, carbon;
	int64_t limit_s;
};
/* Writes whether this is an open hold of a job that has no admission, or has had another amount
 * since. */
int lt_ledger_admission_due(
    struct lt_ledger *ledger, uint64_t quote_id, bool *is_due, struct lt_error *err);
/* hold: the amount that it is about. */
int lt_ledger_put_admission(struct lt_ledger *ledger, uint64_t quote_id,
    const struct lt_amount *hold, const struct lt_admission *admission, struct lt_error *err);
int lt_ledger_admission(struct lt_ledger *ledger, uint64_t quote_id, struct lt_admission *admission,
    struct lt_error *err); /* LT_ENOENT */
/* Drop void holds that ended before the first time, settled ones before the second, and their
 * admissions and plans. When one ended is known to the interval in which this is called: it is
 * marked by the first call after it. */
int lt_ledger_prune_holds(struct lt_ledger *ledger, int64_t void_before_utc_s,
    int64_t settled_before_utc_s, int64_t now_utc_s, struct lt_error *err);

/* A plan that a job had from then on. */
struct lt_plan_made {
	int64_t made_utc_s;
	char partition[LT_NAME_SIZE];
	int64_t start_utc_s;
	struct lt_amount expected;
	char why[16]; /* lt_replan_word(); "" = at its submission */
};
/* Another one of the same second takes its place. */
int lt_ledger_put_plan(struct lt_ledger *ledger, uint64_t quote_id, const struct lt_plan_made *plan,
    struct lt_error *err);
/* In order; malloc'd. None: the one of the quote was the only one. */
int lt_ledger_plans(struct lt_ledger *ledger, uint64_t quote_id, struct lt_plan_made **plans,
    uint32_t *count, struct lt_error *err);

/* ---- Slurm as it was ---- */
/* A partition's facts as text of the caller's, and since when the policy has it no more; 0 = it
 * has. */
enum { LT_PLACE_FACTS_SIZE = 17600 }; /* longer: cut */
int lt_ledger_put_place(struct lt_ledger *ledger, const char *partition, const char *facts,
    int64_t left_utc_s, struct lt_error *err);
struct lt_place_kept {
	char facts[LT_PLACE_FACTS_SIZE];
	int64_t left_utc_s;
};
int lt_ledger_place(struct lt_ledger *ledger, const char *partition, struct lt_place_kept *place,
    struct lt_error *err); /* LT_ENOENT */
/* Names of those that the policy had last; malloc'd. */
int lt_ledger_places(
    struct lt_ledger *ledger, char (**names)[LT_NAME_SIZE], uint32_t *count, struct lt_error *err);

/* ---- runs and entries ---- */
struct lt_run_key {
	uint32_t job_id;
	int64_t submit_utc_s;
};
enum lt_gpus_from { /* who says how many GPUs a run had */
	LT_GPUS_SLURMDBD,
	LT_GPUS_SLURMCTLD, /* AccountingStorageTRES has no gres/gpu */
	LT_GPUS_UNKNOWN,   /* nobody: the run has no price */
	LT_GPUS_FROM_COUNT
};
/* Parts of a run's saving: by when it ran, and by how fast it is there. The rest is by where, with
 * what interruptions cost. */
struct lt_saved_by {
	int64_t time_micros, time_mg, gpu_micros, gpu_mg;
};
struct lt_parts {		      /* of its money, beside what its nodes cost */
	int64_t carbon_charge_micros; /* in it, for its carbon */
	int64_t discount_micros;      /* taken off, for it waited; not below 0 */
};
/* Returns the base that a saving is measured by: a discount is not a saving. */
static inline int64_t
lt_before_discount(int64_t money_micros, const struct lt_parts *parts)
{
	return money_micros + parts->discount_micros;
}
/* Returns the cost of its nodes, as others charge for them. */
static inline int64_t
lt_of_nodes(int64_t money_micros, const struct lt_parts *parts)
{
	return lt_before_discount(money_micros, parts) - parts->carbon_charge_micros;
}
struct lt_run_used { /* of what it had, where Slurm's accounting says so */
	bool has_cpu, has_gpu;
	int64_t cpu_ms;
	uint32_t gpu_ppm; /* of all its GPUs, at most */
};
struct lt_run {
	struct lt_run_key key;
	uint32_t array_job_id, array_task, uid;
	char user[LT_NAME_SIZE], account[LT_ACCOUNT_SIZE], partition[LT_NAME_SIZE], state_text[32];
	int64_t start_utc_s, end_utc_s;
	uint32_t nodes, cpus, gpus, shards;
	uint64_t memory_mib;
	struct lt_pod_size size;		    /* not kept */
	int64_t share_numerator, share_denominator; /* of nodes' node-hours */
	uint64_t quote_id;			    /* 0 = none */
	bool priced;				    /* false: no price known, shown so */
	bool provisional;			    /* from slurmctld's record */
	bool goes_on; /* its hold's share has further rows; not kept */
	bool has_carbon;
	int64_t money_micros, carbon_mg, energy_wh;
	struct lt_parts parts;
	bool has_baseline;
	int64_t baseline_money_micros, baseline_carbon_mg; /* without lowtide */
	struct lt_saved_by saved_by;
	bool moved;		 /* lowtide placed it */
	char baseline_text[192]; /* "ondemand@<utc>, ..." how it was made */
	char over_reason[32];	 /* settled above its hold; "": not. The words
				  * are finding.h's */
	enum lt_quality worst_quality;
	int64_t suspended_s; /* of end - start */
	enum lt_gpus_from gpus_from;
	struct lt_amount held; /* a task, as admitted; where it is above */
	char name[LT_NAME_SIZE], qos[LT_ACCOUNT_SIZE], wckey[LT_NAME_SIZE];
	char gpu[LT_GPU_NAME_SIZE];   /* model that it had; "" = none, unknown */
	uint32_t exit_code, restarts; /* as of wait(2) */
	struct lt_run_used used;
	/* The ledger's own: set by lt_ledger_settle(). */
	bool corrected;	       /* by entries of other hours than its own */
	int64_t settled_utc_s; /* when it came in, of a closed period after its
				* closing; before version 14: 0 */
	int64_t changed_utc_s; /* since it stands in a closed period; 0: not */
};
enum lt_run_columns_of {   /* parts of its columns */
	LT_RUN_FACT = 1,   /* a charge is made of it */
	LT_RUN_RESULT = 2, /* what the charge said of the run */
	LT_RUN_TOLD = 4,   /* lt_ledger_describe_run() */
	LT_RUN_USED = 8,   /* the same, known later */
};
/* All columns of struct lt_run, and those of a part. */
extern const struct lt_db_columns lt_run_columns, lt_run_facts, lt_run_told;
enum lt_entry_kind { LT_ENTRY_CHARGE, LT_ENTRY_CORRECTION, LT_ENTRY_ADJUSTMENT };
struct lt_entry {
	int64_t id;
	enum lt_entry_kind kind;
	struct lt_run_key run; /* adjustment: 0 */
	int64_t at_utc_s;      /* start of the hour charged; the period */
	int64_t made_utc_s;
	char account[LT_ACCOUNT_SIZE];
	uint32_t uid;
	int64_t money_micros, carbon_mg, energy_wh;
	int64_t baseline_money_micros, baseline_carbon_mg;
	struct lt_saved_by saved_by;
	struct lt_parts parts;
	char who[LT_NAME_SIZE], reason[256]; /* adjustment */
};
/* All that is summed up of entries: a column of entries, days and runs, and the member of lt_entry,
 * lt_run and lt_totals. */
#define LT_FIGURES(FIGURE)                                                                         \
	FIGURE(money_micros, money_micros)                                                         \
	LT_MORE_FIGURES(FIGURE)
#define LT_MORE_FIGURES(FIGURE)                                                                    \
	FIGURE(carbon_mg, carbon_mg)                                                               \
	FIGURE(energy_wh, energy_wh)                                                               \
	FIGURE(base_money_micros, baseline_money_micros)                                           \
	FIGURE(base_carbon_mg, baseline_carbon_mg)                                                 \
	FIGURE(by_time_micros, saved_by.time_micros)                                               \
	FIGURE(by_time_mg, saved_by.time_mg)                                                       \
	FIGURE(by_gpu_micros, saved_by.gpu_micros)                                                 \
	FIGURE(by_gpu_mg, saved_by.gpu_mg)                                                         \
	FIGURE(carbon_charge_micros, parts.carbon_charge_micros)                                   \
	FIGURE(discount_micros, parts.discount_micros)
#define LT_ONE_FIGURE(column, member) +1
enum { LT_ENTRY_FIGURES = LT_FIGURES(LT_ONE_FIGURE) };
/* In that order. */
void lt_entry_figures(int64_t *out[LT_ENTRY_FIGURES], struct lt_entry *entry);
/* *sum += sign * addend in all of them; false: one passes 64 bits. */
bool lt_entry_add(struct lt_entry *sum, const struct lt_entry *addend, int sign);
/* Returns the sums that its entries must have, from the run. */
struct lt_entry lt_entry_of_run(const struct lt_run *run);
/*
 * Settle one run: the run row, its entries (they add up to it), the end of
 * one live share of its hold (unless it continues), in one transaction. A run
 * that is there with equal figures changes nothing (*changed false); with other
 * figures a correction entry of the difference is made at its hour, or, for
 * hours before open_since_utc_s, at the hour of now (not before open_since).
 * The account, uid, kind and made of entries are the run's; at is theirs.
 * LT_EBUG when the entries do not add up to the run. Within lt_ledger_begin() a
 * failure may leave some of it: that is to be rolled back.
 */
struct lt_settlement {
	const struct lt_run *run;
	const struct lt_entry *entries;
	uint32_t count;
	int64_t now_utc_s, hour_utc_s, open_since_utc_s; /* hour: of now */
	bool is_new; /* lt_ledger_run() said so in this transaction */
};
int lt_ledger_settle(struct lt_ledger *ledger, const struct lt_settlement *settlement,
    bool *changed, struct lt_error *err);
int lt_ledger_run(struct lt_ledger *ledger, struct lt_run_key key, struct lt_run *run,
    struct lt_error *err); /* LT_ENOENT */
/* Reads the runs by submission; malloc'd. */
int lt_ledger_runs_of_id(struct lt_ledger *ledger, uint32_t job_id, struct lt_run **runs,
    uint32_t *count, struct lt_error *err);
/* And of all tasks of the array that has this id. */
int lt_ledger_runs_of_job(struct lt_ledger *ledger, uint32_t job_id, struct lt_run **runs,
    uint32_t *count, struct lt_error *err);
struct lt_runs_asked {
	const char *account;	      /* NULL = all: by end and start, in two parts,
				       * those that ended long after `to` last; from the
				       * first, and all of them */
	int64_t from_utc_s, to_utc_s; /* their hours touch [from, to) */
	/* Those behind this one, in the order in which they are given: by end, start, moved, priced
	 * and key; NULL = from the first. */
	const struct lt_run *after;
	bool after_late;      /* that one was booked as is_late */
	uint32_t most;	      /* 0 = all */
	int64_t closed_utc_s; /* as it was then; 0 = as it is */
	bool of_one;	      /* of this user only */
	uint32_t uid;
};
struct lt_booked { /* of a run, for one account, in the period; sums */
	char account[LT_ACCOUNT_SIZE];
	bool has_entries;
	bool is_late;			    /* its hours do not touch it: corrections alone */
	struct lt_entry charge, correction; /* only figures */
	int64_t for_utc_s;		    /* the first hour that is corrected; 0: none */
	struct lt_entry earlier;	    /* of correction: of hours before the period */
	struct lt_span earlier_hours;	    /* these, within the run if it has them */
	int64_t late_s;			    /* of them, that are booked here first */
};
typedef int lt_run_function(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err);
/* Gives `take` each of them, lent for the call, until it fails; then those that corrections of the
 * period name, by key. All that is booked of runs, each once. */
int lt_ledger_runs(struct lt_ledger *ledger, const struct lt_runs_asked *asked,
    lt_run_function *take, void *context, struct lt_error *err);
/* Writes slurmdbd's facts of the settlement's run beside its charge, into the row that is there:
 * name, QOS, WCKey, GPU, exit code, restarts, what it used. */
int lt_ledger_describe_run(
    struct lt_ledger *ledger, const struct lt_settlement *settlement, struct lt_error *err);
struct lt_run_sum {
	struct lt_run_key key;
	bool provisional;
	int64_t money_micros;
};
typedef int lt_run_sum_function(void *context, const struct lt_run_sum *sum, struct lt_error *err);
/* Calls back for each run of all, by its key. */
int lt_ledger_each_run(
    struct lt_ledger *ledger, lt_run_sum_function *take, void *context, struct lt_error *err);
struct lt_run_gpus {
	uint32_t gpus, shards;
};
/* GPUs of a job by slurmctld's record from a time on: the run's submit time, or later when it was
 * resized. Dropped some time after they were seen. */
int lt_ledger_put_gpus(struct lt_ledger *ledger, struct lt_run_key key, struct lt_run_gpus gpus,
    int64_t now_utc_s, struct lt_error *err);
/* The last put up to key's time, which becomes its own; LT_ENOENT: none. */
int lt_ledger_gpus(struct lt_ledger *ledger, struct lt_run_key *key, struct lt_run_gpus *gpus,
    struct lt_error *err);
int lt_ledger_prune_gpus(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);
/* Runs that ended since and were settled above their holds, by reason, at most room: how many;
 * negative = failed. */
struct lt_over_sum {
	char reason[32];
	uint32_t runs, last_job_id;
	double over_micros;
};
int lt_ledger_over(struct lt_ledger *ledger, int64_t since_utc_s, struct lt_over_sum *sums,
    uint32_t room, struct lt_error *err);
/* Reads the exposure of preemptible nodes: node-hours of runs of a partition within the span, and
 * how many of those runs ended by NODE_FAIL or PREEMPTED. */
int lt_ledger_exposure(struct lt_ledger *ledger, const char *partition, struct lt_span span,
    struct lt_own_history *own, struct lt_error *err);
/* Whose a run was: no more known. */
void lt_run_erase_user(struct lt_run *run);
/* The same of all runs that ended before, of their entries and holds; sums of accounts stay. One
 * short part a call, until *done. INT64_MIN: of none, and what comes later is looked at anew. Not
 * within lt_ledger_begin(). */
int lt_ledger_erase_users(
    struct lt_ledger *ledger, int64_t before_utc_s, bool *done, struct lt_error *err);
/* Also a line of <state>/adjustments (text, fsync), written once the insert has worked and before
 * it is kept, so that rebuild has it, and nothing that was refused; what a crash left only there,
 * the next open inserts. Not within lt_ledger_begin(). The entry is nobody's; the line has who made
 * it. LT_EINPUT without account or reason, or beyond LT_ADJUSTMENT_MAX; LT_EOVERFLOW if all of them
 * could not be added. */
#define LT_ADJUSTMENT_MAX INT64_C(1000000000000000000) /* 10^12 units */
int lt_ledger_adjust(struct lt_ledger *ledger, const struct lt_entry *entry, struct lt_error *err);

/* ---- how long jobs ran; history.h, run_lengths.h ---- */
struct lt_kind { /* a group */
	struct lt_history_key key;
	enum lt_history_group group;
	char account[LT_ACCOUNT_SIZE];
	char name[LT_NAME_SIZE];    /* folded; "" of wider groups, and of what
				     * nobody named */
	uint32_t band;		    /* lt_history_band() */
	uint32_t nodes, cpus, gpus; /* that its last run had */
	int64_t last_utc_s;	    /* end of that */
	struct lt_history_figures figures;
	uint32_t ratio_ppm; /* LT_HISTORY_NEVER: beyond its limit */
};
struct lt_length { /* a run that says something */
	struct lt_run_key run;
	struct lt_kind kinds[LT_HISTORY_GROUPS]; /* without figures */
	struct lt_run_length length;
	char gpu[LT_GPU_NAME_SIZE]; /* model it ran on; "" = not known */
	int64_t gpu_length_s;	    /* that it worked there */
	bool is_new;		    /* the ledger does not have the run */
	bool is_short;		    /* it says nothing; what it said goes */
};
/* Once each: what is there with the same facts changes nothing. Of a name and shape the newest
 * LT_RUNS_OF_NAME stay. Not of who was forgotten after it ended. Within lt_ledger_begin() a run
 * once, and written by its commit. */
int lt_ledger_put_length(
    struct lt_ledger *ledger, const struct lt_length *length, struct lt_error *err);
/* The runs of a job before this one, the last first: how each ended, and for how long it worked; at
 * most room: how many; negative = failed. */
struct lt_run_part {
	char state_text[32];
	int64_t length_s;
};
int lt_ledger_parts_before(struct lt_ledger *ledger, const struct lt_run *run,
    struct lt_run_part *parts, uint32_t room, struct lt_error *err);
/* Groups whose figures are not those of their runs, at most so many;
 * malloc'd. */
int lt_ledger_stale_kinds(struct lt_ledger *ledger, uint32_t most, struct lt_kind **kinds,
    uint32_t *count, struct lt_error *err);
int lt_ledger_stale_all(struct lt_ledger *ledger, struct lt_error *err);
/* Its newest runs, LT_RUNS_MOST at most: how many; negative = failed. */
int lt_ledger_lengths(struct lt_ledger *ledger, const struct lt_kind *kind,
    struct lt_run_length runs[LT_RUNS_MOST], struct lt_error *err);
/* Figures made of them; of none, the group ends. */
int lt_ledger_put_figures(
    struct lt_ledger *ledger, const struct lt_kind *kind, struct lt_error *err);
/* How fast each GPU is, of a name and shape: medians of runs as they ran there,
 * where LT_HISTORY_RUNS_LEAST tell of two GPUs or more. Made anew of its
 * runs; read: how many there are, at most LT_SPEEDS_MAX, negative = failed. */
enum { LT_SPEEDS_MAX = LT_RUNS_OF_NAME / LT_HISTORY_RUNS_LEAST };
struct lt_speed {
	char gpu[LT_GPU_NAME_SIZE];
	uint32_t runs, median_s;
};
int lt_ledger_make_speeds(
    struct lt_ledger *ledger, const struct lt_history_key *name, struct lt_error *err);
int lt_ledger_speeds(struct lt_ledger *ledger, const struct lt_history_key *name,
    struct lt_speed speeds[LT_SPEEDS_MAX], struct lt_error *err);
/* Reads those of one group; runs 0 = no such group. */
int lt_ledger_figures(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_history_figures *figures, struct lt_error *err);
/* Reads the history for job_submit: the groups with the latest runs, `most` at most; malloc'd. */
int lt_ledger_history(struct lt_ledger *ledger, uint32_t most, struct lt_history_record **records,
    uint32_t *count, struct lt_error *err);
/* And who had a smoke run since then, by lt_smoke_key(): LT_SMOKES_MAX at most, the latest;
 * malloc'd. */
int lt_ledger_smokes(struct lt_ledger *ledger, int64_t since_utc_s,
    struct lt_history_record **records, uint32_t *count, struct lt_error *err);
/* A request for a user's groups by name and shape, those with the latest runs first, at most
 * `most`; name "" = all, else folded; malloc'd. */
struct lt_kinds_asked {
	uint32_t uid, most;
	const char *name;
};
int lt_ledger_kinds_of(struct lt_ledger *ledger, const struct lt_kinds_asked *asked,
    struct lt_kind **kinds, uint32_t *count, struct lt_error *err);
/* All that is known of a user's runs until now, for ever; *count: runs. */
int lt_ledger_forget(struct lt_ledger *ledger, uint32_t uid, int64_t now_utc_s, uint32_t *count,
    struct lt_error *err);
/* Drop runs that ended before. */
int lt_ledger_prune_lengths(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

struct lt_totals {
	int64_t money_micros, carbon_mg, energy_wh, baseline_money_micros, baseline_carbon_mg;
	struct lt_saved_by saved_by;
	struct lt_parts parts;
	int64_t runs, moved_runs, unpriced_runs;
	/* by a recording; by slurmctld's last record until slurmdbd's comes */
	int64_t replay_runs, provisional_runs;
	/* runs whose GPUs are from slurmctld's record; from no record */
	int64_t gpus_slurmctld_runs, gpus_unknown_runs;
};
/* Sum over the span of one account (not its children), per kind. Runs: of CHARGE those that touch
 * it, of CORRECTION those corrected in it, of which only the first three are counted. */
int lt_ledger_totals(struct lt_ledger *ledger, const char *account, struct lt_span span,
    struct lt_totals totals[3] /* by enum lt_entry_kind */, struct lt_error *err);
/* As lt_ledger_totals(), for what one user ran; adjustments belong to no user. Read from entries
 * and runs alone: slower. */
int lt_ledger_totals_of_user(struct lt_ledger *ledger, const struct lt_runs_asked *asked,
    struct lt_totals totals[3], struct lt_error *err);
/* Per (account, uid) sums, for the budget snapshot and caps; malloc'd. Asked again, only the
 * entries that are new are read. */
struct lt_account_sum {
	char account[LT_ACCOUNT_SIZE];
	uint32_t uid;
	int64_t money_micros, carbon_mg;
	int64_t tree_utc_s; /* accounts were above it as they were then */
};
int lt_ledger_sums(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err);
/* Reads what was taken off, as money, for each account. */
int lt_ledger_discounts(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err);

/* Writes whether any money is charged, adjusted or held. */
int lt_ledger_has_money(struct lt_ledger *ledger, bool *has, struct lt_error *err);

/*
 * Exact splitting: charge = round(carry + numerator / denominator), the remainder stays in the
 * carry of that partition and rate, so that the parts of a node add up to the node to the micro.
 * Within the transaction of lt_ledger_begin().
 */
struct lt_carry_key {
	const char *partition;
	bool is_carbon; /* false: money */
};
int lt_ledger_round(struct lt_ledger *ledger, struct lt_carry_key key, double exact,
    int64_t *rounded, struct lt_error *err);

/* A small text value by name ("ring_absorbed", "settled_until"). */
int lt_ledger_put(
    struct lt_ledger *ledger, const char *name, const char *value, struct lt_error *err);
int lt_ledger_get(struct lt_ledger *ledger, const char *name, char *value, size_t size,
    struct lt_error *err); /* LT_ENOENT */

/* A whole number by name; false: none is there, or it is less than least. */
bool lt_ledger_get_number(
    struct lt_ledger *ledger, const char *name, int64_t least, int64_t *number);
int lt_ledger_put_number(
    struct lt_ledger *ledger, const char *name, int64_t number, struct lt_error *err);

/* The name by which lt_ledger_get() has the number of lines of <state>/adjustments that are set
 * aside: the ledger can't add them. Not put:
 * none. */
#define LT_JOURNAL_REFUSED "adjustments_refused"

/* Make the ledger agree with itself: adjustments with <state>/adjustments, entries with their runs
 * (none without a run, one of the difference where they don't add up), days with entries. Runs and
 * holds stay. One short part a call, until LT_REPAIR_DONE; each leaves no less that agrees than
 * before. */
enum lt_repair_stage {
	LT_REPAIR_ADJUSTMENTS,
	LT_REPAIR_ORPHANS,
	LT_REPAIR_SUMS,
	LT_REPAIR_DAYS,
	LT_REPAIR_DONE
};
struct lt_repair { /* start as { 0 } */
	enum lt_repair_stage stage;
	int64_t after; /* an id, a job, a day: of the stage */
};
int lt_ledger_repair(struct lt_ledger *ledger, struct lt_repair *repair, struct lt_error *err);

#endif
