/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose entries and runs are: adjustments are nobody's, also those of older ledgers and of the
 * journal; users of old runs are erased and all sums stay, as SQL of the test's own adds them up.
 */
#include <sqlite3.h>

#include "ledger_db.h"
#include "ledger_fixture.h"

enum { ROOT = 0, ADA = UID, BOB };

static int64_t
number(struct fixture *f, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *const db = f->ledger->db[LT_DB_LEDGER];

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_ROW)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	const int64_t found = sqlite3_column_int64(statement, 0);

	sqlite3_finalize(statement);
	return found;
}

static void
change(struct fixture *f, const char *sql)
{
	if (sqlite3_exec(f->ledger->db[LT_DB_LEDGER], sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s", sqlite3_errmsg(f->ledger->db[LT_DB_LEDGER]));
}

/* Rows of days that entries do not add up to, and the other way round. */
static int64_t
differences(struct fixture *f)
{
	return number(f, "WITH made AS (SELECT at_utc_s / 86400 day, account, uid, kind,"
			 "  sum(money_micros) m, sum(carbon_mg) c, sum(energy_wh) e,"
			 "  sum(base_money_micros) b, sum(base_carbon_mg) g,"
			 "  sum(by_time_micros) t, sum(by_gpu_mg) u,"
			 "  sum(carbon_charge_micros) v, sum(discount_micros) w"
			 "  FROM entries GROUP BY 1, 2, 3, 4),"
			 " kept AS (SELECT day, account, uid, kind, money_micros,"
			 "  carbon_mg, energy_wh, base_money_micros, base_carbon_mg,"
			 "  by_time_micros, by_gpu_mg, carbon_charge_micros,"
			 "  discount_micros FROM days)"
			 " SELECT (SELECT count(*) FROM (SELECT * FROM made EXCEPT"
			 "  SELECT * FROM kept)) + (SELECT count(*) FROM"
			 "  (SELECT * FROM kept EXCEPT SELECT * FROM made))");
}

static void
adjust(struct fixture *f, uint32_t uid, int64_t money_micros)
{
	struct lt_entry entry = {.at_utc_s = NOVEMBER + HOUR,
	    .made_utc_s = NOVEMBER + HOUR,
	    .uid = uid,
	    .money_micros = money_micros};

	(void)strcpy(entry.account, "vision");
	(void)strcpy(entry.who, uid == ROOT ? "root" : "ada");
	(void)strcpy(entry.reason, "a credit");
	must(f, lt_ledger_adjust(f->ledger, &entry, &f->err));
}

/* What the sums of November say that this user used in vision. */
static int64_t
used(struct fixture *f, uint32_t uid)
{
	struct lt_account_sum *sums;
	uint32_t count;
	int64_t micros = 0;

	must(f, lt_ledger_sums(
		    f->ledger, (struct lt_span){NOVEMBER, DECEMBER}, &sums, &count, &f->err));
	for (uint32_t i = 0; i < count; i++)
		if (sums[i].uid == uid)
			micros += sums[i].money_micros;
	free(sums);
	return micros;
}

static void
adjustments_are_nobodys(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 7200, 100);
	struct lt_repair repair = {0};
	char path[128], line[512];

	settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	adjust(f, ROOT, -30);
	adjust(f, ADA, 7);
	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(used(f, ROOT), 0);
		assert_int_equal(used(f, ADA), 100);
		assert_int_equal(used(f, LT_NOBODY_UID), -23);
		assert_int_equal(money(f, "vision", LT_ENTRY_ADJUSTMENT, NOVEMBER, DECEMBER), -23);
		/* From the journal. */
		while (pass == 0 && repair.stage != LT_REPAIR_DONE)
			must(f, lt_ledger_repair(f->ledger, &repair, &f->err));
	}
	assert_int_equal(number(f, "SELECT count(*) FROM entries WHERE kind = 2 AND"
				   " who IN ('root', 'ada')"),
	    2);
	/* Who made it stays there. */
	(void)snprintf(path, sizeof(path), "%s/adjustments", f->dir);
	FILE *const journal = fopen(path, "r");
	assert_non_null(journal);
	assert_non_null(fgets(line, sizeof(line), journal));
	assert_non_null(strstr(line, " uid=0 "));
	assert_non_null(fgets(line, sizeof(line), journal));
	assert_non_null(strstr(line, " uid=1000 "));
	fclose(journal);
}

static void
older_ones_become_nobodys(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 7200, 100);

	settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	adjust(f, ROOT, -30);
	adjust(f, ADA, 7);
	/* As they were: of who made them. */
	change(f, "UPDATE entries SET uid = CASE who WHEN 'root' THEN 0 ELSE 1000 END"
		  " WHERE kind = 2; DELETE FROM days WHERE kind = 2;"
		  "INSERT INTO days SELECT at_utc_s / 86400, account, uid, kind,"
		  " money_micros, carbon_mg, energy_wh, base_money_micros,"
		  " base_carbon_mg, 0, 0, 0, 0, 0, 0 FROM entries WHERE kind = 2;");
	assert_int_equal(differences(f), 0);
	lt_kept_drop(f->ledger);
	assert_int_equal(used(f, ROOT), -30);
	change(f, LT_SQL_LEDGER_NOBODY);
	lt_kept_drop(f->ledger);
	assert_int_equal(differences(f), 0);
	assert_int_equal(used(f, ROOT), 0);
	assert_int_equal(used(f, ADA), 100);
	assert_int_equal(used(f, LT_NOBODY_UID), -23);
}

/* ---- erased ---- */

static void
put(struct fixture *f, uint32_t job_id, uint32_t uid, int64_t start_utc_s, int64_t end_utc_s)
{
	struct lt_run run = make_run(job_id, start_utc_s, end_utc_s, 1000);
	struct lt_entry parts[2] = {whole(&run), whole(&run)};
	struct lt_entry *const late = &parts[1];
	bool changed;

	run.uid = uid;
	(void)strcpy(run.user, uid == ADA ? "ada" : "bob");
	/* Half of it in its last hour: another day, of a long one. */
	parts[0].money_micros -= 400;
	*late = (struct lt_entry){.at_utc_s = (end_utc_s - 1) / HOUR * HOUR, .money_micros = 400};
	if (late->at_utc_s < start_utc_s)
		late->at_utc_s = start_utc_s;
	must(f, lt_ledger_settle(f->ledger,
		    &(struct lt_settlement){
			&run, parts, 2, end_utc_s + HOUR, end_utc_s + HOUR, NOVEMBER, false},
		    &changed, &f->err));
}

static bool
erase(struct fixture *f, int64_t before_utc_s)
{
	bool done;

	must(f, lt_ledger_erase_users(f->ledger, before_utc_s, &done, &f->err));
	return done;
}

static void
sums_stay(void **state)
{
	struct fixture *const f = *state;
	const int64_t cut = NOVEMBER + 10 * LT_DAY_S;
	struct lt_ledger_hold hold = make_hold(9, 1);
	char sql[256];

	put(f, 1, ADA, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR);
	put(f, 2, BOB, NOVEMBER + HOUR, NOVEMBER + 3 * LT_DAY_S);
	put(f, 3, ADA, cut - 2 * LT_DAY_S, cut); /* ends with it: stays */
	put(f, 4, ADA, cut - 2 * LT_DAY_S, cut - 1);
	put(f, 5, BOB, cut + HOUR, cut + 2 * HOUR);
	/* Nothing of the run is left on a day, yet it had been there. */
	struct lt_run none = make_run(6, NOVEMBER + HOUR, NOVEMBER + 7200, 0);
	settle(f, &none, NOVEMBER + LT_DAY_S, NOVEMBER);
	adjust(f, ROOT, 17);
	hold.state = LT_HOLD_SETTLED;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	must(f, lt_ledger_prune_holds(f->ledger, 0, 0, NOVEMBER, &f->err));
	hold.quote.id = 10;
	hold.state = LT_HOLD_OPEN;
	must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	assert_int_equal(differences(f), 0);
	assert_int_equal(used(f, ADA), 3000);
	assert_int_equal(used(f, BOB), 2000);
	for (int pass = 0; pass < 2; pass++) {
		assert_true(erase(f, cut));
		/* 3 and 5 alone have users, and entries of theirs. */
		assert_int_equal(used(f, ADA), 1000);
		assert_int_equal(used(f, BOB), 1000);
		assert_int_equal(used(f, LT_NOBODY_UID), 3000 + 17);
		assert_int_equal(number(f, "SELECT sum(job_id) FROM runs WHERE user != ''"), 3 + 5);
		assert_int_equal(number(f, "SELECT count(*) FROM entries e JOIN runs r"
					   " USING (job_id, submit_utc_s) WHERE e.uid != r.uid"),
		    0);
		assert_int_equal(differences(f), 0);
	}
	(void)snprintf(sql, sizeof(sql),
	    "SELECT count(*) FROM days WHERE uid != 4294967295 AND day < %lld",
	    (long long)((cut - 2 * LT_DAY_S) / LT_DAY_S));
	assert_int_equal(number(f, sql), 0);
	assert_int_equal(money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER), 5000);
	must(f, lt_ledger_hold(f->ledger, 9, &hold, &f->err));
	assert_int_equal(hold.uid, LT_NOBODY_UID);
	must(f, lt_ledger_hold(f->ledger, 10, &hold, &f->err));
	assert_int_equal(hold.uid, UID);
}

static void
in_parts(void **state)
{
	enum { RUNS = 1203 };
	struct fixture *const f = *state;
	int calls = 1;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = 0; i < RUNS; i++)
		put(f, i + 1, i % 2 == 0 ? ADA : BOB, NOVEMBER + i, NOVEMBER + 2 * HOUR + i);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	while (!erase(f, DECEMBER)) {
		assert_int_equal(differences(f), 0);
		calls++;
	}
	assert_int_equal(calls, 3);
	assert_int_equal(used(f, LT_NOBODY_UID), 1000 * RUNS);
	assert_int_equal(used(f, ADA) + used(f, BOB), 0);
}

/* A policy that keeps them longer again, or for ever, then shorter: what came meanwhile is
 * found. */
static void
by_another_policy(void **state)
{
	static const int64_t longer[] = {NOVEMBER, INT64_MIN};
	struct fixture *const f = *state;

	put(f, 10, ADA, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(erase(f, DECEMBER));
		assert_int_equal(used(f, ADA), 0);
		assert_true(erase(f, longer[i]));
		put(f, 20 + i, ADA, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR);
		assert_true(erase(f, longer[i]));
		assert_int_equal(used(f, ADA), 1000);
		assert_true(erase(f, DECEMBER));
		assert_int_equal(used(f, ADA), 0);
	}
}

/* By hand: of ada's two runs one touches the span, with a correction. */
static void
of_one_user(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER + HOUR, NOVEMBER + 7200, 100);
	struct lt_totals totals[3];
	const struct lt_runs_asked asked = {.account = "vision",
	    .from_utc_s = NOVEMBER,
	    .to_utc_s = DECEMBER,
	    .of_one = true,
	    .uid = ADA};

	settle(f, &run, NOVEMBER + LT_DAY_S, NOVEMBER);
	run.money_micros = 90;
	run.carbon_mg = 50;
	settle(f, &run, NOVEMBER + 2 * LT_DAY_S, NOVEMBER);
	put(f, 2, BOB, NOVEMBER + HOUR, NOVEMBER + 2 * HOUR);
	put(f, 3, ADA, DECEMBER + HOUR, DECEMBER + 2 * HOUR);
	adjust(f, ADA, 55);
	must(f, lt_ledger_totals_of_user(f->ledger, &asked, totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].money_micros, 100);
	assert_int_equal(totals[LT_ENTRY_CORRECTION].money_micros, -10);
	assert_int_equal(totals[LT_ENTRY_ADJUSTMENT].money_micros, 0);
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 1);
	assert_int_equal(totals[LT_ENTRY_CHARGE].moved_runs, 1);
	assert_int_equal(totals[LT_ENTRY_CHARGE].unpriced_runs, 0);
}

/* Where a month begins at half past: a run's first entry is of its start, and the others are of
 * full hours. */
static void
of_half_hours(void **state)
{
	enum { HALF = HOUR / 2, MINUTE = 60 };
	static const struct {
		uint32_t job_id, minutes;
		int64_t month;
	} runs[] = {{1, 10, NOVEMBER}, {2, 40, NOVEMBER}, {3, 70, NOVEMBER}, {4, 10, DECEMBER}};
	struct fixture *const f = *state;
	struct lt_totals totals[3];
	const struct lt_runs_asked asked = {.account = "vision",
	    .from_utc_s = NOVEMBER + HALF,
	    .to_utc_s = DECEMBER + HALF,
	    .of_one = true,
	    .uid = ADA};

	for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
		const int64_t start = runs[i].month + runs[i].minutes * MINUTE;

		put(f, runs[i].job_id, ADA, start, start + 10 * MINUTE);
	}
	must(f, lt_ledger_totals_of_user(f->ledger, &asked, totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].money_micros, 3000);
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(adjustments_are_nobodys),
	    EACH(older_ones_become_nobodys),
	    EACH(sums_stay),
	    EACH(in_parts),
	    EACH(by_another_policy),
	    EACH(of_one_user),
	    EACH(of_half_hours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
