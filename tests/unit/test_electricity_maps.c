/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Electricity Maps: captured and odd answers parsed, then fetched with keys of plans that may much
 * and little, from a server that answers as it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURES "tests/fixtures/electricity_maps/"
#define T0 1709751600 /* 2024-03-06T19:00Z, of the captured answers */
#define ROW(time, value, rest)                                                                     \
	"{\"zone\":\"DE\",\"carbonIntensity\":" value ",\"datetime\":\"2024-03-06T" time           \
	":00.000Z\"" rest "}"
#define AT(time, value)                                                                            \
	"{\"zone\":\"DE\",\"carbonIntensity\":" value ",\"datetime\":\"2024-" time "\"}"
#define LIST(key, rows) "{\"zone\":\"DE\",\"" key "\":[" rows "]}"

static const struct option_case option_cases[] = {
    {"nothing", {{NULL, NULL}}, 0, "want zone, or data_center_provider"},
    {"no key", {{"zone", "DE"}}, 0, "key_file or key_env: missing"},
    {"zone and data centre",
	{{"zone", "DE"}, {"key_env", "K"}, {"data_center_provider", "gcp"},
	    {"data_center_region", "europe-west1"}},
	12, "want zone, or"},
    {"half a data centre", {{"data_center_provider", "gcp"}, {"key_env", "K"}}, 10, "together"},
    {"the other half", {{"data_center_region", "europe-west1"}, {"key_env", "K"}}, 10, "together"},
    {"small letters", {{"zone", "de"}, {"key_env", "K"}}, 10, "zone: got \"de\", want a zone"},
    {"a query", {{"zone", "DE&zone=FR"}, {"key_env", "K"}}, 10, "got \"DE&"},
    {"empty", {{"zone", ""}, {"key_env", "K"}}, 10, "got \"\""},
    {"a region in capitals",
	{{"data_center_provider", "gcp"}, {"data_center_region", "EU"}, {"key_env", "K"}}, 11,
	"want small letters such as europe-west1"},
    {"two keys", {{"zone", "DE"}, {"key_env", "K"}, {"key_file", "/k"}}, 11,
	"key_file and key_env, want one"},
    {"other factors", {{"zone", "DE"}, {"key_env", "K"}, {"emission_factors", "marginal"}}, 12,
	"got \"marginal\", want lifecycle or direct"},
    {"maybe a forecast", {{"zone", "DE"}, {"key_env", "K"}, {"forecast", "maybe"}}, 12,
	"want yes or no"},
    {"an odd horizon", {{"zone", "DE"}, {"key_env", "K"}, {"horizon_hours", "36"}}, 12,
	"got \"36\", want 6, 24, 48 or 72"},
    {"not http", {{"zone", "DE"}, {"key_env", "K"}, {"url", "a"}}, 12, "want http://"},
    {"a zone", {{"zone", "US-CAL-CISO"}, {"key_file", "/etc/k"}}, 0, NULL},
    {"a data centre",
	{{"data_center_provider", "gcp"}, {"data_center_region", "eu-2"}, {"key_env", "K"},
	    {"emission_factors", "direct"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

/* Now is half past seven. */
static const struct {
	const char *why, *bytes;
	int code;
	const char *says;   /* NULL = good */
	const char *points; /* "hours from T0=value quality" */
	const char *note;
} parse_cases[] = {
    {.why = "empty", .bytes = "", .code = LT_EINPUT, .says = "empty, want"},
    {.why = "a list", .bytes = "[]", .code = LT_EINPUT, .says = "JSON without \"carbonIntensity\""},
    {.why = "no data, with status 200",
	.bytes = "{\"status\":\"no-data\",\"data\":{}}",
	.code = LT_ENET,
	.says = "the source says: no-data"},
    {.why = "an error, with status 200",
	.bytes = "{\"error\":\"a\\nb\",\"message\":\"why\"}",
	.code = LT_ENET,
	.says = "the source says: a?b why"},
    {.why = "no rows",
	.bytes = LIST("history", ""),
	.code = LT_EINPUT,
	.says = "0 hours and no usable value"},
    {.why = "null is a gap, not an answer",
	.bytes = ROW("19:00", "null", ""),
	.code = LT_EINPUT,
	.says = "1 hours and no usable value among them"},
    {.why = "0 stands for missing",
	.bytes = ROW("19:00", "0", ""),
	.code = LT_EINPUT,
	.says = "carbon: got 0"},
    {.why = "-1 stands for missing elsewhere",
	.bytes = ROW("19:00", "-1", ""),
	.code = LT_EINPUT,
	.says = "carbon: got -1"},
    {.why = "no number",
	.bytes = ROW("19:00", "{}", ""),
	.code = LT_EINPUT,
	.says = "carbonIntensity is no number"},
    {.why = "no time",
	.bytes = "{\"zone\":\"DE\",\"carbonIntensity\":5}",
	.code = LT_EINPUT,
	.says = "without \"datetime\""},
    {.why = "a time of nobody",
	.bytes = "{\"zone\":\"DE\",\"carbonIntensity\":5,\"datetime\":\"now\"}",
	.code = LT_EINPUT,
	.says = "datetime: got \"now\""},
    {.why = "the caller's own zone, by his IP address",
	.bytes = "{\"zone\":\"DK-DK2\",\"carbonIntensity\":5,\"datetime\":"
		 "\"2024-03-06T19:00:00Z\"}",
	.code = LT_EINPUT,
	.says = "zone: got \"DK-DK2\", want \"DE\""},
    {.why = "no zone",
	.bytes = "{\"carbonIntensity\":5,\"datetime\":"
		 "\"2024-03-06T19:00:00Z\"}",
	.code = LT_EINPUT,
	.says = "a value without \"zone\""},
    {.why = "other factors than asked for",
	.bytes = ROW("19:00", "20", ",\"emissionFactorType\":\"direct\""),
	.code = LT_EINPUT,
	.says = "emissionFactorType: got \"direct\", want \"lifecycle\""},
    {.why = "days, not hours",
	.bytes = ROW("00:00", "20", ",\"temporalGranularity\":\"daily\""),
	.code = LT_EINPUT,
	.says = "temporalGranularity: got \"daily\", want \"hourly\""},
    {.why = "two times of nobody, told once",
	.bytes = "{\"zone\":\"DE\",\"data\":[{\"carbonIntensity\":7,"
		 "\"datetime\":\"noon\"},{\"carbonIntensity\":7,\"datetime\":"
		 "\"one\"}]}",
	.code = LT_EINPUT,
	.says = "among them: datetime: got \"noon\""},
    {.why = "made up",
	.bytes = ROW("19:00", "20", ",\"estimationMethod\":\"SANDBOX_MODE_DATA\""),
	.code = LT_EDENIED,
	.says = "made-up values (SANDBOX_MODE_DATA)"},
    {.why = "made up, one of many",
	.bytes = LIST("data", ROW("18:00", "20", "") "," ROW(
				  "19:00", "20", ",\"estimationMethod\":\"SANDBOX_MODE_DATA\"")),
	.code = LT_EDENIED,
	.says = "SANDBOX"},
    {.why = "made up, as a whole",
	.bytes = "{\"_disclaimer\":\"SANDBOX MODE\",\"zone\":\"DE\","
		 "\"forecast\":[]}",
	.code = LT_EDENIED,
	.says = "SANDBOX"},
    {.why = "the present, estimated",
	.bytes = ROW("19:00", "216", ",\"isEstimated\":true"),
	.points = "0=216 estimated"},
    {.why = "history: measured and estimated, and a gap",
	.bytes = LIST("history",
	    ROW("16:00", "200", ",\"isEstimated\":false") "," ROW("17:00", "null",
		",\"isEstimated\":false") "," ROW("18:00", "202", ",\"isEstimated\":true")),
	.points = "-3=200 measured, -1=202 estimated",
	.note = "1 of 3 hours have no usable value"},
    {.why = "of two for one hour the later counts",
	.bytes = LIST("data", ROW("18:00", "1", ",\"isEstimated\":true") "," ROW(
				  "18:00", "2", ",\"isEstimated\":false")),
	.points = "-1=2 measured"},
    {.why = "a forecast: rows without more",
	.bytes = "{\"zone\":\"DE\",\"forecast\":[{\"carbonIntensity\":7,"
		 "\"datetime\":\"2024-03-06T18:00:00.000Z\"},"
		 "{\"carbonIntensity\":8,\"datetime\":"
		 "\"2024-03-06T19:00:00.000Z\"},{\"carbonIntensity\":9,"
		 "\"datetime\":\"2024-03-06T20:00:00.000Z\"}]}",
	.points = "-1=7 estimated, 0=8 forecast, 1=9 forecast"},
    {.why = "what is to come nobody has measured",
	.bytes = ROW("20:00", "9", ",\"isEstimated\":false"),
	.points = "1=9 forecast"},
    {.why = "summer time begins: no hour is missing",
	.bytes =
	    LIST("history", AT("03-31T01:00:00+01:00", "7") "," AT("03-31T03:00:00+02:00", "8")),
	.points = "581=7 forecast, 582=8 forecast"},
    {.why = "summer time ends: 02:00 comes twice",
	.bytes =
	    LIST("history", AT("10-27T02:00:00+02:00", "7") "," AT("10-27T02:00:00+01:00", "8")),
	.points = "5621=7 forecast, 5622=8 forecast"},
    {.why = "one row of another zone does not cost the others",
	.bytes = "{\"data\":[" ROW(
	    "18:00", "8", ",\"isEstimated\":true") ",{\"zone\":\"FR\",\"carbonIntensity\":3,"
						   "\"datetime\":"
						   "\"2024-03-06T19:00:00.000Z\"}]}",
	.points = "-1=8 estimated",
	.note = "1 of 2 hours have no usable value"},
};

static const char *
points_text(const struct lt_points *points, char out[2048])
{
	int length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < points->count && length < 1900; i++) {
		const struct lt_point *const p = &points->points[i];

		if (p->end_utc_s != p->start_utc_s + 3600)
			length += sprintf(out + length, "not an hour: ");
		length += sprintf(out + length, "%s%lld=%g %s", i == 0 ? "" : ", ",
		    (long long)((p->start_utc_s - T0) / 3600), p->value,
		    lt_quality_name(p->quality));
	}
	return out;
}

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"zone", "DE"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		const char *const why = parse_cases[i].why;
		const char *const note = parse_cases[i].note == NULL ? "" : parse_cases[i].note;
		struct lt_points points = {0};
		struct lt_error err = {0};
		char text[2048];
		const int code = lt_adapter_parse(adapter, &options,
		    &(struct lt_answer){
			parse_cases[i].bytes, strlen(parse_cases[i].bytes), T0 + 1800},
		    &points, &err);

		if (code != parse_cases[i].code)
			fail_msg("%s: %d %s", why, code, err.text);
		if (code != LT_OK)
			assert_says(why, &err, parse_cases[i].says);
		else if (strcmp(points_text(&points, text), parse_cases[i].points) != 0 ||
			 strcmp(points.note, note) != 0)
			fail_msg("%s: %s; %s", why, text, points.note);
		lt_points_free(&points);
	}
}

static const struct {
	const char *file, *zone;
	int64_t now_utc_s;
	const char *says; /* NULL = good */
	size_t count;
	double last;
	enum lt_quality first_quality, last_quality;
	int64_t issued_utc_s;
} files[] = {
    {"latest_carbon_intensity.json", "US-CAR-DUK", T0 + 600, NULL, 1, 216, LT_QUALITY_ESTIMATED,
	LT_QUALITY_ESTIMATED, 0},
    {"latest_carbon_intensity.json", "DE", T0, "got \"US-CAR-DUK\"", 0, 0, 0, 0, 0},
    {"carbon_intensity_history.json", "DE", T0 + 3600, NULL, 24, 689, LT_QUALITY_MEASURED,
	LT_QUALITY_ESTIMATED, T0 + 3600},
    {"forecast_SYNTHETIC.json", "DE", 1683244800, NULL, 4, 301, LT_QUALITY_FORECAST,
	LT_QUALITY_FORECAST, 1683243600},
    {"past_range_SYNTHETIC.json", "DE", 1683244800, NULL, 2, 318, LT_QUALITY_MEASURED,
	LT_QUALITY_ESTIMATED, 1683241200},
    {"sandbox_SYNTHETIC.json", "DE", 1683244800, "made-up", 0, 0, 0, 0, 0},
    {"no_data.json", "DE", 1683244800, "the source says: no-data", 0, 0, 0, 0, 0},
};

static void
test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		const struct pair pairs[] = {{"zone", files[i].zone}, {0}};
		const struct lt_source_options options = options_of(pairs);
		char path[128], bytes[8192];
		struct lt_points points = {0};
		struct lt_error err = {0};

		snprintf(path, sizeof(path), FIXTURES "%s", files[i].file);
		const size_t length = read_fixture(path, bytes, sizeof(bytes));
		const int code = lt_adapter_parse(adapter, &options,
		    &(struct lt_answer){bytes, length, files[i].now_utc_s}, &points, &err);
		if ((code == LT_OK) != (files[i].says == NULL) || points.count != files[i].count)
			fail_msg("%s: %d %zu %s", path, code, points.count, err.text);
		if (code != LT_OK) {
			assert_says(path, &err, files[i].says);
		} else {
			const struct lt_point *const last = &points.points[points.count - 1];

			assert_true(last->value == files[i].last);
			assert_int_equal(last->quality, files[i].last_quality);
			assert_int_equal(points.points[0].quality, files[i].first_quality);
			assert_int_equal(points.issued_utc_s, files[i].issued_utc_s);
		}
		lt_points_free(&points);
	}
}

enum { LONG_PAIRS = 8 };

/* One fetch with a key; more options after it. */
static int
fetch(const char *key, const struct pair *more, int64_t from_utc_s, struct lt_source_memory *memory,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t now_utc_s = server_stop_clock();
	char url[128];
	struct pair pairs[LONG_PAIRS] = {{"key_env", "EM_TEST_KEY"}, {"url", url}};

	server_url(url, "/europe/em/v3");
	for (int i = 0; more[i].key != NULL; i++)
		pairs[2 + i] = more[i];
	setenv("EM_TEST_KEY", key, 1);
	struct lt_source_options options = options_of(pairs);
	options.memory = memory;
	const int code = lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){from_utc_s, now_utc_s + 2 * 86400, now_utc_s}, points, err);
	for (int i = 0; memory != NULL && i < memory->trace_count; i++)
		assert_null(strstr(memory->trace[i].request, key));
	assert_null(strstr(err->text, key));
	assert_null(strstr(points->note, key));
	return code;
}

static void
hours_are_whole(const struct lt_points *points, bool has_forecast)
{
	const int64_t now_utc_s = server_stop_clock();

	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const p = &points->points[i];
		const int day = europe_em_day[p->start_utc_s % 86400 / 3600];

		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		assert_true(p->value == (p->start_utc_s > now_utc_s ? day - 7 : day));
		assert_int_equal(p->quality, p->start_utc_s > now_utc_s ? LT_QUALITY_FORECAST
					     : p->start_utc_s > now_utc_s - 3 * 3600
						 ? LT_QUALITY_ESTIMATED
						 : LT_QUALITY_MEASURED);
	}
	assert_int_equal(points->points[points->count - 1].start_utc_s > now_utc_s, has_forecast);
}

/* What is said of now goes over what was forecast for now. */
static void
test_fetch(void **state)
{
	static const struct pair pairs[] = {{"zone", "DE"}, {0}};
	const int64_t now_utc_s = server_stop_clock();
	const int64_t hour_utc_s = now_utc_s - now_utc_s % 3600;
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	if (fetch("europe-key", pairs, now_utc_s - 28 * 86400, &memory, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	hours_are_whole(&points, true);
	assert_between((int64_t)points.count, 28 * 24 + 46, 28 * 24 + 50);
	assert_true(points.points[0].start_utc_s <= now_utc_s - 28 * 86400);
	assert_string_equal(points.note, "");
	assert_int_equal(points.issued_utc_s, hour_utc_s - 1800);
	/* latest, forecast, and the past in four parts of at most 9 days */
	assert_int_equal(memory.trace_count, 6);
	for (int i = 0; i < memory.trace_count; i++)
		assert_non_null(
		    strstr(memory.trace[i].request, "zone=DE&emissionFactorType=lifecycle&"
						    "shouldUseFallbackCallerLookup=false"));
	lt_points_free(&points);
}

static const struct {
	const char *why, *key;
	struct pair more[4];
	int code;
	const char *says; /* error, or note */
	bool has_forecast;
	int requests;
} plans[] = {
    {"no forecast wanted", "europe-key", {{"zone", "DE"}, {"forecast", "no"}}, LT_OK, "", false, 2},
    {"a data centre tells its zone", "europe-key",
	{{"data_center_provider", "gcp"}, {"data_center_region", "europe-west1"}}, LT_OK, "zone BE",
	true, 3},
    {"a plan of little", "free-key", {{"zone", "DE"}}, LT_OK,
	"without forecast: 127.0.0.1: HTTP status 403, want 200: Endpoint not "
	"available; history: its last day only, without past-range",
	false, 4},
    {"made-up values", "sandbox-key", {{"zone", "DE"}}, LT_EDENIED, "127.0.0.1: made-up values",
	false, 1},
    {"a key that is none", "old-key", {{"zone", "DE"}}, LT_ENET,
	"401, want 200: Invalid auth-token", false, 1},
    {"another zone than the plan's", "europe-key", {{"zone", "ZZ"}}, LT_ENET,
	"401, want 200: Token unauthorized for zoneKey=ZZ", false, 1},
};

static void
test_plans(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(plans); i++) {
		struct lt_source_memory memory = {0};
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = fetch(
		    plans[i].key, plans[i].more, time(NULL) - 2 * 86400, &memory, &points, &err);

		if (code != plans[i].code || memory.trace_count != plans[i].requests)
			fail_msg("%s: %d %d %s %s", plans[i].why, code, memory.trace_count,
			    err.text, points.note);
		if (code == LT_OK) {
			hours_are_whole(&points, plans[i].has_forecast);
			assert_between((int64_t)points.count, 23, 100);
			assert_string_equal(points.note, plans[i].says);
		} else {
			assert_says(plans[i].why, &err, plans[i].says);
			assert_int_equal(points.count, 0);
		}
		lt_points_free(&points);
	}
}

/* First parts of paths under which some endpoints answer otherwise. */
static const struct {
	const char *base, *endpoint;
	int status;
	const char *header, *body;
} odd[] = {
    {"/gap/", "/latest?", 200, "", ROW("19:00", "null", ",\"isEstimated\":true")},
    {"/busy/", "/forecast?", 429, "Retry-After: 90\r\n", "{}"},
    {"/past/", "/forecast?", 429, "Retry-After: 90\r\n", "{}"},
    {"/past/", "/past-range?", 429, "Retry-After: 60\r\n", "{}"},
    {"/both/", "/latest?", 200, "", ROW("19:00", "null", ",\"isEstimated\":true")},
    {"/both/", "/forecast?", 429, "Retry-After: 90\r\n", "{}"},
    {"/plan/", "/latest?", 200, "", ROW("19:00", "null", ",\"isEstimated\":true")},
    {"/plan/", "/forecast?", 401, "", "{\"error\":\"Not in this plan\"}"},
    {"/now/", "/latest?", 429, "Retry-After: 80\r\n", "{}"},
};

static bool
serve_odd(const struct exchange *exchange)
{
	struct exchange whole = *exchange;
	bool is_odd = false;

	for (size_t i = 0; i < COUNT(odd); i++) {
		if (strncmp(exchange->path, odd[i].base, strlen(odd[i].base)) != 0)
			continue;
		is_odd = true;
		if (strstr(exchange->path, odd[i].endpoint) != NULL) {
			server_answer(exchange, odd[i].status, "application/json", odd[i].header,
			    odd[i].body);
			return true;
		}
	}
	if (is_odd)
		snprintf(whole.path, sizeof(whole.path), "/europe/em/v3%.1900s",
		    strchr(exchange->path + 1, '/'));
	return serve_europe(&whole);
}

/* A fetch of two days from a first part of odd[]. */
static int
fetch_odd(const char *base, struct lt_points *points, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {{"zone", "DE"}, {"url", url}, {"key_env", "EM_TEST_KEY"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	const int64_t now_utc_s = server_stop_clock();

	setenv("EM_TEST_KEY", "europe-key", 1);
	server_url(url, base);
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s - 86400, now_utc_s + 86400, now_utc_s}, points, err);
}

/* No value of the hour that is now: the forecast has one. */
static void
test_gap_of_now(void **state)
{
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	if (fetch_odd("/gap", &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_between((int64_t)points.count, 48, 50);
	assert_string_equal(points.note,
	    "without the present: 127.0.0.1: 1 hours and no usable value "
	    "among them");
	lt_points_free(&points);
}

/* Who asks for a pause gets it, whichever of the requests is refused. */
static void
test_pause(void **state)
{
	static const struct {
		const char *why, *base;
		int code;
		int64_t retry_after_s;
	} cases[] = {
	    {"the forecast asks", "/busy", LT_OK, 90},
	    {"forecast and history: the longer", "/past", LT_OK, 90},
	    {"the forecast, and the present is a gap", "/both", LT_OK, 90},
	    {"the present asks, and the forecast comes", "/now", LT_OK, 80},
	    {"the present is a gap, and the plan has no forecast", "/plan", LT_OK, 0},
	    {"nobody asks", "/gap", LT_OK, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = fetch_odd(cases[i].base, &points, &err);

		if (code != cases[i].code || points.retry_after_s != cases[i].retry_after_s)
			fail_msg("%s: %d, %d s: %s", cases[i].why, code, (int)points.retry_after_s,
			    err.text);
		lt_points_free(&points);
	}
}

static void
test_secret(void **state)
{
	static const struct pair pairs[] = {
	    {"zone", "DE"}, {"key_env", "EM_TEST_NONE"}, {"url", "http://127.0.0.1:1"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_adapter_fetch(adapter, &options, &(struct lt_window){T0, T0 + 3600, T0},
			     &points, &err),
	    LT_EINPUT);
	assert_says("no key", &err, "EM_TEST_NONE: not in the environment");
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("electricity_maps", serve_odd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_plans),
	    cmocka_unit_test(test_gap_of_now),
	    cmocka_unit_test(test_pause),
	    cmocka_unit_test(test_secret),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
