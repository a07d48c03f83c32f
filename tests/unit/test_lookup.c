/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables that an enum indexes: the word of each value, and of values that none has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lookup.h"

enum fruit { APPLE, PEAR, PLUM, FRUIT_COUNT };

static void
test_lookup(void **state)
{
	static const char *const words[FRUIT_COUNT] = {[APPLE] = "apple", [PLUM] = "plum"};
	static const struct {
		int price;
	} rows[FRUIT_COUNT] = {[APPLE] = {3}, [PEAR] = {4}, [PLUM] = {5}};
	static const struct {
		enum fruit value;
		const char *word;
		int price;
	} cases[] = {
	    {APPLE, "apple", 3},
	    {PEAR, "unknown", 4},
	    {PLUM, "plum", 5},
	    {FRUIT_COUNT, "unknown", 5},
	    {(enum fruit)1000, "unknown", 5},
	    {(enum fruit) - 1, "unknown", 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(LT_WORD(words, cases[i].value), cases[i].word);
		assert_int_equal(LT_ROW(rows, cases[i].value).price, cases[i].price);
	}
	assert_null(LT_WORD_OR(words, PEAR, NULL));
	assert_string_equal(LT_WORD_OR(words, FRUIT_COUNT, "?"), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lookup)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
