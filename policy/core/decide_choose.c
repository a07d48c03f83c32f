/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of all lanes of a decision the best start, and the earliest that is good
 * enough: between decide.c, which says what is good, and decide_search.c, which
 * looks in one lane.
 */
#include "decide_internal.h"

/* No start of the lane makes it less. */
static double
bound(const struct decision *decision, const struct lane *lane,
    const struct linear *linear)
{
	return lt_search_bound(lane, linear, decision->job.now_utc_s,
	    decision->job.earliest_utc_s);
}

static bool
may_meet_caps(const struct decision *decision, const struct lane *lane,
    const struct aim *aim)
{
	for (uint32_t i = 0; i < aim->cap_count; i++)
		if (bound(decision, lane, &aim->caps[i].value) >
		    aim->caps[i].limit)
			return false;
	return true;
}

/* Lanes in the order of what they can reach at best, so that the first ones
 * rule the later ones out; of equals (one grid, one kind of node) the one that
 * meets its condition most easily. Insertion sort: a few hundred at most. */
void
lt_choose_order(struct decision *decision)
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
		    aim->cap_count == 0
			? 0
			: bound(decision, lane, &aim->caps[0].value)};

		for (; k > 0 && (ranks[k - 1].score > rank.score ||
				    (ranks[k - 1].score == rank.score &&
					ranks[k - 1].cap > rank.cap));
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

struct choice
lt_choose_best(const struct decision *decision, double limit)
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
			lt_lane_estimate(
			    &decision->plan->candidates[lane->partition].best,
			    lane, seen.start_utc_s);
		if (found.any && found.score < best.score)
			best = (struct choice){
			    lane, found.score, found.start_utc_s};
	}
	return best;
}

struct choice
lt_choose_earliest(
    const struct decision *decision, const struct choice *best, double limit)
{
	struct choice choice = *best;
	struct search before = {.capped = true};
	int64_t none_before_utc_s = 0;

	for (uint32_t i = 0; i < decision->order_count; i++) {
		const uint16_t at = decision->order[i];
		const struct lane *const lane = &decision->lanes[at];
		/* One second later, so that an equal start is found too. */
		const int64_t before_s =
		    choice.start_utc_s + (lane < choice.lane ? 1 : 0);
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
			choice = (struct choice){
			    lane, found.score, found.start_utc_s};
	}
	return choice;
}
