/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shipped mean days: each zone whole and plausible, what the data say that it is made of, hours
 * and months where they belong, the quality and the note that say what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "climatology.h"
#include "source.h"
#include "points.h"
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
	for (const struct lt_climatology *item = lt_climatologies_lifecycle; item->zone[0] != '\0';
	     item++, count++) {
		for (int month = 0; month < 12; month++)
			for (int hour = 0; hour < 24; hour++)
				if (item->g_per_kwh[month][hour] < 10 ||
				    item->g_per_kwh[month][hour] > 900)
					fail_msg("%s", item->zone);
		assert_int_equal(item->first_year, 2023);
		assert_int_equal(item->last_year, 2024);
		assert_non_null(strstr(item->origin, "CarbonX, by "));
		assert_true(count == 0 || strcmp(item[-1].zone, item->zone) < 0);
	}
	assert_int_equal(count, 113);
}

/* The two tables have the same zones, and what building and fuel supply cost comes on top. */
static void
test_direct(void **state)
{
	const struct lt_climatology *all = lt_climatologies_lifecycle;
	const struct lt_climatology *item = lt_climatologies_direct;

	(void)state;
	for (; item->zone[0] != '\0'; item++, all++) {
		double more = 0;

		assert_string_equal(item->zone, all->zone);
		assert_string_equal(item->origin, all->origin);
		assert_int_equal(item->last_year, all->last_year);
		for (int month = 0; month < 12; month++)
			for (int hour = 0; hour < 24; hour++)
				more += all->g_per_kwh[month][hour] - item->g_per_kwh[month][hour];
		assert_true(more > 0);
	}
	assert_string_equal(all->zone, "");
}

/* Iceland burns nothing. */
static void
test_zero_is_data(void **state)
{
	const struct lt_source_options options = {.name = "grid",
	    .count = 2,
	    .items = {{"zone", "IS", 7, 3}, {"emission_factors", "direct", 8, 3}}};
	struct lt_points points = {0};

	(void)state;
	assert_int_equal(lt_adapter_climatology.fetch(&options,
			     &(struct lt_window){JUNE, JUNE + LT_HOUR_S, JUNE}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 1);
	assert_true(points.points[0].value == 0);
	assert_non_null(strstr(points.note, "2024, direct (CarbonX, by "));
	assert_int_equal(lt_adapter_basis(&lt_adapter_climatology, &options), LT_BASIS_DIRECT);
	lt_points_free(&points);
}

static const struct lt_climatology *
zone_of(const char *name)
{
	const struct lt_climatology *item = lt_climatologies_lifecycle;

	while (item->zone[0] != '\0' && strcmp(item->zone, name) != 0)
		item++;
	if (item->zone[0] == '\0')
		fail_msg("%s", name);
	return item;
}

/* Hours as CarbonX published them, each in turn the mean of its cell. */
static void
test_against_the_original(void **state)
{
	double sums[6] = {0};
	struct {
		char zone[16];
		int month, hour, count;
	} cells[6] = {0};
	char line[512];
	int rows = 0, used = 0;
	FILE *const file = fopen("tests/fixtures/climatology/carbonx-hours.csv", "r");

	(void)state;
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_non_null(strstr(line, "Carbon intensity"));
	for (; fgets(line, sizeof(line), file) != NULL; rows++) {
		int month, hour, i = 0;
		char zone[16];
		double value;

		assert_int_equal(sscanf(line,
				     "202%*1[34]-%2d-%*2d %2d:00:00,%*[^,],%*[^,],%15[^,],"
				     "%*[^,],%lf",
				     &month, &hour, zone, &value),
		    4);
		while (i < used && (strcmp(cells[i].zone, zone) != 0 || cells[i].month != month ||
				       cells[i].hour != hour))
			i++;
		assert_in_range(i, 0, 5);
		used = i < used ? used : i + 1;
		memcpy(cells[i].zone, zone, sizeof(zone));
		cells[i].month = month;
		cells[i].hour = hour;
		cells[i].count++;
		sums[i] += value;
	}
	fclose(file);
	assert_int_equal(rows, 4 * 62 + 60 + 62);
	assert_int_equal(used, 6);
	for (int i = 0; i < used; i++) {
		const double mean = sums[i] / cells[i].count;
		const int shipped =
		    zone_of(cells[i].zone)->g_per_kwh[cells[i].month - 1][cells[i].hour];

		if (fabs(mean - shipped) > 0.5 + 1e-9)
			fail_msg("%s %d %d: %d, want %g", cells[i].zone, cells[i].month,
			    cells[i].hour, shipped, mean);
	}
}

/* The reactors of France stood still in 2022: 91 g in its August. */
static void
test_no_crisis(void **state)
{
	const struct lt_climatology *const france = zone_of("FR");
	double august = 0;

	(void)state;
	for (int hour = 0; hour < 24; hour++)
		august += france->g_per_kwh[7][hour] / 24.0;
	assert_true(august > 25 && august < 40);
}

static void
test_age(void **state)
{
	enum { YEAR_2027 = 1798761600 };
	static const struct {
		int64_t now_utc_s;
		bool old;
	} cases[] = {{JUNE, false}, {YEAR_2027 - 1, false}, {YEAR_2027, false},
	    {YEAR_2027 + 1, true}, {YEAR_2027 + 400 * LT_DAY_S, true}};
	const struct lt_source_options options = options_of("FR");

	(void)state;
	assert_int_equal(lt_adapter_climatology.table_year(&options), 2024);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int64_t now_utc_s = cases[i].now_utc_s;
		struct lt_points points = {0};

		assert_int_equal(
		    lt_adapter_climatology.fetch(&options,
			&(struct lt_window){now_utc_s, now_utc_s + LT_HOUR_S, now_utc_s}, &points,
			NULL),
		    LT_OK);
		assert_int_equal(strstr(points.note, "; 2024 ended more than 2 years ago") != NULL,
		    cases[i].old);
		assert_int_equal(lt_table_is_old(2024, now_utc_s), cases[i].old);
		lt_points_free(&points);
	}
}

static void
test_hours_and_months(void **state)
{
	const struct lt_source_options options = options_of("US-CAL-CISO");
	const struct lt_climatology *const item = zone_of("US-CAL-CISO");
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	/* From the middle of the last hour of May on. */
	assert_int_equal(
	    lt_adapter_climatology.fetch(&options,
		&(struct lt_window){JUNE - 1800, JUNE + 24 * LT_HOUR_S, JUNE}, &points, &err),
	    LT_OK);
	assert_int_equal(points.count, 25);
	assert_int_equal(points.quantity, LT_QUANTITY_CARBON);
	assert_true(points.issued_utc_s == 0);
	assert_string_equal(points.note,
	    "mean of 2023 to 2024, life-cycle (CarbonX, by caiso.com), not a "
	    "measurement");
	assert_true(points.points[0].start_utc_s == JUNE - LT_HOUR_S);
	assert_true(points.points[0].value == item->g_per_kwh[4][23]);
	for (int hour = 0; hour < 24; hour++) {
		const struct lt_point *const point = &points.points[hour + 1];

		assert_true(point->start_utc_s == JUNE + hour * (int64_t)LT_HOUR_S);
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
	for (const struct lt_climatology *item = lt_climatologies_lifecycle; item->zone[0] != '\0';
	     item++) {
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
		const char *why, *zone, *says;
	} cases[] = {
	    {"a zone that is not shipped", "IE",
		"got \"IE\", want one of the 113 of "
		"docs/sources/climatology.md"},
	    {"another spelling", "de", "; the nearest is DE"},
	    {"a part of a zone", "US-MIDA", "; the nearest is US-MIDA-PJM"},
	    {"nothing", "", "got \"\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_source_options options = options_of(cases[i].zone);
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (lt_adapter_check(&lt_adapter_climatology, &options, &err) != LT_EINPUT)
			fail_msg("%s", cases[i].why);
		assert_int_equal(err.line, 7);
		if (strstr(err.text, cases[i].says) == NULL)
			fail_msg("%s: %s", cases[i].why, err.text);
		assert_int_equal(lt_adapter_climatology.table_year(&options), 0);
		assert_int_not_equal(
		    lt_adapter_climatology.fetch(&options,
			&(struct lt_window){JANUARY, JANUARY + LT_HOUR_S, JANUARY}, &points, NULL),
		    LT_OK);
		assert_int_equal(points.count, 0);
	}
}

static void
test_is_known(void **state)
{
	(void)state;
	assert_ptr_equal(lt_adapter_find("climatology"), &lt_adapter_climatology);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_zones_are_whole),
	    cmocka_unit_test(test_direct),
	    cmocka_unit_test(test_zero_is_data),
	    cmocka_unit_test(test_against_the_original),
	    cmocka_unit_test(test_no_crisis),
	    cmocka_unit_test(test_age),
	    cmocka_unit_test(test_hours_and_months),
	    cmocka_unit_test(test_south_is_not_north),
	    cmocka_unit_test(test_refuses),
	    cmocka_unit_test(test_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
