/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures what moving saved against the jobs that were held out. docs/model.md, eq. (59).
 */
#ifndef LT_MEASURED_H
#define LT_MEASURED_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_measured_user { /* and one period of the draw */
	bool is_kept;
	double baseline; /* of his jobs: what they are compared by */
	double charged;
};

/* Users of the smaller side that an interval needs; with fewer, chance alone decides too much. */
enum { LT_MEASURED_LEAST = 5 };

struct lt_measured {
	bool has_ratio; /* what moved cost over what it would have at home */
	double ratio;
	bool has_interval; /* 95 % */
	double low, high;
};

/*
 * The ratio of charges to baselines where lowtide moved over where it kept, and
 * by an exact randomization test the ratios that chance in the draw does not
 * contradict. all has count users, in any order; who has a negative
 * baseline, or neither that nor a charge, counts for nothing. The same input
 * gives the same result. LT_ENOMEM. Pure. Source: Fisher 1935; Ernst,
 * Statistical Science 19:676 (2004).
 */
int lt_measure(struct lt_measured *measured, const struct lt_measured_user *all, uint32_t count,
    struct lt_error *err);

#endif
