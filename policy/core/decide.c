/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_decide(): the one decision function. It prices the job where it would go
 * by itself, then every lane, and takes the earliest start that keeps 95 % of
 * the best saving. docs/model.md, eqs. (21) to (24).
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"

static const double keep = 0.95; /* of the best saving */

static void
refuse(struct lt_candidate *candidate, enum lt_reject reject, double wanted,
    double found)
{
	candidate->reject = reject;
	candidate->wanted = wanted;
	candidate->found = found;
}

/* May this lane take part? Signals, budget and deadline. */
static enum lt_reject
lane_reject(const struct decision *decision, const struct lane *lane,
    double *wanted, double *found)
{
	const struct job *job = &decision->job;
	const bool is_home = lane->partition == job->request->home;
	int64_t age_s = lt_market_signal_age_s(
	    job->market, lane->partition, job->now_utc_s);

	/* It would be compared with home's old figures. */
	if (decision->plan->fits && decision->home_age_s > age_s)
		age_s = decision->home_age_s;
	*wanted = (double)job->market->stale_after_s;
	*found = (double)age_s;
	if (age_s > job->market->stale_after_s)
		return LT_REJECT_STALE;
	if (decision->use_money && !lane->has_money)
		return LT_REJECT_NO_PRICE;
	/* A price against none can't be compared: it might cost more. */
	if (!decision->use_money && lane->has_money)
		return LT_REJECT_NO_PRICE;
	if (decision->use_carbon && !lane->has_carbon)
		return LT_REJECT_NO_CARBON;
	if (!is_home && lt_lane_over_budget(decision, lane))
		return LT_REJECT_BUDGET;
	*wanted = (double)job->earliest_utc_s;
	*found = (double)lane->latest_utc_s;
	if (lane->latest_utc_s < job->earliest_utc_s)
		return LT_REJECT_DEADLINE;
	return LT_REJECT_NONE;
}

static bool
is_stale(const struct decision *decision, const struct lane *lane)
{
	return lt_market_signal_age_s(decision->job.market, lane->partition,
		   decision->job.now_utc_s) >
	       decision->job.market->stale_after_s;
}

/*
 * Which currencies count: what home knows. If home is no place for the job,
 * money if any lane knows it, and carbon if that shuts out no lane, or if it
 * is what the job asks for.
 */
static void
choose_currencies(struct decision *decision)
{
	bool money = false, any_carbon = false, all_carbon = true;

	if (decision->plan->fits) {
		decision->use_money = decision->home.has_money;
		decision->use_carbon = decision->home.has_carbon;
		return;
	}
	for (uint32_t i = 0; i < decision->lane_count; i++)
		money |= decision->lanes[i].has_money &&
			 !is_stale(decision, &decision->lanes[i]);
	for (uint32_t i = 0; i < decision->lane_count; i++) {
		const struct lane *lane = &decision->lanes[i];

		if (lane->has_money != money || is_stale(decision, lane))
			continue;
		any_carbon |= lane->has_carbon;
		all_carbon &= lane->has_carbon;
	}
	decision->use_money = money;
	decision->use_carbon =
	    any_carbon &&
	    (all_carbon || decision->plan->objective == LT_OBJECTIVE_CARBON);
}

static void
make_lanes(struct decision *decision)
{
	const struct job *job = &decision->job;
	struct lt_plan *plan = decision->plan;
	const struct lt_market *market = job->market;

	for (uint32_t i = 0; i < market->partition_count; i++) {
		struct lt_candidate *candidate = &plan->candidates[i];
		struct lane *lane = &decision->lanes[decision->lane_count];
		const bool is_home = (int)i == job->request->home;
		enum lt_reject reject = lt_move_reject(job, (int)i);
		double wanted = 0, found = 0;

		if (reject == LT_REJECT_NONE)
			reject =
			    lt_lane_build(lane, job, (int)i, &wanted, &found);
		refuse(candidate, reject, wanted, found);
		if (reject != LT_REJECT_NONE)
			continue;
		decision->lane_count++;
		decision->rests |= lane->rests;
		if (is_home) {
			plan->fits = true;
			decision->home = *lane;
		}
	}
}

/* Do others wait there in line for what it needs? Then it takes its place
 * behind them at once: with a begin time it would lose that. */
static bool
has_queue(struct decision *decision, const struct lane *lane)
{
	const struct lt_partition *const part =
	    &decision->job.market->partitions[lane->partition];

	return part->flags & LT_PARTITION_QUEUED &&
	       !lt_lane_room_at_once(
		   &decision->spans, lane, &decision->job, &decision->edges);
}

/* Take out the lanes that may not take part; make the others' windows. */
static void
open_lanes(struct decision *decision, const struct lt_planned *planned,
    uint32_t planned_count)
{
	const struct job *job = &decision->job;
	static const uint32_t starts_at_once =
	    LT_PIN_BEGIN | LT_PIN_HET | LT_PIN_RESERVATION | LT_PIN_DEPENDENCY |
	    LT_PIN_LICENSES | LT_PIN_BURST_BUFFER | LT_PIN_CRON |
	    LT_PIN_INTERACTIVE;
	uint32_t kept = 0;

	if (planned_count > LT_PLANNED_MAX)
		planned_count = LT_PLANNED_MAX;
	lt_planned_sort(&decision->edges, planned, planned_count);
	for (uint32_t i = 0; i < decision->lane_count; i++) {
		struct lane *lane = &decision->lanes[i];
		struct lt_candidate *candidate =
		    &decision->plan->candidates[lane->partition];
		double wanted, found;
		const enum lt_reject reject =
		    lane_reject(decision, lane, &wanted, &found);

		if (reject != LT_REJECT_NONE) {
			lt_lane_estimate(
			    &candidate->best, lane, job->earliest_utc_s);
			refuse(candidate, reject, wanted, found);
			continue;
		}
		if (job->request->pins & starts_at_once &&
		    lane->latest_utc_s > job->earliest_utc_s)
			lane->latest_utc_s = job->earliest_utc_s;
		if (lane->partition == job->request->home) {
			decision->home.latest_utc_s = lane->latest_utc_s;
			decision->home_queued = has_queue(decision, lane);
		}
		lt_lane_spans(&decision->spans, lane, job, &decision->edges);
		if (lane->span_count == 0) {
			if (lane->partition == job->request->home) {
				decision->home_too_late = true;
				decision->home_utc_s =
				    lt_lane_first_room(&decision->spans, lane,
					job, &decision->edges);
			}
			lt_lane_estimate(
			    &candidate->best, lane, job->earliest_utc_s);
			refuse(candidate, LT_REJECT_CAPACITY,
			    lane->node_equivalents,
			    job->market->partitions[lane->partition]
				.node_count);
			continue;
		}
		const int64_t first_utc_s =
		    decision->spans.list[lane->first_span].from_utc_s;

		if (lane->partition == job->request->home)
			decision->home_utc_s = first_utc_s;
		lt_lane_estimate(&candidate->best, lane, first_utc_s);
		decision->lanes[kept++] = *lane;
	}
	decision->lane_count = kept;
}

/* What a choice is measured against: home at its first start with room, or,
 * where home can't run it, the best lane at its earliest; of what is equal to
 * a choice, that one. */
static double
baseline(const struct decision *decision, const struct choice *best, int round)
{
	const bool is_home = decision->plan->fits && round != ROUND_EQUAL;
	const struct lane *const lane = is_home ? &decision->home : best->lane;
	const struct linear score =
	    lt_score_with_waiting(decision, lane, round);

	return lt_score_value(decision, lane, &score,
	    round == ROUND_EQUAL ? best->start_utc_s : decision->home_utc_s);
}

/* One round: the earliest start that keeps most of the best saving. first: the
 * choice that ROUND_EQUAL is to better. */
static struct choice
choose(struct decision *decision, int round, const struct choice *first)
{
	const bool from_known = decision->plan->fits || round == ROUND_EQUAL;
	double limit = INFINITY, from;
	struct choice best;

	for (uint32_t i = 0; i < decision->lane_count; i++)
		decision->aims[i] =
		    lt_aim_of(decision, &decision->lanes[i], round);
	if (from_known) {
		limit = baseline(decision, first, round);
		limit -= lt_score_least_saving(decision, round, limit);
	}
	lt_choose_order(decision);
	best = lt_choose_best(decision, limit);
	if (best.lane == NULL)
		return best;
	from = baseline(decision, round == ROUND_EQUAL ? first : &best, round);
	/* The fastest is the fastest: no part of it is given up. */
	limit = best.score;
	if (decision->plan->objective != LT_OBJECTIVE_FAST && from > best.score)
		limit = from - keep * (from - best.score);
	if (!from_known && decision->plan->objective != LT_OBJECTIVE_FAST)
		limit = fmax(limit,
		    best.score + lt_score_least_saving(decision, round, from));
	return lt_choose_earliest(
	    decision, &best, limit + lt_score_tolerance(limit));
}

static bool
saves_enough(const struct decision *decision, const struct choice *choice,
    const struct linear *was, const struct linear *is)
{
	const struct lane *const lane =
	    decision->plan->fits ? &decision->home : choice->lane;
	const double from =
	    lt_score_value(decision, lane, was, decision->home_utc_s);
	const double to =
	    lt_score_value(decision, choice->lane, is, choice->start_utc_s);

	return from - to >=
	       fabs(from) * decision->job.market->min_saving_ppm / LT_MICROS;
}

/* Is it later than need be, and saves less than people wait for, in money and
 * in carbon? Eq. (23). */
static bool
waits_for_little(const struct decision *decision, const struct choice *choice)
{
	const struct lane *const home =
	    decision->plan->fits ? &decision->home : choice->lane;
	const struct lane *const lane = choice->lane;

	return lane != NULL && choice->start_utc_s > decision->home_utc_s &&
	       decision->plan->objective != LT_OBJECTIVE_FAST &&
	       !(decision->use_money && saves_enough(decision, choice,
					    &home->money, &lane->money)) &&
	       !(decision->use_carbon && saves_enough(decision, choice,
					     &home->carbon, &lane->carbon));
}

/* Only what starts no later than it would by itself stays. */
static void
drop_later_starts(struct decision *decision)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < decision->lane_count; i++) {
		struct lane *const lane = &decision->lanes[i];
		struct span *const spans =
		    &decision->spans.list[lane->first_span];
		uint32_t in_time = 0;

		while (in_time < lane->span_count &&
		       spans[in_time].from_utc_s <= decision->home_utc_s)
			in_time++;
		if (in_time == 0)
			continue;
		lane->span_count = in_time;
		if (spans[in_time - 1].to_utc_s > decision->home_utc_s)
			spans[in_time - 1].to_utc_s = decision->home_utc_s;
		decision->lanes[kept++] = *lane;
	}
	decision->lane_count = kept;
}

/* A round, with nobody waiting for little. */
static struct choice
choose_worth(struct decision *decision, int round, const struct choice *first)
{
	struct choice choice = choose(decision, round, first);

	if (!waits_for_little(decision, &choice))
		return choice;
	drop_later_starts(decision);
	return choose(decision, round, first);
}

/* Among equal costs the cleaner: the cheapest partition of a choice is often
 * as cheap at another hour. */
static struct choice
choose_cleaner(struct decision *decision, const struct choice *first)
{
	const enum lt_objective objective = decision->plan->objective;
	const bool carbon_counts =
	    objective == LT_OBJECTIVE_BALANCED &&
	    decision->job.market->carbon_price_micros_per_tonne > 0;

	if (first->lane == NULL || !decision->use_money ||
	    !decision->use_carbon || carbon_counts ||
	    (objective != LT_OBJECTIVE_COST &&
		objective != LT_OBJECTIVE_BALANCED))
		return *first;
	const struct linear score =
	    lt_score_of(decision, first->lane, ROUND_FIRST);

	decision->first = *first;
	decision->first.score =
	    lt_score_value(decision, first->lane, &score, first->start_utc_s);
	const struct choice cleaner = choose(decision, ROUND_EQUAL, first);
	return cleaner.lane != NULL && !waits_for_little(decision, &cleaner)
		   ? cleaner
		   : *first;
}

static void
begin_plan(struct decision *decision)
{
	const struct job *job = &decision->job;
	struct lt_plan *plan = decision->plan;

	plan->objective = job->request->objective;
	plan->pins = job->request->pins & ~(uint32_t)LT_PIN_FREQUENCY;
	plan->candidate_count = job->market->partition_count;
	for (uint32_t i = 0; i < plan->candidate_count; i++)
		plan->candidates[i] = (struct lt_candidate){
		    .reject = LT_REJECT_DEARER, .best.partition = (int)i};
	plan->home.partition = job->request->home;
	plan->home.start_utc_s = plan->home.end_utc_s = plan->home.free_utc_s =
	    job->earliest_utc_s;
}

/* A job that did not ask: its price at home is all that is wanted. */
static void
price_home(struct decision *decision)
{
	struct lt_candidate *candidate =
	    &decision->plan->candidates[decision->job.request->home];
	double wanted = 0, found = 0;
	const enum lt_reject reject = lt_lane_build(&decision->home,
	    &decision->job, decision->job.request->home, &wanted, &found);

	refuse(candidate, reject, wanted, found);
	decision->plan->fits = reject == LT_REJECT_NONE;
	for (uint32_t i = 0; i < decision->plan->candidate_count; i++)
		if ((int)i != decision->job.request->home)
			decision->plan->candidates[i].reject = LT_REJECT_PINNED;
}

/* Of those that could run it one is the best; the others are no better. */
static void
name_best(struct lt_plan *plan)
{
	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		struct lt_candidate *candidate = &plan->candidates[i];

		if ((int)i == plan->chosen.partition &&
		    candidate->reject <= LT_REJECT_DEARER)
			*candidate =
			    (struct lt_candidate){.best = plan->chosen};
		else if (candidate->reject == LT_REJECT_NONE)
			candidate->reject = LT_REJECT_DEARER;
	}
}

static struct lt_estimate
home_at(const struct decision *decision, int64_t start_utc_s)
{
	struct lt_estimate at;

	lt_lane_estimate(&at, &decision->home, start_utc_s);
	at.score = lt_score_at(decision, &decision->home, start_utc_s);
	at.too_late = decision->home_too_late;
	return at;
}

/* What the job comes to without a better place. Where home has no room in time
 * it waits as long as it was promised to wait at most: whoever is in its way
 * may go elsewhere until then. */
static void
stay_home(struct decision *decision)
{
	const int64_t earliest_utc_s = decision->job.earliest_utc_s;
	const int64_t latest_utc_s = decision->home.latest_utc_s;
	struct lt_plan *const plan = decision->plan;

	if (plan->fits)
		plan->home = home_at(decision, decision->home_utc_s);
	plan->chosen = plan->home;
	if (decision->home_too_late)
		plan->chosen = home_at(decision, latest_utc_s > earliest_utc_s
						     ? latest_utc_s
						     : earliest_utc_s);
}

/* By what the choice differs from home: when, where, how fast. */
static void
part_levers(struct lt_plan *plan, const struct decision *decision,
    const struct choice *choice)
{
	plan->home_then = plan->there_now = plan->there_slow = plan->chosen;
	if (choice->lane == NULL || !plan->fits)
		return;
	lt_lane_estimate(
	    &plan->home_then, &decision->home, choice->start_utc_s);
	lt_lane_estimate(&plan->there_now, choice->lane, decision->home_utc_s);
	lt_lane_estimate_slow(
	    &plan->there_slow, choice->lane, choice->start_utc_s);
}

void
lt_decision_choose(const struct decision *decision, const struct choice *choice)
{
	struct lt_plan *const plan = decision->plan;

	if (choice->lane != NULL) {
		lt_lane_estimate(
		    &plan->chosen, choice->lane, choice->start_utc_s);
		plan->chosen.score =
		    lt_score_at(decision, choice->lane, choice->start_utc_s);
	}
	part_levers(plan, decision, choice);
	if (choice->lane != NULL || plan->fits)
		lt_decision_cap(decision,
		    choice->lane != NULL ? choice->lane : &decision->home);
	plan->moved =
	    plan->chosen.partition != decision->job.request->home ||
	    (plan->chosen.start_utc_s > decision->job.earliest_utc_s &&
		(choice->lane != NULL || !decision->home_queued));
	name_best(plan);
}

/* Eq. (58). Home is what it would have been: with a begin time it would lose
 * its place in the line. */
static void
choose_or_keep(struct decision *decision, const struct choice *choice)
{
	static const struct choice home = {.lane = NULL};
	const struct lt_request *const request = decision->job.request;
	struct lt_plan *const plan = decision->plan;

	plan->compared = lt_compared_as(decision, choice);
	if (plan->compared != LT_COMPARED_KEPT) {
		lt_decision_choose(decision, choice);
		return;
	}
	lt_decision_choose(decision, &home);
	plan->moved = false;
	plan->holdout_ppm = request->holdout_ppm;
	if (choice->lane->partition != request->home)
		plan->candidates[choice->lane->partition].reject =
		    LT_REJECT_HOLDOUT;
}

static void
decide(struct decision *decision, const struct lt_planned *planned,
    uint32_t planned_count)
{
	const struct lt_request *const request = decision->job.request;
	struct lt_plan *const plan = decision->plan;
	struct choice choice;

	begin_plan(decision);
	if (request->objective == LT_OBJECTIVE_OFF)
		price_home(decision);
	else
		make_lanes(decision);
	decision->home_utc_s = decision->job.earliest_utc_s;
	decision->home_too_late = decision->home_queued = false;
	if (request->objective != LT_OBJECTIVE_OFF) {
		choose_currencies(decision);
		decision->home_age_s =
		    lt_market_signal_age_s(decision->job.market, request->home,
			decision->job.now_utc_s);
		open_lanes(decision, planned, planned_count);
	}
	stay_home(decision);
	if (request->objective == LT_OBJECTIVE_OFF) {
		if (plan->fits)
			lt_decision_cap(decision, &decision->home);
		return;
	}
	choice = choose_worth(decision, ROUND_FIRST, NULL);
	if (choice.lane == NULL && plan->fits)
		choice = choose_worth(decision, ROUND_SECOND, NULL);
	else
		choice = choose_cleaner(decision, &choice);
	choose_or_keep(decision, &choice);
}

int
lt_decision_make(struct decision **made, struct lt_plan *plan,
    const struct lt_decision_of *of, struct lt_error *err)
{
	assert(of->planned != NULL || of->planned_count == 0);
	assert(of->request->named_count <= LT_PARTITIONS_MAX);

	struct decision *decision;

	memset(plan, 0, offsetof(struct lt_plan, candidates));
	plan->chosen.partition = plan->home.partition = -1;
	if (of->request->home < 0 ||
	    (uint32_t)of->request->home >= of->market->partition_count ||
	    of->market->partition_count > LT_PARTITIONS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "the job's partition is not known to lowtide");
	/* Too large for a thread of slurmctld (LT_STACK_BYTES_MAX). */
	decision = malloc(sizeof(*decision));
	if (decision == NULL)
		return lt_fail(err, LT_ENOMEM, "decide: out of memory");
	decision->plan = plan;
	decision->lane_count = decision->spans.count = 0;
	decision->edges.count = 0;
	decision->rests = false;
	lt_job_resolve(&decision->job, of->request, of->market, of->now_utc_s);
	decide(decision, of->planned, of->planned_count);
	*made = decision;
	return LT_OK;
}

int
lt_decide(struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market, const struct lt_planned *planned,
    uint32_t planned_count, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_decision_of of = {
	    request, market, planned, planned_count, now_utc_s};
	struct decision *decision = NULL;
	const int code = lt_decision_make(&decision, plan, &of, err);

	free(decision);
	return code;
}
