/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From when on users are erased, and that a rebuild does not bring them back.
 */
#include "judge_fixture.h"

#include <sqlite3.h>

#include "ledger_db.h"
#include "lengths.h"
#include "rebuild.h"
#include "retention.h"
#include "settling.h"

/* Days by hand: of `date -ud DAY +%s`. */
static void
months(void **state)
{
	static const struct {
		const char *why;
		uint32_t months;
		int64_t now_utc_s, cut_utc_s;
	} cases[] = {
	    {"for ever", 0, 1793491200, INT64_MIN},
	    {"2026-11-01 00:00 to 10-01", 1, 1793491200, 1790812800},
	    {"13 months, 2026-11-25 12:34:56 to 2025-10-25", 13, 1795610096, 1761395696},
	    {"no such day: 2026-03-31 06:00 to 02-28", 1, 1774936800, 1772258400},
	    {"a leap year: 2028-03-31 to 02-29", 1, 1838073600, 1835395200},
	    {"over the year: 2026-01-15 to 2025-12-15", 1, 1768435200, 1765756800},
	    {"a year: 2026-12-31 to 2025-12-31", 12, 1798675200, 1767139200},
	    {"100 years: 2026-11-01 to 1926-11-01", 1200, 1793491200, -1362268800},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct lt_policy policy = {
		    .retention_months = cases[i].months, .history_days = 4000};
		const int64_t cut = lt_retention_utc_s(&policy, cases[i].now_utc_s);

		if (cut != cases[i].cut_utc_s)
			fail_msg("%s: %lld", cases[i].why, (long long)cut);
		/* Their lengths, by name of job, go with them. */
		const int64_t days = cases[i].now_utc_s - 4000 * (int64_t)LT_DAY_S;
		assert_int_equal(
		    lt_lengths_since(&policy, cases[i].now_utc_s), days > cut ? days : cut);
	}
}

/* A cap of a year is counted by user: those of the open year stay. */
static void
caps(void **state)
{
	struct lt_policy policy = {.retention_months = 1};
	struct lt_budget budgets[2] = {
	    {.periods = {{.start_utc_s = NOVEMBER, .end_utc_s = DECEMBER}}},
	    {.periods = {{.start_utc_s = NOVEMBER + 5, .end_utc_s = JANUARY}}}};
	struct lt_budget_state budget = {
	    .has_snapshot = true, .snapshot = {.budgets = budgets, .budget_count = 2}};
	const int64_t now = JANUARY - 1;

	(void)state;
	assert_int_equal(lt_retention_cut(&policy, &budget, now), lt_retention_utc_s(&policy, now));
	budgets[1].has_per_user = true;
	assert_int_equal(lt_retention_cut(&policy, &budget, now), NOVEMBER + 5);
	policy.retention_months = 0;
	assert_int_equal(lt_retention_cut(&policy, &budget, now), INT64_MIN);
	policy.retention_months = 1;
	budget.has_snapshot = false;
	assert_int_equal(lt_retention_cut(&policy, &budget, now), INT64_MIN);
}

enum { RUNS = 20, LATE = DECEMBER + 20 * LT_DAY_S };

static int64_t
number(struct world *w, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	assert_int_equal(
	    sqlite3_prepare_v2(w->f->ledger->db[LT_DB_LEDGER], sql, -1, &statement, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	const int64_t found = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return found;
}

/* Those of slurmdbd: one a day from November the 11th on, over midnight. */
static void
end_runs(struct world *w)
{
	static const struct lt_rate_step price = {.start_utc_s = NOVEMBER - HOUR,
	    .end_utc_s = INT64_MAX,
	    .value = 3600000,
	    .quality = LT_QUALITY_CONSTANT};

	must(w->f, lt_ledger_put_rates(w->f->ledger, "ondemand", LT_RATE_PRICE,
		       &(struct lt_rates){1, &price}, &w->f->err));
	must(w->f, lt_ledger_put(w->f->ledger, "since", "1793491200", &w->f->err));
	(void)strcpy(w->d->site.tables.conf.accounting_storage, "accounting_storage/slurmdbd");
	fake_rows.runs = calloc(RUNS, sizeof(*fake_rows.runs));
	fake_rows.count = RUNS;
	for (uint32_t i = 0; i < RUNS; i++) {
		const int64_t start = NOVEMBER + (11 + i) * LT_DAY_S - HOUR;

		fake_rows.runs[i] = (struct lt_batch_run){.job_id = i + 1,
		    .uid = i % 2 == 0 ? ADA : BOB,
		    .account = "vision",
		    .partition = "ondemand",
		    .state_text = "COMPLETED",
		    .finished = true,
		    .submit_utc_s = start,
		    .start_utc_s = start,
		    .end_utc_s = start + 2 * HOUR,
		    .nodes = 1,
		    .cpus = 64,
		    .has_gpus = true,
		    .energy_joules = -1};
		(void)strcpy(fake_rows.runs[i].user, i % 2 ? "bob" : "ada");
	}
}

static void
rebuild(struct world *w)
{
	must(w->f, lt_rebuild_start(w->d, &w->f->err));
	while (w->d->rebuild.stage == LT_REBUILD_RUNS)
		lt_rebuild_go_on(w->d, LATE);
	if (w->d->rebuild.stage != LT_REBUILD_DONE)
		fail_msg("%s", w->d->rebuild.error);
}

/* By December the 21st those that ended before November the 21st are: the first nine, the last of
 * which ended on the 20th at one. */
static void
check(struct world *w, int64_t entries)
{
	assert_int_equal(number(w, "SELECT count(*) FROM runs"), RUNS);
	assert_int_equal(number(w, "SELECT sum(job_id) FROM runs WHERE user = ''"
				   " AND uid = 4294967295"),
	    45);
	assert_int_equal(number(w, "SELECT count(*) FROM runs WHERE user != ''"), 11);
	assert_int_equal(number(w, "SELECT count(*) FROM entries JOIN runs"
				   " USING (job_id, submit_utc_s) WHERE entries.uid != runs.uid"),
	    0);
	assert_int_equal(number(w, "SELECT count(*) FROM entries"), entries);
	/* Two hours each at 3.6 an hour. */
	assert_int_equal(
	    number(w, "SELECT sum(money_micros) FROM entries"), (int64_t)RUNS * 7200000);
	assert_int_equal(number(w, "SELECT sum(money_micros) FROM days"), (int64_t)RUNS * 7200000);
	assert_int_equal(number(w, "SELECT count(*) FROM days WHERE uid != 4294967295 AND"
				   " day < 1793491200 / 86400 + 20 AND money_micros = 0"),
	    0);
}

static void
rebuild_brings_nobody_back(void **state)
{
	struct world *const w = make_world(*state);
	bool done;

	end_runs(w);
	must(w->f, settle_between(w->d, NOVEMBER, NOVEMBER + LT_DAY_S, LATE, &w->f->err));
	const int64_t entries = number(w, "SELECT count(*) FROM entries");
	assert_int_equal(number(w, "SELECT count(*) FROM runs WHERE user != ''"), RUNS);
	w->policy.retention_months = 1;
	must(w->f, lt_retention_erase(
		       w->d->site.policy, w->d->ledger, &w->d->budget, LATE, &done, &w->f->err));
	assert_true(done);
	check(w, entries);
	rebuild(w);
	check(w, entries);
	/* Neither where the policy keeps users again, */
	w->policy.retention_months = 0;
	rebuild(w);
	check(w, entries);
	/* nor where the ledger had lost the runs. */
	w->policy.retention_months = 1;
	assert_int_equal(
	    sqlite3_exec(w->f->ledger->db[LT_DB_LEDGER],
		"DELETE FROM runs; DELETE FROM entries; DELETE FROM days;", NULL, NULL, NULL),
	    SQLITE_OK);
	rebuild(w);
	check(w, entries);
	free(fake_rows.runs);
	lt_batch_jobs_free(&w->d->jobs.list);
	free(w->d->site.rates.recorded);
	free_world(w);
}

/* A row that comes between the day's two prunings: its user is erased with the next one, and no
 * pair of corrections is made of it. */
static void
not_erased_yet(void **state)
{
	struct world *const w = make_world(*state);

	end_runs(w);
	must(w->f, settle_between(w->d, NOVEMBER, NOVEMBER + LT_DAY_S, LATE, &w->f->err));
	const int64_t entries = number(w, "SELECT count(*) FROM entries");
	w->policy.retention_months = 1;
	rebuild(w);
	assert_int_equal(number(w, "SELECT count(*) FROM runs WHERE user != ''"), RUNS);
	assert_int_equal(number(w, "SELECT count(*) FROM entries"), entries);
	free(fake_rows.runs);
	lt_batch_jobs_free(&w->d->jobs.list);
	free(w->d->site.rates.recorded);
	free_world(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(months),
	    cmocka_unit_test(caps),
	    EACH(rebuild_brings_nobody_back),
	    EACH(not_erased_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
