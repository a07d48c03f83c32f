/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for nodes, against a replay minute by minute that knows neither sums nor runs, and against
 * what a chance process is known to do.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "units.h"
#include "waits.h"

enum {
	DAYS = 20,
	QUIET_DAYS = 4, /* at the end all are there: nothing is cut off */
	MINUTES = DAYS * 24 * 60,
	STARTS = DAYS * 24,
	NODES = 4,
};

static uint64_t seed = 1;
static uint8_t there[MINUTES];
static struct lt_spell spells[MINUTES];

static double
fraction(void)
{
	return (double)(lt_random(&seed) >> 11) * 0x1p-53;
}

/* Changes about each hour; none, some or all are there. */
static uint32_t
make_history(void)
{
	uint32_t count = 0;
	uint8_t now = 0;

	for (int i = 0; i < MINUTES; i++) {
		if (fraction() < 1 / 60.0)
			now = (uint8_t)(fraction() * (NODES + 1));
		if (fraction() < 1 / 240.0)
			now = 0;
		there[i] = i < MINUTES - QUIET_DAYS * 1440 ? now : NODES;
		if (count > 0 && spells[count - 1].there == there[i])
			spells[count - 1].to_utc_s += 60;
		else
			spells[count++] = (struct lt_spell){i * 60, (i + 1) * 60, there[i], NODES};
	}
	return count;
}

static double
pace(int minute, int need)
{
	return need == 0 ? there[minute] > 0 : there[minute] / (double)NODES;
}

/* Each run of nodes after its first one begins with the cost, or is too short for it. */
static double
wait_s(int start, double work_s, double cost_s, int need)
{
	double done_s = 0, unpaid_s = 0;

	for (int i = start; i < MINUTES; i++) {
		if (there[i] == 0) {
			unpaid_s = i > start && done_s > 0 ? cost_s : unpaid_s;
			continue;
		}
		if (i > start && there[i - 1] == 0 && done_s > 0)
			unpaid_s = cost_s;
		const double paid_s = fmin(unpaid_s, 60);

		unpaid_s -= paid_s;
		const double more_s = pace(i, need) * (60 - paid_s);

		if (done_s + more_s >= work_s - 1e-9)
			return (i + 1 - start) * 60.0 - (done_s + more_s - work_s) / pace(i, need) -
			       work_s;
		done_s += more_s;
	}
	return NAN;
}

static int
by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
test_same_as_replay(void **state)
{
	static struct lt_availability found;
	const uint32_t count = make_history();

	(void)state;
	assert_int_equal(lt_waits_learn(&found, spells, count, NULL), LT_OK);
	assert_int_equal(found.seen_s, MINUTES * 60);
	for (int w = 0; w < 6; w++)
		for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS; i++) {
			const int need = i % 2, cost = i / 2;
			const struct lt_wait *const wait = &found.waits[need][cost][w];
			const double work_s = fmax(lt_wait_works_s[w], 1);
			const double fits = MINUTES * 60 / fmax(work_s, 3600);
			double all[STARTS], sum = 0;
			int samples = 0;

			for (; samples * 3600 < MINUTES * 60 - (int)work_s; samples++)
				sum += all[samples] =
				    wait_s(samples * 60, work_s, lt_wait_costs_s[cost], need);
			qsort(all, (size_t)samples, sizeof(*all), by_size);
			if (fabs(wait->mean_s - sum / samples) > 2)
				fail_msg("%d %d %d: mean %u, %g", w, need, cost, wait->mean_s,
				    sum / samples);
			for (int k = 0; k < LT_WAIT_CHANCES; k++) {
				const double up = lt_wait_chances[k];
				const double above = fmax(samples * (up - (1 - up) / fits), 0);
				const int place = samples - 1 - (int)floor(above + 1e-9);

				if (fabs(wait->passed_s[k] - all[place]) > 2)
					fail_msg("%d %d %d: %g passed %u, %g", w, need, cost, up,
					    wait->passed_s[k], all[place]);
			}
		}
}

/* Nodes come and go by chance, each state for an hour on average, seen in windows of two days:
 * those cut off count as long as they are known. */
static void
test_windows(void **state)
{
	enum { WINDOWS = 400, SPELLS = 100 };
	static struct lt_spell cut[WINDOWS * SPELLS];
	static struct lt_availability found;
	int64_t at_utc_s = 0;
	uint32_t count = 0;

	(void)state;
	for (int w = 0; w < WINDOWS; w++) {
		const int64_t end_utc_s = at_utc_s + 2 * LT_DAY_S;
		uint32_t is_there = fraction() < 0.5;

		while (at_utc_s < end_utc_s && count < WINDOWS * SPELLS) {
			const int64_t next_utc_s =
			    at_utc_s + 1 + (int64_t)(-3600 * log(1 - fraction()));

			cut[count++] = (struct lt_spell){
			    at_utc_s, next_utc_s < end_utc_s ? next_utc_s : end_utc_s, is_there, 1};
			is_there = !is_there;
			at_utc_s = next_utc_s;
		}
		at_utc_s = end_utc_s + LT_DAY_S;
	}
	assert_true(count < WINDOWS * SPELLS);
	assert_int_equal(lt_waits_learn(&found, cut, count, NULL), LT_OK);
	assert_in_range(found.there_ppm, 480000, 520000);
	assert_in_range(found.taken_ppm, 960000, 1040000);
	/* Half of the starts wait for an hour on average: passed with chance 0.05 is -ln 0.1 hours.
	 * Of 16 h of work as many hours more. */
	const struct lt_wait *const first = &found.waits[0][0][0];
	assert_true(fabs(first->mean_s / 1800.0 - 1) < 0.06);
	assert_true(fabs(first->passed_s[3] / (3600 * log(10)) - 1) < 0.06);
	assert_true(fabs(found.waits[0][0][5].mean_s / (16.5 * 3600) - 1) < 0.03);
}

static void
test_gaps(void **state)
{
	static const struct lt_spell hole[] = {
	    {0, 36000, 1, 2}, {36000, 72000, 0, 2}, {90000, 126000, 2, 2}};
	static struct lt_availability found;

	(void)state;
	assert_int_equal(lt_waits_learn(&found, hole, 0, NULL), LT_OK);
	assert_int_equal(found.seen_s, 0);
	assert_int_equal(lt_waits_learn(&found, hole, 3, NULL), LT_OK);
	assert_int_equal(found.seen_s, 108000);
	assert_int_equal(found.there_ppm, 666667);
	assert_int_equal(found.taken_ppm, 50000); /* once in 20 h */
	/* Of 27 starts of an hour's work the ten in the hole never end. */
	assert_int_equal(found.waits[0][0][1].passed_s[0], 0);
	assert_true(found.waits[0][0][1].passed_s[1] == LT_WAIT_UNKNOWN);
	assert_true(found.waits[0][0][1].mean_s == LT_WAIT_UNKNOWN);
	/* Longer than any stretch: nothing is known. */
	assert_true(found.waits[0][0][7].passed_s[0] == LT_WAIT_UNKNOWN);
}

static void
fill(struct lt_availability *table, double factor)
{
	table->seen_s = 400 * LT_DAY_S;
	for (int i = 0; i < LT_WAIT_NEEDS * LT_WAIT_COSTS * LT_WAIT_WORKS; i++) {
		const int work = i % LT_WAIT_WORKS;
		const int cost = i / LT_WAIT_WORKS % LT_WAIT_COSTS;
		const int need = i / LT_WAIT_WORKS / LT_WAIT_COSTS;
		struct lt_wait *const wait = &table->waits[need][cost][work];
		const double part = (1 + need) * (100 + lt_wait_costs_s[cost] / 10.0) *
				    lt_wait_works_s[work] / 3600;

		wait->mean_s = (uint32_t)(part * factor);
		for (int k = 0; k < LT_WAIT_CHANCES; k++)
			wait->passed_s[k] = (uint32_t)(part * factor * -log10(lt_wait_chances[k]));
	}
}

/* A table that is linear in all is looked up exactly, and far beyond. */
static void
test_between(void **state)
{
	static struct lt_availability table;
	static const struct {
		double work_h, cost_s, need, chance, want;
	} rows[] = {
	    {1, 0, 0, 0.1, 100},
	    {3, 0, 0, 0.1, 300},
	    {3, 300, 0, 0.1, 390},
	    {3, 4800, 0, 0.1, 3 * 580},
	    {3, 300, 0.5, 0.1, 585},
	    {1000, 0, 1, 0.1, 200000},
	    {3, 0, 0, 0.01, 600},
	    {3, 0, 0, 0.0001, 1200},
	    {3, 0, 0, 0.9, 300 * 0.30103},
	};

	(void)state;
	fill(&table, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lt_wait_ask ask = {
		    rows[i].work_h * 3600, rows[i].cost_s, rows[i].need};
		const double is = lt_wait_passed_s(&table, &ask, rows[i].chance);

		if (fabs(is / rows[i].want - 1) > 0.02)
			fail_msg("%zu: %g, want %g", i, is, rows[i].want);
		if (rows[i].chance == 0.1)
			assert_true(fabs(lt_wait_mean_s(&table, &ask) / rows[i].want - 1) < 0.02);
	}
	/* Ten times four hours: longer work waits in proportion to those. */
	table.seen_s = 40 * LT_HOUR_S;
	table.waits[0][0][4].mean_s = 1000000;
	const struct lt_wait_ask eight = {8 * 3600, 0, 0};
	assert_true(fabs(lt_wait_mean_s(&table, &eight) - 800) < 1);
	table.seen_s = LT_WAIT_SEEN_S - 1;
	assert_true(lt_wait_mean_s(&table, &eight) == 0);
}

/* What was never seen is unknown wherever it weighs, and nowhere else. */
static void
test_unknown(void **state)
{
	static struct lt_availability table;
	const struct lt_wait_ask two = {2 * 3600, 0, 0};
	const struct lt_wait_ask more = {2 * 3600 + 60, 0, 0};
	const struct lt_wait_ask dear = {2 * 3600, 60, 0};

	(void)state;
	fill(&table, 1);
	table.waits[0][0][3].passed_s[3] = LT_WAIT_UNKNOWN;
	table.waits[0][1][2].passed_s[3] = LT_WAIT_UNKNOWN;
	table.waits[0][1][3].passed_s[3] = LT_WAIT_UNKNOWN;
	assert_true(lt_wait_passed_s(&table, &two, 0.05) < 300);
	assert_true(isinf(lt_wait_passed_s(&table, &more, 0.05)));
	assert_true(isinf(lt_wait_passed_s(&table, &dear, 0.05)));
	assert_true(lt_wait_passed_s(&table, &dear, 0.1) < 300);
	table.waits[0][0][2].passed_s[3] = LT_WAIT_UNKNOWN;
	assert_true(isinf(lt_wait_passed_s(&table, &two, 0.05)));
	assert_true(isinf(lt_wait_passed_s(&table, &dear, 0.05)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_as_replay),
	    cmocka_unit_test(test_windows),
	    cmocka_unit_test(test_gaps),
	    cmocka_unit_test(test_between),
	    cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
