/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pause before a source is asked again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon.h"

static const struct {
	const char *why;
	int64_t interval;
	int failures;
	int64_t retry_after, wait;
} cases[] = {
    {"all well: the interval", 1800, 0, 0, 1800},
    {"first failure: soon", 1800, 1, 0, 20},
    {"doubled by each", 1800, 3, 0, 80},
    {"no longer than the interval", 60, 7, 0, 60},
    {"doubled six times at most", 86400, 1000, 0, 1280},
    {"the source asks for longer", 1800, 1, 600, 600},
    {"it may ask for more than the interval", 1800, 1, 7200, 7200},
    {"it asks for less: our own pause", 1800, 3, 5, 80},
    {"a day at most", 1800, 1, INT64_MAX, 86400},
    {"nonsense is none", 1800, 1, -5, 20},
    {"one part failed, the rest came: not sooner than it asks", 300, 0, 900,
	900},
};

static void
test_wait(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int64_t wait = lt_schedule_wait_s(
		    cases[i].interval, cases[i].failures, cases[i].retry_after);
		if (wait != cases[i].wait)
			fail_msg("%s: %lld", cases[i].why, (long long)wait);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_wait)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
