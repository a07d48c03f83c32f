/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs are compared to see what moving saves: those that move, though
 * they could stay. docs/model.md, eq. (58).
 */
#include <stddef.h>

#include "decide_internal.h"

/* Is it one to compare with: it moves to cost less, and nothing that was asked
 * needs that? */
static bool
could_stay(const struct decision *decision, const struct choice *choice)
{
	const struct lt_request *const request = decision->job.request;
	const struct lt_plan *const plan = decision->plan;
	const int64_t most_micros = request->max_cost_micros;

	return choice->lane != NULL && plan->fits && !decision->home_too_late &&
	       !plan->home_was_dear &&
	       plan->candidates[request->home].reject <= LT_REJECT_DEARER &&
	       (choice->lane->partition != request->home ||
		   choice->start_utc_s > decision->home_utc_s) &&
	       plan->objective != LT_OBJECTIVE_FAST &&
	       request->interruptions == 0 &&
	       (most_micros == LT_UNSET_64 ||
		   (plan->home.has_cost &&
		       plan->home.most_micros <= most_micros)) &&
	       !lt_lane_over_budget(decision, &decision->home);
}

enum lt_compared
lt_compared_as(const struct decision *decision, const struct choice *choice)
{
	const struct lt_request *const request = decision->job.request;

	if (request->holdout_ppm == 0 ||
	    !lt_mode_may(decision->job.market->mode, LT_MAY_EDIT) ||
	    !could_stay(decision, choice))
		return LT_COMPARED_NOT;
	return request->is_held_out ? LT_COMPARED_KEPT : LT_COMPARED_MOVED;
}
