/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulator's queue of events, a binary heap. The order of equal events is part of the
 * simulator's figures: a change here that reverses it changes them.
 */
#include "events.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

static bool
is_before(const struct lt_sim_event *a, const struct lt_sim_event *b)
{
	return a->at_utc_s != b->at_utc_s ? a->at_utc_s < b->at_utc_s : a->rank < b->rank;
}

int
lt_sim_events_push(struct lt_sim_events *events, struct lt_sim_event event, struct lt_error *err)
{
	uint32_t at = events->count;

	if (at == events->room) {
		const uint32_t more = events->room * 2 + 64;
		struct lt_sim_event *const heap = realloc(events->heap, more * sizeof(*heap));

		if (heap == NULL)
			return lt_fail(err, LT_ENOMEM, "events: no memory");
		events->heap = heap;
		events->room = more;
	}
	events->count++;
	while (at > 0 && is_before(&event, &events->heap[(at - 1) / 2])) {
		events->heap[at] = events->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	events->heap[at] = event;
	return LT_OK;
}

struct lt_sim_event
lt_sim_events_pop(struct lt_sim_events *events)
{
	assert(events->count > 0);

	struct lt_sim_event *const heap = events->heap;
	const struct lt_sim_event first = heap[0];
	const struct lt_sim_event last = heap[--events->count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= events->count)
			break;
		if (child + 1 < events->count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

void
lt_sim_events_free(struct lt_sim_events *events)
{
	free(events->heap);
	*events = (struct lt_sim_events){0};
}
