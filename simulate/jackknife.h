/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a sum with its interval, from sums of weeks.
 */
#ifndef LT_SIM_JACKKNIFE_H
#define LT_SIM_JACKKNIFE_H

#include <stdbool.h>

struct lt_jackknife {
	bool has_part;	   /* there was something to save of */
	double part;	   /* of all: sum of saved over sum of base */
	bool has_interval; /* two weeks or more */
	double low, high;  /* 95 % */
};

/*
 * Leave one week out: p(-w) = (S - s_w) / (B - b_w), variance
 * (n - 1) / n x sum of (p(-w) - their mean)^2, interval p +- t(0.975, n - 1) x
 * its root. A week without base is no week. docs/model.md, (61).
 *
 *   saved, base  of `count` weeks, any unit; may be negative
 */
struct lt_jackknife lt_jackknife_part(
    const double *saved, const double *base, int count);

#endif
