/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partitions of which the system says that no node of theirs takes the job.
 */
#include "decide_fixture.h"

#include "replan.h"

static enum lt_replan_why
again_from(int partition)
{
	const struct lt_replan of = {.request = &request,
	    .market = &market,
	    .partition = partition,
	    .start_utc_s = NOW,
	    .now_utc_s = NOW};
	static struct lt_replanned again;

	assert_int_equal(lt_replan(&again, &of, NULL), LT_OK);
	return again.why;
}

/* Where no node takes it, it neither goes nor stays. */
static void
test_closed(void **state)
{
	bool closed[LT_PARTITIONS_MAX] = {false};

	(void)state;
	decide();
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(again_from(CHEAP), LT_REPLAN_KEEP);
	request.closed = closed;
	closed[CHEAP] = true;
	decide();
	assert_true(plan.fits);
	assert_int_not_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(plan.candidates[CHEAP].reject, LT_REJECT_NO_PLACE);
	assert_int_equal(again_from(CHEAP), LT_REPLAN_CANNOT_RUN);
	closed[CHEAP] = false;
	closed[HOME] = true;
	decide();
	assert_false(plan.fits);
	assert_int_equal(plan.candidates[HOME].reject, LT_REJECT_NO_PLACE);
	assert_int_equal(plan.chosen.partition, CHEAP);
	assert_int_equal(again_from(HOME), LT_REPLAN_CANNOT_RUN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_closed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
