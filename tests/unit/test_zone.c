/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local time in messages, from offset steps alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "zone.h"

/* Friday 2026-11-20 12:00 UTC. London's clocks went back on 2026-10-25 and go forward on
 * 2027-03-28, at 01:00 UTC. */
enum { NOW = 1795176000, HOUR = 3600, DAY = 86400, FORWARD = 1806195600 };

static const struct lt_zone utc = {.count = 0};
static const struct lt_zone london = {
    .count = 2, .steps = {{INT64_MIN, 0, "GMT"}, {FORWARD, HOUR, "BST"}}};
static const struct lt_zone india = {.count = 1, .steps = {{INT64_MIN, 19800, "IST"}}};
static const struct lt_zone west = {.count = 1, .steps = {{INT64_MIN, -12 * HOUR, "-12"}}};

static void
test_text(void **state)
{
	static const struct {
		const char *why;
		const struct lt_zone *zone;
		int64_t utc_s, now_utc_s;
		const char *wanted;
	} cases[] = {
	    {"no steps is UTC", &utc, NOW, NOW, "Fri 12:00 UTC"},
	    {"tomorrow", &london, NOW + 14 * HOUR, NOW, "Sat 02:00 GMT"},
	    {"six days ahead", &london, NOW + 6 * DAY, NOW, "Thu 12:00 GMT"},
	    {"a week ahead has a date", &london, NOW + 7 * DAY, NOW, "Fri 27 Nov 12:00 GMT"},
	    {"so has a week ago", &london, NOW - 7 * DAY, NOW, "Fri 13 Nov 12:00 GMT"},
	    {"six days ago has none", &london, NOW - 6 * DAY, NOW, "Sat 12:00 GMT"},
	    {"last second of winter", &london, FORWARD - 1, FORWARD, "Sun 00:59 GMT"},
	    {"clocks go forward", &london, FORWARD, FORWARD, "Sun 02:00 BST"},
	    {"half an hour", &india, NOW, NOW, "Fri 17:30 IST"},
	    {"the day before", &west, NOW - 1, NOW - 1, "Thu 23:59 -12"},
	    {"the epoch", &utc, 0, NOW, "Thu 1 Jan 00:00 UTC"},
	    {"before it", &utc, -1, NOW, "Wed 31 Dec 23:59 UTC"},
	    {"leap day", &utc, 1835395200, NOW, "Tue 29 Feb 00:00 UTC"},
	};
	char out[64], small[6];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lt_zone_text(out, sizeof(out), cases[i].zone, cases[i].utc_s, cases[i].now_utc_s);
		if (strcmp(out, cases[i].wanted) != 0)
			fail_msg("%s: \"%s\"", cases[i].why, out);
	}
	assert_ptr_equal(lt_zone_text(small, sizeof(small), &utc, NOW, NOW), small);
	assert_string_equal(small, "Fri 1");
}

static void
test_short(void **state)
{
	char out[64];

	(void)state;
	lt_zone_text_short(out, sizeof(out), &london, NOW, NOW - HOUR, NOW);
	assert_string_equal(out, "12:00");
	/* The same UTC day, and another local one. */
	lt_zone_text_short(out, sizeof(out), &india, NOW + 7 * HOUR, NOW, NOW);
	assert_string_equal(out, "Sat 00:30 IST");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
