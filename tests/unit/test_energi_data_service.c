/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity of Energi Data Service: a recorded answer, records that are
 * none, then measured and ahead from a server that takes Danish time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURE "tests/fixtures/energi_data_service/co2emis.json"
#define HOUR 1771387200 /* 2026-02-18T04:00Z */
#define ANSWER(dataset, records)                                               \
	"{\"total\":1,\"limit\":0,\"dataset\":\"" dataset                      \
	"\",\"records\":[" records "]}"
#define RECORD(minute, area, value)                                            \
	"{\"Minutes5UTC\":\"2026-02-18T04:" minute ":00\","                    \
	"\"Minutes5DK\":\"2026-02-18T05:" minute ":00\",\"PriceArea\":\"" area \
	"\",\"CO2Emission\":" value "}"

static const struct option_case option_cases[] = {
    {"no area", {{NULL, NULL}}, 0, "needs \"area\""},
    {"a country", {{"area", "DK"}}, 10, "got \"DK\", want DK1 (west) or DK2"},
    {"not http", {{"area", "DK1"}, {"url", "a"}}, 11, "want http://"},
    {"no factors to choose", {{"area", "DK1"}, {"emission_factors", "direct"}},
	11, "unknown key"},
    {"plain", {{"area", "DK2"}}, 0, NULL},
};

static void
test_options(void **state)
{
	static const struct pair pairs[] = {{"area", "DK1"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_options(option_cases, COUNT(option_cases));
	assert_int_equal(lt_adapter_basis(adapter, &options), LT_BASIS_DIRECT);
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "no records", .bytes = "{}", .says = "JSON without \"records\""},
    {.why = "another dataset",
	.bytes = ANSWER("Elspotprices", RECORD("00", "DK1", "90.5")),
	.says = "dataset: got \"Elspotprices\", want one that was asked for"},
    {.why = "no dataset",
	.bytes = "{\"records\":[]}",
	.says = "dataset: got \"\""},
    {.why = "none",
	.bytes = ANSWER("CO2Emis", ""),
	.says = "0 records and no usable value among them"},
    {.why = "measured",
	.bytes = ANSWER("CO2Emis", RECORD("05", "DK1", "90.5")),
	.count = 1,
	.value = 90.5,
	.quality = LT_QUALITY_MEASURED,
	.start_utc_s = HOUR + 300,
	.length_s = 300},
    {.why = "ahead",
	.bytes = ANSWER("CO2EmisProg", RECORD("55", "DK1", "90")),
	.count = 1,
	.value = 90,
	.quality = LT_QUALITY_FORECAST},
    {.why = "a forecast of what is over",
	.bytes = ANSWER("CO2EmisProg", RECORD("05", "DK1", "90")),
	.count = 1,
	.value = 90,
	.quality = LT_QUALITY_ESTIMATED},
    {.why = "newest first, and one twice: the later wins",
	.bytes =
	    ANSWER("CO2Emis", RECORD("10", "DK1", "3") "," RECORD("05", "DK1",
				  "2") "," RECORD("05", "DK1", "1")),
	.count = 2,
	.value = 1},
    {.why = "a hole stays one",
	.bytes = ANSWER(
	    "CO2Emis", RECORD("20", "DK1", "3") "," RECORD("05", "DK1", "2")),
	.count = 2,
	.value = 2,
	.length_s = 300},
    {.why = "null is missing",
	.bytes = ANSWER("CO2Emis",
	    RECORD("10", "DK1", "null") "," RECORD("05", "DK1", "2")),
	.count = 1,
	.value = 2,
	.note = "1 of 2 records have no value"},
    {.why = "nothing is missing, too",
	.bytes = ANSWER(
	    "CO2Emis", RECORD("10", "DK1", "0") "," RECORD("05", "DK1", "2")),
	.count = 1,
	.value = 2,
	.note = "1 of 2 records refused: carbon: got 0 g CO2e/kWh, which "
		"stands for a missing value; want more than 0"},
    {.why = "another area",
	.bytes = ANSWER("CO2Emis", RECORD("05", "DK2", "2")),
	.says = "no usable value among them: PriceArea: got \"DK2\", want DK1"},
    {.why = "words",
	.bytes = ANSWER("CO2Emis", RECORD("05", "DK1", "\"low\"")),
	.says = "CO2Emission: no number"},
    {.why = "a time with a zone is another form",
	.bytes = ANSWER("CO2Emis",
	    "{\"Minutes5UTC\":\"2026-02-18T04:00:00Z\",\"PriceArea\":\"DK1\","
	    "\"CO2Emission\":5}"),
	.says = "a record without Minutes5UTC"},
    {.why = "records that are none",
	.bytes = ANSWER("CO2Emis", "3,null,[]"),
	.says = "3 records and no usable value among them: PriceArea: got"},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"area", "DK1"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, HOUR + 1800, parse_cases, COUNT(parse_cases));
}

/* The recorded hour; the sums are of the file, by hand. */
static void
test_recorded(void **state)
{
	static const struct {
		const char *area;
		double first, last, sum;
	} areas[] = {{"DK1", 260, 220, 2877}, {"DK2", 56, 43, 858}};

	(void)state;
	for (size_t a = 0; a < COUNT(areas); a++) {
		const struct pair pairs[] = {{"area", areas[a].area}, {0}};
		const struct lt_source_options options = options_of(pairs);
		char bytes[8192];
		struct lt_points points = {0};
		double sum = 0;
		const size_t length =
		    read_fixture(FIXTURE, bytes, sizeof(bytes));

		assert_int_equal(
		    lt_adapter_parse(adapter, &options,
			&(struct lt_answer){bytes, length, HOUR + 3900},
			&points, NULL),
		    LT_OK);
		assert_int_equal(points.count, 12);
		for (int i = 0; i < 12; i++) {
			assert_int_equal(
			    points.points[i].start_utc_s, HOUR + i * 300);
			sum += points.points[i].value;
		}
		assert_true(sum == areas[a].sum);
		assert_true(points.points[0].value == areas[a].first);
		assert_true(points.points[11].value == areas[a].last);
		assert_int_equal(points.issued_utc_s, HOUR + 3600);
		lt_points_free(&points);
	}
}

static int
fetch(const char *path, int days, struct lt_source_memory *memory,
    struct lt_points *points, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {{"area", "DK2"}, {"url", url}, {0}};
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
	for (int days = 2; days <= 28; days += 26) {
		struct lt_points points = {0};
		struct lt_error err = {0};
		size_t ahead = 0;

		if (fetch("/europe/eds", days, &memory, &points, &err) != LT_OK)
			fail_msg("%s", err.text);
		assert_int_equal(memory.trace_count, 2);
		assert_string_equal(points.note, "");
		assert_true(
		    points.points[0].start_utc_s <= now_utc_s - days * 86400);
		assert_between(points.points[points.count - 1].end_utc_s,
		    now_utc_s + 9 * 3600 - 300, now_utc_s + 9 * 3600 + 305);
		for (size_t i = 0; i < points.count; i++) {
			const struct lt_point *const p = &points.points[i];

			assert_true(p->value == europe_eds_co2(p->start_utc_s));
			ahead += p->quality == LT_QUALITY_FORECAST;
			if (p->end_utc_s <= now_utc_s)
				assert_int_equal(
				    p->quality, LT_QUALITY_MEASURED);
		}
		assert_between((int64_t)ahead, 107, 110); /* 9 hours */
		lt_points_free(&points);
	}
}

/* Without its history what is ahead still comes; a minute's pause is kept. */
static void
test_faults(void **state)
{
	static struct lt_source_memory memory;
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(
	    fetch("/europe/eds-busy", 2, &memory, &points, &err), LT_OK);
	assert_true(points.past_lost);
	assert_non_null(strstr(points.note, "without history: 127.0.0.1: "));
	assert_between(
	    memory.past_pause_utc_s, time(NULL) + 55, time(NULL) + 61);
	lt_points_free(&points);
	points = (struct lt_points){0};
	memory = (struct lt_source_memory){0};
	assert_int_equal(
	    fetch("/europe/eds-odd", 2, &memory, &points, &err), LT_OK);
	assert_int_equal(points.points[0].quality, LT_QUALITY_MEASURED);
	assert_non_null(strstr(points.note,
	    "without forecast: 127.0.0.1: JSON without \"records"));
	lt_points_free(&points);
	points = (struct lt_points){0};
	assert_int_equal(
	    fetch("/status/429", 2, &memory, &points, &err), LT_ENET);
	assert_int_equal(points.retry_after_s, 60);
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("energi_data_service", serve_europe);
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
