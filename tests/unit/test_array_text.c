/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_array_count(): what slurmctld would accept, counted; the rest refused with the column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array_text.h"

static const struct {
	const char *why;
	const char *text;
	uint32_t size;
	int code, column;
	uint32_t tasks, parallel;
} cases[] = {
    {"empty", "", 0, LT_EINPUT, 1, 0, 0},
    {"commas alone", ",,", 0, LT_EINPUT, 3, 0, 0},
    {"one id", "7", 0, LT_OK, 0, 1, 0},
    {"id 0", "0", 0, LT_OK, 0, 1, 0},
    {"a range", "0-15", 0, LT_OK, 0, 16, 0},
    {"with step", "30-40:2", 0, LT_OK, 0, 6, 0},
    {"all of it", "0-15,20,30-40:2%4", 0, LT_OK, 0, 23, 4},
    {"step over the range", "1-5:100", 0, LT_OK, 0, 1, 0},
    {"brackets as scontrol shows them", "[0-3,9]%2", 0, LT_OK, 0, 5, 2},
    {"% in the middle is read too", "0-3%2,9", 0, LT_OK, 0, 5, 2},
    {"the lower % makes the longer window", "0-3%4,9%2", 0, LT_OK, 0, 5, 2},
    {"%0 is no limit", "0-3%0", 0, LT_OK, 0, 4, 0},
    {"empty items are passed over", "1,,2,", 0, LT_OK, 0, 2, 0},
    {"overlaps count twice", "0-3,0-3", 0, LT_OK, 0, 8, 0},
    {"but never more than there are ids", "0-9,0-9", 10, LT_OK, 0, 10, 0},
    {"last id below the size", "0-1000", 1001, LT_OK, 0, 1001, 0},
    {"last id at the size", "0-1001", 1001, LT_ELIMIT, 0, 0, 0},
    {"first id at the size", "1001", 1001, LT_ELIMIT, 0, 0, 0},
    {"far too large", "99999999999999999999", 0, LT_ELIMIT, 0, 0, 0},
    {"no first", "-5", 0, LT_EINPUT, 1, 0, 0},
    {"no last", "5-", 0, LT_EINPUT, 3, 0, 0},
    {"backwards", "5-4", 0, LT_EINPUT, 4, 0, 0},
    {"step 0", "1-5:0", 0, LT_EINPUT, 6, 0, 0},
    {"no step", "1-5:", 0, LT_EINPUT, 5, 0, 0},
    {"no %", "1-5%", 0, LT_EINPUT, 5, 0, 0},
    {"a word", "all", 0, LT_EINPUT, 1, 0, 0},
    {"a word behind", "1-5x", 0, LT_EINPUT, 4, 0, 0},
    {"twice ranged", "1-5-9", 0, LT_EINPUT, 4, 0, 0},
};

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_error err = {0};
		uint32_t tasks = 0, parallel = 0;

		print_message("%s\n", cases[i].why);
		assert_int_equal(
		    lt_array_count(cases[i].text, cases[i].size, &tasks, &parallel, &err),
		    cases[i].code);
		assert_int_equal(tasks, cases[i].tasks);
		assert_int_equal(parallel, cases[i].parallel);
		if (cases[i].code == LT_OK)
			continue;
		assert_true(err.text[0] != '\0');
		if (cases[i].column != 0)
			assert_int_equal(err.column, cases[i].column);
	}
}

static void
test_length(void **state)
{
	(void)state;
	char *const text = malloc(LT_ARRAY_TEXT_MAX + 2);
	struct lt_error err = {0};
	uint32_t tasks = 0, parallel = 0;
	assert_non_null(text);
	memset(text, '0', LT_ARRAY_TEXT_MAX + 1);
	text[LT_ARRAY_TEXT_MAX + 1] = '\0';
	assert_int_equal(lt_array_count(text, 0, &tasks, &parallel, &err), LT_ELIMIT);
	text[LT_ARRAY_TEXT_MAX] = '\0';
	assert_int_equal(lt_array_count(text, 0, &tasks, &parallel, NULL), LT_OK);
	assert_int_equal(tasks, 1);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cases),
	    cmocka_unit_test(test_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
