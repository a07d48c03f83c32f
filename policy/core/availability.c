/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the figures of a table of waits. docs/model.md, eq. (15d).
 */
#include <assert.h>
#include <math.h>

#include "availability.h"

enum { HOUR_S = 3600 };

const uint32_t lt_wait_works_s[LT_WAIT_WORKS] = {0, 1 * HOUR_S, 2 * HOUR_S,
    4 * HOUR_S, 8 * HOUR_S, 16 * HOUR_S, 32 * HOUR_S, 64 * HOUR_S, 128 * HOUR_S,
    256 * HOUR_S};
const uint32_t lt_wait_costs_s[LT_WAIT_COSTS] = {0, 600, 2400};
const double lt_wait_chances[LT_WAIT_CHANCES] = {
    0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003, 0.001};

/* Beyond b too; what was never seen is as long as b or a is. */
static double
between(double a, double b, double part)
{
	if (part <= 0 || isinf(a))
		return a;
	return isinf(b) ? b : a + part * (b - a);
}

static double
seconds(uint32_t figure)
{
	return figure == LT_WAIT_UNKNOWN ? INFINITY : (double)figure;
}

/* By the logarithm of the chance; beyond the last it goes on as before. */
static double
passed(const struct lt_wait *wait, double chance)
{
	int next = 1;

	if (chance >= lt_wait_chances[0])
		return seconds(wait->passed_s[0]);
	while (next < LT_WAIT_CHANCES - 1 && chance < lt_wait_chances[next])
		next++;
	return between(seconds(wait->passed_s[next - 1]),
	    seconds(wait->passed_s[next]),
	    log(chance / lt_wait_chances[next - 1]) /
		log(lt_wait_chances[next] / lt_wait_chances[next - 1]));
}

/* Of one need and cost, by the work; chance 0: the mean. */
static double
by_work(
    const struct lt_wait *waits, double work_s, double chance, uint32_t seen_s)
{
	double ends[2];
	int next = 1;

	while (next < LT_WAIT_WORKS - 1 && work_s > lt_wait_works_s[next] &&
	       lt_wait_works_s[next + 1] <= seen_s / LT_WAIT_FITS)
		next++;
	const double from_s = lt_wait_works_s[next - 1];
	const double to_s = lt_wait_works_s[next];

	for (int i = 0; i < 2; i++) {
		const struct lt_wait *const wait = &waits[next - 1 + i];

		ends[i] =
		    chance > 0 ? passed(wait, chance) : seconds(wait->mean_s);
	}
	return work_s > to_s ? ends[1] * work_s / to_s
			     : between(ends[0], ends[1],
				   (work_s - from_s) / (to_s - from_s));
}

static double
look(const struct lt_availability *availability, const struct lt_wait_ask *ask,
    double chance)
{
	double found[LT_WAIT_NEEDS];
	int next = 1;

	assert(ask->work_s >= 0 && chance < 1);
	if (availability->seen_s < LT_WAIT_SEEN_S)
		return 0;
	while (next < LT_WAIT_COSTS - 1 && ask->cost_s > lt_wait_costs_s[next])
		next++;
	const double from_s = lt_wait_costs_s[next - 1];
	const double to_s = lt_wait_costs_s[next];

	for (int need = 0; need < LT_WAIT_NEEDS; need++) {
		const struct lt_wait(*const waits)[LT_WAIT_WORKS] =
		    &availability->waits[need][next - 1];

		found[need] = between(by_work(waits[0], ask->work_s, chance,
					  availability->seen_s),
		    by_work(
			waits[1], ask->work_s, chance, availability->seen_s),
		    (ask->cost_s - from_s) / (to_s - from_s));
	}
	return between(found[0], found[1], ask->need);
}

double
lt_wait_mean_s(
    const struct lt_availability *availability, const struct lt_wait_ask *ask)
{
	return look(availability, ask, 0);
}

double
lt_wait_passed_s(const struct lt_availability *availability,
    const struct lt_wait_ask *ask, double chance)
{
	assert(chance > 0);

	return look(availability, ask, chance);
}
