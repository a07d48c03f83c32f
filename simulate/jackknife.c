/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leave one week out (Quenouille 1956, Tukey 1958): weeks differ by weather
 * and by who computes, and runs of a week are no independent draws.
 */
#include "jackknife.h"

#include <math.h>

/* Student's t at 0.975 by degrees of freedom, from 1; of more the last, which
 * is a little wide. */
static const double quantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447,
    2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086};
enum { QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

struct sums {
	double saved, base;
	int weeks; /* with a base */
};

static struct sums
sums_of(const double *saved, const double *base, int count)
{
	struct sums sums = {0};

	for (int i = 0; i < count; i++) {
		sums.saved += saved[i];
		sums.base += base[i];
		sums.weeks += base[i] > 0;
	}
	return sums;
}

static double
part_without(const struct sums *sums, double saved, double base)
{
	return (sums->saved - saved) / (sums->base - base);
}

struct lt_jackknife
lt_jackknife_part(const double *saved, const double *base, int count)
{
	const struct sums sums = sums_of(saved, base, count);
	struct lt_jackknife out = {.has_part = sums.base > 0};
	double mean = 0, squares = 0;

	if (!out.has_part)
		return out;
	out.part = sums.saved / sums.base;
	if (sums.weeks < 2)
		return out;
	for (int i = 0; i < count; i++)
		if (base[i] > 0)
			mean +=
			    part_without(&sums, saved[i], base[i]) / sums.weeks;
	for (int i = 0; i < count; i++)
		if (base[i] > 0) {
			const double off =
			    part_without(&sums, saved[i], base[i]) - mean;

			squares += off * off;
		}
	const double t = quantiles[sums.weeks - 2 < QUANTILES ? sums.weeks - 2
							      : QUANTILES - 1];
	const double half = t * sqrt(squares * (sums.weeks - 1) / sums.weeks);

	out.has_interval = true;
	out.low = out.part - half;
	out.high = out.part + half;
	return out;
}
