/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the benches of the simulators: numbers from a seed, a clock, and an end where something
 * fails.
 */
#ifndef LT_BENCH_DRAWN_H
#define LT_BENCH_DRAWN_H

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t drawn_seed = 1;

/* From 0 up to 1. */
static inline double
fraction(void)
{
	drawn_seed ^= drawn_seed << 13;
	drawn_seed ^= drawn_seed >> 7;
	drawn_seed ^= drawn_seed << 17;
	return (double)(drawn_seed >> 11) / 9007199254740992.0;
}

static inline double
normal(void)
{
	return sqrt(-2 * log(1 - fraction())) * cos(6.2831853 * fraction());
}

static inline double
seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(1);
}

#endif
