/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits for money gets it oldest first, each once, and slurmctld is told in the pass after
 * that; nobody's money is given twice.
 */
#include "budget_state.h"
#include "compile_budget.h"
#include "judge_fixture.h"
#include "ledger.h"
#include "jobs.h"
#include "release.h"

enum { HELD = 300001, NONE = LT_LEAVE - 1 };

static void
pass(struct world *w, struct lt_batch_job *jobs, uint32_t count, int64_t at)
{
	told = (struct told){0};
	w->d->jobs.list = (struct lt_batch_jobs){.count = count, .jobs = jobs};
	for (uint32_t i = 0; i < count; i++) {
		struct lt_ledger_hold hold;

		jobs[i].at_release = lt_hold_of_job(w->f->ledger, &jobs[i], &hold) &&
				     lt_release_concerns(&w->d->jobs, &jobs[i], &hold);
	}
	compile(w, at);
	must(w->f, lt_release(w->d, at, &w->f->err));
}

static uint32_t
flags_of(struct world *w, uint64_t id)
{
	return hold_now(w, id).quote.flags;
}

/* Room for three of ada's and bob's four; the youngest waits on. */
static void
test_oldest_first(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[4];

	for (uint32_t i = 0; i < 4; i++) {
		jobs[i] = make_job(i + 1);
		jobs[i].uid = i % 2 ? BOB : ADA;
		jobs[i].submit_utc_s = NOW - i; /* the last is the oldest */
		jobs[i].held = true;
		hold_job(w, &jobs[i], HELD, LT_QUOTE_BUDGET_HOLD);
	}
	pass(w, jobs, 4, NOW);
	assert_int_equal(flags_of(w, 101), LT_QUOTE_BUDGET_HOLD);
	for (uint64_t id = 102; id <= 104; id++)
		assert_int_equal(flags_of(w, id), LT_QUOTE_FREEING);
	/* A snapshot that has them must be there first. */
	assert_int_equal(told_of(2), NONE);
	pass(w, jobs, 4, NOW + 1);
	pass(w, jobs, 4, NOW + 2);
	assert_int_equal(told_of(1), NONE);
	for (uint32_t id = 2; id <= 4; id++) {
		assert_int_equal(told_of(id), LT_RELEASE);
		assert_int_equal(flags_of(w, id + 100), 0);
	}
	free_world(w);
}

static void
test_one(void **state)
{
	static const struct {
		const char *why;
		enum lt_mode mode;
		enum lt_rule rule;
		uint32_t flags;
		int64_t held, others;
		bool cron, user_held, held_now;
		int first, last; /* what slurmctld is told at once, at last */
		uint32_t cancelled;
	} ones[] = {
	    {"fits to the last micro", LT_MODE_ENFORCE, LT_RULE_HOLD, LT_QUOTE_BUDGET_HOLD, HELD,
		BUDGET - HELD, false, false, true, NONE, LT_RELEASE, 0},
	    {"a micro too much", LT_MODE_ENFORCE, LT_RULE_HOLD, LT_QUOTE_BUDGET_HOLD, HELD,
		BUDGET - HELD + 1, false, false, true, NONE, NONE, 0},
	    {"a micro too much, and not held: is held", LT_MODE_ENFORCE, LT_RULE_HOLD,
		LT_QUOTE_BUDGET_HOLD, HELD, BUDGET - HELD + 1, false, false, false, LT_HOLD,
		LT_HOLD, 0},
	    {"a micro too much, and held as his: becomes ours", LT_MODE_ENFORCE, LT_RULE_HOLD,
		LT_QUOTE_BUDGET_HOLD, HELD, BUDGET - HELD + 1, false, true, true, LT_HOLD, LT_HOLD,
		0},
	    {"the user's own hold stays his", LT_MODE_ENFORCE, LT_RULE_HOLD,
		LT_QUOTE_BUDGET_HOLD | LT_QUOTE_USER_HOLD, HELD, BUDGET - HELD + 1, false, true,
		true, NONE, NONE, 0},
	    {"released, the user's own hold stays", LT_MODE_ENFORCE, LT_RULE_HOLD,
		LT_QUOTE_BUDGET_HOLD | LT_QUOTE_USER_HOLD, HELD, 0, false, true, true, NONE,
		LT_LEAVE, 0},
	    {"a team that is only warned", LT_MODE_ENFORCE, LT_RULE_WARN, LT_QUOTE_BUDGET_HOLD,
		HELD, BUDGET, false, false, true, NONE, LT_RELEASE, 0},
	    {"advice holds nobody", LT_MODE_ADVISE, LT_RULE_HOLD, LT_QUOTE_BUDGET_HOLD, HELD,
		BUDGET, false, false, true, NONE, LT_RELEASE, 0},
	    {"a crontab's run can't be held", LT_MODE_ENFORCE, LT_RULE_HOLD, LT_QUOTE_BUDGET_HOLD,
		HELD, BUDGET, true, false, false, NONE, NONE, 1},
	    {"an unknown amount is priced: too much", LT_MODE_ENFORCE, LT_RULE_HOLD,
		LT_QUOTE_UNKNOWN, 0, BUDGET - HELD + 1, false, false, true, NONE, NONE, 0},
	    {"an unknown amount is priced: fits", LT_MODE_ENFORCE, LT_RULE_HOLD, LT_QUOTE_UNKNOWN,
		0, BUDGET - HELD, false, false, true, NONE, LT_RELEASE, 0},
	    {"what is not ours to hold is left alone", LT_MODE_ENFORCE, LT_RULE_HOLD, 0, HELD,
		BUDGET, false, false, false, NONE, NONE, 0},
	};

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1), bobs = make_job(9);

		print_message("# %s\n", ones[i].why);
		job.is_cron = ones[i].cron;
		job.user_held = ones[i].user_held;
		job.held = ones[i].held_now;
		w->policy.mode = ones[i].mode;
		w->budgets[0].on_exceed = ones[i].rule;
		bobs.uid = BOB;
		hold_job(w, &bobs, ones[i].others, 0);
		hold_job(w, &job, ones[i].held, ones[i].flags);
		pass(w, &job, 1, NOW);
		assert_int_equal(told_of(1), ones[i].first);
		assert_int_equal(told.cancelled, ones[i].cancelled);
		pass(w, &job, 1, NOW + 1);
		pass(w, &job, 1, NOW + 2);
		assert_int_equal(told_of(1), ones[i].last);
		assert_int_equal(told_of(9), NONE);
		free_world(w);
	}
}

/* What nobody can price goes by on_unknown, but for what nobody limits. */
static void
test_unknown(void **state)
{
	static const struct {
		const char *why, *partition;
		int64_t limit_s;
		enum lt_rule on_unknown;
		bool unsized;
		int last;
	} cases[] = {
	    {"allow", "other", 600, LT_RULE_ALLOW, false, LT_RELEASE},
	    {"hold", "other", 600, LT_RULE_HOLD, false, NONE},
	    {"reject", "other", 600, LT_RULE_REJECT, false, NONE},
	    {"not all that it asks for is known: allow", "ondemand", 600, LT_RULE_ALLOW, true,
		LT_RELEASE},
	    {"and hold", "ondemand", 600, LT_RULE_HOLD, true, NONE},
	    {"no limit, whatever the rule", "ondemand", INT64_MAX, LT_RULE_ALLOW, false, NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1);
		struct lt_ledger_hold hold;

		print_message("# %s\n", cases[i].why);
		w->policy.on_unknown = cases[i].on_unknown;
		job.partition = cases[i].partition;
		job.limit_s = cases[i].limit_s;
		job.is_unsized = cases[i].unsized;
		job.held = true;
		hold = hold_job(w, &job, 0, LT_QUOTE_UNKNOWN);
		hold.quote.hold_per_task = (struct lt_amount){0};
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		for (int k = 0; k < 3; k++)
			pass(w, &job, 1, NOW + k);
		assert_int_equal(told_of(1), cases[i].last);
		free_world(w);
	}
}

/* Money that went elsewhere before the job was freed: it waits again. */
static void
test_taken_meanwhile(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(1), bobs = make_job(9);

	job.held = true;
	hold_job(w, &job, HELD, LT_QUOTE_BUDGET_HOLD);
	pass(w, &job, 1, NOW);
	assert_int_equal(flags_of(w, 101), LT_QUOTE_FREEING);
	bobs.uid = BOB;
	hold_job(w, &bobs, BUDGET, 0);
	pass(w, &job, 1, NOW + 1);
	pass(w, &job, 1, NOW + 2);
	assert_int_equal(told_of(1), NONE);
	assert_int_equal(flags_of(w, 101), LT_QUOTE_BUDGET_HOLD);
	free_world(w);
}

/* A run after a requeue asks for one share more than its first run has. */
static void
test_second_run(void **state)
{
	static const int64_t more_of_bob[] = {0, 1, -HELD};

	for (int i = 0; i < 3; i++) {
		const int64_t more = more_of_bob[i];
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1), bobs = make_job(9);

		hold_job(w, &job, HELD, LT_QUOTE_LOCK);
		bobs.uid = BOB;
		hold_job(w, &bobs, BUDGET - 2 * HELD + more, 0);
		job.submit_utc_s += 60;
		job.requeued = job.held = true;
		pass(w, &job, 1, NOW);
		assert_int_equal(hold_now(w, 101).live_tasks, more > 0 ? 1 : 2);
		pass(w, &job, 1, NOW + 1);
		assert_int_equal(told_of(1), NONE);
		pass(w, &job, 1, NOW + 2);
		assert_int_equal(hold_now(w, 101).live_tasks, more > 0 ? 1 : 2);
		free_world(w);
	}
}

/* Killed after a second run was admitted: it is known by its hold. */
static void
test_restart(void **state)
{
	static const struct {
		const char *why;
		uint32_t tasks, flags;
		bool held, user_held;
		int64_t bobs;
		int told;
		uint32_t live, left;
	} cases[] = {
	    {"it is released, its share held once", 1, LT_QUOTE_LOCK, true, false, 0, LT_RELEASE, 2,
		0},
	    {"its user's own hold comes back", 1, LT_QUOTE_LOCK | LT_QUOTE_USER_HOLD, true, false,
		0, LT_USER_HOLD, 2, LT_QUOTE_USER_HOLD},
	    {"it was released", 1, LT_QUOTE_LOCK, false, false, 0, LT_LEAVE, 2, 0},
	    {"and then held by its user", 1, LT_QUOTE_LOCK, true, true, 0, LT_LEAVE, 2, 0},
	    {"its money is gone: it waits again", 1, LT_QUOTE_LOCK, true, false, BUDGET - HELD,
		NONE, 1, LT_QUOTE_LOCK},
	    {"a task is judged again", 2, LT_QUOTE_LOCK, true, false, 0, LT_RELEASE, 3,
		LT_QUOTE_LOCK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1), bobs = make_job(9);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, cases[i].flags);

		print_message("# %s\n", cases[i].why);
		hold.quote.tasks = cases[i].tasks;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		job.submit_utc_s += 60;
		job.requeued = job.held = true;
		pass(w, &job, 1, NOW);
		w->d->jobs.admitted_count = 0;
		job.held = cases[i].held;
		job.user_held = cases[i].user_held;
		bobs.uid = BOB;
		hold_job(w, &bobs, cases[i].bobs, 0);
		int told_last = NONE;
		for (int at = 1; at < 5; at++) {
			pass(w, &job, 1, NOW + at);
			if (told_of(1) != NONE)
				told_last = told_of(1);
		}
		assert_int_equal(told_last, cases[i].told);
		assert_int_equal(hold_now(w, 101).live_tasks, cases[i].live);
		assert_int_equal(flags_of(w, 101), cases[i].left);
		free_world(w);
	}
}

/* slurmctld is told until it has taken it. */
static void
test_told_again(void **state)
{
	static const struct {
		const char *why;
		uint32_t tasks, flags, left;
		bool run, held;
		int told;
	} cases[] = {
	    {"it waited for money", 1, LT_QUOTE_BUDGET_HOLD, 0, false, true, LT_RELEASE},
	    {"one that was released, and then lowtided killed", 1, LT_QUOTE_FREEING, 0, false,
		false, LT_LEAVE},
	    {"a second run", 1, LT_QUOTE_LOCK, 0, true, true, LT_RELEASE},
	    {"a second run that its user holds", 1, LT_QUOTE_LOCK | LT_QUOTE_USER_HOLD,
		LT_QUOTE_USER_HOLD, true, true, LT_USER_HOLD},
	    {"a second run of a task", 2, LT_QUOTE_LOCK, LT_QUOTE_LOCK, true, true, LT_RELEASE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, cases[i].flags);

		print_message("# %s\n", cases[i].why);
		hold.quote.tasks = cases[i].tasks;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		job.held = cases[i].held;
		job.requeued = cases[i].run;
		job.submit_utc_s += cases[i].run ? 60 : 0;
		pass(w, &job, 1, NOW);
		ctld_fails = true;
		pass(w, &job, 1, NOW + 1);
		pass(w, &job, 1, NOW + 2);
		ctld_fails = false;
		pass(w, &job, 1, NOW + 3);
		assert_int_equal(told_of(1), cases[i].told);
		assert_int_equal(flags_of(w, 101), cases[i].left);
		assert_int_equal(hold_now(w, 101).live_tasks, cases[i].run ? 2 : 1);
		pass(w, &job, 1, NOW + 4);
		assert_int_equal(told_of(1), NONE);
		free_world(w);
	}
}

/* Who has no budget to fit into is not judged after a requeue. */
static void
test_unbudgeted_run(void **state)
{
	static const struct {
		const char *why, *account;
		bool cron;
		int told;
		uint32_t cancelled, live;
	} cases[] = {
	    {"of a team that has nothing left", "vision", false, LT_HOLD, 0, 1},
	    {"of its crontab", "vision", true, NONE, 1, 1},
	    {"of a team without a budget", "free", false, LT_LEAVE, 0, 2},
	    {"of no association", "other", false, LT_LEAVE, 0, 2},
	    {"of no account", "", false, LT_LEAVE, 0, 2},
	    {"of a crontab without an account", "", true, NONE, 0, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(1), bobs = make_job(9);

		print_message("# %s\n", cases[i].why);
		bobs.uid = BOB;
		hold_job(w, &bobs, BUDGET, 0);
		job.account = cases[i].account;
		job.is_cron = cases[i].cron;
		hold_job(w, &job, HELD, 0);
		job.submit_utc_s += 60;
		job.requeued = true;
		int last = NONE;
		uint32_t cancelled = 0;
		for (int at = 0; at < 3; at++) {
			pass(w, &job, 1, NOW + at);
			last = told_of(1) != NONE ? told_of(1) : last;
			cancelled |= told.cancelled;
		}
		assert_int_equal(last, cases[i].told);
		assert_int_equal(cancelled, cases[i].cancelled);
		assert_int_equal(hold_now(w, 101).live_tasks, cases[i].live);
		free_world(w);
	}
}

/* More than a pass frees: the last of a crontab has its turn in the next. */
static void
test_many(void **state)
{
	enum { MANY = 257 };
	struct world *const w = make_world(*state);
	struct lt_batch_job *const jobs = calloc(MANY, sizeof(*jobs));

	for (uint32_t i = 0; i < MANY; i++) {
		jobs[i] = make_job(i + 1);
		jobs[i].is_cron = true;
		hold_job(w, &jobs[i], 1, LT_QUOTE_BUDGET_HOLD);
	}
	pass(w, jobs, MANY, NOW);
	assert_int_equal(told.cancelled, 0);
	assert_int_equal(flags_of(w, 100 + MANY - 1), LT_QUOTE_FREEING);
	assert_int_equal(flags_of(w, 100 + MANY), LT_QUOTE_BUDGET_HOLD);
	pass(w, jobs, MANY, NOW + 1);
	assert_int_equal(told.cancelled, 0);
	assert_int_equal(flags_of(w, 100 + MANY), LT_QUOTE_FREEING);
	free(jobs);
	free_world(w);
}

/* Two tasks of an array, requeued at once: a share more for each. */
static void
test_two_tasks(void **state)
{
	static const struct {
		const char *why;
		int64_t bobs, later;
		uint32_t first, last; /* shares, in the first pass and then */
	} cases[] = {
	    {"both fit", 0, 0, 4, 4},
	    {"one fits", 1, 0, 3, 3},
	    {"both fit, and then none does", 0, 4, 4, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[2], bobs = make_job(9), late = make_job(10);
		char text[LT_QUOTE_TEXT_SIZE];
		struct lt_ledger_hold hold = {0};

		print_message("# %s\n", cases[i].why);
		for (uint32_t k = 0; k < 2; k++) {
			jobs[k] = make_job(k + 1);
			jobs[k].submit_utc_s += 60;
			jobs[k].array_job_id = 1;
			jobs[k].requeued = true;
			jobs[k].admin_comment = text;
			jobs[k].cpus = 16; /* priced below what is held */
		}
		hold = hold_job(w, &jobs[0], BUDGET / 4, LT_QUOTE_LOCK);
		hold.quote.tasks = hold.live_tasks = 2;
		assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		bobs.uid = late.uid = BOB;
		hold_job(w, &bobs, cases[i].bobs, 0);
		pass(w, jobs, 2, NOW);
		assert_int_equal(hold_now(w, 101).live_tasks, cases[i].first);
		hold_job(w, &late, cases[i].later * BUDGET / 4, 0);
		pass(w, jobs, 2, NOW + 1);
		pass(w, jobs, 2, NOW + 2);
		assert_int_equal(hold_now(w, 101).live_tasks, cases[i].last);
		free_world(w);
	}
}

/* Judged, or so it is written: by a clock that was ahead then it was not. */
static void
test_period_begins(void **state)
{
	static const struct {
		int64_t judged_s;
		bool begins;
	} cases[] = {{NOW, false}, {NOVEMBER, false}, {NOVEMBER - 1, true},
	    {NOW + 86400 * 400, true}, {NOW + 1, true}};
	struct world *const w = make_world(*state);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		must(w->f,
		    lt_period_judged(&w->d->budget, w->d->ledger, cases[i].judged_s, &w->f->err));
		must(w->f, lt_compile_budget(&w->books, NOW, &w->f->err));
		assert_int_equal(w->d->budget.period_began, cases[i].begins);
	}
	free_world(w);
}

/* A period that begins: the oldest stay, the others are held back. */
static void
test_new_period(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job jobs[4];
	struct lt_live live[4];

	for (uint32_t i = 0; i < 4; i++) {
		jobs[i] = make_job(i + 1);
		hold_job(w, &jobs[i], HELD, 0);
		live[i] = (struct lt_live){.quote_id = i + 101, .live = 1, .pending = 1};
	}
	compile(w, NOW);
	w->d->jobs.live = live;
	w->d->jobs.live_count = 4;
	w->d->jobs.list = (struct lt_batch_jobs){.count = 4, .jobs = jobs};
	w->d->budget.period_began = true;
	must(w->f, lt_release(w->d, NOW, &w->f->err));
	w->d->jobs.live = NULL;
	assert_false(w->d->budget.period_began);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(flags_of(w, i + 101), i < 3 ? 0 : LT_QUOTE_BUDGET_HOLD);
		assert_int_equal(told_of(i + 1), i < 3 ? NONE : LT_HOLD);
	}
	assert_int_equal(w->d->tally.refused_count, 1);
	assert_int_equal(w->d->tally.refused[0].jobs[LT_REFUSAL_HELD], 1);
	lt_counters_free(&w->d->tally);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_oldest_first, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_one, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_taken_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_second_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_restart, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_told_again, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_period_begins, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unbudgeted_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_two_tasks, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_new_period, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
