/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One copy of what is shared, wherever the table and the blocks grow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pool.h"

enum { MANY = 20000, LARGE = 1024 * 1024 };

static void
one_copy_each(void **state)
{
	struct lt_pool *pool = NULL;
	static const char *first[MANY];
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < MANY; i++) {
			const size_t length = (size_t)snprintf(text, sizeof(text), "job%d", i);
			const char *const kept = lt_pool_share(&pool, text, length + 1);

			assert_string_equal(kept, text);
			if (round == 0)
				first[i] = kept;
			else
				assert_ptr_equal(kept, first[i]);
		}
	/* A part of another is another. */
	assert_ptr_not_equal(lt_pool_share(&pool, "job1", 4), first[1]);
	assert_ptr_not_equal(lt_pool_add(&pool, "job1", 5), first[1]);
	lt_pool_close(pool);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(text, sizeof(text), "job%d", i);
		assert_string_equal(first[i], text);
	}
	lt_pool_free(pool);
}

static void
numbers_are_aligned_and_large_ones_fit(void **state)
{
	struct lt_pool *pool = NULL;
	const uint64_t number = 42;
	char *const large = malloc(LARGE);

	(void)state;
	assert_non_null(large);
	memset(large, 'x', LARGE);
	for (int i = 0; i < 100; i++) {
		assert_non_null(lt_pool_add(&pool, "abc", 1 + (size_t)i % 3));
		const uint64_t *const kept = lt_pool_add(&pool, &number, sizeof(number));
		assert_int_equal((uintptr_t)kept % 8, 0);
		assert_int_equal(*kept, 42);
	}
	assert_memory_equal(lt_pool_add(&pool, large, LARGE), large, LARGE);
	assert_string_equal(lt_pool_share(&pool, "", 1), "");
	lt_pool_free(pool);
	lt_pool_close(NULL);
	lt_pool_free(NULL);
	free(large);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_copy_each),
	    cmocka_unit_test(numbers_are_aligned_and_large_ones_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
