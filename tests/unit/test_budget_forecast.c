/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a budget is expected to come to: against sums of the test's own, with accounts below the
 * team, in money and carbon, where nothing is known, where the ledger can't be read; and what is
 * told of it.
 */
#include "alert.h"
#include "alerting.h"
#include "alerts.h"
#include "budget_forecast.h"
#include "judge_fixture.h"

#include <math.h>
#include <sqlite3.h>

enum {
	DAYS = 5, /* of the period, before NOW */
	EVEN = 34000,
	EVEN_MG = 20000,
};

/* vision has an account below it; free has no budget. */
static struct world *
make_site(struct fixture *f)
{
	struct world *const w = make_world(f);

	w->accounts[2] = (struct lt_batch_account){"lab", "vision"};
	for (int i = 0; i < 2; i++) {
		w->budgets[i].alert_count = 1;
		w->budgets[i].alert_at[0] = 100;
		w->budgets[i].alert_on = 1u << LT_ALERT_ON_FORECAST;
	}
	w->d->charges.settled_until_utc_s = NOW;
	return w;
}

static void
charge_at(struct world *w, const char *account, int64_t at_utc_s, const struct lt_amount *amount)
{
	charge_run(w->f, account, at_utc_s, amount);
}

static void
charge(struct world *w, const char *account, int day, int64_t money_micros)
{
	charge_at(w, account, NOVEMBER + day * LT_DAY_S + 7200,
	    &(struct lt_amount){true, true, money_micros, 0});
}

static struct lt_period_forecast
forecast_of(struct world *w, uint32_t index, int64_t now_utc_s)
{
	compile(w, now_utc_s);
	must(w->f, lt_budget_forecasts(alerter_of(w->d, now_utc_s), &w->f->err));
	return lt_budget_forecast_of(&w->d->budget, index);
}

static void
check_range(const struct lt_forecast_range *got, const struct lt_forecast_range *want)
{
	assert_int_equal(got->known, want->known);
	assert_int_equal(got->low, want->low);
	assert_int_equal(got->expected, want->expected);
	assert_int_equal(got->high, want->high);
}

/* Days as they are, of three accounts; none of them is like another. The team has its part of the
 * site's: by what each account alone would have. */
static void
test_sums(void **state)
{
	enum { OWN, BELOW, OTHERS, TEAM, SITE, SERIES };
	struct world *const w = make_site(*state);
	static struct lt_day_amounts days[SERIES][DAYS + 30];
	const int64_t first = NOVEMBER / LT_DAY_S;
	struct lt_period_days of = {.first_day = first,
	    .last_day = first + 29,
	    .today = first + DAYS,
	    .known_from = first - 30,
	    .count = DAYS + 30};
	struct lt_period_forecast by[SERIES];
	int64_t spent[SERIES] = {0}, micros[SERIES];

	w->budgets[0].limit.has_carbon = true;
	w->budgets[0].limit.carbon_mg = BUDGET;
	for (int i = 0; i < DAYS + 30; i++) {
		const int64_t at = NOVEMBER + (i - 30) * LT_DAY_S;
		const struct lt_amount all[] = {{true, true, 7000 + i * 131 % 997, i * 17 % 59},
		    {true, true, i * 311 % 4001, 5}, {true, true, i % 7 * 40000, 90000}};

		charge_at(w, "vision", at + HOUR, &all[OWN]);
		charge_at(w, "lab", at + 23 * HOUR, &all[BELOW]);
		charge_at(w, "free", at + HOUR, &all[OTHERS]);
		for (int k = 0; k < SERIES; k++)
			days[k][i].day = first + i - 30;
		for (int k = 0; k <= OTHERS; k++) {
			days[k][i].money_micros = all[k].money_micros;
			days[SITE][i].money_micros += all[k].money_micros;
			if (k != OTHERS)
				days[TEAM][i].money_micros += all[k].money_micros;
		}
		for (int k = 0; i >= 30 && k < SERIES; k++)
			spent[k] += days[k][i].money_micros;
	}
	/* What is booked is spent, and tells nothing of the days to come. */
	adjust_account(w->f, "lab", NOVEMBER + 3 * LT_DAY_S, 450000);
	adjust_account(w->f, "vision", NOVEMBER + LT_DAY_S + HOUR, -70000);
	adjust_account(w->f, "vision", NOVEMBER - LT_DAY_S, 900000); /* October's */
	for (int k = 0; k < SERIES; k++) {
		of.days = days[k];
		must(w->f, lt_period_forecast(&by[k], &of, &w->f->err));
		micros[k] = by[k].money.expected - spent[k];
	}
	const struct lt_period_forecast got = forecast_of(w, 0, NOW);
	const double part = (double)(micros[OWN] + micros[BELOW]) /
			    (double)(micros[OWN] + micros[BELOW] + micros[OTHERS]);
	const double want = (double)(spent[TEAM] + 450000 - 70000) + part * (double)micros[SITE];
	const int64_t alone = by[TEAM].money.expected + 450000 - 70000;
	assert_true(fabs((double)got.money.expected - want) <= 2);
	assert_true(llabs(got.money.expected - alone) > 1000);
	/* The range is its own. */
	assert_int_equal(got.money.low, by[TEAM].money.low + 450000 - 70000);
	assert_int_equal(got.money.high, by[TEAM].money.high + 450000 - 70000);
	assert_true(got.carbon.known && got.carbon.expected > 0);
	/* Speech is no account of this site's any more: it spent nothing. */
	assert_int_equal(forecast_of(w, 1, NOW).money.expected, 0);
	free_world(w);
}

/* The first hours of November are October's by UTC. */
static void
test_zone(void **state)
{
	struct world *const w = make_site(*state);
	const int64_t first = NOVEMBER / LT_DAY_S;
	struct lt_day_amounts days[DAYS] = {{0}};
	struct lt_period_days of = {.first_day = first,
	    .last_day = first + 29,
	    .today = first + DAYS,
	    .today_gone_ppm = LT_MICROS / 24,
	    .known_from = first,
	    .days = days,
	    .count = DAYS};
	struct lt_period_forecast want;

	w->d->site.offsets = (struct lt_offsets){.count = 1, .steps = {{INT64_MIN, HOUR, "CET"}}};
	for (int i = 0; i < DAYS; i++) {
		days[i] = (struct lt_day_amounts){first + i, 1000 + i, 0};
		charge(w, "vision", i, 1000 + i);
	}
	charge_at(w, "vision", NOVEMBER - 1800, &(struct lt_amount){true, true, 500, 0});
	of.booked_micros = 500;
	must(w->f, lt_period_forecast(&want, &of, &w->f->err));
	const struct lt_period_forecast got = forecast_of(w, 0, NOW);
	check_range(&got.money, &want.money);
	free_world(w);
}

static void
test_unknown(void **state)
{
	struct world *const w = make_site(*state);

	/* Nothing yet; an hour of a first day. */
	assert_false(forecast_of(w, 0, NOW).money.known);
	charge(w, "vision", DAYS, EVEN);
	w->d->charges.settled_until_utc_s = NOW + 3 * HOUR;
	assert_false(forecast_of(w, 0, NOW + 3 * HOUR).money.known);
	/* The next day it is; for the next month not until it was made. */
	w->d->charges.settled_until_utc_s = DECEMBER;
	assert_true(forecast_of(w, 0, NOW + LT_DAY_S).money.known);
	compile(w, DECEMBER);
	assert_false(lt_budget_forecast_of(&w->d->budget, 0).money.known);
	assert_true(forecast_of(w, 0, DECEMBER).money.known);
	free_world(w);
}

/* Reports want it of budgets without alerts too, and of none before its time. */
static void
test_without_alerts(void **state)
{
	struct world *const w = make_site(*state);

	charge(w, "vision", 0, EVEN);
	w->budgets[0].alert_on = 0;
	w->budgets[0].alert_count = 0;
	assert_true(forecast_of(w, 0, NOW).money.known);
	free_world(w);
}

/* "days" by another name: reads of it fail. */
static void
rename_days(struct world *w, const char *from, const char *to)
{
	char path[128], sql[128];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/ledger.db", w->f->dir);
	snprintf(sql, sizeof(sql), "ALTER TABLE %s RENAME TO %s", from, to);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static struct lt_alerts
look(struct world *w, int64_t now_utc_s)
{
	struct lt_alerts all = {0};

	must(w->f, lt_alerts_run(alerter_of(w->d, now_utc_s), &w->f->err));
	must(w->f, lt_ledger_alerts_last(w->f->ledger, &all, &w->f->err));
	return all;
}

static uint32_t
times_told(struct world *w, int64_t now_utc_s)
{
	struct lt_alerts all = look(w, now_utc_s);
	const uint32_t times = all.count > 0 ? all.rows[0].times : 0;

	assert_true(all.count <= 1);
	free(all.rows);
	return times;
}

static void
restart(struct world *w)
{
	reopen(w->f);
	w->d->ledger = w->f->ledger;
	free(w->d->budget.forecasts);
	w->d->budget.forecasts = NULL;
	w->d->budget.forecast_count = 0;
}

static void
test_told(void **state)
{
	struct world *const w = make_site(*state);
	struct lt_error err = {0};

	for (int i = 0; i < DAYS; i++) {
		charge(w, "vision", i, EVEN - 14000);
		charge(w, "lab", i, 14000);
	}
	assert_int_equal(forecast_of(w, 0, NOW).money.expected, 30 * EVEN);
	struct lt_alerts all = look(w, NOW);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.rows[0].subject,
	    "lowtide: vision is expected to spend 100 % of its budget for 2026-11");
	assert_non_null(strstr(all.rows[0].text,
	    "vision is expected to spend $1.02 of $1.00 for 2026-11: 100 % and more.\n"
	    "It has spent $0.17 so far. In 8 of 10 cases it comes to between $"));
	assert_non_null(strstr(all.rows[0].text,
	    ".\n\n"
	    "Now:     lowtide budget --team vision\n"
	    "By whom: lowtide report --team vision --by user\n"
	    "By day:  lowtide report --team vision --from 2026-11-01 --to 2026-11-30 --format html -o vision.html\n"));
	free(all.rows);
	/* Once: over restarts, without a figure, and with it again. */
	restart(w);
	assert_int_equal(times_told(w, NOW + 1), 1);
	/* The ledger can't be read: an old figure stays, else none is known. */
	rename_days(w, "days", "lost");
	assert_int_not_equal(lt_budget_forecasts(alerter_of(w->d, NOW + 2), &err), LT_OK);
	assert_int_equal(times_told(w, NOW + 2), 1);
	rename_days(w, "lost", "days");
	assert_true(forecast_of(w, 0, NOW + 3).money.known);
	assert_int_equal(times_told(w, NOW + 3), 1);
	rename_days(w, "days", "lost");
	assert_int_not_equal(lt_budget_forecasts(alerter_of(w->d, NOW + 4), &err), LT_OK);
	assert_true(lt_budget_forecast_of(&w->d->budget, 0).money.known);
	rename_days(w, "lost", "days");
	/* Credits of today move it by as much: to 96 %, and it is not back. */
	charge(w, "lab", DAYS, -60000);
	(void)forecast_of(w, 0, NOW + 5);
	assert_int_equal(times_told(w, NOW + 5), 1);
	/* What slurmdbd's rows lack would look saved: the figure stays. */
	charge(w, "lab", DAYS, -20000);
	const int64_t before = lt_budget_forecast_of(&w->d->budget, 0).money.expected;
	assert_int_equal(forecast_of(w, 0, NOW + HOUR + 1).money.expected, before);
	/* To 94 %: back. And risen again. */
	w->d->charges.settled_until_utc_s = NOW + LT_DAY_S / 2;
	assert_true(forecast_of(w, 0, NOW + 6).money.expected < before);
	assert_int_equal(times_told(w, NOW + 6), 1);
	charge(w, "vision", DAYS, 80000);
	(void)forecast_of(w, 0, NOW + 7);
	assert_int_equal(times_told(w, NOW + 7), 2);
	assert_int_equal(times_told(w, NOW + 8), 2);
	free_world(w);
}

static void
test_carbon(void **state)
{
	struct world *const w = make_site(*state);

	w->budgets[0].limit = (struct lt_amount){.has_carbon = true, .carbon_mg = 500000};
	for (int i = 0; i < DAYS; i++)
		charge_at(w, "vision", NOVEMBER + i * LT_DAY_S,
		    &(struct lt_amount){true, true, EVEN, EVEN_MG});
	assert_int_equal(forecast_of(w, 0, NOW).carbon.expected, 30 * EVEN_MG);
	struct lt_alerts all = look(w, NOW);
	assert_int_equal(all.count, 1);
	assert_non_null(strstr(all.rows[0].text,
	    "vision is expected to spend 600 g of 500 g for 2026-11: 100 % and more.\n"
	    "It has spent 100 g so far."));
	free(all.rows);
	free_world(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_sums), TEST(test_zone), TEST(test_unknown),
	    TEST(test_without_alerts), TEST(test_told), TEST(test_carbon)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
