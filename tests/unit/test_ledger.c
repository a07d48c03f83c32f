/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger on real files: runs settled once and corrected, closed periods, shares of holds, exact
 * splitting, totals by kind and by any edge.
 */
#include "ledger_fixture.h"

#include <sqlite3.h>

/* ---- settle ---- */

static void
settling_again(void **state)
{
	static const struct {
		const char *why;
		int64_t first, second, third; /* micros */
		int64_t open_since_utc_s;
		bool changed_second, changed_third;
		int64_t charged, corrected_november, corrected_december;
	} cases[] = {
	    {"the same figures change nothing", 100, 100, 100, NOVEMBER, false, false, 100, 0, 0},
	    {"more is a correction of the difference", 100, 130, 130, NOVEMBER, true, false, 100,
		30, 0},
	    {"less is a negative one", 100, 60, 60, NOVEMBER, true, false, 100, -40, 0},
	    {"corrected twice, against what is known", 100, 130, 90, NOVEMBER, true, true, 100, -10,
		0},
	    {"and back again leaves nothing", 100, 130, 100, NOVEMBER, true, true, 100, 0, 0},
	    {"a closed period is left alone", 100, 130, 130, DECEMBER, true, false, 100, 0, 30},
	    {"closed, corrected twice", 100, 130, 90, DECEMBER, true, true, 100, 0, -10},
	    {"nothing charged, then something", 0, 50, 50, NOVEMBER, true, false, 0, 50, 0},
	};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int64_t now = DECEMBER + 5 * LT_DAY_S + 1234;

		print_message("%s\n", cases[i].why);
		empty(f);
		struct lt_run run =
		    make_run(i + 1, NOVEMBER + 3 * HOUR, NOVEMBER + 4 * HOUR, cases[i].first);
		assert_true(settle(f, &run, now, NOVEMBER));
		run = make_run(i + 1, NOVEMBER + 3 * HOUR, NOVEMBER + 4 * HOUR, cases[i].second);
		assert_int_equal(
		    settle(f, &run, now, cases[i].open_since_utc_s), cases[i].changed_second);
		run = make_run(i + 1, NOVEMBER + 3 * HOUR, NOVEMBER + 4 * HOUR, cases[i].third);
		assert_int_equal(
		    settle(f, &run, now, cases[i].open_since_utc_s), cases[i].changed_third);
		assert_int_equal(
		    money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), cases[i].charged);
		assert_int_equal(money(f, "vision", LT_ENTRY_CORRECTION, NOVEMBER, DECEMBER),
		    cases[i].corrected_november);
		assert_int_equal(money(f, "vision", LT_ENTRY_CORRECTION, DECEMBER, JANUARY),
		    cases[i].corrected_december);
		struct lt_run known;
		must(f, lt_ledger_run(f->ledger, run.key, &known, &f->err));
		assert_int_equal(known.money_micros, cases[i].third);
	}
}

static void
correction_before_the_open_period_has_begun(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);

	assert_true(settle(f, &run, NOVEMBER + 2 * HOUR, NOVEMBER));
	run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 70);
	/* now is a second before: the correction is in December all the same */
	assert_true(settle(f, &run, DECEMBER - 1, DECEMBER));
	assert_int_equal(money(f, "vision", LT_ENTRY_CORRECTION, DECEMBER, JANUARY), -30);
}

static void
account_changes_move_the_charge(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);

	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	(void)strcpy(run.account, "speech");
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	assert_false(settle(f, &run, DECEMBER, NOVEMBER));
	assert_int_equal(money(f, "vision", LT_ENTRY_CORRECTION, NOVEMBER, DECEMBER), -100);
	assert_int_equal(money(f, "speech", LT_ENTRY_CORRECTION, NOVEMBER, DECEMBER), 100);
	/* So does another owner, within the account. */
	struct lt_account_sum *sums;
	uint32_t count;
	run.uid = UID + 1;
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	must(f, lt_ledger_sums(
		    f->ledger, (struct lt_span){NOVEMBER, DECEMBER}, &sums, &count, &f->err));
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(sums[i].money_micros, sums[i].uid == UID + 1 ? 100 : 0);
	free(sums);
}

static void
provisional_rows_are_confirmed_without_an_entry(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	struct lt_run known;

	run.provisional = true;
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	run.provisional = false;
	assert_false(settle(f, &run, DECEMBER, NOVEMBER));
	must(f, lt_ledger_run(f->ledger, run.key, &known, &f->err));
	assert_false(known.provisional);
	assert_int_equal(money(f, "vision", LT_ENTRY_CORRECTION, NOVEMBER, JANUARY), 0);
}

static void
bad_runs_are_refused(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	struct lt_entry entry = whole(&run);
	bool changed = true;

	entry.money_micros--;
	assert_int_equal(
	    lt_ledger_settle(f->ledger,
		&(struct lt_settlement){&run, &entry, 1, DECEMBER, DECEMBER, NOVEMBER, false},
		&changed, &f->err),
	    LT_EBUG);
	assert_false(changed);
	assert_non_null(strstr(f->err.text, "differ"));
	run.key.job_id = 0;
	assert_int_equal(
	    lt_ledger_settle(f->ledger,
		&(struct lt_settlement){&run, &entry, 1, DECEMBER, DECEMBER, NOVEMBER, false},
		&changed, NULL),
	    LT_EBUG);
	struct lt_run big = make_run(2, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 9);
	assert_true(settle(f, &big, DECEMBER, NOVEMBER));
	big.key.job_id = 3;
	entry = whole(&big);
	assert_int_equal(
	    lt_ledger_settle(f->ledger,
		&(struct lt_settlement){&big, &entry, 1, DECEMBER, DECEMBER, NOVEMBER, false},
		&changed, NULL),
	    LT_EOVERFLOW);
	assert_int_equal(lt_ledger_run(f->ledger, big.key, &run, NULL), LT_ENOENT);
}

/* ---- totals ---- */

/* Counted by an index of the few that are odd: each kind, and none twice. */
static void
odd_runs_are_counted(void **state)
{
	static const struct {
		enum lt_quality quality;
		bool provisional;
		enum lt_gpus_from gpus_from;
	} runs[] = {
	    {LT_QUALITY_MEASURED, false, LT_GPUS_SLURMDBD},
	    {LT_QUALITY_REPLAY, false, LT_GPUS_SLURMDBD},
	    {LT_QUALITY_REPLAY, true, LT_GPUS_SLURMCTLD},
	    {LT_QUALITY_ESTIMATED, false, LT_GPUS_SLURMCTLD},
	    {LT_QUALITY_ESTIMATED, false, LT_GPUS_SLURMCTLD},
	    {LT_QUALITY_ESTIMATED, false, LT_GPUS_UNKNOWN},
	};
	struct fixture *const f = *state;
	struct lt_totals totals[3];

	for (uint32_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		struct lt_run run =
		    make_run(i + 1, NOVEMBER + i * HOUR, NOVEMBER + (i + 1) * HOUR, 1);

		run.worst_quality = runs[i].quality;
		run.provisional = runs[i].provisional;
		run.gpus_from = runs[i].gpus_from;
		assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	}
	must(f, lt_ledger_totals(
		    f->ledger, "vision", (struct lt_span){NOVEMBER, DECEMBER}, totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 6);
	assert_int_equal(totals[LT_ENTRY_CHARGE].replay_runs, 2);
	assert_int_equal(totals[LT_ENTRY_CHARGE].provisional_runs, 1);
	assert_int_equal(totals[LT_ENTRY_CHARGE].gpus_slurmctld_runs, 3);
	assert_int_equal(totals[LT_ENTRY_CHARGE].gpus_unknown_runs, 1);
	must(f, lt_ledger_totals(f->ledger, "vision", (struct lt_span){NOVEMBER, NOVEMBER + HOUR},
		    totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 1);
	assert_int_equal(totals[LT_ENTRY_CHARGE].replay_runs, 0);
}

static void
totals_by_kind_and_any_edge(void **state)
{
	struct fixture *const f = *state;
	struct lt_totals totals[3];

	/* one micro each hour of November, job by job */
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = 0; i < 30 * 24; i++) {
		struct lt_run run =
		    make_run(i + 1, NOVEMBER + i * HOUR, NOVEMBER + i * HOUR + HOUR, 1);

		run.priced = i % 2 == 0;
		run.moved = i % 3 == 0;
		assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
	const struct lt_entry credit = {.at_utc_s = NOVEMBER + HOUR,
	    .made_utc_s = DECEMBER,
	    .account = "vision",
	    .money_micros = -50,
	    .who = "root",
	    .reason = "credit"};
	/* Its line can't be taken back with the transaction. */
	must(f, lt_ledger_begin(f->ledger, &f->err));
	assert_int_equal(lt_ledger_adjust(f->ledger, &credit, NULL), LT_EBUG);
	lt_ledger_rollback(f->ledger);
	must(f, lt_ledger_adjust(f->ledger, &credit, &f->err));
	for (int64_t from = 0; from < 60; from += 7)
		for (int64_t to = from; to < 24 * 5; to += 5)
			assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER + from * HOUR,
					     NOVEMBER + to * HOUR),
			    to - from);
	must(f, lt_ledger_totals(
		    f->ledger, "vision", (struct lt_span){NOVEMBER, DECEMBER}, totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].money_micros, 720);
	assert_int_equal(totals[LT_ENTRY_CHARGE].baseline_money_micros, 720 * 6);
	assert_int_equal(totals[LT_ENTRY_CHARGE].energy_wh, 720 * 7);
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 720);
	assert_int_equal(totals[LT_ENTRY_CHARGE].moved_runs, 240);
	assert_int_equal(totals[LT_ENTRY_CHARGE].unpriced_runs, 360);
	assert_int_equal(totals[LT_ENTRY_CORRECTION].runs, 0);
	assert_int_equal(totals[LT_ENTRY_ADJUSTMENT].money_micros, -50);
	struct lt_account_sum *sums;
	uint32_t count;
	must(f, lt_ledger_sums(
		    f->ledger, (struct lt_span){NOVEMBER, DECEMBER}, &sums, &count, &f->err));
	assert_int_equal(count, 2); /* the credit is nobody's */
	assert_int_equal(sums[0].money_micros, 720);
	assert_int_equal(sums[1].uid, LT_NOBODY_UID);
	assert_int_equal(sums[1].money_micros, -50);
	free(sums);
}

/* ---- holds ---- */

static void
holds_keep_what_is_unknown(void **state)
{
	struct fixture *const f = *state;
	const struct lt_ledger_hold hold = make_hold(UINT64_MAX - 5, 3);
	struct lt_ledger_hold known;

	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	reopen(f);
	must(f, lt_ledger_hold(f->ledger, hold.quote.id, &known, &f->err));
	assert_memory_equal(&hold, &known, sizeof(hold));
	assert_false(known.quote.hold_per_task.has_carbon);
	assert_int_equal(lt_ledger_hold(f->ledger, 1, &known, NULL), LT_ENOENT);
	assert_int_equal(lt_ledger_hold_of_job(f->ledger, 0, &known, NULL), LT_ENOENT);
}

/* What version 1 lacks is nothing there, and is kept from then on; its trigger adds no entry to its
 * day a second time. */
static void
holds_of_version_1_are_kept(void **state)
{
	struct fixture *const f = *state;
	struct lt_ledger_hold hold = make_hold(7, 3), known;
	char path[96];
	sqlite3 *db;

	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	lt_ledger_close(f->ledger);
	snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
			     "DROP TABLE admissions; DROP TABLE accounts;"
			     "DROP TABLE places; DROP TABLE gpus;"
			     "DROP INDEX runs_over; DROP INDEX holds_ended;"
			     "DROP INDEX runs_odd; DROP INDEX runs_long;"
			     "ALTER TABLE runs DROP COLUMN suspended_s;"
			     "ALTER TABLE runs DROP COLUMN gpus_from;"
			     "ALTER TABLE runs DROP COLUMN shards;"
			     "ALTER TABLE runs DROP COLUMN held_micros;"
			     "ALTER TABLE runs DROP COLUMN held_mg;"
			     "ALTER TABLE holds DROP COLUMN ended_utc_s;"
			     "DROP INDEX runs_partition;"
			     "CREATE TRIGGER entries_to_days AFTER INSERT"
			     " ON entries BEGIN UPDATE days SET"
			     " money_micros = money_micros + new.money_micros;"
			     " END;"
			     "ALTER TABLE holds DROP COLUMN "
			     "candidates;"
			     "ALTER TABLE holds DROP COLUMN run;"
			     "ALTER TABLE holds DROP COLUMN levers;"
			     "DROP TABLE runs_before; DROP TABLE limits;"
			     "DROP TABLE closed; DROP TABLE closed_rows;"
			     "DROP TABLE reopened; DROP TABLE refused;"
			     "DROP INDEX holds_no_smoke;"
			     "ALTER TABLE runs DROP COLUMN name;"
			     "ALTER TABLE runs DROP COLUMN qos;"
			     "ALTER TABLE runs DROP COLUMN wckey;"
			     "ALTER TABLE runs DROP COLUMN gpu;"
			     "ALTER TABLE runs DROP COLUMN exit_code;"
			     "ALTER TABLE runs DROP COLUMN restarts;"
			     "ALTER TABLE runs DROP COLUMN corrected;"
			     "ALTER TABLE runs DROP COLUMN settled_utc_s;"
			     "ALTER TABLE runs DROP COLUMN changed_utc_s;"
			     "ALTER TABLE runs DROP COLUMN cpu_used_ms;"
			     "ALTER TABLE runs DROP COLUMN gpu_used_ppm;"
			     "DROP INDEX entries_discounted; DROP INDEX days_discount;"
			     "DROP TABLE account_moves;"
			     "ALTER TABLE runs DROP COLUMN carbon_charge_micros;"
			     "ALTER TABLE runs DROP COLUMN discount_micros;"
			     "ALTER TABLE entries DROP COLUMN carbon_charge_micros;"
			     "ALTER TABLE entries DROP COLUMN discount_micros;"
			     "ALTER TABLE days DROP COLUMN carbon_charge_micros;"
			     "ALTER TABLE days DROP COLUMN discount_micros;"
			     "ALTER TABLE runs DROP COLUMN by_time_micros;"
			     "ALTER TABLE runs DROP COLUMN by_time_mg;"
			     "ALTER TABLE runs DROP COLUMN by_gpu_micros;"
			     "ALTER TABLE runs DROP COLUMN by_gpu_mg;"
			     "ALTER TABLE entries DROP COLUMN by_time_micros;"
			     "ALTER TABLE entries DROP COLUMN by_time_mg;"
			     "ALTER TABLE entries DROP COLUMN by_gpu_micros;"
			     "ALTER TABLE entries DROP COLUMN by_gpu_mg;"
			     "ALTER TABLE days DROP COLUMN by_time_micros;"
			     "ALTER TABLE days DROP COLUMN by_time_mg;"
			     "ALTER TABLE days DROP COLUMN by_gpu_micros;"
			     "ALTER TABLE days DROP COLUMN by_gpu_mg;"
			     "DROP TABLE lengths; DROP TABLE kinds;"
			     "DROP TABLE forgotten; DROP TABLE plans;"
			     "DROP TABLE speeds;"
			     "DROP TABLE notices; DROP TABLE reclaimed;"
			     "DROP TABLE interruptions;"
			     "DROP TABLE pauses;"
			     "DROP TABLE proofs; DROP TABLE lives;"
			     "DROP TABLE canaries; DROP TABLE quoted;"
			     "DROP TABLE mails; DROP TABLE alerts;"
			     "DROP TABLE end_mails;"
			     "PRAGMA user_version=1",
			     NULL, NULL, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	must(f, lt_ledger_open(&f->ledger, f->dir, &f->err));
	must(f, lt_ledger_hold(f->ledger, 7, &known, &f->err));
	assert_string_equal(known.quote.why, "");
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	must(f, lt_ledger_hold(f->ledger, 7, &known, &f->err));
	assert_memory_equal(&hold, &known, sizeof(hold));
	const struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, 100);
	assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 100);
}

/* Ended holds go some time after they ended, as the first call after it saw; open ones stay, and so
 * does one that was opened again. */
static void
ended_holds_are_pruned(void **state)
{
	enum { SEVEN = 7 * LT_DAY_S, LONG = 400 * LT_DAY_S };

	static const struct {
		const char *why;
		int64_t after_s;
		bool void_is_there, settled_is_there;
	} calls[] = {
	    {"marked", 0, true, true},
	    {"too early", SEVEN, true, true},
	    {"the void one is due", SEVEN + 1, false, true},
	    {"the settled one is not", LONG, false, true},
	    {"now it is", LONG + 1, false, false},
	};
	struct fixture *const f = *state;
	struct lt_ledger_hold known;
	const struct lt_admission admission = {.limit_s = 5};
	struct lt_admission found;

	for (uint64_t id = 1; id <= 4; id++) {
		struct lt_ledger_hold hold = make_hold(id, 1);

		must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
		must(f, lt_ledger_put_admission(
			    f->ledger, id, &hold.quote.hold_per_task, &admission, &f->err));
	}
	must(f, lt_ledger_end_hold(f->ledger, 1, LT_HOLD_VOID, "none", &f->err));
	assert_int_equal(lt_ledger_end_hold(f->ledger, 2, LT_HOLD_OPEN, "", NULL), LT_EBUG);
	must(f, lt_ledger_end_hold(f->ledger, 2, LT_HOLD_SETTLED, "", &f->err));
	must(f, lt_ledger_end_hold(f->ledger, 3, LT_HOLD_VOID, "", &f->err));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		const int64_t now = DECEMBER + calls[i].after_s;

		print_message("%s\n", calls[i].why);
		must(f, lt_ledger_prune_holds(f->ledger, now - SEVEN, now - LONG, now, &f->err));
		assert_int_equal(
		    lt_ledger_hold(f->ledger, 1, &known, NULL) == LT_OK, calls[i].void_is_there);
		assert_int_equal(lt_ledger_admission(f->ledger, 1, &found, NULL) == LT_OK,
		    calls[i].void_is_there);
		assert_int_equal(
		    lt_ledger_hold(f->ledger, 2, &known, NULL) == LT_OK, calls[i].settled_is_there);
		must(f, lt_ledger_hold(f->ledger, 4, &known, &f->err));
		if (i > 0)
			continue;
		/* 3 was seen on a job after all. */
		must(f, lt_ledger_hold(f->ledger, 3, &known, &f->err));
		known.state = LT_HOLD_OPEN;
		must(f, lt_ledger_put_hold(f->ledger, &known, &f->err));
	}
	must(f, lt_ledger_hold(f->ledger, 3, &known, &f->err));
}

static void
an_older_revision_changes_nothing(void **state)
{
	struct fixture *const f = *state;
	struct lt_ledger_hold hold = make_hold(1, 1), known;

	hold.quote.rev = 3;
	hold.job_id = 77;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	hold.quote.rev = 2;
	hold.uid = 5;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	must(f, lt_ledger_hold_of_job(f->ledger, 77, &known, &f->err));
	assert_int_equal(known.quote.rev, 3);
	assert_int_equal(known.uid, UID);
}

static void
each_run_ends_one_share(void **state)
{
	struct fixture *const f = *state;
	const struct lt_ledger_hold hold = make_hold(9, 3);
	struct lt_ledger_hold known;

	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	for (uint32_t task = 0; task < 3; task++) {
		const struct open_holds open = open_holds_of(f);

		assert_int_equal(open.count, 1);
		assert_int_equal(open.holds[0].live_tasks, 3 - task);
		struct lt_run run = make_run(100 + task, NOVEMBER, NOVEMBER + HOUR, 10);
		run.quote_id = 9;
		assert_true(settle(f, &run, DECEMBER, NOVEMBER));
		assert_false(settle(f, &run, DECEMBER, NOVEMBER));
		run = make_run(100 + task, NOVEMBER, NOVEMBER + HOUR, 11);
		run.quote_id = 9;
		assert_true(settle(f, &run, DECEMBER, NOVEMBER));
	}
	must(f, lt_ledger_hold(f->ledger, 9, &known, &f->err));
	assert_int_equal(known.state, LT_HOLD_SETTLED);
	assert_int_equal(known.live_tasks, 0);
	assert_int_equal(open_holds_of(f).count, 0);
	/* one that has ended stays as it ended */
	must(f, lt_ledger_end_hold(f->ledger, 9, LT_HOLD_VOID, "late", &f->err));
	must(f, lt_ledger_hold(f->ledger, 9, &known, &f->err));
	assert_int_equal(known.state, LT_HOLD_SETTLED);
	const struct lt_ledger_hold other = make_hold(10, 2);
	must(f, lt_ledger_put_hold(f->ledger, &other, &f->err));
	must(f, lt_ledger_end_hold(f->ledger, 10, LT_HOLD_VOID, "no such job", &f->err));
	must(f, lt_ledger_hold(f->ledger, 10, &known, &f->err));
	assert_int_equal(known.state, LT_HOLD_VOID);
	assert_string_equal(known.why, "no such job");
}

/* ---- exact splitting ---- */

static void
parts_of_a_node_add_up_to_the_node(void **state)
{
	static const int64_t prices[] = {
	    1, 2, 7, 32770000, 98321357, 1000000007, 3333333333, 123456789012};
	struct fixture *const f = *state;

	/* without a transaction it can't be undone with the charge */
	int64_t rounded;
	assert_int_equal(
	    lt_ledger_round(f->ledger, (struct lt_carry_key){"p", false}, 1, &rounded, NULL),
	    LT_EBUG);
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (size_t p = 0; p < sizeof(prices) / sizeof(*prices); p++)
		for (int jobs = 1; jobs <= 64; jobs++) {
			int64_t sum = 0;

			for (int i = 0; i < jobs; i++) {
				must(f, lt_ledger_round(f->ledger,
					    (struct lt_carry_key){"ondemand", false},
					    (double)prices[p] / jobs, &rounded, &f->err));
				sum += rounded;
			}
			assert_int_equal(sum, prices[p]);
		}
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

static void
carries_are_per_partition_and_currency(void **state)
{
	static const struct {
		const char *why, *partition;
		bool carbon;
		double exact;
		int64_t rounded;
	} cases[] = {
	    {"half away from zero", "a", false, 0.5, 1},
	    {"another partition has its own", "b", false, 0.5, 1},
	    {"and carbon has", "a", true, 0.5, 1},
	    {"the rest of the first half", "a", false, 0.5, 0},
	    {"a negative price", "c", false, -0.5, -1},
	    {"its rest", "c", false, -0.5, 0},
	};
	struct fixture *const f = *state;
	int64_t rounded;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		print_message("%s\n", cases[i].why);
		must(f, lt_ledger_round(f->ledger,
			    (struct lt_carry_key){cases[i].partition, cases[i].carbon},
			    cases[i].exact, &rounded, &f->err));
		assert_int_equal(rounded, cases[i].rounded);
	}
	assert_int_equal(
	    lt_ledger_round(f->ledger, (struct lt_carry_key){"a", false}, 1e300, &rounded, NULL),
	    LT_EOVERFLOW);
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(settling_again),
	    EACH(correction_before_the_open_period_has_begun),
	    EACH(account_changes_move_the_charge),
	    EACH(provisional_rows_are_confirmed_without_an_entry),
	    EACH(bad_runs_are_refused),
	    EACH(odd_runs_are_counted),
	    EACH(totals_by_kind_and_any_edge),
	    EACH(holds_keep_what_is_unknown),
	    EACH(holds_of_version_1_are_kept),
	    EACH(ended_holds_are_pruned),
	    EACH(an_older_revision_changes_nothing),
	    EACH(each_run_ends_one_share),
	    EACH(parts_of_a_node_add_up_to_the_node),
	    EACH(carries_are_per_partition_and_currency),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
