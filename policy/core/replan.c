/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_replan(): a new decision for a job that waits, compared with the plan that stands; also when a
 * job on preemptible nodes must leave them, and when it may return. docs/model.md, eqs. (24a),
 * (24c), (24g) and (24j). Pure; fails as lt_decide() does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decide_internal.h"
#include "lookup.h"
#include "replan.h"

static const char *const words[LT_REPLAN_WHY_COUNT] = {
    [LT_REPLAN_KEEP] = "keep",
    [LT_REPLAN_BETTER] = "better",
    [LT_REPLAN_NO_ROOM] = "no_room",
    [LT_REPLAN_CANNOT_RUN] = "cannot_run",
    [LT_REPLAN_TOGETHER] = "together",
    [LT_REPLAN_NOW] = "now",
    [LT_REPLAN_INTERRUPTED] = "interrupted",
    [LT_REPLAN_DEADLINE] = "deadline",
    [LT_REPLAN_OVER_BUDGET] = "over_budget",
    [LT_REPLAN_PAUSED] = "paused",
    [LT_REPLAN_CANNOT_START] = "cannot_start",
    [LT_REPLAN_STUCK] = "stuck",
};

const char *
lt_replan_word(enum lt_replan_why why)
{
	return LT_WORD(words, why);
}

int
lt_replan_find(const char *word)
{
	for (int i = 0; i < LT_REPLAN_WHY_COUNT; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

int64_t
lt_replan_back_utc_s(int64_t submit_utc_s, int64_t eligible_utc_s)
{
	const int64_t before_s = (eligible_utc_s - submit_utc_s) * 3 / 4;

	return eligible_utc_s - (before_s < LT_BACK_BEFORE_S ? before_s : LT_BACK_BEFORE_S);
}

static bool
has_room(const struct spans *spans, const struct lane *lane, int64_t start_utc_s)
{
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct span *const span = &spans->list[lane->first_span + i];

		if (span->from_utc_s <= start_utc_s && start_utc_s <= span->to_utc_s)
			return true;
	}
	return false;
}

/* The lane of a partition, with its room; false: it can't run the job. */
static bool
lane_of(struct lane *lane, bool *too_late, struct decision *decision, int partition)
{
	const struct lt_request *const request = decision->job.request;
	double wanted, found;

	decision->job.standing = partition;
	if (partition < 0 || (uint32_t)partition >= decision->job.market->partition_count ||
	    (request->closed != NULL && request->closed[partition]) ||
	    (partition != request->home &&
		lt_move_reject(&decision->job, partition) != LT_REJECT_NONE) ||
	    lt_lane_build(lane, &decision->job, partition, &wanted, &found) != LT_REJECT_NONE)
		return false;
	*too_late = decision->standing_utc_s > lane->latest_utc_s;
	/* It may have what it was promised, whatever is known of that hour. */
	if (lane->latest_utc_s < decision->standing_utc_s)
		lane->latest_utc_s = decision->standing_utc_s;
	decision->spans.count = 0;
	lt_lane_spans(&decision->spans, lane, &decision->job, &decision->edges);
	(void)lt_lane_keep_price(&decision->spans, lane, &decision->job);
	return true;
}

uint32_t
lt_interruptions_allowed(const struct lt_request *request, const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	const uint32_t most = class != NULL ? class->max_interruptions : LT_INTERRUPTIONS_ANY;

	return request->max_interruptions > 0 && request->max_interruptions < most
		   ? request->max_interruptions
		   : most;
}

/* Returns by how much a run on preemptible nodes that begins in the last minute may delay the run
 * that follows it, whose limit is in whole minutes. Without an interval of checkpoints no useful
 * bound is known: the confidence of (16) has to do. */
static int64_t
at_risk_s(const struct lt_request *request, const struct lt_market *market, int64_t limit_s)
{
	const struct lt_checkpoint *const checkpoint = &request->checkpoint;

	if (!lt_resume_counts(request, market) || !(checkpoint->every_s > 0))
		return 0;
	return LT_REQUEUE_WAIT_S + LT_MINUTE_S +
	       (int64_t)ceil(fmin((double)limit_s,
		   lt_checkpoint_lost_s(checkpoint, 0, lt_market_restart_s(market))));
}

int64_t
lt_replan_leave_utc_s(const struct lt_request *request, const struct lt_market *market)
{
	const int64_t limit_s =
	    request->home >= 0 ? lt_limit_of(request, market, request->home) : LT_UNSET_64;

	if (request->deadline_utc_s != LT_UNSET_64 && limit_s > 0)
		return request->deadline_utc_s - market->deadline_slack_s -
		       at_risk_s(request, market, limit_s) - limit_s;
	return request->latest_utc_s > 0 ? request->latest_utc_s : INT64_MAX;
}

/* Returns how much earlier a job that may come back leaves, while that is of use: the slack rule
 * (24g), where a tick is the time of a requeue. */
static int64_t
early_s(const struct lt_request *request, const struct lt_market *market)
{
	static const double of_what_is_left = 0.1;
	const struct lt_class *const class = lt_request_class(request, market);

	if (request->deadline_utc_s == LT_UNSET_64 || request->home < 0 || class == NULL ||
	    class->pause != LT_PAUSE_REQUEUE || request->checkpoint.signal == 0 ||
	    request->array_tasks > 1 || request->pins & LT_PIN_BEGIN ||
	    !lt_resume_counts(request, market))
		return 0;
	return 2 * LT_REQUEUE_WAIT_S +
	       (int64_t)(of_what_is_left * (double)lt_limit_of(request, market, request->home));
}

/* Why preemptible nodes are no place for it any more. */
static enum lt_replan_why
must_leave(const struct lt_replan *of)
{
	const struct lt_request *const request = of->request;
	const struct lt_market *const market = of->market;

	if (request->interruptions >= lt_interruptions_allowed(request, market))
		return LT_REPLAN_INTERRUPTED;
	/* A job that has its hour is not waiting for nodes yet; a job that nothing hurries starts
	 * there if it can. */
	const int64_t waited_s = of->now_utc_s - of->start_utc_s;
	const bool waits =
	    request->deadline_utc_s != LT_UNSET_64 ? waited_s >= 0 : waited_s >= LT_LEAVE_LOOK_S;

	return waits && of->now_utc_s + LT_LEAVE_LOOK_S + early_s(request, market) >=
			    lt_replan_leave_utc_s(request, market)
		   ? LT_REPLAN_DEADLINE
		   : LT_REPLAN_KEEP;
}

static bool
is_preemptible(const struct lt_market *market, int partition)
{
	return partition >= 0 && (uint32_t)partition < market->partition_count &&
	       market->partitions[partition].flags & LT_PARTITION_PREEMPTIBLE;
}

/* As the decision has it, for a partition that it chose. */
static const struct lane *
lane_chosen(const struct decision *decision, int partition)
{
	for (uint32_t i = 0; i < decision->lane_count; i++)
		if (decision->lanes[i].partition == partition)
			return &decision->lanes[i];
	return partition == decision->job.request->home && decision->plan->fits ? &decision->home
										: NULL;
}

static enum lt_replan_why
judge(struct lt_replanned *out, struct decision *decision, const struct lt_replan *of)
{
	const int64_t start_utc_s = of->start_utc_s > decision->job.earliest_utc_s
					? of->start_utc_s
					: decision->job.earliest_utc_s;
	const struct lt_estimate *const chosen = &out->plan.chosen;
	struct lane standing;
	bool too_late;

	decision->standing_utc_s = start_utc_s;
	if (!lane_of(&standing, &too_late, decision, of->partition))
		return LT_REPLAN_CANNOT_RUN;
	lt_lane_estimate(&out->standing, &standing, start_utc_s);
	out->standing.too_late = too_late;
	out->standing.score = lt_score_at(decision, &standing, start_utc_s);
	out->least_saving = lt_score_least_saving(decision, ROUND_FIRST, out->standing.score);
	if (!has_room(&decision->spans, &standing, start_utc_s))
		/* Where all is too dear it waits on where it is. */
		return out->plan.candidates[chosen->partition].reject == LT_REJECT_MAX_PRICE
			   ? LT_REPLAN_KEEP
			   : LT_REPLAN_NO_ROOM;
	const struct lane *const other = lane_chosen(decision, chosen->partition);
	if (other == NULL ||
	    (chosen->partition == of->partition && chosen->start_utc_s == start_utc_s))
		return LT_REPLAN_KEEP;
	const double stands = out->standing.score;
	const double is = lt_score_at(decision, other, chosen->start_utc_s);
	double from = stands;

	if (is <= stands + lt_score_tolerance(stands) &&
	    chosen->start_utc_s + LT_SOONER_S <= start_utc_s)
		return LT_REPLAN_BETTER;
	if (decision->has_baseline)
		from = fmax(from, lt_score_at(decision, &decision->home, decision->home_utc_s));
	return stands - is > fmax(out->least_saving, LT_SWITCHING * (from - is)) ? LT_REPLAN_BETTER
										 : LT_REPLAN_KEEP;
}

int
lt_replan(struct lt_replanned *out, const struct lt_replan *of, struct lt_error *err)
{
	const bool is_there = is_preemptible(of->market, of->partition);
	const enum lt_replan_why must = must_leave(of);
	struct lt_request request = *of->request;
	const struct lt_decision_of decision_of = {
	    &request, of->market, of->planned, of->planned_count, of->now_utc_s};
	struct decision *decision = NULL;

	request.is_on_demand |=
	    must == LT_REPLAN_INTERRUPTED || (must == LT_REPLAN_DEADLINE && is_there);
	const int code = lt_decision_make(&decision, &out->plan, &decision_of, err);

	out->why = LT_REPLAN_KEEP;
	out->standing = (struct lt_estimate){.partition = -1};
	out->least_saving = 0;
	if (code == LT_OK && request.is_on_demand && is_there) {
		/* With nowhere to go it waits on. */
		if (!is_preemptible(of->market, out->plan.chosen.partition) &&
		    out->plan.chosen.has_cost | out->plan.chosen.has_carbon)
			out->why = must;
	} else if (code == LT_OK) {
		out->why = judge(out, decision, of);
	}
	free(decision);
	return code;
}

int
lt_replan_standing(struct lt_plan *plan, const struct lt_replan *of, struct lt_error *err)
{
	const struct lt_decision_of decision_of = {
	    of->request, of->market, of->planned, of->planned_count, of->now_utc_s};
	struct decision *decision = NULL;
	struct lane lane;
	struct choice standing = {.lane = &lane};
	bool too_late;
	int code = lt_decision_make(&decision, plan, &decision_of, err);

	if (code != LT_OK)
		return code;
	standing.start_utc_s = decision->standing_utc_s =
	    of->start_utc_s > decision->job.earliest_utc_s ? of->start_utc_s
							   : decision->job.earliest_utc_s;
	if (lane_of(&lane, &too_late, decision, of->partition))
		lt_decision_choose(decision, &standing);
	else
		code = lt_fail(err, LT_ENOENT, "the partition can't run the job");
	free(decision);
	return code;
}

/* ---- a job that runs ---- */

struct going { /* what is left of it costs that there */
	int partition;
	double score, least_saving;
	struct lt_estimate is;
};

static bool
caps_hold(const struct decision *decision, const struct lane *lane, int64_t start_utc_s)
{
	const struct rival rival = lt_rival_of(decision, ROUND_FIRST, WORTH_ANY);
	struct lt_estimate at;
	struct aim aim;

	lt_aim_make(&aim, decision, lane, &rival);
	lt_lane_estimate(&at, lane, start_utc_s);
	if (lt_is_over_cost(decision->job.request, &at))
		return false;
	for (uint32_t i = 0; i < aim.cap_count; i++)
		if (lt_score_value(decision, lane, &aim.caps[i].value, start_utc_s) >
		    aim.caps[i].limit)
			return false;
	return true;
}

/* Else each job that runs would be decided with each market for nothing. */
static bool
any_preemptible(const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++)
		if (is_preemptible(market, (int)i))
			return true;
	return false;
}

/* The best of the preemptible lanes at its earliest start. */
static void
go_at_once(struct going *best, const struct decision *decision, const struct lt_return_of *of)
{
	const int64_t at_utc_s = decision->job.earliest_utc_s;
	/* Its wait in Slurm's line and the work done again are time, too. */
	const double lost = lt_score_waiting_per_s(decision, ROUND_FIRST) *
			    (double)(LT_REQUEUE_WAIT_S + of->requeue_s);

	for (uint32_t i = 0; i < decision->lane_count; i++) {
		const struct lane *const lane = &decision->lanes[i];

		if (!is_preemptible(of->market, lane->partition) ||
		    !has_room(&decision->spans, lane, at_utc_s) ||
		    !caps_hold(decision, lane, at_utc_s))
			continue;
		const double score = lt_score_at(decision, lane, at_utc_s) + lost;
		if (score >= best->score)
			continue;
		best->partition = lane->partition;
		best->score = score;
		best->least_saving = lt_score_least_saving(decision, ROUND_FIRST, score);
		lt_lane_estimate(&best->is, lane, at_utc_s);
	}
}

static int
goes(struct going *there, struct lt_plan *plan, const struct lt_return_of *of, struct lt_error *err)
{
	struct lt_request request = *of->request;
	struct decision *decision = NULL;

	request.allocated = NULL; /* elsewhere what was asked counts */
	request.done_s += of->worked_s - of->requeue_s;
	request.earliest_utc_s = of->now_utc_s + LT_REQUEUE_WAIT_S;
	request.latest_utc_s = of->now_utc_s + of->most_s - of->requeue_s;
	const struct lt_decision_of decision_of = {
	    &request, of->market, of->planned, of->planned_count, of->now_utc_s};
	const int code = lt_decision_make(&decision, plan, &decision_of, err);

	/* Not where its guard would have it leave as soon. */
	if (code == LT_OK &&
	    request.earliest_utc_s + LT_LEAVE_LOOK_S < lt_replan_leave_utc_s(&request, of->market))
		go_at_once(there, decision, of);
	free(decision);
	return code;
}

static int
stays(struct going *here, struct lt_plan *plan, const struct lt_return_of *of, struct lt_error *err)
{
	struct lt_request request = *of->request;
	const struct lt_decision_of decision_of = {&request, of->market, NULL, 0, of->now_utc_s};
	struct decision *decision = NULL;
	struct lane lane;
	bool too_late;

	request.done_s += of->worked_s;
	const int code = lt_decision_make(&decision, plan, &decision_of, err);
	if (code != LT_OK)
		return code;
	decision->standing_utc_s = of->now_utc_s;
	if (lane_of(&lane, &too_late, decision, request.home)) {
		here->partition = request.home;
		here->score = lt_score_at(decision, &lane, of->now_utc_s);
		lt_lane_estimate(&here->is, &lane, of->now_utc_s);
	}
	free(decision);
	return LT_OK;
}

static double
saved(bool is_known, int64_t by_staying, int64_t by_going)
{
	return is_known ? (double)(by_staying - by_going) : 0;
}

static bool
is_worth(const struct going *here, const struct going *there, const struct lt_market *market)
{
	const double least = fmax(LT_SWITCHING, (double)market->min_saving_ppm / LT_MICROS);

	return here->score - there->score > fmax(there->least_saving, least * fabs(here->score));
}

int
lt_replan_return(struct lt_return *out, const struct lt_return_of *of, struct lt_error *err)
{
	const struct lt_request *const request = of->request;
	struct going there = {.partition = -1, .score = INFINITY};
	struct going here = {.partition = -1};

	*out = (struct lt_return){.partition = -1};
	if (request->objective == LT_OBJECTIVE_FAST || !any_preemptible(of->market) ||
	    of->worked_s < of->requeue_s || of->most_s <= LT_REQUEUE_WAIT_S + of->requeue_s ||
	    request->interruptions >= lt_interruptions_allowed(request, of->market))
		return LT_OK;
	struct lt_plan *const plan = malloc(sizeof(*plan));
	if (plan == NULL)
		return lt_fail(err, LT_ENOMEM, "replan: out of memory");
	int code = goes(&there, plan, of, err);
	if (code == LT_OK && there.partition >= 0)
		code = stays(&here, plan, of, err);
	free(plan);
	if (code == LT_OK && here.partition >= 0 && is_worth(&here, &there, of->market))
		*out = (struct lt_return){there.partition,
		    saved(here.is.has_cost && there.is.has_cost, here.is.cost_micros,
			there.is.cost_micros),
		    saved(here.is.has_carbon && there.is.has_carbon, here.is.carbon_mg,
			there.is.carbon_mg)};
	return code;
}
