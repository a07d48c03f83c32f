/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that run and are paused through dirty or dear hours, where their class lets them: suspended
 * once their hold has grown by that, and resumed in time, or sent back to the queue. Each step is
 * in the ledger before it is done, so that a restart continues and does nothing twice.
 *
 *   pause_jobs.c     which jobs are due
 *   pause_plan.c     may it be paused, and what its record shows of a pause
 *   pause_move.c     suspended, resumed: ledger first
 *   pause_requeue.c  asked for a checkpoint, requeued, given its new begin
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

struct lt_pausing_state {	    /* start as { 0 }; the rows are in lt_jobs_state */
	bool is_read;		    /* from the ledger */
	uint64_t looked_generation; /* all were looked at by this market */
	uint32_t after;		    /* up to this job, where the sweep continues; 0: all */
	int64_t next_utc_s;	    /* when one of them is looked at again */
	/* Jobs that started since are looked at with the next list. */
	int64_t started_from_utc_s;
	uint32_t asked; /* suspensions tried in this pass */
	/* Their budget kept them from standing still: these, and all before. */
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
bool lt_pausing_is_due(const struct lt_site *site, const struct lt_jobs_state *jobs,
    const struct lt_pausing_state *still, int64_t now_utc_s);
int lt_pausing_run(const struct lt_pauser *by, int64_t now_utc_s, struct lt_error *err);
/* Resumes it for its user, and does not pause it again in this run. LT_ENOENT:
 * lowtide does not let it stand still. */
int lt_pausing_end(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_batch_job *job, int64_t now_utc_s,
    struct lt_error *err);

#endif
