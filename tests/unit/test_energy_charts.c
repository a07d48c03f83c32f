/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity of Energy-Charts: real answers and odd ones parsed, then fetched from a server
 * that answers as it does, and from one that does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURES "tests/fixtures/energy_charts/"
#define CO2(times, measured, forecast)                                                             \
	"{\"unix_seconds\":[" times "],\"co2eq\":[" measured "],\"co2eq_forecast\":[" forecast     \
	"],\"deprecated\":false}"
#define T0 900000

static const struct option_case option_cases[] = {
    {"no country", {{NULL, NULL}}, 0, "needs \"country\""},
    {"capitals", {{"country", "DE"}}, 10, "got \"DE\", want two small"},
    {"a bidding zone", {{"country", "dk1"}}, 10, "got \"dk1\""},
    {"one letter", {{"country", "d"}}, 10, "got \"d\""},
    {"a query", {{"country", "d&"}}, 10, "got \"d&\""},
    {"a name", {{"country", "germany"}}, 10, "got \"germany\""},
    {"not http", {{"country", "de"}, {"url", "ftp://a"}}, 11, "want http://"},
    {"a country", {{"country", "fr"}}, 0, NULL},
    {"all of Europe", {{"country", "all"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

/* Now is T0 + 1800: the third quarter hour begins. */
static const struct {
	const char *why, *bytes;
	const char *says;   /* NULL = good */
	const char *points; /* "start+length=value quality", from T0 */
	const char *note;
} parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"unix_seconds\":[90", .says = "not JSON"},
    {.why = "a list", .bytes = "[]", .says = "without \"unix_seconds\""},
    {.why = "the path is wrong",
	.bytes = "{\"detail\":\"Not Found\"}",
	.says = "without \"unix_seconds\""},
    {.why = "no values",
	.bytes = "{\"unix_seconds\":[900000,900900]}",
	.says = "JSON without \"co2eq\""},
    {.why = "nothing at all", .bytes = CO2("", "", ""), .says = "0 times and no usable value"},
    {.why = "one time has no length",
	.bytes = CO2("900000", "50", "null"),
	.says = "one time only"},
    {.why = "fewer values than times",
	.bytes = CO2("900000,900900", "50", "null,null"),
	.says = "\"co2eq\" has 1 values, want 2"},
    {.why = "more forecasts than times cost none of what was measured",
	.bytes = CO2("900000,900900", "50,51", "null,null,7"),
	.points = "0+900=50 measured, 900+900=51 measured",
	.note = "\"co2eq_forecast\" has 3 values, want 2 as "
		"\"unix_seconds\""},
    {.why = "nor do forecasts that are no list",
	.bytes = "{\"unix_seconds\":[900000,900900],\"co2eq\":[50,-1],"
		 "\"co2eq_forecast\":\"soon\"}",
	.points = "0+900=50 measured",
	.note = "\"co2eq_forecast\" is no list; 1 of 2 times have no usable "
		"value"},
    {.why = "the first of two columns that can't be read",
	.bytes = CO2("900000,900900", "50", "null"),
	.says = "\"co2eq\" has 1 values, want 2"},
    {.why = "a column that is none",
	.bytes = "{\"unix_seconds\":[900000,900900],\"co2eq\":{}}",
	.says = "\"co2eq\" is no list"},
    {.why = "backwards",
	.bytes = CO2("900900,900000", "50,51", "null,null"),
	.says = "item 2: got 900000 after 900900, want a later"},
    {.why = "twice the same time",
	.bytes = CO2("900000,900000", "50,51", "null,null"),
	.says = "want a later"},
    {.why = "milliseconds",
	.bytes = CO2("900000000000000,900000900000000", "1,2", "1,2"),
	.says = "item 1 is no time"},
    {.why = "a time as text",
	.bytes = CO2("\"900000\",900900", "50,51", "null,null"),
	.says = "item 1 is no time"},
    {.why = "all null",
	.bytes = CO2("900000,900900", "null,null", "null,null"),
	.says = "2 times and no usable value among them"},
    {.why = "0 stands for missing",
	.bytes = CO2("900000,900900", "0,0", "null,null"),
	.says = "2 times and no usable value among them: carbon: got 0"},
    {.why = "text instead of numbers",
	.bytes = CO2("900000,900900", "\"a\",{}", "null,null"),
	.says = "carbon: got nan, want a number"},
    {.why = "measured, then forecast, then nothing",
	.bytes = CO2(
	    "900000,900900,901800,902700,903600", "50,null,null,null,null", "null,51,52,53.5,null"),
	.points = "0+900=50 measured, 900+900=51 estimated, "
		  "1800+900=52 forecast, 2700+900=53.5 forecast"},
    {.why = "a measured value wins over the forecast of it",
	.bytes = CO2("900000,900900", "50,51", "60,61"),
	.points = "0+900=50 measured, 900+900=51 measured"},
    {.why = "what is to come nobody has measured",
	.bytes = CO2("901800,902700,903600", "70,71,72", "50,51,null"),
	.points = "1800+900=70 measured, 2700+900=51 forecast"},
    {.why = "one bad value does not cost the others",
	.bytes = CO2("900000,900900,901800,902700", "-5,51,null,null", "null,null,null,52"),
	.points = "900+900=51 measured, 2700+900=52 forecast",
	.note = "2 of 4 times have no usable value"},
    {.why = "hours",
	.bytes = CO2("900000,903600,907200", "50,null,null", "null,51,52"),
	.points = "0+3600=50 measured, 3600+3600=51 forecast, "
		  "7200+3600=52 forecast"},
    {.why = "an hour that is not there, as at the change to summer time",
	.bytes = CO2("900000,900900,905400,906300", "50,51,null,null", "null,null,52,53"),
	.points = "0+900=50 measured, 900+900=51 measured, "
		  "5400+900=52 forecast, 6300+900=53 forecast"},
    {.why = "hours become quarters in one answer",
	.bytes = CO2("900000,903600,904500,905400", "50,null,null,null", "null,51,52,53"),
	.points = "0+3600=50 measured, 3600+900=51 forecast, "
		  "4500+900=52 forecast, 5400+900=53 forecast"},
    {.why = "a day apart is not a day long",
	.bytes = CO2("900000,986400", "50,null", "null,51"),
	.points = "0+3600=50 measured, 86400+3600=51 forecast"},
    {.why = "without forecasts",
	.bytes = "{\"unix_seconds\":[900000,900900],\"co2eq\":[50,51],"
		 "\"co2eq_forecast\":null}",
	.points = "0+900=50 measured, 900+900=51 measured"},
    {.why = "the interface is to go",
	.bytes = "{\"unix_seconds\":[900000,900900],\"co2eq\":[50,51],"
		 "\"deprecated\":true}",
	.points = "0+900=50 measured, 900+900=51 measured",
	.note = "the source says that it will end this interface "
		"(deprecated)"},
};

static const char *
points_text(const struct lt_points *points, char out[2048])
{
	int length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < points->count && length < 1900; i++) {
		const struct lt_point *const p = &points->points[i];

		length += sprintf(out + length, "%s%lld+%lld=%g %s", i == 0 ? "" : ", ",
		    (long long)(p->start_utc_s - T0), (long long)(p->end_utc_s - p->start_utc_s),
		    p->value, lt_quality_name(p->quality));
	}
	return out;
}

static void
test_parse(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		const char *const note = parse_cases[i].note == NULL ? "" : parse_cases[i].note;
		struct lt_points points = {0};
		char text[2048];

		if (parses(&options, T0 + 1800, parse_cases[i].why, parse_cases[i].bytes,
			parse_cases[i].says, &points) &&
		    (strcmp(points_text(&points, text), parse_cases[i].points) != 0 ||
			strcmp(points.note, note) != 0))
			fail_msg("%s: %s; %s", parse_cases[i].why, text, points.note);
		lt_points_free(&points);
	}
}

static void
test_captured(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);
	const int64_t start_utc_s = 1791064800, now_utc_s = start_utc_s + 21700;
	char bytes[8192];
	struct lt_points points = {0};
	const size_t length = read_fixture(FIXTURES "co2eq_fr.json", bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, length, now_utc_s}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 24 + 75);
	assert_string_equal(points.note, "");
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_int_equal(p->start_utc_s, start_utc_s + 900 * (int)i);
		assert_int_equal(p->end_utc_s, p->start_utc_s + 900);
		assert_int_equal(p->quality, i < 24 ? LT_QUALITY_MEASURED : LT_QUALITY_FORECAST);
	}
	assert_true(points.points[0].value == 64.8);
	assert_true(points.points[24].value == 49.4);
	lt_points_free(&points);
}

/* Measured, and what the source itself forecasts from there on. */
static void
test_short(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);
	const int64_t start_utc_s = 1783893600;
	char bytes[1024];
	struct lt_points points = {0};
	const size_t length = read_fixture(FIXTURES "co2eq_de_short.json", bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, length, start_utc_s + 2700}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 5);
	assert_true(points.points[2].value == 502.6);
	assert_int_equal(points.points[2].quality, LT_QUALITY_MEASURED);
	assert_true(points.points[4].value == 508);
	assert_int_equal(points.points[4].quality, LT_QUALITY_FORECAST);
	lt_points_free(&points);
}

/* The server tells measured from forecast by the clock of this machine. */
static void
fetch_is_whole(const char *country, const char *host, int days, int step_s)
{
	const int64_t now_utc_s = server_stop_clock();
	const int64_t from_utc_s = now_utc_s - days * 86400;
	char url[64];
	const struct pair pairs[] = {{"country", country}, {"url", url}, {0}};
	struct lt_source_options options;
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};

	snprintf(url, sizeof(url), "http://%s:%d/europe", host, server.port);
	options = options_of(pairs);
	options.memory = &memory;
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){from_utc_s, now_utc_s + 2 * 86400, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(points.points[0].start_utc_s <= from_utc_s);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_int_equal(p->end_utc_s, p->start_utc_s + step_s);
		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		assert_int_equal(p->quality, p->start_utc_s <= now_utc_s - 3600
						 ? LT_QUALITY_MEASURED
					     : p->end_utc_s <= now_utc_s ? LT_QUALITY_ESTIMATED
									 : LT_QUALITY_FORECAST);
		assert_true(p->value == europe_co2_day[p->start_utc_s % 86400 / 900] / 10.0);
	}
	assert_string_equal(points.note, "");
	assert_int_equal(points.issued_utc_s, 0);
	assert_int_equal(memory.trace_count, 1 + (days + 30) / 31);
	assert_null(strstr(memory.trace[0].request, "start="));
	assert_non_null(strstr(memory.trace[1].request, "%3A"));
	lt_points_free(&points);
}

/* Requests to one host are kept 1.5 s apart: two names spare the wait. */
static void
test_fetch(void **state)
{
	(void)state;
	fetch_is_whole("fr", "127.0.0.1", 40, 900);
	fetch_is_whole("ch", "localhost", 2, 3600);
}

static bool
serve_odd(const struct exchange *exchange)
{
	static const struct {
		const char *path;
		int status;
		const char *type, *headers, *body;
	} odd[] = {
	    {"/maintenance/", 200, "text/html", "", "<html>We are back soon</html>"},
	    {"/busy/", 429, "text/plain", "Retry-After: 5\r\n", "Too Many Requests"},
	    {"/lost/", 404, "application/json", "", "{\"detail\":\"Not Found\"}"},
	    {"/confused/", 422, "application/json", "",
		"{\"detail\":[{\"loc\":[\"query\"],\"msg\":\"bad\\ncountry\"}]"
		"}"},
	    {"/odd-detail/", 500, "application/json", "", "{\"detail\":[7]}"},
	    {"/old/", 200, "application/json", "", CO2("900000,900900", "50,51", "null,null")},
	};

	/* Its history is lost, the present is not. */
	if (strncmp(exchange->path, "/present/", 9) == 0) {
		struct exchange present = *exchange;

		if (strstr(exchange->path, "start=") != NULL)
			return false; /* 404 */
		snprintf(present.path, sizeof(present.path), "/europe/co2eq?country=de");
		return serve_europe(&present);
	}
	for (size_t i = 0; i < COUNT(odd); i++)
		if (strncmp(exchange->path, odd[i].path, strlen(odd[i].path)) == 0) {
			server_answer(
			    exchange, odd[i].status, odd[i].type, odd[i].headers, odd[i].body);
			return true;
		}
	return serve_europe(exchange);
}

static const struct {
	const char *path, *country, *says;
	int code;
	int64_t retry_after_s;
} faults[] = {
    {"/europe", "xx", "HTTP status 400, want 200: 'xx' is not the code for an available", LT_ENET,
	0},
    {"/maintenance", "de", "got text/html, want JSON", LT_ENET, 0},
    {"/busy", "de", "429, want 200, asks to wait 5 s: Too Many", LT_ENET, 5},
    {"/lost", "de", "404, want 200: Not Found", LT_ENET, 0},
    {"/confused", "de", "422, want 200: bad?country", LT_ENET, 0},
    {"/odd-detail", "de", "HTTP status 500", LT_ENET, 0},
    {"/truncated", "de", ": line 1, column ", LT_EINPUT, 0},
    {"/old", "de", "src: nothing of the time that was asked for", LT_EINPUT, 0},
};

static void
test_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		const int64_t now_utc_s = server_stop_clock();
		char url[64];
		const struct pair pairs[] = {{"country", faults[i].country}, {"url", url}, {0}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		snprintf(url, sizeof(url), "http://%s:%d%s", i % 2 == 0 ? "127.0.0.1" : "localhost",
		    server.port, faults[i].path);
		const struct lt_source_options options = options_of(pairs);
		const int code = lt_adapter_fetch(adapter, &options,
		    &(struct lt_window){now_utc_s, now_utc_s + 7200, now_utc_s}, &points, &err);
		if (code != faults[i].code || points.count != 0 ||
		    points.retry_after_s != faults[i].retry_after_s)
			fail_msg("%s: %d %s", faults[i].path, code, err.text);
		assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

static void
test_without_history(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	char url[64];
	const struct pair pairs[] = {{"country", "de"}, {"url", url}, {0}};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	snprintf(url, sizeof(url), "http://localhost:%d/present", server.port);
	const struct lt_source_options options = options_of(pairs);
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 20 * 86400, now_utc_s + 7200, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(points.count >= 8);
	assert_string_equal(points.note,
	    "without history: localhost: HTTP status 404, want 200: no such "
	    "page");
	lt_points_free(&points);
	/* Asked for history alone, its loss is all that there is to tell. */
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){now_utc_s - 86400, now_utc_s - 3600, now_utc_s}, &points, &err),
	    LT_ENET);
	assert_says("history", &err, "localhost: HTTP status 404");
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("energy_charts", serve_odd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_captured),
	    cmocka_unit_test(test_short),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_without_history),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
