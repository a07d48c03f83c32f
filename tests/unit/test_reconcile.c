/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld's jobs against the ledger's holds: whose hold it is, how many shares live, and what
 * nobody priced gets.
 */
#include "jobs.h"
#include "judge_fixture.h"

enum { HELD = 300001, NONE = LT_LEAVE - 1 };

static void
confirm(struct world *w, struct lt_batch_job *jobs, uint32_t count)
{
	fake_jobs = (struct lt_batch_jobs){.count = count, .jobs = jobs};
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
	/* Its list is a copy; the strings are ours. */
	assert_int_equal(w->d->jobs.list.count, count);
}

static void
end_world(struct world *w)
{
	lt_batch_jobs_free(&w->d->jobs.list);
	for (uint32_t i = 0; i < w->d->jobs.ended_count; i++)
		free(w->d->jobs.ended[i].run.admin_comment);
	free(w->d->jobs.ended);
	lt_counters_free(&w->d->tally);
	free_world(w);
}

/* Jobs without a quote: who pays, how much, and may it run? */
static void
test_adopts(void **state)
{
	static const struct {
		const char *why, *account;
		uint32_t uid;
		enum lt_mode mode;
		enum lt_job_state state;
		int64_t others;
		uint32_t tasks;
		bool adopted, held_back;
	} cases[] = {
	    {"ada's", "vision", ADA, LT_MODE_ENFORCE, LT_JOB_PENDING, BUDGET - HELD, 1, true,
		false},
	    {"bob's", "vision", BOB, LT_MODE_ENFORCE, LT_JOB_PENDING, 0, 1, true, false},
	    {"one micro too much", "vision", BOB, LT_MODE_ENFORCE, LT_JOB_PENDING,
		BUDGET - HELD + 1, 1, true, true},
	    {"all tasks count", "vision", BOB, LT_MODE_ENFORCE, LT_JOB_PENDING,
		BUDGET - 2 * HELD + 1, 2, true, true},
	    {"it runs already", "vision", BOB, LT_MODE_ENFORCE, LT_JOB_RUNNING, BUDGET, 1, true,
		false},
	    {"advice", "vision", BOB, LT_MODE_ADVISE, LT_JOB_PENDING, BUDGET, 1, true, false},
	    {"no budget, no hold", "free", ADA, LT_MODE_ENFORCE, LT_JOB_PENDING, 0, 1, false,
		false},
	    {"nobody's account", "other", ADA, LT_MODE_ENFORCE, LT_JOB_PENDING, 0, 1, false, false},
	    {"it has ended", "vision", ADA, LT_MODE_ENFORCE, LT_JOB_FINISHED, 0, 1, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7), other = make_job(9);
		struct lt_ledger_hold hold;

		print_message("# %s\n", cases[i].why);
		hold_job(w, &other, cases[i].others, 0);
		compile(w, NOW);
		w->policy.mode = cases[i].mode;
		job.account = cases[i].account;
		job.uid = cases[i].uid;
		job.state = cases[i].state;
		job.array_pending = cases[i].tasks;
		job.start_utc_s = job.state == LT_JOB_PENDING ? 0 : NOW - 5;
		confirm(w, &job, 1);
		const int found = lt_ledger_hold_of_job(w->f->ledger, 7, &hold, NULL);
		assert_int_equal(found == LT_OK, cases[i].adopted);
		assert_int_equal(told_of(7), cases[i].adopted ? (int)LT_LEAVE : NONE);
		if (cases[i].adopted) {
			assert_int_equal(hold.uid, cases[i].uid);
			assert_string_equal(hold.quote.account, "vision");
			assert_int_equal(hold.live_tasks, cases[i].tasks);
			assert_int_equal(hold.quote.hold_per_task.money_micros, HELD);
			assert_int_equal(
			    (hold.quote.flags & LT_QUOTE_BUDGET_HOLD) != 0, cases[i].held_back);
		}
		told.count = 0; /* and once only */
		confirm(w, &job, 1);
		assert_int_equal(told_of(7), NONE);
		end_world(w);
	}
}

/* Shares of an array's quote that its records need, together. */
static void
test_shares(void **state)
{
	static const struct {
		const char *why;
		enum lt_job_state state;
		bool completing, ran, settled;
		uint32_t live; /* beside the three that wait */
	} cases[] = {
	    {"runs", LT_JOB_RUNNING, false, true, false, 1},
	    {"suspended", LT_JOB_SUSPENDED, false, true, false, 1},
	    {"ended and not yet charged", LT_JOB_FINISHED, false, true, false, 1},
	    {"ended and charged", LT_JOB_FINISHED, false, true, true, 0},
	    {"cancelled while it waited", LT_JOB_FINISHED, false, false, false, 0},
	    {"still ending", LT_JOB_FINISHED, true, true, true, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job jobs[2] = {make_job(7), make_job(8)};
		char text[LT_QUOTE_TEXT_SIZE];

		print_message("# %s\n", cases[i].why);
		struct lt_ledger_hold hold = hold_job(w, &jobs[0], HELD, 0);
		hold.quote.tasks = 4;
		hold.live_tasks = 1;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
		for (int k = 0; k < 2; k++) {
			jobs[k].array_job_id = 7;
			jobs[k].admin_comment = text;
		}
		jobs[0].array_pending = 3;
		jobs[1].state = cases[i].state;
		jobs[1].completing = cases[i].completing;
		jobs[1].start_utc_s = cases[i].ran ? NOW - 100 : 0;
		jobs[1].end_utc_s = NOW - 50;
		if (cases[i].settled) {
			struct lt_run run = make_run(8, NOW - 100, NOW - 50, 5);

			run.key.submit_utc_s = jobs[1].submit_utc_s;
			settle(w->f, &run, NOW, NOVEMBER);
		}
		confirm(w, jobs, 2);
		const struct lt_live *const live = lt_live_find(&w->d->jobs, 107);
		assert_non_null(live);
		assert_int_equal(live->live, 3 + cases[i].live);
		assert_int_equal(live->pending, 3);
		/* Only up: what goes down is proved first. */
		assert_int_equal(hold_now(w, 107).live_tasks, 3 + cases[i].live);
		end_world(w);
	}
}

/* A record that says "cancelled before any run" frees its hold at once; what may have another run
 * is proved by slurmdbd's rows. */
static void
test_never_ran(void **state)
{
	static const struct {
		const char *why;
		bool ran, completing, requeued, task, het, cron, others;
		uint32_t left;
	} cases[] = {
	    {"cancelled while it waited", .left = 0},
	    {"it ran", .ran = true, .left = 1},
	    {"it is still ending", .completing = true, .left = 1},
	    {"it ran before", .requeued = true, .left = 1},
	    {"a task of an array", .task = true, .left = 1},
	    {"of a het job", .het = true, .left = 1},
	    {"of scrontab", .cron = true, .left = 1},
	    {"the quote of another's job", .others = true, .left = 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		char text[LT_QUOTE_TEXT_SIZE];
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

		print_message("# %s\n", cases[i].why);
		assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
		job.admin_comment = text;
		job.state = LT_JOB_FINISHED;
		job.completing = cases[i].completing;
		job.requeued = cases[i].requeued;
		job.array_job_id = cases[i].task ? 7 : 0;
		job.het_job_id = cases[i].het ? 7 : 0;
		job.is_cron = cases[i].cron;
		job.uid = cases[i].others ? BOB : ADA;
		/* Slurm's start of one that never ran is its end. */
		job.end_utc_s = NOW - 2;
		job.start_utc_s = NOW - 2 - cases[i].ran;
		confirm(w, &job, 1);
		assert_int_equal(hold_now(w, 107).live_tasks, cases[i].left);
		assert_int_equal(
		    hold_now(w, 107).state, cases[i].left ? LT_HOLD_OPEN : LT_HOLD_VOID);
		confirm(w, &job, 1); /* seen for MinJobAge */
		assert_int_equal(hold_now(w, 107).live_tasks, cases[i].left);
		end_world(w);
	}
}

/* Requeued between two lists: the run that ended so is waited for, too. */
static void
test_requeued_run(void **state)
{
	static const struct {
		const char *why;
		enum lt_job_state was;
		uint32_t uid;
		int64_t submit_by_s;
		uint32_t awaited;
	} cases[] = {
	    {"it ran", LT_JOB_RUNNING, ADA, 40, 1},
	    {"it was suspended", LT_JOB_SUSPENDED, ADA, 40, 1},
	    {"it waited", LT_JOB_PENDING, ADA, 40, 0},
	    {"another's: ids begin again", LT_JOB_RUNNING, BOB, 40, 0},
	    {"no further submission", LT_JOB_RUNNING, ADA, 0, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);

		print_message("# %s\n", cases[i].why);
		job.uid = cases[i].uid;
		job.submit_utc_s = NOW - 100;
		job.state = cases[i].was;
		if (job.state != LT_JOB_PENDING) {
			job.start_utc_s = NOW - 90;
			job.end_utc_s = NOW + 510; /* its limit */
		}
		confirm(w, &job, 1);
		assert_int_equal(w->d->jobs.ended_count, 0);
		job = make_job(7);
		job.submit_utc_s = NOW - 100 + cases[i].submit_by_s;
		confirm(w, &job, 1);
		assert_int_equal(w->d->jobs.ended_count, cases[i].awaited);
		if (cases[i].awaited) {
			const struct lt_batch_run *const run = &w->d->jobs.ended[0].run;

			assert_int_equal(run->submit_utc_s, NOW - 100);
			assert_int_equal(run->start_utc_s, NOW - 90);
			assert_int_equal(run->end_utc_s, NOW - 60);
			assert_string_equal(run->state_text, "REQUEUED");
		}
		end_world(w);
	}
}

/* A quote that the ledger lost comes back from the job, for its owner. */
static void
test_quote_of_the_job(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	char text[LT_QUOTE_TEXT_SIZE];
	struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

	hold.quote.id = 500;
	assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
	job.admin_comment = text;
	job.uid = BOB;
	confirm(w, &job, 1);
	hold = hold_now(w, 500);
	assert_int_equal(hold.uid, BOB);
	assert_int_equal(hold.job_id, 7);
	assert_int_equal(hold.quote.hold_per_task.money_micros, HELD);
	assert_int_equal(told_of(7), NONE);
	/* Once it runs its window is the run's. */
	job.state = LT_JOB_RUNNING;
	job.start_utc_s = NOW - 30;
	confirm(w, &job, 1);
	hold = hold_now(w, 500);
	assert_int_equal(hold.start_utc_s, NOW - 30);
	assert_int_equal(hold.quote.end_utc_s, NOW + 570);
	end_world(w);
}

/* Of what slurmctld was told and the ledger lacks, the job knows. */
static void
test_told_first(void **state)
{
	static const struct {
		const char *why;
		uint32_t uid, rev, flags, told, want;
	} cases[] = {
	    {"a lock", ADA, 6, LT_QUOTE_USER_HOLD, LT_QUOTE_LOCK, LT_QUOTE_LOCK},
	    {"its user's hold under it", ADA, 6, 0, LT_QUOTE_LOCK | LT_QUOTE_USER_HOLD,
		LT_QUOTE_LOCK | LT_QUOTE_USER_HOLD},
	    {"its release", ADA, 6, LT_QUOTE_LOCK, 0, 0},
	    {"a requeue of ours", ADA, 6, 0, LT_QUOTE_UNDERHELD, LT_QUOTE_UNDERHELD},
	    {"never that it was admitted", ADA, 6, LT_QUOTE_BUDGET_HOLD, LT_QUOTE_FREEING,
		LT_QUOTE_BUDGET_HOLD},
	    {"our hold for a dear hour", ADA, 6, LT_QUOTE_RAISED, LT_QUOTE_BUDGET_HOLD,
		LT_QUOTE_BUDGET_HOLD},
	    {"none where nothing was raised", ADA, 6, 0, LT_QUOTE_BUDGET_HOLD, 0},
	    {"an older text", ADA, 5, 0, LT_QUOTE_LOCK, 0},
	    {"on another's job", BOB, 6, 0, LT_QUOTE_LOCK, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		char text[LT_QUOTE_TEXT_SIZE];
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, cases[i].flags);

		print_message("# %s\n", cases[i].why);
		hold.quote.rev = 5;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		hold.quote.rev = cases[i].rev;
		hold.quote.flags = cases[i].told;
		assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
		job.admin_comment = text;
		job.uid = cases[i].uid;
		confirm(w, &job, 1);
		assert_int_equal(hold_now(w, 107).quote.flags, cases[i].want);
		end_world(w);
	}
}

/* Whose text others wrote over is found by id, of his array too. */
static void
test_text_is_gone(void **state)
{
	static const struct {
		const char *why;
		uint32_t job_id, uid;
		bool adopted;
	} cases[] = {
	    {"an array's waiting part", 7, ADA, false},
	    {"a task that has split", 8, ADA, false},
	    {"a stranger's job, by an id that is given again", 7, BOB, true},
	    {"a stranger's task", 8, BOB, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

		print_message("# %s\n", cases[i].why);
		hold.quote.tasks = hold.live_tasks = 2;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		job.job_id = cases[i].job_id;
		job.array_job_id = 7;
		job.uid = cases[i].uid;
		confirm(w, &job, 1);
		assert_int_equal(told_of(cases[i].job_id), cases[i].adopted ? (int)LT_LEAVE : NONE);
		assert_int_equal(lt_live_find(&w->d->jobs, 107) != NULL, !cases[i].adopted);
		/* job_modify is told of that hold, and of no other. */
		assert_true(lt_hold_of_job(w->d->ledger, &job, &hold));
		assert_int_equal(hold.uid, cases[i].uid);
		assert_int_equal(hold.quote.id != 107, cases[i].adopted);
		end_world(w);
	}
}

/* What changed before a pass that failed is followed by the next. */
static void
test_pass_fails(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_batch_job job = make_job(7);
	char text[LT_QUOTE_TEXT_SIZE];
	const struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);

	assert_int_equal(lt_quote_pack(text, sizeof(text), &hold.quote), LT_OK);
	job.admin_comment = text;
	fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = &job};
	for (int i = 0; i < 2; i++) {
		must(w->f, lt_ledger_begin(w->f->ledger, &w->f->err));
		assert_int_not_equal(lt_reconcile(w->d, NOW, NULL), LT_OK);
		lt_ledger_rollback(w->f->ledger);
		/* Only a list that was followed shows that a job is gone. */
		assert_int_equal(w->d->jobs.followed, i > 0);
		confirm(w, &job, 1);
		assert_true(w->d->jobs.followed);
		job.cpus = 64; /* before the one that fails */
	}
	assert_true(hold_now(w, 107).quote.hold_per_task.money_micros > 2 * HELD - 5);
	end_world(w);
}

/* What slurmctld's list says of a job that asked, by its quote. */
static void
quote_job(struct lt_batch_job *job, char text[LT_QUOTE_TEXT_SIZE], const struct lt_quote *quote)
{
	assert_int_equal(lt_quote_pack(text, LT_QUOTE_TEXT_SIZE, quote), LT_OK);
	job->admin_comment = text;
}

static struct lt_quote
decided_quote(const struct lt_ledger_hold *hold, enum lt_objective objective)
{
	struct lt_quote quote = hold->quote;

	quote.id = 500;
	quote.objective = objective;
	quote.mode = LT_MODE_ENFORCE;
	strcpy(quote.home, "ondemand");
	strcpy(quote.partition, "ondemand");
	quote.home_start_utc_s = quote.plan_start_utc_s = NOW;
	return quote;
}

/* Each decision once, however often its job is seen, and when the ledger has it. */
static void
test_decided(void **state)
{
	static const struct {
		const char *why, *partition;
		int64_t delay_s;
		enum lt_objective objective;
		uint32_t flags;
		int decided; /* -1 = it did not ask */
	} cases[] = {
	    {"kept", "ondemand", 0, LT_OBJECTIVE_COST, 0, LT_DECIDED_KEPT},
	    {"later", "ondemand", 7200, LT_OBJECTIVE_CARBON, 0, LT_DECIDED_LATER},
	    {"elsewhere", "spot", 0, LT_OBJECTIVE_BALANCED, 0, LT_DECIDED_ELSEWHERE},
	    {"elsewhere and sooner", "spot", -60, LT_OBJECTIVE_FAST, 0, LT_DECIDED_ELSEWHERE},
	    {"both", "spot", 1, LT_OBJECTIVE_COST, 0, LT_DECIDED_BOTH},
	    {"it did not ask", "ondemand", 0, LT_OBJECTIVE_OFF, 0, -1},
	    {"over its budget", "ondemand", 0, LT_OBJECTIVE_OFF, LT_QUOTE_BUDGET_HOLD, -1},
	    {"nobody knows", "ondemand", 0, LT_OBJECTIVE_COST, LT_QUOTE_UNKNOWN, LT_DECIDED_KEPT},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		const struct lt_counters *const tally = &w->d->tally;
		struct lt_batch_job job = make_job(7);
		const struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		struct lt_quote quote = decided_quote(&hold, cases[i].objective);
		char text[LT_QUOTE_TEXT_SIZE];
		uint64_t all = 0;

		print_message("# %s\n", cases[i].why);
		strcpy(quote.partition, cases[i].partition);
		quote.plan_start_utc_s += cases[i].delay_s;
		quote.flags = cases[i].flags;
		quote_job(&job, text, &quote);
		fake_jobs = (struct lt_batch_jobs){.count = 1, .jobs = &job};
		must(w->f, lt_ledger_begin(w->f->ledger, &w->f->err));
		assert_int_not_equal(lt_reconcile(w->d, NOW, NULL), LT_OK);
		lt_ledger_rollback(w->f->ledger);
		for (int k = 0; k < 3; k++)
			confirm(w, &job, 1);
		for (int m = 0; m < LT_MODE_COUNT; m++)
			for (int o = 0; o < LT_OBJECTIVE_COUNT; o++)
				for (int k = 0; k < LT_DECIDED_COUNT; k++)
					all += tally->decided[m][o][k];
		assert_int_equal(all, cases[i].decided >= 0);
		if (cases[i].decided >= 0)
			assert_int_equal(
			    tally->decided[LT_MODE_ENFORCE][cases[i].objective][cases[i].decided],
			    1);
		assert_int_equal(
		    tally->delay_s[LT_MODE_ENFORCE], cases[i].delay_s > 0 ? cases[i].delay_s : 0);
		assert_int_equal(tally->refused_count, cases[i].flags == LT_QUOTE_BUDGET_HOLD);
		if (tally->refused_count > 0)
			assert_int_equal(tally->refused[0].jobs[LT_REFUSAL_HELD], 1);
		assert_int_equal(
		    tally->unknown[LT_REFUSAL_HELD], cases[i].flags == LT_QUOTE_UNKNOWN);
		end_world(w);
	}
}

/* A plan is broken by a start more than an hour after it, when the start is seen, once. */
static void
test_broken(void **state)
{
	enum { HOUR_S = 3600 };
	static const struct {
		const char *why;
		int64_t late_s, eligible_s; /* after the plan */
		bool requeued, off;
		uint32_t tasks;
		enum lt_mode mode;
		uint64_t broken;
	} cases[] = {
	    {"an hour is none", HOUR_S, 0, false, false, 1, LT_MODE_ENFORCE, 0},
	    {"and a second", HOUR_S + 1, 0, false, false, 1, LT_MODE_ENFORCE, 1},
	    {"its user put it off", 2 * HOUR_S, HOUR_S, false, false, 1, LT_MODE_ENFORCE, 0},
	    {"a run after a requeue", 2 * HOUR_S, 0, true, false, 1, LT_MODE_ENFORCE, 0},
	    {"an array", 2 * HOUR_S, 0, false, false, 2, LT_MODE_ENFORCE, 0},
	    {"it did not ask", 2 * HOUR_S, 0, false, true, 1, LT_MODE_ENFORCE, 0},
	    {"nobody was told", 2 * HOUR_S, 0, false, false, 1, LT_MODE_OBSERVE, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		const struct lt_ledger_hold hold = hold_job(w, &job, HELD, 0);
		struct lt_quote quote =
		    decided_quote(&hold, cases[i].off ? LT_OBJECTIVE_OFF : LT_OBJECTIVE_COST);
		char text[LT_QUOTE_TEXT_SIZE];

		print_message("# %s\n", cases[i].why);
		quote.mode = cases[i].mode;
		quote.tasks = cases[i].tasks;
		quote.plan_start_utc_s = NOW - 10 - cases[i].late_s;
		quote_job(&job, text, &quote);
		job.requeued = cases[i].requeued;
		job.eligible_utc_s = quote.plan_start_utc_s + cases[i].eligible_s;
		confirm(w, &job, 1);
		assert_int_equal(w->d->tally.broken, 0);
		job.state = LT_JOB_RUNNING;
		job.start_utc_s = NOW - 10;
		for (int k = 0; k < 2; k++)
			confirm(w, &job, 1);
		assert_int_equal(w->d->tally.broken, cases[i].broken);
		end_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_adopts, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_shares, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_never_ran, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_requeued_run, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_quote_of_the_job, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_told_first, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_text_is_gone, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_pass_fails, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_decided, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("confirm", tests, NULL, NULL);
}
