/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ENTSO-E: documents parsed into hours with all their curves and steps, then fetched from a server
 * that answers, delays and refuses as theirs does.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "entsoe.h"
#include "tools/source_server_mix.h"

#define FIXTURES "tests/fixtures/entsoe/"
#define NOW 1683244800 /* 2023-05-05T00:00Z */
#define FR "10YFR-RTE------C"
#define DOCUMENT(series)                                                                           \
	"<GL_MarketDocument xmlns=\"urn:x:3:0\"><type>A75</type>" series "</GL_MarketDocument>"
#define SERIES(zone, unit, curve, fuel, period)                                                    \
	"<TimeSeries>" zone "<quantity_Measure_Unit.name>" unit                                    \
	"</quantity_Measure_Unit.name><curveType>" curve "</curveType><MktPSRType><psrType>" fuel  \
	"</psrType></MktPSRType>" period "</TimeSeries>"
#define IN "<inBiddingZone_Domain.mRID>" FR "</inBiddingZone_Domain.mRID>"
#define OUT "<outBiddingZone_Domain.mRID>" FR "</outBiddingZone_Domain.mRID>"
#define PERIOD(end, step, points)                                                                  \
	"<Period><timeInterval><start>2023-05-04T18:00Z</start><end>2023-05-"                      \
	"04T" end "Z</end></timeInterval><resolution>" step "</resolution>" points "</Period>"
#define POINT(position, quantity)                                                                  \
	"<Point><position>" position "</position><quantity>" quantity "</quantity></Point>"
#define ACK(text)                                                                                  \
	"<Acknowledgement_MarketDocument><Reason><code>999</code><text>" text                      \
	"</text></Reason></Acknowledgement_MarketDocument>"
#define GAS(period) SERIES(IN, "MAW", "A01", "B04", period)

static const struct option_case option_cases[] = {
    {"no area", {{"token_env", "T"}}, 0, "needs \"area\""},
    {"no token", {{"area", "FR"}}, 0, "token_file or token_env: missing"},
    {"two tokens", {{"area", "FR"}, {"token_file", "/a"}, {"token_env", "B"}}, 12,
	"want one of them"},
    {"a country that is none", {{"area", "ZZ"}, {"token_env", "T"}}, 10,
	"got \"ZZ\", want a known short code"},
    {"in small letters", {{"area", "fr"}, {"token_env", "T"}}, 10, "\"fr\""},
    {"a slip of the pen in an EIC", {{"area", "10YFR-RTE------D"}, {"token_env", "T"}}, 10,
	"whose check character is right"},
    {"an EIC too short", {{"area", "10YFR-RTE-----C"}, {"token_env", "T"}}, 10, "EIC"},
    {"factors of another kind", {{"area", "FR"}, {"token_env", "T"}, {"emission_factors", ""}}, 12,
	"want lifecycle or direct"},
    {"not http", {{"area", "FR"}, {"token_env", "T"}, {"url", "file:///a"}}, 12, "http://"},
    {"a short code", {{"area", "NO5"}, {"token_env", "T"}}, 0, NULL},
    {"an EIC of no short code", {{"area", "10YDE-RWENET---I"}, {"token_file", "/a"}}, 0, NULL},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

/* Every short code of the manual is known, and its EIC's check is right. */
static void
test_areas(void **state)
{
	static const char *const codes[] = {"AL", "AT", "BA", "BE", "BG", "CH", "CY", "CZ", "DE",
	    "DE-LU", "DK", "DK1", "DK2", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IE-SEM",
	    "IT", "IT-NORTH", "LT", "LU", "LV", "ME", "MK", "NL", "NO", "NO1", "NO2", "NO3", "NO4",
	    "NO5", "PL", "PT", "RO", "RS", "SE", "SE1", "SE2", "SE3", "SE4", "SI", "SK", "UA",
	    "XK"};

	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		const char *const eic = lt_entsoe_area(codes[i]);

		if (eic == NULL || lt_entsoe_area(eic) != eic)
			fail_msg("%s: %s", codes[i], eic);
	}
	assert_string_equal(lt_entsoe_area("FR"), FR);
}

static const struct parse_case parse_cases[] = {
    {.why = "empty", .bytes = "", .says = "empty, want XML"},
    {.why = "cut off",
	.bytes = "<GL_MarketDocument><type>",
	.says = "not XML: no element found: the answer is cut off"},
    {.why = "JSON", .bytes = "{}", .says = "not XML: "},
    {.why = "a page", .bytes = "<html></html>", .says = "got <html>, want <GL_MarketDocument>"},
    {.why = "a document type",
	.bytes = "<!DOCTYPE a [<!ENTITY b \"c\">]>" DOCUMENT(""),
	.says = "XML with a document type: refused"},
    {.why = "an entity of nobody", .bytes = DOCUMENT("&b;"), .says = "not XML: undefined entity"},
    {.why = "another document",
	.bytes = "<GL_MarketDocument><type>A73</type></GL_MarketDocument>",
	.says = "another type than A75"},
    {.why = "no series", .bytes = DOCUMENT(""), .says = "no complete hour"},
    {.why = "no data",
	.bytes = ACK("No matching data found for Data item X"),
	.says = "no data: No matching data found"},
    {.why = "too much",
	.bytes = ACK("The amount of requested data exceeds allowed limit."),
	.says = "the source says: The amount of requested data"},
    {.why = "a reason cannot forge a line of the log",
	.bytes = ACK("a&#10;b\xC2\x9B"),
	.says = "the source says: a?b?"},
    {.why = "no reason", .bytes = ACK(""), .says = "no reason"},
    {.why = "another area than asked",
	.bytes = DOCUMENT(SERIES("<inBiddingZone_Domain.mRID>10YFI-1--------U"
				 "</inBiddingZone_Domain.mRID>",
	    "MAW", "A01", "B04", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.says = "zone: got 10YFI-1--------U, want " FR},
    {.why = "of no area",
	.bytes =
	    DOCUMENT(SERIES("", "MAW", "A01", "B04", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.says = "zone: got , want " FR},
    {.why = "another unit",
	.bytes =
	    DOCUMENT(SERIES(IN, "KWT", "A01", "B04", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.says = "unit: got \"KWT\", want MAW"},
    {.why = "another curve",
	.bytes =
	    DOCUMENT(SERIES(IN, "MAW", "A02", "B04", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.says = "curveType: got A02, want A01 or A03"},
    {.why = "steps of a day",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "P1D", POINT("1", "100")))),
	.says = "want whole steps of PT15M, PT30M or PT60M"},
    {.why = "backwards",
	.bytes = DOCUMENT(GAS(PERIOD("17:00", "PT60M", POINT("1", "100")))),
	.says = "want whole steps"},
    {.why = "half a step",
	.bytes = DOCUMENT(GAS(PERIOD("18:30", "PT60M", POINT("1", "100")))),
	.says = "want whole steps"},
    {.why = "a position past the end",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("2", "100")))),
	.says = "want whole steps"},
    {.why = "a position of 0",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("0", "100")))),
	.says = "a point without a position of 1 to 4096"},
    {.why = "not a number",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "NaN")))),
	.says = "or a quantity of at most 1000000"},
    {.why = "nothing is generated",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "0")))),
	.says = "no generation at all"},
    {.why = "an hour of which a quarter is missing",
	.bytes = DOCUMENT(
	    GAS(PERIOD("19:00", "PT15M", POINT("1", "1") POINT("2", "1") POINT("4", "1")))),
	.says = "a fuel is missing"},
    {.why = "A03: what is skipped goes on",
	.bytes = DOCUMENT(SERIES(
	    IN, "MAW", "A03", "B04", PERIOD("20:00", "PT15M", POINT("1", "100") POINT("5", "300")))
		SERIES(IN, "MAW", "A03", "B19", PERIOD("20:00", "PT60M", POINT("1", "100")))),
	.count = 2,
	.value = (100 * 490 + 100 * 11) / 200.0},
    {.why = "A03: what is refused is not what was before it",
	.bytes = DOCUMENT(SERIES(IN, "MAW", "A03", "B04",
	    PERIOD("21:00", "PT60M", POINT("1", "100") POINT("2", "NaN")))),
	.count = 1,
	.value = 490,
	.note = "1 rows refused: a point without a position of 1 to 4096 or a "
		"quantity of at "},
    {.why = "A01: what is skipped is missing",
	.bytes = DOCUMENT(GAS(PERIOD("22:00", "PT60M",
	    POINT("1", "100") POINT("2", "100") POINT("4", "100"))) SERIES(IN, "MAW", "A01", "B19",
	    PERIOD("22:00", "PT60M",
		POINT("1", "100") POINT("2", "100") POINT("3", "100") POINT("4", "100")))),
	.count = 3,
	.value = (490 + 11) / 2.0,
	.note = "1 of 4 hours left out: a fuel is missing"},
    {.why = "half hours make an hour",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT30M", POINT("1", "100") POINT("2", "200")))
		SERIES(IN, "MAW", "A01", "B14", PERIOD("19:00", "PT60M", POINT("1", "50")))),
	.count = 1,
	.value = (150 * 490 + 50 * 12) / 200.0},
    {.why = "pumped storage counts neither way",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "100")))
		SERIES(IN, "MAW", "A01", "B10", PERIOD("19:00", "PT60M", POINT("1", "500")))
		    SERIES(OUT, "MAW", "A01", "B10", PERIOD("19:00", "PT60M", POINT("1", "900")))),
	.count = 1,
	.value = 490},
    {.why = "what is drawn is no generation, of any type",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "100")))
		SERIES(OUT, "MAW", "A01", "B19", PERIOD("19:00", "PT60M", POINT("1", "900")))),
	.count = 1,
	.value = 490},
    {.why = "with a prefix, blanks and a comment",
	.bytes = "<a:GL_MarketDocument xmlns:a=\"urn:x:4:7\">"
		 "<a:type> A75\n</a:type><!-- x -->" GAS(
		     PERIOD("19:00", "PT60M", POINT(" 1 ", "\n100 "))) "</a:GL_MarketDocument>",
	.count = 1,
	.value = 490},
    {.why = "a type that nobody knows counts as other",
	.bytes =
	    DOCUMENT(SERIES(IN, "MAW", "A01", "B99", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.count = 1,
	.value = 700,
	.note = "fuel B99 is not known, counted as other"},
    {.why = "one bad series does not cost the others",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "100")))
		SERIES(IN, "C62", "A01", "B19", PERIOD("19:00", "PT60M", POINT("1", "900")))),
	.count = 1,
	.value = 490,
	.note = "1 rows refused: unit: got \"C62\", want MAW"},
    {.why = "a revision wins",
	.bytes = DOCUMENT(GAS(PERIOD("19:00", "PT60M", POINT("1", "100")))
		SERIES(IN, "MAW", "A01", "B19", PERIOD("19:00", "PT60M", POINT("1", "300")))
		    SERIES(IN, "MAW", "A01", "B19", PERIOD("19:00", "PT60M", POINT("1", "100")))),
	.count = 1,
	.value = (490 + 11) / 2.0},
};

static void
test_parse(void **state)
{
	static const struct pair pairs[] = {{"area", "FR"}, {"token_env", "T"}, {0}};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(parse_cases); i++) {
		struct parse_case wanted = parse_cases[i];

		wanted.start_utc_s = NOW - 6 * 3600;
		wanted.quality = LT_QUALITY_ESTIMATED;
		check_answer(&options, NOW, &wanted);
	}
}

/* Days of 23 and 25 hours, as in the nights in which clocks change: no hour is missing, none is
 * long. */
static void
test_clocks_change(void **state)
{
	static const struct pair pairs[] = {{"area", "FR"}, {"token_env", "T"}, {0}};

	static const struct {
		const char *start, *end;
		int64_t start_utc_s;
		int hours;
	} days[] = {
	    {"2023-03-25T23:00Z", "2023-03-26T22:00Z", 1679785200, 23},
	    {"2022-10-29T22:00Z", "2022-10-30T23:00Z", 1667080800, 25},
	};
	const struct lt_source_options options = options_of(pairs);

	(void)state;
	for (size_t i = 0; i < COUNT(days); i++) {
		struct lt_points points = {0};
		char period[4096], bytes[8192];
		int length = snprintf(period, sizeof(period),
		    "<Period><timeInterval><start>%s</start><end>%s</end>"
		    "</timeInterval><resolution>PT60M</resolution>",
		    days[i].start, days[i].end);

		for (int hour = 1; hour <= days[i].hours; hour++)
			length += sprintf(period + length, POINT("%d", "100"), hour);
		length = snprintf(bytes, sizeof(bytes), DOCUMENT(GAS("%s</Period>")), period);
		assert_int_equal(
		    lt_adapter_parse(adapter, &options,
			&(struct lt_answer){bytes, (size_t)length, days[i].start_utc_s + 2 * 86400},
			&points, NULL),
		    LT_OK);
		assert_int_equal(points.count, days[i].hours);
		for (int hour = 0; hour < days[i].hours; hour++) {
			const int64_t begins = days[i].start_utc_s + 3600 * hour;

			assert_int_equal(points.points[hour].start_utc_s, begins);
			assert_int_equal(points.points[hour].end_utc_s, begins + 3600);
		}
		lt_points_free(&points);
	}
}

static void
test_depth(void **state)
{
	static const struct pair pairs[] = {{"area", "FR"}, {"token_env", "T"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	char bytes[10000 * 3 + 64] = "<GL_MarketDocument>";
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	for (int i = 0; i < 10000; i++)
		strcpy(bytes + 19 + i * 3, "<a>");
	assert_int_equal(lt_adapter_parse(adapter, &options,
			     &(struct lt_answer){bytes, strlen(bytes), NOW}, &points, &err),
	    LT_ELIMIT);
	assert_says("depth", &err, "more than 32 levels");
	assert_int_equal(err.line, 1);
}

static int
parse_file(const char *name, struct lt_points *points, struct lt_error *err)
{
	static const struct pair pairs[] = {{"area", FR}, {"token_env", "T"}, {0}};
	const struct lt_source_options options = options_of(pairs);
	char path[128], bytes[32768];

	snprintf(path, sizeof(path), FIXTURES "%s", name);
	const size_t length = read_fixture(path, bytes, sizeof(bytes));
	return lt_adapter_parse(
	    adapter, &options, &(struct lt_answer){bytes, length, NOW}, points, err);
}

static void
test_fixtures(void **state)
{
	/* gas, nuclear, solar, wind, coal; MW of each hour */
	static const double mw[4][5] = {
	    {3000, 38000, 600, 5050, 0},
	    {3200, 38000, 75, 5100, 0},
	    {2800, 37500, 0, 5250, 0},
	    {2500, 37500, 0, 5400, 14},
	};
	static const double factors[5] = {490, 12, 48, 11, 820};
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(parse_file("generation_fr_SYNTHETIC.xml", &points, &err), LT_OK);
	assert_int_equal(points.count, 4);
	assert_string_equal(points.note, "");
	for (int hour = 0; hour < 4; hour++) {
		double sum_g = 0, sum = 0;

		for (int i = 0; i < 5; i++) {
			sum += mw[hour][i];
			sum_g += mw[hour][i] * factors[i];
		}
		assert_int_equal(points.points[hour].start_utc_s, NOW - (6 - hour) * 3600);
		if (fabs(points.points[hour].value - sum_g / sum) > 1e-9)
			fail_msg(
			    "hour %d: %f, want %f", hour, points.points[hour].value, sum_g / sum);
	}
	assert_int_equal(points.issued_utc_s, NOW - 2 * 3600);
	lt_points_free(&points);
	assert_int_equal(parse_file("no_data_SYNTHETIC.xml", &points, &err), LT_ENET);
	assert_says("none", &err, "[16.1.B&C] (" FR ")");
	memset(&err, 0, sizeof(err));
	assert_int_equal(parse_file("too_much_SYNTHETIC.xml", &points, &err), LT_ENET);
}

/* ---- over the network ---- */

static int
fetch(const char *path, const char *token, int days, struct lt_points *points,
    struct lt_source_memory *memory, struct lt_error *err)
{
	char url[64];
	const struct pair pairs[] = {
	    {"area", "FR"}, {"url", url}, {"token_env", "LT_TEST_TOKEN"}, {NULL, NULL}};
	const int64_t now_utc_s = server_stop_clock();

	setenv("LT_TEST_TOKEN", token, 1);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mix/%s", server.port, path);
	struct lt_source_options options = options_of(pairs);
	options.memory = memory;
	return lt_adapter_fetch(adapter, &options,
	    &(struct lt_window){now_utc_s - days * 86400, now_utc_s + 86400, now_utc_s}, points,
	    err);
}

static void
test_fetch(void **state)
{
	static const struct {
		const char *path;
		int days, requests, hours;
		const char *note;
	} fetches[] = {
	    {"entsoe", 0, 1, 57, ""}, /* three days all the same */
	    {"entsoe", 2, 1, 57, ""},
	    {"entsoe", 28, 3, 657, ""},
	    {"entsoe-limit", 4, 3, 81, ""}, /* the whole and its halves */
	    {"entsoe-limit", 28, 24, 345, "without older hours: too many requests"},
	    {"entsoe-old-fails", 28, 2, 225, "without older hours: 127.0.0.1"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(fetches); i++) {
		static struct lt_source_memory memory;
		struct lt_points points = {0};
		struct lt_error err = {0};

		if (fetch(fetches[i].path, MIX_KEY, fetches[i].days, &points, &memory, &err) !=
		    LT_OK)
			fail_msg("%s: %s", fetches[i].path, err.text);
		if ((int)points.count < fetches[i].hours - 1 ||
		    (int)points.count > fetches[i].hours + 1 ||
		    memory.trace_count != fetches[i].requests ||
		    strncmp(points.note, fetches[i].note,
			strlen(fetches[i].note) + (fetches[i].note[0] == '\0')) != 0)
			fail_msg("%s: %zu hours, %d requests: %s", fetches[i].path, points.count,
			    memory.trace_count, points.note);
		for (size_t j = 0; j < points.count; j++) {
			const struct lt_point *const p = &points.points[j];
			const double wanted = mix_entsoe_intensity(p->start_utc_s);

			if (fabs(p->value - wanted) > 1e-9 ||
			    (j > 0 && p->start_utc_s != p[-1].end_utc_s))
				fail_msg("%s: hour %zu: %f, want %f", fetches[i].path, j, p->value,
				    wanted);
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
	    {"entsoe", "wrong", "HTTP status 401, want 200: Authentication failed. Please", LT_ENET,
		0},
	    {"entsoe", "busy", "HTTP status 429", LT_ENET, 600},
	    {"entsoe-none", MIX_KEY, "no data: No matching data found", LT_ENET, 0},
	    {"entsoe-other", MIX_KEY, "zone: got 10YFI-1--------U, want " FR, LT_EINPUT, 0},
	    {"entsoe-zip", MIX_KEY, "got application/zip, want XML", LT_ENET, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = fetch(cases[i].path, cases[i].token, 2, &points, NULL, &err);

		if (code != cases[i].code || points.count != 0 ||
		    points.retry_after_s != cases[i].retry_after_s)
			fail_msg("%s: %d %s", cases[i].says, code, err.text);
		assert_says(cases[i].path, &err, cases[i].says);
		assert_null(strstr(err.text, MIX_KEY));
		assert_int_equal(err.line, 0);
		lt_points_free(&points);
	}
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("entsoe", serve_mix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_areas),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_clocks_change),
	    cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_fixtures),
	    cmocka_unit_test(test_fetch),
	    cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
