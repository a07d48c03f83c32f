/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node-hour and what the job may cost: starts whose run would be dearer
 * are no starts. After the room of decide_capacity.c, before the search.
 * docs/model.md, eqs. (22) and (22a).
 */
#include <math.h>
#include <string.h>

#include "decide_internal.h"

static const double rounding_micros = 0.5;

double
lt_lane_mean_price(const struct lane *lane, int64_t start_utc_s)
{
	double integral[TERM_COUNT];

	if (lane->series[TERM_PRICE] == NULL || !(lane->mean_h > 0))
		return 0;
	lt_lane_integrals(integral, lane, start_utc_s);
	return integral[TERM_PRICE] / lane->mean_h;
}

bool
lt_is_too_dear(const struct job *job, double mean_micros)
{
	return job->max_price_micros > 0 &&
	       mean_micros > (double)job->max_price_micros + rounding_micros;
}

bool
lt_is_over_cost(const struct lt_request *request, const struct lt_estimate *at)
{
	return request->max_cost_micros != LT_UNSET_64 && at->has_cost &&
	       at->most_micros > request->max_cost_micros;
}

/* Of a window, to be at most so much: linear in the start until the window
 * begins or ends in another step of what it depends on. */
struct bound {
	const struct lane *lane; /* whose window */
	struct linear value;
	double most;
};

static double
value_at(const struct bound *bound, int64_t start_utc_s)
{
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, bound->lane, start_utc_s);
	return lt_linear_value(&bound->value, integral, 0);
}

/* The first second after it in which that is so. */
static int64_t
next_bend(const struct bound *bound, int64_t start_utc_s)
{
	const struct lane *const lane = bound->lane;
	int64_t next_utc_s = INT64_MAX;

	for (int t = 0; t < TERM_COUNT; t++)
		for (uint32_t e = 0; e <= lane->length_count; e++) {
			const struct lt_series *const series = lane->series[t];
			const int64_t ahead_s =
			    e < lane->length_count ? lane->lengths_s[e] : 0;

			if (series == NULL || bound->value.weight[t] == 0)
				break;
			const uint32_t step =
			    lt_series_index(series, start_utc_s + ahead_s);
			if (step + 1 < series->count &&
			    series->start_utc_s[step + 1] - ahead_s <
				next_utc_s)
				next_utc_s =
				    series->start_utc_s[step + 1] - ahead_s;
		}
	return next_utc_s;
}

/* Between a start that is beyond it and one that is not, on a line: the last
 * second that is as `from` is. */
static int64_t
last_alike(const struct bound *bound, int64_t from_utc_s, int64_t to_utc_s)
{
	const bool beyond = value_at(bound, from_utc_s) > bound->most;

	while (to_utc_s - from_utc_s > 1) {
		const int64_t middle = from_utc_s + (to_utc_s - from_utc_s) / 2;

		if ((value_at(bound, middle) > bound->most) == beyond)
			from_utc_s = middle;
		else
			to_utc_s = middle;
	}
	return from_utc_s;
}

struct keeper { /* of the starts that are kept, behind all others */
	struct spans *spans;
	uint32_t count;
	bool is_open; /* the last one goes on */
};

static void
keep(struct keeper *keeper, int64_t from_utc_s, int64_t to_utc_s)
{
	struct spans *const spans = keeper->spans;
	struct span *const list = &spans->list[spans->count];

	if (keeper->is_open) {
		list[keeper->count - 1].to_utc_s = to_utc_s;
	} else if (spans->count + keeper->count < SPANS_MAX) {
		list[keeper->count++] = (struct span){from_utc_s, to_utc_s};
		keeper->is_open = true;
	}
}

/* Of one span with room those starts that are within the bound. */
static void
keep_of(struct keeper *keeper, const struct span *span,
    const struct bound *bound, double *least)
{
	int64_t at = span->from_utc_s;
	double value = value_at(bound, at);

	keeper->is_open = false;
	*least = fmin(*least, value);
	if (value <= bound->most)
		keep(keeper, at, at);
	while (at < span->to_utc_s) {
		const int64_t bend = next_bend(bound, at);
		const int64_t next =
		    bend < span->to_utc_s ? bend : span->to_utc_s;
		const bool was_beyond = value > bound->most;

		value = value_at(bound, next);
		*least = fmin(*least, value);
		const bool is_beyond = value > bound->most;
		if (!was_beyond)
			keep(keeper, at,
			    is_beyond ? last_alike(bound, at, next) : next);
		else if (!is_beyond)
			keep(keeper, last_alike(bound, at, next) + 1, next);
		keeper->is_open &= !is_beyond;
		at = next;
	}
}

/* The least of all that were looked at. */
static double
keep_within(struct spans *spans, struct lane *lane, const struct bound *bound)
{
	struct span *const own = &spans->list[lane->first_span];
	struct keeper keeper = {.spans = spans};
	double least = INFINITY;

	for (uint32_t i = 0; i < lane->span_count; i++)
		keep_of(&keeper, &own[i], bound, &least);
	memmove(own, &spans->list[spans->count], keeper.count * sizeof(*own));
	lane->span_count = keeper.count;
	spans->count = lane->first_span + keeper.count;
	return least;
}

double
lt_lane_keep_price(
    struct spans *spans, struct lane *lane, const struct job *job)
{
	struct bound bound = {.lane = lane,
	    .most = (double)job->max_price_micros + rounding_micros};

	if (job->max_price_micros == 0 || lane->series[TERM_PRICE] == NULL ||
	    lane->span_count == 0 || !(lane->mean_h > 0))
		return 0;
	bound.value.weight[TERM_PRICE] = 1 / lane->mean_h;
	return keep_within(spans, lane, &bound);
}

void
lt_lane_keep_cost(struct spans *spans, struct lane *lane, const struct job *job)
{
	const int64_t most_micros = job->request->max_cost_micros;
	struct lane sure;

	if (most_micros == LT_UNSET_64 || !lane->has_charged)
		return;
	lt_lane_sure(&sure, lane);
	const struct bound bound = {.lane = &sure,
	    .value = sure.charged,
	    .most = (double)most_micros + rounding_micros};
	(void)keep_within(spans, lane, &bound);
}
