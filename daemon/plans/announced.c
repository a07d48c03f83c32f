/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps the plans that SPANK announced, in the order they came, and the jobs that they belong to. A
 * client says nothing about another user's job: plan and job have one uid.
 *
 * Only the user's wishes are taken from an announced plan. What the plan comes to, there and at
 * home, is computed anew from the job's own record. In memory; above a limit an announcement is
 * refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "announced.h"
#include "grow.h"
#include "job_quote.h"
#include "jobs.h"
#include "market.h"
#include "replan.h"
#include "standing.h"

enum { CLOCKS_S = 2 }; /* that two stamps of one second may be apart */

static bool
is_old(const struct lt_announced *plan, int64_t now_utc_s)
{
	const int64_t age_s = now_utc_s - plan->made_utc_s;

	return age_s > LT_ANNOUNCED_KEEP_S || age_s < -LT_ANNOUNCED_KEEP_S;
}

static void
drop_old(struct lt_announced_state *state, int64_t now_utc_s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->count; i++)
		if (!is_old(&state->plans[i], now_utc_s))
			state->plans[kept++] = state->plans[i];
	state->count = kept;
}

int
lt_announced_add(struct lt_announced_state *state, const struct lt_announced *plan,
    int64_t now_utc_s, struct lt_error *err)
{
	uint32_t of_user = 0;

	drop_old(state, now_utc_s);
	for (uint32_t i = 0; i < state->count; i++)
		of_user += state->plans[i].uid == plan->uid && state->plans[i].job_id == 0;
	if (of_user >= LT_ANNOUNCED_OF_USER || state->count >= LT_ANNOUNCED_MAX)
		return lt_fail(err, LT_ELIMIT, "too many plans whose jobs have not come");
	struct lt_announced *const grown =
	    lt_items_grow(state->plans, &state->capacity, state->count, sizeof(*grown));
	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "plans: out of memory");
	state->plans = grown;
	grown[state->count] = *plan;
	grown[state->count].sequence = ++state->sequence;
	grown[state->count].made_utc_s = now_utc_s;
	grown[state->count].job_id = 0;
	state->count++;
	return LT_OK;
}

const struct lt_announced *
lt_announced_next(
    uint32_t *at, const struct lt_announced_state *state, const struct lt_announced_seen *seen)
{
	if (*at == 0 && state->count > LT_ANNOUNCED_TOLD)
		*at = state->count - LT_ANNOUNCED_TOLD;
	while (*at < state->count) {
		const struct lt_announced *const plan = &state->plans[(*at)++];

		if (plan->sequence > seen->sequence && !is_old(plan, seen->now_utc_s) &&
		    (plan->job_id == 0 || plan->generation >= seen->generation))
			return plan;
	}
	return NULL;
}

/* Neither is a begin time where it is not after the submission. */
static bool
same_begin(const struct lt_announced *plan, const struct lt_batch_job *job)
{
	const int64_t from_utc_s = job->submit_utc_s + CLOCKS_S;

	return plan->start_utc_s == job->eligible_utc_s ||
	       (plan->start_utc_s <= from_utc_s && job->eligible_utc_s <= from_utc_s);
}

static bool
same_place(const struct lt_announced *plan, const struct lt_batch_job *job)
{
	const size_t length = strcspn(job->partition, ",");

	return strlen(plan->partition) == length &&
	       memcmp(plan->partition, job->partition, length) == 0 &&
	       (plan->account[0] == '\0' || strcmp(plan->account, job->account) == 0);
}

/* True if the plan may be this job's. SPANK gave its job a comment, if the user had not: without
 * one it is another job of the user's. */
static bool
fits(const struct lt_announced *plan, const struct lt_batch_job *job)
{
	const int64_t deadline_utc_s = job->deadline_utc_s > 0 ? job->deadline_utc_s : LT_UNSET_64;

	return job->comment_head[0] != '\0' && job->submit_utc_s >= plan->made_utc_s - CLOCKS_S &&
	       job->submit_utc_s <= plan->made_utc_s + LT_ANNOUNCED_KEEP_S &&
	       same_begin(plan, job) && same_place(plan, job) &&
	       (plan->limit_s <= 0 || plan->limit_s == job->limit_s) &&
	       (plan->tasks <= 1 || job->array_job_id != 0) &&
	       plan->wish.deadline_utc_s == deadline_utc_s;
}

bool
lt_announced_find(struct lt_announced *plan, const struct lt_market *market,
    struct lt_announced_state *announced, const struct lt_batch_job *job, int64_t now_utc_s)
{
	const uint32_t job_id = lt_first_id(job);

	/* Most jobs are older. */
	if (announced->count == 0 || job->het_job_id != 0 ||
	    now_utc_s - job->submit_utc_s > LT_ANNOUNCED_KEEP_S)
		return false;
	for (uint32_t i = 0; i < announced->count; i++) {
		struct lt_announced *const at = &announced->plans[i];

		if (at->uid != job->uid || is_old(at, now_utc_s) ||
		    (at->job_id != job_id && (at->job_id != 0 || !fits(at, job))))
			continue;
		at->job_id = job_id;
		at->generation = market->generation;
		*plan = *at;
		return true;
	}
	return false;
}

void
lt_announced_free(struct lt_announced_state *state)
{
	free(state->plans);
	*state = (struct lt_announced_state){0};
}

struct work {
	struct lt_standing standing;
	struct lt_plan plan;
	uint32_t planned_count;
	struct lt_planned planned[LT_ANNOUNCED_TOLD];
};

/* Collects the plans that it was decided beside. */
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
		const int partition = lt_market_partition(market, other->partition);
		struct lt_planned *const window = &w->planned[w->planned_count];

		if (partition < 0)
			continue;
		*window = other->window;
		window->partition = (uint16_t)partition;
		w->planned_count++;
	}
}

/* Plans it as when it was submitted. */
static bool
plan(struct work *w, const struct lt_market *market, const struct lt_batch_job *job,
    const struct lt_quote *quote)
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
	quote->plan_start_utc_s =
	    job->eligible_utc_s > job->submit_utc_s ? job->eligible_utc_s : job->submit_utc_s;
	quote->home_start_utc_s = job->submit_utc_s;
	if (w == NULL)
		return;
	see_others(w, market, announced, told);
	if (plan(w, market, job, quote))
		lt_quote_of_plan(
		    quote, &(struct lt_case){.market = market,
			       .plan = &w->plan,
			       .run = lt_quote_run_again(quote, &w->standing.made.request)});
	free(w);
}
