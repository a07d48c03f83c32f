/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What price lists share: amounts, the point that holds from now on, lists of names, notes, and
 * errors of Google's model.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "prices.h"
#include "source_fixture.h"

static void
test_milli(void **state)
{
	static const struct {
		const char *text;
		int64_t milli; /* -1 = refused */
	} cases[] = {
	    {"0", 0},
	    {"1", 1000},
	    {"3.75", 3750},
	    {"0.001", 1},
	    {"1000000", 1000000000},
	    {"0.0001", -1},
	    {"1000001", -1},
	    {"-1", -1},
	    {"", -1},
	    {"8 GiB", -1},
	    {"1e3", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pair pairs[] = {{"gpus", cases[i].text}, {0}};
		const struct lt_source_options options = options_of(pairs);
		struct lt_error err = {0};
		int64_t milli = -1;
		const int code = lt_price_list_milli(&options, "gpus", &milli, &err);

		if ((code == LT_OK) != (cases[i].milli >= 0) || milli != cases[i].milli)
			fail_msg("\"%s\": %d, %lld", cases[i].text, code, (long long)milli);
		if (code != LT_OK)
			assert_says(cases[i].text, &err, "src: gpus: got");
	}
}

static void
test_point(void **state)
{
	struct lt_points points = {0};
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_price_list_point(&points,
			     &(struct lt_list_price){.micros = 1.5,
				 .quality = LT_QUALITY_MEASURED,
				 .now_utc_s = 7199,
				 .interval_s = 3600},
			     &err),
	    LT_OK);
	assert_int_equal(points.quantity, LT_QUANTITY_PRICE);
	assert_int_equal(points.points[0].start_utc_s, 3600);
	assert_int_equal(points.points[0].end_utc_s, 10800);
	assert_true(points.points[0].value == 2);
	assert_int_equal(lt_price_list_point(&points,
			     &(struct lt_list_price){.micros = 0.4,
				 .quality = LT_QUALITY_MEASURED,
				 .now_utc_s = 7199,
				 .interval_s = 3600},
			     &err),
	    LT_EINPUT);
	assert_says("0", &err, "missing value");
	assert_int_equal(lt_price_list_point(&points,
			     &(struct lt_list_price){.micros = INFINITY,
				 .quality = LT_QUALITY_MEASURED,
				 .now_utc_s = 7199,
				 .interval_s = 3600},
			     NULL),
	    LT_EINPUT);
	lt_points_free(&points);
}

static void
test_names(void **state)
{
	char names[LT_PRICE_LIST_NAMES_SIZE] = "";

	(void)state;
	lt_price_list_name(names, "eu-west-1");
	lt_price_list_name(names, "");
	lt_price_list_name(names, "eu-west");
	lt_price_list_name(names, "eu-west-1");
	lt_price_list_name(names, "west-1");
	lt_price_list_name(names, "eu-west");
	assert_string_equal(names, "eu-west-1, eu-west, west-1");
	for (int i = 0; i < 100; i++) {
		char name[24];

		snprintf(name, sizeof(name), "zone-%d", i);
		lt_price_list_name(names, name);
	}
	assert_true(strlen(names) < sizeof(names));
	assert_true(strlen(names) > sizeof(names) - 16);
}

static void
test_note(void **state)
{
	struct lt_points points = {0};

	(void)state;
	lt_note_add(&points, "%d rows", 3);
	lt_note_add(&points, "the %s", "dearest");
	assert_string_equal(points.note, "3 rows; the dearest");
	for (int i = 0; i < 100; i++)
		lt_note_add(&points, "and \xc3\xa9 more");
	assert_true(strlen(points.note) < sizeof(points.note));
}

static void
test_error_text(void **state)
{
	static const struct {
		const char *body, *want;
	} cases[] = {
	    {"{\"error\":{\"code\":403,\"message\":\"off\",\"status\":"
	     "\"PERMISSION_DENIED\"}}",
		"PERMISSION_DENIED: off"},
	    {"{\"code\":401,\"status\":\"UNAUTHENTICATED\",\"message\":\"who\","
	     "\"details\":[]}",
		"UNAUTHENTICATED: who"},
	    {"{\"code\":16,\"message\":\"who\"}", "who"},
	    {"{\"error\":\"no\",\"message\":\"yes\"}", "yes"},
	    {"{\"error\":{}}", ""},
	    {"[]", ""},
	    {"<html>", ""},
	    {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char words[32];

		lt_json_error_text(words, sizeof(words), cases[i].body, strlen(cases[i].body));
		assert_string_equal(words, cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_milli),
	    cmocka_unit_test(test_point),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_note),
	    cmocka_unit_test(test_error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
