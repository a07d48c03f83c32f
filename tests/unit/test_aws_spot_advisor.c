/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Spot Advisor's file: ranges become hazards; what is not in it is an error that says what is;
 * asked again, it is not sent again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "adapter_fixture.h"
#include "tools/source_server_aws.h"

#define FIXTURE "tests/fixtures/aws_spot_advisor/spot-advisor-data.trimmed.json"
#define T0 1795219200 /* 2026-11-21T00:00Z */
#define FILE_OF(ranges, type)                                                                      \
	"{\"ranges\":[" ranges "],\"spot_advisor\":{\"us-east-1\":{"                               \
	"\"Linux\":{\"g5.xlarge\":" type "}}}}"
#define RANGE(index, label, max) "{\"index\":" index ",\"label\":\"" label "\",\"max\":" max "}"

static const struct option_case option_cases[] = {
    {"as in the manual", {{"region", "us-east-1"}, {"instance_type", "g5.xlarge"}}, 0, NULL},
    {"Windows", {{"region", "us-east-1"}, {"instance_type", "g5.xlarge"}, {"os", "Windows"}}, 0,
	NULL},
    {"small letters", {{"region", "us-east-1"}, {"instance_type", "g5.xlarge"}, {"os", "linux"}},
	12, "want Linux or Windows"},
    {"no type", {{"region", "us-east-1"}}, 0, "needs \"instance_type\""},
    {"an empty type", {{"region", "us-east-1"}, {"instance_type", ""}}, 11,
	"want one such as g5.xlarge"},
    {"a region of blanks", {{"region", " "}, {"instance_type", "a"}}, 10,
	"want one such as eu-west-2"},
    {"a file", {{"region", "us-east-1"}, {"instance_type", "a"}, {"url", "file:///a"}}, 12,
	"want http://"},
};

static void
test_options(void **state)
{
	(void)state;
	check_options(option_cases, COUNT(option_cases));
}

static const struct {
	const char *why, *bytes;
	const char *says; /* NULL = good */
	double share;	  /* of a month */
} cases[] = {
    {"empty", "", "empty, want JSON", 0},
    {"no JSON", "<html>", "not JSON", 0},
    {"a list", "[]", "JSON without \"spot_advisor\"", 0},
    {"no region", "{\"spot_advisor\":{}}",
	"no \"us-east-1\" in \"spot_advisor\", which has: nothing", 0},
    {"no system", "{\"spot_advisor\":{\"us-east-1\":{\"Windows\":{}}}}",
	"no \"Linux\" in us-east-1, which has: Windows", 0},
    {"no range", FILE_OF("", "{\"s\":1,\"r\":0}"), "no range 0 in \"ranges\"", 0},
    {"null", FILE_OF(RANGE("0", "<5%", "5"), "{\"s\":1,\"r\":null}"),
	"g5.xlarge: no whole number in \"r\"", 0},
    {"a text for a range", FILE_OF(RANGE("0", "<5%", "5"), "{\"r\":\"0\"}"),
	"no whole number in \"r\"", 0},
    {"not an object", FILE_OF(RANGE("0", "<5%", "5"), "0"), "no \"g5.xlarge\" in us-east-1", 0},
    {"a label without a number", FILE_OF(RANGE("0", "low", "11"), "{\"r\":0}"),
	"the range \"low\", want one such as \"5-10%\"", 0},
    {"a form that is not known", FILE_OF(RANGE("0", ">=20%", "100"), "{\"r\":0}"),
	"the range \">=20%\", want one such as", 0},
    {"an empty range", FILE_OF(RANGE("0", "5-10%", "5"), "{\"r\":0}"),
	"the range \"5-10%\" goes from 5 to 5 %", 0},
    {"backwards", FILE_OF(RANGE("0", "10-5%", "5"), "{\"r\":0}"),
	"the range \"10-5%\" goes from 10 to 5 %", 0},
    {"all of it", FILE_OF(RANGE("0", "<5%", "100"), "{\"r\":0}"), "goes from 0 to 100 %", 0},
    {"more digits than a number has",
	FILE_OF(RANGE("0", ">99999999999999999999%", "100"), "{\"r\":0}"), "goes from", 0},
    {"no max", FILE_OF("{\"index\":0,\"label\":\"<5%\"}", "{\"r\":0}"),
	"a range without label or max", 0},
    {"<5%", FILE_OF(RANGE("0", "<5%", "5"), "{\"r\":0}"), NULL, 0.025},
    {"5-10%", FILE_OF(RANGE("1", "5-10%", "11"), "{\"r\":1}"), NULL, 0.08},
    {">20%, whose 100 is no end", FILE_OF(RANGE("4", ">20%", "100"), "{\"s\":59,\"r\":4}"), NULL,
	0.25},
    {"by index, not place",
	FILE_OF(RANGE("1", "<5%", "5") "," RANGE("0", "15-20%", "22"), "{\"r\":0}"), NULL, 0.185},
};

static const struct pair g5[] = {{"region", "us-east-1"}, {"instance_type", "g5.xlarge"}, {0}};

static void
test_parse(void **state)
{
	const struct lt_source_options options = options_of(g5);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct lt_points points = {0};

		if (parses(
			&options, T0 + 100, cases[i].why, cases[i].bytes, cases[i].says, &points)) {
			assert_int_equal(points.count, 1);
			assert_true(
			    fabs(points.points[0].value + log(1 - cases[i].share) / 730) < 1e-15);
			assert_int_equal(points.points[0].quality, LT_QUALITY_ESTIMATED);
			assert_int_equal(points.points[0].start_utc_s, T0);
			assert_int_equal(points.points[0].end_utc_s, T0 + 86400);
		}
		lt_points_free(&points);
	}
}

/* AWS's own values: us-east-1 g5.xlarge {s: 59, r: 4}, Windows r: 4;
 * eu-west-1 g4dn.xlarge r: 1. */
static void
test_sample(void **state)
{
	static const struct {
		struct pair pairs[4];
		double hazard;
		const char *note; /* or the error's text */
	} samples[] = {
	    {{{"region", "us-east-1"}, {"instance_type", "g5.xlarge"}}, 3.9408503e-4,
		"a prior only: >20% of capacity reclaimed in the last month, "
		"taken as 25 %"},
	    {{{"region", "eu-west-1"}, {"instance_type", "g4dn.xlarge"}}, 1.1422138e-4,
		"taken as 8 %"},
	    {{{"region", "us-east-1"}, {"instance_type", "g4ad.xlarge"}, {"os", "Windows"}},
		3.4681929e-5, "<5% of capacity"},
	    {{{"region", "eu-west-1"}, {"instance_type", "g5.24xlarge"}}, 0,
		"no \"g5.24xlarge\" in eu-west-1, which has: g5.xlarge, "
		"g5.48xlarge"},
	    {{{"region", "eu-west-1"}, {"instance_type", "trn1.2xlarge"}}, 0,
		"no \"trn1.2xlarge\" in eu-west-1, which has: g5.xlarge, "
		"g4ad.xlarge, "},
	    {{{"region", "eu-west-3"}, {"instance_type", "g5.xlarge"}}, 0,
		"no \"eu-west-3\" in \"spot_advisor\", which has: eu-west-1, "
		"eu-north-1"},
	};
	char bytes[16384];
	const size_t length = read_fixture(FIXTURE, bytes, sizeof(bytes));

	(void)state;
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct lt_source_options options = options_of(samples[i].pairs);
		struct lt_points points = {0};
		struct lt_error err = {0};
		const int code = lt_adapter_parse(
		    adapter, &options, &(struct lt_answer){bytes, length, T0}, &points, &err);

		assert_int_equal(code, samples[i].hazard > 0 ? LT_OK : LT_EINPUT);
		if (code == LT_OK) {
			assert_true(fabs(points.points[0].value - samples[i].hazard) < 1e-11);
			if (strstr(points.note, samples[i].note) == NULL)
				fail_msg("%s", points.note);
		} else {
			assert_says("sample", &err, samples[i].note);
		}
		lt_points_free(&points);
	}
}

static void
test_fetch(void **state)
{
	char url[128];
	const struct pair pairs[] = {
	    {"region", "us-east-1"}, {"instance_type", "g5.xlarge"}, {"url", url}, {NULL, NULL}};
	static struct lt_source_memory memory;
	struct lt_source_options options = options_of(pairs);
	struct lt_points first = {0}, second = {0}, other = {0};
	struct lt_error err = {0};

	(void)state;
	options.memory = &memory;
	server_url(url, "/aws/advisor");
	if (lt_adapter_fetch(
		adapter, &options, &(struct lt_window){T0, T0 + 1, T0}, &first, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(first.count, 1);
	assert_false(first.unchanged);
	assert_int_equal(memory.trace[0].status, 200);
	if (lt_adapter_fetch(
		adapter, &options, &(struct lt_window){T0, T0 + 1, T0}, &second, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_true(second.unchanged);
	assert_int_equal(second.count, 0);
	assert_int_equal(memory.trace[0].status, 304);
	server_url(url, "/html");
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options, &(struct lt_window){T0, T0 + 1, T0}, &other, &err),
	    LT_ENET);
	assert_says("html", &err, "127.0.0.1: got text/html, want data");
	lt_points_free(&other);
	err = (struct lt_error){0};
	server_url(url, "/status/403");
	assert_int_equal(
	    lt_adapter_fetch(adapter, &options, &(struct lt_window){T0, T0 + 1, T0}, &other, &err),
	    LT_ENET);
	assert_says("denied", &err, "HTTP status 403, want 200");
	lt_points_free(&first);
}

static int
start(void **state)
{
	(void)state;
	return adapter_start("aws_spot_advisor", serve_aws);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_sample),
	    cmocka_unit_test(test_fetch),
	};

	return cmocka_run_group_tests(tests, start, adapter_end);
}
