/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that stand still, in the ledger: what was written is there after a restart, the newest of
 * each job.
 */
#include "ledger_fixture.h"
#include "ledger_jobs.h"

static void
is_same(const struct lt_paused *a, const struct lt_paused *b)
{
	assert_int_equal(a->job_id, b->job_id);
	assert_int_equal(a->start_utc_s, b->start_utc_s);
	assert_int_equal(a->step, b->step);
	assert_int_equal(a->at_utc_s, b->at_utc_s);
	assert_int_equal(a->until_utc_s, b->until_utc_s);
	assert_int_equal(a->held_s, b->held_s);
	assert_int_equal(a->changed_utc_s, b->changed_utc_s);
	assert_int_equal(a->saves.has_money, b->saves.has_money);
	assert_int_equal(a->saves.has_carbon, b->saves.has_carbon);
	if (a->saves.has_money)
		assert_int_equal(a->saves.money_micros, b->saves.money_micros);
	if (a->saves.has_carbon)
		assert_int_equal(a->saves.carbon_mg, b->saves.carbon_mg);
}

static void
test_rows(void **state)
{
	struct fixture *const f = *state;
	const struct lt_paused rows[] = {{.job_id = 12,
					     .start_utc_s = NOVEMBER,
					     .step = LT_PAUSE_SUSPENDING,
					     .at_utc_s = NOVEMBER + HOUR,
					     .until_utc_s = NOVEMBER + 2 * HOUR,
					     .held_s = 3660,
					     .saves = {true, true, -5, 1200}},
	    {.job_id = 7,
		.start_utc_s = NOVEMBER + 1,
		.step = LT_PAUSE_LEFT,
		.at_utc_s = NOVEMBER + 2,
		.until_utc_s = NOVEMBER + 3,
		.changed_utc_s = NOVEMBER + 4,
		.saves = {false, true, 0, 7}}};
	struct lt_paused next = rows[0];
	struct lt_paused *found = NULL;
	uint32_t count = 0;

	for (int i = 0; i < 2; i++)
		must(f, lt_ledger_put_paused(f->ledger, &rows[i], &f->err));
	reopen(f);
	must(f, lt_ledger_paused(f->ledger, &found, &count, &f->err));
	assert_int_equal(count, 2);
	is_same(&found[0], &rows[1]); /* by their ids */
	is_same(&found[1], &rows[0]);
	free(found);
	next.step = LT_PAUSE_PAUSED;
	next.changed_utc_s = NOVEMBER + HOUR + 1;
	next.saves.has_money = false;
	must(f, lt_ledger_put_paused(f->ledger, &next, &f->err));
	must(f, lt_ledger_drop_paused(f->ledger, 7, &f->err));
	must(f, lt_ledger_drop_paused(f->ledger, 7, &f->err)); /* twice */
	must(f, lt_ledger_paused(f->ledger, &found, &count, &f->err));
	assert_int_equal(count, 1);
	is_same(&found[0], &next);
	free(found);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_rows, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("ledger_pauses", tests, NULL, NULL);
}
