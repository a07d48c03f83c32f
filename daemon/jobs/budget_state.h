/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of lowtided about jobs and budgets, from pass to pass.
 */
#ifndef LT_BUDGET_STATE_H
#define LT_BUDGET_STATE_H

#include "budget.h"
#include "batch.h"

struct lt_budget_forecast; /* budget_forecast.h */
struct lt_paused;	   /* ledger_jobs.h */

struct lt_open_holds { /* of the ledger, as of the snapshot */
	uint32_t count, pending, held_back;
	int64_t pending_money_micros;
};

struct lt_budget_state {
	struct lt_budget_snapshot snapshot;
	struct lt_open_holds open;
	bool has_snapshot, dirty;
	bool is_of_other_clock;	  /* the snapshot is from before the clock was set */
	uint32_t bound_crc;	  /* of the file of those that budgets bind */
	bool is_as_ledger;	  /* though dirty: what changes is not committed */
	struct lt_recent *recent; /* admitted since the snapshot (fits.c) */
	uint64_t recent_generation;
	int64_t counted_utc_s; /* first snapshot with all that was admitted; 0 =
				* none yet (release.c) */
	bool period_began;     /* since it was last judged which holds fit into it */
	/* They may be of an earlier snapshot's budgets; malloc'd. */
	struct lt_budget_forecast *forecasts;
	uint32_t forecast_count;
};

struct lt_ring_state { /* ingest.c */
	int fd;	       /* -1 = no ring yet */
	uint64_t generation, ingested, highest;
	int64_t looked_utc_s, stuck_utc_s;
};

struct lt_live { /* what the job list says about one quote */
	uint64_t quote_id;
	uint32_t job_id, live, pending;
	bool never_ran;	    /* cancelled while it waited, and none of it ran */
	bool is_void;	    /* and so its hold is to be */
	bool requeued;	    /* it ran before */
	bool is_late;	    /* started, and broke its plan */
	int64_t seen_utc_s; /* the oldest of its records */
	int64_t submit_utc_s, start_utc_s, end_utc_s; /* end: at the limit */
	int64_t eligible_utc_s;
};

struct lt_ended {		 /* a run that slurmctld saw end, not yet in the ledger */
	struct lt_batch_run run; /* its last record, admin_comment owned */
	int64_t seen_utc_s;
};

struct lt_counted { /* what a job takes, by the market and the plans since */
	uint32_t job_id;
	struct lt_planned window;
};

struct lt_jobs_state { /* of slurmctld's list, and what is made of it */
	struct lt_batch_jobs list;
	uint32_t listed_count; /* that slurmctld had; some were let go */
	int64_t every_s;       /* from a list to the next that is wanted */
	uint32_t market_id;    /* up to this one the market has them; ids rise */
	uint32_t counted_count;
	struct lt_counted *counted; /* of them, by id: who takes nodes */
	bool rows_tell;		    /* slurmdbd's rows name who started or ended */
	int64_t ended_until_utc_s;  /* slurmdbd was asked for what ended */
	int64_t rows_from_utc_s;    /* a row is awaited that ended since; or 0 */
	uint32_t look_count;
	size_t look_capacity;
	uint32_t *looks;	      /* ids to be asked for singly, as lt_first_id() */
	uint32_t unseen;	      /* holds since, whose jobs are looked for */
	uint32_t unseen_passes;	      /* that found none of them */
	uint32_t array_at;	      /* in the list: arrays are looked at in turn */
	uint64_t looked_generation;   /* the market's, when jobs got their
					 node_shares (change.c) */
	uint64_t repriced_generation; /* the market's, when holds were priced
					 (reprice.c) */
	bool followed;		      /* a list was, since the start */
	bool void_due;		      /* since expire.c looked, some were followed */
	bool untold;		      /* some do not have their decision yet */
	bool quotes_loaded;	      /* and its quotes are in the ledger: ready */
	uint32_t live_count;
	size_t live_capacity;
	struct lt_live *live;		    /* sorted by quote id */
	uint32_t ended_count, ended_sorted; /* these come first, by their key */
	size_t ended_capacity;
	struct lt_ended *ended;
	uint32_t admitted_count;
	size_t admitted_capacity;
	struct lt_admitted *admitted; /* requeue_gate.c */
	uint32_t locks_left;	      /* of this pass: LT_LOCKS_A_PASS */
	/* As the ledger has them, by job (life/pause_move.c). */
	struct lt_paused *paused;
	uint32_t paused_count;
	size_t paused_capacity;
	struct { /* when each is due (poll_schedule.c); 0 = at once */
		int64_t list, list_from, list_soonest, ended, started;
	} next;
};

#endif
