/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_admit() of submissions: what a user holds unseen is bounded.
 */
#include "budget_fixture.h"

static struct lt_verdict
submit(uint32_t uid, int account, int64_t micros, int64_t own)
{
	struct lt_verdict verdict;
	const struct lt_hold hold = {.uid = uid,
	    .account = account,
	    .amount = both(micros, 0),
	    .start_utc_s = NOW,
	    .end_utc_s = NOW + 1,
	    .is_new = true,
	    .is_bounded = true,
	    .own = money(own)};

	lt_admit(&verdict, &snapshot, recent, &hold);
	return verdict;
}

/* Of what is left without them, unseen holds of a user take a tenth, or are of one job; of others,
 * and of what is seen, nothing is asked. */
static void
test_unseen(void **state)
{
	(void)state;
	/* 350 of vision's 500 are left in November, and its user's 200. */
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 20, 0).code, LT_ADMIT);
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 15, 0).code, LT_ADMIT);
	const struct lt_verdict verdict = submit(BOB, ACCOUNT_VISION, 1, 0);
	assert_int_equal(verdict.code, LT_OVER);
	assert_int_equal(verdict.rule, LT_RULE_HOLD);
	assert_true(verdict.is_unseen);
	assert_false(verdict.is_user_cap);
	assert_string_equal(verdict.team, "vision");
	assert_int_equal(verdict.held, 35);
	assert_int_equal(verdict.available, 350);
	/* What costs nothing; another component of the same job; another user; what lowtided
	 * admits. */
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 0, 0).code, LT_ADMIT);
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 5, 35).code, LT_ADMIT);
	assert_int_equal(submit(ALICE, ACCOUNT_VISION, 100, 0).code, LT_ADMIT);
	assert_int_equal(admit(BOB, ACCOUNT_VISION, both(60, 0), NOW, NOW + 1).code, LT_ADMIT);
	/* Over is over, in the budget's own words. */
	assert_false(submit(BOB, ACCOUNT_VISION, 500, 0).is_unseen);
	/* Those jobs are seen; 190 are left. */
	const struct lt_hold seen = {.uid = BOB,
	    .account = ACCOUNT_VISION,
	    .amount = both(40, 0),
	    .start_utc_s = NOW,
	    .end_utc_s = NOW + 1,
	    .is_new = true};
	lt_recent_remove(recent, &snapshot, &seen);
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 19, 0).code, LT_ADMIT);
	assert_int_equal(submit(BOB, ACCOUNT_VISION, 1, 0).code, LT_OVER);
}

/* Unseen by the snapshot, and where a budget only warns. */
static void
test_unseen_of_the_snapshot(void **state)
{
	(void)state;
	usages[0].unseen[0] = money(20);
	assert_int_equal(submit(ALICE, ACCOUNT_VISION, 17, 0).code, LT_ADMIT);
	assert_true(submit(ALICE, ACCOUNT_VISION, 1, 0).is_unseen);
	/* In the other account of hers nothing is unseen but by vision. */
	assert_true(submit(ALICE, ACCOUNT_RESEARCH, 84, 0).is_unseen);
	assert_int_equal(submit(ALICE, ACCOUNT_RESEARCH, 73, 0).code, LT_ADMIT);
	budgets[VISION].on_exceed = LT_RULE_WARN;
	budgets[RESEARCH].on_exceed = LT_RULE_WARN;
	assert_int_equal(submit(ALICE, ACCOUNT_VISION, 60, 0).code, LT_ADMIT);
	snapshot.usage_count = 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_unseen, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unseen_of_the_snapshot, setup, teardown),
	};

	return cmocka_run_group_tests_name("budget_unseen", tests, NULL, NULL);
}
