/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Carbon Intensity API: its own samples and quirks parsed, then fetched from a server that
 * answers as it does, and from one that misbehaves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"

#define FIXTURES "tests/fixtures/uk_carbon_intensity/"
#define T0 1516449600 /* 2018-01-20T12:00Z, of the samples */
#define SLOT(from, to, intensity)                                                                  \
	"{\"from\":\"2018-01-20T" from "Z\",\"to\":\"2018-01-20T" to                               \
	"Z\",\"intensity\":" intensity "}"
/* A region's 0, and the mix that goes with it. */
#define MIXED(mix)                                                                                 \
	"{\"data\":{\"regionid\":3,\"data\":[{\"from\":\"2018-01-20T12:00Z\","                     \
	"\"to\":\"2018-01-20T12:30Z\",\"intensity\":{\"forecast\":0,"                              \
	"\"index\":\"very low\"},\"generationmix\":[" mix "]}]}}"
/* In Great Britain 01:00 to 02:00 of this night is there once only. */
#define NIGHT(from, to)                                                                            \
	"{\"from\":\"2018-03-25T" from "Z\",\"to\":\"2018-03-25T" to                               \
	"Z\",\"intensity\":{\"forecast\":70}}"

static const struct option_case option_cases[] = {
    {"region 0", {{"region", "0"}}, 10, "got \"0\", want 1 to 17"},
    {"region 18", {{"region", "18"}}, 10, "got \"18\", want 1"},
    {"a name", {{"region", "London"}}, 10, "got \"London\""},
    {"both", {{"region", "1"}, {"postcode", "OX1"}}, 11, "want one of them"},
    {"a whole postcode", {{"postcode", "OX1 3DW"}}, 10, "want the outward code only"},
    {"one letter", {{"postcode", "O"}}, 10, "outward code"},
    {"a path in the postcode", {{"postcode", "A/.."}}, 10, "outward code"},
    {"not http", {{"url", "file:///etc"}}, 10, "want http://"},
    {"a query", {{"url", "http://a/?b"}}, 10, "without query"},
    {"the largest region", {{"region", "17"}}, 0, NULL},
    {"an outward code", {{"postcode", "SW1A"}}, 0, NULL},
    {"a mirror", {{"url", "https://mirror/uk/"}}, 0, NULL},
    {"nothing", {{NULL, NULL}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "empty, as for a bad postcode", .bytes = "", .says = "empty, want JSON"},
    {.why = "cut off", .bytes = "{\"data\":[{\"from\":", .says = "not JSON"},
    {.why = "no data", .bytes = "{}", .says = "JSON without \"data\""},
    {.why = "a list", .bytes = "[]", .says = "JSON without \"data\""},
    {.why = "data of text", .bytes = "{\"data\":\"x\"}", .says = "JSON without \"data\""},
    {.why = "no slot", .bytes = "\xEF\xBB\xBF{\"data\":[]}", .says = "no half hour"},
    {.why = "an outage",
	.bytes = "{\"error\":{\"code\":\"500 Internal Server Error\","
		 "\"message\":\"Requested resource not found.\"}}",
	.says = "the source says: 500 Internal Server Error: Requested"},
    {.why = "an error cannot forge a line of the log",
	.bytes = "{\"error\":{\"code\":\"1\\n2\",\"message\":\"a\\u001b"
		 "b\"}}",
	.says = "the source says: 1?2: a?b"},
    {.why = "an error of another kind",
	.bytes = "{\"error\":7}",
	.says = "the source says: error: no reason"},
    {.why = "a slot that is none",
	.bytes = "{\"data\":[3]}",
	.says = "no usable value among them: a slot without \"from\""},
    {.why = "a time of nobody",
	.bytes = "{\"data\":[{\"from\":\"noon\",\"to\":\"one\"}]}",
	.says = "among them: from: got \"noon\""},
    {.why = "two times of nobody, told once",
	.bytes = "{\"data\":[{\"from\":\"noon\",\"to\":\"one\"},{\"from\":"
		 "\"one\",\"to\":\"two\"}]}",
	.says = "2 half hours and no usable value among them: from: got "
		"\"noon\""},
    {.why = "all null in an outage",
	.bytes = "{\"data\":[" SLOT("12:00", "12:30", "{\"forecast\":null,\"actual\":null}") "]}",
	.says = "1 half hours and no usable value"},
    {.why = "0 stands for missing",
	.bytes = "{\"data\":[" SLOT("12:00", "12:30", "{\"forecast\":0}") "]}",
	.says = "missing value"},
    {.why = "nor is it one with an empty mix",
	.bytes = MIXED("{\"fuel\":\"wind\",\"perc\":0}"),
	.says = "missing value"},
    {.why = "wind alone is 0",
	.bytes = MIXED("{\"fuel\":\"gas\",\"perc\":0},"
		       "{\"fuel\":\"solar\",\"perc\":0.2},"
		       "{\"fuel\":\"wind\",\"perc\":99.8}"),
	.count = 1,
	.quality = LT_QUALITY_ESTIMATED},
    {.why = "a slot of an hour is not theirs",
	.bytes = "{\"data\":[" SLOT("12:00", "13:00", "{\"forecast\":9}") "]}",
	.says = "a slot of 3600 s, want 1800"},
    {.why = "backwards",
	.bytes = "{\"data\":[" SLOT("12:30", "12:00", "{\"forecast\":9}") "]}",
	.says = "a slot of -1800 s"},
    {.why = "another region than asked for",
	.bytes =
	    "{\"data\":{\"regionid\":4,\"data\":[" SLOT("12:00", "12:30", "{\"forecast\":9}") "]}}",
	.says = "no half hour of the region"},
    {.why = "one bad slot does not cost the others",
	.bytes = "{\"data\":[" SLOT("12:00", "12:30", "{\"forecast\":null}") "," SLOT(
	    "12:30", "13:00", "{\"forecast\":-4}") "," SLOT("13:00", "13:30",
	    "{\"forecast\":77,\"actual\":null}") "]}",
	.count = 1,
	.value = 77,
	.quality = LT_QUALITY_FORECAST,
	.note = "2 of 3 half hours have no usable value"},
    {.why = "nor does one whose time is none",
	.bytes = "{\"data\":[{\"from\":\"noon\",\"to\":\"one\"}," SLOT(
	    "13:00", "13:30", "{\"forecast\":77}") "]}",
	.count = 1,
	.value = 77,
	.quality = LT_QUALITY_FORECAST,
	.note = "1 of 2 half hours have no usable value"},
    {.why = "of many regions the one",
	.bytes = "{\"data\":[{\"regionid\":2,\"data\":[" SLOT(
	    "12:00", "12:30", "{\"forecast\":9}") "]},{\"regionid\":3,\"data\":[" SLOT("12:00",
	    "12:30", "{\"forecast\":55}") "]}]}",
	.count = 1,
	.value = 55,
	.quality = LT_QUALITY_ESTIMATED},
    {.why = "a revision wins",
	.bytes = "{\"data\":[" SLOT("12:00", "12:30", "{\"forecast\":50}") "," SLOT(
	    "12:00", "12:30", "{\"forecast\":50,\"actual\":61}") "]}",
	.count = 1,
	.value = 61,
	.quality = LT_QUALITY_MEASURED},
    {.why = "half hours are UTC: none is missing where clocks change",
	.bytes = "{\"data\":[" NIGHT("00:30", "01:00") "," NIGHT("01:00", "01:30") "," NIGHT(
	    "01:30", "02:00") "]}",
	.count = 3,
	.value = 70,
	.quality = LT_QUALITY_FORECAST},
    {.why = "an actual value of a time to come is not believed",
	.bytes = "{\"data\":[" SLOT("13:00", "13:30", "{\"forecast\":50,\"actual\":60}") "]}",
	.count = 1,
	.value = 50,
	.quality = LT_QUALITY_FORECAST},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"region", "3"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, T0 + 1800, parse_cases, COUNT(parse_cases));
}

/* The API's own samples: a forecast of the past is an estimate, a metered value a measurement. */
static void
test_samples(void **state)
{
	static const struct {
		const char *file;
		double value;
		enum lt_quality quality;
	} samples[] = {
	    {FIXTURES "intensity_doc_sample.json", 263, LT_QUALITY_MEASURED},
	    {FIXTURES "regional_fw48h_regionid_doc_sample_array.json", 266, LT_QUALITY_ESTIMATED},
	    {FIXTURES "regional_fw48h_postcode_live_shape_object.json", 266, LT_QUALITY_ESTIMATED},
	};
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		char bytes[4096];
		struct lt_points points = {0};
		const size_t length = read_fixture(samples[i].file, bytes, sizeof(bytes));

		assert_int_equal(lt_adapter_parse(adapter, &options,
				     &(struct lt_answer){bytes, length, T0 + 90000}, &points, NULL),
		    LT_OK);
		assert_int_equal(points.count, 1);
		assert_int_equal(points.points[0].start_utc_s, T0);
		assert_int_equal(points.points[0].end_utc_s, T0 + 1800);
		assert_true(points.points[0].value == samples[i].value);
		assert_int_equal(points.points[0].quality, samples[i].quality);
		assert_int_equal(points.issued_utc_s, T0 + 1800);
		lt_points_free(&points);
	}
}

/* Half hours of an outage are gaps: null, and the 0 that stands for it. */
static void
test_outage(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);
	struct lt_points points = {0};
	char bytes[4096];
	const size_t length =
	    read_fixture(FIXTURES "outage_nulls_SYNTHETIC.json", bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, length, T0 + 3600}, &points, NULL),
	    LT_OK);
	assert_int_equal(points.count, 2);
	assert_true(points.points[0].value == 263);
	assert_true(points.points[1].value == 270);
	assert_int_equal(points.points[1].start_utc_s, T0 + 5400);
	assert_string_equal(points.note, "2 of 4 half hours have no usable value");
	lt_points_free(&points);
}

/* Refusals in the API's own words. */
static bool
serve_refusals(const struct exchange *exchange)
{
	char body[512] = "";

	if (strncmp(exchange->path, "/outage/", 8) == 0) {
		read_fixture(FIXTURES "error_500.json", body, sizeof(body) - 1);
		server_answer(exchange, 500, "application/json", "", body);
		return true;
	}
	if (strncmp(exchange->path, "/refused/", 9) == 0) {
		uk_bad_request(exchange);
		return true;
	}
	return false;
}

/* The server tells metered from forecast by the clock of this machine. */
static void
fetch_is_whole(struct pair *pairs, bool regional)
{
	const int64_t now_utc_s = time(NULL);
	const int64_t from_utc_s = now_utc_s - 28 * 86400, to_utc_s = now_utc_s + 47 * 3600;
	const struct lt_source_options options = options_of(pairs);
	struct lt_points points = {0};
	struct lt_error err = {0};
	bool forecast = false, measured = false;

	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){from_utc_s, to_utc_s, now_utc_s}, &points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(points.count >= (28 + 1) * 48);
	assert_true(points.points[0].start_utc_s <= from_utc_s);
	assert_true(points.points[points.count - 1].end_utc_s >= to_utc_s);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_int_equal(p->end_utc_s, p->start_utc_s + 1800);
		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		forecast |= p->quality == LT_QUALITY_FORECAST;
		measured |= p->quality == LT_QUALITY_MEASURED;
		if (p->start_utc_s > now_utc_s)
			assert_int_equal(p->quality, LT_QUALITY_FORECAST);
	}
	assert_true(forecast);
	assert_int_equal(measured, !regional);
	assert_string_equal(points.note, "");
	assert_int_equal(points.issued_utc_s, 0);
	lt_points_free(&points);
}

static void
test_fetch(void **state)
{
	char url[128];
	struct pair national[] = {{"url", url}, {0}};
	struct pair regional[] = {{"url", url}, {"region", "13"}, {0}};

	(void)state;
	server_url(url, "/uk");
	fetch_is_whole(national, false);
	server_url(url, "/uk/");
	fetch_is_whole(regional, true);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *path, *says;
		int code;
		int64_t retry_after_s;
	} faults[] = {
	    {"/html", "127.0.0.1: got text/html, want JSON", LT_ENET, 0},
	    {"/truncated", "127.0.0.1: line 1, column ", LT_EINPUT, 0},
	    {"/empty", "127.0.0.1: empty, want JSON", LT_EINPUT, 0},
	    {"/bom", "127.0.0.1: no half hour", LT_EINPUT, 0},
	    {"/deep", "JSON with more than 32 levels", LT_ELIMIT, 0},
	    {"/reset", "127.0.0.1: ", LT_ENET, 0},
	    {"/bomb", "an answer of more than", LT_ELIMIT, 0},
	    {"/outage",
		"500, want 200: 500 Internal Server Error: Requested resource "
		"not found.",
		LT_ENET, 0},
	    {"/refused", "400, want 200: 400 Bad Request: Please enter a valid date", LT_ENET, 0},
	    {"/status/401", "HTTP status 401, want 200", LT_ENET, 0},
	    {"/status/403", "HTTP status 403", LT_ENET, 0},
	    {"/status/404", "HTTP status 404", LT_ENET, 0},
	    {"/status/429", "asks to wait 7 s", LT_ENET, 7},
	    {"/status/500", "HTTP status 500", LT_ENET, 0},
	    {"/status/503", "asks to wait 7 s", LT_ENET, 7},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char url[128];
		const struct pair pairs[] = {{"url", url}, {NULL, NULL}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		server_url(url, faults[i].path);
		const struct lt_source_options options = options_of(pairs);
		const int code = lt_adapter_fetch(
		    adapter, &options, &(struct lt_window){T0, T0 + 7200, T0}, &points, &err);
		if (code != faults[i].code || points.count != 0 ||
		    points.retry_after_s != faults[i].retry_after_s)
			fail_msg("%s: %d %s", faults[i].path, code, err.text);
		assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

/* A source that goes on serving another day has no answer for today. */
static void
test_other_day(void **state)
{
	char url[128];
	const struct pair pairs[] = {{"url", url}, {NULL, NULL}};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	server_url(url, "/old");
	const struct lt_source_options options = options_of(pairs);
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options,
		&(struct lt_window){T0 + 86400, T0 + 90000, T0 + 86400}, &points, &err),
	    LT_EINPUT);
	assert_says("old", &err, "src: nothing of the time");
	assert_int_equal(points.count, 0);
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("uk_carbon_intensity", serve_refusals);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_samples),
	    cmocka_unit_test(test_outage),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	    cmocka_unit_test(test_other_day),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
