/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of what kind a job's runs are, as text in its quote: one way to write each, and no other is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quote.h"

#define KIND "00000000000000ff"
/* clang-format off */
#define NOT_SLOWED {"", "", 0, 0, 0, 0, 0}
/* clang-format on */

static const struct {
	const char *text;
	struct lt_quote_run run;
} good[] = {
    {KIND, {0xff, {LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 0, 1000000, 0, 0, NOT_SLOWED}},
    {KIND ",name,7800,9000,14,43200,1000000",
	{0xff, {LT_HISTORY_NAME, 14, 7800, 9000, 0, 0}, 43200, 1000000, 0, 0, NOT_SLOWED}},
    {KIND ",account,1,0,3,0,1000000",
	{0xff, {LT_HISTORY_ACCOUNT, 3, 1, 0, 0, 0}, 0, 1000000, 0, 0, NOT_SLOWED}},
    {KIND ",said,60,0,0,120,500000",
	{0xff, {LT_HISTORY_SAID, 0, 60, 0, 0, 0}, 120, 500000, 0, 0, NOT_SLOWED}},
    {KIND ",none,0,0,0,120,2500000",
	{0xff, {LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 120, 2500000, 0, 0, NOT_SLOWED}},
    {KIND ",none,0,0,0,120,1000000,1200000,3000",
	{0xff, {LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 120, 1000000, 1200000, 3000, NOT_SLOWED}},
    {KIND ",name,7800,9000,14,43200,500000,1,0",
	{0xff, {LT_HISTORY_NAME, 14, 7800, 9000, 0, 0}, 43200, 500000, 1, 0, NOT_SLOWED}},
    {KIND ",cap,1200,-,1795177800,80000,1900,400,523",
	{0xff, {LT_HISTORY_NONE, 0, 0, 0, 0, 0}, 0, 1000000, 0, 0,
	    {"1200", "", 1795177800, 80000, 1900, 400, 523}}},
    {KIND ",name,7800,9000,14,43200,500000,1,0,cap,low,low,1,2,-3,4,5",
	{0xff, {LT_HISTORY_NAME, 14, 7800, 9000, 0, 0}, 43200, 500000, 1, 0,
	    {"low", "low", 1, 2, -3, 4, 5}}},
    {"ffffffffffffffff,user,9223372036854775807,9223372036854775807,"
     "4294967295,9223372036854775807,4294967295,9223372036854775807,"
     "9223372036854775807",
	{UINT64_MAX, {LT_HISTORY_USER, UINT32_MAX, INT64_MAX, INT64_MAX, 0, 0}, INT64_MAX,
	    UINT32_MAX, INT64_MAX, INT64_MAX, NOT_SLOWED}},
};

static void
written_and_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct lt_quote_run *const want = &good[i].run;
		char text[LT_RUN_TEXT_SIZE];
		struct lt_quote_run got;

		print_message("%s\n", good[i].text);
		assert_int_equal(lt_quote_run_pack(text, sizeof(text), want), LT_OK);
		assert_string_equal(text, good[i].text);
		assert_int_equal(lt_quote_run_unpack(&got, text, strlen(text), NULL), LT_OK);
		assert_true(got.kind == want->kind);
		assert_int_equal(got.expected.from, want->expected.from);
		assert_int_equal(got.expected.runs, want->expected.runs);
		assert_true(got.expected.expected_s == want->expected.expected_s);
		assert_true(got.expected.upper_s == want->expected.upper_s);
		assert_int_equal(got.ratio_ppm, want->ratio_ppm);
		assert_true(got.interruptions_ppm == want->interruptions_ppm);
		assert_true(got.lost_s == want->lost_s);
		assert_string_equal(got.capped.gpu_freq, want->capped.gpu_freq);
		assert_true(got.capped.less_wh == want->capped.less_wh);
		assert_int_equal(lt_quote_run_pack(text, strlen(good[i].text), want), LT_ELIMIT);
		assert_string_equal(text, "");
	}
}

static void
others_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "0000000000000000",		       /* no kind */
	    "00000000000000f",		       /* a digit short */
	    "00000000000000FF",		       /* capitals */
	    KIND ",",			       /* nothing behind it */
	    KIND ",none,0,0,0,0,1000000",      /* nothing to say */
	    KIND ",none,60,60,3,120,1000000",  /* by nobody */
	    KIND ",name,0,0,3,120,2000000",    /* nothing by some */
	    KIND ",team,60,60,3,120,1000000",  /* an unknown word */
	    KIND ",name,-60,60,3,120,1000000", /* below 0 */
	    KIND ",name,60,60,3,-1,1000000",
	    KIND ",name,60,60,3,120,0",		  /* in no time */
	    KIND ",name,60,60,3,120",		  /* one short */
	    KIND ",name,60,60,3,120,1000000,",	  /* one more */
	    KIND ",name,60,60,3,120,1000000,5",	  /* lost how much? */
	    KIND ",name,60,60,3,120,1000000,0,0", /* nothing */
	    KIND ",name,60,60,3,120,1000000,5,0,0",
	    KIND ",cap,", /* of nothing */
	    KIND ",cap,-,-,1,2,3,4,5",
	    KIND ",cap,1200,-,1,2,3,4,5,name,7800,9000,14,43200,500000",
	    KIND ",name,060,60,3,120,1000000",
	    KIND ",name,60,60,4294967296,120,1000000",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lt_quote_run got = {.kind = 7};
		struct lt_error err = {0};

		print_message("%s\n", bad[i]);
		assert_int_equal(
		    lt_quote_run_unpack(&got, bad[i], strlen(bad[i]), &err), LT_EINPUT);
		assert_non_null(strstr(err.text, "kind of runs: "));
		assert_true(got.kind == 0);
	}
}

/* Within a quote, before the candidates; and a quote without is as before. */
static void
a_member_of_the_quote(void **state)
{
	static const char head[] = "lowtide:1 q=000000001234abcd rev=2 team=vision hold=1,- n=1"
				   " win=1-2 plan=spot@1 base=ondemand@1 exp=-,- was=-,-"
				   " by=balanced mode=enforce f=5";
	static const struct {
		const char *tail, *run, *why;
		int code;
	} cases[] = {
	    {";", "", "", LT_OK},
	    {" run=" KIND ";", KIND, "", LT_OK},
	    {" run=" KIND ",name,60,60,3,120,1000000 why=spot:best:1/-;",
		KIND ",name,60,60,3,120,1000000", "spot:best:1/-", LT_OK},
	    {" why=spot:best:1/-;", "", "spot:best:1/-", LT_OK},
	    {" why=spot:best:1/- run=" KIND ";", "", "", LT_EINPUT},
	    {" run=" KIND " run=" KIND ";", "", "", LT_EINPUT},
	    {" run=;", "", "", LT_EINPUT},
	    {" run=" KIND, "", "", LT_EINPUT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[512], again[LT_QUOTE_TEXT_SIZE];
		struct lt_quote quote;

		strcpy(text, head);
		strcat(text, cases[i].tail);
		print_message("%s\n", cases[i].tail);
		assert_int_equal(lt_quote_unpack(&quote, text, strlen(text), NULL), cases[i].code);
		assert_string_equal(quote.run, cases[i].run);
		assert_string_equal(quote.why, cases[i].why);
		if (cases[i].code != LT_OK)
			continue;
		assert_int_equal(lt_quote_pack(again, sizeof(again), &quote), LT_OK);
		assert_string_equal(again, text);
	}
}

/* A name may take a second on one GPU and a month on another. */
static void
any_ratio_is_kept_in_bounds(void **state)
{
	static const struct {
		double time_ratio;
		uint32_t ppm;
	} cases[] = {{0.5, 500000}, {4000, 4000000000}, {2592000, UINT32_MAX}, {1.0 / 2592000, 1},
	    {1.0 / 1e9, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_estimate chosen = {.time_ratio = cases[i].time_ratio};
		const struct lt_quote_run run = {.kind = 7, .expected.from = LT_HISTORY_NONE};
		struct lt_quote quote = {.run = ""};
		struct lt_quote_run read;

		lt_quote_set_run(&quote, &run, &chosen, NULL);
		assert_int_equal(
		    lt_quote_run_unpack(&read, quote.run, strlen(quote.run), NULL), LT_OK);
		assert_true(read.ratio_ppm == cases[i].ppm);
	}
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(written_and_read),
	    cmocka_unit_test(others_are_refused),
	    cmocka_unit_test(a_member_of_the_quote),
	    cmocka_unit_test(any_ratio_is_kept_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
