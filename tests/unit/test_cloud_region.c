/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cloud regions: the tables that are compiled in against what Google published and against each
 * other, and the names that people write.
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
fetch_kind(
    const struct pair *pairs, int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	const struct lt_source_options options = options_of(pairs);

	*points = (struct lt_points){0};
	*err = (struct lt_error){0};
	const int code = lt_adapter_check(adapter, &options, err);
	return code == LT_OK ? lt_adapter_fetch(adapter, &options,
				   &(struct lt_window){1000, 5000, now_utc_s}, points, err)
			     : code;
}

static int
fetch(const char *cloud, const char *region, struct lt_points *points, struct lt_error *err)
{
	const struct pair pairs[] = {{"cloud", cloud}, {"region", region}, {0}};

	return fetch_kind(pairs, 3000, points, err);
}

static double
value_of(const char *cloud, const char *region)
{
	struct lt_points points;
	struct lt_error err;

	if (fetch(cloud, region, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.count, 1);
	const double value = points.points[0].value;
	lt_points_free(&points);
	return value;
}

struct google_row {
	char region[32];
	double g_co2_per_kwh;
};

enum { GOOGLE_ROWS = 44 };

static void
google_load(struct google_row rows[GOOGLE_ROWS])
{
	char line[256];
	FILE *const file = fopen("tests/fixtures/cloud_region/google-2024.csv", "r");

	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	for (int i = 0; i < GOOGLE_ROWS; i++) {
		assert_non_null(fgets(line, sizeof(line), file));
		assert_int_equal(sscanf(line, "%31[^,],%*[^,],%*[^,],%lf", rows[i].region,
				     &rows[i].g_co2_per_kwh),
		    2);
	}
	assert_null(fgets(line, sizeof(line), file));
	fclose(file);
}

/* Of another basis at Google, life-cycle beside direct emissions: that row alone is not theirs. */
#define OTHER_BASIS "southamerica-west1"

/* Each figure is Google's, and so each pair is in Google's order. */
static void
test_google(void **state)
{
	struct google_row rows[GOOGLE_ROWS];

	(void)state;
	google_load(rows);
	for (int i = 0; i < GOOGLE_ROWS; i++) {
		const double value = value_of("gcp", rows[i].region);

		if (strcmp(rows[i].region, OTHER_BASIS) == 0)
			assert_true(value < 0.85 * rows[i].g_co2_per_kwh);
		else if (fabs(value - rows[i].g_co2_per_kwh) > 1e-9)
			fail_msg(
			    "%s: got %g, want %g", rows[i].region, value, rows[i].g_co2_per_kwh);
	}
	assert_true(value_of("gcp", "northamerica-northeast1") == 5.48);
}

/* The grid of a Google region, as others measured it for another cloud there:
 * two publishers, one grid, one kind of emissions. */
static void
test_clouds_agree(void **state)
{
	struct google_row rows[GOOGLE_ROWS];
	int pairs = 0;

	(void)state;
	google_load(rows);
	for (int i = 0; i < GOOGLE_ROWS; i++) {
		const struct lt_cloud_region *const google =
		    lt_cloud_region_find("gcp", rows[i].region);
		const double wanted = rows[i].g_co2_per_kwh;

		assert_non_null(google);
		for (const struct lt_cloud *cloud = lt_clouds;
		     cloud->name != NULL && strcmp(cloud->emissions, "direct") == 0; cloud++)
			for (int r = 0; r < cloud->region_count; r++) {
				const struct lt_cloud_region *const other = &cloud->regions[r];

				if (strcmp(other->zone, google->zone) != 0 ||
				    strcmp(other->origin, "CarbonX") != 0 ||
				    strcmp(rows[i].region, OTHER_BASIS) == 0)
					continue;
				if (fabs(other->g_co2_per_kwh - wanted) > 1 + 0.04 * wanted)
					fail_msg("%s: %g, %s: %g", other->name,
					    other->g_co2_per_kwh, rows[i].region, wanted);
				pairs++;
			}
	}
	assert_true(pairs > 60);
}

/* Each row says what it is; no table has two rows of one region; and what building the plants emits
 * comes on top. */
static void
test_rows(void **state)
{
	(void)state;
	for (const struct lt_cloud *cloud = lt_clouds; cloud->name != NULL; cloud++)
		for (int i = 0; i < cloud->region_count; i++) {
			const struct lt_cloud_region *const row = &cloud->regions[i];
			const struct lt_cloud_region *const direct =
			    lt_cloud_region_find(cloud->name, row->name);

			assert_int_equal(row->year, 2024);
			assert_true(row->zone[0] != '\0');
			assert_true(row->g_co2_per_kwh > 2 && row->g_co2_per_kwh < 1000);
			assert_true(strncmp(row->origin, "Google", 6) == 0 ||
				    strncmp(row->origin, "CarbonX", 7) == 0);
			assert_non_null(direct);
			if (strcmp(cloud->emissions, "direct") == 0)
				assert_ptr_equal(direct, row);
			else
				assert_true(row->g_co2_per_kwh > direct->g_co2_per_kwh);
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
	assert_true(points.points[0].value == 105.69);
	assert_int_equal(points.points[0].start_utc_s, 1000);
	assert_int_equal(points.points[0].end_utc_s, 5000);
	assert_int_equal(points.points[0].quality, LT_QUALITY_CONSTANT);
	assert_int_equal(points.issued_utc_s, 0);
	assert_string_equal(points.note,
	    "the mean of 2024 (CarbonX), direct emissions of grid GB, not of "
	    "today");
	lt_points_free(&points);
	assert_int_equal(fetch("azure", "uksouth", &points, &err), LT_OK);
	lt_points_free(&points);
	assert_null(adapter->parse);
}

static void
test_lifecycle(void **state)
{
	static const struct pair pairs[] = {{"cloud", "gcp"}, {"region", "northamerica-northeast1"},
	    {"emission_factors", "lifecycle"}, {0}};
	struct lt_points points;
	struct lt_error err;

	(void)state;
	assert_int_equal(fetch_kind(pairs, 3000, &points, &err), LT_OK);
	assert_true(points.points[0].value == 35.34);
	assert_non_null(strstr(points.note, "lifecycle emissions of grid CA-QC"));
	lt_points_free(&points);
}

static void
test_age(void **state)
{
	enum { YEAR_2027 = 1798761600 };
	static const struct pair pairs[] = {{"cloud", "aws"}, {"region", "eu-west-2"}, {0}};
	static const struct pair wrong[] = {{"cloud", "aws"}, {"region", "moon-1"}, {0}};
	const struct lt_source_options options = options_of(pairs), none = options_of(wrong);

	(void)state;
	assert_int_equal(adapter->table_year(&options), 2024);
	assert_int_equal(adapter->table_year(&none), 0);
	for (int late = 0; late < 2; late++) {
		struct lt_points points;
		struct lt_error err;

		assert_int_equal(fetch_kind(pairs, YEAR_2027 + late, &points, &err), LT_OK);
		assert_int_equal(
		    strstr(points.note, "; 2024 ended more than 2 years ago") != NULL, late);
		lt_points_free(&points);
	}
}

static void
test_unknown(void **state)
{
	static const struct {
		const char *cloud, *region, *says;
	} cases[] = {
	    {"oci", "us-east-1", "got \"oci\", want aws, azure or gcp"},
	    {"aws", "eu-central-3",
		"got \"eu-central-3\", want one of the 37 of aws that are "
		"known; the nearest is eu-central-1"},
	    {"azure", "Germany South", "the nearest is germanynorth"},
	    {"gcp", "us-east-1", "the nearest is us-east1"},
	    {"gcp", "zurich", "want one of the 44 of gcp that are known"},
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

		assert_int_equal(fetch(cases[i].cloud, cases[i].region, &points, &err), LT_EINPUT);
		assert_says(cases[i].region, &err, cases[i].says);
		assert_true(err.line >= 10);
	}
}

static void
test_unknown_kind(void **state)
{
	static const struct {
		const char *region, *kind, *says;
	} cases[] = {
	    {"eu-west-1", "lifecycle",
		"emission_factors: got \"lifecycle\", want direct: of "
		"eu-west-1 that alone is known"},
	    {"eu-west-2", "marginal",
		"emission_factors: got \"marginal\", want lifecycle "
		"or direct"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct pair pairs[] = {{"cloud", "aws"}, {"region", cases[i].region},
		    {"emission_factors", cases[i].kind}, {0}};
		struct lt_points points;
		struct lt_error err;

		assert_int_equal(fetch_kind(pairs, 3000, &points, &err), LT_EINPUT);
		assert_says(cases[i].region, &err, cases[i].says);
		assert_int_equal(err.line, 12);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_google),
	    cmocka_unit_test(test_clouds_agree),
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_point),
	    cmocka_unit_test(test_lifecycle),
	    cmocka_unit_test(test_age),
	    cmocka_unit_test(test_unknown),
	    cmocka_unit_test(test_unknown_kind),
	};

	adapter = lt_adapter_find("cloud_region");
	return adapter == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
