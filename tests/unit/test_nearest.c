/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was meant by a word that is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

static void
test_nearest_word(void **state)
{
	static const char *const names[] = {
	    "status", "budget", "report", "now", "price_per_node_hour", "reports", NULL};

	static const struct {
		const char *why, *word, *nearest;
	} cases[] = {
	    {"empty", "", NULL},
	    {"one letter is no word", "n", NULL},
	    {"nothing like it", "frobnicate", NULL},
	    {"longer than a word may be",
		"price_per_node_hour_price_per_node_hour_price_per_node_hour_"
		"price",
		NULL},
	    {"two letters changed places", "statsu", "status"},
	    {"of equals the first", "reportx", "report"},
	    {"the nearer one", "reportss", "reports"},
	    {"whatever the case", "NOW", "now"},
	    {"its beginning", "price", "price_per_node_hour"},
	    {"two letters are no beginning", "pr", NULL},
	    {"a third of the letters", "b_dg_t", "budget"},
	    {"and one more", "b__g_t", NULL},
	    {"two of three", "nwo", "now"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const got = lt_nearest_word(cases[i].word, names);

		if ((got == NULL) != (cases[i].nearest == NULL) ||
		    (got != NULL && strcmp(got, cases[i].nearest) != 0))
			fail_msg("%s: got %s", cases[i].why, got != NULL ? got : "none");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest_word)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
