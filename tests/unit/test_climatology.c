/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shipped mean days: each zone whole and plausible, hours and months where
 * they belong, the quality and the note that say what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "climatology.h"
#include "source.h"
#include "units.h"

enum {
	JUNE = 1780272000,   /* 2026-06-01T00:00:00Z */
	JANUARY = 1767225600 /* 2026-01-01T00:00:00Z */
};

static struct lt_source_options
options_of(const char *zone)
{
	return (struct lt_source_options){
	    .name = "grid", .count = 1, .items = {{"zone", zone, 7, 3}}};
}

static void
test_zones_are_whole(void **state)
{
	int count = 0;

	(void)state;
	for (const struct lt_climatology *item = lt_climatologies;
	     item->zone != NULL; item++, count++)
		for (int month = 0; month < 12; month++)
			for (int hour = 0; hour < 24; hour++) {
				assert_true(item->g_per_kwh[month][hour] >= 10);
				assert_true(
				    item->g_per_kwh[month][hour] <= 800);
			}
	assert_int_equal(count, 6);
}

static void
test_hours_and_months(void **state)
{
	const struct lt_source_options options = options_of("US-CAL-CISO");
	const struct lt_climatology *item = lt_climatologies;
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	while (strcmp(item->zone, "US-CAL-CISO") != 0)
		item++;
	/* From the middle of the last hour of May on. */
	assert_int_equal(
	    lt_adapter_climatology.fetch(&options,
		&(struct lt_window){JUNE - 1800, JUNE + 24 * LT_HOUR_S, JUNE},
		&points, &err),
	    LT_OK);
	assert_int_equal(points.count, 25);
	assert_int_equal(points.quantity, LT_QUANTITY_CARBON);
	assert_true(points.issued_utc_s == 0);
	assert_string_equal(
	    points.note, "mean of 2021-10 to 2022-12, not a measurement");
	assert_true(points.points[0].start_utc_s == JUNE - LT_HOUR_S);
	assert_true(points.points[0].value == item->g_per_kwh[4][23]);
	for (int hour = 0; hour < 24; hour++) {
		const struct lt_point *const point = &points.points[hour + 1];

		assert_true(
		    point->start_utc_s == JUNE + hour * (int64_t)LT_HOUR_S);
		assert_true(point->value == item->g_per_kwh[5][hour]);
		assert_int_equal(point->quality, LT_QUALITY_CLIMATOLOGY);
	}
	/* The sun of California: noon (20 UTC) is far below the evening. */
	assert_true(item->g_per_kwh[5][20] * 3 < item->g_per_kwh[5][4] * 2);
	lt_points_free(&points);
}

static void
test_south_is_not_north(void **state)
{
	(void)state;
	for (const struct lt_climatology *item = lt_climatologies;
	     item->zone != NULL; item++) {
		double june = 0, january = 0;

		for (int hour = 0; hour < 24; hour++) {
			january += item->g_per_kwh[0][hour];
			june += item->g_per_kwh[5][hour];
		}
		if (strcmp(item->zone, "AU-SA") == 0)
			assert_true(june > january); /* its winter */
		if (strcmp(item->zone, "FR") == 0)
			assert_true(june < january * 1.2);
	}
}

static void
test_refuses(void **state)
{
	static const struct {
		const char *why, *zone;
	} cases[] = {
	    {"a zone that is not shipped", "PL"},
	    {"another spelling", "de"},
	    {"nothing", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_source_options options =
		    options_of(cases[i].zone);
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (lt_adapter_check(&lt_adapter_climatology, &options, &err) !=
		    LT_EINPUT)
			fail_msg("%s", cases[i].why);
		assert_int_equal(err.line, 7);
		assert_non_null(strstr(err.text, "AU-SA, DE, ES"));
		assert_int_not_equal(lt_adapter_climatology.fetch(&options,
					 &(struct lt_window){JANUARY,
					     JANUARY + LT_HOUR_S, JANUARY},
					 &points, NULL),
		    LT_OK);
		assert_int_equal(points.count, 0);
	}
}

static void
test_is_known(void **state)
{
	(void)state;
	assert_ptr_equal(
	    lt_adapter_find("climatology"), &lt_adapter_climatology);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_zones_are_whole),
	    cmocka_unit_test(test_hours_and_months),
	    cmocka_unit_test(test_south_is_not_north),
	    cmocka_unit_test(test_refuses),
	    cmocka_unit_test(test_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
