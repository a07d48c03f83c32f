/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ratio of moved to kept: against all draws that there are, where these can be counted, and how
 * often its interval holds the truth.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "measured.h"

enum { SMALL = 10, MONTH = 60, MONTHS = 200 };

static struct lt_measured
measure(const struct lt_measured_user *users, uint32_t count)
{
	struct lt_measured measured;

	memset(&measured, 0x5a, sizeof(measured));
	assert_int_equal(lt_measure(&measured, users, count, NULL), LT_OK);
	return measured;
}

static void
test_alike(void **state)
{
	struct lt_measured_user users[40] = {0};

	(void)state;
	for (int i = 0; i < 40; i++)
		users[i] = (struct lt_measured_user){
		    i % 4 == 0, 10 + i, (10 + i) * (i % 4 == 0 ? 0.9 : 0.63)};
	const struct lt_measured measured = measure(users, 40);

	assert_true(measured.has_ratio && measured.has_interval);
	assert_true(fabs(measured.ratio - 0.7) < 1e-9);
	assert_true(fabs(measured.low - 0.7) < 1e-6);
	assert_true(fabs(measured.high - 0.7) < 1e-6);
}

static void
test_too_few(void **state)
{
	struct lt_measured_user users[SMALL] = {0};

	(void)state;
	assert_false(measure(users, 0).has_ratio);
	for (int i = 0; i < SMALL; i++)
		users[i] = (struct lt_measured_user){false, 1, 1};
	assert_false(measure(users, SMALL).has_ratio);
	users[3].is_kept = true;
	assert_true(measure(users, SMALL).has_ratio);
	assert_false(measure(users, SMALL).has_interval);
	for (int i = 0; i < 4; i++)
		users[i] = (struct lt_measured_user){true, 2, 4};
	assert_true(fabs(measure(users, SMALL).ratio - 0.5) < 1e-12);
	assert_false(measure(users, SMALL).has_interval);
	users[0].charged = users[1].charged = users[2].charged = users[3].charged = 0;
	assert_false(measure(users, SMALL).has_ratio);
}

static void
test_without_baseline(void **state)
{
	struct lt_measured_user users[12] = {0};

	(void)state;
	for (int i = 0; i < 12; i++)
		users[i] = (struct lt_measured_user){
		    i % 2 == 0, 1 + i, (1 + i) * (i % 2 == 0 ? 2.0 : 1.0)};
	users[0] = (struct lt_measured_user){true, 0, 0};
	users[1].baseline = -3;
	assert_true(fabs(measure(users, 12).ratio - 0.5) < 1e-12);
	/* Paid for nothing that lasts: it counts. 3 + 5 + ... + 11 is 35. */
	users[0].charged = 35;
	assert_true(fabs(measure(users, 12).ratio - 1 / 3.0) < 1e-12);
}

/* What those of the set cost more at home than the others, over the standard error of a ratio of
 * sums, from its residuals. */
static double
excess_of(const struct lt_measured_user *users, unsigned set, double ratio)
{
	double cost[SMALL], sum[2] = {0}, baseline[2] = {0}, squares = 0;

	for (int i = 0; i < SMALL; i++) {
		cost[i] = users[i].is_kept ? users[i].charged : users[i].charged / ratio;
		sum[set >> i & 1] += cost[i];
		baseline[set >> i & 1] += users[i].baseline;
	}
	for (int i = 0; i < SMALL; i++)
		if (set >> i & 1)
			squares += pow(cost[i] - sum[1] / baseline[1] * users[i].baseline, 2);
	return (sum[1] / baseline[1] - sum[0] / baseline[0]) * baseline[1] / sqrt(squares * 5 / 4);
}

/* The chance of what was seen, of all 252 ways to keep 5 of 10. */
static double
exact_chance(const struct lt_measured_user *users, double ratio, bool is_high)
{
	unsigned kept = 0;
	int count = 0, as_much = 0;

	for (int i = 0; i < SMALL; i++)
		kept |= (unsigned)users[i].is_kept << i;
	const double seen = excess_of(users, kept, ratio);
	for (unsigned set = 0; set < 1u << SMALL; set++) {
		if (__builtin_popcount(set) != 5)
			continue;
		const double excess = excess_of(users, set, ratio);
		count++;
		as_much += is_high ? excess >= seen - 1e-6 : excess <= seen + 1e-6;
	}
	assert_int_equal(count, 252);
	return (double)as_much / count;
}

static void
test_all_draws(void **state)
{
	static const double x[SMALL] = {3, 1, 40, 2, 8, 5, 5, 13, 1, 21};
	static const double noise[SMALL] = {1.3, 0.8, 0.9, 1.1, 1.2, 0.7, 1.0, 1.1, 0.6, 0.95};
	struct lt_measured_user users[SMALL];

	(void)state;
	for (int i = 0; i < SMALL; i++)
		users[i] = (struct lt_measured_user){
		    i % 2 == 1, x[i], x[i] * noise[i] * (i % 2 == 1 ? 1 : 0.5)};
	const struct lt_measured measured = measure(users, SMALL);

	assert_true(measured.has_interval);
	assert_true(measured.low < measured.ratio);
	assert_true(measured.ratio < measured.high);
	/* 1,999 of the draws are off by 0.35 % of chance, one sigma. */
	assert_true(exact_chance(users, measured.high * 0.97, true) > 0.014);
	assert_true(exact_chance(users, measured.high * 1.03, true) < 0.036);
	assert_true(exact_chance(users, measured.low * 1.03, false) > 0.014);
	assert_true(exact_chance(users, measured.low * 0.97, false) < 0.036);
}

static double
uniform(uint64_t *seed)
{
	/* Knuth's MMIX. */
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Sizes over three orders of magnitude; 95 % of 200, give or take three sigma of 3.1. */
static void
test_holds_the_truth(void **state)
{
	static const double truth = 0.7;
	uint64_t seed = 1;
	int held = 0, with = 0;

	(void)state;
	for (int m = 0; m < MONTHS; m++) {
		struct lt_measured_user users[MONTH];

		for (int i = 0; i < MONTH; i++) {
			const bool is_kept = uniform(&seed) < 0.2;
			const double x = pow(10, 3 * uniform(&seed));
			const double y = x * (0.2 + 1.6 * uniform(&seed));

			users[i] = (struct lt_measured_user){is_kept, x, is_kept ? y : truth * y};
		}
		const struct lt_measured measured = measure(users, MONTH);

		with += measured.has_interval;
		held += measured.has_interval && measured.low <= truth && truth <= measured.high;
	}
	assert_true(with >= MONTHS * 9 / 10);
	assert_in_range(held * 1000 / with, 905, 997);
}

static void
test_again(void **state)
{
	struct lt_measured_user users[30];

	(void)state;
	for (int i = 0; i < 30; i++)
		users[i] = (struct lt_measured_user){i % 3 == 0, 1 + i % 7, 1 + i % 5};
	const struct lt_measured first = measure(users, 30);
	const struct lt_measured again = measure(users, 30);

	assert_true(first.has_interval);
	assert_memory_equal(&first.low, &again.low, sizeof(first.low));
	assert_memory_equal(&first.high, &again.high, sizeof(first.high));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_alike),
	    cmocka_unit_test(test_too_few),
	    cmocka_unit_test(test_without_baseline),
	    cmocka_unit_test(test_all_draws),
	    cmocka_unit_test(test_holds_the_truth),
	    cmocka_unit_test(test_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
