/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums that are kept from look to look are those of a ledger that has just been opened, whatever
 * was written between: charges, corrections, adjustments, moves, what a transaction undoes, a
 * repair, somebody else. And a look reads nothing.
 */
#include "accounts.h"
#include "ledger_fixture.h"

#include <sqlite3.h>

#include "ledger_db.h"

enum { STEPS = 1500, SPANS = 10 }; /* more than are kept */

static unsigned seed = 20261124;

static int
chance(int of)
{
	return rand_r(&seed) % of;
}

static struct lt_span
span_at(int i)
{
	/* Months and years, whole days and not, and one that has nothing. */
	static const struct lt_span spans[SPANS] = {{NOVEMBER, DECEMBER}, {DECEMBER, JANUARY},
	    {NOVEMBER, JANUARY}, {NOVEMBER + 5 * HOUR, DECEMBER + 5 * HOUR},
	    {DECEMBER - HOUR, DECEMBER + HOUR}, {0, JANUARY + LT_DAY_S},
	    {NOVEMBER + 1, NOVEMBER + 2}, {JANUARY, NOVEMBER}, {NOVEMBER + 1800, JANUARY - 1800},
	    {NOVEMBER + 3 * LT_DAY_S, NOVEMBER + 4 * LT_DAY_S}};

	return spans[i];
}

static void
compare(struct fixture *f, int step, struct lt_span span)
{
	struct lt_ledger *fresh;
	struct lt_account_sum *kept, *read;
	uint32_t kept_count, read_count;

	must(f, lt_ledger_sums(f->ledger, span, &kept, &kept_count, &f->err));
	must(f, lt_ledger_open_reader(&fresh, f->dir, &f->err));
	must(f, lt_ledger_sums(fresh, span, &read, &read_count, &f->err));
	assert_int_equal(kept_count, read_count);
	for (uint32_t i = 0; i < read_count; i++)
		if (strcmp(kept[i].account, read[i].account) != 0 || kept[i].uid != read[i].uid ||
		    kept[i].tree_utc_s != read[i].tree_utc_s ||
		    kept[i].money_micros != read[i].money_micros ||
		    kept[i].carbon_mg != read[i].carbon_mg)
			fail_msg("step %d: %s %u has %lld, want %s %u %lld", step, kept[i].account,
			    kept[i].uid, (long long)kept[i].money_micros, read[i].account,
			    read[i].uid, (long long)read[i].money_micros);
	lt_ledger_close(fresh);
	free(kept);
	free(read);
}

/* A run that is new, or one that is there at another price. */
static void
charge(struct fixture *f)
{
	/* Often at an end of spans. */
	const int64_t start = chance(20) == 0 ? DECEMBER : NOVEMBER + chance(60 * 24) * HOUR;
	struct lt_run run =
	    make_run((uint32_t)chance(400) + 1, start, start + HOUR, chance(1000000) - 100);

	run.uid = UID + (uint32_t)chance(3);
	snprintf(run.account, sizeof(run.account), "team%d", chance(4));
	(void)settle(f, &run, JANUARY, NOVEMBER);
}

static void
adjust(struct fixture *f)
{
	const struct lt_entry entry = {.at_utc_s = NOVEMBER + chance(50) * LT_DAY_S,
	    .account = "team1",
	    .uid = UID,
	    .money_micros = chance(2000) - 1000,
	    .who = "root",
	    .reason = "a test"};

	must(f, lt_ledger_adjust(f->ledger, &entry, &f->err));
}

/* Somewhere else from then on, if the ledger has it elsewhere. */
static void
move(struct fixture *f)
{
	char parent[8];

	snprintf(parent, sizeof(parent), "p%d", chance(3));
	must(f, lt_ledger_put_account(f->ledger, "team1", parent,
		    NOVEMBER + chance(60 * 24) * HOUR + chance(2) * 1800, &f->err));
}

/* What is looked at meanwhile is not kept where it is undone. */
static void
change_mind(struct fixture *f)
{
	struct lt_account_sum *sums;
	uint32_t count;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	charge(f);
	must(f, lt_ledger_sums(f->ledger, span_at(2), &sums, &count, &f->err));
	free(sums);
	if (chance(2) > 0)
		lt_ledger_rollback(f->ledger);
	else
		must(f, lt_ledger_commit(f->ledger, &f->err));
}

static void
write_beside(struct fixture *f)
{
	char path[128];
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/ledger.db", f->dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(db, "UPDATE days SET money_micros = money_micros + 1", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
}

static void
repair(struct fixture *f)
{
	struct lt_repair r = {0};

	while (r.stage != LT_REPAIR_DONE) {
		must(f, lt_ledger_repair(f->ledger, &r, &f->err));
		compare(f, -1, span_at(chance(SPANS)));
	}
}

static void
kept_sums_are_those_of_a_fresh_ledger(void **state)
{
	struct fixture *const f = *state;

	for (int step = 0; step < STEPS; step++) {
		const int what = chance(100);

		if (what < 70)
			charge(f);
		else if (what < 80)
			adjust(f);
		else if (what < 94)
			change_mind(f);
		/* Late ones: before the last move all is read anew. */
		else if (what < 95 && step > STEPS / 2)
			move(f);
		else if (what < 98)
			write_beside(f);
		else
			repair(f);
		for (int i = chance(3); i > 0; i--)
			compare(f, step, span_at(chance(SPANS)));
	}
	for (int i = 0; i < SPANS; i++)
		compare(f, STEPS, span_at(i));
}

/* Sums that pass 64 bits are refused, carried on or read anew. */
static void
too_much_is_refused(void **state)
{
	struct fixture *const f = *state;
	struct lt_run run = make_run(1, NOVEMBER, NOVEMBER + HOUR, INT64_MAX - 10);
	struct lt_account_sum *sums;
	uint32_t count;

	run.carbon_mg = 0;
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	compare(f, 0, span_at(0));
	run = make_run(2, NOVEMBER + LT_DAY_S, NOVEMBER + LT_DAY_S + HOUR, 11);
	(void)settle(f, &run, DECEMBER, NOVEMBER);
	for (int i = 0; i < 2; i++) {
		struct lt_error err = {0};

		assert_int_not_equal(
		    lt_ledger_sums(f->ledger, span_at(0), &sums, &count, &err), LT_OK);
		assert_null(sums);
	}
}

static int
steps(struct fixture *f, enum lt_sql sql)
{
	sqlite3_stmt *const statement = f->ledger->statements[sql];

	return statement == NULL ? 0 : sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
}

static void
a_look_reads_nothing_again(void **state)
{
	struct fixture *const f = *state;

	compare(f, 0, span_at(2));
	assert_true(steps(f, LT_SQL_SUMS) > 0);
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (int i = 0; i < 1000; i++)
		charge(f);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	charge(f);
	adjust(f);
	/* Who only looked in a transaction undoes nothing. */
	must(f, lt_ledger_begin(f->ledger, &f->err));
	lt_ledger_rollback(f->ledger);
	compare(f, 1, span_at(2));
	assert_int_equal(steps(f, LT_SQL_SUMS), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
		kept_sums_are_those_of_a_fresh_ledger, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(too_much_is_refused, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_look_reads_nothing_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
