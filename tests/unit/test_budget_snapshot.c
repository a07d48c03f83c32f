/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an open hold takes from a period: pending in full, running by hours, held back not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fits.h"

enum { BEGIN = 1000000, END = 2000000, HOUR = 3600 };

static const struct {
	const char *why;
	int64_t start, end, running, now;
	bool touches;
	int64_t money;
} cases[] = {
    {"pending inside: all", BEGIN + 10, BEGIN + 110, 0, BEGIN, true, 1000},
    {"pending over the end: all, in this period too", END - 10, END + 90, 0, BEGIN, true, 1000},
    {"pending after the end: nothing", END, END + 100, 0, BEGIN, false, 0},
    {"pending before the begin: nothing", BEGIN - 100, BEGIN, 0, BEGIN - 200, false, 0},
    {"still waiting: its window moved along", BEGIN - 500, BEGIN - 400, 0, BEGIN + 50, true, 1000},
    {"waiting near the end reaches the next", END - 500, END - 400, 0, END + 5, false, 0},
    {"running inside: all", BEGIN + 10, BEGIN + 110, BEGIN + 10, BEGIN, true, 1000},
    {"running over the end: its hours", END - 25, END + 75, END - 25, END - 1, true, 250},
    {"rounded up", END - 1, END + 2, END - 1, END, true, 334},
};

static void
test_parts(void **state)
{
	(void)state;
	const struct lt_period period = {.start_utc_s = BEGIN, .end_utc_s = END};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lt_amount part = {0};
		const struct lt_ledger_hold hold = {.state = LT_HOLD_OPEN,
		    .live_tasks = 4,
		    .start_utc_s = cases[i].running,
		    .quote = {.start_utc_s = cases[i].start,
			.end_utc_s = cases[i].end,
			.hold_per_task = {.has_money = true, .money_micros = 250}}};
		const bool touches = lt_hold_part(&part, &hold, &period, cases[i].now);

		if (touches != cases[i].touches || (touches && part.money_micros != cases[i].money))
			fail_msg(
			    "%s: %d %lld", cases[i].why, touches, (long long)part.money_micros);
	}
}

static void
test_counts(void **state)
{
	(void)state;
	struct lt_ledger_hold hold = {.state = LT_HOLD_OPEN, .live_tasks = 1};
	assert_true(lt_hold_counts(&hold));
	hold.quote.flags = LT_QUOTE_USER_HOLD;
	assert_true(lt_hold_counts(&hold));
	hold.quote.flags = LT_QUOTE_BUDGET_HOLD;
	assert_false(lt_hold_counts(&hold));
	hold.quote.flags = LT_QUOTE_UNKNOWN;
	assert_false(lt_hold_counts(&hold));
	hold.quote.flags = 0;
	hold.live_tasks = 0;
	assert_false(lt_hold_counts(&hold));
	hold.live_tasks = 1;
	hold.state = LT_HOLD_SETTLED;
	assert_false(lt_hold_counts(&hold));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
