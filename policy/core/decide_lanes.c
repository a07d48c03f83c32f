/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the partitions that take part in a decision, from when to when, and the currencies by
 * which they are compared. Runs before decide.c chooses. Reads the request and the market, writes
 * the decision's lanes and the candidates of the plan. Never fails: a partition that does not take
 * part is refused with its reason.
 */
#include "decide_internal.h"
#include "quote.h"

/* Lanes whose figures a quote may have: as many as it has room for, and two more, as home and the
 * choice may be refused after all. */
enum { SHOWN_MAX = LT_WHY_MAX + 2 };

void
lt_candidate_refuse(
    struct lt_candidate *candidate, enum lt_reject reject, double wanted, double found)
{
	candidate->reject = reject;
	candidate->wanted = wanted;
	candidate->found = found;
}

/* Returns why the lane may not take part: signals, budget or deadline. */
static enum lt_reject
lane_reject(const struct decision *decision, const struct lane *lane, double *wanted, double *found)
{
	const struct job *job = &decision->job;
	const bool is_home = lane->partition == job->request->home;
	int64_t age_s = lt_market_signal_age_s(job->market, lane->partition, job->now_utc_s);

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
		   decision->job.now_utc_s) > decision->job.market->stale_after_s;
}

/*
 * Which currencies count: what home knows. If home is no place for the job, money if any lane knows
 * it, and carbon if that shuts out no lane, or if it is what the job asks for.
 */
void
lt_lanes_currencies(struct decision *decision)
{
	bool money = false, any_carbon = false, all_carbon = true;

	if (decision->plan->fits) {
		decision->use_money = decision->home.has_money;
		decision->use_carbon = decision->home.has_carbon;
		return;
	}
	for (uint32_t i = 0; i < decision->lane_count; i++)
		money |= decision->lanes[i].has_money && !is_stale(decision, &decision->lanes[i]);
	for (uint32_t i = 0; i < decision->lane_count; i++) {
		const struct lane *lane = &decision->lanes[i];

		if (lane->has_money != money || is_stale(decision, lane))
			continue;
		any_carbon |= lane->has_carbon;
		all_carbon &= lane->has_carbon;
	}
	decision->use_money = money;
	decision->use_carbon =
	    any_carbon && (all_carbon || decision->plan->objective == LT_OBJECTIVE_CARBON);
}

void
lt_lanes_make(struct decision *decision)
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
			reject = lt_lane_build(lane, job, (int)i, &wanted, &found);
		lt_candidate_refuse(candidate, reject, wanted, found);
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

/* Writes the estimate of a start there into its candidate; where the request is brief, only for
 * lanes that a quote may mention, not for refused ones. */
static void
show_candidate(struct decision *decision, const struct lane *lane, int64_t start_utc_s)
{
	const enum lt_reject reject = decision->plan->candidates[lane->partition].reject;

	if (decision->job.request->brief &&
	    (reject > LT_REJECT_DEARER || decision->shown_count == SHOWN_MAX))
		return;
	decision->shown_count++;
	lt_lane_estimate(&decision->plan->candidates[lane->partition].best, lane, start_utc_s);
}

/* True if others wait there in line for what it needs. Then it takes its place behind them at once:
 * with a begin time it would lose that. */
static bool
has_queue(struct decision *decision, const struct lane *lane)
{
	const struct lt_partition *const part = &decision->job.market->partitions[lane->partition];

	return part->flags & LT_PARTITION_QUEUED &&
	       !lt_lane_room_at_once(&decision->spans, lane, &decision->job, &decision->edges);
}

/* Its windows, with room and at a price that the job may have; false, and refused, where it has
 * none. */
static bool
offer_starts(struct decision *decision, struct lane *lane)
{
	const struct job *const job = &decision->job;
	const bool is_home = lane->partition == job->request->home;
	struct lt_candidate *const candidate = &decision->plan->candidates[lane->partition];
	struct spans *const spans = &decision->spans;

	lt_lane_spans(spans, lane, job, &decision->edges);
	const bool has_room = lane->span_count > 0;
	const int64_t room_utc_s = has_room ? spans->list[lane->first_span].from_utc_s
				   : is_home
				       ? lt_lane_first_room(spans, lane, job, &decision->edges)
				       : job->earliest_utc_s;
	const double least = lt_lane_keep_price(spans, lane, job);
	const bool is_good = lane->span_count > 0;

	if (is_home) {
		decision->home_too_late = !is_good;
		decision->home_utc_s =
		    is_good ? spans->list[lane->first_span].from_utc_s : room_utc_s;
		decision->has_baseline &= is_good || !has_room;
		decision->plan->home_was_dear = is_good && decision->home_utc_s > room_utc_s;
	}
	if (is_good)
		return true;
	/* Or so many windows that none of them could be kept. */
	if (has_room && lt_is_too_dear(job, least))
		lt_candidate_refuse(
		    candidate, LT_REJECT_MAX_PRICE, (double)job->max_price_micros, least);
	else
		lt_candidate_refuse(candidate, LT_REJECT_CAPACITY, lane->node_equivalents,
		    job->market->partitions[lane->partition].node_count);
	show_candidate(decision, lane, job->earliest_utc_s);
	return false;
}

/* Take out the lanes that may not take part; make the others' windows. */
void
lt_lanes_open(struct decision *decision, const struct lt_planned *planned, uint32_t planned_count)
{
	const struct job *job = &decision->job;
	static const uint32_t starts_at_once =
	    LT_PIN_BEGIN | LT_PIN_HET | LT_PIN_RESERVATION | LT_PIN_DEPENDENCY | LT_PIN_LICENSES |
	    LT_PIN_BURST_BUFFER | LT_PIN_CRON | LT_PIN_INTERACTIVE;
	uint32_t kept = 0;

	if (planned_count > LT_PLANNED_MAX)
		planned_count = LT_PLANNED_MAX;
	lt_planned_sort(&decision->edges, planned, planned_count);
	for (uint32_t i = 0; i < decision->lane_count; i++) {
		struct lane *lane = &decision->lanes[i];
		struct lt_candidate *candidate = &decision->plan->candidates[lane->partition];
		double wanted, found;
		const enum lt_reject reject = lane_reject(decision, lane, &wanted, &found);

		if (reject != LT_REJECT_NONE) {
			lt_candidate_refuse(candidate, reject, wanted, found);
			show_candidate(decision, lane, job->earliest_utc_s);
			continue;
		}
		if (job->request->pins & starts_at_once && lane->latest_utc_s > job->earliest_utc_s)
			lane->latest_utc_s = job->earliest_utc_s;
		if (lane->partition == job->request->home) {
			decision->home.latest_utc_s = lane->latest_utc_s;
			decision->home_queued = has_queue(decision, lane);
		}
		if (!offer_starts(decision, lane))
			continue;
		lt_lane_keep_cost(&decision->spans, lane, job);
		if (lane->span_count == 0) {
			if (lane->partition != job->request->home)
				candidate->reject = LT_REJECT_MAX_COST;
			show_candidate(decision, lane, job->earliest_utc_s);
			continue;
		}
		show_candidate(decision, lane, decision->spans.list[lane->first_span].from_utc_s);
		if (kept != i)
			decision->lanes[kept] = *lane;
		kept++;
	}
	decision->lane_count = kept;
}
