/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Carbon Aware SDK's data file: the SDK's own files, and what else the format allows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"

#define FIXTURES "tests/fixtures/carbon_aware/"
#define T0 1635170400 /* 2021-10-25T14:00Z */
#define ROW(location, time, rating, more)                                                          \
	"{\"Location\":\"" location "\",\"Time\":\"2021-10-2" time "\",\"Rating\":" rating more "}"

static const struct {
	const char *why, *bytes;
	const char *says; /* NULL = good */
	size_t count;
	double value; /* of the first */
	int64_t start_s, length_s;
	enum lt_quality quality; /* of the last */
	const char *note;
} parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "no list", .bytes = "{\"Date\":\"x\"}", .says = "without a list"},
    {.why = "an empty list", .bytes = "[]", .says = "no row of location \"eastus\""},
    {.why = "another location",
	.bytes = "[" ROW("westus", "5T14:00:00", "7", "") "]",
	.says = "no row of location \"eastus\"; there is \"westus\""},
    {.why = "names have their letters",
	.bytes = "[" ROW("EastUS", "5T14:00:00", "7", "") "]",
	.says = "there is \"EastUS\""},
    {.why = "an odd name can be shown",
	.bytes = "[" ROW("a\\u001bb", "5T14:00:00", "7", "") "]",
	.says = "there is \"a?b\""},
    {.why = "fictional, and says so",
	.bytes = "{\"Description\":\"All data is Fictional.\",\"Emissions\":[" ROW(
	    "eastus", "5T14:00:00", "7", "") "]}",
	.says = "the data is fictional: \"All data is"},
    {.why = "only 0",
	.bytes = "[" ROW("eastus", "5T14:00:00", "0", "") "]",
	.says = "1 rows and none that can be used"},
    {.why = "BOM, a rating in words, no zone, a duration",
	.bytes = "\xEF\xBB\xBF{\"Emissions\":[" ROW(
	    "eastus", "5T14:00:00", "\"312.5\"", ",\"Duration\":\"08:00:00\"") "]}",
	.count = 1,
	.value = 312.5,
	.length_s = 8 * 3600,
	.quality = LT_QUALITY_MEASURED},
    {.why = "a day without a time, no duration",
	.bytes = "[" ROW("eastus", "5", "3", "") "," ROW("eastus", "6T00:00:00+02:00", "4", "") "]",
	.count = 2,
	.value = 3,
	.start_s = -14 * 3600,
	.length_s = 8 * 3600,
	.quality = LT_QUALITY_FORECAST},
    {.why = "what has begun is measured, what has not a forecast",
	.bytes = "[" ROW("eastus", "5T14:00:00Z", "3", "") "," ROW("x", "bad", "4", "") "," ROW(
	    "eastus", "5T14:30:00Z", "-1", "") "," ROW("eastus", "5T15:00:00Z", "5", "") "]",
	.count = 2,
	.value = 3,
	.length_s = 3600,
	.quality = LT_QUALITY_FORECAST,
	.note = "1 of 3 rows can't be used"},
    {.why = "forecasts of newer SDKs; what is known of a time wins",
	.bytes = "{\"Emissions\":[" ROW("eastus", "5T14:00:00Z", "3",
	    ",\"Duration\":\"00:05:00\"") "],\"EmissionsForecasts\":["
					  "{\"Location\":{\"Name\":"
					  "\"westus\"},"
					  "\"ForecastData\":[]},"
					  "{\"Location\":{\"Name\":"
					  "\"eastus\"},"
					  "\"ForecastData\":[" ROW("IE", "5T14:00:00Z", "9",
					      ",\"Duration\":\"00:05:"
					      "00\"") "," ROW("IE", "5T14:05:00Z", "8",
					      ",\"Duration\":\"00:05:"
					      "00\"") "]}]}",
	.count = 2,
	.value = 3,
	.length_s = 300,
	.quality = LT_QUALITY_FORECAST},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"path", "/x"}, {"location", "eastus"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		const char *const why = parse_cases[i].why;
		const char *const note = parse_cases[i].note == NULL ? "" : parse_cases[i].note;
		struct lt_points points = {0};

		if (!parses(
			&options, T0 + 60, why, parse_cases[i].bytes, parse_cases[i].says, &points))
			continue;
		const struct lt_point *const first = &points.points[0];
		if (points.count != parse_cases[i].count || first->value != parse_cases[i].value ||
		    first->start_utc_s - T0 != parse_cases[i].start_s ||
		    first->end_utc_s - first->start_utc_s != parse_cases[i].length_s ||
		    points.points[points.count - 1].quality != parse_cases[i].quality ||
		    strcmp(points.note, note) != 0)
			fail_msg("%s: %zu, %f, %s", why, points.count, first->value, points.note);
		lt_points_free(&points);
	}
}

static int
fetch(const char *file, const char *location, const char *intensity, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	char path[4096];
	const struct pair pairs[] = {
	    {"path", path}, {"location", location}, {"intensity", intensity}, {0}};
	const struct lt_source_options options = options_of(pairs);

	if (file[0] == '/') {
		snprintf(path, sizeof(path), "%s", file);
	} else {
		assert_non_null(getcwd(path, sizeof(path) - strlen(file) - 2));
		strcat(path, "/");
		strcat(path, file);
	}
	*points = (struct lt_points){0};
	*err = (struct lt_error){0};
	assert_int_equal(lt_adapter_check(adapter, &options, err), LT_OK);
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s - 86400, now_utc_s + 86400, now_utc_s}, points, err);
}

static void
test_files(void **state)
{
	static const char list[] = FIXTURES "test-data-aws-emissions.trim.json";
	static const char sample[] = FIXTURES "sample-emissions-data.json";
	struct lt_points points;
	struct lt_error err;

	(void)state;
	assert_int_equal(fetch(list, "us-east-2", "marginal", T0 + 86400, &points, &err), LT_OK);
	assert_int_equal(points.quantity, LT_QUANTITY_MARGINAL);
	assert_int_equal(points.count, 24);
	assert_true(points.points[0].value == 77);
	assert_int_equal(points.points[0].start_utc_s, T0 + 3000);
	assert_int_equal(points.points[0].end_utc_s, T0 + 6600);
	assert_int_equal(points.points[23].quality, LT_QUALITY_MEASURED);
	assert_int_equal(points.issued_utc_s, 0); /* it covers now */
	lt_points_free(&points);

	/* Years later there is nothing to say. */
	assert_int_equal(fetch(list, "us-east-1", "average", 1800000000, &points, &err), LT_EINPUT);
	assert_says("old", &err, "trim.json: nothing of the time");
	assert_int_equal(fetch(list, "eastus", "average", T0, &points, &err), LT_EINPUT);
	assert_says("other", &err, "there is \"us-east-1\"");
	assert_int_equal(fetch(sample, "Sydney", "average", T0, &points, &err), LT_EINPUT);
	assert_says("fictional", &err, "This is just a demo json file");
	assert_int_equal(fetch("/nonexistent", "a", "average", T0, &points, &err), LT_ENOENT);
	assert_says("none", &err, "/nonexistent: No such file");
	assert_int_equal(fetch("/dev/zero", "a", "average", T0, &points, &err), LT_EIO);
	assert_says("device", &err, "not a regular file");
}

static void
test_broken(void **state)
{
	char path[] = "/tmp/lt_carbon_XXXXXX";
	struct lt_points points;
	struct lt_error err;

	(void)state;
	write_file(path, "[\n {\"Location\": \xE3}]", 19);
	assert_int_equal(fetch(path, "a", "average", T0, &points, &err), LT_EINPUT);
	assert_says("latin 1", &err, path);
	assert_says("latin 1", &err, ":2:");
	unlink(path);
}

static void
test_options(void **state)
{
	static const struct {
		struct pair pairs[4];
		const char *says;
	} cases[] = {
	    {{{"path", "data.json"}, {"location", "a"}}, "absolute path"},
	    {{{"path", "/data.json"}}, "needs \"location\""},
	    {{{"path", "/data.json"}, {"location", "a"}, {"intensity", "Marginal"}},
		"want average or marginal"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_source_options options = options_of(cases[i].pairs);
		struct lt_error err = {0};

		assert_int_equal(lt_adapter_check(adapter, &options, &err), LT_EINPUT);
		assert_says("options", &err, cases[i].says);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_broken),
	    cmocka_unit_test(test_options),
	};

	adapter = lt_adapter_find("carbon_aware_file");
	return adapter == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
