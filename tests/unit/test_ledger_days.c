/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sums of a day, which a transaction writes once: equal to their entries for whoever reads
 * them, whatever is undone.
 */
#include "ledger_db.h"
#include "ledger_fixture.h"

/* Rows of days that differ from what their entries add up to. */
static int
apart(struct fixture *f)
{
	sqlite3_stmt *statement = NULL;
	int count = -1;

	assert_int_equal(sqlite3_prepare_v2(f->ledger->db[LT_DB_LEDGER],
			     "SELECT count(*) FROM"
			     " (SELECT at_utc_s / 86400 day, account, uid, kind,"
			     "  sum(money_micros) a, sum(carbon_mg) b, sum(energy_wh) c,"
			     "  sum(base_money_micros) d, sum(base_carbon_mg) e"
			     "  FROM entries GROUP BY 1, 2, 3, 4) s"
			     " FULL JOIN days USING (day, account, uid, kind)"
			     " WHERE a IS NOT money_micros OR b IS NOT days.carbon_mg"
			     "  OR c IS NOT days.energy_wh OR d IS NOT base_money_micros"
			     "  OR e IS NOT base_carbon_mg",
			     -1, &statement, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	count = sqlite3_column_int(statement, 0);
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
	return count;
}

static int64_t
charged(struct fixture *f)
{
	return money(f, "vision", LT_ENTRY_CHARGE, NOVEMBER, DECEMBER);
}

static struct lt_run
run_of(uint32_t job_id, int64_t money_micros)
{
	return make_run(job_id, NOVEMBER, NOVEMBER + HOUR, money_micros);
}

static void
settle_one(struct fixture *f, const struct lt_run *run)
{
	assert_true(settle(f, run, DECEMBER, NOVEMBER));
}

static void
sums_of_a_transaction_are_those_of_its_entries(void **state)
{
	struct fixture *const f = *state;
	const struct lt_run first = run_of(1, 100), second = run_of(2, 20);
	const struct lt_run third = run_of(3, 3);
	struct lt_account_sum *sums;
	uint32_t count;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	settle_one(f, &first);
	settle_one(f, &second);
	assert_int_equal(charged(f), 120);
	settle_one(f, &third);
	must(f, lt_ledger_sums(
		    f->ledger, (struct lt_span){NOVEMBER, DECEMBER}, &sums, &count, &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(sums[0].money_micros, 123);
	free(sums);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	assert_int_equal(charged(f), 123);
	assert_int_equal(apart(f), 0);
}

/* More accounts, users and days than are kept, each of them twice. */
static void
no_sum_is_lost_where_places_are_few(void **state)
{
	enum { OF_EACH = 9, ALL = OF_EACH * OF_EACH * OF_EACH };

	struct fixture *const f = *state;

	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = 0; i < 2 * ALL; i++) {
		struct lt_run run = run_of(i + 1, 1 + i);

		run.start_utc_s += i % OF_EACH * LT_DAY_S;
		run.end_utc_s += i % OF_EACH * LT_DAY_S;
		run.uid = UID + i / OF_EACH % OF_EACH;
		run.account[0] = (char)('a' + i / OF_EACH / OF_EACH % OF_EACH);
		settle_one(f, &run);
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
	assert_int_equal(apart(f), 0);
}

static void
what_is_undone_is_in_no_sum(void **state)
{
	struct fixture *const f = *state;
	const struct lt_run first = run_of(1, 100), second = run_of(2, 20);

	must(f, lt_ledger_begin(f->ledger, &f->err));
	settle_one(f, &first);
	lt_ledger_rollback(f->ledger);
	assert_int_equal(charged(f), 0);
	must(f, lt_ledger_begin(f->ledger, &f->err));
	settle_one(f, &first);
	must(f, lt_call_begin(f->ledger, LT_DB_LEDGER, &f->err));
	settle_one(f, &second);
	assert_int_equal(lt_call_end(f->ledger, LT_DB_LEDGER, LT_EINPUT, NULL), LT_EINPUT);
	assert_int_equal(charged(f), 100);
	must(f, lt_ledger_commit(f->ledger, &f->err));
	assert_int_equal(charged(f), 100);
	assert_int_equal(apart(f), 0);
}

/* Asked amid it or not: what passes 64 bits is not committed. */
static void
a_sum_that_is_too_large_is_refused(void **state)
{
	struct fixture *const f = *state;
	const struct lt_run big = run_of(1, INT64_MAX - 9);
	const struct lt_run next = run_of(2, 10);
	struct lt_totals totals[3];
	struct lt_run known;

	settle_one(f, &big);
	for (int asked = 0; asked < 2; asked++) {
		must(f, lt_ledger_begin(f->ledger, &f->err));
		settle_one(f, &next);
		if (asked)
			assert_int_equal(lt_ledger_totals(f->ledger, "vision",
					     (struct lt_span){NOVEMBER, DECEMBER}, totals, NULL),
			    LT_EOVERFLOW);
		assert_int_equal(lt_ledger_commit(f->ledger, NULL), LT_EOVERFLOW);
		assert_int_equal(lt_ledger_run(f->ledger, next.key, &known, NULL), LT_ENOENT);
	}
	assert_int_equal(charged(f), INT64_MAX - 9);
	assert_int_equal(apart(f), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    EACH(sums_of_a_transaction_are_those_of_its_entries),
	    EACH(no_sum_is_lost_where_places_are_few),
	    EACH(what_is_undone_is_in_no_sum),
	    EACH(a_sum_that_is_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
