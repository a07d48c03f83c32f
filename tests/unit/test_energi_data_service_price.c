/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Day-ahead prices of Energi Data Service: a recorded answer in both
 * currencies, fees and taxes, then fetched from a server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURE "tests/fixtures/energi_data_service_price/day_ahead_dk2.json"
#define START 1759006800 /* 2025-09-27T21:00Z */
#define ANSWER(eur)                                                            \
	"{\"total\":1,\"limit\":0,\"dataset\":\"DayAheadPrices\",\"records\":" \
	"[{\"TimeUTC\":\"2025-09-27T21:00:00\",\"PriceArea\":\"DK1\","         \
	"\"DayAheadPriceEUR\":" eur "}]}"

static const struct option_case option_cases[] = {
    {"no area", {{NULL, NULL}}, 0, "needs \"area\""},
    {"a neighbour", {{"area", "SE4"}}, 10, "got \"SE4\", want DK1"},
    {"another currency", {{"area", "DK1"}, {"currency", "SEK"}}, 11,
	"currency: got \"SEK\", want EUR or DKK"},
    {"fees in ore",
	{{"area", "DK1"}, {"currency", "DKK"}, {"add_per_kwh", "90"}}, 12,
	"got \"90\", want DKK per kWh, -10 to 10"},
    {"tax in percent", {{"area", "DK1"}, {"multiply", "25"}}, 11, "at most 10"},
    {"not http", {{"area", "DK1"}, {"url", "a"}}, 11, "want http://"},
    {"all",
	{{"area", "DK2"}, {"currency", "DKK"}, {"add_per_kwh", "0.9"},
	    {"multiply", "1.25"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "a price",
	.bytes = ANSWER("100"),
	.count = 1,
	.value = 100000,
	.quality = LT_QUALITY_MEASURED,
	.start_utc_s = START,
	.length_s = 900},
    {.why = "nothing", .bytes = ANSWER("0"), .count = 1, .value = 0},
    {.why = "less", .bytes = ANSWER("-12.34"), .count = 1, .value = -12340},
    {.why = "not known yet",
	.bytes = ANSWER("null"),
	.says = "1 records and no usable value among them"},
    {.why = "absurd", .bytes = ANSWER("1e12"), .says = "is the unit right?"},
    {.why = "of the emissions",
	.bytes = "{\"dataset\":\"CO2Emis\",\"records\":[]}",
	.says = "dataset: got \"CO2Emis\""},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"area", "DK1"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, START, parse_cases, COUNT(parse_cases));
}

/* Of the recording, by hand: 99.269997 EUR and 740.951258 DKK per MWh. */
static void
test_recorded(void **state)
{
	static const struct {
		struct pair pairs[5];
		const char *currency;
		double micros;
	} cases[] = {
	    {{{"area", "DK2"}}, "EUR", 99270},
	    {{{"area", "DK2"}, {"currency", "DKK"}}, "DKK", 740951},
	    /* (0.740951258 + 0.9) * 1.25 = 2.0511890725 */
	    {{{"area", "DK2"}, {"currency", "DKK"}, {"add_per_kwh", "0.9"},
		 {"multiply", "1.25"}},
		"DKK", 2051189},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct lt_source_options options =
		    options_of(cases[i].pairs);
		char bytes[4096];
		struct lt_points points = {0};
		const size_t length =
		    read_fixture(FIXTURE, bytes, sizeof(bytes));

		assert_int_equal(
		    lt_adapter_parse(adapter, &options,
			&(struct lt_answer){bytes, length, START - 3600},
			&points, NULL),
		    LT_OK);
		assert_int_equal(points.count, 1);
		assert_true(points.points[0].value == cases[i].micros);
		assert_int_equal(points.points[0].start_utc_s, START);
		assert_int_equal(points.points[0].quality, LT_QUALITY_FORECAST);
		assert_string_equal(points.currency, cases[i].currency);
		assert_string_equal(
		    adapter->currency(&options), cases[i].currency);
		lt_points_free(&points);
	}
}

static void
test_fetch(void **state)
{
	const int64_t now_utc_s = server_stop_clock();
	const int64_t end_utc_s = now_utc_s - now_utc_s % 86400 + 2 * 86400;
	static struct lt_source_memory memory;
	char url[128];
	const struct pair pairs[] = {{"area", "DK1"}, {"url", url}, {0}};

	(void)state;
	server_url(url, "/europe/eds/");
	for (int days = 0; days <= 28; days += 14) {
		struct lt_source_options options = options_of(pairs);
		const struct lt_window window = {
		    now_utc_s - days * 86400, now_utc_s + 8 * 86400, now_utc_s};
		struct lt_points points = {0};
		struct lt_error err = {0};

		options.memory = &memory;
		if (lt_adapter_fetch(
			adapter, &options, &window, &points, &err) != LT_OK)
			fail_msg("%s", err.text);
		assert_int_equal(memory.trace_count, 1);
		assert_true(points.points[0].start_utc_s <= window.from_utc_s);
		assert_true(points.points[0].end_utc_s > window.from_utc_s);
		assert_int_equal(
		    points.points[points.count - 1].end_utc_s, end_utc_s);
		for (size_t i = 0; i < points.count; i++) {
			const struct lt_point *const p = &points.points[i];

			if (i > 0)
				assert_int_equal(
				    p->start_utc_s, p[-1].end_utc_s);
			assert_true(
			    p->value ==
			    europe_price_day[p->start_utc_s % 86400 / 3600] *
				10.0);
		}
		assert_string_equal(points.note, "");
		assert_string_equal(points.currency, "EUR");
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("energi_data_service_price", serve_europe);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
