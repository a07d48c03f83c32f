/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a site's size costs, in counts, never in seconds: the steps of SQLite's machine,
 * transactions, and questions to slurmctld and slurmdbd. Ten times as many take ten times the
 * steps, and no question or transaction each.
 */
#include "judge_fixture.h"

#include <sqlite3.h>

#include "ledger_db.h"
#include "poll_jobs.h"
#include "rebuild.h"
#include "release.h"
#include "expire.h"
#include "settling.h"

enum { FEW = 100, MANY = 1000, PASSES = 10, ROWS_A_TRANSACTION = 500 };

struct counts {
	double steps;
	int transactions;
	uint32_t questions;
};

static int transactions;

static int
count_commit(void *context)
{
	(void)context;
	transactions++;
	return 0;
}

/* Since it was asked last. */
static struct counts
count(struct world *w)
{
	struct counts c = {.transactions = transactions, .questions = questions->all};

	for (int i = 0; i < LT_DB_COUNT; i++)
		for (sqlite3_stmt *s = NULL;
		     (s = sqlite3_next_stmt(w->f->ledger->db[i], s)) != NULL;)
			c.steps += sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 1);
	transactions = 0;
	*questions = (struct questions){0};
	return c;
}

/* They wait, each with a hold, and lowtided has seen them. */
static void
list_jobs(struct world *w, uint32_t n)
{
	static char texts[MANY][LT_QUOTE_TEXT_SIZE];

	fake_jobs.jobs = calloc(n, sizeof(*fake_jobs.jobs));
	fake_jobs.count = n;
	assert_non_null(fake_jobs.jobs);
	w->budgets[0].limit.money_micros = (int64_t)BUDGET * BUDGET;
	compile(w, NOW);
	must(w->f, lt_ledger_begin(w->f->ledger, &w->f->err));
	for (uint32_t i = 0; i < n; i++) {
		fake_jobs.jobs[i] = make_job(i + 1);
		const struct lt_ledger_hold hold = hold_job(w, &fake_jobs.jobs[i], BUDGET, 0);

		assert_int_equal(lt_quote_pack(texts[i], sizeof(texts[i]), &hold.quote), LT_OK);
		fake_jobs.jobs[i].admin_comment = texts[i];
	}
	must(w->f, lt_ledger_commit(w->f->ledger, &w->f->err));
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
	compile(w, NOW);
	(void)snprintf(w->d->site.tables.conf.accounting_storage,
	    sizeof(w->d->site.tables.conf.accounting_storage), "%s", "accounting_storage/slurmdbd");
	must(w->f, settle_what_is_due(w->d, NOW, &w->f->err));
	must(w->f, expire_holds(w->d, NOW, &w->f->err));
}

/* Passes in which nothing happens, between two lists. */
static void
wait_on(struct world *w)
{
	for (int i = 0; i < PASSES; i++) {
		must(w->f, lt_poll(w->d, NOW, &w->f->err));
		must(w->f, settle_what_is_due(w->d, NOW, &w->f->err));
		must(w->f, expire_holds(w->d, NOW, &w->f->err));
		must(w->f, lt_release(w->d, NOW, &w->f->err));
	}
}

static void
cancel(struct world *w)
{
	for (uint32_t i = 0; i < fake_jobs.count; i++) {
		fake_jobs.jobs[i].state = LT_JOB_FINISHED;
		fake_jobs.jobs[i].end_utc_s = NOW;
	}
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
	for (uint32_t i = 0; i < fake_jobs.count; i++)
		assert_int_equal(hold_now(w, i + 101).state, LT_HOLD_VOID);
}

static void
end_runs(struct world *w, uint32_t n)
{
	static const struct lt_rate_step price = {.start_utc_s = NOVEMBER - HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 3600000,
	    .quality = LT_QUALITY_CONSTANT};

	must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
		       &(struct lt_rates){1, &price}, &w->f->err));
	(void)snprintf(w->d->site.tables.conf.accounting_storage,
	    sizeof(w->d->site.tables.conf.accounting_storage), "%s", "accounting_storage/slurmdbd");
	fake_rows.runs = calloc(n, sizeof(*fake_rows.runs));
	fake_rows.count = n;
	assert_non_null(fake_rows.runs);
	for (uint32_t i = 0; i < n; i++)
		fake_rows.runs[i] = (struct lt_batch_run){.job_id = i + 1,
		    .uid = ADA,
		    .user = "ada",
		    .account = "vision",
		    .partition = "ondemand",
		    .state_text = "COMPLETED",
		    .finished = true,
		    .submit_utc_s = NOVEMBER + HOUR,
		    .start_utc_s = NOVEMBER + HOUR,
		    .end_utc_s = NOVEMBER + 2 * HOUR,
		    .nodes = 1,
		    .cpus = 64,
		    .has_gpus = true,
		    .energy_joules = -1};
}

static void
catch_up(struct world *w)
{
	struct lt_run run;

	must(w->f,
	    settle_between(w->d, NOVEMBER, NOVEMBER + LT_DAY_S, NOVEMBER + LT_DAY_S, &w->f->err));
	for (uint32_t i = 0; i < fake_rows.count; i++)
		must(w->f, lt_ledger_run(w->f->ledger, (struct lt_run_key){i + 1, NOVEMBER + HOUR},
			       &run, &w->f->err));
}

static void
end_and_settle(struct world *w, uint32_t n)
{
	end_runs(w, n);
	catch_up(w);
	must(w->f, lt_ledger_put(w->f->ledger, "since", "1793491200", &w->f->err)); /* NOVEMBER */
}

static void
rebuild(struct world *w)
{
	must(w->f, lt_rebuild_start(w->d, &w->f->err));
	while (w->d->rebuild.stage == LT_REBUILD_RUNS)
		lt_rebuild_go_on(w->d, NOVEMBER + LT_DAY_S);
	if (w->d->rebuild.stage != LT_REBUILD_DONE)
		fail_msg("%s", w->d->rebuild.error);
	assert_int_equal(w->d->rebuild.runs, fake_rows.count);
}

static struct counts
measure(struct fixture *f, void (*prepare)(struct world *, uint32_t), void (*run)(struct world *),
    uint32_t n)
{
	struct world *const w = make_world(f);

	sqlite3_commit_hook(f->ledger->db[LT_DB_LEDGER], count_commit, NULL);
	prepare(w, n);
	(void)count(w);
	run(w);
	const struct counts c = count(w);
	free(fake_jobs.jobs);
	free(fake_rows.runs);
	lt_batch_jobs_free(&w->d->jobs.list);
	free(w->d->site.rates.recorded);
	free_world(w);
	return c;
}

static void
grows_no_faster_than_its_work(void **state)
{
	static const struct {
		const char *what;
		void (*prepare)(struct world *w, uint32_t n);
		void (*run)(struct world *w);
		bool is_flat; /* it does not depend on how many they are */
	} scenarios[] = {
	    {"all wait", list_jobs, wait_on, true},
	    {"all cancelled", list_jobs, cancel, false},
	    {"catching up", end_runs, catch_up, false},
	    {"rebuild", end_and_settle, rebuild, false},
	};

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++) {
		const struct counts few =
		    measure(*state, scenarios[i].prepare, scenarios[i].run, FEW);
		const struct counts many =
		    measure(*state, scenarios[i].prepare, scenarios[i].run, MANY);
		const double times = scenarios[i].is_flat ? 1 : (double)MANY / FEW;

		print_message("# %s: %.0f steps, %d transactions, %u questions"
			      "; of %d: %.0f, %d, %u\n",
		    scenarios[i].what, few.steps, few.transactions, few.questions, MANY, many.steps,
		    many.transactions, many.questions);
		assert_true(many.steps <= few.steps * times * 1.1);
		assert_true(many.transactions <= few.transactions + MANY / ROWS_A_TRANSACTION);
		assert_int_equal(many.questions, few.questions);
	}
}

/* A list in which nothing is new writes no row. */
static void
writes_nothing_twice(void **state)
{
	struct fixture *const f = *state;
	struct world *const w = make_world(f);

	list_jobs(w, FEW);
	const int before = sqlite3_total_changes(f->ledger->db[LT_DB_LEDGER]);
	must(w->f, lt_reconcile(w->d, NOW, &w->f->err));
	assert_int_equal(sqlite3_total_changes(f->ledger->db[LT_DB_LEDGER]), before);
	free(fake_jobs.jobs);
	lt_batch_jobs_free(&w->d->jobs.list);
	free(w->d->site.rates.recorded);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(grows_no_faster_than_its_work, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(writes_nothing_twice, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
