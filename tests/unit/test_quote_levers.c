/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By which levers a plan differs from home, as text in its quote: one way to write each, and no
 * other is read. A quote without them is read as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quote.h"

static const struct {
	const char *text;
	struct lt_levers levers;
} good[] = {
    {"1000000,250000,5,6,7,8,9,10",
	{1000000, 250000, {true, true, 5, 6}, {true, true, 7, 8}, {true, true, 9, 10}, 0}},
    {"1000000,250000,5,6,7,8,9,10,1764000000",
	{1000000, 250000, {true, true, 5, 6}, {true, true, 7, 8}, {true, true, 9, 10}, 1764000000}},
    {"1,4294967295,-5,-,-,-8,0,-",
	{1, UINT32_MAX, {true, false, -5, 0}, {false, true, 0, -8}, {true, false, 0, 0}, 0}},
    {"4294967295,4294967295,-9223372036854775808,-9223372036854775808,"
     "-9223372036854775808,-9223372036854775808,-9223372036854775808,"
     "-9223372036854775808,9223372036854775807",
	{UINT32_MAX, UINT32_MAX, {true, true, INT64_MIN, INT64_MIN},
	    {true, true, INT64_MIN, INT64_MIN}, {true, true, INT64_MIN, INT64_MIN}, INT64_MAX}},
};

static void
written_and_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct lt_quote quote = {.id = 1, .objective = LT_OBJECTIVE_COST};
		char text[LT_LEVERS_TEXT_SIZE], whole[LT_QUOTE_TEXT_SIZE];
		struct lt_levers got;
		struct lt_quote back;

		print_message("%s\n", good[i].text);
		assert_int_equal(lt_levers_pack(text, sizeof(text), &good[i].levers), LT_OK);
		assert_string_equal(text, good[i].text);
		assert_int_equal(lt_levers_unpack(&got, text, strlen(text), NULL), LT_OK);
		assert_int_equal(lt_levers_pack(whole, sizeof(whole), &got), LT_OK);
		assert_string_equal(whole, good[i].text);
		assert_int_equal(
		    lt_levers_pack(whole, strlen(good[i].text), &good[i].levers), LT_ELIMIT);
		strcpy(quote.levers, text);
		strcpy(quote.account, "vision");
		strcpy(quote.partition, "spot");
		strcpy(quote.home, "ondemand");
		assert_int_equal(lt_quote_pack(whole, sizeof(whole), &quote), LT_OK);
		assert_int_equal(lt_quote_unpack(&back, whole, strlen(whole), NULL), LT_OK);
		assert_string_equal(back.levers, text);
		quote.levers[0] = '\0';
		assert_int_equal(lt_quote_pack(whole, sizeof(whole), &quote), LT_OK);
		assert_null(strstr(whole, "lever"));
		assert_int_equal(lt_quote_unpack(&back, whole, strlen(whole), NULL), LT_OK);
		assert_string_equal(back.levers, "");
	}
}

static void
others_are_refused(void **state)
{
	static const char *const bad[] = {
	    "",
	    "1000000",
	    "1000000,1000000",
	    "1000000,1000000,1,2,3,4,5",
	    "1000000,1000000,1,2,3,4,5,6,0",
	    "1000000,1000000,1,2,3,4,5,6,-7",
	    "1000000,1000000,1,2,3,4,5,6,7,8",
	    "1000000,1000000,1,2,3,4,5,",
	    "0,1000000,1,2,3,4,5,6",
	    "1000000,4294967296,1,2,3,4,5,6",
	    "1000000,1000000,01,2,3,4,5,6",
	    "1000000,1000000,+1,2,3,4,5,6",
	    "1000000,1000000,x,2,3,4,5,6",
	    "1000000,1000000,1,2,3,4,5,-0",
	};
	struct lt_levers got;
	struct lt_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		print_message("%s\n", bad[i]);
		assert_int_equal(lt_levers_unpack(&got, bad[i], strlen(bad[i]), &err), LT_EINPUT);
		assert_true(got.size_ppm == 0 && err.text[0] != '\0');
	}
}

/* The parts are those of the plan; what is not moved has none. */
static void
of_a_plan(void **state)
{
	static struct lt_plan plan = {.moved = true,
	    .fits = true,
	    .home = {.task_nodes = 0.25, .task_w = 0},
	    .chosen = {.task_nodes = 1, .task_w = 300},
	    .home_then = {.has_cost = true, .cost_micros = 9},
	    .there_now = {.has_carbon = true, .carbon_mg = 8},
	    .there_slow = {.has_cost = true, .cost_micros = 7}};
	struct lt_quote quote = {.id = 1};

	(void)state;
	lt_quote_set_levers(&quote, &plan);
	/* Home's power is not known: as here. */
	assert_string_equal(quote.levers, "250000,1000000,9,-,-,8,7,-");
	plan.fits = false;
	lt_quote_set_levers(&quote, &plan);
	assert_string_equal(quote.levers, "");
	plan.fits = true;
	plan.moved = false;
	lt_quote_set_levers(&quote, &plan);
	assert_string_equal(quote.levers, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(written_and_read),
	    cmocka_unit_test(others_are_refused),
	    cmocka_unit_test(of_a_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
