/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cloud regions: the table that is compiled in against the tables that it was
 * made from, and the names that people write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "cloud_region.h"
#include "source_fixture.h"
#include "units.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct lt_adapter *adapter;

static int
fetch(const char *cloud, const char *region, struct lt_points *points,
    struct lt_error *err)
{
	const struct pair pairs[] = {{"cloud", cloud}, {"region", region}, {0}};
	const struct lt_source_options options = options_of(pairs);

	*points = (struct lt_points){0};
	*err = (struct lt_error){0};
	const int code = lt_adapter_check(adapter, &options, err);
	return code == LT_OK
		   ? lt_adapter_fetch(adapter, &options,
			 &(struct lt_window){1000, 5000, 3000}, points, err)
		   : code;
}

/* Every row of the CSV gives its number: the column "CO2e (metric ton/kWh)",
 * of which aws and azure have two before it that gcp has not both. */
static void
test_table(void **state)
{
	static const struct {
		const char *cloud;
		int column;
	} files[] = {{"aws", 3}, {"azure", 3}, {"gcp", 2}};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char path[64], line[256];
		int rows = 0;

		snprintf(path, sizeof(path),
		    "tests/fixtures/cloud_region/ccf-%s.csv", files[i].cloud);
		FILE *const file = fopen(path, "r");
		assert_non_null(file);
		assert_non_null(fgets(line, sizeof(line), file));
		while (fgets(line, sizeof(line), file) != NULL) {
			struct lt_points points;
			struct lt_error err;
			char *rest = line;
			const char *const region = strsep(&rest, ",");
			double tons = 0;

			for (int skip = 1; skip < files[i].column; skip++)
				strsep(&rest, ",");
			assert_int_equal(
			    lt_double_parse(strsep(&rest, ","), &tons, NULL),
			    LT_OK);
			if (fetch(files[i].cloud, region, &points, &err) !=
			    LT_OK)
				fail_msg("%s", err.text);
			assert_int_equal(points.count, 1);
			assert_true(
			    fabs(points.points[0].value - tons * 1e6) < 1e-6);
			assert_true(points.points[0].value > 5 &&
				    points.points[0].value < 1000);
			lt_points_free(&points);
			rows++;
		}
		fclose(file);
		assert_string_equal(lt_clouds[i].name, files[i].cloud);
		assert_int_equal(lt_clouds[i].region_count, rows);
	}
}

static void
test_point(void **state)
{
	struct lt_points points;
	struct lt_error err;

	(void)state;
	assert_int_equal(fetch("azure", "UK South", &points, &err), LT_OK);
	assert_int_equal(points.quantity, LT_QUANTITY_CARBON);
	assert_true(points.points[0].value == 228);
	assert_int_equal(points.points[0].start_utc_s, 1000);
	assert_int_equal(points.points[0].end_utc_s, 5000);
	assert_int_equal(points.points[0].quality, LT_QUALITY_CONSTANT);
	assert_int_equal(points.issued_utc_s, 0);
	assert_non_null(strstr(points.note, "yearly average"));
	assert_non_null(strstr(points.note, "(EEA)"));
	lt_points_free(&points);
	assert_int_equal(fetch("azure", "uksouth", &points, &err), LT_OK);
	lt_points_free(&points);
	assert_null(adapter->parse);
}

static void
test_unknown(void **state)
{
	static const struct {
		const char *cloud, *region, *says;
	} cases[] = {
	    {"oci", "us-east-1", "got \"oci\", want aws, azure or gcp"},
	    {"aws", "eu-central-2",
		"got \"eu-central-2\", want one of the 25 of aws that are "
		"known; the nearest is eu-central-1"},
	    {"azure", "Germany North", "the nearest is germanywestcentral"},
	    {"gcp", "us-east-1", "the nearest is us-east1"},
	    {"gcp", "zurich", "want one of the 24 of gcp that are known"},
	    {"aws", "", "got \"\""},
	    {"aws",
		"a-name-that-is-much-longer-than-any-region-of-any-cloud-could"
		"-be-and-on",
		"got \"a-name"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points;
		struct lt_error err;

		assert_int_equal(
		    fetch(cases[i].cloud, cases[i].region, &points, &err),
		    LT_EINPUT);
		assert_says(cases[i].region, &err, cases[i].says);
		assert_true(err.line >= 10);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_point),
	    cmocka_unit_test(test_unknown),
	};

	adapter = lt_adapter_find("cloud_region");
	return adapter == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
