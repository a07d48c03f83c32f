/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Day-ahead prices of Energy-Charts: units, fees and taxes, prices of nothing and less, then
 * fetched from a server that answers as it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_europe.h"

#define FIXTURES "tests/fixtures/energy_charts_price/"
#define PRICE(times, prices, unit)                                                                 \
	"{\"license_info\":\"CC BY 4.0\",\"unix_seconds\":[" times "],\"price\":[" prices          \
	"],\"unit\":\"" unit "\",\"deprecated\":false}"
#define TWO "900000,900900"
#define EUR_MWH "EUR / MWh"

static const struct option_case option_cases[] = {
    {"no zone", {{NULL, NULL}}, 0, "needs \"bidding_zone\""},
    {"no code", {{"bidding_zone", "DE LU"}}, 10, "got \"DE LU\", want one"},
    {"one letter", {{"bidding_zone", "D"}}, 10, "got \"D\""},
    {"fees that are none", {{"bidding_zone", "FR"}, {"add_per_kwh", "low"}}, 11,
	"add_per_kwh: got \"low\", want EUR per kWh"},
    {"fees in cents", {{"bidding_zone", "FR"}, {"add_per_kwh", "17.2"}}, 11,
	"got \"17.2\", want EUR per kWh, -10 to 10"},
    {"taxed to nothing", {{"bidding_zone", "FR"}, {"multiply", "0"}}, 11,
	"multiply: got \"0\", want more than 0"},
    {"tax in percent", {{"bidding_zone", "FR"}, {"multiply", "19"}}, 11,
	"at most 10 (1.19 for 19 % VAT)"},
    {"not http", {{"bidding_zone", "FR"}, {"url", "a"}}, 11, "want http://"},
    {"plain", {{"bidding_zone", "DE-LU"}}, 0, NULL},
    {"Ireland", {{"bidding_zone", "IE(SEM)"}}, 0, NULL},
    {"all", {{"bidding_zone", "IT-North"}, {"add_per_kwh", "0.17"}, {"multiply", "1.22"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct {
	const char *why, *add, *multiply, *bytes;
	const char *says; /* NULL = good */
	double micros[2]; /* per kWh */
} parse_cases[] = {
    {"EUR per MWh are a thousandth per kWh", "0", "1", PRICE(TWO, "93.91,100", EUR_MWH), NULL,
	{93910, 100000}},
    {"nothing, and less", "0", "1", PRICE(TWO, "0,-12.34", EUR_MWH), NULL, {0, -12340}},
    {"fees", "0.17", "1", PRICE(TWO, "100,-200", EUR_MWH), NULL, {270000, -30000}},
    {"tax is on fees, too", "0.17", "1.19", PRICE(TWO, "100,0", EUR_MWH), NULL, {321300, 202300}},
    {"whole micros", "0", "1", PRICE(TWO, "1.2345,-1.2345", EUR_MWH), NULL, {1235, -1235}},
    {"no unit", "0", "1", PRICE(TWO, "93.91,100", "No Unit"),
	"unit: got \"No Unit\", want \"EUR / MWh\"", {0}},
    {"another currency", "0", "1", PRICE(TWO, "93.91,100", "CHF / MWh"), "unit: got \"CHF / MWh\"",
	{0}},
    {"unit left out", "0", "1", "{\"unix_seconds\":[900000,900900],\"price\":[1,2]}",
	"unit: got \"\", want", {0}},
    {"no prices", "0", "1", "{\"unix_seconds\":[900000,900900],\"unit\":\"EUR / MWh\"}",
	"JSON without \"price\"", {0}},
    {"not yet known", "0", "1", PRICE(TWO, "null,null", EUR_MWH), "2 times and no usable value",
	{0}},
    {"absurd", "0", "1", PRICE(TWO, "1e12,1e12", EUR_MWH), "is the unit right?", {0}},
};

static void
test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		const char *const why = parse_cases[i].why;
		const struct pair pairs[] = {{"bidding_zone", "FR"},
		    {"add_per_kwh", parse_cases[i].add}, {"multiply", parse_cases[i].multiply},
		    {0}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_points points = {0};

		if (parses(&options, 900000, why, parse_cases[i].bytes, parse_cases[i].says,
			&points) &&
		    (points.count != 2 || points.points[0].value != parse_cases[i].micros[0] ||
			points.points[1].value != parse_cases[i].micros[1] ||
			points.points[0].quality != LT_QUALITY_MEASURED ||
			points.points[1].quality != LT_QUALITY_FORECAST ||
			strcmp(points.currency, "EUR") != 0))
			fail_msg("%s: %zu: %f, %f", why, points.count, points.points[0].value,
			    points.points[1].value);
		lt_points_free(&points);
	}
}

static const struct {
	const char *file, *says;
	size_t count;
} files[] = {
    {"price_SYNTHETIC.json", NULL, 6},
    {"price_de_lu_no_unit.json", "unit: got \"No Unit\"", 0},
};

static void
test_files(void **state)
{
	static const struct pair none[] = {{0}};
	const struct lt_source_options options = options_of(none);

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char path[128], bytes[4096];
		struct lt_points points = {0};
		struct lt_error err = {0};

		snprintf(path, sizeof(path), FIXTURES "%s", files[i].file);
		const size_t length = read_fixture(path, bytes, sizeof(bytes));
		const int code = lt_adapter_parse(adapter, &options,
		    &(struct lt_answer){bytes, length, 1683237600}, &points, &err);
		assert_int_equal(code == LT_OK, files[i].says == NULL);
		assert_int_equal(points.count, files[i].count);
		if (code != LT_OK)
			assert_says(files[i].file, &err, files[i].says);
		else /* a price that is not known yet is no news */
			assert_string_equal(points.note, "");
		lt_points_free(&points);
	}
}

static void
fetch_is_whole(const char *host, int days, int requests)
{
	const int64_t now_utc_s = server_stop_clock();
	const int64_t from_utc_s = now_utc_s - days * 86400;
	const int64_t end_utc_s = now_utc_s - now_utc_s % 86400 + 2 * 86400;
	char url[64];
	const struct pair pairs[] = {{"bidding_zone", "DE-LU"}, {"url", url}, {0}};
	struct lt_source_memory memory = {0};
	struct lt_points points = {0};
	struct lt_error err = {0};

	snprintf(url, sizeof(url), "http://%s:%d/europe/", host, server.port);
	struct lt_source_options options = options_of(pairs);
	options.memory = &memory;
	if (lt_adapter_fetch(adapter, &options,
		&(struct lt_window){from_utc_s, now_utc_s + 8 * 86400, now_utc_s}, &points,
		&err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(memory.trace_count, requests);
	assert_true(points.points[0].start_utc_s <= from_utc_s);
	assert_int_equal(points.points[points.count - 1].end_utc_s, end_utc_s);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		if (i > 0)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		assert_true(p->value == europe_price_day[p->start_utc_s % 86400 / 3600] * 10.0);
	}
	assert_string_equal(points.note, "");
	assert_string_equal(points.currency, "EUR");
	lt_points_free(&points);
}

/* The usual fetch is one request; the first has its history besides. */
static void
test_fetch(void **state)
{
	(void)state;
	fetch_is_whole("127.0.0.1", 2, 1);
	fetch_is_whole("localhost", 28, 2);
}

static void
test_faults(void **state)
{
	static const struct {
		const char *zone, *path, *says;
		int64_t ahead_s;
	} faults[] = {
	    {"XX", "/europe", "400, want 200: 'XX' is not the code for", 0},
	    {"FR", "/europe", "404, want 200: no content available", 10 * 86400},
	    {"FR", "/html", "got text/html, want JSON", 0},
	};
	const int64_t now_utc_s = server_stop_clock();

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		char url[64];
		const struct pair pairs[] = {{"bidding_zone", faults[i].zone}, {"url", url}, {0}};
		struct lt_points points = {0};
		struct lt_error err = {0};

		snprintf(url, sizeof(url), "http://%s:%d%s", i % 2 == 0 ? "127.0.0.1" : "localhost",
		    server.port, faults[i].path);
		const struct lt_source_options options = options_of(pairs);
		/* A clock that is ahead asks for what nobody knows yet. */
		const int64_t then_utc_s = now_utc_s + faults[i].ahead_s;
		assert_int_equal(lt_adapter_fetch(adapter, &options,
				     &(struct lt_window){then_utc_s, then_utc_s + 7200, then_utc_s},
				     &points, &err),
		    LT_ENET);
		assert_says(faults[i].path, &err, faults[i].says);
		assert_int_equal(points.count, 0);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("energy_charts_price", serve_europe);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
