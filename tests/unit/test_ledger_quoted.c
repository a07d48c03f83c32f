/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs beside their quotes: what is put comes back, one row a run, of the period in which it ended.
 */
#include "ledger_fixture.h"

#include "quoted.h"

enum { MOST = 8 };
struct seen {
	struct lt_quoted items[MOST];
	int count;
};

static int
see(void *context, const struct lt_quoted *quoted, struct lt_error *err)
{
	struct seen *const seen = context;

	(void)err;
	assert_in_range(seen->count, 0, MOST - 1);
	seen->items[seen->count++] = *quoted;
	return LT_OK;
}

static struct seen
look(struct fixture *f, int64_t from_utc_s, int64_t to_utc_s)
{
	struct seen seen = {.count = 0};

	must(f, lt_ledger_each_quoted(
		    f->ledger, (struct lt_span){from_utc_s, to_utc_s}, see, &seen, &f->err));
	return seen;
}

static struct lt_quoted
quoted_of(uint32_t job_id, int64_t submit_utc_s, int64_t end_utc_s)
{
	return (struct lt_quoted){.run = {job_id, submit_utc_s},
	    .quote_id = UINT64_MAX - job_id,
	    .account = "vision",
	    .compared = LT_COMPARED_KEPT,
	    .draw = UINT64_MAX,
	    .plan = {true, false, 4100000, 0},
	    .home = {true, true, 5200000, 7},
	    .charged = {true, true, -3, 0},
	    .base = {false, true, 0, 9},
	    .work = {true, true, 17, 18},
	    .end_utc_s = end_utc_s,
	    .end = LT_QUOTED_OUT_OF_TIME,
	    .left = true,
	    .deadline_utc_s = NOVEMBER + 5,
	    .stated_ppm = 950000};
}

static void
comes_back(void **state)
{
	struct fixture *const f = *state;
	struct lt_quoted row = quoted_of(7, NOVEMBER - 9, NOVEMBER);

	must(f, lt_ledger_put_quoted(f->ledger, &row, &f->err));
	row.charged.money_micros = 44;
	must(f, lt_ledger_put_quoted(f->ledger, &row, &f->err));
	reopen(f);
	const struct seen seen = look(f, NOVEMBER, NOVEMBER + 1);
	const struct lt_quoted *const is = &seen.items[0];

	assert_int_equal(seen.count, 1);
	assert_int_equal(is->run.job_id, 7);
	assert_int_equal(is->run.submit_utc_s, NOVEMBER - 9);
	assert_int_equal(is->quote_id, UINT64_MAX - 7);
	assert_string_equal(is->account, "vision");
	assert_int_equal(is->compared, LT_COMPARED_KEPT);
	assert_int_equal(is->draw, UINT64_MAX);
	assert_true(is->plan.has_money && !is->plan.has_carbon);
	assert_int_equal(is->plan.money_micros, 4100000);
	assert_int_equal(is->home.carbon_mg, 7);
	assert_int_equal(is->charged.money_micros, 44);
	assert_true(is->charged.has_carbon);
	assert_false(is->base.has_money);
	assert_int_equal(is->base.carbon_mg, 9);
	assert_int_equal(is->work.money_micros, 17);
	assert_int_equal(is->work.carbon_mg, 18);
	assert_int_equal(is->end, LT_QUOTED_OUT_OF_TIME);
	assert_true(is->left);
	assert_int_equal(is->deadline_utc_s, NOVEMBER + 5);
	assert_int_equal(is->stated_ppm, 950000);
}

static void
by_its_end(void **state)
{
	struct fixture *const f = *state;
	const struct lt_quoted rows[] = {quoted_of(3, NOVEMBER + 2, NOVEMBER + 60),
	    quoted_of(3, NOVEMBER - 2, NOVEMBER), quoted_of(4, NOVEMBER - 2, NOVEMBER + 61),
	    quoted_of(5, NOVEMBER - 2, NOVEMBER - 1)};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		must(f, lt_ledger_put_quoted(f->ledger, &rows[i], &f->err));
	const struct seen seen = look(f, NOVEMBER, NOVEMBER + 61);

	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.items[0].run.submit_utc_s, NOVEMBER - 2);
	assert_int_equal(seen.items[1].run.submit_utc_s, NOVEMBER + 2);
	assert_int_equal(look(f, NOVEMBER + 62, NOVEMBER + 99).count, 0);
}

/* Those that came since: of any state, and none that had one. */
static void
no_smoke(void **state)
{
	struct fixture *const f = *state;
	uint32_t count;

	for (uint64_t id = 1; id <= 5; id++) {
		struct lt_ledger_hold hold = make_hold(id, 1);

		hold.quote.flags =
		    id == 2 ? LT_QUOTE_CHECKPOINT : LT_QUOTE_NO_SMOKE | LT_QUOTE_HELD_OUT;
		hold.made_utc_s += (int64_t)id * HOUR;
		must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	}
	must(f, lt_ledger_end_hold(f->ledger, 4, LT_HOLD_VOID, "", &f->err));
	must(f, lt_ledger_no_smoke(f->ledger, NOVEMBER + 2 * HOUR, &count, &f->err));
	assert_int_equal(count, 3);
	must(f, lt_ledger_no_smoke(f->ledger, NOVEMBER + 5 * HOUR + 1, &count, &f->err));
	assert_int_equal(count, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(comes_back, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(by_its_end, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(no_smoke, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
