/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pause before a source is asked again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schedule.h"

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
    {"one part failed, the rest came: not sooner than it asks", 300, 0, 900, 900},
};

static void
test_wait(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int64_t wait =
		    lt_schedule_wait_s(cases[i].interval, cases[i].failures, cases[i].retry_after);

		if (wait != cases[i].wait)
			fail_msg("%s: %lld", cases[i].why, (long long)wait);
	}
}

/* In days before now. */
static void
test_from(void **state)
{
	enum { NOW = 1800000000, DAY = 86400 };

	static const struct {
		const char *why;
		int64_t complete_utc_s, deep_utc_s;
		int days;
	} from[] = {
	    {"never asked: a month", 0, 0, 28},
	    {"just now: late values only", NOW, NOW, 2},
	    {"an hour ago", NOW - 3600, NOW - 3600, 2},
	    {"down for a week: over the week", NOW - 7 * DAY, NOW, 7},
	    {"down for a year: no more than a month", NOW - 365 * DAY, NOW, 28},
	    {"a clock that went back", NOW + DAY, NOW + DAY, 2},
	    {"once a day all, for holes and revisions", NOW - 3600, NOW - DAY, 28},
	    {"after a start, too", NOW - 3600, 0, 28},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		const int64_t at =
		    lt_schedule_from(from[i].complete_utc_s, from[i].deep_utc_s, NOW);

		if (at != NOW - (int64_t)from[i].days * DAY)
			fail_msg("%s: %lld", from[i].why, (long long)at);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_wait), cmocka_unit_test(test_from)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
