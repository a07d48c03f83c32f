/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Carbon Aware SDK's WebAPI: its answers parsed, then fetched from a server that behaves as it
 * does before several data sources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_marginal.h"

#define FIXTURES "tests/fixtures/carbon_aware/"
#define T0 1653264000 /* 2022-05-23T00:00Z */
#define AHEAD(location, rows)                                                                      \
	"[{\"generatedAt\":\"2022-05-22T23:55:00+00:00\",\"location\":"                            \
	"\"" location "\",\"forecastData\":[" rows "]}]"
#define ROW(minute, duration, value)                                                               \
	"{\"location\":\"IE\",\"timestamp\":\"2022-05-23T00:" minute                               \
	":00+00:00\",\"duration\":" duration ",\"value\":" value "}"
#define PAST(time, rating, more)                                                                   \
	"{\"location\":\"x\",\"time\":\"2022-05-2" time "\",\"rating\":" rating more "}"

static const struct option_case option_cases[] = {
    {"no URL", {{"location", "eastus"}}, 0, "needs \"url\""},
    {"no location", {{"url", "http://a"}}, 0, "needs \"location\""},
    {"an empty location", {{"url", "http://a"}, {"location", ""}}, 11, "1 to 128 bytes"},
    {"not http", {{"url", "sdk"}, {"location", "a"}}, 10, "want http://"},
    {"neither", {{"url", "http://a"}, {"location", "a"}, {"intensity", "both"}}, 12,
	"got \"both\", want average or marginal"},
    {"average", {{"url", "http://a"}, {"location", "a"}}, 0, NULL},
    {"marginal", {{"url", "http://a"}, {"location", "a"}, {"intensity", "marginal"}}, 0, NULL},
};

static void
test_options(void **state)
{
	static const struct pair none[] = {{0}};
	static const struct pair other[] = {{"intensity", "marginal"}, {0}};
	struct lt_source_options options = options_of(none);

	(void)state;
	check_options(option_cases, COUNT(option_cases));
	assert_int_equal(lt_adapter_quantity(adapter, &options), LT_QUANTITY_CARBON);
	options = options_of(other);
	assert_int_equal(lt_adapter_quantity(adapter, &options), LT_QUANTITY_MARGINAL);
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "an object", .bytes = "{}", .says = "JSON that is no list"},
    {.why = "no row", .bytes = "[]", .says = "0 rows"},
    {.why = "a forecast of elsewhere",
	.bytes = AHEAD("westus", ROW("00", "5", "9")),
	.says = "location: got \"westus\", want eastus"},
    {.why = "a forecast of nowhere",
	.bytes = "[{\"forecastData\":[]}]",
	.says = "location: got \"nothing\""},
    {.why = "an empty forecast", .bytes = AHEAD("eastus", ""), .says = "0 rows and none"},
    {.why = "0 is what it says where it has nothing",
	.bytes = AHEAD("eastus", ROW("00", "5", "0")),
	.says = "1 rows and none that can be used: carbon: got 0"},
    {.why = "a time of nobody",
	.bytes = "[{\"time\":\"noon\",\"rating\":7}]",
	.says = "time: got \"noon\", want a time"},
    {.why = "a duration of nobody",
	.bytes = "[" PAST("2T00:00:00Z", "7", ",\"duration\":\"PT5M\"") "]",
	.says = "duration: got \"PT5M\", want hh:mm:ss"},
    {.why = "a duration that is neither",
	.bytes = "[" PAST("2T00:00:00Z", "7", ",\"duration\":[5]") "]",
	.says = "duration: got \"something else\""},
    {.why = "backwards",
	.bytes = "[" PAST("2T00:00:00Z", "7", ",\"duration\":-5") "]",
	.says = "duration: got"},
    {.why = "a name in other letters, one bad row of two",
	.bytes = AHEAD("EastUS", ROW("00", "5", "null") "," ROW("05", "5", "195.2")),
	.count = 1,
	.value = 195.2,
	.length_s = 300,
	.quality = LT_QUALITY_FORECAST,
	.note = "1 of 2 rows can't be used"},
    {.why = "a duration in words",
	.bytes = AHEAD("eastus", ROW("00", "\"00:05:00\"", "7")),
	.count = 1,
	.value = 7,
	.length_s = 300,
	.quality = LT_QUALITY_FORECAST},
    {.why = "a day and a fraction",
	.bytes = "[" PAST("1T00:00:00", "7", ",\"duration\":\"1.00:00:00.5\"") "]",
	.count = 1,
	.value = 7,
	.length_s = 86400,
	.quality = LT_QUALITY_MEASURED},
    {.why = "hours and minutes",
	.bytes = "[" PAST("1T00:00:00Z", "7", ",\"duration\":\"01:30\"") "]",
	.count = 1,
	.value = 7,
	.length_s = 5400,
	.quality = LT_QUALITY_MEASURED},
    {.why = "no duration: until the next",
	.bytes = "[" PAST("1T00:00:00Z", "7", "") "," PAST(
	    "1T01:00:00Z", "8", ",\"duration\":\"00:00:00\"") "]",
	.count = 2,
	.value = 7,
	.length_s = 3600,
	.quality = LT_QUALITY_MEASURED},
    {.why = "no duration and no next: 8 hours",
	.bytes = "[" PAST("1T00:00:00Z", "7", "") "," PAST("2T01:00:00Z", "8", "") "]",
	.count = 2,
	.value = 7,
	.length_s = 8 * 3600,
	.quality = LT_QUALITY_MEASURED},
    {.why = "of two for one time the later counts",
	.bytes = "[" PAST("1T00:00:00Z", "7", ",\"duration\":60") "," PAST(
	    "1T00:00:00Z", "8", ",\"duration\":60") "]",
	.count = 1,
	.value = 8,
	.length_s = 3600,
	.quality = LT_QUALITY_MEASURED},
    {.why = "summer time ends: 02:00 comes twice",
	.bytes = "[{\"time\":\"2021-10-31T02:00:00+02:00\",\"rating\":7},"
		 "{\"time\":\"2021-10-31T02:00:00+01:00\",\"rating\":8}]",
	.count = 2,
	.value = 7,
	.length_s = 3600,
	.quality = LT_QUALITY_MEASURED},
    {.why = "what is to come is a forecast, here too",
	.bytes = "[" PAST("4T00:00:00Z", "7", ",\"duration\":\"01:00:00\"") "]",
	.count = 1,
	.value = 7,
	.length_s = 3600,
	.quality = LT_QUALITY_FORECAST},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"location", "eastus"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, T0, parse_cases, COUNT(parse_cases));
}

static void
test_samples(void **state)
{
	static const struct {
		const char *file;
		size_t count;
		double value;
		int64_t length_s;
		enum lt_quality quality;
		int64_t issued_utc_s;
	} samples[] = {
	    {FIXTURES "bylocation_issue570.json", 3, 337, 3600, LT_QUALITY_MEASURED, 1727683200},
	    {FIXTURES "forecast_current_SYNTHETIC.json", 4, 195.2, 300, LT_QUALITY_ESTIMATED, T0},
	};
	static const struct pair pairs[] = {{"location", "northeurope"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		char bytes[4096];
		struct lt_points points = {0};
		struct lt_error err = {0};
		const size_t length = read_fixture(samples[i].file, bytes, sizeof(bytes));

		if (lt_adapter_parse(adapter, &options,
			&(struct lt_answer){bytes, length, 1800000000}, &points, &err) != LT_OK)
			fail_msg("%s: %s", samples[i].file, err.text);
		assert_int_equal(points.count, samples[i].count);
		assert_true(points.points[0].value == samples[i].value);
		assert_int_equal(
		    points.points[0].end_utc_s - points.points[0].start_utc_s, samples[i].length_s);
		assert_int_equal(points.points[0].quality, samples[i].quality);
		assert_int_equal(points.issued_utc_s, samples[i].issued_utc_s);
		lt_points_free(&points);
	}
}

/* ---- against the server ---- */

static int
fetch(const char *location, const char *intensity, int64_t from_s, int64_t to_s, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {
	    {"url", url}, {"location", location}, {"intensity", intensity}, {0}};
	const struct lt_source_options options = options_of(pairs);

	server_url(url, "/marginal/sdk/");
	*points = (struct lt_points){0};
	*err = (struct lt_error){0};
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s + from_s, now_utc_s + to_s, now_utc_s}, points, err);
}

static void
test_fetch(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;
	size_t hours = 0;

	(void)state;
	if (fetch("eastus", "marginal", -28 * 86400, 20 * 3600, now_utc_s, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.quantity, LT_QUANTITY_MARGINAL);
	assert_string_equal(points.note, "");
	assert_true(points.points[0].start_utc_s <= now_utc_s - 28 * 86400);
	assert_true(points.points[0].end_utc_s > now_utc_s - 28 * 86400);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		assert_true(p->value >= 150);
		if (p->quality == LT_QUALITY_MEASURED)
			hours++;
		else
			assert_int_equal(p->end_utc_s - p->start_utc_s, 300);
	}
	assert_true(hours >= 28 * 24 && hours <= 28 * 24 + 1);
	assert_true(points.points[points.count - 1].end_utc_s >= now_utc_s + 20 * 3600);
	assert_true(points.issued_utc_s > now_utc_s - 400);
	lt_points_free(&points);
}

static void
test_parts(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points;
	struct lt_error err;

	(void)state;
	/* No forecast behind it: what was, and as old as it is. */
	assert_int_equal(
	    fetch("noforecast", "average", -2 * 86400, 86400, now_utc_s, &points, &err), LT_OK);
	assert_int_equal(points.quantity, LT_QUANTITY_CARBON);
	assert_true(points.count >= 48);
	assert_non_null(
	    strstr(points.note, "without forecast: 127.0.0.1: HTTP status 501, want 200: "
				"NotImplementedException: The method"));
	lt_points_free(&points);
	assert_int_equal(
	    fetch("noforecast", "average", 0, 86400, now_utc_s, &points, &err), LT_ENET);
	assert_int_equal(
	    fetch("neither", "average", -86400, 86400, now_utc_s, &points, &err), LT_ENET);
	assert_says("neither", &err, "501, want 200: NotImplementedException");

	/* A forecast of another place is none. */
	assert_int_equal(
	    fetch("elsewhere", "average", -86400, 3600, now_utc_s, &points, &err), LT_OK);
	assert_true(points.count >= 24);
	assert_string_equal(points.note,
	    "without forecast: 127.0.0.1: location: got \"westus\", want "
	    "elsewhere");
	lt_points_free(&points);

	/* Nothing of the past is an answer. */
	assert_int_equal(fetch("empty", "average", -86400, 3600, now_utc_s, &points, &err), LT_OK);
	assert_string_equal(points.note, "");
	lt_points_free(&points);
	assert_int_equal(fetch("empty", "average", -86400, 0, now_utc_s, &points, &err), LT_EINPUT);
	assert_says("empty", &err, "src: nothing of the time");
}

static void
test_errors(void **state)
{
	static const struct {
		const char *location;
		int code;
		const char *says;
	} cases[] = {
	    {"nowhere", LT_ENET,
		"127.0.0.1: HTTP status 400, want 200: "
		"LocationConversionException: Unknown Location: 'nowhere'"},
	    {"invalid", LT_ENET, "One or more validation errors occurred.: The location field"},
	    {"nologin", LT_ENET,
		"the SDK's data source: 127.0.0.1: HTTP status 401, want 200: "
		"WattTimeClientHttpException: Login failed for user"},
	    {"broken", LT_ENET,
		"HTTP status 500, want 200: "
		"InternalServerError"},
	    {"text", LT_EINPUT, "127.0.0.1: line 1"},
	};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points;
		struct lt_error err;
		const int code =
		    fetch(cases[i].location, "average", -86400, 3600, now_utc_s, &points, &err);

		if (code != cases[i].code || points.count != 0)
			fail_msg("%s: %d %s", cases[i].location, code, err.text);
		assert_says(cases[i].location, &err, cases[i].says);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("carbon_aware_sdk", serve_marginal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_samples),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
