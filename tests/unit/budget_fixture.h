/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One site for lt_admit(): research (parent, quarter) over vision (month, cap per user), and free,
 * which only warns.
 */
#ifndef LT_TEST_BUDGET_FIXTURE_H
#define LT_TEST_BUDGET_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "budget.h"

enum { NOW = 1000, NEXT = 2000, LATER = 3000, ALICE = 501, BOB = 502 };
enum { RESEARCH, VISION, FREE_BUDGET };
enum { ACCOUNT_FREE, ACCOUNT_RESEARCH, ACCOUNT_VISION, ACCOUNT_YARD };

static struct lt_budget budgets[3];
static struct lt_usage usages[1];
static struct lt_account accounts[] = {
    [ACCOUNT_FREE] = {"free", 3, 1, 0},
    [ACCOUNT_RESEARCH] = {"research", 1, 1, 0},
    [ACCOUNT_VISION] = {"vision", 0, 2, ACCOUNT_RESEARCH + 1},
    [ACCOUNT_YARD] = {"yard", 0, 0, ACCOUNT_VISION + 1}, /* no budget */
};
static uint32_t bindings[] = {VISION, RESEARCH, RESEARCH, FREE_BUDGET};
static struct lt_pair pairs[] = {
    {ALICE, ACCOUNT_RESEARCH, false, false, 0, false},
    {ALICE, ACCOUNT_VISION, true, false, 0, false},
    {BOB, ACCOUNT_VISION, true, false, 0, false},
};
static struct lt_budget_snapshot snapshot;
static struct lt_recent *recent;

static inline struct lt_amount
money(int64_t micros)
{
	return (struct lt_amount){.has_money = true, .money_micros = micros};
}

static inline struct lt_amount
both(int64_t micros, int64_t mg)
{
	return (struct lt_amount){true, true, micros, mg};
}

static inline int
setup(void **state)
{
	(void)state;
	memset(budgets, 0, sizeof(budgets));
	budgets[RESEARCH] = (struct lt_budget){.team = "research",
	    .on_exceed = LT_RULE_HOLD,
	    .periods = {{NOW, LATER, "2026 Q4", both(1000, 500), both(100, 0), both(0, 0)}}};
	budgets[RESEARCH].periods[1].start_utc_s = LATER;
	budgets[RESEARCH].periods[1].end_utc_s = LATER;
	budgets[VISION] = (struct lt_budget){.team = "vision",
	    .on_exceed = LT_RULE_REJECT,
	    .has_per_user = true,
	    .per_user_limit = money(200),
	    .periods = {
		{NOW, NEXT, "November", money(500), money(100), money(50)},
		{NEXT, LATER, "December", money(300), money(0), money(0)},
	    }};
	budgets[FREE_BUDGET] = (struct lt_budget){.team = "free",
	    .on_exceed = LT_RULE_WARN,
	    .periods = {{NOW, NEXT, "November", money(0), money(0), money(0)}}};
	budgets[FREE_BUDGET].periods[1].start_utc_s = NEXT;
	budgets[FREE_BUDGET].periods[1].end_utc_s = NEXT;
	usages[0] = (struct lt_usage){.budget = VISION,
	    .uid = ALICE,
	    .settled = {money(30), money(0)},
	    .held = {money(20), money(0)}};
	snapshot = (struct lt_budget_snapshot){.ready = true,
	    .on_unknown = LT_RULE_HOLD,
	    .budget_count = 3,
	    .usage_count = 1,
	    .account_count = 4,
	    .binding_count = 4,
	    .pair_count = 3,
	    .budgets = budgets,
	    .usages = usages,
	    .accounts = accounts,
	    .bindings = bindings,
	    .pairs = pairs};
	recent = malloc(lt_recent_size(&snapshot));
	lt_recent_init(recent, &snapshot);
	return 0;
}

static inline int
teardown(void **state)
{
	(void)state;
	free(recent);
	return 0;
}

static inline struct lt_verdict
admit(uint32_t uid, int account, struct lt_amount amount, int64_t start, int64_t end)
{
	struct lt_verdict verdict;
	const struct lt_hold hold = {.uid = uid,
	    .account = account,
	    .amount = amount,
	    .start_utc_s = start,
	    .end_utc_s = end};

	lt_admit(&verdict, &snapshot, recent, &hold);
	return verdict;
}

#endif
