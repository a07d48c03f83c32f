/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EIA's fuel mix: rows parsed into hours, then fetched over pages from a server that answers as EIA
 * does. Also eq. (34) itself, of fuel_mix.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "fuel_mix.h"
#include "tools/source_server_mix.h"

#define FIXTURE "tests/fixtures/eia/fuel_mix_SYNTHETIC.json"
#define NOW 1683244800 /* 2023-05-05T00:00Z */
/* A row of CISO; value as JSON has it. */
#define ROW(hour, fuel, value)                                                                     \
	"{\"period\":\"2023-05-04T" hour "\",\"respondent\":\"CISO\",\"fueltype\":\"" fuel         \
	"\",\"value\":" value ",\"value-units\":\"megawatthours\"}"
#define ON(period)                                                                                 \
	"{\"period\":\"" period "\",\"respondent\":\"CISO\",\"fueltype\":"                         \
	"\"NG\",\"value\":10,\"value-units\":\"megawatthours\"}"
#define ANSWER(rows) "{\"response\":{\"total\":\"2\",\"data\":[" rows "]}}"

static void
assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) < 1e-9))
		fail_msg("got %.9f, want %.9f", value, wanted);
}

static const struct option_case option_cases[] = {
    {"no respondent", {{NULL, NULL}}, 0, "needs \"respondent\""},
    {"in small letters", {{"respondent", "ciso"}}, 10, "got \"ciso\", want EIA's code in capitals"},
    {"a query in it", {{"respondent", "A&b=c"}}, 10, "want EIA's code"},
    {"too long", {{"respondent", "CALIFORNIA"}}, 10, "want EIA's code"},
    {"two keys", {{"respondent", "PJM"}, {"key_file", "/a"}, {"key_env", "B"}}, 12,
	"want one of them"},
    {"factors of another kind", {{"respondent", "PJM"}, {"emission_factors", "marginal"}}, 11,
	"got \"marginal\", want lifecycle or direct"},
    {"not http", {{"respondent", "PJM"}, {"url", "ftp://a"}}, 11, "http://"},
    {"without a key", {{"respondent", "US48"}}, 0, NULL},
    {"with all",
	{{"respondent", "PJM"}, {"key_file", "/a"}, {"emission_factors", "direct"},
	    {"url", "https://mirror/"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"response\":{", .says = "not JSON"},
    {.why = "a list", .bytes = "[]", .says = "JSON without \"data\""},
    {.why = "no data", .bytes = "{\"response\":{}}", .says = "without \"data\""},
    {.why = "no rows", .bytes = ANSWER(""), .says = "no complete hour"},
    {.why = "a row that is none", .bytes = ANSWER("7"), .says = "respondent: got none, want CISO"},
    {.why = "no key",
	.bytes = "{\"error\":{\"code\":\"API_KEY_MISSING\",\"message\":\"No "
		 "api_key was supplied.\"}}",
	.says = "the source says: API_KEY_MISSING: No api_key"},
    {.why = "a bad request",
	.bytes = "{\"error\":\"Invalid\\ndata\",\"code\":400}",
	.says = "the source says: Invalid?data"},
    {.why = "another respondent than asked",
	.bytes = ANSWER("{\"period\":\"2023-05-04T21\",\"respondent\":\"PJM\","
			"\"fueltype\":\"NG\",\"value\":1,\"value-units\":"
			"\"megawatthours\"}"),
	.says = "hour of the time that was asked for: respondent: got PJM, "
		"want CISO"},
    {.why = "another unit than expected",
	.bytes = ANSWER("{\"period\":\"2023-05-04T21\",\"respondent\":\"CISO\","
			"\"fueltype\":\"NG\",\"value\":1,\"value-units\":"
			"\"megawatts\"}"),
	.says = "value-units: got megawatts, want megawatthours"},
    {.why = "a local time",
	.bytes = ANSWER("{\"period\":\"2023-05-04T21-07\",\"respondent\":"
			"\"CISO\",\"fueltype\":\"NG\",\"value\":1,"
			"\"value-units\":\"megawatthours\"}"),
	.says = "a row without fueltype or period"},
    {.why = "all null", .bytes = ANSWER(ROW("21", "NG", "null")), .says = "no complete hour"},
    {.why = "nothing is generated",
	.bytes = ANSWER(ROW("21", "NG", "0") "," ROW("21", "SUN", "-4")),
	.says = "no generation at all"},
    {.why = "2^31 - 1 as EIA had it once",
	.bytes = ANSWER(ROW("21", "NG", "2147483647")),
	.says = "value of NG: want a number of at most 1000000"},
    {.why = "not a number",
	.bytes = ANSWER(ROW("21", "NG", "\"nan\"")),
	.says = "value of NG: want a number"},
    {.why = "an hour that has not ended",
	.bytes = "{\"response\":{\"data\":[{\"period\":\"2023-05-05T01\","
		 "\"respondent\":\"CISO\",\"fueltype\":\"NG\",\"value\":1,"
		 "\"value-units\":\"megawatthours\"}]}}",
	.says = "no complete hour"},
    {
	.why = "a text is a number, too",
	.bytes = ANSWER(ROW("21", "NG", "\"30\"") "," ROW("21", "WND", "10")),
	.count = 1,
	.value = (30 * 490 + 10 * 11) / 40.0,
    },
    {.why = "a little below 0 is 0, far below is a gap",
	.bytes = ANSWER(ROW("21", "NG", "30") "," ROW("21", "SUN", "-90") "," ROW(
	    "22", "NG", "30") "," ROW("22", "SUN", "-101")),
	.count = 1,
	.value = 490,
	.note = "1 of 2 hours left out: a fuel is far below 0"},
    {
	.why = "storage counts neither way",
	.bytes = ANSWER(ROW("21", "NG", "30") "," ROW("21", "BAT", "-5000") "," ROW(
	    "21", "PS", "800") "," ROW("21", "UES", "70") "," ROW("21", "OES", "70")),
	.count = 1,
	.value = 490,
    },
    {
	.why = "solar with batteries is solar",
	.bytes =
	    ANSWER(ROW("21", "NG", "10") "," ROW("21", "SNB", "20") "," ROW("21", "SUN", "10")),
	.count = 1,
	.value = (10 * 490 + 30 * 48) / 40.0,
    },
    {.why = "a fuel that nobody knows counts as other",
	.bytes = ANSWER(ROW("21", "NG", "10") "," ROW("21", "FUS", "10")),
	.count = 1,
	.value = (490 + 700) / 2.0,
	.note = "fuel FUS is not known, counted as other"},
    {.why = "an hour without its usual fuel is a gap, missing is not zero",
	.bytes = ANSWER(ROW("18", "NG", "10") "," ROW("18", "SUN", "10") "," ROW(
	    "19", "NG", "10") "," ROW("19", "SUN", "10") "," ROW("20", "NG", "10") "," ROW("20",
	    "SUN", "null") "," ROW("21", "NG", "10") "," ROW("21", "SUN", "10")),
	.count = 3,
	.value = (490 + 48) / 2.0,
	.note = "1 of 4 hours left out: a fuel is missing"},
    {
	.why = "that the newest hour is late is usual",
	.bytes = ANSWER(ROW("18", "NG", "10") "," ROW("18", "SUN", "10") "," ROW(
	    "19", "NG", "10") "," ROW("19", "SUN", "10") "," ROW("20", "NG", "10") "," ROW("20",
	    "SUN", "10") "," ROW("21", "NG", "10") "," ROW("21", "SUN", "null")),
	.count = 3,
	.value = (490 + 48) / 2.0,
    },
    {
	.why = "the later of two rows wins",
	.bytes = ANSWER(ROW("21", "NG", "10") "," ROW("21", "WND", "10") "," ROW("21", "NG", "30")),
	.count = 1,
	.value = (30 * 490 + 10 * 11) / 40.0,
    },
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"respondent", "CISO"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, NOW, parse_cases, COUNT(parse_cases));
}

/* Hours are UTC: none is missing or long in the night of 12 March, in which California's clocks
 * went from 02:00 to 03:00 (10:00 UTC). */
static void
test_clocks_change(void **state)
{
	static const struct pair pairs[] = {{"respondent", "CISO"}, {0}};
	static const char bytes[] =
	    ANSWER(ON("2023-03-12T09") "," ON("2023-03-12T10") "," ON("2023-03-12T11"));
	const struct lt_source_options options = options_of(pairs);
	const int64_t first_utc_s = 1678608000; /* 2023-03-12T08:00Z */
	struct lt_points points = {0};

	(void)state;
	assert_int_equal(
	    lt_adapter_parse(adapter, &options,
		&(struct lt_answer){bytes, sizeof(bytes) - 1, first_utc_s + 86400}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(points.points[i].start_utc_s, first_utc_s + 3600 * i);
		assert_int_equal(points.points[i].end_utc_s, first_utc_s + 3600 * (i + 1));
	}
	lt_points_free(&points);
}

/* Periods are the ends of hours; of the last hour the sun is not known. */
static void
test_fixture(void **state)
{
	static const struct pair pairs[] = {{"respondent", "CISO"}, {0}};
	static const struct pair direct[] = {
	    {"respondent", "CISO"}, {"emission_factors", "direct"}, {0}};
	struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	char bytes[16384];
	const size_t length = read_fixture(FIXTURE, bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, length, NOW}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 3);
	assert_int_equal(points.points[0].start_utc_s, NOW - 5 * 3600);
	assert_int_equal(points.points[0].end_utc_s, NOW - 4 * 3600);
	/* 1000 coal, 5000 gas, 2000 nuclear, 100 other, 3000 solar, 500
	 * hydro, 900 wind */
	assert_near(points.points[0].value, 3529900 / 12500.0);
	/* other at -3 is 0 */
	assert_near(points.points[2].value, 3849700 / 11700.0);
	assert_int_equal(points.issued_utc_s, NOW - 2 * 3600);
	assert_string_equal(points.note, "");
	lt_points_free(&points);

	options = options_of(direct);
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, length, NOW}, &points, NULL),
	    LT_OK);
	assert_near(points.points[0].value, (1000 * 760 + 5000 * 370 + 100 * 649) / 12500.0);
	lt_points_free(&points);
}

/* Each factor is in the page of the model; nuclear power alone is direct 0. */
static void
test_factors(void **state)
{
	static const struct pair direct[] = {
	    {"respondent", "CISO"}, {"emission_factors", "direct"}, {0}};
	static const char bytes[] = ANSWER(ROW("21", "NUC", "10"));
	const struct lt_source_options options = options_of(direct);
	struct lt_points points = {0};
	char page[131072] = ""; /* model.md is longer than 64 KiB */

	(void)state;
	read_fixture("docs/model.md", page, sizeof(page) - 1);
	for (int i = 0; i < LT_FUEL_COUNT; i++) {
		const enum lt_fuel fuel = (enum lt_fuel)i;
		const double lifecycle = lt_fuel_factor(fuel, false);
		char row[64];

		if (fuel == LT_FUEL_STORAGE)
			continue;
		assert_true(lifecycle >= 11);
		assert_true(lt_fuel_factor(fuel, true) < lifecycle);
		snprintf(
		    row, sizeof(row), " | %.0f | %.0f |", lifecycle, lt_fuel_factor(fuel, true));
		if (strstr(page, row) == NULL)
			fail_msg("docs/model.md has no \"%s\"", row);
	}
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, strlen(bytes), NOW}, &points, NULL),
	    LT_OK);
	assert_true(points.points[0].value == 0);
	lt_points_free(&points);
}

/* ---- over the network ---- */

static void
url_of(char url[64], const char *path)
{
	snprintf(url, 64, "http://127.0.0.1:%d/mix/%s", server.port, path);
}

static void
assert_hours(const struct lt_points *points, int64_t now_utc_s)
{
	const struct lt_point *const last = &points->points[points->count - 1];

	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const p = &points->points[i];

		assert_int_equal(p->end_utc_s, p->start_utc_s + 3600);
		assert_int_equal(p->start_utc_s % 3600, 0);
		assert_int_equal(p->quality, LT_QUALITY_ESTIMATED);
		assert_near(p->value, mix_eia_intensity(p->start_utc_s));
		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
	}
	/* The last hour's sun is not known. */
	assert_true(last->end_utc_s > now_utc_s - 2 * 3600 - 60);
	assert_true(last->end_utc_s <= now_utc_s);
	assert_int_equal(points->issued_utc_s, last->end_utc_s);
}

static void
test_fetch(void **state)
{
	static const struct {
		const char *path;
		int days, requests;
	} fetches[] = {
	    {"eia", 2, 1},
	    {"eia", 28, 2},
	    {"eia-int", 28, 2},
	};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	setenv("LT_TEST_KEY", MIX_KEY, 1);
	for (size_t i = 0; i < COUNT(fetches); i++) {
		char url[64];
		const struct pair pairs[] = {
		    {"respondent", "CISO"}, {"url", url}, {"key_env", "LT_TEST_KEY"}, {NULL, NULL}};
		static struct lt_source_memory memory;
		struct lt_points points = {0};
		struct lt_error err = {0};

		url_of(url, fetches[i].path);
		struct lt_source_options options = options_of(pairs);
		options.memory = &memory;
		if (lt_adapter_fetch(adapter, &options,
			&(struct lt_window){
			    now_utc_s - fetches[i].days * 86400, now_utc_s + 86400, now_utc_s},
			&points, &err) != LT_OK)
			fail_msg("%s: %s", fetches[i].path, err.text);
		assert_true(points.count >= (size_t)fetches[i].days * 24 - 3);
		assert_hours(&points, now_utc_s);
		assert_string_equal(points.note, "");
		assert_int_equal(memory.trace_count, fetches[i].requests);
		for (int j = 0; j < memory.trace_count; j++) {
			const char *const line = memory.trace[j].request;

			assert_non_null(strstr(line, "facets%5Brespondent%5D%5B%5D=CISO"));
			assert_null(strstr(line, "api_key"));
			assert_null(strstr(line, "key+1"));
			assert_null(strpbrk(line, "[]"));
		}
		lt_points_free(&points);
	}
}

/* Older hours fail: the newer ones are there, and the note says it. */
static void
test_old_fails(void **state)
{
	char url[64];
	const struct pair pairs[] = {{"respondent", "CISO"}, {"url", url}, {NULL, NULL}};
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	url_of(url, "eia-old-fails");
	const struct lt_source_options options = options_of(pairs);
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 28 * 86400, now_utc_s, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_between((int64_t)points.count, 490, 500);
	assert_hours(&points, now_utc_s);
	assert_non_null(strstr(points.note, "without older hours: 127.0.0.1: HTTP status 503"));
	lt_points_free(&points);
}

static void
test_errors(void **state)
{
	static const struct {
		const char *path, *respondent, *key, *says;
		int code;
		int64_t retry_after_s;
	} cases[] = {
	    {"eia", "CISO", "wrong", "HTTP status 403, want 200: API_KEY_INVALID: An invalid",
		LT_ENET, 0},
	    {"eia", "CISO", "busy", "HTTP status 429, want 200: OVER_RATE_LIMIT: You have", LT_ENET,
		3600},
	    {"eia-400", "CISO", MIX_KEY, "HTTP status 400, want 200: Invalid facet", LT_ENET, 0},
	    {"eia-other", "CISO", MIX_KEY, "respondent: got XX, want CISO", LT_EINPUT, 0},
	    {"eia", "NONE", MIX_KEY, "no rows for respondent NONE", LT_EINPUT, 0},
	};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char url[64];
		const struct pair pairs[] = {{"respondent", cases[i].respondent}, {"url", url},
		    {"key_env", "LT_TEST_KEY"}, {NULL, NULL}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		url_of(url, cases[i].path);
		setenv("LT_TEST_KEY", cases[i].key, 1);
		const struct lt_source_options options = options_of(pairs);
		const int code = lt_adapter_fetch(adapter, &options,
		    &(struct lt_window){now_utc_s - 86400, now_utc_s, now_utc_s}, &points, &err);
		if (code != cases[i].code || points.count != 0 ||
		    points.retry_after_s != cases[i].retry_after_s)
			fail_msg("%s: %d %s", cases[i].says, code, err.text);
		assert_says(cases[i].path, &err, cases[i].says);
		assert_null(strstr(err.text, MIX_KEY));
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

static void
test_key_file(void **state)
{
	char path[] = "/tmp/lt_eia_XXXXXX", url[64];
	const struct pair pairs[] = {
	    {"respondent", "PJM"}, {"url", url}, {"key_file", path}, {NULL, NULL}};
	const int64_t now_utc_s = server_stop_clock();
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	write_file(path, MIX_KEY "\n", strlen(MIX_KEY) + 1);
	url_of(url, "eia");
	const struct lt_source_options options = options_of(pairs);
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 86400, now_utc_s, now_utc_s}, &points, NULL),
	    LT_OK);
	lt_points_free(&points);
	chmod(path, 0644);
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 86400, now_utc_s, now_utc_s}, &points, &err),
	    LT_EDENIED);
	assert_says("mode", &err, "lets others read a secret");
	unlink(path);
	memset(&err, 0, sizeof(err));
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 86400, now_utc_s, now_utc_s}, &points, &err),
	    LT_ENOENT); /* never the demo key instead */
	lt_points_free(&points);
}

/* Nothing of the past is asked for: no request. */
static void
test_future(void **state)
{
	static const struct pair pairs[] = {
	    {"respondent", "PJM"}, {"url", "http://127.0.0.1:1"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_adapter_fetch(adapter, &options,
			     &(struct lt_window){NOW, NOW + 86400, NOW}, &points, &err),
	    LT_EINPUT);
	assert_says("future", &err, "no whole hour of the past");
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("eia", serve_mix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_clocks_change),
	    cmocka_unit_test(test_fixture),
	    cmocka_unit_test(test_factors),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_old_fails),
	    cmocka_unit_test(test_errors),
	    cmocka_unit_test(test_key_file),
	    cmocka_unit_test(test_future),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
