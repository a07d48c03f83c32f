/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of lowtided share: one struct for the whole process, which
 * has one thread. Sources are fetched by children (fetch.c).
 */
#ifndef LT_DAEMON_H
#define LT_DAEMON_H

#include "adapter.h"
#include "args.h"
#include "budget.h"
#include "calendar.h"
#include "clock.h"
#include "files.h"
#include "ledger.h"
#include "log.h"
#include "policy.h"
#include "posterior.h"
#include "ring.h"
#include "slurm.h"
#include "steps.h"
#include "terms.h"
#include "units.h"

enum {
	LT_JOBS_EVERY_S = 2,	    /* poll of slurmctld while jobs live */
	LT_LOCKS_A_PASS = 1000,	    /* 1 to 2 ms each; the rest in the next */
	LT_TABLES_EVERY_S = 60,	    /* partitions, nodes, associations */
	LT_MARKET_EVERY_S = 60,	    /* new booked windows for the plugin */
	LT_SHEET_EVERY_S = 15,	    /* well inside LT_SHEET_STALE_S */
	LT_SETTLE_EVERY_S = 60,	    /* window scan of slurmdbd */
	LT_SETTLE_OVERLAP_S = 3600, /* rows that come late or change */
	LT_VOID_AFTER_S = 60,	    /* see void.c */
	LT_PROVISIONAL_AFTER_S = 86400,
	LT_HORIZON_S = 14 * 86400,	/* how far a series looks ahead */
	LT_HISTORY_S = 28 * 86400,	/* what a forecast is made from */
	LT_POINTS_KEEP_S = 400 * 86400, /* raw points: a year and a bit */
	LT_VOID_KEEP_S = 7 * 86400,	/* holds that no job came for */
	LT_HOLDS_KEEP_S = 400 * 86400,	/* settled ones, for explain */
	LT_POINTS_KEPT_MAX = 2000000,	/* of all sources; some 200 MB */
	LT_PATH_SIZE = 4096,
};

struct lt_source { /* one source of the policy at run time */
	const struct lt_policy_source *policy;
	const struct lt_adapter *adapter;
	struct lt_source_options options; /* into policy */
	enum lt_quantity quantity;
	bool busy, fetched;
	/* issued: when the source made what we have; its age is by this */
	int64_t next_fetch_utc_s, fetched_utc_s, issued_utc_s;
	int64_t complete_utc_s; /* its past up to then was asked for, and came;
				 * 0 = not yet */
	int failures;
	struct lt_source_memory *memory; /* tokens, validators; own */
	char note[LT_POINTS_NOTE_SIZE];	 /* of the last good fetch */
	int64_t retry_after_s; /* the source asked for it; 0 = for none */
	char last_error[LT_ERROR_TEXT_SIZE];
	/* what it gives the market: measured, forecast, then our own */
	uint32_t step_count;
	struct lt_rate_step *steps;
	uint64_t generation; /* counts up with each change of steps */
};

struct lt_live { /* what the job list says about one quote */
	uint64_t quote_id;
	uint32_t job_id, live, pending;
	int64_t submit_utc_s, start_utc_s, end_utc_s; /* end: at the limit */
};

struct lt_ended { /* a run that slurmctld saw end, not yet in the ledger */
	struct lt_slurm_run run; /* its last record, admin_comment owned */
	int64_t seen_utc_s;
};

struct lt_paths { /* of the files that it writes, and its socket */
	char market[LT_PATH_SIZE], sheet[LT_PATH_SIZE], terms[LT_PATH_SIZE],
	    ring[LT_PATH_SIZE], socket[LT_PATH_SIZE];
};

struct lt_tables { /* what Slurm knows (tables.c) */
	struct lt_slurm_conf conf;
	struct lt_partition *partitions;
	struct lt_shape *shapes;
	char *strings;
	uint32_t partition_count, shape_count;
	struct lt_slurm_account *accounts;
	struct lt_slurm_pair *pairs;
	struct lt_slurm_manager *managers;
	uint32_t account_count, pair_count, manager_count, unknown_users;
	int64_t read_utc_s; /* 0 = never */
};

struct lt_signals_state {
	int source_count;
	struct lt_source *sources;
	struct lt_chosen *chosen;  /* failover.c: the sources in use */
	struct lt_seen_here *seen; /* hazard.c: interruptions, for a while */
	bool seen_dirty;	   /* a run was interrupted since */
};

struct lt_budget_state {
	struct lt_balance_sheet sheet;
	bool has_sheet, dirty;
	struct lt_recent *recent; /* admitted since the sheet (fits.c) */
	uint64_t recent_generation;
	int64_t counted_utc_s; /* first sheet with all that was admitted; 0 =
				* none yet (release.c) */
	int64_t settled_until_utc_s;
	uint32_t dbd_queue;
	bool period_began; /* since it was last judged who fits into it */
};

struct lt_ring_state { /* absorb.c */
	int fd;	       /* -1 = no ring yet */
	uint64_t generation, absorbed, highest;
	int64_t looked_utc_s, stuck_utc_s;
};

struct lt_jobs_state { /* of slurmctld's list, and what is made of it */
	struct lt_slurm_jobs list;
	uint64_t looked_generation; /* of the market by which jobs have their
				     * node_shares (change.c) */
	bool followed;		    /* a list was, since the start */
	bool quotes_loaded; /* and its quotes are in the ledger: ready */
	uint32_t live_count;
	size_t live_capacity;
	struct lt_live *live; /* sorted by quote id */
	uint32_t ended_count;
	size_t ended_capacity;
	struct lt_ended *ended;
	uint32_t admitted_count;
	size_t admitted_capacity;
	struct lt_admitted *admitted; /* lock.c */
	uint32_t locks_left;	      /* of this pass: LT_LOCKS_A_PASS */
};

struct lt_schedule { /* when each is due, by the wall clock of this pass;
		      * clock.c moves them when that is set */
	int64_t jobs, tables, market, sheet, settle, voids, policy, prune;
};

struct lt_daemon {
	struct lt_args args;
	struct lt_paths paths;
	int lock_fd;
	int64_t started_utc_s;
	/* lt_cycle(), for a request that can't wait for it. */
	int (*cycle)(struct lt_daemon *d, int64_t now_utc_s);
	bool acting;

	struct lt_policy *policy;
	struct lt_file_id policy_id;
	int64_t policy_loaded_utc_s;
	char policy_error[LT_ERROR_TEXT_SIZE];
	struct lt_offsets offsets; /* the site's zone; with the policy */

	struct lt_steps steps; /* what fails now */
	struct lt_ledger *ledger;
	struct lt_tables tables;
	struct lt_signals_state signals;
	struct lt_market market;
	bool has_market, market_dirty;
	struct lt_recorded *recorded; /* rates.c: what was stored last */
	struct lt_budget_state budget;
	struct lt_ring_state ring;
	struct lt_jobs_state jobs;

	struct lt_clock clock;
	struct lt_schedule next;
};

/* policy_load.c: load or reload; a bad file keeps the one that is there. */
int lt_daemon_load_policy(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
void lt_policy_drop(struct lt_daemon *d);
/* tables.c: what Slurm knows. */
int lt_daemon_load_tables(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* The policy's row of a GPU: the site's own `gpus:` by name (any case), else
 * the built-in table's; NULL = unknown. */
const struct lt_gpu *lt_policy_gpu(
    const struct lt_policy *policy, const char *name);
/* The policy's row of a partition; NULL = none. */
const struct lt_policy_partition *lt_daemon_policy_partition(
    const struct lt_daemon *d, const char *name);

/* schedule.c: sources due, results come in. */
void lt_schedule_start(struct lt_daemon *d);
void lt_schedule_stop(struct lt_daemon *d);
/* When it wants to be called again. */
int64_t lt_schedule_run(struct lt_daemon *d, int64_t now_utc_s);
/* Seconds to the next fetch, without jitter: the interval, or after failures
 * doubled pauses; never sooner than the source asks, up to a day. Pure. */
int64_t lt_schedule_wait_s(
    int64_t interval_s, int failures, int64_t retry_after_s);
/* From when on a source is asked whose past is complete up to then: two days
 * back for late values, further over what is missing, a month at most. */
int64_t lt_schedule_from(int64_t complete_utc_s, int64_t now_utc_s);
/* All once, here and now (--once). */
void lt_schedule_once(struct lt_daemon *d, int64_t now_utc_s);

/* signals.c: points of a source into the ledger and its steps. What fails is
 * logged and in last_error; the source keeps what it had, and is asked for all
 * of it again. */
int lt_signals_take(struct lt_daemon *d, struct lt_source *source,
    struct lt_points *points, int64_t now_utc_s);
/* Make source->steps from what the ledger has (also at start). */
int lt_signals_refresh(struct lt_daemon *d, struct lt_source *source,
    int64_t now_utc_s, struct lt_error *err);
/* At start and after a reload: what the ledger has of each source. */
void lt_signals_restore(struct lt_daemon *d, int64_t now_utc_s);
/* By which the ledger knows a source: its name and options, for another
 * region or currency is another history. */
const char *lt_signals_key(char key[LT_NAME_SIZE], const struct lt_daemon *d,
    const struct lt_source *source);
/* From when on `stale_after` counts: when something newer than its issue time
 * could be there, or now. */
int64_t lt_source_made(const struct lt_source *source, int64_t now_utc_s);
/* Its step of now, or the last that began; NULL: none has begun. */
const struct lt_rate_step *lt_source_step(
    const struct lt_source *source, int64_t now_utc_s);
/* That step's value, else the first one's; it has steps. */
double lt_source_value(const struct lt_source *source, int64_t now_utc_s);
/* No more "has it changed?": the next answer is whole. */
void lt_source_forget(struct lt_source_memory *memory);

/* convert.c: other currencies to the site's by the policy's dated rates. Points
 * of days before the first rate are dropped. LT_EINPUT: no rate at all, or no
 * site currency. */
int lt_points_convert(struct lt_points *points, const struct lt_policy *policy,
    struct lt_error *err);
/* Does a rate of the currency begin in (after, until]? */
bool lt_exchange_begins(const struct lt_policy *policy, const char *currency,
    int64_t after_utc_s, int64_t until_utc_s);

/* hazard.c: the interruption rate of a partition and what it is made of. */
struct lt_hazard { /* per node-hour */
	bool known;
	double value; /* what the market has */
	/* As published by a source or written in the policy. */
	double published;
	const struct lt_source *source; /* NULL = the policy */
	bool counts_own;
	struct lt_own_history own; /* the cluster's, from slurmdbd */
	double own_share; /* weight of the own history in value, 0 to 1 */
};
struct lt_hazard lt_hazard_of(struct lt_daemon *d,
    const struct lt_policy_partition *partition, int64_t now_utc_s);

/* failover.c: which source of a signal counts now, the first that is fresh,
 * else the first that has data; NULL = none. */
const struct lt_source *lt_signal_source(const struct lt_daemon *d,
    const struct lt_policy_signal *signal, int64_t now_utc_s);
/* Log once each signal whose source is another than before. */
void lt_failover_watch(struct lt_daemon *d, int64_t now_utc_s);
/* rates.c */
/* Record what holds now in each managed partition, for charges. */
int lt_rates_record(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* compile_market.c */
int lt_compile_market(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* compile_budget.c: d->sheet and the file. */
int lt_compile_budget(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* Who fits into the periods of now was judged: kept over restarts. */
int lt_period_judged(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* terms.c */
int lt_write_terms(struct lt_daemon *d, struct lt_error *err);

/* absorb.c: holds of the ring into the ledger, and W. */
int lt_absorb(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* confirm.c: jobs of slurmctld against the ledger's holds. */
int lt_confirm(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* void.c */
int lt_void(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* settle.c */
int lt_settle(struct lt_daemon *d, int64_t from_utc_s, int64_t to_utc_s,
    int64_t now_utc_s, struct lt_error *err);
int lt_settle_due(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
int lt_settle_job(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s,
    struct lt_error *err);
/* ended.c: remember a record that slurmctld calls finished. */
void lt_settle_saw_end(
    struct lt_daemon *d, const struct lt_slurm_job *job, int64_t now_utc_s);
/* Rows that the ledger may have, priced again: what differs is corrected at
 * its own hours. */
int lt_settle_again(struct lt_daemon *d, struct lt_slurm_runs *rows,
    int64_t now_utc_s, struct lt_error *err);
/* The first start of all: what ended before is not charged. */
int64_t lt_settle_since(struct lt_daemon *d, int64_t fallback);
/* All rows that ended before are settled. */
int lt_settle_save_until(
    struct lt_daemon *d, int64_t until, struct lt_error *err);
/* rebuild.c */
struct lt_rebuilt {
	uint32_t runs, kept_runs; /* kept: slurmdbd has them no more */
	int64_t money_micros, kept_micros;
};
int lt_rebuild(struct lt_daemon *d, int64_t now_utc_s,
    struct lt_rebuilt *rebuilt, struct lt_error *err);
/* release.c: admin holds, and what is freed. */
int lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* request.c: a job record as a request; home is its first partition. */
bool lt_request_of_job(struct lt_request *request, int *partitions,
    int *partition_count, const struct lt_slurm_job *job,
    const struct lt_market *market, int64_t now_utc_s);

/* cycle.c: one pass over all that is due; returns seconds till the next. */
int lt_cycle(struct lt_daemon *d, int64_t now_utc_s);

static inline bool
lt_is_admin(const struct lt_daemon *d, uint32_t uid)
{
	return uid == 0 || uid == d->tables.conf.slurm_uid;
}

#endif
