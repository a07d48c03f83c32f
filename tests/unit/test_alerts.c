/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which percentages of a budget are passed, and which of them were told in
 * the same period.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "alerts.h"

enum { HALF = 50, MOST = 80, ALL = 100 };

static const struct {
	const char *why;
	struct lt_amount limit, settled;
	const char *passed;
} cases[] = {
    {"nothing spent", {.has_money = true, .money_micros = 100}, {.money_micros = 0}, ""},
    {"one below", {.has_money = true, .money_micros = 100}, {.money_micros = 49}, ""},
    {"on it", {.has_money = true, .money_micros = 100}, {.money_micros = 50}, " 50"},
    {"a limit that does not divide: not before the whole of it",
	{.has_money = true, .money_micros = 101}, {.money_micros = 50}, ""},
    {"all, rising and each once", {.has_money = true, .money_micros = 100}, {.money_micros = 100},
	" 50 80 100"},
    {"carbon alone", {.has_carbon = true, .carbon_mg = 1000},
	{.carbon_mg = 800, .money_micros = INT64_MAX}, " 50 80"},
    {"the nearer of two counts", {true, true, 1000, 1000}, {true, true, 1, 900}, " 50 80"},
    {"no limit, no alert", {0}, {true, true, 5, 5}, ""},
    {"a credit is below all", {.has_money = true, .money_micros = 0}, {.money_micros = -5}, ""},
    {"a budget of 0 is passed by the first micro", {.has_money = true, .money_micros = 0},
	{.money_micros = 1}, " 50 80 100"},
    {"the largest amounts", {.has_money = true, .money_micros = INT64_MAX},
	{.money_micros = INT64_MAX / 2 + 1}, " 50"},
};

static void
test_passed(void **state)
{
	(void)state;
	const struct lt_policy_budget budget = {
	    .alert_count = 4, .alert_at = {ALL, HALF, MOST, HALF}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_period period = {
		    .limit = cases[i].limit, .settled = cases[i].settled};
		int passed[LT_ALERTS_MAX];
		char text[128] = "";
		const int count = lt_alerts_passed(passed, &budget, &period);

		for (int k = 0; k < count; k++)
			snprintf(
			    text + strlen(text), sizeof(text) - strlen(text), " %d", passed[k]);
		if (strcmp(text, cases[i].passed) != 0)
			fail_msg("%s: \"%s\"", cases[i].why, text);
	}
}

static const struct {
	const char *why, *remembered;
	int64_t start;
	int percent;
	bool told;
} memories[] = {
    {"nothing remembered", "", 1000, 50, false},
    {"nothing of a period at 0 either", "", 0, 50, false},
    {"told", "1000 50 80", 1000, 80, true},
    {"not yet", "1000 50 80", 1000, 100, false},
    {"the last period's", "900 50 80", 1000, 50, false},
    {"part of a number is none", "1000 500", 1000, 50, false},
    {"damaged", "1000 x 50", 1000, 50, false},
};

static void
test_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(memories) / sizeof(*memories); i++)
		if (lt_alerts_told(memories[i].remembered, memories[i].start,
			memories[i].percent) != memories[i].told)
			fail_msg("%s", memories[i].why);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_passed), cmocka_unit_test(test_told)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
