/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forecast of a period's end: made series whose ends are known, and how often the range holds the
 * end in worlds of chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "period_forecast.h"
#include "units.h"

enum {
	NOV_1 = 20758, /* 2026-11-01, a Sunday */
	MONTH = 30,
	BEFORE = 56,
	ALL = BEFORE + MONTH,
	CENT = 10000,
};

/* Days of a month and of eight weeks before it; [BEFORE] is the first. */
static int64_t amounts[ALL];

static int64_t
month_end(void)
{
	int64_t sum = 0;

	for (int i = BEFORE; i < ALL; i++)
		sum += amounts[i];
	return sum;
}

/* On that day of the month, from 1, so much of it gone, with so many days before the month known.
 * Carbon is seven times money, and must be so. */
static struct lt_period_forecast
at(int day, uint32_t gone_ppm, int before)
{
	struct lt_day_amounts days[ALL];
	struct lt_period_forecast made;
	struct lt_error err = {0};
	uint32_t count = 0;

	for (int i = BEFORE - before; i < BEFORE + day; i++) {
		const int64_t part =
		    i == BEFORE + day - 1 ? amounts[i] * gone_ppm / LT_MICROS : amounts[i];

		if (part != 0) /* as a ledger's groups by day are */
			days[count++] = (struct lt_day_amounts){NOV_1 - BEFORE + i, part, 7 * part};
	}
	const struct lt_period_days of = {.first_day = NOV_1,
	    .last_day = NOV_1 + MONTH - 1,
	    .today = NOV_1 + day - 1,
	    .today_gone_ppm = gone_ppm,
	    .known_from = NOV_1 - before,
	    .days = days,
	    .count = count};

	if (lt_period_forecast(&made, &of, &err) != LT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(made.money.known, made.carbon.known);
	assert_true(llabs(made.carbon.expected - 7 * made.money.expected) <= 7);
	assert_true(made.money.low <= made.money.expected);
	assert_true(made.money.expected <= made.money.high);
	return made;
}

static double
off_percent(const struct lt_forecast_range *range)
{
	const double end = (double)month_end();

	return 100 * fabs((double)range->expected - end) / end;
}

/* Uniform, 0 to 1; normal. */
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

static void
make_even(int i, uint64_t *state)
{
	(void)state;
	amounts[i] = 100 * CENT;
}

/* 5 % either way: a load that people call even. */
static void
make_nearly_even(int i, uint64_t *state)
{
	amounts[i] = (int64_t)((95 + 10 * uniform(state)) * CENT);
}

static bool
is_weekend(int i)
{
	/* [BEFORE] is a Sunday, and so is [0]. */
	return i % 7 == 0 || i % 7 == 6;
}

static void
make_weekdays(int i, uint64_t *state)
{
	(void)state;
	amounts[i] = (is_weekend(i) ? 20 : 100) * CENT;
}

/* From nothing before the month by 10 a day. */
static void
make_ramp(int i, uint64_t *state)
{
	(void)state;
	amounts[i] = i < BEFORE ? 0 : (i - BEFORE + 1) * 10 * CENT;
}

/* On the fifth. */
static void
make_huge(int i, uint64_t *state)
{
	(void)state;
	amounts[i] = (i == BEFORE + 4 ? 5000 : 100) * CENT;
}

typedef void make(int i, uint64_t *state);

static void
test_known_ends(void **state)
{
	static const struct {
		const char *why;
		make *make;
		int before, from_day;
		double most_percent;
		bool held; /* by each range */
	} rows[] = {
	    {"even, a new site: from the third", make_even, 0, 3, 0.1, true},
	    {"even, eight weeks before", make_even, BEFORE, 1, 0.1, true},
	    {"nearly even, a new site", make_nearly_even, 0, 3, 10, true},
	    {"nearly even, a week before", make_nearly_even, 7, 1, 10, true},
	    {"weekends, eight weeks before", make_weekdays, BEFORE, 1, 1, true},
	    {"weekends, a new site: by the 23rd", make_weekdays, 0, 23, 2, true},
	    {"a ramp: by the 15th", make_ramp, 0, 15, 35, false},
	    {"a ramp: by the 23rd", make_ramp, 0, 23, 12, false},
	    {"one huge day, eight weeks before", make_huge, BEFORE, 6, 10, true},
	    {"one huge day, a new site: from the tenth", make_huge, 0, 10, 12, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t random = 1;

		for (int k = 0; k < ALL; k++)
			rows[i].make(k, &random);
		double worst = 0;
		for (int day = rows[i].from_day; day <= MONTH; day++) {
			for (uint32_t gone = 0; gone <= LT_MICROS; gone += LT_MICROS / 4) {
				const struct lt_forecast_range range =
				    at(day, gone, rows[i].before).money;
				const double off = off_percent(&range);

				assert_true(range.known);
				worst = fmax(worst, off);
				if (rows[i].held &&
				    (range.low > month_end() || range.high < month_end()))
					fail_msg("%s: on day %d [%lld, %lld]", rows[i].why, day,
					    (long long)range.low, (long long)range.high);
			}
		}
		print_message("# %s: %.2f %%\n", rows[i].why, worst);
		if (worst > rows[i].most_percent)
			fail_msg("%s: off by %.2f %%", rows[i].why, worst);
	}
}

/* ---- worlds of chance ---- */

static double now; /* of a world that wanders */

static void
world_plain(int i, uint64_t *state)
{
	amounts[i] = (int64_t)(fmax(0, 100 + 30 * normal(state)) * CENT);
}

static void
world_skewed(int i, uint64_t *state)
{
	amounts[i] = (int64_t)(100 * exp(0.7 * normal(state)) * CENT);
}

/* Jobs of several days: each day is much like the one before. */
static void
world_sticky(int i, uint64_t *state)
{
	now = i == 0 ? normal(state) : 0.7 * now + sqrt(1 - 0.49) * normal(state);
	amounts[i] = (int64_t)(fmax(0, 100 + 40 * now) * CENT);
}

static void
world_weekdays(int i, uint64_t *state)
{
	amounts[i] = (int64_t)((is_weekend(i) ? 20 : 100) * exp(0.3 * normal(state)) * CENT);
}

/* Most days nothing, some days much. */
static void
world_rare(int i, uint64_t *state)
{
	amounts[i] = uniform(state) < 0.25 ? (int64_t)(-200 * log(1 - uniform(state)) * CENT) : 0;
}

/* The level itself wanders, by a twentieth a day. */
static void
world_wanders(int i, uint64_t *state)
{
	now = i == 0 ? 0 : now + 0.05 * normal(state);
	amounts[i] = (int64_t)(100 * exp(now + 0.2 * normal(state)) * CENT);
}

/* How many of 15 x WORLDS ranges hold the month's end. */
enum { WORLDS = 1000, RANGES = 15 * WORLDS };
static int
held_of(make *world, uint64_t *random)
{
	static const int befores[] = {0, 14, BEFORE};
	static const int days[] = {4, 8, 15, 22, 28};
	int held = 0;

	for (int n = 0; n < WORLDS; n++) {
		for (int i = 0; i < ALL; i++)
			world(i, random);
		for (int k = 0; k < 15; k++) {
			const struct lt_forecast_range range =
			    at(days[k % 5], 0, befores[k / 5]).money;

			held +=
			    range.known && range.low <= month_end() && range.high >= month_end();
		}
	}
	return held;
}

static void
test_coverage(void **state)
{
	static const struct {
		const char *why;
		make *make;
	} worlds[] = {
	    {"days by chance", world_plain},
	    {"some days cost many times others", world_skewed},
	    {"a day is like the one before", world_sticky},
	    {"weekends", world_weekdays},
	    {"most days nothing", world_rare},
	    {"the level wanders", world_wanders},
	};
	enum { COUNT = sizeof(worlds) / sizeof(worlds[0]) };
	uint64_t random = 7; /* the gains were chosen by another one */
	int all = 0;

	(void)state;
	for (int w = 0; w < COUNT; w++) {
		const int held = held_of(worlds[w].make, &random);
		const double percent = 100.0 * held / RANGES;

		print_message("# %s: %.1f %%\n", worlds[w].why, percent);
		assert_true(percent > 70 && percent < 95);
		all += held;
	}
	print_message("# all: %.1f %%\n", 100.0 * all / RANGES / COUNT);
	assert_true(all > 0.78 * RANGES * COUNT && all < 0.88 * RANGES * COUNT);
}

static void
expect(const struct lt_forecast_range *range, int64_t low, int64_t expected, int64_t high)
{
	assert_true(range->known);
	assert_int_equal(range->low, low);
	assert_int_equal(range->expected, expected);
	assert_int_equal(range->high, high);
}

static void
test_edges(void **state)
{
	struct lt_period_forecast made;

	(void)state;
	for (int i = 0; i < ALL; i++)
		make_even(i, NULL);
	/* The first day of a site: nothing is complete. */
	assert_false(at(1, LT_MICROS, 0).money.known);
	assert_true(at(2, 0, 0).money.known);
	assert_true(at(1, 0, 1).money.known);
	/* The period is over but for its close. */
	made = at(MONTH, LT_MICROS, 0);
	expect(&made.money, month_end(), month_end(), month_end());
	/* Zeros foretell zero; days before anybody was there say nothing. */
	memset(amounts, 0, sizeof(amounts));
	made = at(5, 500000, BEFORE);
	expect(&made.money, 0, 0, 0);
	for (int i = BEFORE; i < ALL; i++)
		make_even(i, NULL);
	made = at(5, 0, BEFORE);
	assert_int_equal(made.money.expected, month_end());
	assert_false(at(1, 500000, BEFORE).money.known);
	/* What is spent stays spent, however uncertain the rest. */
	memset(amounts, 0, sizeof(amounts));
	amounts[BEFORE] = 9000 * (int64_t)CENT;
	made = at(4, 0, 0);
	assert_int_equal(made.money.low, 9000 * (int64_t)CENT);
	assert_true(made.money.high > 2 * 9000 * (int64_t)CENT);
	/* More was given back than spent: nobody expects more of that. */
	for (int i = 0; i < ALL; i++)
		amounts[i] = -5;
	made = at(11, 0, BEFORE);
	assert_int_equal(made.money.low, -50);
	assert_int_equal(made.money.expected, -50);
}

static void
test_refused(void **state)
{
	struct lt_day_amounts days[] = {
	    {NOV_1, INT64_MAX - 9, 5}, {NOV_1 + 1, 9, 5}, {NOV_1 + 2, 0, 0}};
	const struct lt_period_days good = {.first_day = NOV_1,
	    .last_day = NOV_1 + 2,
	    .today = NOV_1 + 2,
	    .today_gone_ppm = LT_MICROS,
	    .known_from = NOV_1,
	    .days = days,
	    .count = 3};
	struct lt_period_forecast made = {.money.low = 77};
	struct lt_period_days bad = good;

	(void)state;
	assert_int_equal(lt_period_forecast(&made, &good, NULL), LT_OK);
	expect(&made.money, INT64_MAX, INT64_MAX, INT64_MAX);
	expect(&made.carbon, 10, 10, 10);
	made.money.low = 77;
	bad.today_gone_ppm = 0; /* half as much again is to come */
	assert_int_equal(lt_period_forecast(&made, &bad, NULL), LT_EOVERFLOW);
	bad.today_gone_ppm = LT_MICROS + 1;
	assert_int_equal(lt_period_forecast(&made, &bad, NULL), LT_EINPUT);
	bad = good;
	bad.today = NOV_1 - 1;
	assert_int_equal(lt_period_forecast(&made, &bad, NULL), LT_EINPUT);
	bad.today = NOV_1 + 3;
	assert_int_equal(lt_period_forecast(&made, &bad, NULL), LT_EINPUT);
	days[2].day = NOV_1 + 1;
	assert_int_equal(lt_period_forecast(&made, &good, NULL), LT_EINPUT);
	days[2] = (struct lt_day_amounts){NOV_1 + 2, 1, 0};
	assert_int_equal(lt_period_forecast(&made, &good, NULL), LT_EOVERFLOW);
	assert_int_equal(made.money.low, 77);
}

/* A year's days, those of today on and of last spring among them. */
static void
test_year(void **state)
{
	enum { DAYS = 365, TODAY = 300 };
	static struct lt_day_amounts days[TODAY + 1];
	const struct lt_period_days of = {.first_day = 0,
	    .last_day = DAYS - 1,
	    .today = TODAY,
	    .known_from = 0,
	    .days = days,
	    .count = TODAY + 1};
	struct lt_period_forecast made;

	(void)state;
	/* 1,000 a day until September, 100 in the last 56 days. */
	for (int i = 0; i < TODAY; i++)
		days[i] = (struct lt_day_amounts){i, i < TODAY - 56 ? 1000 : 100, 0};
	days[TODAY] = (struct lt_day_amounts){TODAY, 7, 0};
	assert_int_equal(lt_period_forecast(&made, &of, NULL), LT_OK);
	/* 244 x 1000 + 56 x 100 + 7, and 65 x 100 to come. */
	assert_int_equal(made.money.expected, 244000 + 5600 + 7 + 6500);
	expect(&made.carbon, 0, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known_ends),
	    cmocka_unit_test(test_coverage),
	    cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_year),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
