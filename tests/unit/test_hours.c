/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hours.c: means over points that begin and end anywhere, gaps that stay
 * gaps, the worst quality.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "points.h"

#define M LT_QUALITY_MEASURED
#define F LT_QUALITY_FORECAST

static const struct {
	const char *why;
	size_t count;
	struct lt_point points[3];
	struct lt_hour want; /* of [3600, 7200) */
} cases[] = {
    {"no points at all", 0, {{0}}, {false, 0, LT_QUALITY_NONE}},
    {"all before", 1, {{0, 3600, 5, M}}, {false, 0, LT_QUALITY_NONE}},
    {"all after", 1, {{7200, 9000, 5, M}}, {false, 0, LT_QUALITY_NONE}},
    {"one that holds for days", 1, {{0, INT64_MAX, 5, M}}, {true, 5, M}},
    {"two halves: their mean, the worse quality", 2, {{3600, 5400, 10, M}, {5400, 7200, 20, F}},
	{true, 15, F}},
    {"weighed by time", 2, {{0, 4500, 10, M}, {4500, 7200, 20, M}}, {true, 17.5, M}},
    {"half is known: the mean of that", 1, {{3600, 5400, 10, F}}, {true, 10, F}},
    {"a second less is not", 1, {{3600, 5399, 10, F}}, {false, 0, LT_QUALITY_NONE}},
    {"a gap inside", 2, {{3000, 4600, 10, M}, {6200, 8000, 30, M}}, {true, 20, M}},
    {"below zero, as tariffs are", 1, {{0, 9000, -0.5, M}}, {true, -0.5, M}},
};

static void
test_mean(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_hour hour;

		lt_points_hours(&hour, 1, 3600, cases[i].points, cases[i].count);
		if (hour.known != cases[i].want.known || hour.value != cases[i].want.value ||
		    hour.quality != cases[i].want.quality)
			fail_msg("%s: %d %g %d", cases[i].why, hour.known, hour.value,
			    (int)hour.quality);
	}
}

static void
test_next(void **state)
{
	const struct lt_point points[] = {{0, 7200, 1, M}, {10800, 14400, 2, F}};
	struct lt_hour hours[4];

	(void)state;
	lt_points_hours(hours, 4, 0, points, 2);
	assert_true(hours[0].known && hours[1].known && hours[3].known);
	assert_false(hours[2].known);
	assert_true(hours[3].value == 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_mean),
	    cmocka_unit_test(test_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
