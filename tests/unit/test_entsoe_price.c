/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ENTSO-E's day-ahead prices: a recorded day of two auctions, curves, fees and refusals, then
 * fetched from a server that answers as theirs does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_mix.h"

#define FIXTURE "tests/fixtures/entsoe_price/price_de_lu.xml"
#define DAY 1761865200 /* 2025-10-30T23:00Z: 31 October in Germany */
#define FR "10YFR-RTE------C"
#define DOCUMENT(series)                                                                           \
	"<Publication_MarketDocument xmlns=\"urn:x:7:3\"><type>A44</type>" series                  \
	"</Publication_MarketDocument>"
#define DOMAINS(in, out)                                                                           \
	"<in_Domain.mRID>" in "</in_Domain.mRID><out_Domain.mRID>" out "</out_Domain.mRID>"
#define SERIES(domains, currency, unit, curve, period)                                             \
	"<TimeSeries>" domains "<currency_Unit.name>" currency                                     \
	"</currency_Unit.name><price_Measure_Unit.name>" unit                                      \
	"</price_Measure_Unit.name><curveType>" curve "</curveType>" period "</TimeSeries>"
#define PERIOD(end, step, points)                                                                  \
	"<Period><timeInterval><start>2025-10-30T23:00Z</start><end>2025-10-"                      \
	"31T" end "Z</end></timeInterval><resolution>" step "</resolution>" points "</Period>"
#define POINT(position, price)                                                                     \
	"<Point><position>" position "</position><price.amount>" price "</price.amount></Point>"
#define OWN(curve, period) SERIES(DOMAINS(FR, FR), "EUR", "MWH", curve, period)
#define CONTRACT(type) "<contract_MarketAgreement.type>" type "</contract_MarketAgreement.type>"
#define SEQUENCE(number)                                                                           \
	"<classificationSequence_AttributeInstanceComponent.position>" number                      \
	"</classificationSequence_AttributeInstanceComponent.position>"
#define HOUR(price) PERIOD("00:00", "PT60M", POINT("1", price))

static const struct option_case option_cases[] = {
    {"no area", {{"token_env", "T"}}, 0, "needs \"area\""},
    {"no token", {{"area", "FR"}}, 0, "token_file or token_env: missing"},
    {"a zone that is none", {{"area", "ZZ"}, {"token_env", "T"}}, 10,
	"got \"ZZ\", want a known short code"},
    {"a third auction", {{"area", "AT"}, {"token_env", "T"}, {"sequence", "3"}}, 12,
	"sequence: got \"3\", want 1 or 2"},
    {"a currency that is none", {{"area", "FR"}, {"token_env", "T"}, {"currency", "euro"}}, 12,
	"currency: got \"euro\", want an ISO 4217 code"},
    {"fees in cents", {{"area", "FR"}, {"token_env", "T"}, {"add_per_kwh", "17.2"}}, 12,
	"got \"17.2\", want EUR per kWh, -10 to 10"},
    {"tax in percent", {{"area", "FR"}, {"token_env", "T"}, {"multiply", "19"}}, 12,
	"at most 10 (1.19 for 19 % VAT)"},
    {"not http", {{"area", "FR"}, {"token_env", "T"}, {"url", "a"}}, 12, "want http://"},
    {"plain", {{"area", "DE-LU"}, {"token_file", "/a"}}, 0, NULL},
    {"all",
	{{"area", "10Y1001C--00003F"}, {"token_env", "T"}, {"sequence", "2"}, {"currency", "UAH"},
	    {"add_per_kwh", "0.1"}, {"multiply", "1.2"}},
	0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want XML"},
    {.why = "generation",
	.bytes = "<GL_MarketDocument><type>A75</type></GL_MarketDocument>",
	.says = "got <GL_MarketDocument>, want <Publication_MarketDocument>"},
    {.why = "another document",
	.bytes = "<Publication_MarketDocument><type>A25</type>"
		 "</Publication_MarketDocument>",
	.says = "another type than A44, prices"},
    {.why = "no series", .bytes = DOCUMENT(""), .says = "no price"},
    {.why = "no data",
	.bytes = "<Acknowledgement_MarketDocument><Reason><code>999</code>"
		 "<text>No matching data found for Data item X</text></Reason>"
		 "</Acknowledgement_MarketDocument>",
	.says = "no data: No matching data found"},
    {.why = "EUR per MWh are thousandths per kWh",
	.bytes = DOCUMENT(OWN("A01", HOUR("93.91"))),
	.count = 1,
	.value = 93910,
	.quality = LT_QUALITY_MEASURED,
	.length_s = 3600},
    {.why = "nothing is a price", .bytes = DOCUMENT(OWN("A01", HOUR("0"))), .count = 1, .value = 0},
    {.why = "less than nothing, too",
	.bytes = DOCUMENT(OWN("A01", HOUR("-12.34"))),
	.count = 1,
	.value = -12340},
    {.why = "A01: what is skipped is missing",
	.bytes = DOCUMENT(OWN("A01", PERIOD("02:00", "PT60M", POINT("1", "10") POINT("3", "30")))),
	.count = 2,
	.value = 10000},
    {.why = "A03: what is skipped goes on",
	.bytes = DOCUMENT(OWN("A03", PERIOD("02:00", "PT60M", POINT("1", "10") POINT("3", "30")))),
	.count = 3,
	.value = 10000},
    {.why = "A03: a price that is none is not the one before it",
	.bytes = DOCUMENT(OWN("A03", PERIOD("02:00", "PT60M", POINT("1", "10") POINT("2", "n/a")))),
	.count = 1,
	.value = 10000,
	.note = "1 refused: a point without a position of 1 to 4096 or a "
		"price.amount of at most 100000"},
    {.why = "quarter hours",
	.bytes = DOCUMENT(OWN("A01", PERIOD("00:00", "PT15M", POINT("4", "1.23")))),
	.count = 1,
	.value = 1230,
	.start_utc_s = DAY + 2700,
	.length_s = 900},
    {.why = "an absurd price",
	.bytes = DOCUMENT(OWN("A01", HOUR("100001"))),
	.says = "no price: a point without"},
    {.why = "steps of a day",
	.bytes = DOCUMENT(OWN("A01", PERIOD("23:00", "P1D", POINT("1", "10")))),
	.says = "no price: a period: want whole steps of PT15M, PT30M or"},
    {.why = "another zone",
	.bytes = DOCUMENT(SERIES(
	    DOMAINS("10YFI-1--------U", "10YFI-1--------U"), "EUR", "MWH", "A01", HOUR("10"))),
	.says = "zone: got 10YFI-1--------U to 10YFI-1--------U, want " FR},
    {.why = "a border of the zone",
	.bytes = DOCUMENT(SERIES(DOMAINS(FR, "10YFI-1--------U"), "EUR", "MWH", "A01", HOUR("10"))),
	.says = "zone: got 10YFI-1--------U to " FR},
    {.why = "another currency",
	.bytes = DOCUMENT(SERIES(DOMAINS(FR, FR), "PLN", "MWH", "A01", HOUR("10"))),
	.says = "currency: got \"PLN\", want EUR"},
    {.why = "another unit",
	.bytes = DOCUMENT(SERIES(DOMAINS(FR, FR), "EUR", "KWH", "A01", HOUR("10"))),
	.says = "unit: got \"KWH\", want MWH"},
    {.why = "another curve",
	.bytes = DOCUMENT(OWN("A02", HOUR("10"))),
	.says = "curveType: got A02, want A01 or A03"},
    {.why = "an auction within the day is passed over, whichever is first",
	.bytes = DOCUMENT(SERIES(DOMAINS(FR, FR) CONTRACT("A01"), "EUR", "MWH", "A01", HOUR("10"))
		SERIES(DOMAINS(FR, FR) CONTRACT("A07"), "EUR", "MWH", "A01", HOUR("99"))),
	.count = 1,
	.value = 10000},
    {.why = "no sequence is the first",
	.bytes = DOCUMENT(OWN("A01", HOUR("10"))
		SERIES(DOMAINS(FR, FR) SEQUENCE("2"), "EUR", "MWH", "A01", HOUR("99"))),
	.count = 1,
	.value = 10000},
    {.why = "the other auction alone",
	.bytes = DOCUMENT(SERIES(DOMAINS(FR, FR) SEQUENCE("2"), "EUR", "MWH", "A01", HOUR("99"))),
	.says = "no price of sequence 1, only of another auction"},
    {.why = "one bad series does not cost the others",
	.bytes = DOCUMENT(
	    OWN("A01", HOUR("10")) SERIES(DOMAINS(FR, FR), "PLN", "MWH", "A01", HOUR("99"))),
	.count = 1,
	.value = 10000,
	.note = "1 refused: currency: got \"PLN\", want EUR"},
    {.why = "a revision wins",
	.bytes = DOCUMENT(OWN("A01", HOUR("10")) OWN("A01", HOUR("11"))),
	.count = 1,
	.value = 11000},
    {.why = "tomorrow's is a forecast",
	.bytes = DOCUMENT(OWN("A01", PERIOD("23:00", "PT60M", POINT("24", "10")))),
	.count = 1,
	.value = 10000,
	.quality = LT_QUALITY_FORECAST},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"area", "FR"}, {"token_env", "T"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	check_answers(&options, DAY + 7200, parse_cases, COUNT(parse_cases));
}

static void
parse_file(const struct pair *pairs, struct lt_points *points)
{
	static char bytes[65536];
	const struct lt_source_options options = options_of(pairs);
	struct lt_error err = {0};
	const size_t length = read_fixture(FIXTURE, bytes, sizeof(bytes));

	if (lt_adapter_parse(adapter, &options, &(struct lt_answer){bytes, length, DAY + 86400},
		points, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(points->count, 96);
	for (int i = 0; i < 96; i++) {
		assert_int_equal(points->points[i].start_utc_s, DAY + i * 900);
		assert_int_equal(points->points[i].end_utc_s, DAY + (i + 1) * 900);
	}
	assert_string_equal(points->note, "");
	assert_string_equal(points->currency, "EUR");
}

/* The recorded day. The sums are of the file, by awk: 8951.34 EUR per MWh of sequence 1 over its
 * quarter hours. */
static void
test_recorded(void **state)
{
	static const struct pair first[] = {{"area", "DE-LU"}, {"token_env", "T"}, {0}};
	static const struct pair taxed[] = {{"area", "DE-LU"}, {"token_env", "T"},
	    {"add_per_kwh", "0.17"}, {"multiply", "1.19"}, {0}};
	static const struct pair second[] = {
	    {"area", "DE-LU"}, {"token_env", "T"}, {"sequence", "2"}, {0}};
	struct lt_points points = {0};
	double sum = 0;

	(void)state;
	parse_file(first, &points);
	for (size_t i = 0; i < points.count; i++)
		sum += points.points[i].value;
	assert_true(sum == 8951340);
	assert_true(points.points[0].value == 102810);	/* 00:00 in Berlin */
	assert_true(points.points[63].value == 138950); /* 15:45, the dearest */
	assert_true(points.points[95].value == 42370);	/* 23:45 */
	lt_points_free(&points);
	points = (struct lt_points){0};
	parse_file(taxed, &points); /* (0.10281 + 0.17) * 1.19 */
	assert_true(points.points[0].value == 324644);
	lt_points_free(&points);
	points = (struct lt_points){0};
	parse_file(second, &points); /* positions 20 and 72 are not there */
	assert_true(points.points[19].value == points.points[18].value);
	assert_true(points.points[71].value == points.points[70].value);
	assert_true(points.points[18].value != points.points[20].value);
	lt_points_free(&points);
}

/* ---- over the network ---- */

static int
fetch(const char *path, const char *token, int days, struct lt_points *points,
    struct lt_source_memory *memory, struct lt_error *err)
{
	char url[128];
	const struct pair pairs[] = {
	    {"area", "FR"}, {"url", url}, {"token_env", "LT_TEST_TOKEN"}, {NULL, NULL}};
	const int64_t now_utc_s = server_stop_clock();

	setenv("LT_TEST_TOKEN", token, 1);
	server_url(url, path);
	struct lt_source_options options = options_of(pairs);
	options.memory = memory;
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s - days * 86400, now_utc_s + 8 * 86400, now_utc_s}, points,
	    err);
}

static void
test_fetch(void **state)
{
	static const struct {
		const char *path;
		int days, requests;
		bool whole;
	} fetches[] = {
	    {"/mix/entsoe", 0, 1, true}, /* yesterday is asked for, too */
	    {"/mix/entsoe", 2, 1, true},
	    {"/mix/entsoe", 28, 3, true},
	    {"/mix/entsoe-limit", 2, 3, true}, /* the whole and its halves */
	    {"/mix/entsoe-old-fails", 28, 2, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(fetches); i++) {
		static struct lt_source_memory memory;
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int64_t now_utc_s = server_stop_clock();

		if (fetch(fetches[i].path, MIX_KEY, fetches[i].days, &points, &memory, &err) !=
		    LT_OK)
			fail_msg("%s: %s", fetches[i].path, err.text);
		assert_int_equal(memory.trace_count, fetches[i].requests);
		assert_int_equal(strncmp(points.note, "without older hours: 127.0.0.1",
				     fetches[i].whole ? 0 : 30),
		    0);
		assert_int_equal(points.note[0] == '\0', fetches[i].whole);
		assert_int_equal(points.past_lost, !fetches[i].whole);
		if (fetches[i].whole)
			assert_true(
			    points.points[0].start_utc_s <= now_utc_s - fetches[i].days * 86400);
		assert_int_equal(
		    points.points[points.count - 1].end_utc_s, (now_utc_s / 86400 + 2) * 86400);
		for (size_t j = 0; j < points.count; j++) {
			const struct lt_point *const p = &points.points[j];

			if (j > 0)
				assert_int_equal(p->start_utc_s, p[-1].end_utc_s);
			assert_true(p->value == mix_entsoe_cents(p->start_utc_s) * 10.0);
		}
		for (int j = 0; j < memory.trace_count && j < LT_TRACE_MAX; j++)
			assert_null(strstr(memory.trace[j].request, "Token"));
		lt_points_free(&points);
	}
}

static void
test_errors(void **state)
{
	static const struct {
		const char *path, *token, *says;
		int code;
		int64_t retry_after_s;
	} cases[] = {
	    {"/mix/entsoe", "wrong", "HTTP status 401, want 200: Authentication failed. Please",
		LT_ENET, 0},
	    {"/mix/entsoe", "busy", "HTTP status 429", LT_ENET, 600},
	    {"/mix/entsoe-none", MIX_KEY, "no data: No matching data found", LT_ENET, 0},
	    {"/mix/entsoe-other", MIX_KEY, "127.0.0.1: no price: zone: got 10YFI-1--------U",
		LT_EINPUT, 0},
	    {"/mix/entsoe-exaa", MIX_KEY,
		"127.0.0.1: no price of sequence 1, only of another auction", LT_EINPUT, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		static struct lt_source_memory memory;
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = fetch(cases[i].path, cases[i].token, 2, &points, &memory, &err);

		if (code != cases[i].code || points.retry_after_s != cases[i].retry_after_s)
			fail_msg("%s: %d, %d s: %s", cases[i].path, code, (int)points.retry_after_s,
			    err.text);
		assert_says(cases[i].path, &err, cases[i].says);
		assert_int_equal(points.count, 0);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("entsoe_price", serve_mix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
