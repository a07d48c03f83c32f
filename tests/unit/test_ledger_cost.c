/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of a ledger grows with what is asked for, not with what it has:
 * counted in the steps of SQLite's machine, never in seconds. And one query may be made within
 * itself.
 */
#include "ledger_fixture.h"

#include <sqlite3.h>

#include "ledger_db.h"
#include "periods.h"

enum { FEW = 200, MANY = 4000, PAGE = 100, APART_S = HOUR / 2 };

/* Of that statement since it was asked last. */
static int
steps(struct fixture *f, enum lt_sql sql)
{
	assert_non_null(f->ledger->statements[sql]);
	return sqlite3_stmt_status(f->ledger->statements[sql], SQLITE_STMTSTATUS_VM_STEP, 1);
}

/* Runs `from` to `to`, each 10th one odd up to the 20th, and a hold each. */
static void
fill(struct fixture *f, uint32_t from, uint32_t to)
{
	must(f, lt_ledger_begin(f->ledger, &f->err));
	for (uint32_t i = from; i < to; i++) {
		struct lt_run run =
		    make_run(i + 1, NOVEMBER + i * APART_S, NOVEMBER + i * APART_S + HOUR, 7);
		const struct lt_ledger_hold hold = make_hold(i + 1, 1);

		run.provisional = i < 20 && i % 10 == 0;
		settle(f, &run, DECEMBER, NOVEMBER);
		must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	}
	must(f, lt_ledger_commit(f->ledger, &f->err));
}

struct page {
	uint32_t seen, count;
	struct lt_run last;
};

static int
take_run(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	struct page *const page = context;

	(void)booked;
	(void)err;
	assert_int_equal(run->key.job_id, ++page->seen);
	page->count++;
	page->last = *run;
	return LT_OK;
}

/* All pages; the most steps that one of them took. */
static int
read_pages(struct fixture *f, uint32_t want)
{
	struct page page = {.count = PAGE};
	struct lt_runs_asked asked = {.account = "vision",
	    .from_utc_s = NOVEMBER,
	    .to_utc_s = NOVEMBER + MANY * APART_S,
	    .most = PAGE};
	int most = 0;

	while (page.count == PAGE) {
		page.count = 0;
		must(f, lt_ledger_runs(f->ledger, &asked, take_run, &page, &f->err));
		asked.after = &page.last;
		const int took = steps(f, LT_SQL_RUNS_NEAR);
		most = took > most ? took : most;
	}
	assert_int_equal(page.seen, want);
	return most;
}

/* Of the first hour: what ended later is not looked at. */
static int
count_runs(struct fixture *f)
{
	struct lt_totals totals[3];

	must(f, lt_ledger_totals(f->ledger, "vision", (struct lt_span){NOVEMBER, NOVEMBER + HOUR},
		    totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].runs, 2);
	(void)steps(f, LT_SQL_RUNS_ODD);
	return steps(f, LT_SQL_RUN_COUNTS);
}

/* Of all accounts, of the first hour. */
static int
read_hour(struct fixture *f)
{
	const struct lt_runs_asked asked = {.from_utc_s = NOVEMBER, .to_utc_s = NOVEMBER + HOUR};
	struct page page = {0};

	must(f, lt_ledger_runs(f->ledger, &asked, take_run, &page, &f->err));
	assert_int_equal(page.count, 2);
	return steps(f, LT_SQL_ALL_NEAR) + steps(f, LT_SQL_ALL_FAR);
}

static int
count_odd(struct fixture *f)
{
	struct lt_totals totals[3];

	must(f, lt_ledger_totals(
		    f->ledger, "vision", (struct lt_span){NOVEMBER, DECEMBER}, totals, &f->err));
	assert_int_equal(totals[LT_ENTRY_CHARGE].provisional_runs, 2);
	(void)steps(f, LT_SQL_RUN_COUNTS);
	return steps(f, LT_SQL_RUNS_ODD);
}

static int
take_none(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	(void)context;
	(void)entry;
	(void)err;
	fail_msg("nobody adjusted anything");
	return LT_OK;
}

static int
take_any(
    void *context, const struct lt_run *run, const struct lt_booked *booked, struct lt_error *err)
{
	(void)context;
	(void)run;
	(void)booked;
	(void)err;
	return LT_OK;
}

/* Of the whole month: there are none, whatever was charged in it. */
static int
find_adjustments(struct fixture *f)
{
	must(f, lt_ledger_adjustments(
		    f->ledger, (struct lt_span){NOVEMBER, DECEMBER}, take_none, NULL, &f->err));
	return steps(f, LT_SQL_ADJUSTMENTS);
}

static int
find_corrected(struct fixture *f)
{
	const struct lt_runs_asked asked = {.from_utc_s = NOVEMBER, .to_utc_s = DECEMBER};

	must(f, lt_ledger_runs(f->ledger, &asked, take_any, NULL, &f->err));
	(void)steps(f, LT_SQL_ALL_NEAR);
	(void)steps(f, LT_SQL_ALL_FAR);
	return steps(f, LT_SQL_ALL_CORRECTED);
}

static int
find_hold(struct fixture *f)
{
	struct lt_ledger_hold hold;

	must(f, lt_ledger_hold(f->ledger, FEW / 2, &hold, &f->err));
	return steps(f, LT_SQL_HOLD_GET);
}

static void
cost_is_of_what_is_asked(void **state)
{
	static const struct {
		const char *what;
		int (*read)(struct fixture *f);
	} reads[] = {{"odd runs", count_odd}, {"a hold", find_hold},
	    {"runs of an hour", count_runs}, {"rows of an hour", read_hour},
	    {"adjustments of a month", find_adjustments},
	    {"runs that are corrected in a month", find_corrected}};
	enum { READS = sizeof(reads) / sizeof(*reads) };
	struct fixture *const f = *state;
	int of_few[READS];

	fill(f, 0, FEW);
	const int page = read_pages(f, FEW);
	for (int i = 0; i < READS; i++)
		of_few[i] = reads[i].read(f);
	fill(f, FEW, MANY);
	const int later = read_pages(f, MANY);
	if (later > page * 11 / 10)
		fail_msg("a page: %d steps of %d runs, %d of %d", page, FEW, later, MANY);
	for (int i = 0; i < READS; i++) {
		const int of_many = reads[i].read(f);

		if (of_many > of_few[i] * 11 / 10)
			fail_msg("%s: %d steps of %d, %d of %d", reads[i].what, of_few[i], FEW,
			    of_many, MANY);
	}
}

struct nested {
	struct fixture *f;
	uint32_t outer, inner;
};

static int
count_inner(void *context, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct nested *const n = context;

	(void)hold;
	(void)err;
	n->inner++;
	return LT_OK;
}

static int
count_outer(void *context, const struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct nested *const n = context;

	assert_int_equal(hold->quote.id, ++n->outer);
	return lt_ledger_each_open(n->f->ledger, count_inner, n, err);
}

/* Who is answered amid a query may ask for the same. */
static void
a_query_within_itself(void **state)
{
	struct fixture *const f = *state;
	struct nested n = {.f = f};

	fill(f, 0, 10);
	must(f, lt_ledger_each_open(f->ledger, count_outer, &n, &f->err));
	assert_int_equal(n.outer, 10);
	assert_int_equal(n.inner, 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_query_within_itself, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(cost_is_of_what_is_asked, set_up, tear_down)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
