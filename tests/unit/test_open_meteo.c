/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weather in Open-Meteo's format: a recorded week in local time, answers that are none, then places
 * of a zone fetched from a server and their mean.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_weather.h"

#define FIXTURE "tests/fixtures/open_meteo/forecast.json"
#define START 1637708400 /* 2021-11-24T00:00 in Berlin, 23:00Z before */
#define HOUR 3600
#define WHERE                                                                                      \
	{"url", "https://m.example"},                                                              \
	{                                                                                          \
		"places", "52.5,13.4"                                                              \
	}
#define WIND                                                                                       \
	{                                                                                          \
		"variable", "wind_speed_80m"                                                       \
	}
#define ANSWER(unit, times, values)                                                                \
	"{\"utc_offset_seconds\":0,\"hourly_units\":{\"wind_speed_80m\":\"" unit                   \
	"\"},\"hourly\":{\"time\":[" times "],\"wind_speed_80m\":[" values "]}}"
#define NIGHT "\"2021-11-24T00:00\""

static const struct option_case option_cases[] = {
    {"no host", {{"places", "52.5,13.4"}, WIND}, 0, "needs \"url\""},
    {"no places", {{"url", "https://m.example"}, WIND}, 0, "needs \"places\""},
    {"no variable", {WHERE}, 0, "needs \"variable\""},
    {"rain", {WHERE, {"variable", "rain"}}, 12, "got \"rain\", want one such"},
    {"two", {WHERE, {"variable", "wind_speed_80m,rain"}}, 12, "want one such"},
    {"capitals", {WHERE, {"variable", "wind_speed_80M"}}, 12, "want one such"},
    {"a town", {{"url", "https://m.example"}, {"places", "Kiel"}, WIND}, 11,
	"places: got \"Kiel\", want latitude,longitude"},
    {"nothing after the semicolon", {{"url", "https://m.example"}, {"places", "52.5,13.4;"}, WIND},
	11, "places: got \"\""},
    {"no longitude", {{"url", "https://m.example"}, {"places", "52.5"}, WIND}, 11,
	"places: got \"52.5\""},
    {"beyond the pole", {{"url", "https://m.example"}, {"places", "90.1,0"}, WIND}, 11,
	"places: got \"90.1,0\""},
    {"no weight", {{"url", "https://m.example"}, {"places", "52.5,13.4,0"}, WIND}, 11,
	"places: got \"52.5,13.4,0\""},
    {"four numbers", {{"url", "https://m.example"}, {"places", "52.5,13.4,1,2"}, WIND}, 11,
	"places: got \"52.5,13.4,1,2\""},
    {"seventeen places",
	{{"url", "https://m.example"},
	    {"places", "1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;1,1;"
		       "1,1;1,1;1,1;1,1"},
	    WIND},
	11, "places: got more than 16"},
    {"two keys", {WHERE, WIND, {"key_env", "A"}, {"key_file", "/b"}}, 13,
	"key_file and key_env, want one of them"},
    {"not http", {{"url", "m"}, {"places", "1,1"}, WIND}, 10, "want http://"},
    {"plain", {WHERE, WIND}, 0, NULL},
    {"the old name, the south, blanks and weights",
	{{"url", "https://m.example"}, {"places", " -33.9 , 151.2 , 2.5 ; 0,-180"},
	    {"variable", "windspeed_10m"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "an error with status 200",
	.bytes = "{\"error\":true,\"reason\":\"no\"}",
	.says = "JSON without lists \"time\" and \"wind_speed_80m\""},
    {.why = "another variable",
	.bytes = "{\"hourly\":{\"time\":[],\"rain\":[]}}",
	.says = "JSON without lists"},
    {.why = "values without times",
	.bytes = ANSWER("m/s", NIGHT, "1,2"),
	.says = "2 values for 1 times"},
    {.why = "knots",
	.bytes = ANSWER("kn", NIGHT, "1"),
	.says = "wind_speed_80m is in \"kn\", want m/s"},
    {.why = "nothing known",
	.bytes = ANSWER("m/s", NIGHT, "null"),
	.says = "no value of wind_speed_80m for 1 times"},
    {.why = "a word",
	.bytes = ANSWER("m/s", NIGHT, "\"calm\""),
	.says = "a value that is no number at 2021-11-24T00:00Z"},
    {.why = "a time that is none",
	.bytes = ANSWER("m/s", "1637708400", "1"),
	.says = "time: got \"Z\", want one such as"},
    {.why = "wind against itself",
	.bytes = ANSWER("m/s", NIGHT, "-1"),
	.says = "wind: got -1 m/s, want more than 0"},
    {.why = "a unit that is not the one it says",
	.bytes = ANSWER("m/s", NIGHT, "900"),
	.says = "is the unit right?"},
    {.why = "a calm is data",
	.bytes = ANSWER("m/s", NIGHT, "0"),
	.count = 1,
	.value = 0,
	.quality = LT_QUALITY_FORECAST,
	.start_utc_s = START + HOUR,
	.length_s = HOUR},
    {.why = "km/h, and a hole",
	.bytes = ANSWER("km/h", "\"2021-11-23T23:00\"," NIGHT, "null,36"),
	.count = 1,
	.value = 10,
	.start_utc_s = START + HOUR},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {WHERE, WIND, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, START, parse_cases, COUNT(parse_cases));
}

/* The recorded week. Sums are of the file, by another program; what is below
 * 0 of the sun's adds up to -0.7 there. */
static void
test_recorded(void **state)
{
	static const struct {
		const char *variable;
		enum lt_quantity quantity;
		double sum, first, last;
		int64_t start_utc_s;
	} rows[] = {
	    {"windspeed_80m", LT_QUANTITY_WIND, 3102.1 / 3.6, 20.9 / 3.6, 33.9 / 3.6, START},
	    {"temperature_2m", LT_QUANTITY_TEMPERATURE, 457.4, 6.9, 3, START},
	    {"shortwave_radiation", LT_QUANTITY_SUN, 4981.2 + 0.7, 0, 0, START - HOUR},
	};
	static char bytes[16384];
	const size_t length = read_fixture(FIXTURE, bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct pair pairs[] = {WHERE, {"variable", rows[i].variable}, {0}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_points points = {0};
		double sum = 0;

		assert_int_equal(lt_adapter_parse(adapter, &options,
				     &(struct lt_answer){bytes, length, START}, &points, NULL),
		    LT_OK);
		assert_int_equal(points.quantity, rows[i].quantity);
		assert_int_equal(lt_adapter_quantity(adapter, &options), rows[i].quantity);
		assert_int_equal(points.count, 168);
		for (int k = 0; k < 168; k++) {
			assert_int_equal(
			    points.points[k].start_utc_s, rows[i].start_utc_s + k * HOUR);
			sum += points.points[k].value;
		}
		assert_true(fabs(sum - rows[i].sum) < 1e-6);
		assert_true(fabs(points.points[0].value - rows[i].first) < 1e-9);
		assert_true(fabs(points.points[167].value - rows[i].last) < 1e-9);
		lt_points_free(&points);
	}
}

struct asked {
	const char *path, *places, *variable, *key;
	int days;
};

static int
fetch(const struct asked *asked, struct lt_source_memory *memory, struct lt_points *points,
    struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {{"url", url}, {"places", asked->places},
	    {"variable", asked->variable}, {"key_env", "LT_TEST_SECRET"}, {0}};
	const int64_t now_utc_s = server_stop_clock();

	server_url(url, asked->path);
	struct lt_source_options options = options_of(pairs);
	if (asked->key == NULL)
		options.count--;
	else
		setenv("LT_TEST_SECRET", asked->key, 1);
	options.memory = memory;
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s - asked->days * 86400, now_utc_s + 14 * 86400, now_utc_s},
	    points, err);
}

/* Weights 3 and 1, the second place with twice the wind: 5/4 of the first. */
static void
test_places(void **state)
{
	static struct lt_source_memory memory;
	const int64_t today = server_stop_clock() / 86400 * 86400;
	const struct asked asked = {
	    "/weather", "52.5,13.4,3; 56.3,10,1", "wind_speed_80m", WEATHER_KEY, 2};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	if (fetch(&asked, &memory, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(memory.trace_count, 2);
	assert_null(strstr(memory.trace[0].request, WEATHER_KEY));
	assert_int_equal(points.points[0].start_utc_s, today - 3 * 86400);
	assert_int_equal(points.count, 18 * 24);
	for (size_t i = 0; i < points.count; i++)
		assert_true(
		    fabs(points.points[i].value -
			 1.25 * weather_value(0, 52.5, points.points[i].start_utc_s)) < 1e-9);
	lt_points_free(&points);
}

/* All that it has when history is wanted; hours without sun stay holes. */
static void
test_history(void **state)
{
	static struct lt_source_memory memory;
	const int64_t today = server_stop_clock() / 86400 * 86400;
	const struct asked asked = {
	    "/weather", "52.5,13.4; 56.3,10", "shortwave_radiation", NULL, 28};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	if (fetch(&asked, &memory, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points.points[0].start_utc_s, today - 92 * 86400 - HOUR);
	assert_int_equal(points.count, (92 + 13) * 24);
	assert_int_equal(points.quantity, LT_QUANTITY_SUN);
	assert_true(points.issued_utc_s == 0); /* it covers now */
	lt_points_free(&points);
}

static void
test_refused(void **state)
{
	static const struct {
		struct asked asked;
		const char *says;
	} cases[] = {
	    {{"/weather", "52.5,13.4", "temperature_2m", "wrong-key", 2},
		"HTTP status 400, want 200: The supplied API key is invalid."},
	    {{"/weather", "52.5,13.4", "temperature_80m", NULL, 2},
		"Cannot initialize VariableAndPreset"},
	    {{"/status/503", "52.5,13.4", "temperature_2m", NULL, 2},
		"HTTP status 503, want 200, asks to wait 7 s"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		static struct lt_source_memory memory;
		struct lt_points points = {0};
		struct lt_error err = {0};

		assert_int_equal(fetch(&cases[i].asked, &memory, &points, &err), LT_ENET);
		assert_says("refused", &err, cases[i].says);
		assert_null(strstr(err.text, "wrong-key"));
		assert_int_equal(points.count, 0);
		assert_int_equal(points.retry_after_s, i == COUNT(cases) - 1 ? 7 : 0);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("open_meteo", serve_weather);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_history),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
