/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One course of a task that is interrupted at random, played event by event:
 * nothing of the formulas that are held against it. For one program each.
 */
#ifndef LT_COURSE_H
#define LT_COURSE_H

#include <math.h>
#include <stdint.h>

#include "units.h"

static uint64_t seed = 1;

static double
fraction(void)
{
	return (double)(lt_random(&seed) >> 11) * 0x1p-53;
}

struct course {
	double work_s, interval_s;	   /* 0: no checkpoints */
	double write_s, restart_s, mean_s; /* between interruptions */
};

/* Until so much is done without a break; a break costs a restart, which may break too. */
static double
part_s(const struct course *course, double length_s)
{
	double passed_s = 0, wanted_s = length_s;

	for (;;) {
		const double until_s = -course->mean_s * log(1 - fraction());

		if (until_s >= wanted_s)
			return passed_s + wanted_s;
		passed_s += until_s;
		wanted_s = course->restart_s + length_s;
	}
}

static double
task_s(const struct course *course)
{
	const double interval_s = course->interval_s;
	double passed_s = 0, left_s = course->work_s;

	for (; interval_s > 0 && left_s > interval_s; left_s -= interval_s)
		passed_s += part_s(course, interval_s + course->write_s);
	return passed_s + part_s(course, left_s);
}

#endif
