/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a suspension adds to a hold: by hand, of a node with 64 CPUs and 8 GPUs, for a limit of ten
 * minutes.
 */
#include "judge_fixture.h"

#include "change.h"
#include "suspension.h"

enum { HELD = 600000 };

static void
test_add(void **state)
{
	static const struct {
		const char *why;
		enum lt_job_state state;
		int64_t suspended_s;
		uint32_t cpus, gpus;
		int64_t held_s, money, carbon;
		int64_t pause_s; /* that lowtide holds for */
	} cases[] = {
	    {"never suspended", LT_JOB_RUNNING, 0, 32, 1, 0, 600000, 600000, 0},
	    {"the first second: its minute", LT_JOB_SUSPENDED, 1, 32, 1, 60, 615000, 660000, 0},
	    {"the last one of it", LT_JOB_SUSPENDED, 59, 32, 1, 60, 615000, 660000, 0},
	    {"the next minute", LT_JOB_SUSPENDED, 60, 32, 1, 120, 630000, 720000, 0},
	    {"it goes on: what it used stays", LT_JOB_RUNNING, 60, 32, 1, 120, 630000, 720000, 0},
	    {"GPUs are its share", LT_JOB_SUSPENDED, 1, 1, 8, 60, 660000, 660000, 0},
	    {"nothing is kept", LT_JOB_SUSPENDED, 1, 32, 0, 60, 600000, 660000, 0},
	    {"lowtide is about to suspend it", LT_JOB_RUNNING, 0, 32, 1, 180, 645000, 780000, 180},
	    {"it has, and it stands still no longer than that", LT_JOB_SUSPENDED, 59, 32, 1, 180,
		645000, 780000, 180},
	    {"it does: lowtided was away", LT_JOB_SUSPENDED, 180, 32, 1, 240, 660000, 840000, 180},
	    {"it waits again", LT_JOB_PENDING, 60, 32, 1, 0, 600000, 600000, 0},
	    {"it has ended", LT_JOB_FINISHED, 60, 32, 1, 0, 600000, 600000, 0},
	    {"and was paused", LT_JOB_FINISHED, 60, 32, 1, 0, 600000, 600000, 180},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_amount amount = {true, true, HELD, HELD};

		print_message("# %s\n", cases[i].why);
		w->shape.gpus = 8;
		job.state = cases[i].state;
		job.suspended_s = cases[i].suspended_s;
		job.pause_s = cases[i].pause_s;
		job.cpus = cases[i].cpus;
		job.gpus = cases[i].gpus;
		assert_int_equal(lt_suspension_held_s(&job), cases[i].held_s);
		assert_true(
		    lt_suspension_add(&amount, 600, &job, &w->d->site.market, w->d->ledger));
		assert_int_equal(amount.money_micros, cases[i].money);
		assert_int_equal(amount.carbon_mg, cases[i].carbon);
		amount.carbon_mg = INT64_MAX;
		assert_int_equal(
		    lt_suspension_add(&amount, 600, &job, &w->d->site.market, w->d->ledger),
		    cases[i].held_s == 0);
		free_world(w);
	}
}

/* Of a record that is older or newer than now: a job that stands still works no second more. */
static void
test_worked(void **state)
{
	static const struct {
		const char *why;
		enum lt_job_state state;
		int64_t seen_s, suspended_s, now_s, worked_s;
	} cases[] = {
	    {"it runs", LT_JOB_RUNNING, 90, 0, 100, 100},
	    {"it goes on since", LT_JOB_RUNNING, 90, 20, 100, 80},
	    {"seen now", LT_JOB_SUSPENDED, 100, 20, 100, 80},
	    {"lists are made seldom", LT_JOB_SUSPENDED, 90, 10, 150, 80},
	    {"seen in the second that began since", LT_JOB_SUSPENDED, 101, 21, 100, 80},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_batch_job job = make_job(7);

		print_message("# %s\n", cases[i].why);
		job.state = cases[i].state;
		job.start_utc_s = NOW;
		job.seen_utc_s = NOW + cases[i].seen_s;
		job.suspended_s = cases[i].suspended_s;
		assert_int_equal(
		    lt_suspension_worked_s(&job, NOW + cases[i].now_s), cases[i].worked_s);
	}
}

/* Look by look, whatever is left of the budget. */
static void
test_looks(void **state)
{
	enum { HALF = 300001, FULL = BUDGET };

	static const struct {
		int64_t suspended_s, money; /* 300001 x (1 + s / 4 / 600) */
		enum lt_job_state state;
	} looks[] = {{0, 300001, LT_JOB_RUNNING}, {2, 307502, LT_JOB_SUSPENDED},
	    {58, 307502, LT_JOB_SUSPENDED}, {61, 315002, LT_JOB_SUSPENDED},
	    {61, 315002, LT_JOB_RUNNING}, {61, 315002, LT_JOB_RUNNING}};
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7), before, other = make_job(8);
	struct lt_ledger_hold hold = hold_job(w, &job, HALF, 0);
	w->shape.gpus = 8;
	hold_job(w, &other, FULL, 0);
	compile(w, NOW);
	job.state = LT_JOB_RUNNING;
	job.start_utc_s = NOW;
	job.is_allocated = true;
	job.gpus = 1;
	before = job;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		job.suspended_s = looks[i].suspended_s;
		job.state = looks[i].state;
		must(w->f, lt_change_follow(&w->d->site, w->d->ledger, &w->d->budget,
			       &(struct lt_change){&job, &before, NOW}, &hold, &w->f->err));
		hold = hold_now(w, 107);
		assert_int_equal(hold.quote.hold_per_task.money_micros, looks[i].money);
		assert_false(hold.quote.flags & LT_QUOTE_BUDGET_HOLD);
		before = job;
	}
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_add, set_up, tear_down),
	    cmocka_unit_test(test_worked),
	    cmocka_unit_test_setup_teardown(test_looks, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("suspension", tests, NULL, NULL);
}
