/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources that are a row of sources.c, and others that json_source.c asks:
 * the recorded answer of each, read and fetched; of the series also options, rows that are none,
 * and fetches from servers whose newest values have not come yet, or that take Danish time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "json_source.h"
#include "source_rows.h"
#include "tools/source_server_europe.h"

#define RTE_DAY 1719964800   /* 2024-07-03T00:00Z */
#define EDS_HOUR 1771387200  /* 2026-02-18T04:00Z */
#define EDS_START 1759006800 /* 2025-09-27T21:00Z */
#define RTE_ROW(minute, value)                                                                     \
	"{\"date_heure\":\"2024-07-03T00:" minute ":00+00:00\",\"taux_co2\":" value "}"
#define EDS_ANSWER(dataset, records)                                                               \
	"{\"total\":1,\"limit\":0,\"dataset\":\"" dataset "\",\"records\":[" records "]}"
#define EDS_RECORD(minute, area, value)                                                            \
	"{\"Minutes5UTC\":\"2026-02-18T04:" minute ":00\","                                        \
	"\"Minutes5DK\":\"2026-02-18T05:" minute ":00\",\"PriceArea\":\"" area                     \
	"\",\"CO2Emission\":" value "}"
#define EDS_PRICE(eur)                                                                             \
	"{\"total\":1,\"limit\":0,\"dataset\":\"DayAheadPrices\",\"records\":"                     \
	"[{\"TimeUTC\":\"2025-09-27T21:00:00\",\"PriceArea\":\"DK1\","                             \
	"\"DayAheadPriceEUR\":" eur "}]}"

/* ---- recorded answers ---- */

static void
check_recorded(const struct source_row *row, const struct lt_source_options *options,
    const struct lt_points *points)
{
	const struct recorded *const want = &row->recorded;
	const int64_t end_utc_s = want->start_utc_s + (int64_t)want->count * want->step_s;
	const size_t middle = want->count / 2;
	double sum = 0;

	if (points->count != want->count)
		fail_msg("%s: %zu points", row->adapter, points->count);
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const p = &points->points[i];

		assert_int_equal(p->start_utc_s, want->start_utc_s + (int64_t)i * want->step_s);
		assert_int_equal(p->end_utc_s, p->start_utc_s + want->step_s);
		assert_int_equal(p->quality, want->quality);
		sum += p->value;
	}
	if (sum != want->sum || points->points[0].value != want->first ||
	    points->points[want->count - 1].value != want->last ||
	    (want->middle != 0 && points->points[middle].value != want->middle))
		fail_msg("%s: sum %f, first %f", row->adapter, sum, points->points[0].value);
	assert_int_equal(points->issued_utc_s, end_utc_s > want->now_utc_s ? 0 : end_utc_s);
	assert_int_equal(points->quantity, adapter->gives);
	assert_int_equal(lt_adapter_basis(adapter, options), want->basis);
	assert_string_equal(points->note, want->note == NULL ? "" : want->note);
	assert_string_equal(points->currency, want->currency == NULL ? "" : want->currency);
	assert_int_equal(adapter->currency == NULL, want->currency == NULL);
	if (want->currency != NULL)
		assert_string_equal(adapter->currency(options), want->currency);
}

/* Each of them read by itself, then fetched from a server that plays it. */
static void
test_recorded(void **state)
{
	static char bytes[256 * 1024];

	(void)state;
	for (size_t i = 0; i < COUNT(sources); i++) {
		const struct recorded *const want = &sources[i].recorded;
		const struct lt_window window = {.from_utc_s = want->start_utc_s - LT_DAY_S,
		    .to_utc_s = want->start_utc_s + 2 * LT_DAY_S,
		    .now_utc_s = want->now_utc_s};
		struct lt_source_options options = options_of(sources[i].pairs);
		struct lt_answer answer = {.bytes = bytes, .now_utc_s = want->now_utc_s};
		struct lt_points parsed = {0}, fetched = {0};
		struct lt_error err = {0};
		char path[128], url[128];

		if (want->file == NULL)
			continue;
		adapter = lt_adapter_find(sources[i].adapter);
		snprintf(path, sizeof(path), "tests/fixtures/%s", want->file);
		answer.byte_count = read_fixture(path, bytes, sizeof(bytes));
		if (lt_adapter_parse(adapter, &options, &answer, &parsed, &err) != LT_OK)
			fail_msg("%s: %s", sources[i].adapter, err.text);
		check_recorded(&sources[i], &options, &parsed);
		snprintf(path, sizeof(path), "/fixture/%s/", want->file);
		put_url(&options, server_url(url, path));
		if (lt_adapter_fetch(adapter, &options, &window, &fetched, &err) != LT_OK)
			fail_msg("%s: %s", sources[i].adapter, err.text);
		check_recorded(&sources[i], &options, &fetched);
		lt_points_free(&parsed);
		lt_points_free(&fetched);
	}
}

/* A row of sources.c without a recorded answer is not tested at all. */
static void
test_all_have_one(void **state)
{
	(void)state;
	for (const char *const *name = lt_adapter_names(); *name != NULL; name++) {
		bool has_one = lt_adapter_find(*name)->json == NULL;

		for (size_t i = 0; i < COUNT(sources); i++)
			has_one |= strcmp(sources[i].adapter, *name) == 0 &&
				   sources[i].recorded.file != NULL;
		if (!has_one)
			fail_msg("%s: no recorded answer", *name);
	}
}

/* ---- options ---- */

static const struct option_case rte_options[] = {
    {"not http", {{"url", "a"}}, 10, "want http://"},
    {"no factors to choose", {{"emission_factors", "direct"}}, 10, "unknown key"},
    {"plain", {{NULL, NULL}}, 0, NULL},
};

static const struct option_case eds_options[] = {
    {"no area", {{NULL, NULL}}, 0, "needs \"area\""},
    {"a country", {{"area", "DK"}}, 10, "got \"DK\", want DK1 (west) or DK2"},
    {"not http", {{"area", "DK1"}, {"url", "a"}}, 11, "want http://"},
    {"no factors to choose", {{"area", "DK1"}, {"emission_factors", "direct"}}, 11, "unknown key"},
    {"plain", {{"area", "DK2"}}, 0, NULL},
};

static const struct option_case eds_price_options[] = {
    {"no area", {{NULL, NULL}}, 0, "needs \"area\""},
    {"a neighbour", {{"area", "SE4"}}, 10, "got \"SE4\", want DK1"},
    {"another currency", {{"area", "DK1"}, {"currency", "SEK"}}, 11,
	"currency: got \"SEK\", want EUR or DKK"},
    {"fees in ore", {{"area", "DK1"}, {"currency", "DKK"}, {"add_per_kwh", "90"}}, 12,
	"got \"90\", want DKK per kWh, -10 to 10"},
    {"tax in percent", {{"area", "DK1"}, {"multiply", "25"}}, 11, "at most 10"},
    {"not http", {{"area", "DK1"}, {"url", "a"}}, 11, "want http://"},
    {"all", {{"area", "DK2"}, {"currency", "DKK"}, {"add_per_kwh", "0.9"}, {"multiply", "1.25"}}, 0,
	NULL},
};

static void
check_options_of(const char *name, const struct option_case *cases, size_t count)
{
	adapter = lt_adapter_find(name);
	check_options(cases, count);
}

static void
test_options(void **state)
{
	(void)state;
	check_options_of("rte_eco2mix", rte_options, COUNT(rte_options));
	check_options_of("energi_data_service", eds_options, COUNT(eds_options));
	check_options_of("energi_data_service_price", eds_price_options, COUNT(eds_price_options));
}

/* ---- answers ---- */

static const struct parse_case rte_answers[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "an error with status 200",
	.bytes = "{\"error_code\":\"ODSQLError\",\"message\":\"malformed\"}",
	.says = "JSON without a list of \"results\""},
    {.why = "none", .bytes = "[]", .says = "0 rows and no usable value among them"},
    {.why = "nothing known yet",
	.bytes = "[" RTE_ROW("00", "null") "]",
	.says = "1 rows and no usable value among them"},
    {.why = "a quarter hour",
	.bytes = "[" RTE_ROW("15", "13") "]",
	.count = 1,
	.value = 13,
	.quality = LT_QUALITY_ESTIMATED,
	.start_utc_s = RTE_DAY + 900,
	.length_s = 900},
    {.why = "a page of records",
	.bytes = "{\"total_count\":1,\"results\":[" RTE_ROW("15", "13") "]}",
	.count = 1,
	.value = 13},
    {.why = "in the time of Paris",
	.bytes = "[{\"date_heure\":\"2024-07-03T02:15:00+02:00\","
		 "\"taux_co2\":13}]",
	.count = 1,
	.value = 13,
	.start_utc_s = RTE_DAY + 900},
    {.why = "not known yet is no news",
	.bytes = "[" RTE_ROW("00", "13") "," RTE_ROW("15", "null") "]",
	.count = 1,
	.value = 13,
	.length_s = 900},
    {.why = "a hole is",
	.bytes = "[" RTE_ROW("00", "13") "," RTE_ROW("15", "null") "," RTE_ROW("30", "14") "]",
	.count = 2,
	.value = 13,
	.note = "1 of 3 quarter hours have no value"},
    {.why = "0 stands for missing",
	.bytes = "[" RTE_ROW("00", "13") "," RTE_ROW("15", "0") "]",
	.count = 1,
	.value = 13,
	.note = "1 of 2 rows refused: carbon: got 0 g CO2e/kWh, which stands "
		"for a missing value; want more than 0"},
    {.why = "words", .bytes = "[" RTE_ROW("00", "\"ND\"") "]", .says = "taux_co2: no number"},
    {.why = "no time", .bytes = "[{\"taux_co2\":13}]", .says = "a row without date_heure"},
    {.why = "rows that are none",
	.bytes = "[3,null,[]]",
	.says = "3 rows and no usable value among them: a row without"},
};

static const struct parse_case eds_answers[] = {
    {.why = "empty", .bytes = "", .says = "empty, want JSON"},
    {.why = "no records", .bytes = "{}", .says = "JSON without \"records\""},
    {.why = "another dataset",
	.bytes = EDS_ANSWER("Elspotprices", EDS_RECORD("00", "DK1", "90.5")),
	.says = "dataset: got \"Elspotprices\", want one that was asked for"},
    {.why = "no dataset", .bytes = "{\"records\":[]}", .says = "dataset: got \"\""},
    {.why = "none",
	.bytes = EDS_ANSWER("CO2Emis", ""),
	.says = "0 records and no usable value among them"},
    {.why = "measured",
	.bytes = EDS_ANSWER("CO2Emis", EDS_RECORD("05", "DK1", "90.5")),
	.count = 1,
	.value = 90.5,
	.quality = LT_QUALITY_MEASURED,
	.start_utc_s = EDS_HOUR + 300,
	.length_s = 300},
    {.why = "ahead",
	.bytes = EDS_ANSWER("CO2EmisProg", EDS_RECORD("55", "DK1", "90")),
	.count = 1,
	.value = 90,
	.quality = LT_QUALITY_FORECAST},
    {.why = "a forecast of what is over",
	.bytes = EDS_ANSWER("CO2EmisProg", EDS_RECORD("05", "DK1", "90")),
	.count = 1,
	.value = 90,
	.quality = LT_QUALITY_ESTIMATED},
    {.why = "newest first, and one twice: the later wins",
	.bytes = EDS_ANSWER("CO2Emis", EDS_RECORD("10", "DK1", "3") "," EDS_RECORD(
					   "05", "DK1", "2") "," EDS_RECORD("05", "DK1", "1")),
	.count = 2,
	.value = 1},
    {.why = "a hole stays one",
	.bytes =
	    EDS_ANSWER("CO2Emis", EDS_RECORD("20", "DK1", "3") "," EDS_RECORD("05", "DK1", "2")),
	.count = 2,
	.value = 2,
	.length_s = 300},
    {.why = "null is missing",
	.bytes =
	    EDS_ANSWER("CO2Emis", EDS_RECORD("10", "DK1", "null") "," EDS_RECORD("05", "DK1", "2")),
	.count = 1,
	.value = 2,
	.note = "1 of 2 records have no value"},
    {.why = "nothing is missing, too",
	.bytes =
	    EDS_ANSWER("CO2Emis", EDS_RECORD("10", "DK1", "0") "," EDS_RECORD("05", "DK1", "2")),
	.count = 1,
	.value = 2,
	.note = "1 of 2 records refused: carbon: got 0 g CO2e/kWh, which "
		"stands for a missing value; want more than 0"},
    {.why = "another area",
	.bytes = EDS_ANSWER("CO2Emis", EDS_RECORD("05", "DK2", "2")),
	.says = "no usable value among them: PriceArea: got \"DK2\", want DK1"},
    {.why = "words",
	.bytes = EDS_ANSWER("CO2Emis", EDS_RECORD("05", "DK1", "\"low\"")),
	.says = "CO2Emission: no number"},
    {.why = "a time with a zone is another form",
	.bytes =
	    EDS_ANSWER("CO2Emis", "{\"Minutes5UTC\":\"2026-02-18T04:00:00Z\",\"PriceArea\":\"DK1\","
				  "\"CO2Emission\":5}"),
	.says = "a record without Minutes5UTC"},
    {.why = "records that are none",
	.bytes = EDS_ANSWER("CO2Emis", "3,null,[]"),
	.says = "3 records and no usable value among them: PriceArea: got"},
};

static const struct parse_case eds_price_answers[] = {
    {.why = "a price",
	.bytes = EDS_PRICE("100"),
	.count = 1,
	.value = 100000,
	.quality = LT_QUALITY_MEASURED,
	.start_utc_s = EDS_START,
	.length_s = 900},
    {.why = "nothing", .bytes = EDS_PRICE("0"), .count = 1, .value = 0},
    {.why = "less", .bytes = EDS_PRICE("-12.34"), .count = 1, .value = -12340},
    {.why = "not known yet",
	.bytes = EDS_PRICE("null"),
	.says = "1 records and no usable value among them"},
    {.why = "absurd", .bytes = EDS_PRICE("1e12"), .says = "is the unit right?"},
    {.why = "of the emissions",
	.bytes = "{\"dataset\":\"CO2Emis\",\"records\":[]}",
	.says = "dataset: got \"CO2Emis\""},
};

static void
test_parse(void **state)
{
	static const struct pair none[] = {{0}};
	static const struct pair dk1[] = {{"area", "DK1"}, {0}};
	const struct lt_source_options plain = options_of(none);
	const struct lt_source_options area = options_of(dk1);

	(void)state;
	adapter = lt_adapter_find("rte_eco2mix");
	check_answers(&plain, RTE_DAY + 3600, rte_answers, COUNT(rte_answers));
	adapter = lt_adapter_find("energi_data_service");
	check_answers(&area, EDS_HOUR + 1800, eds_answers, COUNT(eds_answers));
	adapter = lt_adapter_find("energi_data_service_price");
	check_answers(&area, EDS_START, eds_price_answers, COUNT(eds_price_answers));
}

/* ---- fetches ---- */

static double
rte_value(int64_t utc_s)
{
	return europe_rte(utc_s);
}

static double
eds_value(int64_t utc_s)
{
	return europe_eds_co2(utc_s);
}

static double
price_value(int64_t utc_s)
{
	return europe_price_day[utc_s % 86400 / 3600] * 10.0;
}

static const struct fetch {
	const char *adapter, *path, *area;
	int days[3]; /* of history; -1 = no more */
	int requests;
	double (*value)(int64_t utc_s);
	/* When the last point ends, from now; or the end of tomorrow. */
	int64_t least_s, most_s;
	bool ends_tomorrow;
	bool has_gap; /* between history and forecast */
	bool is_cropped;
	int64_t ahead_least, ahead_most; /* forecasts among the points */
	const char *currency;
} fetches[] = {
    {.adapter = "rte_eco2mix",
	.path = "/europe/rte",
	.days = {0, 14, 28},
	.requests = 1,
	.value = rte_value,
	.least_s = -3600,
	.most_s = -3600 + 905,
	.currency = ""},
    {.adapter = "energi_data_service",
	.path = "/europe/eds",
	.area = "DK2",
	.days = {2, 28, -1},
	.requests = 2,
	.value = eds_value,
	.least_s = 9 * 3600 - 300,
	.most_s = 9 * 3600 + 305,
	.has_gap = true,
	.ahead_least = 107, /* 9 hours */
	.ahead_most = 110,
	.currency = ""},
    {.adapter = "energi_data_service_price",
	.path = "/europe/eds/",
	.area = "DK1",
	.days = {0, 14, 28},
	.requests = 1,
	.value = price_value,
	.ends_tomorrow = true,
	.is_cropped = true,
	.ahead_most = 2 * 96,
	.currency = "EUR"},
};

static int
fetch(const char *area, const char *path, int days, struct lt_source_memory *memory,
    struct lt_points *points, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {{"url", url}, {area == NULL ? NULL : "area", area}, {0}};
	const int64_t now_utc_s = server_stop_clock();
	const struct lt_window window = {.from_utc_s = now_utc_s - days * 86400,
	    .to_utc_s = now_utc_s + 8 * 86400,
	    .now_utc_s = now_utc_s};

	server_url(url, path);
	struct lt_source_options options = options_of(pairs);
	options.memory = memory;
	return lt_adapter_fetch(adapter, &options, &window, points, err);
}

static void
check_fetch(const struct fetch *one, int days)
{
	static struct lt_source_memory memory;
	const int64_t now_utc_s = server_stop_clock();
	const int64_t from_utc_s = now_utc_s - days * 86400;
	const int64_t tomorrow_utc_s = now_utc_s - now_utc_s % 86400 + 2 * 86400;
	struct lt_points points = {0};
	struct lt_error err = {0};
	int64_t ahead = 0;

	adapter = lt_adapter_find(one->adapter);
	if (fetch(one->area, one->path, days, &memory, &points, &err) != LT_OK)
		fail_msg("%s: %s", one->adapter, err.text);
	assert_int_equal(memory.trace_count, one->requests);
	assert_string_equal(points.note, "");
	assert_string_equal(points.currency, one->currency);
	assert_true(points.points[0].start_utc_s <= from_utc_s);
	if (one->is_cropped)
		assert_true(points.points[0].end_utc_s > from_utc_s);
	assert_between(points.points[points.count - 1].end_utc_s,
	    one->ends_tomorrow ? tomorrow_utc_s : now_utc_s + one->least_s,
	    one->ends_tomorrow ? tomorrow_utc_s : now_utc_s + one->most_s);
	for (size_t i = 0; i < points.count; i++) {
		const struct lt_point *const p = &points.points[i];

		assert_true(p->value == one->value(p->start_utc_s));
		if (i > 0 && !one->has_gap)
			assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
		ahead += p->quality == LT_QUALITY_FORECAST;
		if (one->has_gap && p->end_utc_s <= now_utc_s)
			assert_int_equal(p->quality, LT_QUALITY_MEASURED);
	}
	assert_between(ahead, one->ahead_least, one->ahead_most);
	lt_points_free(&points);
}

static void
test_fetch(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(fetches); i++)
		for (size_t d = 0; d < COUNT(fetches[i].days) && fetches[i].days[d] >= 0; d++)
			check_fetch(&fetches[i], fetches[i].days[d]);
}

/* Where nothing comes at all. */
static void
test_failures(void **state)
{
	static const struct {
		const char *adapter, *path, *area, *says;
		int64_t retry_after_s;
	} failures[] = {
	    /* A path that is none of its own. */
	    {"rte_eco2mix", "/europe/rte/x?y", NULL, "400, want 200: ODSQL query is malformed", 0},
	    {"rte_eco2mix", "/status/429", NULL, "429", 7},
	    {"energi_data_service", "/status/429", "DK2", "429", 60},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(failures); i++) {
		struct lt_source_memory memory = {0};
		struct lt_points points = {0};
		struct lt_error err = {0};

		adapter = lt_adapter_find(failures[i].adapter);
		assert_int_equal(
		    fetch(failures[i].area, failures[i].path, 2, &memory, &points, &err), LT_ENET);
		assert_says(failures[i].path, &err, failures[i].says);
		assert_int_equal(points.retry_after_s, failures[i].retry_after_s);
		assert_int_equal(points.count, 0);
		lt_points_free(&points);
	}
}

/* Without its history what is ahead still comes; a minute's pause is kept. */
static void
test_half(void **state)
{
	static struct lt_source_memory memory;
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	adapter = lt_adapter_find("energi_data_service");
	assert_int_equal(fetch("DK2", "/europe/eds-busy", 2, &memory, &points, &err), LT_OK);
	assert_true(points.past_lost);
	assert_non_null(strstr(points.note, "without history: 127.0.0.1: "));
	assert_between(memory.past_pause_utc_s, time(NULL) + 55, time(NULL) + 61);
	lt_points_free(&points);
	points = (struct lt_points){0};
	memory = (struct lt_source_memory){0};
	assert_int_equal(fetch("DK2", "/europe/eds-odd", 2, &memory, &points, &err), LT_OK);
	assert_int_equal(points.points[0].quality, LT_QUALITY_MEASURED);
	assert_non_null(strstr(points.note, "without forecast: 127.0.0.1: JSON without \"records"));
	lt_points_free(&points);
}

static int
start(void **state)
{
	(void)state;
	setenv("LT_TEST_SECRET", "s3cr3t-of-the-test", 1);
	return adapter_start("rte_eco2mix", serve_europe);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_all_have_one),
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_half),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
