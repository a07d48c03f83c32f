/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forecasts of accounts add up to the site's, to the micro, whatever they used; and are as good as
 * each account's own would be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "period_end.h"
#include "units.h"

enum {
	NOV_1 = 20758, /* 2026-11-01, a Sunday */
	MONTH = 30,
	BEFORE = 56,
	ALL = BEFORE + MONTH,
	ACCOUNTS = 12,
	CENT = 10000,
};

static const struct lt_offsets utc;
static const struct lt_span november = {
    (int64_t)NOV_1 * LT_DAY_S, (int64_t)(NOV_1 + MONTH) * LT_DAY_S};

/* Of a site's days; [BEFORE] is the first of November. */
static int64_t amounts[ACCOUNTS][ALL];

static double
uniform(uint64_t *state)
{
	return (double)(lt_random(state) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *state)
{
	return sqrt(-2 * log(1 - uniform(state))) * cos(2 * M_PI * uniform(state));
}

/* Noise, a wandering level, weekends, lone giants; some come, some go. */
static void
make_account(int account, uint64_t *random)
{
	const int kind = (int)(lt_random(random) % 4);
	const double size = 100 * exp(normal(random)) * CENT;
	const int from = lt_random(random) % 4 == 0 ? (int)(lt_random(random) % ALL) : 0;
	double level = 1;

	for (int i = 0; i < ALL; i++) {
		double value = exp(0.5 * normal(random));

		level *= exp(0.05 * normal(random));
		if (kind == 1)
			value *= level;
		else if (kind == 2)
			value *= i % 7 == 0 || i % 7 == 6 ? 0.1 : 1;
		else if (kind == 3)
			value = uniform(random) < 0.06 ? 12 * value : 0;
		amounts[account][i] = i < from ? 0 : (int64_t)(size * value);
	}
}

/* At the begin of that day of the month, from 1, or later in it; carbon is by other rules, and goes
 * to and fro. */
static void
set_last(struct lt_last_days *last, int day, int64_t into_s)
{
	*last = (struct lt_last_days){.offsets = &utc,
	    .now_utc_s = november.from_utc_s + (day - 1) * LT_DAY_S + into_s,
	    .first_utc_s = november.from_utc_s - BEFORE * LT_DAY_S,
	    .count = ACCOUNTS,
	    .uses = calloc(ACCOUNTS, sizeof(*last->uses))};
	assert_non_null(last->uses);
	for (int a = 0; a < ACCOUNTS; a++)
		for (int i = 0; i <= LT_PERIOD_FORECAST_DAYS; i++) {
			const int at = BEFORE + day - 1 - LT_PERIOD_FORECAST_DAYS + i;
			const bool is_today = i == LT_PERIOD_FORECAST_DAYS;
			const int64_t micros =
			    at < 0 || (is_today && into_s == 0) ? 0 : amounts[a][at];
			const int64_t mg = a == 3 ? -micros / 3 : micros * a;
			struct lt_use *const use = &last->uses[a];

			use->is_any |= micros != 0;
			use->days[i].money_micros = micros;
			use->days[i].carbon_mg = mg;
			last->all.days[i].money_micros += micros;
			last->all.days[i].carbon_mg += mg;
		}
}

/* By lt_period_forecast() alone, of the days of some accounts. */
static struct lt_period_forecast
alone(const struct lt_last_days *last, const bool in[ACCOUNTS], int day)
{
	struct lt_day_amounts days[LT_PERIOD_FORECAST_DAYS + 1] = {{0}};
	struct lt_period_days of = {.first_day = NOV_1,
	    .last_day = NOV_1 + MONTH - 1,
	    .today = NOV_1 + day - 1,
	    .today_gone_ppm = (uint32_t)((last->now_utc_s % LT_DAY_S) * LT_MICROS / LT_DAY_S),
	    .known_from = NOV_1 - BEFORE,
	    .days = days,
	    .count = LT_PERIOD_FORECAST_DAYS + 1};
	struct lt_period_forecast made;

	for (int i = 0; i <= LT_PERIOD_FORECAST_DAYS; i++) {
		days[i].day = of.today - LT_PERIOD_FORECAST_DAYS + i;
		for (int a = 0; a < ACCOUNTS; a++) {
			if (!in[a])
				continue;
			days[i].money_micros += last->uses[a].days[i].money_micros;
			days[i].carbon_mg += last->uses[a].days[i].carbon_mg;
		}
	}
	assert_int_equal(lt_period_forecast(&made, &of, NULL), LT_OK);
	return made;
}

/* What they used in the month so far. */
static struct lt_amount
spent_of(const struct lt_last_days *last, const bool in[ACCOUNTS], int day)
{
	struct lt_amount spent = {true, true, 0, 0};

	for (int a = 0; a < ACCOUNTS; a++)
		for (int i = LT_PERIOD_FORECAST_DAYS + 1 - day;
		     in[a] && i <= LT_PERIOD_FORECAST_DAYS; i++) {
			spent.money_micros += last->uses[a].days[i].money_micros;
			spent.carbon_mg += last->uses[a].days[i].carbon_mg;
		}
	return spent;
}

static struct lt_period_forecast
forecast(const struct lt_last_days *last, const bool in[ACCOUNTS], int day)
{
	const struct lt_amount spent = spent_of(last, in, day);
	struct lt_accounts_end some = {0};
	struct lt_period_forecast made;
	struct lt_period_end end;

	assert_int_equal(lt_period_end_make(&end, last, november, NULL), LT_OK);
	for (uint32_t a = 0; a < ACCOUNTS; a++)
		if (in[a])
			assert_int_equal(lt_period_end_add(&some, &end, a, NULL), LT_OK);
	assert_int_equal(lt_period_end_forecast(&made, &end, &some, &spent, NULL), LT_OK);
	assert_true(!made.money.known || (made.money.low >= spent.money_micros &&
					     made.money.low <= made.money.expected &&
					     made.money.expected <= made.money.high));
	free(end.accounts);
	return made;
}

static void
is_range(const struct lt_forecast_range *got, const struct lt_forecast_range *want)
{
	assert_int_equal(got->known, want->known);
	assert_int_equal(got->low, want->low);
	assert_int_equal(got->expected, want->expected);
	assert_int_equal(got->high, want->high);
}

/* The site's is that of its days; teams are accounts by chance. */
static void
test_adds_up(void **state)
{
	enum { WORLDS = 400, TEAMS = 4 };
	bool all[ACCOUNTS];
	uint64_t random = 43;
	int apart = 0;

	(void)state;
	memset(all, true, sizeof(all));
	for (int n = 0; n < WORLDS; n++) {
		const int day = 1 + (int)(lt_random(&random) % MONTH);
		const int64_t into_s =
		    (int64_t)(lt_random(&random) % 2) * (int64_t)(lt_random(&random) % LT_DAY_S);
		int64_t micros = 0, mg = 0, own_micros = 0;
		bool in[TEAMS][ACCOUNTS] = {{false}};
		struct lt_last_days last;

		for (int a = 0; a < ACCOUNTS; a++) {
			make_account(a, &random);
			in[lt_random(&random) % TEAMS][a] = true;
		}
		set_last(&last, day, into_s);
		const struct lt_period_forecast site = forecast(&last, all, day);
		const struct lt_period_forecast want = alone(&last, all, day);
		is_range(&site.money, &want.money);
		is_range(&site.carbon, &want.carbon);
		for (int t = 0; t < TEAMS; t++) {
			const struct lt_period_forecast team = forecast(&last, in[t], day);

			micros += team.money.expected;
			mg += team.carbon.expected;
			own_micros += alone(&last, in[t], day).money.expected;
		}
		assert_int_equal(micros, site.money.expected);
		assert_int_equal(mg, site.carbon.expected);
		apart += own_micros != site.money.expected;
		lt_last_days_free(&last);
	}
	assert_true(apart > WORLDS / 2); /* by themselves they don't */
}

/* How far teams are off their months, by the part of the site's and alone. */
static void
test_as_good(void **state)
{
	enum { WORLDS = 300 };
	static const int days[] = {4, 8, 15, 22, 28};
	bool all[ACCOUNTS];
	double scaled = 0, own = 0, whole = 0, summed = 0;
	uint64_t random = 44;
	int held = 0, held_alone = 0; /* by the range */

	(void)state;
	memset(all, true, sizeof(all));
	for (int n = 0; n < WORLDS; n++) {
		double site = 0;

		for (int a = 0; a < ACCOUNTS; a++) {
			make_account(a, &random);
			for (int i = BEFORE; i < ALL; i++)
				site += (double)amounts[a][i];
		}
		for (int k = 0; k < 5; k++) {
			struct lt_last_days last;

			set_last(&last, days[k], 0);
			double sum = 0;
			for (int a = 0; a < ACCOUNTS; a++) {
				bool in[ACCOUNTS] = {false};
				double end = 0;

				in[a] = true;
				for (int i = BEFORE; i < ALL; i++)
					end += (double)amounts[a][i];
				const struct lt_forecast_range part =
				    forecast(&last, in, days[k]).money;
				const struct lt_forecast_range by_itself =
				    alone(&last, in, days[k]).money;

				scaled += fabs((double)part.expected - end) / site;
				own += fabs((double)by_itself.expected - end) / site;
				sum += (double)by_itself.expected;
				held += (double)part.low <= end && end <= (double)part.high;
				held_alone +=
				    (double)by_itself.low <= end && end <= (double)by_itself.high;
			}
			summed += fabs(sum - site) / site;
			whole += fabs((double)forecast(&last, all, days[k]).money.expected - site) /
				 site;
			lt_last_days_free(&last);
		}
	}
	print_message("# the site: off by %.2f %%, as the sum of accounts %.2f %%\n",
	    100 * whole / WORLDS / 5, 100 * summed / WORLDS / 5);
	print_message("# held by %d, alone by %d of %d\n", held, held_alone, WORLDS * 5 * ACCOUNTS);
	print_message("# off by %.2f %% of the site, alone %.2f %%\n", 100 * scaled / WORLDS / 5,
	    100 * own / WORLDS / 5);
	assert_true(scaled <= own * 1.01);
	assert_true(whole < summed);
	assert_true(held >= held_alone); /* it holds its part, too */
}

/* Nobody used anything; and what passes 64 bits. */
static void
test_edges(void **state)
{
	const bool in[ACCOUNTS] = {true};
	struct lt_last_days last;
	struct lt_period_end end;

	(void)state;
	memset(amounts, 0, sizeof(amounts));
	set_last(&last, 9, 0);
	const struct lt_period_forecast none = forecast(&last, in, 9);
	assert_true(none.money.known);
	assert_int_equal(none.money.expected, 0);
	assert_int_equal(none.money.high, 0);
	last.uses[0].is_any = true;
	for (int i = 0; i < LT_PERIOD_FORECAST_DAYS; i++)
		last.all.days[i].money_micros = last.uses[0].days[i].money_micros = INT64_MAX / 8;
	assert_int_equal(lt_period_end_make(&end, &last, november, NULL), LT_EOVERFLOW);
	free(end.accounts);
	lt_last_days_free(&last);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_adds_up),
	    cmocka_unit_test(test_as_good),
	    cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
