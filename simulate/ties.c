/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In which order GAIA looks at jobs that came in one tick: it takes all of a
 * Python priority queue out and puts them into a new one, each tick, and a heap
 * turns equals around. Who of them gets a reserved CPU depends on it, and so
 * do its published figures.
 *
 * Taken out in order, they are put in so, and the heap's list is that order.
 * So each tick turns the places of the list by one and the same permutation,
 * and many ticks by a power of it.
 */
#include <stdlib.h>

#include "internal.h"

/* heapq.heappop() of a list of places; equals: the right child goes up. */
static uint32_t
pop(uint32_t *heap, uint32_t count, const int64_t *rank)
{
	const uint32_t first = heap[0], last = heap[count - 1];
	const uint32_t left = count - 1;
	uint32_t at = 0, child = 1;

	if (left == 0)
		return first;
	/* The hole goes down to a leaf, and the last one up from there. */
	while (child < left) {
		if (child + 1 < left &&
		    !(rank[heap[child]] < rank[heap[child + 1]]))
			child++;
		heap[at] = heap[child];
		at = child;
		child = 2 * at + 1;
	}
	while (at > 0 && rank[last] < rank[heap[(at - 1) / 2]]) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = last;
	return first;
}

static bool
has_ties(const int64_t *rank, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (rank[i] == rank[i - 1])
			return true;
	return false;
}

int
lt_sim_turn_ties(
    uint32_t *list, const int64_t *rank, uint32_t count, int64_t times)
{
	uint32_t *room, *heap, *taken, *turned;

	if (times <= 0 || !has_ties(rank, count))
		return LT_OK;
	room = malloc(3 * (size_t)count * sizeof(*room));
	if (room == NULL)
		return LT_ENOMEM;
	heap = room;
	taken = room + count;
	turned = room + 2 * (size_t)count;
	for (uint32_t i = 0; i < count; i++)
		heap[i] = i;
	/* taken[i]: from which place comes the one that is i-th now? */
	for (uint32_t i = 0; i < count; i++)
		taken[i] = pop(heap, count - i, rank);
	for (uint32_t i = 0; i < count; i++) {
		int64_t round = 1, left;
		uint32_t at = taken[i];

		for (; at != i; at = taken[at])
			round++;
		for (left = times % round; left > 0; left--)
			at = taken[at];
		turned[i] = list[at];
	}
	for (uint32_t i = 0; i < count; i++)
		list[i] = turned[i];
	free(room);
	return LT_OK;
}
