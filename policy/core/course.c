/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For each stretch as the last: as much of the work goes there as is dearer elsewhere, and the rest
 * into the cheapest before. That is exact: within one stretch what a later end costs and saves is
 * convex.
 */
#include <math.h>
#include <string.h>

#include "course.h"
#include "min_max.h"

/* Noise of rounding in a cost: nothing ends later for it. */
static const double noise = 1e-9;

static int64_t
length_of(const struct lt_stretch *stretch)
{
	return stretch->to_utc_s - stretch->from_utc_s;
}

/* Returns what work in a stretch costs more than a rest. */
static double
extra(const struct lt_stretch *stretch)
{
	return stretch->runs - stretch->rests;
}

/* Inserts into order, behind the cheaper ones: the cheapest first, of equals the earlier. */
static void
insert(uint16_t *order, const struct lt_stretch *stretches, uint32_t next)
{
	uint32_t at = next;

	while (at > 0 && extra(&stretches[order[at - 1]]) > extra(&stretches[next]))
		at--;
	memmove(&order[at + 1], &order[at], (next - at) * sizeof(*order));
	order[at] = (uint16_t)next;
}

/* As much of the work as costs no more before than in the last one, where it makes the end later,
 * too. */
static int64_t
before_s(const uint16_t *order, const struct lt_stretch *stretches, uint32_t last)
{
	int64_t sum_s = 0;

	for (uint32_t i = 0; i < last; i++) {
		if (extra(&stretches[order[i]]) > stretches[last].runs)
			break;
		sum_s += length_of(&stretches[order[i]]);
	}
	return sum_s;
}

static double
cheapest(const uint16_t *order, const struct lt_stretch *stretches, uint32_t count, int64_t work_s)
{
	double sum = 0;

	for (uint32_t i = 0; i < count && work_s > 0; i++) {
		const struct lt_stretch *const in = &stretches[order[i]];
		const int64_t run_s = lt_min_i64(work_s, length_of(in));

		sum += extra(in) * (double)run_s;
		work_s -= run_s;
	}
	return sum;
}

struct chosen { /* the stretch that it ends in */
	uint32_t last;
	int64_t run_s; /* worked there; 0 = none was found */
};

static void
write_course(struct lt_stretch *stretches, uint32_t count, const uint16_t *order,
    const struct chosen *chosen, int64_t work_s)
{
	for (uint32_t i = 0; i < count; i++)
		stretches[i].run_s = 0;
	stretches[chosen->last].run_s = chosen->run_s;
	work_s -= chosen->run_s;
	for (uint32_t i = 0; i < count && work_s > 0; i++) {
		struct lt_stretch *const in = &stretches[order[i]];

		if (order[i] >= chosen->last)
			continue;
		in->run_s = lt_min_i64(work_s, length_of(in));
		work_s -= in->run_s;
	}
}

double
lt_course_least(struct lt_stretch *stretches, uint32_t count, int64_t work_s, uint16_t *order)
{
	double least = INFINITY, rests = 0;
	struct chosen chosen = {0};
	int64_t passed_s = 0;

	for (uint32_t k = 0; k < count; k++) {
		const struct lt_stretch *const in = &stretches[k];
		const int64_t length_s = length_of(in);
		const int64_t run_s = lt_min_i64(work_s - before_s(order, stretches, k), length_s);

		if (run_s > 0 && work_s - run_s <= passed_s) {
			const double cost = cheapest(order, stretches, k, work_s - run_s) + rests +
					    in->runs * (double)run_s;

			if (cost < least - (k > 0 ? noise * fabs(cost) : 0)) {
				least = cost;
				chosen = (struct chosen){k, run_s};
			}
		}
		insert(order, stretches, k);
		passed_s += length_s;
		rests += in->rests * (double)length_s;
	}
	if (chosen.run_s > 0)
		write_course(stretches, count, order, &chosen, work_s);
	return least;
}

double
lt_course_through(const struct lt_stretch *stretches, uint32_t count, int64_t work_s)
{
	double sum = 0;

	for (uint32_t i = 0; i < count && work_s > 0; i++) {
		const int64_t run_s = lt_min_i64(work_s, length_of(&stretches[i]));

		sum += stretches[i].runs * (double)run_s;
		work_s -= run_s;
	}
	return work_s > 0 ? INFINITY : sum;
}
