/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follows a wall clock that is set: each stamp that an interval is measured from, or at which
 * something is due, moves with it, so that intervals keep the length that the monotonic clock
 * shows.
 */
#ifndef LT_CLOCK_H
#define LT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct lt_daemon;

struct lt_clock {	    /* start as { 0 } */
	bool known, behind; /* behind: the ledger has still to follow */
	int64_t offset_ms;  /* wall clock minus monotonic clock */
	int64_t behind_by_s;
};

/* Returns the whole seconds by which the wall clock was set since the call before; 0 at the first
 * call, or if it was not set. Parts of a second add up. */
int64_t lt_clock_step(struct lt_clock *clock, int64_t wall_ms, int64_t monotonic_ms);

/* Moves all stamps when the clock was set: before each turn of the loop. */
void lt_clock_follow(struct lt_daemon *d, int64_t wall_ms, int64_t monotonic_ms);

#endif
