/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run after a requeue: which waits for a judge, which is locked, and what its admission and
 * refusal do to the hold.
 */
#include "budget.h"
#include "reconcile.h"
#include "judge_fixture.h"
#include "requeue_gate.h"

enum { HELD = 300001 };

static void
test_waits(void **state)
{
	static const struct {
		const char *why;
		enum lt_job_state state;
		bool completing, requeued, admitted;
		uint32_t tasks;
		int64_t later; /* its submit time after the hold's */
		bool waits;
	} cases[] = {
	    {"the run of the hold", LT_JOB_PENDING, false, false, false, 1, 0, false},
	    {"a newer run", LT_JOB_PENDING, false, true, false, 1, 60, true},
	    {"an older record", LT_JOB_PENDING, false, true, false, 1, -1, false},
	    {"a newer run that runs", LT_JOB_RUNNING, false, true, false, 1, 60, false},
	    {"the old run is still ending", LT_JOB_PENDING, true, true, false, 1, 60, false},
	    {"a newer run that was admitted", LT_JOB_PENDING, false, true, true, 1, 60, false},
	    {"a task that was requeued", LT_JOB_PENDING, false, true, false, 4, 0, true},
	    {"a task that was not", LT_JOB_PENDING, false, false, false, 4, 60, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

		print_message("# %s\n", cases[i].why);
		hold.quote.tasks = cases[i].tasks;
		job.submit_utc_s += cases[i].later;
		job.state = cases[i].state;
		job.completing = cases[i].completing;
		job.requeued = cases[i].requeued;
		if (cases[i].admitted) {
			must(w->f, lt_gate_admit(w->d->ledger, &w->d->jobs, &w->d->budget, &job,
				       &hold, NOW, &w->f->err));
			w->d->jobs.admitted[0].seen = false;
			hold.submit_utc_s = job.submit_utc_s - 1;
		}
		assert_int_equal(lt_gate_waits(&w->d->jobs, &job, &hold), cases[i].waits);
		if (cases[i].admitted)
			assert_true(w->d->jobs.admitted[0].seen);
		free_world(w);
	}
}

static void
test_who_is_locked(void **state)
{
	static const struct {
		const char *why, *account;
		enum lt_mode mode;
		enum lt_rule on_unknown;
		bool interactive, cron, no_requeue, held, user_held, none_left;
		bool long_ago;
		bool locked;
	} cases[] = {
	    {"of a team", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .locked = true},
	    {"held by its user now", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .held = true,
		.user_held = true, .locked = true},
	    {"held by an admin", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .held = true},
	    {"of a team without budget", "free", LT_MODE_ENFORCE, LT_RULE_HOLD, .locked = false},
	    {"of nobody's account", "other", LT_MODE_ENFORCE, LT_RULE_HOLD, .locked = false},
	    {"advised only", "vision", LT_MODE_ADVISE, LT_RULE_HOLD, .locked = false},
	    {"unknown is let through", "vision", LT_MODE_ENFORCE, LT_RULE_ALLOW, .locked = false},
	    {"interactive", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .interactive = true},
	    {"of a crontab", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .cron = true},
	    {"may not be requeued", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .no_requeue = true},
	    {"the pass has none left", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .none_left = true},
	    {"it has waited for long", "vision", LT_MODE_ENFORCE, LT_RULE_HOLD, .long_ago = true,
		.locked = true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);

		job.account = cases[i].account;
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, LT_QUOTE_USER_HOLD);
		print_message("# %s\n", cases[i].why);
		job.submit_utc_s = NOW - (cases[i].long_ago ? 300 : 299);
		job.is_batch = !cases[i].interactive;
		job.is_cron = cases[i].cron;
		job.requeue_allowed = !cases[i].no_requeue;
		job.held = cases[i].held;
		job.user_held = cases[i].user_held;
		w->policy.mode = cases[i].mode;
		w->policy.on_unknown = cases[i].on_unknown;
		w->d->charges.next.settle = NOW + 1000;
		if (cases[i].none_left)
			w->d->jobs.locks_left = 0;
		must(w->f, lt_gate_follow(&w->books, &job, &hold, NOW, &w->f->err));
		assert_int_equal(told_of(7) == LT_HOLD, cases[i].locked);
		/* The row of the run that ended is wanted soon, not for ever. */
		assert_int_equal(
		    w->d->jobs.rows_from_utc_s, cases[i].long_ago ? 0 : NOW - 299 - 300);
		assert_int_equal(w->d->charges.next.settle, NOW + 1000);
		const uint32_t flags = hold_now(w, 107).quote.flags;
		assert_int_equal((flags & LT_QUOTE_LOCK) != 0, cases[i].locked);
		/* A hold of the submission is over; one of now is kept. */
		if (cases[i].locked)
			assert_int_equal((flags & LT_QUOTE_USER_HOLD) != 0, cases[i].user_held);
		free_world(w);
	}
}

static void
test_admit_and_deny(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7), other = make_job(8);
	struct lt_ledger_hold hold = hold_job(w, &job, HELD, LT_QUOTE_LOCK);

	job.submit_utc_s += 60;
	job.eligible_utc_s = NOW + 500;
	/* The old run keeps its share. */
	must(w->f,
	    lt_gate_admit(w->d->ledger, &w->d->jobs, &w->d->budget, &job, &hold, NOW, &w->f->err));
	hold = hold_now(w, 107);
	assert_int_equal(hold.live_tasks, 2);
	assert_int_equal(hold.submit_utc_s, job.submit_utc_s);
	assert_int_equal(hold.quote.start_utc_s, NOW + 500);
	assert_int_equal(hold.quote.end_utc_s, NOW + 1100);
	assert_non_null(lt_gate_admitted(&w->d->jobs, &job));
	assert_null(lt_gate_admitted(&w->d->jobs, &other));
	job.submit_utc_s++;
	assert_null(lt_gate_admitted(&w->d->jobs, &job)); /* of another run */
	job.submit_utc_s--;
	must(w->f, lt_gate_deny(w->d->ledger, &w->d->jobs, &w->d->budget, &job, &hold, &w->f->err));
	hold = hold_now(w, 107);
	assert_int_equal(hold.live_tasks, 1);
	assert_int_equal(hold.state, LT_HOLD_OPEN);
	assert_true(lt_gate_waits(&w->d->jobs, &job, &hold));
	/* Of a run that is settled nothing is left. */
	hold.state = LT_HOLD_SETTLED;
	must(w->f,
	    lt_gate_admit(w->d->ledger, &w->d->jobs, &w->d->budget, &job, &hold, NOW, &w->f->err));
	hold = hold_now(w, 107);
	assert_int_equal(hold.live_tasks, 1);
	assert_int_equal(hold.state, LT_HOLD_OPEN);
	must(w->f, lt_gate_deny(w->d->ledger, &w->d->jobs, &w->d->budget, &job, &hold, &w->f->err));
	assert_int_equal(hold_now(w, 107).state, LT_HOLD_SETTLED);
	assert_int_equal(hold_now(w, 107).live_tasks, 0);
	free_world(w);
}

static void
test_sweep(void **state)
{
	struct world *const w = make_world(*state);

	for (uint32_t id = 7; id < 10; id++) {
		const struct lt_batch_job job = make_job(id);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

		must(w->f, lt_gate_admit(w->d->ledger, &w->d->jobs, &w->d->budget, &job, &hold, NOW,
			       &w->f->err));
	}
	w->d->jobs.admitted[1].seen = false; /* no longer there */
	lt_gate_sweep(&w->d->jobs);
	assert_int_equal(w->d->jobs.admitted_count, 2);
	assert_int_equal(w->d->jobs.admitted[1].job_id, 9);
	lt_gate_sweep(&w->d->jobs);
	assert_int_equal(w->d->jobs.admitted_count, 0);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_waits, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_who_is_locked, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_admit_and_deny, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_sweep, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
