/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first plan of a job that its batch system keeps until lowtide releases it, and that nobody
 * has decided: its place and time are decided here, as job_submit would have.
 */
#ifndef LT_FIRST_PLAN_H
#define LT_FIRST_PLAN_H

#include "change.h"
#include "ledger.h"
#include "options.h"
#include "request.h"

struct lt_books;
struct lt_budget_state;
struct lt_jobs_state;
struct lt_replan_state;
struct lt_site;

struct lt_first_asked {
	const struct lt_batch_job *job;
	int64_t now_utc_s;
	bool is_question; /* no hold comes of it */
	bool plan;	  /* a plan is wanted, whatever its user asked for */
};
struct lt_first { /* what is decided of a job; large */
	struct lt_job_request made;
	struct lt_options options;
	struct lt_plan plan;
	struct lt_ledger_hold hold;
	bool is_priced;	 /* what it may cost at most is known */
	bool is_planned; /* plan says something */
	bool is_placed;	 /* lowtide gives it a place and a start: the quote's */
};
/* Decides; stores nothing and updates no job. *first is zero before it. */
void lt_first_decide(struct lt_first *first, const struct lt_site *site, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_budget_state *budget, struct lt_replan_state *replan,
    const struct lt_first_asked *asked);

/* Makes its hold, and updates the job with the plan; if the hold is there already, updates the job
 * if that was not done. In the ledger's transaction. */
int lt_first_take(const struct lt_books *books, struct lt_replan_state *replan,
    const struct lt_change *change, struct lt_ledger_hold *hold, struct lt_error *err);

#endif
