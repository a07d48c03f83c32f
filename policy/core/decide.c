/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_decide(): the one decision function. It prices the job where it would run without lowtide,
 * then in every lane (decide_lanes.c), and takes the earliest start that keeps 95 % of the best
 * saving. docs/model.md, eqs. (21) to (24); eq. (58) for the jobs that the holdout keeps at home.
 *
 * Reads a request, a market and what is known of the past; writes a plan. Pure. Fails when the
 * job's partition is not in the market, or without memory; a job that fits nowhere is a plan that
 * says so, not an error.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"

/* ---- Holdout ---- */

/* True if the job belongs in the comparison: it moves to cost less, and nothing that was asked
 * needs the move. */
static bool
could_stay(const struct decision *decision, const struct choice *choice)
{
	const struct lt_request *const request = decision->job.request;
	const struct lt_plan *const plan = decision->plan;
	const int64_t most_micros = request->max_cost_micros;

	return choice->lane != NULL && plan->fits && !decision->home_too_late &&
	       !plan->home_was_dear && plan->candidates[request->home].reject <= LT_REJECT_DEARER &&
	       (choice->lane->partition != request->home ||
		   choice->start_utc_s > decision->home_utc_s) &&
	       plan->objective != LT_OBJECTIVE_FAST && request->interruptions == 0 &&
	       (most_micros == LT_UNSET_64 ||
		   (plan->home.has_cost && plan->home.most_micros <= most_micros)) &&
	       !lt_lane_over_budget(decision, &decision->home);
}

/* Returns the side of the site's comparison that a job with this choice is on; NOT: nobody is held
 * out, or it could not stay. */
static enum lt_compared
compared_as(const struct decision *decision, const struct choice *choice)
{
	const struct lt_request *const request = decision->job.request;

	if (request->holdout_ppm == 0 || !lt_mode_may(decision->job.market->mode, LT_MAY_EDIT) ||
	    !could_stay(decision, choice))
		return LT_COMPARED_NOT;
	return request->is_held_out ? LT_COMPARED_KEPT : LT_COMPARED_MOVED;
}

/* ---- Choosing among lanes ---- */

/* No start of the lane makes it less. */
static double
bound(const struct decision *decision, const struct lane *lane, const struct linear *linear)
{
	return lt_search_bound(lane, linear, decision->job.now_utc_s, decision->job.earliest_utc_s);
}

static bool
may_meet_caps(const struct decision *decision, const struct lane *lane, const struct aim *aim)
{
	for (uint32_t i = 0; i < aim->cap_count; i++)
		if (bound(decision, lane, &aim->caps[i].value) > aim->caps[i].limit)
			return false;
	return true;
}

/* Lanes in the order of what they can reach at best, so that the first ones rule the later ones
 * out; of equals (one grid, one kind of node) the one that meets its condition most easily.
 * Insertion sort: a few hundred at most. */
static void
order_lanes(struct decision *decision)
{
	uint16_t *const order = decision->order;
	uint32_t count = 0;

	struct rank {
		double score, cap;
	} ranks[LT_PARTITIONS_MAX];

	for (uint32_t i = 0; i < decision->lane_count; i++) {
		const struct lane *const lane = &decision->lanes[i];
		const struct aim *const aim = &decision->aims[i];
		uint32_t k = count;

		if (!may_meet_caps(decision, lane, aim))
			continue;
		const struct rank rank = {bound(decision, lane, &aim->score),
		    aim->cap_count == 0 ? 0 : bound(decision, lane, &aim->caps[0].value)};

		for (; k > 0 &&
		       (ranks[k - 1].score > rank.score ||
			   (ranks[k - 1].score == rank.score && ranks[k - 1].cap > rank.cap));
		     k--) {
			ranks[k] = ranks[k - 1];
			order[k] = order[k - 1];
		}
		ranks[k] = rank;
		order[k] = (uint16_t)i;
		count++;
	}
	decision->order_count = count;
}

/* Returns the best start of all lanes below limit; each lane's own goes to its candidate, as far as
 * it was looked at. */
static struct choice
choose_best_start(const struct decision *decision, double limit)
{
	struct choice best = {.score = limit};
	struct search before = {.capped = true};
	struct found seen_before = {0};

	for (uint32_t i = 0; i < decision->order_count; i++) {
		const uint16_t at = decision->order[i];
		const struct lane *const lane = &decision->lanes[at];
		struct found found = {0}, seen = {0};
		struct search search = {
		    .lane = lane,
		    .spans = &decision->spans,
		    .aim = &decision->aims[at],
		    .now_utc_s = decision->job.now_utc_s,
		    .limit = best.score,
		    .found = &found,
		    .seen = &seen,
		};

		/* Nor can those behind it. */
		if (bound(decision, lane, &search.aim->score) >= best.score)
			break;
		/* On one grid all starts score the same. */
		if (!before.capped && lt_search_same(&search, &before)) {
			seen = seen_before;
		} else {
			lt_search_lane(&search);
			before = search;
			seen_before = seen;
		}
		if (seen.any)
			lt_lane_estimate(&decision->plan->candidates[lane->partition].best, lane,
			    seen.start_utc_s);
		if (found.any && found.score < best.score)
			best = (struct choice){lane, found.score, found.start_utc_s};
	}
	return best;
}

/* Returns the earliest of all starts that score at most limit; of equals that in the lower
 * partition. best is one of them. */
static struct choice
choose_earliest_start(const struct decision *decision, const struct choice *best, double limit)
{
	struct choice choice = *best;
	struct search before = {.capped = true};
	int64_t none_before_utc_s = 0;

	for (uint32_t i = 0; i < decision->order_count; i++) {
		const uint16_t at = decision->order[i];
		const struct lane *const lane = &decision->lanes[at];
		/* One second later, so that an equal start is found too. */
		const int64_t before_s = choice.start_utc_s + (lane < choice.lane ? 1 : 0);
		struct found found = {true, before_s, choice.score};
		struct search search = {
		    .lane = lane,
		    .spans = &decision->spans,
		    .aim = &decision->aims[at],
		    .now_utc_s = decision->job.now_utc_s,
		    .limit = limit,
		    .earliest = true,
		    .none_before_utc_s = INT64_MIN,
		    .found = &found,
		};

		/* Nor can those behind it. */
		if (bound(decision, lane, &search.aim->score) > limit)
			break;
		/* On one grid nothing scores so before the first that does. */
		if (!before.capped && lt_search_same(&search, &before)) {
			search.none_before_utc_s = none_before_utc_s;
			lt_search_lane(&search);
		} else {
			lt_search_lane(&search);
			before = search;
			none_before_utc_s = found.start_utc_s;
		}
		if (found.start_utc_s < before_s)
			choice = (struct choice){lane, found.score, found.start_utc_s};
	}
	return choice;
}

/* ---- Baseline, rounds and the plan ---- */

static const double keep = 0.95; /* of the best saving */

/* Returns the value that a choice is measured against: home at its first start with room, or, where
 * home can't run it, the best lane at its earliest start; for what is equal to a choice, that
 * choice. */
static double
baseline(const struct decision *decision, const struct choice *best, int round)
{
	const bool is_home = decision->has_baseline && round != ROUND_EQUAL;
	const struct lane *const lane = is_home ? &decision->home : best->lane;
	const struct linear score = lt_score_with_waiting(decision, lane, round);

	return lt_score_value(decision, lane, &score,
	    round == ROUND_EQUAL ? best->start_utc_s : decision->home_utc_s);
}

static void
aim_at(struct decision *decision, int round, enum worth worth)
{
	lt_aims_make(decision, round, worth);
	order_lanes(decision);
}

struct worths { /* a start needs one of them */
	enum worth from, to;
};

/* Best start that meets one of them, below the limit. */
static struct choice
best_of(struct decision *decision, int round, struct worths worths, double limit)
{
	struct choice best = {.score = limit};

	for (enum worth w = worths.from; w <= worths.to; w++) {
		aim_at(decision, round, w);
		const struct choice found = choose_best_start(decision, best.score);
		if (found.lane != NULL)
			best = found;
	}
	return best;
}

/* One round: the earliest start that keeps most of the best saving. first: the choice that
 * ROUND_EQUAL is to better. */
static struct choice
choose(struct decision *decision, int round, const struct choice *first, struct worths worths)
{
	const bool from_known = decision->has_baseline || round == ROUND_EQUAL;
	double limit = INFINITY, from;
	struct choice choice;

	if (from_known) {
		limit = baseline(decision, first, round);
		limit -= lt_score_least_saving(decision, round, limit);
	}
	choice = best_of(decision, round, worths, limit);
	if (choice.lane == NULL)
		return choice;
	from = baseline(decision, round == ROUND_EQUAL ? first : &choice, round);
	/* The fastest is the fastest: no part of it is given up. */
	limit = choice.score;
	if (decision->plan->objective != LT_OBJECTIVE_FAST && from > choice.score)
		limit = from - keep * (from - choice.score);
	if (!from_known && decision->plan->objective != LT_OBJECTIVE_FAST)
		limit = fmax(limit, choice.score + lt_score_least_saving(decision, round, from));
	for (enum worth w = worths.from; w <= worths.to; w++) {
		if (worths.from < worths.to)
			aim_at(decision, round, w);
		choice =
		    choose_earliest_start(decision, &choice, limit + lt_score_tolerance(limit));
	}
	return choice;
}

/* True if it is later than need be and saves less than people wait for, in money and in carbon; eq.
 * (23). */
static bool
waits_for_little(const struct decision *decision, const struct choice *choice)
{
	if (choice->lane == NULL || decision->plan->objective == LT_OBJECTIVE_FAST)
		return false;
	for (enum worth w = WORTH_MONEY; w <= WORTH_IN_TIME; w++)
		if (lt_is_worth(decision, choice->lane, choice->start_utc_s, w))
			return false;
	return true;
}

static bool
any_by_home(const struct decision *decision)
{
	for (uint32_t i = 0; i < decision->lane_count; i++)
		if (decision->spans.list[decision->lanes[i].first_span].from_utc_s <=
		    decision->home_utc_s)
			return true;
	return false;
}

/* Chooses in a round so that nobody waits for little: where the choice would, the round is repeated
 * among the starts that are no later, or save enough. With nowhere to stay, a start that saves
 * little is better than none. */
static struct choice
choose_worth(struct decision *decision, int round, const struct choice *first)
{
	static const struct worths any = {WORTH_ANY, WORTH_ANY};
	static const struct worths enough = {WORTH_MONEY, WORTH_IN_TIME};
	const struct choice choice = choose(decision, round, first, any);

	if (!waits_for_little(decision, &choice) ||
	    (!decision->has_baseline && !any_by_home(decision)))
		return choice;
	return choose(decision, round, first, enough);
}

/* Among equal costs the cleaner: the cheapest partition of a choice is often as cheap at another
 * hour. */
static struct choice
choose_cleaner(struct decision *decision, const struct choice *first)
{
	const enum lt_objective objective = decision->plan->objective;
	const bool carbon_counts =
	    objective == LT_OBJECTIVE_BALANCED && lt_worth_per_mg(decision->job.market) > 0;

	if (first->lane == NULL || !decision->use_money || !decision->use_carbon || carbon_counts ||
	    (objective != LT_OBJECTIVE_COST && objective != LT_OBJECTIVE_BALANCED))
		return *first;
	const struct linear score = lt_score_of(decision, first->lane, ROUND_FIRST);

	decision->first = *first;
	decision->first.score = lt_score_value(decision, first->lane, &score, first->start_utc_s);
	const struct choice cleaner = choose_worth(decision, ROUND_EQUAL, first);
	return cleaner.lane != NULL ? cleaner : *first;
}

static void
begin_plan(struct decision *decision)
{
	const struct job *job = &decision->job;
	struct lt_plan *plan = decision->plan;

	plan->objective = job->request->objective;
	plan->pins = job->request->pins & ~(uint32_t)LT_PIN_FREQUENCY;
	memcpy(plan->pinned_by, job->request->pinned_by, sizeof(plan->pinned_by));
	plan->candidate_count = job->market->partition_count;
	for (uint32_t i = 0; i < plan->candidate_count; i++)
		plan->candidates[i] =
		    (struct lt_candidate){.reject = LT_REJECT_DEARER, .best.partition = (int)i};
	plan->home.partition = job->request->home;
	plan->home.start_utc_s = plan->home.end_utc_s = plan->home.free_utc_s = job->earliest_utc_s;
}

/* A job that did not ask: its price at home is all that is wanted. */
static void
price_home(struct decision *decision)
{
	struct lt_candidate *candidate = &decision->plan->candidates[decision->job.request->home];
	double wanted = 0, found = 0;
	const enum lt_reject reject = lt_lane_build(
	    &decision->home, &decision->job, decision->job.request->home, &wanted, &found);

	lt_candidate_refuse(candidate, reject, wanted, found);
	decision->plan->fits = reject == LT_REJECT_NONE;
	if (decision->plan->fits) {
		const double mean =
		    lt_lane_mean_price(&decision->home, decision->job.earliest_utc_s);

		if (lt_is_too_dear(&decision->job, mean))
			lt_candidate_refuse(candidate, LT_REJECT_MAX_PRICE,
			    (double)decision->job.max_price_micros, mean);
	}
	for (uint32_t i = 0; i < decision->plan->candidate_count; i++)
		if ((int)i != decision->job.request->home)
			decision->plan->candidates[i].reject = LT_REJECT_PINNED;
}

/* Marks one of the lanes that could run it as the best; the others are no better. */
static void
name_best(struct lt_plan *plan)
{
	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		struct lt_candidate *candidate = &plan->candidates[i];

		if ((int)i == plan->chosen.partition && candidate->reject <= LT_REJECT_DEARER)
			*candidate = (struct lt_candidate){.best = plan->chosen};
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

/* Estimates the job without a better place. Where home has no room in time, it waits as long as it
 * was promised to wait at most: jobs in its way may go elsewhere until then. */
static void
stay_home(struct decision *decision)
{
	const int64_t earliest_utc_s = decision->job.earliest_utc_s;
	const int64_t latest_utc_s = decision->home.latest_utc_s;
	struct lt_plan *const plan = decision->plan;

	if (plan->fits)
		plan->home = home_at(decision, decision->home_utc_s);
	plan->chosen = plan->home;
	if (decision->home_too_late && decision->has_baseline)
		plan->chosen = home_at(
		    decision, latest_utc_s > earliest_utc_s ? latest_utc_s : earliest_utc_s);
}

/* Writes how the choice differs from home: when, where, how fast. */
static void
part_levers(struct lt_plan *plan, const struct decision *decision, const struct choice *choice)
{
	plan->home_then = plan->there_now = plan->there_slow = plan->chosen;
	plan->room_utc_s = plan->home.start_utc_s;
	if (choice->lane == NULL || !plan->fits)
		return;
	plan->room_utc_s = decision->spans.list[choice->lane->first_span].from_utc_s;
	lt_lane_estimate(&plan->home_then, &decision->home, choice->start_utc_s);
	lt_lane_estimate(&plan->there_now, choice->lane, decision->home_utc_s);
	lt_lane_estimate_slow(&plan->there_slow, choice->lane, choice->start_utc_s);
}

void
lt_decision_choose(const struct decision *decision, const struct choice *choice)
{
	struct lt_plan *const plan = decision->plan;

	if (choice->lane != NULL) {
		lt_lane_estimate(&plan->chosen, choice->lane, choice->start_utc_s);
		plan->chosen.score = lt_score_at(decision, choice->lane, choice->start_utc_s);
	}
	part_levers(plan, decision, choice);
	if (choice->lane != NULL || plan->fits)
		lt_decision_cap(decision, choice->lane != NULL ? choice->lane : &decision->home);
	plan->line = (struct lt_line){0};
	if (choice->lane == NULL)
		lt_decision_line(decision);
	plan->moved = plan->chosen.partition != decision->job.request->home ||
		      (plan->chosen.start_utc_s > decision->job.earliest_utc_s &&
			  (choice->lane != NULL || !decision->home_queued || plan->home_was_dear ||
			      !plan->line.waits));
	name_best(plan);
}

/* Finds the baseline of a job that home can't run: the best of the starts at the first second at
 * which any lane has room. */
static void
find_elsewhere(const struct decision *decision)
{
	struct lt_plan *const plan = decision->plan;
	int64_t first_utc_s = INT64_MAX;

	plan->elsewhere = (struct lt_estimate){.partition = -1};
	for (uint32_t i = 0; !plan->fits && i < decision->lane_count; i++) {
		const struct lane *const lane = &decision->lanes[i];
		const int64_t room_utc_s = decision->spans.list[lane->first_span].from_utc_s;

		if (room_utc_s < first_utc_s)
			first_utc_s = room_utc_s;
	}
	for (uint32_t i = 0; !plan->fits && i < decision->lane_count; i++) {
		const struct lane *const lane = &decision->lanes[i];

		if (decision->spans.list[lane->first_span].from_utc_s > first_utc_s)
			continue;
		const double score = lt_score_at(decision, lane, first_utc_s);

		if (plan->elsewhere.partition >= 0 && score >= plan->elsewhere.score)
			continue;
		lt_lane_estimate(&plan->elsewhere, lane, first_utc_s);
		plan->elsewhere.score = score;
	}
}

/* Keeps the job at home; eq. (58). Home is as it would have been without lowtide: with a begin time
 * it would lose its place in the line. */
static void
choose_or_keep(struct decision *decision, const struct choice *choice)
{
	static const struct choice home = {.lane = NULL};
	const struct lt_request *const request = decision->job.request;
	struct lt_plan *const plan = decision->plan;

	plan->compared = compared_as(decision, choice);
	if (plan->compared != LT_COMPARED_KEPT) {
		lt_decision_choose(decision, choice);
		return;
	}
	lt_decision_choose(decision, &home);
	plan->moved = false;
	plan->holdout_ppm = request->holdout_ppm;
	if (choice->lane->partition != request->home)
		plan->candidates[choice->lane->partition].reject = LT_REJECT_HOLDOUT;
}

/* Where nothing else is left, whatever keeps it there: it may not cost more than its max_price. */
static void
refuse_dear_home(struct decision *decision, const struct choice *choice)
{
	const struct job *const job = &decision->job;
	struct lt_plan *const plan = decision->plan;

	if (choice->lane != NULL || !plan->fits)
		return;
	const double mean = lt_lane_mean_price(&decision->home, plan->chosen.start_utc_s);

	if (lt_is_too_dear(job, mean))
		lt_candidate_refuse(&plan->candidates[job->request->home], LT_REJECT_MAX_PRICE,
		    (double)job->max_price_micros, mean);
}

static void
decide(struct decision *decision, const struct lt_planned *planned, uint32_t planned_count)
{
	const struct lt_request *const request = decision->job.request;
	struct lt_plan *const plan = decision->plan;
	struct choice choice;

	begin_plan(decision);
	if (request->objective == LT_OBJECTIVE_OFF)
		price_home(decision);
	else
		lt_lanes_make(decision);
	decision->home_utc_s = decision->job.earliest_utc_s;
	decision->home_too_late = decision->home_queued = false;
	decision->has_baseline = plan->fits;
	if (request->objective != LT_OBJECTIVE_OFF) {
		lt_lanes_currencies(decision);
		decision->home_age_s = lt_market_signal_age_s(
		    decision->job.market, request->home, decision->job.now_utc_s);
		lt_lanes_open(decision, planned, planned_count);
	}
	stay_home(decision);
	if (request->objective == LT_OBJECTIVE_OFF) {
		if (plan->fits)
			lt_decision_cap(decision, &decision->home);
		return;
	}
	choice = choose_worth(decision, ROUND_FIRST, NULL);
	if (choice.lane == NULL && decision->has_baseline)
		choice = choose_worth(decision, ROUND_SECOND, NULL);
	else
		choice = choose_cleaner(decision, &choice);
	choose_or_keep(decision, &choice);
	find_elsewhere(decision);
	refuse_dear_home(decision, &choice);
}

int
lt_decision_make(struct decision **made, struct lt_plan *plan, const struct lt_decision_of *of,
    struct lt_error *err)
{
	assert(of->planned != NULL || of->planned_count == 0);
	assert(of->request->named_count <= LT_PARTITIONS_MAX);

	struct decision *decision;

	memset(plan, 0, offsetof(struct lt_plan, candidates));
	plan->chosen.partition = plan->home.partition = -1;
	plan->elsewhere.partition = -1;
	if (of->request->home < 0 || (uint32_t)of->request->home >= of->market->partition_count ||
	    of->market->partition_count > LT_PARTITIONS_MAX)
		return lt_fail(err, LT_EINPUT, "the job's partition is not known to lowtide");
	/* Too large for a thread of slurmctld (LT_STACK_BYTES_MAX). */
	decision = malloc(sizeof(*decision));
	if (decision == NULL)
		return lt_fail(err, LT_ENOMEM, "decide: out of memory");
	decision->plan = plan;
	decision->lane_count = decision->shown_count = 0;
	decision->spans.count = 0;
	decision->edges.count = 0;
	decision->rests = false;
	lt_job_resolve(&decision->job, of->request, of->market, of->now_utc_s);
	memset(decision->layouts.known, 0, sizeof(decision->layouts.known));
	decision->job.layouts = &decision->layouts;
	decide(decision, of->planned, of->planned_count);
	*made = decision;
	return LT_OK;
}

int
lt_decide(struct lt_plan *plan, const struct lt_request *request, const struct lt_market *market,
    const struct lt_planned *planned, uint32_t planned_count, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_decision_of of = {request, market, planned, planned_count, now_utc_s};
	struct decision *decision = NULL;
	const int code = lt_decision_make(&decision, plan, &of, err);

	free(decision);
	return code;
}
