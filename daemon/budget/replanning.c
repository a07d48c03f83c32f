/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which jobs are decided again when, and what becomes of it: held for first,
 * then told to slurmctld. The decision itself is lt_replan()'s.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "compile_budget.h"
#include "daemon.h"
#include "fits.h"
#include "grow.h"
#include "ingest.h"
#include "job_quote.h"
#include "jobs.h"
#include "log.h"
#include "occupancy.h"
#include "pace.h"
#include "replan.h"
#include "replanning.h"
#include "request.h"
#include "units.h"

enum {
	LAST_LOOK_S = 300, /* before a start */
	BURST_S = 10,	   /* of changes at once, after a long pass */
	DECIDED_A_PASS = 2000,
	SEEN_HOURS = 24,
};

/* Of a day's mean: less is the noise of forecasts. */
static const double changed_enough = 0.05;

/* The second of the hour at which this job is looked at. */
static int64_t
phase_of(uint32_t job_id)
{
	/* Knuth's: ids in a row are spread over the hour. */
	return job_id * UINT32_C(2654435761) % LT_HOUR_S;
}

static bool
is_due(const struct lt_slurm_job *job, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t phase = phase_of(job->job_id);
	const int64_t last_utc_s = job->eligible_utc_s - LAST_LOOK_S;

	return job->state == LT_JOB_PENDING && !job->held &&
	       job->eligible_utc_s > to_utc_s &&
	       ((from_utc_s - phase) / LT_HOUR_S !=
		       (to_utc_s - phase) / LT_HOUR_S ||
		   (from_utc_s < last_utc_s && last_utc_s <= to_utc_s));
}

static int
by_start(const void *a, const void *b)
{
	const struct lt_replan_due *const x = a, *const y = b;

	if (x->start_utc_s != y->start_utc_s)
		return x->start_utc_s < y->start_utc_s ? -1 : 1;
	return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

static bool
is_queued(const struct lt_replan_state *state, uint32_t job_id)
{
	for (uint32_t i = 0; i < state->count; i++)
		if (state->queue[i].job_id == job_id)
			return true;
	return false;
}

static int
queue_due(struct lt_replan_state *state, const struct lt_slurm_jobs *list,
    int64_t now_utc_s, struct lt_error *err)
{
	const uint32_t before = state->count;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_slurm_job *const job = &list->jobs[i];

		if (!is_due(job, state->looked_utc_s, now_utc_s) ||
		    (before > 0 && is_queued(state, job->job_id)))
			continue;
		struct lt_replan_due *const grown = lt_items_grow(state->queue,
		    &state->capacity, state->count, sizeof(*grown));
		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "replan: out of memory");
		state->queue = grown;
		state->queue[state->count++] =
		    (struct lt_replan_due){job->eligible_utc_s, job->job_id};
	}
	if (state->count > 1)
		qsort(state->queue, state->count, sizeof(*state->queue),
		    by_start);
	return LT_OK;
}

/* ---- one job ---- */

struct standing { /* a job that lowtide put where it waits */
	const struct lt_slurm_job *job;
	struct lt_quote quote; /* as it is on the job */
	struct lt_quote_run run;
	struct lt_ledger_hold hold;
	struct lt_job_request made;
	int partition;
};

/* Was it lowtide that chose its start, and has nobody changed it since? */
static bool
find_standing(
    struct standing *s, struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s)
{
	static const uint32_t held_back = LT_QUOTE_BUDGET_HOLD |
					  LT_QUOTE_UNKNOWN | LT_QUOTE_LOCK |
					  LT_QUOTE_FREEING;

	s->job = lt_jobs_find(&d->jobs.list, job_id);
	if (s->job == NULL || s->job->state != LT_JOB_PENDING || s->job->held ||
	    s->job->is_cron || s->job->het_job_id != 0 ||
	    s->job->eligible_utc_s <= now_utc_s ||
	    s->job->admin_comment == NULL ||
	    lt_quote_unpack(&s->quote, s->job->admin_comment,
		strlen(s->job->admin_comment), NULL) != LT_OK)
		return false;
	return s->quote.wish.known && lt_mode_may(s->quote.mode, LT_MAY_EDIT) &&
	       s->quote.objective != LT_OBJECTIVE_OFF &&
	       s->quote.plan_start_utc_s > s->quote.home_start_utc_s &&
	       s->job->eligible_utc_s == s->quote.plan_start_utc_s &&
	       strcmp(s->job->partition, s->quote.partition) == 0 &&
	       lt_ledger_hold(d->ledger, s->quote.id, &s->hold, NULL) ==
		   LT_OK &&
	       s->hold.uid == s->job->uid && s->hold.state == LT_HOLD_OPEN &&
	       !(s->hold.quote.flags & held_back) &&
	       /* All of an array, or none of it. */
	       s->hold.live_tasks == s->job->array_pending;
}

/* Its request, as far as a record and the quote have it. What no record shows
 * keeps it in its partition. */
static bool
make_request(
    struct standing *s, const struct lt_market *market, int64_t now_utc_s)
{
	struct lt_slurm_job early = *s->job;
	struct lt_request *const request = &s->made.request;
	const int home = lt_market_partition(market, s->quote.home);

	(void)lt_quote_run_unpack(
	    &s->run, s->quote.run, strlen(s->quote.run), NULL);
	early.eligible_utc_s = now_utc_s;
	if (!lt_request_of_job(&s->made, &early, market, now_utc_s))
		return false;
	s->partition = s->made.partitions[0];
	lt_wish_lay(request, &s->quote.wish);
	request->objective = s->quote.objective;
	request->named_count = 0;
	request->home = home;
	if (!s->quote.wish.movable || home < 0) {
		request->pins |= LT_PIN_PARTITION;
		request->home = s->partition;
	}
	if (request->home == home)
		request->learned = s->run.expected;
	request->latest_utc_s = s->job->submit_utc_s + market->max_delay_s;
	if (s->quote.home_start_utc_s > now_utc_s)
		request->earliest_utc_s = s->quote.home_start_utc_s;
	return true;
}

/* Decides with the job's own window taken out. */
static int
decide(struct lt_replanned *out, struct lt_daemon *d, struct standing *s,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_replan_state *const state = &d->replan;
	struct lt_replan of = {.request = &s->made.request,
	    .market = &d->market,
	    .planned = state->planned,
	    .planned_count = state->planned_count,
	    .partition = s->partition,
	    .start_utc_s = s->quote.plan_start_utc_s,
	    .now_utc_s = now_utc_s};
	struct lt_planned own;

	if (state->planned_count < LT_PLANNED_MAX &&
	    lt_occupancy_window(
		&own, s->job, &d->market, s->partition, now_utc_s)) {
		own.nodes = -own.nodes;
		state->planned[state->planned_count] = own;
		of.planned_count++;
	}
	return lt_replan(out, &of, err);
}

/* Is what is held for it enough, in the period that it is held in? */
static bool
is_within(const struct lt_budget_snapshot *snapshot,
    const struct lt_ledger_hold *held, const struct lt_ledger_hold *moved)
{
	const struct lt_amount *const was = &held->quote.hold_per_task;
	const struct lt_amount *const is = &moved->quote.hold_per_task;
	const int account = lt_sheet_account(snapshot, moved->quote.account);
	const struct lt_hold before = {.account = account,
	    .start_utc_s = held->quote.start_utc_s,
	    .end_utc_s = held->quote.end_utc_s};

	return !lt_sheet_budgeted(snapshot, account) ||
	       (was->has_money >= is->has_money &&
		   was->has_carbon >= is->has_carbon &&
		   is->money_micros <= was->money_micros &&
		   is->carbon_mg <= was->carbon_mg &&
		   !lt_sheet_new_period(snapshot, &before,
		       moved->quote.start_utc_s, moved->quote.end_utc_s));
}

/* What is more, or of another period, is judged with all that was admitted
 * since. */
static bool
fits(struct lt_daemon *d, const struct standing *s,
    const struct lt_ledger_hold *moved, int64_t now_utc_s)
{
	return lt_ingest(d, now_utc_s, NULL) == LT_OK &&
	       lt_compile_budget(d, now_utc_s, NULL) == LT_OK &&
	       lt_fits_instead(&d->budget, &s->hold, moved, now_utc_s);
}

/* The quote and hold of the new start. False: it can't be priced, or is dearer
 * than the budget allows. */
static bool
price(struct lt_ledger_hold *moved, struct lt_daemon *d,
    const struct standing *s, const struct lt_replanned *again,
    int64_t now_utc_s)
{
	const struct lt_estimate *const chosen = &again->plan.chosen;
	const int partition = chosen->partition;
	struct lt_quote *const quote = &moved->quote;
	struct lt_quote fresh = {0};
	struct lt_quote_run run = s->run;
	struct lt_whys whys;

	*moved = s->hold;
	quote->wish = s->quote.wish;
	if (lt_quote_hold(&fresh, &s->made.request, &d->market, &partition, 1,
		chosen->start_utc_s, NULL) != LT_OK)
		return false;
	quote->hold_per_task = fresh.hold_per_task;
	quote->start_utc_s = fresh.start_utc_s;
	quote->end_utc_s = fresh.end_utc_s;
	snprintf(quote->partition, sizeof(quote->partition), "%s",
	    d->market.partitions[partition].name);
	quote->plan_start_utc_s = chosen->start_utc_s;
	quote->plan_expected = (struct lt_amount){chosen->has_cost,
	    chosen->has_carbon, chosen->cost_micros, chosen->carbon_mg};
	if (run.kind != 0 && s->made.request.home != partition)
		run.ratio_ppm =
		    (uint32_t)(chosen->time_ratio * LT_MICROS + 0.5);
	else
		run.ratio_ppm = LT_MICROS;
	if (run.kind != 0 &&
	    lt_quote_run_pack(quote->run, sizeof(quote->run), &run) != LT_OK)
		quote->run[0] = '\0';
	lt_why_of_plan(&whys, &again->plan, &d->market);
	if (lt_why_pack(quote->why, sizeof(quote->why), &whys) != LT_OK)
		quote->why[0] = '\0';
	if (quote->rev < s->quote.rev)
		quote->rev = s->quote.rev;
	quote->rev++;
	return is_within(&d->budget.snapshot, &s->hold, moved) ||
	       fits(d, s, moved, now_utc_s);
}

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static struct lt_plan_made
plan_of(const struct lt_quote *quote, int64_t made_utc_s, const char *why)
{
	struct lt_plan_made plan = {.made_utc_s = made_utc_s,
	    .start_utc_s = quote->plan_start_utc_s,
	    .expected = quote->plan_expected};

	snprintf(
	    plan.partition, sizeof(plan.partition), "%s", quote->partition);
	snprintf(plan.why, sizeof(plan.why), "%s", why);
	return plan;
}

/* For explain: the first change brings the first plan along. What can't be
 * written is missing there, and stops nothing. */
static void
note_plan(struct lt_daemon *d, const struct standing *s,
    const struct lt_quote *moved, const char *why, int64_t now_utc_s)
{
	const struct lt_plan_made next = plan_of(moved, now_utc_s, why);
	const struct lt_plan_made first =
	    plan_of(&s->quote, s->job->submit_utc_s, "");
	struct lt_plan_made *known = NULL;
	uint32_t count = 0;
	struct lt_error err = {0};
	int code = lt_ledger_plans(d->ledger, moved->id, &known, &count, &err);

	free(known);
	if (code == LT_OK && count == 0)
		code = lt_ledger_put_plan(d->ledger, moved->id, &first, &err);
	if (code == LT_OK)
		code = lt_ledger_put_plan(d->ledger, moved->id, &next, &err);
	if (code != LT_OK)
		lt_log("plan_lost", "job=%u error=\"%s\"", s->job->job_id,
		    err.text);
}

/* Held for first: killed between the two, too much is held, never too little.
 * What slurmctld does not take leaves all as it was. */
static int
carry_out(struct lt_daemon *d, const struct standing *s,
    const struct lt_ledger_hold *moved, bool *told, struct lt_error *err)
{
	const struct lt_amount *const was = &s->hold.quote.hold_per_task;
	struct lt_ledger_hold most = *moved, next = *moved;
	struct lt_amount *const amount = &most.quote.hold_per_task;

	amount->money_micros = larger(
	    amount->money_micros, was->has_money ? was->money_micros : 0);
	amount->carbon_mg =
	    larger(amount->carbon_mg, was->has_carbon ? was->carbon_mg : 0);
	amount->has_money |= was->has_money;
	amount->has_carbon |= was->has_carbon;
	if (s->hold.quote.start_utc_s < most.quote.start_utc_s)
		most.quote.start_utc_s = s->hold.quote.start_utc_s;
	most.quote.end_utc_s =
	    larger(most.quote.end_utc_s, s->hold.quote.end_utc_s);
	*told = false;
	d->budget.dirty = true;
	int code = lt_ledger_put_hold(d->ledger, &most, err);
	if (code != LT_OK)
		return code;
	lt_look_again(d, s->job->job_id);
	*told = lt_quote_publish_place(s->job, &moved->quote, NULL) == LT_OK;
	if (!*told) {
		next = s->hold;
		next.quote.rev = moved->quote.rev;
	} else {
		lt_log("replanned",
		    "job=%u from=%s@%lld to=%s@%lld money_micros=%lld",
		    s->job->job_id, s->quote.partition,
		    (long long)s->quote.plan_start_utc_s,
		    moved->quote.partition,
		    (long long)moved->quote.plan_start_utc_s,
		    (long long)moved->quote.hold_per_task.money_micros);
	}
	next.quote.rev++;
	return lt_ledger_put_hold(d->ledger, &next, err);
}

/* What others see of it until the next market. */
static void
book(struct lt_daemon *d, const struct standing *s,
    const struct lt_estimate *chosen, int64_t now_utc_s)
{
	struct lt_replan_state *const state = &d->replan;
	struct lt_slurm_job there = *s->job;
	struct lt_planned windows[2];
	int count = 0;

	if (lt_occupancy_window(
		&windows[count], s->job, &d->market, s->partition, now_utc_s)) {
		windows[count].nodes = -windows[count].nodes;
		count++;
	}
	there.eligible_utc_s = larger(chosen->start_utc_s, now_utc_s + 1);
	if (lt_occupancy_window(&windows[count], &there, &d->market,
		chosen->partition, now_utc_s))
		count++;
	for (int i = 0; i < count; i++)
		if (state->planned_count < LT_PLANNED_MAX)
			state->planned[state->planned_count++] = windows[i];
}

/* *changed: slurmctld was told. */
static int
replan_one(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s,
    bool *changed, struct lt_error *err)
{
	struct standing *const s = malloc(sizeof(*s));
	struct lt_replanned *const again = malloc(sizeof(*again));
	struct lt_ledger_hold *const moved = malloc(sizeof(*moved));
	int code = LT_OK;

	if (s == NULL || again == NULL || moved == NULL) {
		code = lt_fail(err, LT_ENOMEM, "replan: out of memory");
	} else if (find_standing(s, d, job_id, now_utc_s) &&
		   make_request(s, &d->market, now_utc_s) &&
		   decide(again, d, s, now_utc_s, NULL) == LT_OK &&
		   again->why != LT_REPLAN_KEEP &&
		   again->plan.chosen.start_utc_s <=
		       larger(s->made.request.latest_utc_s,
			   s->quote.plan_start_utc_s) &&
		   (again->plan.chosen.partition != s->partition ||
		       again->plan.chosen.start_utc_s !=
			   s->quote.plan_start_utc_s) &&
		   price(moved, d, s, again, now_utc_s)) {
		*changed = true;
		bool told;

		code = carry_out(d, s, moved, &told, err);
		if (code == LT_OK && told) {
			note_plan(d, s, &moved->quote,
			    lt_replan_word(again->why), now_utc_s);
			book(d, s, &again->plan.chosen, now_utc_s);
		}
	}
	free(s);
	free(again);
	free(moved);
	return code;
}

/* Has a signal of the next day changed by enough, since all jobs were looked
 * at, that each of them should be looked at again? */
static bool
is_another_day(const float *seen, const float *now)
{
	double off = 0, size = 0;

	for (int h = 0; h < SEEN_HOURS; h++) {
		off += fabs((double)(now[h] - seen[h]));
		size += fabs((double)seen[h]);
	}
	return off > changed_enough * size;
}

/* What room there is changes with each job; that is looked at by the hour. */
static bool
see_market(struct lt_replan_state *state, const struct lt_market *market)
{
	const int64_t from_utc_s = market->compiled_utc_s;
	const uint32_t count = market->series_count;
	float *const now = calloc((size_t)count * SEEN_HOURS + 1, sizeof(*now));
	bool changed = state->seen == NULL || state->seen_count != count;

	if (now == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		for (int h = 0; h < SEEN_HOURS; h++)
			now[i * SEEN_HOURS + (uint32_t)h] =
			    (float)lt_series_at(&market->series[i],
				from_utc_s + h * (int64_t)LT_HOUR_S);
	for (uint32_t p = 0; p < market->partition_count && !changed; p++) {
		const struct lt_partition *const part = &market->partitions[p];
		const int used[] = {part->price_series, part->tariff_series,
		    part->carbon_series};

		for (int k = 0; k < 3; k++)
			changed |=
			    used[k] >= 0 &&
			    is_another_day(&state->seen[used[k] * SEEN_HOURS],
				&now[used[k] * SEEN_HOURS]);
	}
	if (changed) {
		free(state->seen);
		state->seen = now;
		state->seen_count = count;
	} else {
		free(now);
	}
	return changed;
}

/* A new market has what was told before it was made. */
static bool
begin_market(struct lt_replan_state *state, const struct lt_market *market)
{
	if (state->planned == NULL)
		state->planned =
		    calloc(LT_PLANNED_MAX, sizeof(*state->planned));
	if (state->generation != market->generation) {
		state->planned_count = 0;
		if (see_market(state, market))
			state->looked_utc_s = 0;
	}
	state->generation = market->generation;
	return state->planned != NULL;
}

int
lt_replan_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_replan_state *const state = &d->replan;
	const int64_t since_s = now_utc_s - state->passed_utc_s;
	int64_t left =
	    LT_REPLANS_A_SECOND * (since_s < BURST_S ? since_s : BURST_S);
	uint32_t done = 0;
	int code = LT_OK;

	if (!lt_mode_may(d->policy->mode, LT_MAY_EDIT) || !d->has_market)
		return LT_OK;
	if (!begin_market(state, &d->market))
		return lt_fail(err, LT_ENOMEM, "replan: out of memory");
	if (state->looked_utc_s == 0)
		state->looked_utc_s = now_utc_s - LT_HOUR_S;
	if (now_utc_s > state->looked_utc_s) /* else the clock was set back */
		code = queue_due(state, &d->jobs.list, now_utc_s, err);
	state->looked_utc_s = state->passed_utc_s = now_utc_s;
	for (; code == LT_OK && done < state->count && left > 0 &&
	       done < DECIDED_A_PASS;
	     done++) {
		bool changed = false;

		lt_breath(LT_TURN_READ);
		code = replan_one(
		    d, state->queue[done].job_id, now_utc_s, &changed, err);
		left -= changed;
	}
	state->count -= done;
	memmove(state->queue, state->queue + done,
	    state->count * sizeof(*state->queue));
	return code;
}

void
lt_replan_free(struct lt_replan_state *state)
{
	free(state->queue);
	free(state->planned);
	free(state->seen);
	*state = (struct lt_replan_state){0};
}
