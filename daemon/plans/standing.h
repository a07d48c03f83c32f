/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that waits for the start that lowtide chose for it, and that nobody has changed since.
 */
#ifndef LT_STANDING_H
#define LT_STANDING_H

#include <stdint.h>

#include "batch.h"
#include "decide.h"
#include "ledger.h"
#include "quote.h"
#include "request.h"

struct lt_books;
struct lt_jobs_state;
struct lt_market;
struct lt_replan_state;

struct lt_standing {
	const struct lt_batch_job *job; /* lent by the list of jobs */
	struct lt_quote quote;		/* as it is on the job */
	struct lt_quote_run run;
	struct lt_ledger_hold hold;
	/* As it was submitted, as far as record and quote have it. */
	struct lt_job_request made;
	uint32_t gpu_median_s[LT_GPUS_MAX]; /* lent to its request */
	int partition;			    /* where it stands */
	/* One task of an array that has the hold with others. */
	bool is_part;
	int64_t now_utc_s; /* when it was found */
	bool moved;	   /* slurmctld was asked to move it, */
	bool told;	   /* and did, */
	const char *why;   /* and why: a word; lent */
};

/* Was it lowtide that chose its start, by the quote that is on the job, and has nobody changed it
 * since? */
bool lt_standing_waits(
    const struct lt_batch_job *job, const struct lt_quote *quote, int64_t now_utc_s);

/* Its request, as it was submitted, of s->job, s->quote and s->now_utc_s: as far as record and
 * quote have it. Sets run, made and partition; false: the market has no partition of it. */
bool lt_standing_ask(struct lt_standing *s, const struct lt_market *market);

/* Adds what is known by now about a job whose request was made, and about what happened to it since
 * it was first submitted, by its hold. */
void lt_standing_learn(
    struct lt_standing *s, const struct lt_market *market, struct lt_ledger *ledger);

/* False: there is none of this id, or it is not lowtide's to move. */
bool lt_standing_find(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger, struct lt_jobs_state *jobs, uint32_t job_id, int64_t now_utc_s);

/* Does the same for a job that has lost its nodes, or waits in line for preemptible ones, in the
 * partition that lowtide chose: job is from the list. */
bool lt_standing_back(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger, const struct lt_batch_job *job, int64_t now_utc_s);

/* Does the same for any job that waits in line where lowtide put it; for an array, all that waits
 * by this record. */
bool lt_standing_here(struct lt_standing *s, const struct lt_market *market,
    struct lt_ledger *ledger, const struct lt_batch_job *job, int64_t now_utc_s);

/* Finds the window to take its own nodes out of the market's occupancy, or out of the replan
 * state's windows; false: it has none. */
bool lt_standing_taken_out(struct lt_planned *window, const struct lt_market *market,
    const struct lt_jobs_state *jobs, const struct lt_standing *s);

/* Its user starts it now: the quote of its hold gets this start and its expected cost from then on,
 * and one more plan is noted. What can't be estimated stays as it was. */
void lt_standing_starts_now(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold, int64_t now_utc_s);

/* Moves it to what the plan has chosen, within what was promised and what the budget allows. why:
 * for explain. */
int lt_standing_move(const struct lt_books *books, struct lt_replan_state *replan,
    struct lt_standing *s, const struct lt_plan *plan, const char *why, struct lt_error *err);
/* Notes once in its plans, for its user, that it stays where it is. */
void lt_standing_stays(struct lt_ledger *ledger, struct lt_standing *s, const char *why);

#endif
