/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mixes of generated days, from which fuels are taken away: an hour without one is a gap, and what
 * is left is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "fuel_mix.h"

enum { T0 = 1795219200, HOUR = 3600, DAY = 24, DAYS = 3 };
enum { GAS, NUCLEAR, SUN, BATTERIES, PUMPED, CODES };

static const struct lt_mix_code codes[] = {
    [GAS] = {"NG", LT_FUEL_GAS},
    [NUCLEAR] = {"NUC", LT_FUEL_NUCLEAR},
    [SUN] = {"SUN", LT_FUEL_SOLAR},
    [BATTERIES] = {"SNB", LT_FUEL_SOLAR_BATTERY},
    [PUMPED] = {"PS", LT_FUEL_STORAGE},
    [CODES] = {NULL, LT_FUEL_OTHER},
};

static const struct lt_source_options options = {.name = "grid"};
static struct lt_mix mix;
static struct lt_points points;

static int
start(void **state)
{
	(void)state;
	assert_int_equal(
	    lt_mix_start(&mix, codes, T0, T0 + (int64_t)DAYS * DAY * HOUR, NULL), LT_OK);
	points = (struct lt_points){0};
	return 0;
}

static int
end(void **state)
{
	(void)state;
	lt_mix_free(&mix);
	lt_points_free(&points);
	return 0;
}

/* MW of a fuel: a grid of gas and nuclear power, with sun by day. */
static double
usual_mw(int fuel, int hour)
{
	const double sun = fmax(0, 6000 * sin((hour % DAY - 6) * 0.2617993878));

	switch (fuel) {
	case GAS:
		return 9000 - sun;
	case NUCLEAR:
		return 2000;
	case SUN:
		return sun;
	default:
		return 0;
	}
}

static void
put(int fuel, int hour, double mw)
{
	lt_mix_put(&mix, fuel, T0 + hour * HOUR, T0 + (hour + 1) * HOUR, mw);
}

/* As EIA has it: no row of the sun by night. */
static void
put_hour(int hour, int without)
{
	for (int fuel = GAS; fuel <= SUN; fuel++)
		if (fuel != without && (fuel != SUN || usual_mw(SUN, hour) > 0))
			put(fuel, hour, usual_mw(fuel, hour));
}

static double
usual_g_per_kwh(int hour)
{
	double mw = 0, g = 0;

	for (int fuel = GAS; fuel <= SUN; fuel++) {
		mw += usual_mw(fuel, hour);
		g += usual_mw(fuel, hour) * lt_fuel_factor(codes[fuel].fuel, false);
	}
	return g / mw;
}

static const struct lt_point *
point_of(int hour)
{
	for (size_t i = 0; i < points.count; i++)
		if (points.points[i].start_utc_s == T0 + hour * HOUR)
			return &points.points[i];
	return NULL;
}

/* Whichever fuel the newest hour lacks, by day or by night. */
static void
test_newest_hour_lacks_one(void **state)
{
	for (int newest = 2 * DAY; newest < DAYS * DAY; newest++)
		for (int lacks = GAS; lacks <= SUN; lacks++) {
			const bool is_whole = lacks == SUN && usual_mw(SUN, newest) < 90;

			assert_int_equal(start(state), 0);
			for (int hour = 0; hour < newest; hour++)
				put_hour(hour, CODES);
			put_hour(newest, lacks);
			assert_int_equal(
			    lt_mix_points(&mix, &options, T0 + (newest + 1) * HOUR, &points, NULL),
			    LT_OK);
			if ((point_of(newest) != NULL) != is_whole)
				fail_msg("hour %d without %s: %zu points", newest,
				    codes[lacks].code, points.count);
			assert_int_equal(points.count, newest + is_whole);
			for (int hour = 0; hour < newest; hour++)
				assert_true(
				    fabs(point_of(hour)->value - usual_g_per_kwh(hour)) < 1e-6);
			assert_int_equal(end(state), 0);
		}
	start(state);
}

/* A fuel that never comes again costs one day, not all that follow. */
static void
test_closed_plant(void **state)
{
	(void)state;
	for (int hour = 0; hour < DAYS * DAY; hour++) {
		put_hour(hour, CODES);
		if (hour < DAY && hour % DAY >= 6 && hour % DAY < 12)
			put(BATTERIES, hour, 1500);
	}
	assert_int_equal(
	    lt_mix_points(&mix, &options, T0 + (int64_t)DAYS * DAY * HOUR, &points, NULL), LT_OK);
	assert_null(point_of(DAY + 8));
	assert_non_null(point_of(2 * DAY + 8));
}

/* Plants with batteries that charge from the grid: far below 0, and 0. */
static void
test_charging(void **state)
{
	(void)state;
	for (int hour = 0; hour < DAYS * DAY; hour++) {
		put_hour(hour, CODES);
		put(BATTERIES, hour, -1500);
		put(PUMPED, hour, -3000);
	}
	assert_int_equal(
	    lt_mix_points(&mix, &options, T0 + (int64_t)DAYS * DAY * HOUR, &points, NULL), LT_OK);
	assert_int_equal(points.count, DAYS * DAY);
	assert_string_equal(points.note, "");
	assert_true(fabs(point_of(30)->value - usual_g_per_kwh(30)) < 1e-6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_newest_hour_lacks_one, NULL, end),
	    cmocka_unit_test_setup_teardown(test_closed_plant, start, end),
	    cmocka_unit_test_setup_teardown(test_charging, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
