/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that run and stand still through dirty or dear hours, where their class
 * lets them: suspended once their hold has grown by that, and let go on in
 * time, or back in the queue. What is done is in the ledger before, so that a
 * restart goes on and does nothing twice.
 *
 *   pause_plan.c    may it, and what lt_pause_plan() says of it
 *   pause_move.c    suspended, let go on: ledger first
 *   pause_requeue.c asked for a checkpoint, requeued, told its new start
 *   pause_seen.c    what a job's record shows of it
 *   pause_jobs.c   who is due
 */
#ifndef LT_LIFE_PAUSE_JOBS_H
#define LT_LIFE_PAUSE_JOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger_jobs.h"

struct lt_batch_job;
struct lt_books;
struct lt_ledger;
struct lt_notice_state;
struct lt_pass_time;
struct lt_proof_state;
struct lt_replan_state;
struct lt_site;

struct lt_pausing_state { /* start as { 0 }; the rows are in lt_jobs_state */
	bool is_read;	  /* from the ledger */
	uint64_t looked_generation; /* all were looked at by this market */
	uint32_t after;	    /* up to this job, where that goes on; 0: all */
	int64_t next_utc_s; /* when one of them is looked at again */
	/* Who started since is looked at with the next list. */
	int64_t started_from_utc_s;
	uint32_t asked; /* suspensions tried in this pass */
	/* That their budget kept from standing still: of these, of all before.
	 */
	uint32_t refused, were_refused;
};

struct lt_pauser { /* what pauses are planned and made by; lent */
	const struct lt_books *books;
	struct lt_replan_state *replan;
	struct lt_notice_state *notices;
	struct lt_proof_state *proof;
	struct lt_pausing_state *still;
	const struct lt_pass_time *pass;
};

int lt_pausing_read(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_pausing_state *still, int64_t now_utc_s, struct lt_error *err);
bool lt_pausing_is_due(const struct lt_site *site,
    const struct lt_jobs_state *jobs, const struct lt_pausing_state *still,
    int64_t now_utc_s);
int lt_pausing_run(
    const struct lt_pauser *by, int64_t now_utc_s, struct lt_error *err);
/* Its user's word: it goes on, and is not paused again in this run. LT_ENOENT:
 * lowtide does not let it stand still. */
int lt_pausing_end(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_batch_job *job,
    int64_t now_utc_s, struct lt_error *err);

#endif
