/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of WattTime: samples of its manual, its errors' words, and what
 * else may stand in them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "source.h"

#define FIXTURES "tests/fixtures/watttime/"
#define T0 1657843200 /* 2022-07-15T00:00Z, of the samples */
#define G_PER_LB 453.59237
#define META(more)                                                                                 \
	"\"meta\":{\"data_point_period_seconds\":300,"                                             \
	"\"region\":\"CAISO_NORTH\",\"units\":\"lbs_co2_per_mwh\"," more                           \
	"\"signal_type\":\"co2_moer\"}"
#define ROW(time, value) "{\"point_time\":\"2022-07-15T" time "\",\"value\":" value "}"

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "HTML", .bytes = "<html>", .says = "not JSON"},
    {.why = "nothing", .bytes = "{}", .says = "without \"data\" and"},
    {.why = "no meta", .bytes = "{\"data\":[]}", .says = "\"meta\""},
    {.why = "no rows", .bytes = "{\"data\":[]," META("") "}", .says = "no value in the answer"},
    {.why = "another region",
	.bytes = "{\"data\":[],\"meta\":{\"units\":\"lbs_co2_per_mwh\","
		 "\"region\":\"PJM_NJ\"}}",
	.says = "region: got \"PJM_NJ\", want CAISO_NORTH"},
    {.why = "no region",
	.bytes = "{\"data\":[],\"meta\":{\"units\":\"lbs_co2_per_mwh\"}}",
	.says = "region: got \"nothing\", want CAISO_NORTH"},
    {.why = "another unit",
	.bytes = "{\"data\":[],\"meta\":{\"units\":\"usd_per_mwh\"}}",
	.says = "units: got \"usd_per_mwh\", want lbs_co2_per_mwh"},
    {.why = "another signal in the same unit",
	.bytes = "{\"data\":[],\"meta\":{\"units\":\"lbs_co2_per_mwh\","
		 "\"signal_type\":\"co2_aoer\"}}",
	.says = "signal_type: got \"co2_aoer\", want co2_moer"},
    {.why = "no period",
	.bytes = "{\"data\":[],\"meta\":{\"units\":\"lbs_co2_per_mwh\","
		 "\"region\":\"CAISO_NORTH\"}}",
	.says = "data_point_period_seconds: got 0"},
    {.why = "only what can't be",
	.bytes = "{\"data\":[" ROW("00:00:00+00:00", "null") "," ROW("00:05:00Z", "-0.1") "," ROW(
	    "00:10:00Z", "-3") ",{},7]," META("") "}",
	.says = "5 values and none that can be used"},
    {.why = "curtailment: one more kWh emits nothing",
	.bytes = "{\"data\":[" ROW("00:00:00Z", "0") "," ROW("00:05:00Z", "null") "]," META("") "}",
	.count = 1,
	.quality = LT_QUALITY_MEASURED,
	.note = "1 of 2 values can't be used"},
    {.why = "a time without a zone is a guess",
	.bytes = "{\"data\":[" ROW("00:00:00", "5") "]," META("") "}",
	.says = "none that can be used"},
    {.why = "one bad value does not cost the others",
	.bytes =
	    "{\"data\":[" ROW("00:00:00Z", "null") "," ROW("00:05:00Z", "870") "]," META("") "}",
	.count = 1,
	.value = 870 * G_PER_LB / 1000,
	.quality = LT_QUALITY_MEASURED,
	.note = "1 of 2 values can't be used"},
    {.why = "the other spelling, a warning in words",
	.bytes =
	    "{\"data\":[" ROW("00:00:00Z", "870") "],\"meta\":{"
						  "\"data_point_periods_second\":300,\"units\":"
						  "\"lbs_co2_per_mwh\",\"region\":\"CAISO_NORTH\","
						  "\"warnings\":[\"be\\u001bware\"]}}",
	.count = 1,
	.value = 870 * G_PER_LB / 1000,
	.quality = LT_QUALITY_MEASURED,
	.note = "WattTime warns: be?ware"},
    {.why = "a forecast",
	.bytes = "{\"data\":[" ROW("00:00:00Z", "870") "," ROW("00:05:00Z", "871") "]," META(
	    "\"generated_at\":"
	    "\"2022-07-15T00:00:00+00:00\",") "}",
	.count = 2,
	.value = 870 * G_PER_LB / 1000,
	.quality = LT_QUALITY_FORECAST},
    {.why = "the last revision wins, wherever it stands",
	.bytes = "{\"data\":[{\"point_time\":\"2022-07-15T00:00:00Z\",\"value\":9,"
		 "\"last_updated\":\"2022-07-17T00:00:00Z\"},"
		 "{\"point_time\":\"2022-07-15T00:00:00Z\",\"value\":7,"
		 "\"last_updated\":\"2022-07-16T00:00:00Z\"}]," META("") "}",
	.count = 1,
	.value = 9 * G_PER_LB / 1000,
	.quality = LT_QUALITY_MEASURED},
    {.why = "as old: the later one",
	.bytes = "{\"data\":[" ROW("00:00:00Z", "9") "," ROW("00:00:00Z", "7") "]," META("") "}",
	.count = 1,
	.value = 7 * G_PER_LB / 1000,
	.quality = LT_QUALITY_MEASURED},
    {.why = "an hour twice at the end of summer time: two hours",
	.bytes = "{\"data\":[{\"point_time\":\"2022-11-06T01:30:00-07:00\","
		 "\"value\":5},{\"point_time\":\"2022-11-06T01:30:00-08:00\","
		 "\"value\":6}]," META("") "}",
	.count = 2,
	.value = 5 * G_PER_LB / 1000,
	.quality = LT_QUALITY_MEASURED},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"region", "CAISO_NORTH"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, T0 + 60, parse_cases, COUNT(parse_cases));
}

static void
test_samples(void **state)
{
	static const struct {
		const char *file, *says;
		size_t count;
		double first_g, last_g;
		enum lt_quality quality;
		int64_t issued_utc_s;
	} samples[] = {
	    {FIXTURES "historical_emissions_response.json", NULL, 2, 394.6253619, 390.0894382,
		LT_QUALITY_ESTIMATED, T0 + 600},
	    {FIXTURES "forecasted_emissions_response.json", NULL, 3, 394.6253619, 394.6253619,
		LT_QUALITY_ESTIMATED, T0},
	    {FIXTURES "realtime_emissions_response.json", "units: got \"percentile\"", 0, 0, 0,
		LT_QUALITY_NONE, 0},
	    {FIXTURES "403_forbidden_response.html", "not JSON", 0, 0, 0, LT_QUALITY_NONE, 0},
	    {FIXTURES "invalid_scope_response.json", "without \"data\"", 0, 0, 0, LT_QUALITY_NONE,
		0},
	};
	static const struct pair pairs[] = {{"region", "CAISO_NORTH"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		char bytes[4096];
		const size_t length = read_fixture(samples[i].file, bytes, sizeof(bytes));
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = lt_watttime_parse(
		    &options, &(struct lt_answer){bytes, length, T0 + 86400}, &points, &err);

		if (samples[i].says != NULL) {
			assert_int_equal(code, LT_EINPUT);
			assert_says(samples[i].file, &err, samples[i].says);
			continue;
		}
		assert_int_equal(code, LT_OK);
		assert_int_equal(points.count, samples[i].count);
		const struct lt_point *const last = &points.points[points.count - 1];
		assert_true(fabs(points.points[0].value - samples[i].first_g) < 1e-6);
		assert_true(fabs(last->value - samples[i].last_g) < 1e-6);
		assert_int_equal(points.points[0].start_utc_s, T0);
		assert_int_equal(points.points[0].end_utc_s, T0 + 300);
		assert_int_equal(last->quality, samples[i].quality);
		assert_int_equal(points.issued_utc_s, samples[i].issued_utc_s);
		assert_string_equal(points.note, "WattTime warns: This is just an example");
		lt_points_free(&points);
	}
}

static void
test_texts(void **state)
{
	char bytes[1024], text[64];
	size_t length = read_fixture(FIXTURES "grid_region_response.json", bytes, sizeof(bytes));
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_watttime_text(text, sizeof(text), &(struct lt_answer){bytes, length, 0},
			     "region", NULL),
	    LT_OK);
	assert_string_equal(text, "PSCO");
	assert_int_equal(
	    lt_watttime_text(text, 4, &(struct lt_answer){bytes, length, 0}, "region", &err),
	    LT_EINPUT);
	assert_says("long", &err, "want \"region\" of 1 to 3 bytes");
	assert_int_equal(lt_watttime_text(text, sizeof(text), &(struct lt_answer){bytes, length, 0},
			     "token", NULL),
	    LT_EINPUT);
	length = read_fixture(FIXTURES "coordinates_not_found_response.json", bytes, sizeof(bytes));
	lt_watttime_error(text, sizeof(text), bytes, length);
	assert_non_null(strstr(text, "No coverage available for these"));
	length = read_fixture(FIXTURES "invalid_scope_response.json", bytes, sizeof(bytes));
	lt_watttime_error(text, sizeof(text), bytes, length);
	assert_non_null(strstr(text, "not in this account's plan: Invalid"));
	length = read_fixture(FIXTURES "403_forbidden_response.html", bytes, sizeof(bytes));
	lt_watttime_error(text, sizeof(text), bytes, length);
	assert_string_equal(text, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_samples),
	    cmocka_unit_test(test_texts),
	};

	adapter = lt_adapter_find("watttime");
	return adapter == NULL ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
