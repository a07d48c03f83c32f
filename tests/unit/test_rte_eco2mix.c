/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eCO2mix of RTE: a recorded day, rows that are none, then fetched from a
 * server whose newest quarter hours have no value yet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURE "tests/fixtures/rte_eco2mix/export.json"
#define DAY 1719964800 /* 2024-07-03T00:00Z */
#define ROW(minute, value)                                                     \
	"{\"date_heure\":\"2024-07-03T00:" minute                              \
	":00+00:00\",\"taux_co2\":" value "}"

static const struct option_case option_cases[] = {
    {"not http", {{"url", "a"}}, 10, "want http://"},
    {"no factors to choose", {{"emission_factors", "direct"}}, 10,
	"unknown key"},
    {"plain", {{NULL, NULL}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "an error with status 200",
	.bytes = "{\"error_code\":\"ODSQLError\",\"message\":\"malformed\"}",
	.says = "JSON without a list of \"results\""},
    {.why = "none",
	.bytes = "[]",
	.says = "0 rows and no usable value among them"},
    {.why = "nothing known yet",
	.bytes = "[" ROW("00", "null") "]",
	.says = "1 rows and no usable value among them"},
    {.why = "a quarter hour",
	.bytes = "[" ROW("15", "13") "]",
	.count = 1,
	.value = 13,
	.quality = LT_QUALITY_ESTIMATED,
	.start_utc_s = DAY + 900,
	.length_s = 900},
    {.why = "a page of records",
	.bytes = "{\"total_count\":1,\"results\":[" ROW("15", "13") "]}",
	.count = 1,
	.value = 13},
    {.why = "in the time of Paris",
	.bytes = "[{\"date_heure\":\"2024-07-03T02:15:00+02:00\","
		 "\"taux_co2\":13}]",
	.count = 1,
	.value = 13,
	.start_utc_s = DAY + 900},
    {.why = "not known yet is no news",
	.bytes = "[" ROW("00", "13") "," ROW("15", "null") "]",
	.count = 1,
	.value = 13,
	.length_s = 900},
    {.why = "a hole is",
	.bytes =
	    "[" ROW("00", "13") "," ROW("15", "null") "," ROW("30", "14") "]",
	.count = 2,
	.value = 13,
	.note = "1 of 3 quarter hours have no value"},
    {.why = "0 stands for missing",
	.bytes = "[" ROW("00", "13") "," ROW("15", "0") "]",
	.count = 1,
	.value = 13,
	.note = "1 of 2 rows refused: carbon: got 0 g CO2e/kWh, which stands "
		"for a missing value; want more than 0"},
    {.why = "words",
	.bytes = "[" ROW("00", "\"ND\"") "]",
	.says = "taux_co2: no number"},
    {.why = "no time",
	.bytes = "[{\"taux_co2\":13}]",
	.says = "a row without date_heure"},
    {.why = "rows that are none",
	.bytes = "[3,null,[]]",
	.says = "3 rows and no usable value among them: a row without"},
};

static void
test_parse(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);

	(void)state;
	check_answers(&options, DAY + 3600, parse_cases, COUNT(parse_cases));
}

/* The recorded day. The sum is of the file, by awk; 11 g at noon, 14 g at the
 * first quarter hour of the next day. */
static void
test_recorded(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);
	static char bytes[32768];
	struct lt_points points = {0};
	double sum = 0;
	const size_t length = read_fixture(FIXTURE, bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(
	    lt_adapter_parse(adapter, &options,
		&(struct lt_answer){bytes, length, DAY + 86400 + 7200}, &points,
		NULL),
	    LT_OK);
	assert_int_equal(points.count, 97);
	for (int i = 0; i < 97; i++) {
		assert_int_equal(points.points[i].start_utc_s, DAY + i * 900);
		sum += points.points[i].value;
	}
	assert_true(sum == 1177);
	assert_true(points.points[48].value == 11);
	assert_true(points.points[96].value == 14);
	assert_int_equal(points.issued_utc_s, DAY + 86400 + 900);
	assert_string_equal(points.note, "");
	lt_points_free(&points);
}

static int
fetch(const char *path, int days, struct lt_source_memory *memory,
    struct lt_points *points, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {{"url", url}, {0}};
	const int64_t now_utc_s = server_stop_clock();

	server_url(url, path);
	struct lt_source_options options = options_of(pairs);
	options.memory = memory;
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){
		now_utc_s - days * 86400, now_utc_s + 8 * 86400, now_utc_s},
	    points, err);
}

static void
test_fetch(void **state)
{
	static struct lt_source_memory memory;
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	for (int days = 0; days <= 28; days += 14) {
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (fetch("/europe/rte", days, &memory, &points, &err) != LT_OK)
			fail_msg("%s", err.text);
		assert_int_equal(memory.trace_count, 1);
		assert_string_equal(points.note, "");
		assert_true(
		    points.points[0].start_utc_s <= now_utc_s - days * 86400);
		assert_between(points.points[points.count - 1].end_utc_s,
		    now_utc_s - 3600, now_utc_s - 3600 + 905);
		for (size_t i = 0; i < points.count; i++) {
			const struct lt_point *const p = &points.points[i];

			assert_true(p->value == europe_rte(p->start_utc_s));
			if (i > 0)
				assert_int_equal(
				    p->start_utc_s, p[-1].end_utc_s);
		}
		lt_points_free(&points);
	}
}

static void
test_faults(void **state)
{
	static struct lt_source_memory memory;
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	/* A path that is none of its own. */
	assert_int_equal(
	    fetch("/europe/rte/x?y", 2, &memory, &points, &err), LT_ENET);
	assert_says("odsql", &err, "400, want 200: ODSQL query is malformed");
	memset(&err, 0, sizeof(err));
	assert_int_equal(
	    fetch("/status/429", 2, &memory, &points, &err), LT_ENET);
	assert_int_equal(points.retry_after_s, 7);
	assert_int_equal(points.count, 0);
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("rte_eco2mix", serve_europe);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
