/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The snapshot says who may change others' jobs and where tasks of arrays wait; what slurmctld said
 * of both outlives a restart.
 */
#include "judge_fixture.h"

#include "associations.h"

enum { OPERATOR = 900, HEAD = 950, LEAD = 2000 };

static struct lt_batch_account tree[] = {
    {"root", ""}, {"vision", "root"}, {"eyes", "vision"}, {"lids", "eyes"}, {"speech", "root"}};
/* As Slurm names them: a coordinator of vision has all below it, too. */
static struct lt_batch_manager said[] = {{LEAD, "speech"}, {HEAD, "lids"}, {HEAD, "vision"},
    {OPERATOR, ""}, {HEAD, "eyes"}, {HEAD, "eyes"}, {LEAD, "lids"}, {LEAD, "gone"}};

static void
take_tree(struct world *w)
{
	w->d->site.tables.accounts = tree;
	w->d->site.tables.account_count = 5;
	w->d->site.tables.managers = said;
	w->d->site.tables.manager_count = sizeof(said) / sizeof(said[0]);
}

static void
check_rights(const struct lt_budget_snapshot *s)
{
	static const struct {
		const char *account;
		uint32_t uid;
		bool manages;
	} rights[] = {{"vision", OPERATOR, true}, {"vision", HEAD, true}, {"eyes", HEAD, true},
	    {"lids", HEAD, true}, {"speech", HEAD, false}, {"root", HEAD, false},
	    {"speech", LEAD, true}, {"lids", LEAD, true}, {"eyes", LEAD, false},
	    {"vision", LEAD, false}, {"vision", ADA, false}, {"gone", LEAD, false}};

	for (size_t i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		print_message("# %u, %s\n", rights[i].uid, rights[i].account);
		assert_int_equal(
		    lt_sheet_manages(s, rights[i].uid, lt_sheet_account(s, rights[i].account)),
		    rights[i].manages);
	}
}

static void
test_managers(void **state)
{
	struct world *const w = make_world(*state);

	take_tree(w);
	compile(w, NOW);
	check_rights(&w->d->budget.snapshot);
	/* The operator, vision's head, speech and lids: no more rows. */
	assert_int_equal(w->d->budget.snapshot.manager_count, 4);
	free_world(w);
}

/* slurmdbd is away when lowtided starts again. */
static void
test_restart(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_daemon *const fresh = calloc(1, sizeof(*fresh));
	struct lt_batch_tie tie = {"speech", "cheap"};

	assert_non_null(fresh);
	take_tree(w);
	w->d->site.tables.ties = &tie;
	w->d->site.tables.tie_count = 1;
	snprintf(w->d->site.tables.pairs[0].default_qos, LT_ACCOUNT_SIZE, "long");
	w->d->args.state = w->f->dir;
	w->d->site.tables.private_dbd = LT_PRIVATE_USAGE;
	must(w->f, lt_associations_save(&w->d->site.tables, w->d->args.state, &w->f->err));
	fresh->args = w->d->args;
	must(w->f, lt_associations_load(&fresh->site.tables, fresh->args.state, &w->f->err));
	assert_int_equal(fresh->site.tables.account_count, 5);
	assert_int_equal(fresh->site.tables.pair_count, 3);
	assert_string_equal(fresh->site.tables.pairs[0].default_qos, "long");
	assert_string_equal(fresh->site.tables.pairs[1].default_qos, "");
	assert_int_equal(fresh->site.tables.tie_count, 1);
	assert_string_equal(fresh->site.tables.ties[0].account, "speech");
	assert_string_equal(fresh->site.tables.ties[0].partition, "cheap");
	assert_int_equal(fresh->site.tables.manager_count, w->d->site.tables.manager_count);
	assert_int_equal(fresh->site.tables.private_data, LT_PRIVATE_USAGE);
	w->d->site.tables.accounts = fresh->site.tables.accounts;
	w->d->site.tables.managers = fresh->site.tables.managers;
	compile(w, NOW);
	check_rights(&w->d->budget.snapshot);
	char path[LT_PATH_SIZE];
	snprintf(path, sizeof(path), "%s/associations", w->f->dir);
	unlink(path);
	free(fresh->site.tables.accounts);
	free(fresh->site.tables.pairs);
	free(fresh->site.tables.ties);
	free(fresh->site.tables.managers);
	free(fresh);
	free_world(w);
}

/* Only what waits as a whole gets other ids later. */
static void
test_arrays(void **state)
{
	static const struct {
		const char *why, *account;
		enum lt_job_state state;
		uint32_t array, task, uid;
		bool ada, bob;
	} cases[] = {
	    {"an array that waits", "vision", LT_JOB_PENDING, 7, UINT32_MAX, ADA, true, false},
	    {"another one's", "vision", LT_JOB_PENDING, 7, UINT32_MAX, BOB, false, true},
	    {"a task with its own id", "vision", LT_JOB_PENDING, 7, 3, ADA, false, false},
	    {"one that runs", "vision", LT_JOB_RUNNING, 7, UINT32_MAX, ADA, false, false},
	    {"no array", "vision", LT_JOB_PENDING, 0, UINT32_MAX, ADA, false, false},
	    {"of another account", "speech", LT_JOB_PENDING, 7, UINT32_MAX, ADA, false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);

		print_message("# %s\n", cases[i].why);
		job.uid = cases[i].uid;
		job.state = cases[i].state;
		job.array_job_id = cases[i].array;
		job.array_task = cases[i].task;
		job.account = cases[i].account;
		w->d->jobs.list =
		    (struct lt_batch_jobs){.count = 1, .jobs = &job, .begun_utc_s = NOW - 2};
		w->d->jobs.followed = true;
		compile(w, NOW);
		const struct lt_budget_snapshot *const s = &w->d->budget.snapshot;
		const uint32_t vision = (uint32_t)lt_sheet_account(s, "vision");
		assert_int_equal(s->jobs_utc_s, NOW - 2);
		for (uint32_t k = 0; k < s->pair_count; k++)
			if (s->pairs[k].account == vision)
				assert_int_equal(s->pairs[k].has_array,
				    s->pairs[k].uid == ADA ? cases[i].ada : cases[i].bob);
		free_world(w);
	}
}

/* One made by Ada is no usage of hers, nor more room below her cap. */
static void
test_adjusted(void **state)
{
	struct world *const w = make_world(*state);
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR, 100);
	struct lt_entry credit = {.at_utc_s = NOVEMBER + HOUR,
	    .made_utc_s = NOVEMBER + HOUR,
	    .uid = ADA,
	    .account = "vision",
	    .money_micros = -70,
	    .who = "ada",
	    .reason = "mine"};

	w->budgets[0].per_user = (struct lt_amount){.has_money = true, .money_micros = 1000};
	run.uid = ADA;
	settle(w->f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	must(w->f, lt_ledger_adjust(w->f->ledger, &credit, &w->f->err));
	compile(w, NOW);
	const struct lt_budget_snapshot *const s = &w->d->budget.snapshot;
	assert_int_equal(s->budgets[0].periods[0].settled.money_micros, 30);
	assert_int_equal(s->usage_count, 1);
	assert_int_equal(s->usages[0].uid, ADA);
	assert_int_equal(s->usages[0].settled[0].money_micros, 100);
	free_world(w);
}

/* Of what is held, what no job was seen with stands by user. */
static void
test_unseen(void **state)
{
	static const uint32_t uids[] = {BOB, ADA, ADA};
	struct world *const w = make_world(*state);

	for (uint32_t i = 0; i < 3; i++) {
		struct lt_batch_job job = make_job(7 + i);

		job.uid = uids[i];
		struct lt_ledger_hold hold = hold_job(w, &job, 100 << i, 0);
		hold.job_id = i == 2 ? job.job_id : 0;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
	}
	compile(w, NOW);
	const struct lt_budget_snapshot *const s = &w->d->budget.snapshot;
	assert_int_equal(s->budgets[0].periods[0].held.money_micros, 700);
	assert_int_equal(s->usage_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const bool is_ada = s->usages[i].uid == ADA;

		assert_true(is_ada || s->usages[i].uid == BOB);
		assert_int_equal(s->usages[i].unseen[0].money_micros, is_ada ? 200 : 100);
		assert_int_equal(s->usages[i].unseen[1].money_micros, 0);
	}
	free_world(w);
}

/* A pod of its job that ended is in the sums, and in the hold no more; one of the time before it
 * was suspended and admitted anew was not held by this. */
static void
test_drawn(void **state)
{
	static const struct {
		const char *why;
		uint32_t flags;
		int64_t start_after_s, charged, held;
	} cases[] = {
	    {"drawn", LT_QUOTE_DRAWN, 60, 300, 700},
	    {"by more than it is", LT_QUOTE_DRAWN, 60, 1200, 0},
	    {"of the run before", LT_QUOTE_DRAWN, -60, 300, 1000},
	    {"one run a hold", 0, 60, 300, 1000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		const int64_t start_utc_s = NOW - HOUR + cases[i].start_after_s;
		struct lt_run run = make_run(8, start_utc_s, start_utc_s + 30, cases[i].charged);

		print_message("# %s\n", cases[i].why);
		struct lt_ledger_hold hold = hold_job(w, &job, 1000, cases[i].flags);
		hold.start_utc_s = hold.submit_utc_s = NOW - HOUR;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		run.array_job_id = job.job_id;
		run.quote_id = hold.quote.id;
		run.goes_on = true;
		settle(w->f, &run, NOW, NOVEMBER);
		compile(w, NOW);
		const struct lt_period *const p = &w->d->budget.snapshot.budgets[0].periods[0];
		assert_int_equal(p->settled.money_micros, cases[i].charged);
		assert_int_equal(p->held.money_micros, cases[i].held);
		free_world(w);
	}
}

/* An account that was below vision until half past ten, and is below speech since: what ran before,
 * and what is held for it. */
static void
test_moved(void **state)
{
	static const struct {
		const char *why;
		int64_t start_utc_s; /* of a run; 0: it waits */
		int64_t vision, speech;
	} holds[] = {
	    {"it waits", 0, 0, 1000},
	    {"it began after the move", NOVEMBER + 11 * HOUR, 0, 1000},
	    {"it began before", NOVEMBER + 10 * HOUR, 1000, 1000},
	};

	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++) {
		struct world *const w = make_world(*state);
		struct lt_batch_job job = make_job(7);
		struct lt_account_move move = {"free", "vision", NOVEMBER + 10 * HOUR + 1800};

		print_message("# %s\n", holds[i].why);
		(void)strcpy(w->accounts[3].parent, "speech");
		w->d->site.tables.moves = (struct lt_account_moves){&move, 1};
		must(w->f,
		    lt_ledger_put_account(w->f->ledger, "free", "vision", NOVEMBER, &w->f->err));
		must(w->f, lt_ledger_put_account(
			       w->f->ledger, "free", "speech", move.until_utc_s, &w->f->err));
		/* At eight, nine, ..., thirteen: 1, 2, 4 ... 32; and from a minute before the move,
		 * and after it, as much again. */
		for (uint32_t k = 0; k < 8; k++) {
			const int64_t at = k < 6 ? NOVEMBER + (8 + k) * HOUR
						 : move.until_utc_s + (k == 6 ? -60 : 60);
			struct lt_run run = make_run(k + 1, at, at + HOUR, 1 << k);

			(void)strcpy(run.account, "free");
			settle(w->f, &run, NOW, NOVEMBER);
		}
		job.account = "free";
		struct lt_ledger_hold hold = hold_job(w, &job, 1000, 0);
		hold.start_utc_s = holds[i].start_utc_s;
		must(w->f, lt_ledger_put_hold(w->f->ledger, &hold, &w->f->err));
		compile(w, NOW);
		const struct lt_budget *const b = w->d->budget.snapshot.budgets;
		assert_int_equal(b[0].periods[0].settled.money_micros, 1 + 2 + 4 + 64);
		assert_int_equal(b[1].periods[0].settled.money_micros, 8 + 16 + 32 + 128);
		assert_int_equal(b[0].periods[0].held.money_micros, holds[i].vision);
		assert_int_equal(b[1].periods[0].held.money_micros, holds[i].speech);
		/* Nothing that was moved back since makes it another past. */
		must(w->f, lt_ledger_put_account(w->f->ledger, "free", "root", NOW, &w->f->err));
		w->d->site.tables.moves = (struct lt_account_moves){0};
		must(w->f,
		    lt_ledger_account_moves(w->f->ledger, &w->d->site.tables.moves, &w->f->err));
		assert_int_equal(w->d->site.tables.moves.count, 2);
		(void)strcpy(w->accounts[3].parent, "root");
		compile(w, NOW);
		const struct lt_budget *const now = w->d->budget.snapshot.budgets;
		assert_int_equal(now[0].periods[0].settled.money_micros, 71);
		assert_int_equal(now[1].periods[0].settled.money_micros, 184);
		free(w->d->site.tables.moves.list);
		free_world(w);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_managers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_restart, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_adjusted, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_unseen, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_drawn, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_moved, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("compile_budget", tests, NULL, NULL);
}
