/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What SPANK told is the user's word: of it only wishes are taken. What the
 * plan comes to, there and at home, is made anew from the job's own record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "announced.h"
#include "announced_plan.h"
#include "job_quote.h"
#include "market.h"
#include "replan.h"
#include "standing.h"

struct work {
	struct lt_standing standing;
	struct lt_plan plan;
	uint32_t planned_count;
	struct lt_planned planned[LT_ANNOUNCED_TOLD];
};

/* Those whose plans it was told of, when it was decided. */
static void
see_others(struct work *w, const struct lt_market *market,
    const struct lt_announced_state *announced, const struct lt_announced *told)
{
	const struct lt_announced_seen all = {
	    .generation = market->generation, .now_utc_s = told->made_utc_s};
	const struct lt_announced *other;
	uint32_t at = 0;

	while ((other = lt_announced_next(&at, announced, &all)) != NULL &&
	       other->sequence < told->sequence) {
		const int partition =
		    lt_market_partition(market, other->partition);
		struct lt_planned *const window = &w->planned[w->planned_count];

		if (partition < 0)
			continue;
		*window = other->window;
		window->partition = (uint16_t)partition;
		w->planned_count++;
	}
}

/* As when it was submitted. */
static bool
plan(struct work *w, const struct lt_market *market,
    const struct lt_batch_job *job, const struct lt_quote *quote)
{
	struct lt_standing *const s = &w->standing;
	struct lt_replan of = {.request = &s->made.request,
	    .market = market,
	    .planned = w->planned,
	    .planned_count = w->planned_count,
	    .start_utc_s = quote->plan_start_utc_s,
	    .now_utc_s = job->submit_utc_s};

	s->job = job;
	s->quote = *quote;
	s->now_utc_s = job->submit_utc_s;
	if (!lt_standing_ask(s, market))
		return false;
	of.partition = s->partition;
	return lt_replan_standing(&w->plan, &of, NULL) == LT_OK;
}

void
lt_announced_lay(struct lt_quote *quote, const struct lt_market *market,
    const struct lt_announced_state *announced, const struct lt_batch_job *job,
    const struct lt_announced *told)
{
	struct work *const w = calloc(1, sizeof(*w));

	quote->objective = told->objective;
	quote->wish = told->wish;
	quote->flags |= told->flags;
	snprintf(quote->home, sizeof(quote->home), "%s", told->home);
	quote->plan_start_utc_s = job->eligible_utc_s > job->submit_utc_s
				      ? job->eligible_utc_s
				      : job->submit_utc_s;
	quote->home_start_utc_s = job->submit_utc_s;
	if (w == NULL)
		return;
	see_others(w, market, announced, told);
	if (plan(w, market, job, quote))
		lt_quote_of_plan(quote, &(struct lt_case){.market = market,
					    .plan = &w->plan,
					    .run = lt_quote_run_again(quote,
						&w->standing.made.request)});
	free(w);
}
