/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of all lanes of a decision the best start, and the earliest that is good
 * enough: between decide.c, which says what is good, and decide_search.c, which
 * looks in one lane.
 */
#include "decide_internal.h"

/* Lanes in the order of what they can reach at best, so that the first ones
 * rule the later ones out; of equals (one grid, one kind of node) the one that
 * meets its condition most easily. Insertion sort: a few hundred at most. */
void
lt_choose_order(struct decision *decision)
{
	const struct aim *const aims = decision->aims;
	uint16_t *const order = decision->order;
	const int64_t now_s = decision->job.now_utc_s;
	const int64_t earliest_s = decision->job.earliest_utc_s;

	struct rank {
		double score, cap;
	} ranks[LT_PARTITIONS_MAX];

	for (uint32_t i = 0; i < decision->lane_count; i++) {
		const struct lane *lane = &decision->lanes[i];
		const struct rank rank = {
		    lt_search_bound(lane, &aims[i].score, now_s, earliest_s),
		    aims[i].cap_count == 0
			? 0
			: lt_search_bound(
			      lane, &aims[i].caps[0].value, now_s, earliest_s),
		};
		uint32_t k = i;

		for (; k > 0 && (ranks[k - 1].score > rank.score ||
				    (ranks[k - 1].score == rank.score &&
					ranks[k - 1].cap > rank.cap));
		     k--) {
			ranks[k] = ranks[k - 1];
			order[k] = order[k - 1];
		}
		ranks[k] = rank;
		order[k] = (uint16_t)i;
	}
}

struct choice
lt_choose_best(const struct decision *decision, double limit)
{
	struct choice best = {.score = limit};
	struct search before = {.capped = true};
	struct found seen_before = {0};

	for (uint32_t i = 0; i < decision->lane_count; i++) {
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

	for (uint32_t i = 0; i < decision->lane_count; i++) {
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
		    .found = &found,
		};

		/* Nor can those behind it. */
		if (lt_search_bound(lane, &search.aim->score, search.now_utc_s,
			decision->job.earliest_utc_s) > limit)
			break;
		lt_search_lane(&search);
		if (found.start_utc_s < before_s)
			choice = (struct choice){
			    lane, found.score, found.start_utc_s};
	}
	return choice;
}
