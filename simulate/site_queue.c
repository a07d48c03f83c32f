/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events by time, and who has room: each partition has a line, whose head goes
 * first and others after it where they fit.
 */
#include <stdlib.h>

#include "site_internal.h"
#include "units.h"

/* Of sums of shares. */
static const double noise = 1e-6;

static bool
is_before(const struct lt_site_event *a, const struct lt_site_event *b)
{
	if (a->at_utc_s != b->at_utc_s)
		return a->at_utc_s < b->at_utc_s;
	return a->kind != b->kind ? a->kind < b->kind : a->job < b->job;
}

int
lt_site_push(struct lt_site_loop *loop, const struct lt_site_event *event,
    struct lt_error *err)
{
	uint32_t at = loop->event_count;

	if (at == loop->event_room) {
		const uint32_t more = loop->event_room * 2 + 64;
		struct lt_site_event *const heap =
		    realloc(loop->heap, more * sizeof(*heap));

		if (heap == NULL)
			return lt_fail(err, LT_ENOMEM, "events: no memory");
		loop->heap = heap;
		loop->event_room = more;
	}
	loop->event_count++;
	while (at > 0 && is_before(event, &loop->heap[(at - 1) / 2])) {
		loop->heap[at] = loop->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	loop->heap[at] = *event;
	return LT_OK;
}

struct lt_site_event
lt_site_pop(struct lt_site_loop *loop)
{
	const struct lt_site_event first = loop->heap[0];
	const struct lt_site_event last = loop->heap[--loop->event_count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= loop->event_count)
			break;
		if (child + 1 < loop->event_count &&
		    is_before(&loop->heap[child + 1], &loop->heap[child]))
			child++;
		if (!is_before(&loop->heap[child], &last))
			break;
		loop->heap[at] = loop->heap[child];
		at = child;
	}
	loop->heap[at] = last;
	return first;
}

void
lt_site_take(struct lt_site_loop *loop, uint32_t index)
{
	struct lt_site_job *const job = &loop->jobs[index];

	if (job->booked)
		return;
	job->booked = true;
	job->place = loop->taking_count;
	loop->taking[loop->taking_count++] = index;
}

void
lt_site_leave(struct lt_site_loop *loop, uint32_t index)
{
	struct lt_site_job *const job = &loop->jobs[index];

	if (!job->booked)
		return;
	const uint32_t last = loop->taking[--loop->taking_count];

	loop->taking[job->place] = last;
	loop->jobs[last].place = job->place;
	job->booked = false;
}

/* Of one that has run for so long, or will: lowtided knows no more. */
static int64_t
expected_s(const struct lt_site_loop *loop, uint32_t index, int64_t ran_s)
{
	const struct lt_site_run *const run = &loop->sim->site.runs[index];
	const double ratio = loop->jobs[index].length_ratio;
	/* A request is large: where its limit is said none is made. */
	const int64_t limit_s =
	    run->limit_s > 0
		? run->limit_s
		: lt_limit_of(
		      &(struct lt_request){.deadline_utc_s = LT_UNSET_64},
		      loop->sim->site.market, run->partition);
	const int64_t most_s =
	    limit_s > 0 ? limit_s : LT_FORECAST_HOURS * LT_HOUR_S;
	struct lt_expected expected = loop->sim->bases[index].learned;

	expected.expected_s = (int64_t)((double)expected.expected_s * ratio);
	expected.upper_s = (int64_t)((double)expected.upper_s * ratio);
	return lt_expected_length_s(&expected, ran_s, most_s);
}

struct lt_planned
lt_site_window(
    const struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s)
{
	const struct lt_site_job *const job = &loop->jobs[index];
	const bool runs = job->state == LT_SITE_RUNS;
	const int64_t start_s = runs			     ? job->start_utc_s
				: job->due_utc_s > now_utc_s ? job->due_utc_s
							     : now_utc_s;
	const int64_t end_s =
	    start_s + expected_s(loop, index, runs ? now_utc_s - start_s : 0);

	return (struct lt_planned){.partition = job->partition,
	    .nodes = (float)job->nodes,
	    .start_utc_s = runs ? now_utc_s : start_s,
	    .end_utc_s = end_s > now_utc_s ? end_s : now_utc_s + LT_HOUR_S};
}

static int64_t
length_there_s(const struct lt_site_loop *loop, uint32_t index)
{
	const struct lt_site_job *const job = &loop->jobs[index];
	const int64_t there_s =
	    (int64_t)((double)lt_site_length_s(&loop->sim->site.runs[index]) *
		      job->length_ratio * job->stretch);

	return there_s > 0 ? there_s : 1;
}

static bool
fits(const struct lt_site_loop *loop, const struct lt_site_job *job)
{
	const double has =
	    loop->sim->room[job->partition] >
		    loop->sim->site.market->partitions[job->partition]
			.node_count
		? loop->sim->room[job->partition]
		: loop->sim->site.market->partitions[job->partition].node_count;

	return loop->used[job->partition] + (double)job->nodes <= has + noise;
}

static int
start(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_site_job *const job = &loop->jobs[index];
	const bool was_booked = job->booked;

	loop->used[job->partition] += (double)job->nodes;
	job->state = LT_SITE_RUNS;
	job->start_utc_s = now_utc_s;
	job->end_utc_s = now_utc_s + length_there_s(loop, index);
	lt_site_take(loop, index);
	if (!was_booked) {
		const struct lt_planned window =
		    lt_site_window(loop, index, now_utc_s);

		lt_site_view_plan(loop->view, &window);
	}
	return lt_site_push(loop,
	    &(struct lt_site_event){job->end_utc_s, LT_SITE_ENDS, index}, err);
}

static int
get_in_line(struct lt_site_loop *loop, uint32_t index, struct lt_error *err)
{
	const uint16_t p = loop->jobs[index].partition;

	if (loop->queue_count[p] == loop->queue_room[p]) {
		const uint32_t more = loop->queue_room[p] * 2 + 16;
		uint32_t *const queue =
		    realloc(loop->queues[p], more * sizeof(*queue));

		if (queue == NULL)
			return lt_fail(err, LT_ENOMEM, "queue: no memory");
		loop->queues[p] = queue;
		loop->queue_room[p] = more;
	}
	loop->jobs[index].state = LT_SITE_IN_LINE;
	loop->queues[p][loop->queue_count[p]++] = index;
	loop->lines[p]++;
	return LT_OK;
}

int
lt_site_due(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	return fits(loop, &loop->jobs[index])
		   ? start(loop, index, now_utc_s, err)
		   : get_in_line(loop, index, err);
}

int
lt_site_end(struct lt_site_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	const uint16_t p = loop->jobs[index].partition;
	uint32_t kept = 0;

	loop->used[p] -= (double)loop->jobs[index].nodes;
	loop->jobs[index].state = LT_SITE_DONE;
	lt_site_leave(loop, index);
	for (uint32_t i = 0; i < loop->queue_count[p]; i++) {
		const uint32_t waits = loop->queues[p][i];

		if (!fits(loop, &loop->jobs[waits])) {
			loop->queues[p][kept++] = waits;
			continue;
		}
		loop->lines[p]--;
		if (start(loop, waits, now_utc_s, err) != LT_OK)
			return err->code;
	}
	loop->queue_count[p] = kept;
	return LT_OK;
}
