/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the stretches of time, of several in a row, in which to work: the cheapest course where
 * work may stand still at any time. docs/model.md, eq. (24d).
 */
#ifndef LT_COURSE_H
#define LT_COURSE_H

#include <stdbool.h>
#include <stdint.h>

enum { LT_STRETCHES_MAX = 2048 }; /* 7 days of 5 min; later ones are left out */

struct lt_stretch {
	int64_t from_utc_s, to_utc_s; /* each begins where the last one ends */
	double runs, rests;	      /* what a second costs, at work or standing still */
	int64_t run_s;		      /* out: worked in it */
};

/*
 * Writes run_s of each, their sum is work_s. Of courses that cost the same the one that ends first,
 * and of that the earlier stretches. Returns what it costs until its end; INFINITY, and nothing
 * written: there is not as much time. order has room for count.
 */
double lt_course_least(
    struct lt_stretch *stretches, uint32_t count, int64_t work_s, uint16_t *order);

/* Returns the cost of working on without a rest. */
double lt_course_through(const struct lt_stretch *stretches, uint32_t count, int64_t work_s);

#endif
