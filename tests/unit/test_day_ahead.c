/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What grid operators expect for tomorrow, by Energy-Charts and by ENTSO-E:
 * options, answers, and requests to a server that answers nothing but what is of the day before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "entsoe.h"

#define NOW 1683244800 /* 2023-05-05T00:00Z */
#define START 1683237600
#define DE "10Y1001A1001A82H"

static const struct option_case charts_options[] = {
    {"no series", {{"country", "de"}}, 0, "needs \"series\""},
    {"another series", {{"country", "de"}, {"series", "wind"}}, 11,
	"got \"wind\", want wind_onshore, wind_offshore, solar or load"},
    {"no country", {{"country", "DE"}, {"series", "load"}}, 10, "got \"DE\""},
    {"factors", {{"country", "de"}, {"series", "load"}, {"emission_factors", "direct"}}, 12,
	"emission_factors"},
    {"all", {{"country", "de"}, {"series", "wind_offshore"}}, 0, NULL},
};
static const struct option_case entsoe_options[] = {
    {"no series", {{"area", "DE"}, {"token_env", "T"}}, 0, "\"series\""},
    {"another series", {{"area", "DE"}, {"series", "gas"}, {"token_env", "T"}}, 11,
	"got \"gas\", want wind, solar or load"},
    {"no token", {{"area", "DE"}, {"series", "load"}}, 0, "token_env"},
    {"no area", {{"area", "XX"}, {"series", "load"}, {"token_env", "T"}}, 10, "\"XX\""},
    {"all", {{"area", "DE-LU"}, {"series", "wind"}, {"token_env", "T"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	adapter = lt_adapter_find("energy_charts_day_ahead");
	check_options(charts_options, COUNT(charts_options));
	adapter = lt_adapter_find("entsoe_day_ahead");
	check_options(entsoe_options, COUNT(entsoe_options));
}

#define CHARTS(values, production, type)                                                           \
	"{\"unix_seconds\":[1683237600,1683241200],\"forecast_values\":"                           \
	"[" values "],\"production_type\":\"" production "\",\"forecast_type\":\"" type            \
	"\",\"deprecated\":false}"

static const struct parse_case charts_cases[] = {
    {"as published", CHARTS("41000.5,0", "load", "day-ahead"), NULL, 2, 41000.5,
	LT_QUALITY_FORECAST, NULL, START, 3600},
    {"null is none, 0 is", CHARTS("null,0", "load", "day-ahead"), NULL, 1, 0, LT_QUALITY_FORECAST,
	"1 of 2 times have no usable value", START + 3600, 3600},
    {"of the same day, which nobody knew before", CHARTS("1,2", "load", "intraday"),
	"forecast_type: got \"intraday\", want \"day-ahead\"", 0, 0, 0, NULL, 0, 0},
    {"another type", CHARTS("1,2", "solar", "day-ahead"),
	"production_type: got \"solar\", want \"load\"", 0, 0, 0, NULL, 0, 0},
    {"less than 0", CHARTS("-5,-5", "load", "day-ahead"), "want more than 0", 0, 0, 0, NULL, 0, 0},
};

static const struct {
	const char *series, *file, *says;
	size_t count;
	double values[3];
} files[] = {
    /* Offshore by the quarter hour, onshore with one that goes on. */
    {"wind", "day_ahead_wind_solar", NULL, 3, {9530, 9600, 10310}},
    {"solar", "day_ahead_wind_solar", NULL, 3, {0, 0, 100}},
    {"load", "day_ahead_load", NULL, 3, {41000, 40000, 39500}},
    {"load", "day_ahead_wind_solar", "another type than A65", 0, {0}},
    {"wind", "generation_fr", "another type than A69", 0, {0}},
};

static void
test_entsoe(void **state)
{
	(void)state;
	adapter = lt_adapter_find("entsoe_day_ahead");
	for (size_t i = 0; i < COUNT(files); i++) {
		const struct pair pairs[] = {{"area", DE}, {"series", files[i].series}, {0}};
		const struct lt_source_options options = options_of(pairs);
		char path[128], bytes[8192] = "";
		struct lt_points points = {0};

		snprintf(
		    path, sizeof(path), "tests/fixtures/entsoe/%s_SYNTHETIC.xml", files[i].file);
		(void)read_fixture(path, bytes, sizeof(bytes) - 1);
		(void)parses(&options, NOW, path, bytes, files[i].says, &points);
		assert_int_equal(points.count, files[i].count);
		for (size_t k = 0; k < points.count; k++) {
			assert_int_equal(points.points[k].start_utc_s, START + (int64_t)k * 3600);
			assert_float_equal(points.points[k].value, files[i].values[k], 1e-9);
			assert_int_equal(points.points[k].quality, LT_QUALITY_FORECAST);
		}
		lt_points_free(&points);
	}
}

static void
test_charts(void **state)
{
	static const struct pair pairs[] = {{"country", "de"}, {"series", "load"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	char bytes[2048] = "";
	struct lt_points points = {0};

	(void)state;
	adapter = lt_adapter_find("energy_charts_day_ahead");
	check_answers(&options, NOW, charts_cases, COUNT(charts_cases));
	(void)read_fixture("tests/fixtures/energy_charts/"
			   "public_power_forecast_SYNTHETIC.json",
	    bytes, sizeof(bytes) - 1);
	assert_true(parses(&options, NOW, "file", bytes, NULL, &points));
	assert_int_equal(points.count, 7);
	assert_int_equal(points.points[6].end_utc_s, START + 7 * 900);
	lt_points_free(&points);
}

/* Midnight, UTC, after tomorrow: nobody has published more. */
static int64_t
known_until(void)
{
	return (time(NULL) / 86400 + 2) * 86400;
}

static bool
asks(const struct exchange *exchange, const char *const *words)
{
	bool all = true;

	for (int i = 0; words[i] != NULL; i++)
		all &= strstr(exchange->path, words[i]) != NULL;
	return all;
}

/* The last three days that there are: load, or wind of two kinds, of which
 * one is not known of the last hour. */
static bool
serve_ahead(const struct exchange *exchange)
{
	static const char *const charts[] = {"/public_power_forecast?", "country=de",
	    "production_type=load", "forecast_type=day-ahead", "start=", "end=", NULL};
	static const char *const wind[] = {
	    "/api?", "documentType=A69", "processType=A01", "in_Domain=" DE, "periodEnd=", NULL};
	const int64_t end = known_until();
	char *body = NULL;
	size_t size;
	FILE *const file = open_memstream(&body, &size);
	char from[32], to[32];

	if (asks(exchange, charts)) {
		fprintf(file, "{\"unix_seconds\":[");
		for (int i = 72; i > 0; i--)
			fprintf(file, "%lld%s", (long long)end - i * 3600,
			    i > 1 ? "," : "],\"forecast_values\":[");
		for (int i = 72; i > 0; i--)
			fprintf(file, "%d%s", 40000 + i,
			    i > 1 ? "," : "],\"production_type\":\"load\",");
		fprintf(file, "\"forecast_type\":\"day-ahead\"}");
	} else if (asks(exchange, wind)) {
		fprintf(file, "<GL_MarketDocument><type>A69</type>");
		for (int kind = 8; kind <= 9; kind++) {
			lt_utc_text(from, sizeof(from), end - 72 * 3600);
			lt_utc_text(to, sizeof(to), end - (kind == 8 ? 3600 : 0));
			fprintf(file,
			    "<TimeSeries><inBiddingZone_Domain.mRID>" DE
			    "</inBiddingZone_Domain.mRID><quantity_Measure_"
			    "Unit.name>MAW</quantity_Measure_Unit.name>"
			    "<curveType>A03</curveType><MktPSRType><psrType>"
			    "B1%d</psrType></MktPSRType><Period><timeInterval>"
			    "<start>%.16sZ</start><end>%.16sZ</end>"
			    "</timeInterval><resolution>PT60M</resolution>"
			    "<Point><position>1</position><quantity>%d"
			    "</quantity></Point></Period></TimeSeries>",
			    kind, from, to, 100 * kind);
		}
		fprintf(file, "</GL_MarketDocument>");
	}
	fclose(file);
	if (size > 0)
		server_answer(
		    exchange, 200, body[0] == '{' ? "application/json" : "text/xml", "", body);
	free(body);
	return size > 0;
}

static void
test_fetch(void **state)
{
	static const struct {
		const char *adapter;
		struct pair pairs[4];
		int hours; /* of 72 */
		double first;
	} cases[] = {
	    {"energy_charts_day_ahead", {{"country", "de"}, {"series", "load"}}, 72, 40072},
	    {"entsoe_day_ahead", {{"area", DE}, {"series", "wind"}, {"token_env", "LT_TEST_T"}}, 71,
		1700},
	};
	const int64_t now_utc_s = time(NULL);

	(void)state;
	setenv("LT_TEST_T", "secret", 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char url[128];
		struct pair pairs[5] = {{"url", server_url(url, "/")}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		memcpy(&pairs[1], cases[i].pairs, sizeof(cases[i].pairs));
		const struct lt_source_options options = options_of(pairs);
		adapter = lt_adapter_find(cases[i].adapter);
		if (lt_adapter_fetch(adapter, &options,
			&(struct lt_window){
			    now_utc_s - 3 * 86400, now_utc_s + 8 * 86400, now_utc_s},
			&points, &err) != LT_OK)
			fail_msg("%s: %s", cases[i].adapter, err.text);
		assert_int_equal(points.count, cases[i].hours);
		assert_float_equal(points.points[0].value, cases[i].first, 1e-9);
		assert_int_equal(points.points[points.count - 1].end_utc_s,
		    known_until() - (72 - cases[i].hours) * 3600);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("entsoe_day_ahead", serve_ahead);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_charts),
	    cmocka_unit_test(test_entsoe),
	    cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
