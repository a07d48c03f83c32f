/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a partition has room: what is busy by the snapshot plus what was
 * planned since. A window that is cheap for one job is cheap for all, and
 * without this they would all be sent there. docs/model.md, eq. (17).
 */
#include <string.h>

#include "decide_internal.h"

static bool
sorts_before(const struct lt_planned *a, const struct lt_planned *b)
{
	return a->partition != b->partition ? a->partition < b->partition :
					      a->start_utc_s < b->start_utc_s;
}

/* Heap sort: qsort(3) may allocate. */
static void
sift(uint16_t *order, const struct lt_planned *planned, uint32_t at,
    uint32_t count)
{
	for (;;) {
		uint32_t child = 2 * at + 1;
		const uint16_t moved = order[at];

		if (child >= count)
			return;
		if (child + 1 < count &&
		    sorts_before(&planned[order[child]],
			&planned[order[child + 1]]))
			child++;
		if (!sorts_before(&planned[moved], &planned[order[child]]))
			return;
		order[at] = order[child];
		order[child] = moved;
		at = child;
	}
}

void
planned_sort(uint16_t *order, const struct lt_planned *planned,
    uint32_t planned_count)
{
	for (uint32_t i = 0; i < planned_count; i++)
		order[i] = (uint16_t)i;
	for (uint32_t i = planned_count / 2; i-- > 0;)
		sift(order, planned, i, planned_count);
	for (uint32_t last = planned_count; last-- > 1;) {
		const uint16_t greatest = order[0];

		order[0] = order[last];
		order[last] = greatest;
		sift(order, planned, 0, last);
	}
}

/* The planned windows of one partition, read in order of time. */
struct profile {
	const struct lt_series *busy; /* NULL = none */
	const struct lt_planned *planned;
	const uint16_t *order;
	uint32_t first, end; /* in order */
};

static double
load_at(const struct profile *profile, int64_t utc_s)
{
	double load = profile->busy ? lt_series_at(profile->busy, utc_s) : 0;

	for (uint32_t i = profile->first; i < profile->end; i++) {
		const struct lt_planned *window =
		    &profile->planned[profile->order[i]];

		if (window->start_utc_s > utc_s)
			break;
		if (window->end_utc_s > utc_s)
			load += (double)window->nodes;
	}
	return load;
}

/* The next time after utc_s at which the load may change. */
static int64_t
next_change(const struct profile *profile, int64_t utc_s)
{
	int64_t next = INT64_MAX;

	if (profile->busy) {
		const uint32_t i = lt_series_index(profile->busy, utc_s);

		if (profile->busy->start_utc_s[i] > utc_s)
			next = profile->busy->start_utc_s[i];
		else if (i + 1 < profile->busy->count)
			next = profile->busy->start_utc_s[i + 1];
	}
	for (uint32_t i = profile->first; i < profile->end; i++) {
		const struct lt_planned *window =
		    &profile->planned[profile->order[i]];

		if (window->start_utc_s > utc_s) {
			if (window->start_utc_s < next)
				next = window->start_utc_s;
			break;
		}
		if (window->end_utc_s > utc_s && window->end_utc_s < next)
			next = window->end_utc_s;
	}
	return next;
}

static void
find_planned(struct profile *profile, int partition, uint32_t planned_count)
{
	uint32_t low = 0, high = planned_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (profile->planned[profile->order[middle]].partition <
		    partition)
			low = middle + 1;
		else
			high = middle;
	}
	profile->first = profile->end = low;
	while (profile->end < planned_count &&
	    profile->planned[profile->order[profile->end]].partition ==
		partition)
		profile->end++;
}

static void
add_span(struct lane *lane, struct span *spans, uint32_t *span_count,
    int64_t from_utc_s, int64_t to_utc_s)
{
	if (from_utc_s > to_utc_s || *span_count == SPANS_MAX)
		return;
	spans[(*span_count)++] = (struct span){ from_utc_s, to_utc_s };
	lane->span_count++;
}

void
lane_spans(struct lane *lane, const struct job *job, struct span *spans,
    uint32_t *span_count, const struct lt_planned *planned,
    const uint16_t *order, uint32_t planned_count)
{
	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[lane->partition];
	const double room = part->node_count + 1e-6 - lane->node_equivalents;
	struct profile profile = { .planned = planned, .order = order };
	int64_t from_utc_s = job->earliest_utc_s;
	int64_t at_utc_s = from_utc_s, next_utc_s;
	const int64_t end_utc_s = lane->latest_utc_s + lane->length_s;

	lane->first_span = *span_count;
	lane->span_count = 0;
	if (part->busy_series >= 0 &&
	    (uint32_t)part->busy_series < market->series_count &&
	    market->series[part->busy_series].count > 0)
		profile.busy = &market->series[part->busy_series];
	find_planned(&profile, lane->partition, planned_count);
	for (; at_utc_s < end_utc_s; at_utc_s = next_utc_s) {
		next_utc_s = next_change(&profile, at_utc_s);
		if (load_at(&profile, at_utc_s) <= room)
			continue;
		/* Too full on [at, next): the window ends before or starts
		 * after. */
		add_span(lane, spans, span_count, from_utc_s,
		    at_utc_s - lane->length_s);
		from_utc_s = next_utc_s;
	}
	add_span(lane, spans, span_count, from_utc_s, lane->latest_utc_s);
}
