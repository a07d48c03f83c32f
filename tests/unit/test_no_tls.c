/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GnuTLS is not initialized by who loads it, and works for who asks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <dlfcn.h>

#include <cmocka.h>

int gnutls_global_init(void);

static void
test_asked_after_the_start(void **state)
{
	int (*random)(int level, void *bytes, size_t count) = NULL;
	void *const found = dlsym(RTLD_DEFAULT, "gnutls_rnd");
	unsigned char bytes[16] = {0};
	static const unsigned char none[sizeof(bytes)];

	(void)state;
	assert_int_equal(gnutls_global_init(), 0);
	assert_non_null(found);
	memcpy(&random, &found, sizeof(found));
	assert_int_equal(random(0, bytes, sizeof(bytes)), 0);
	assert_memory_not_equal(bytes, none, sizeof(bytes));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_asked_after_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
