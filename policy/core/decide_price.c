/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node-hour may cost: starts whose run would be dearer on average are no
 * starts. After the room of decide_capacity.c, before the search.
 * docs/model.md, eq. (22a).
 */
#include <math.h>
#include <string.h>

#include "decide_internal.h"

static const double rounding_micros = 0.5; /* as of --max-cost */

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

/* The first second after it in which the window begins or ends in another step
 * of the price: until then the mean is linear. */
static int64_t
next_bend(const struct lane *lane, int64_t start_utc_s)
{
	const struct lt_series *const series = lane->series[TERM_PRICE];
	int64_t next_utc_s = INT64_MAX;

	for (uint32_t e = 0; e <= lane->length_count; e++) {
		const int64_t ahead_s =
		    e < lane->length_count ? lane->lengths_s[e] : 0;
		const uint32_t step =
		    lt_series_index(series, start_utc_s + ahead_s);

		if (step + 1 < series->count &&
		    series->start_utc_s[step + 1] - ahead_s < next_utc_s)
			next_utc_s = series->start_utc_s[step + 1] - ahead_s;
	}
	return next_utc_s;
}

/* Between a start that is too dear and one that is not, on a line: the last
 * second that is as `from` is. */
static int64_t
last_alike(const struct job *job, const struct lane *lane, int64_t from_utc_s,
    int64_t to_utc_s)
{
	const bool dear =
	    lt_is_too_dear(job, lt_lane_mean_price(lane, from_utc_s));

	while (to_utc_s - from_utc_s > 1) {
		const int64_t middle = from_utc_s + (to_utc_s - from_utc_s) / 2;

		if (lt_is_too_dear(job, lt_lane_mean_price(lane, middle)) ==
		    dear)
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

/* Of one span with room those starts that are not too dear. */
static void
keep_of(struct keeper *keeper, const struct span *span, const struct job *job,
    const struct lane *lane, double *least)
{
	int64_t at = span->from_utc_s;
	double mean = lt_lane_mean_price(lane, at);

	keeper->is_open = false;
	*least = fmin(*least, mean);
	if (!lt_is_too_dear(job, mean))
		keep(keeper, at, at);
	while (at < span->to_utc_s) {
		const int64_t bend = next_bend(lane, at);
		const int64_t next =
		    bend < span->to_utc_s ? bend : span->to_utc_s;
		const bool was_dear = lt_is_too_dear(job, mean);

		mean = lt_lane_mean_price(lane, next);
		*least = fmin(*least, mean);
		const bool is_dear = lt_is_too_dear(job, mean);
		if (!was_dear)
			keep(keeper, at,
			    is_dear ? last_alike(job, lane, at, next) : next);
		else if (!is_dear)
			keep(keeper, last_alike(job, lane, at, next) + 1, next);
		keeper->is_open &= !is_dear;
		at = next;
	}
}

double
lt_lane_keep_price(
    struct spans *spans, struct lane *lane, const struct job *job)
{
	struct span *const own = &spans->list[lane->first_span];
	struct keeper keeper = {.spans = spans};
	double least = INFINITY;

	if (job->max_price_micros == 0 || lane->series[TERM_PRICE] == NULL ||
	    lane->span_count == 0)
		return 0;
	for (uint32_t i = 0; i < lane->span_count; i++)
		keep_of(&keeper, &own[i], job, lane, &least);
	memmove(own, &spans->list[spans->count], keeper.count * sizeof(*own));
	lane->span_count = keeper.count;
	spans->count = lane->first_span + keeper.count;
	return least;
}
