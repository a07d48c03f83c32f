/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a partition has room: what is occupancy by the snapshot plus what was
 * planned since. A window that is cheap for one job is cheap for all, and
 * without this they would all be sent there. docs/model.md, eq. (17).
 */
#include <assert.h>
#include <string.h>

#include "decide_internal.h"

/* What is booked ends before that. */
static const int64_t room_horizon_s = 60 * LT_DAY_S;

static int64_t
edge_utc_s(const struct lt_planned *planned, uint16_t edge)
{
	const struct lt_planned *window = &planned[edge / 2];

	return edge % 2 == 0 ? window->start_utc_s : window->end_utc_s;
}

static bool
sorts_before(const struct lt_planned *planned, uint16_t a, uint16_t b)
{
	const uint16_t of_a = planned[a / 2].partition;
	const uint16_t of_b = planned[b / 2].partition;

	return of_a != of_b ? of_a < of_b
			    : edge_utc_s(planned, a) < edge_utc_s(planned, b);
}

/* Heap sort: qsort(3) may allocate. */
static void
sift(struct edges *sorted, uint32_t at, uint32_t count)
{
	uint16_t *const edges = sorted->list;
	const struct lt_planned *const planned = sorted->planned;

	for (;;) {
		uint32_t child = 2 * at + 1;
		const uint16_t moved = edges[at];

		if (child >= count)
			return;
		if (child + 1 < count &&
		    sorts_before(planned, edges[child], edges[child + 1]))
			child++;
		if (!sorts_before(planned, moved, edges[child]))
			return;
		edges[at] = edges[child];
		edges[child] = moved;
		at = child;
	}
}

void
lt_planned_sort(struct edges *edges, const struct lt_planned *planned,
    uint32_t planned_count)
{
	assert(planned_count <= LT_PLANNED_MAX);

	uint16_t *const list = edges->list;
	uint32_t count = 0;

	edges->planned = planned;
	/* A window that ends before it starts would never end. */
	for (uint32_t i = 0; i < planned_count; i++) {
		if (planned[i].end_utc_s <= planned[i].start_utc_s)
			continue;
		list[count++] = (uint16_t)(2 * i);
		list[count++] = (uint16_t)(2 * i + 1);
	}
	for (uint32_t i = count / 2; i-- > 0;)
		sift(edges, i, count);
	for (uint32_t last = count; last-- > 1;) {
		const uint16_t greatest = list[0];

		list[0] = list[last];
		list[last] = greatest;
		sift(edges, 0, last);
	}
	edges->count = count;
}

/* What is occupancy and planned in one partition, followed through time. */
struct profile {
	const struct lt_series *occupancy; /* NULL = none */
	uint32_t step;			   /* of occupancy, in force */
	const struct lt_planned *planned;
	const uint16_t *edges; /* of this partition, from next on */
	uint32_t next, count;
	double planned_nodes; /* in force */
};

static struct profile
profile_of(const struct lt_series *occupancy, int partition,
    const struct edges *sorted)
{
	const struct lt_planned *const planned = sorted->planned;
	const uint16_t *const edges = sorted->list;
	struct profile profile = {
	    .occupancy = occupancy, .planned = planned, .edges = edges};
	uint32_t low = 0, high = sorted->count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (planned[edges[middle] / 2].partition < partition)
			low = middle + 1;
		else
			high = middle;
	}
	profile.next = profile.count = low;
	while (profile.count < sorted->count &&
	       planned[edges[profile.count] / 2].partition == partition)
		profile.count++;
	return profile;
}

/* Go on to utc_s: the load from then until *next_utc_s. */
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
		profile->step = lt_series_index_in(
		    occupancy, utc_s, profile->step, occupancy->count - 1);
		load = occupancy->value[profile->step];
		if (profile->step + 1 < occupancy->count &&
		    occupancy->start_utc_s[profile->step + 1] < *next_utc_s)
			*next_utc_s = occupancy->start_utc_s[profile->step + 1];
	}
	return load + profile->planned_nodes;
}

static void
add_span(struct spans *spans, struct lane *lane, int64_t from_utc_s,
    int64_t to_utc_s)
{
	if (from_utc_s > to_utc_s || spans->count == SPANS_MAX)
		return;
	spans->list[spans->count++] = (struct span){from_utc_s, to_utc_s};
	lane->span_count++;
}

void
lt_lane_spans(struct spans *spans, struct lane *lane, const struct job *job,
    const struct edges *edges)
{
	assert(spans->count <= SPANS_MAX);
	assert(edges->count <= 2 * LT_PLANNED_MAX);

	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[lane->partition];
	/* The sums of what was added and taken away are off by some bits. */
	const double room = part->node_count + 1e-6 - lane->node_equivalents;
	const bool has_occupancy =
	    part->occupancy_series >= 0 &&
	    (uint32_t)part->occupancy_series < market->series_count &&
	    market->series[part->occupancy_series].count > 0;
	struct profile profile = profile_of(
	    has_occupancy ? &market->series[part->occupancy_series] : NULL,
	    lane->partition, edges);
	const int64_t end_utc_s = lane->latest_utc_s + lane->length_s;
	int64_t from_utc_s = job->earliest_utc_s;
	int64_t next_utc_s;

	lane->first_span = spans->count;
	lane->span_count = 0;
	for (int64_t at_utc_s = from_utc_s; at_utc_s < end_utc_s;
	     at_utc_s = next_utc_s) {
		if (load_from(&profile, at_utc_s, &next_utc_s) <= room)
			continue;
		/* Too full on [at, next): the window ends before or starts
		 * after. */
		add_span(spans, lane, from_utc_s, at_utc_s - lane->length_s);
		from_utc_s = next_utc_s;
	}
	add_span(spans, lane, from_utc_s, lane->latest_utc_s);
}

int64_t
lt_lane_first_room(struct spans *spans, const struct lane *lane,
    const struct job *job, const struct edges *edges)
{
	const uint32_t kept = spans->count;
	struct lane longer = *lane;

	longer.latest_utc_s = job->earliest_utc_s + room_horizon_s;
	lt_lane_spans(spans, &longer, job, edges);
	spans->count = kept;
	return longer.span_count > 0
		   ? spans->list[longer.first_span].from_utc_s
		   : job->earliest_utc_s;
}

bool
lt_lane_room_at_once(struct spans *spans, const struct lane *lane,
    const struct job *job, const struct edges *edges)
{
	const uint32_t kept = spans->count;
	struct lane moment = *lane;

	moment.latest_utc_s = job->earliest_utc_s;
	moment.length_s = 1;
	lt_lane_spans(spans, &moment, job, edges);
	spans->count = kept;
	return moment.span_count > 0;
}
