/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of equations, shown and taken out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "equations.h"

static void
test_settle(void **state)
{
	static const struct {
		const char *text, *shown, *plain;
	} cases[] = {
	    {"", "", ""},
	    {"2 (x) words", "2 (x) words", "2 (x) words"},
	    {LT_EQUATION("(1)"), "(1)", ""},
	    {"cost" LT_EQUATION(" (27)") ", then" LT_EQUATION(" (5)") " x 3.\n",
		"cost (27), then (5) x 3.\n", "cost, then x 3.\n"},
	    /* Cut in the middle, where the text was full. */
	    {"cost\x1e (2", "cost (2", "cost"},
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].text);
		lt_equations_settle(text, true);
		assert_string_equal(text, cases[i].shown);
		snprintf(text, sizeof(text), "%s", cases[i].text);
		lt_equations_settle(text, false);
		assert_string_equal(text, cases[i].plain);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
