/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a job that runs should stand still through dirty or dear hours. Pure, as
 * lt_decide(). docs/model.md, eqs. (24d) and (24e).
 */
#ifndef LT_PAUSE_H
#define LT_PAUSE_H

#include "decide.h"

struct lt_pause_of {
	/* The job as it runs: allocated, home where it runs. */
	const struct lt_request *request;
	const struct lt_market *market;
	int partition; /* where it runs */
	/* Share of its nodes' cost that stays while it stands still: 0 to 1. */
	double kept_share;
	int64_t left_s; /* of its work, as expected */
	int64_t most_s; /* that it may stand still from now on, in all */
	/* Seconds of work that it costs to give the nodes back and start again; 0 = it keeps them.
	 * With a requeue nothing stays paid. */
	int64_t requeue_s;
	bool is_paused; /* now: a pause that began continues while it saves at
			   all */
	int64_t now_utc_s;
};

struct lt_pause_course {
	/* It stands still from now until then; 0 = it runs now. */
	int64_t until_utc_s;
	/* Nothing changes before by these figures. INT64_MAX: nothing will. */
	int64_t again_utc_s;
	/* End of a course with pauses; else as if it ran on. */
	int64_t end_utc_s;
	bool has_cost, has_carbon;
	/* Saving of the whole course against running on; below 0: it costs. */
	double saved_micros, saved_mg;
};

/*
 * The course of what is left of the job that costs least by its objective, of all with pauses of
 * most_s or less, and whether it begins with one; with requeue_s of all with one pause, which is to
 * be worth that by itself. LT_OK also where it may not be paused, or nothing is known: then it
 * runs. LT_EINPUT: no such partition; LT_ENOMEM. *out is always written.
 */
int lt_pause_plan(struct lt_pause_course *out, const struct lt_pause_of *of, struct lt_error *err);

struct lt_pause_promise {	/* of a job that runs, what it was promised */
	int64_t latest_utc_s;	/* last start without a deadline */
	int64_t deadline_utc_s; /* LT_UNSET_64 = none */
	int64_t start_utc_s, limit_s, suspended_s;
	int64_t now_utc_s;
};

/* How long it may still stand still without breaking it; never below 0. Eq. (24e). */
int64_t lt_pause_most_s(const struct lt_pause_promise *of, const struct lt_market *market);

#endif
