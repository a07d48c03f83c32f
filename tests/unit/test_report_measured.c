/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report measured: runs put together to jobs, jobs to users, and only of accounts that are
 * seen.
 */
#include <jansson.h>

#include "api_ask.h"
#include "ledger_fixture.h"
#include "quoted.h"
#include "units.h"

enum { USERS = 40, KEPT = 10, DOLLAR = 1000000 };

static struct lt_account accounts[] = {{.name = "nlp"}, {.name = "vision"}};

static json_t *
ask(struct fixture *f)
{
	struct lt_policy policy = {.currency = "USD"};
	struct lt_daemon *const d = calloc(1, sizeof(*d));

	assert_non_null(d);
	d->ledger = f->ledger;
	d->site.policy = &policy;
	d->budget.has_snapshot = true;
	d->budget.snapshot.accounts = accounts;
	d->budget.snapshot.account_count = sizeof(accounts) / sizeof(*accounts);
	json_t *const json = api_ask(d, "/v1/report?period=2026-11", 200);
	free(d);
	return json;
}

static int64_t
figure(const json_t *of, const char *key)
{
	const json_t *const value = json_object_get(of, key);

	if (!json_is_integer(value))
		fail_msg("%s is no figure", key);
	return json_integer_value(value);
}

static void
put(struct fixture *f, const struct lt_quoted *row)
{
	must(f, lt_ledger_put_quoted(f->ledger, row, &f->err));
}

/* Of user u a job that was expected to cost 1 + u dollars at home, in two runs where u is even: at
 * home it did, and half of it where it was moved. */
static void
put_user(struct fixture *f, uint32_t u)
{
	const bool is_kept = u < KEPT;
	const int64_t home = (int64_t)(1 + u) * DOLLAR;
	const int64_t charged = is_kept ? home : home / 2;
	struct lt_quoted row = {.run = {100 + u, NOVEMBER},
	    .quote_id = 1 + u,
	    .compared = is_kept ? LT_COMPARED_KEPT : LT_COMPARED_MOVED,
	    .draw = UINT64_MAX - u,
	    .plan = {.has_money = true, .money_micros = charged},
	    .home = {true, true, home, 0},
	    .charged = {true, true, charged, 5},
	    .base = {.has_money = true, .money_micros = home - DOLLAR / 4},
	    .work = {.has_money = true, .money_micros = 2 * home},
	    .end_utc_s = NOVEMBER + 100,
	    .end = LT_QUOTED_COMPLETED};

	snprintf(row.account, sizeof(row.account), u % 3 == 0 ? "nlp" : "vision");
	if (u % 2 == 0) {
		row.charged.money_micros = charged / 4;
		row.base.money_micros = DOLLAR / 8;
		row.work.money_micros = 0;
		row.end = LT_QUOTED_OTHER;
		put(f, &row);
		row.run.submit_utc_s += 50;
		row.charged.money_micros = charged - charged / 4;
		row.base.money_micros = home - DOLLAR / 4 - DOLLAR / 8;
		row.work.money_micros = 2 * home;
		row.end_utc_s += 100;
		row.end = LT_QUOTED_COMPLETED;
		row.left = u == 2;
	}
	put(f, &row);
}

/* What each of the first users' holds had it start later than at home: u hours, of which those of
 * users 12 and 14 had their jobs start earlier, and those of kept ones cost nobody's time. */
static void
put_holds(struct fixture *f)
{
	for (uint32_t u = 0; u < 20; u++) {
		struct lt_ledger_hold hold = make_hold(1 + u, 1);

		hold.quote.home_start_utc_s = NOVEMBER;
		hold.quote.plan_start_utc_s =
		    NOVEMBER + (u == 12 || u == 14 ? -HOUR : (int64_t)u * HOUR);
		must(f, lt_ledger_put_hold(f->ledger, &hold, &f->err));
	}
}

static void
test_figures(void **state)
{
	struct fixture *const f = *state;

	for (uint32_t u = 0; u < USERS; u++)
		put_user(f, u);
	put_holds(f);
	json_t *const report = ask(f);
	const json_t *const measured = json_object_get(report, "measured");
	const json_t *const money = json_object_get(measured, "micros");
	const json_t *const carbon = json_object_get(measured, "mg");
	/* 11 + ... + 40 dollars, of which half was charged. */
	const int64_t home = (int64_t)(11 + 40) * 30 / 2 * DOLLAR;

	assert_int_equal(figure(measured, "moved_jobs"), USERS - KEPT);
	assert_int_equal(figure(measured, "kept_jobs"), KEPT);
	assert_int_equal(figure(measured, "left_jobs"), 1);
	/* 10 + 11 + 13 + 15 + ... + 19, whatever the number of their runs. */
	assert_int_equal(
	    figure(measured, "waited_s"), (10 + 11 + 13 + 15 + 16 + 17 + 18 + 19) * HOUR);
	assert_int_equal(figure(money, "kept_user_days"), KEPT);
	assert_int_equal(figure(money, "charged"), home / 2);
	assert_int_equal(figure(money, "saved"), home / 2);
	assert_true(llabs(figure(money, "saved_low") - home / 2) < 1000);
	assert_true(llabs(figure(money, "saved_high") - home / 2) < 1000);
	assert_int_equal(figure(money, "modelled"), home / 2 - 30 * (DOLLAR / 4));
	assert_true(llabs(figure(money, "by_quote_low") - home / 2) < 1000);
	assert_true(llabs(figure(money, "by_quote_high") - home / 2) < 1000);
	/* What the work emits at home is not known. */
	assert_int_equal(figure(carbon, "kept_user_days"), 0);
	assert_true(json_is_null(json_object_get(carbon, "saved")));
	json_decref(report);
}

/* One side of a deadline each, and one that failed of itself. */
static void
test_quotes(void **state)
{
	static const struct {
		int64_t plan, charged, end_s;
		enum lt_quoted_end end;
	} jobs[] = {
	    {100, 100, 10, LT_QUOTED_COMPLETED}, /* 0 % */
	    {150, 100, 11, LT_QUOTED_COMPLETED}, /* 50 %, too late */
	    {90, 100, 9, LT_QUOTED_COMPLETED},	 /* 10 % */
	    {300, 100, 10, LT_QUOTED_COMPLETED}, /* 200 % */
	    {100, 500, 10, LT_QUOTED_OUT_OF_TIME},
	    {100, 900, 3, LT_QUOTED_OTHER},
	};
	struct fixture *const f = *state;
	struct lt_quoted row = {.account = "nlp",
	    .plan.has_money = true,
	    .charged.has_money = true,
	    .deadline_utc_s = NOVEMBER + 10,
	    .stated_ppm = 950000};

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		row.run = (struct lt_run_key){i + 1, NOVEMBER};
		row.quote_id = i + 1;
		row.plan.money_micros = jobs[i].plan;
		row.charged.money_micros = jobs[i].charged;
		row.end_utc_s = NOVEMBER + jobs[i].end_s;
		row.end = jobs[i].end;
		put(f, &row);
	}
	/* Nobody sees this account, and that run is not of the month. */
	row.run.job_id = 50;
	row.quote_id = 50;
	snprintf(row.account, sizeof(row.account), "gone");
	put(f, &row);
	row.run.job_id = 51;
	row.quote_id = 51;
	snprintf(row.account, sizeof(row.account), "nlp");
	row.end_utc_s = DECEMBER;
	put(f, &row);
	json_t *const report = ask(f);
	const json_t *const measured = json_object_get(report, "measured");
	const json_t *const quotes = json_object_get(measured, "quotes");

	assert_int_equal(figure(measured, "moved_jobs"), 0);
	assert_int_equal(figure(quotes, "jobs"), 4);
	/* Between 10 and 50 %. */
	assert_int_equal(figure(quotes, "median_error_ppm"), 300000);
	assert_true(json_is_null(json_object_get(quotes, "median_error_mg_ppm")));
	assert_int_equal(figure(quotes, "deadline_jobs"), 5);
	assert_int_equal(figure(quotes, "deadlines_met"), 3);
	assert_int_equal(figure(quotes, "stated_ppm"), 950000);
	json_decref(report);
}

/* Jobs beside what they would have come to at home: of the two that are not compared and the one of
 * which nothing is known none counts. */
static void
test_worse(void **state)
{
	static const struct {
		struct lt_amount charged, base;
		enum lt_compared compared;
	} jobs[] = {
	    {{true, true, 90, 90}, {true, true, 100, 100}, LT_COMPARED_MOVED},
	    {{true, true, 102, 90}, {true, true, 100, 100}, LT_COMPARED_MOVED},
	    {{true, true, 90, 102}, {true, true, 100, 100}, LT_COMPARED_MOVED},
	    {{true, true, 102, 102}, {true, true, 100, 100}, LT_COMPARED_MOVED},
	    {{true, true, 101, 101}, {true, true, 100, 100}, LT_COMPARED_MOVED},
	    {{true, false, 300, 0}, {true, false, 100, 0}, LT_COMPARED_MOVED},
	    {{true, true, 300, 300}, {false, false, 0, 0}, LT_COMPARED_MOVED},
	    {{true, true, 300, 300}, {true, true, 100, 100}, LT_COMPARED_KEPT},
	    {{true, true, 300, 300}, {true, true, 100, 100}, LT_COMPARED_NOT},
	};
	struct fixture *const f = *state;

	for (uint32_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		put(f, &(struct lt_quoted){.run = {i + 1, NOVEMBER},
			   .quote_id = i + 1,
			   .account = "nlp",
			   .compared = jobs[i].compared,
			   .charged = jobs[i].charged,
			   .base = jobs[i].base,
			   .end_utc_s = NOVEMBER + 10});
	json_t *const report = ask(f);
	const json_t *const worse = json_object_get(json_object_get(report, "measured"), "worse");

	assert_int_equal(figure(worse, "known_jobs"), 6);
	assert_int_equal(figure(worse, "jobs"), 4);
	assert_int_equal(figure(worse, "money_jobs"), 3);
	assert_int_equal(figure(worse, "carbon_jobs"), 2);
	json_decref(report);
}

static void
test_nothing(void **state)
{
	json_t *const report = ask(*state);

	assert_null(json_object_get(report, "measured"));
	json_decref(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_figures, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_quotes, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_worse, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
