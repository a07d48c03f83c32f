/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a partition has room for a job. Starts with occupancy from the
 * snapshot and adds what was planned since: without that, all jobs would be
 * sent to the same cheap window; docs/model.md, eq. (17). Starts that would
 * cost more than the job or its node-hours may cost are then removed; eqs.
 * (22) and (22a).
 *
 * Also the figures of a job that stays at home and waits in line there. The end of the line is
 * known from time limits, which are too long: the job may start at any hour until then, and Slurm
 * asks nobody before it starts it. So either the expected start becomes its begin time, or its
 * figures cover all these hours.
 *
 * Writes spans of possible starts into each lane. Never fails; a full table
 * of spans drops the last ones.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "decide_internal.h"

/* ---- Room ---- */

/* Bookings end before that. */
static const int64_t room_horizon_s = 60 * LT_DAY_S;

static int64_t
edge_utc_s(const struct lt_planned *planned, uint16_t edge)
{
	const struct lt_planned *window = &planned[edge / 2];

	return edge % 2 == 0 ? window->start_utc_s : window->end_utc_s;
}

/* A key to sort by and, below it, the edge itself. */
enum {
	EDGE_BITS = 13,
	TIME_BITS = 43, /* 140,000 years to either side of 1970 */
	DIGIT_BITS = 8,
	DIGITS = 1 << DIGIT_BITS,
};
_Static_assert(
    2 * LT_PLANNED_MAX <= 1 << EDGE_BITS && LT_PARTITIONS_MAX <= 1 << (64 - EDGE_BITS - TIME_BITS),
    "a key holds partition, time and edge");

static uint64_t
key_of(const struct lt_planned *planned, uint16_t edge)
{
	static const int64_t half = (int64_t)1 << (TIME_BITS - 1);
	const int64_t at_s = edge_utc_s(planned, edge);
	const int64_t time = at_s < -half ? -half : at_s >= half ? half - 1 : at_s;

	return (uint64_t)planned[edge / 2].partition << (TIME_BITS + EDGE_BITS) |
	       (uint64_t)(time + half) << EDGE_BITS | edge;
}

/* Sorts by one digit of all keys; keys that are equal in it keep their order. */
static void
sort_digit(uint64_t *to, const uint64_t *from, uint32_t count, int shift)
{
	uint32_t first[DIGITS] = {0}, sum = 0;

	for (uint32_t i = 0; i < count; i++)
		first[from[i] >> shift & (DIGITS - 1)]++;
	for (int d = 0; d < DIGITS; d++) {
		const uint32_t here = first[d];

		first[d] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < count; i++)
		to[first[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

/* Radix sort: where thousands wait, each of them is decided beside the windows of all others, and
 * comparing these took most of the time. qsort(3) may allocate. */
void
lt_planned_sort(struct edges *edges, const struct lt_planned *planned, uint32_t planned_count)
{
	assert(planned_count <= LT_PLANNED_MAX);

	uint64_t *from = edges->keys[0], *to = edges->keys[1];
	uint64_t differ = 0;
	uint32_t count = 0;

	edges->planned = planned;
	/* A window that ends before it starts would never end; one without nodes is in nobody's
	 * way. */
	for (uint32_t i = 0; i < planned_count; i++) {
		if (planned[i].end_utc_s <= planned[i].start_utc_s ||
		    planned[i].partition >= LT_PARTITIONS_MAX || planned[i].nodes == 0)
			continue;
		from[count++] = key_of(planned, (uint16_t)(2 * i));
		from[count++] = key_of(planned, (uint16_t)(2 * i + 1));
		differ |= (from[count - 2] ^ from[0]) | (from[count - 1] ^ from[0]);
	}
	for (int shift = EDGE_BITS; shift < 64; shift += DIGIT_BITS) {
		uint64_t *const sorted = to;

		if ((differ >> shift & (DIGITS - 1)) == 0)
			continue;
		sort_digit(to, from, count, shift);
		to = from;
		from = sorted;
	}
	uint32_t begun = 0; /* partitions that have their first */

	for (uint32_t i = 0; i < count; i++) {
		edges->list[i] = (uint16_t)(from[i] & ((1 << EDGE_BITS) - 1));
		while (begun <= from[i] >> (TIME_BITS + EDGE_BITS))
			edges->first[begun++] = (uint16_t)i;
	}
	while (begun <= LT_PARTITIONS_MAX)
		edges->first[begun++] = (uint16_t)count;
	edges->count = count;
}

/* Occupancy and planned jobs in one partition, followed through time. */
struct profile {
	const struct lt_series *occupancy; /* NULL = none */
	uint32_t step;			   /* of occupancy, in force */
	const struct lt_planned *planned;
	const uint16_t *edges; /* of this partition, from next on */
	uint32_t next, count;
	double planned_nodes; /* in force */
};

static struct profile
profile_of(const struct lt_series *occupancy, int partition, const struct edges *sorted)
{
	return (struct profile){.occupancy = occupancy,
	    .planned = sorted->planned,
	    .edges = sorted->list,
	    .next = sorted->first[partition],
	    .count = sorted->first[partition + 1]};
}

/* The step at utc_s, at or after `step`: the next one more often than not. */
static uint32_t
step_from(const struct lt_series *series, uint32_t step, int64_t utc_s)
{
	const uint32_t last = series->count - 1;

	if (step == last || series->start_utc_s[step + 1] > utc_s)
		return step;
	step++;
	return step == last || series->start_utc_s[step + 1] > utc_s
		   ? step
		   : lt_series_index_in(series, utc_s, step, last);
}

/* Moves on to utc_s; returns the load from then until *next_utc_s. */
static double
load_from(struct profile *profile, int64_t utc_s, int64_t *next_utc_s)
{
	double load = 0;

	*next_utc_s = INT64_MAX;
	for (; profile->next < profile->count; profile->next++) {
		const uint16_t edge = profile->edges[profile->next];
		const double nodes = (double)profile->planned[edge / 2].nodes;

		if (edge_utc_s(profile->planned, edge) > utc_s) {
			*next_utc_s = edge_utc_s(profile->planned, edge);
			break;
		}
		profile->planned_nodes += edge % 2 == 0 ? nodes : -nodes;
	}
	if (profile->occupancy != NULL) {
		const struct lt_series *occupancy = profile->occupancy;

		/* The first step is in force before its own start too. */
		profile->step = step_from(occupancy, profile->step, utc_s);
		load = occupancy->value[profile->step];
		if (profile->step + 1 < occupancy->count &&
		    occupancy->start_utc_s[profile->step + 1] < *next_utc_s)
			*next_utc_s = occupancy->start_utc_s[profile->step + 1];
	}
	return load + profile->planned_nodes;
}

static void
add_span(struct spans *spans, struct lane *lane, int64_t from_utc_s, int64_t to_utc_s)
{
	if (from_utc_s > to_utc_s || spans->count == SPANS_MAX)
		return;
	spans->list[spans->count++] = (struct span){from_utc_s, to_utc_s};
	lane->span_count++;
}

void
lt_lane_spans(
    struct spans *spans, struct lane *lane, const struct job *job, const struct edges *edges)
{
	assert(spans->count <= SPANS_MAX);
	assert(edges->count <= 2 * LT_PLANNED_MAX);

	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[lane->partition];
	/* Sums of added and removed nodes are off by some bits. */
	const double room = part->node_count + 1e-6 - lane->node_equivalents;
	const bool has_occupancy = part->occupancy_series >= 0 &&
				   (uint32_t)part->occupancy_series < market->series_count &&
				   market->series[part->occupancy_series].count > 0;
	struct profile profile = profile_of(
	    has_occupancy ? &market->series[part->occupancy_series] : NULL, lane->partition, edges);
	const int64_t end_utc_s = lane->latest_utc_s + lane->length_s;
	int64_t from_utc_s = job->earliest_utc_s;
	int64_t next_utc_s;

	lane->first_span = spans->count;
	lane->span_count = 0;
	for (int64_t at_utc_s = from_utc_s; at_utc_s < end_utc_s; at_utc_s = next_utc_s) {
		if (load_from(&profile, at_utc_s, &next_utc_s) <= room)
			continue;
		/* Too full on [at, next): the window ends before or starts after. */
		add_span(spans, lane, from_utc_s, at_utc_s - lane->length_s);
		from_utc_s = next_utc_s;
	}
	add_span(spans, lane, from_utc_s, lane->latest_utc_s);
}

int64_t
lt_lane_first_room(
    struct spans *spans, const struct lane *lane, const struct job *job, const struct edges *edges)
{
	const uint32_t kept = spans->count;
	struct lane longer = *lane;

	longer.latest_utc_s = job->earliest_utc_s + room_horizon_s;
	lt_lane_spans(spans, &longer, job, edges);
	spans->count = kept;
	return longer.span_count > 0 ? spans->list[longer.first_span].from_utc_s
				     : job->earliest_utc_s;
}

bool
lt_lane_room_at_once(
    struct spans *spans, const struct lane *lane, const struct job *job, const struct edges *edges)
{
	const uint32_t kept = spans->count;
	struct lane moment = *lane;

	moment.latest_utc_s = job->earliest_utc_s;
	moment.length_s = 1;
	lt_lane_spans(spans, &moment, job, edges);
	spans->count = kept;
	return moment.span_count > 0;
}

/* ---- The line at home ---- */

enum { LOOKS = 96 }; /* at the line: every quarter of an hour of a day */

static void
widen(struct lt_line *line, const struct lt_estimate *at)
{
	if (!line->known || at->cost_micros < line->least_micros)
		line->least_micros = at->cost_micros;
	if (!line->known || at->cost_micros > line->most_micros)
		line->most_micros = at->cost_micros;
	if (!line->known || at->carbon_mg < line->least_mg)
		line->least_mg = at->carbon_mg;
	if (!line->known || at->carbon_mg > line->most_mg)
		line->most_mg = at->carbon_mg;
	line->known = true;
}

void
lt_decision_line(const struct decision *decision)
{
	struct lt_line *const line = &decision->plan->line;
	const int64_t from_utc_s = decision->job.earliest_utc_s;
	const int64_t length_s = decision->home_utc_s - from_utc_s;
	double worst = -INFINITY;

	*line = (struct lt_line){.waits = true};
	if (!decision->home_queued || length_s <= 0)
		return;
	for (int64_t i = 0; i <= LOOKS; i++) {
		const int64_t start_utc_s = from_utc_s + length_s * i / LOOKS;
		struct lt_estimate at;

		lt_lane_estimate(&at, &decision->home, start_utc_s);
		widen(line, &at);
		worst = fmax(worst, lt_score_at(decision, &decision->home, start_utc_s));
	}
	const double saved = worst - lt_score_at(decision, &decision->home, decision->home_utc_s);
	const double least = fabs(worst) * decision->job.market->min_saving_ppm / LT_MICROS;

	line->waits = !(saved > fmax(least, lt_score_tolerance(worst)));
}

/* ---- Price and cost limits ---- */

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

/* A function of a window that must be at most a limit: linear in the start until the window begins
 * or ends in another step of its series. */
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
			const int64_t ahead_s = e < lane->length_count ? lane->lengths_s[e] : 0;

			if (series == NULL || bound->value.weight[t] == 0)
				break;
			const uint32_t step = lt_series_index(series, start_utc_s + ahead_s);
			if (step + 1 < series->count &&
			    series->start_utc_s[step + 1] - ahead_s < next_utc_s)
				next_utc_s = series->start_utc_s[step + 1] - ahead_s;
		}
	return next_utc_s;
}

/* Between a start that is beyond it and one that is not, on a line: the last second that is as
 * `from` is. */
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
	bool is_open; /* the last one is extended */
};

static void
keep_span(struct keeper *keeper, int64_t from_utc_s, int64_t to_utc_s)
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

/* Keeps the starts of one span with room that are within the bound. */
static void
keep_of(struct keeper *keeper, const struct span *span, const struct bound *bound, double *least)
{
	int64_t at = span->from_utc_s;
	double value = value_at(bound, at);

	keeper->is_open = false;
	*least = fmin(*least, value);
	if (value <= bound->most)
		keep_span(keeper, at, at);
	while (at < span->to_utc_s) {
		const int64_t bend = next_bend(bound, at);
		const int64_t next = bend < span->to_utc_s ? bend : span->to_utc_s;
		const bool was_beyond = value > bound->most;

		value = value_at(bound, next);
		*least = fmin(*least, value);
		const bool is_beyond = value > bound->most;
		if (!was_beyond)
			keep_span(keeper, at, is_beyond ? last_alike(bound, at, next) : next);
		else if (!is_beyond)
			keep_span(keeper, last_alike(bound, at, next) + 1, next);
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
lt_lane_keep_price(struct spans *spans, struct lane *lane, const struct job *job)
{
	struct bound bound = {
	    .lane = lane, .most = (double)job->max_price_micros + rounding_micros};

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
	const struct bound bound = {
	    .lane = &sure, .value = sure.charged, .most = (double)most_micros + rounding_micros};
	(void)keep_within(spans, lane, &bound);
}
