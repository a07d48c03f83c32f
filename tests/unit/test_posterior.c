/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A published rate and what was seen, against Bayes' rule by brute force, a sum over rates; and how
 * soon a wrong published rate is put right.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior.h"

static double
estimate(double published, uint32_t interruptions, double node_hours)
{
	const struct lt_own_history own = {
	    .node_hours = node_hours, .interruptions = interruptions};
	double own_share;
	const double rate = lt_posterior(published, &own, &own_share);

	assert_true(own_share >= 0 && own_share <= 1);
	return rate;
}

/*
 * The median of the rate after `seen` interruptions in so many node-hours, where before its
 * logarithm was normal, 95 % within a factor of 30: a sum over 40,000 rates from a 10^9-th to 10^9
 * times the published one.
 */
static double
median_by_sum(double published, double seen, double node_hours)
{
	enum { RATES = 40000 };
	static double weights[RATES];
	const double sigma = log(30) / 1.96;
	double most = -INFINITY, sum = 0, below = 0;
	int at = 0;

	for (int i = 0; i < RATES; i++) {
		const double x = (i - RATES / 2) * (9 * log(10) / (RATES / 2));

		weights[i] =
		    -x * x / (2 * sigma * sigma) + seen * x - published * exp(x) * node_hours;
		most = fmax(most, weights[i]);
	}
	for (int i = 0; i < RATES; i++)
		sum += weights[i] = exp(weights[i] - most);
	while (below + weights[at] < sum / 2)
		below += weights[at++];
	return published * exp((at - RATES / 2) * (9 * log(10) / (RATES / 2)));
}

static void
test_bayes(void **state)
{
	static const double published[] = {7.03e-5, 0.002, 0.05};
	static const double hours[] = {1, 24, 576, 28000};
	static const uint32_t seen[] = {0, 1, 2, 5, 30, 3000};
	static const double near[] = {1.3, 1.3, 1.3, 1.2, 1.03, 1.002};

	(void)state;
	for (int p = 0; p < 3; p++)
		for (int h = 0; h < 4; h++)
			for (int k = 0; k < 6; k++) {
				const double is = estimate(published[p], seen[k], hours[h]);
				const double median =
				    median_by_sum(published[p], seen[k], hours[h]);

				if (fabs(log(is / median)) > log(near[k]))
					fail_msg("%g, %u in %g h: %g, %g", published[p], seen[k],
					    hours[h], is, median);
			}
}

/* Chance that the estimate is within that factor of the truth. */
static double
chance_near(double published, double truth, double node_hours, double factor)
{
	const double expected = truth * node_hours;
	double chance = 0, part = exp(-expected);

	for (uint32_t k = 0; k < 1000; k++) {
		const double is = estimate(published, k, node_hours);

		if (is < truth * factor && is > truth / factor)
			chance += part;
		part *= expected / (k + 1);
	}
	return chance;
}

/* A day of 24 busy nodes that are taken ten times, or a hundred times, as often as was
 * published. */
static void
test_a_day_counts(void **state)
{
	static const struct {
		double published, times, factor, least;
	} cases[] = {
	    {0.004, 10, 1.7, 0.95},	/* 23 are expected */
	    {0.0005, 10, 3, 0.75},	/* 3 */
	    {7.03e-5, 10, 12, 0.9999},	/* 0.4: most see none */
	    {7.03e-5, 100, 2.5, 0.75},	/* 4 */
	    {7.03e-5, 1000, 1.5, 0.95}, /* 40 */
	    {0.02, 0.1, 4, 0.9},	/* a tenth: 1 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double chance = chance_near(
		    cases[i].published, cases[i].published * cases[i].times, 576, cases[i].factor);

		if (chance < cases[i].least)
			fail_msg("%g x %g: %g", cases[i].published, cases[i].times, chance);
	}
}

static void
test_ends(void **state)
{
	double own_share;
	struct lt_own_history own = {0};

	(void)state;
	assert_true(lt_posterior(0.002, &own, &own_share) == 0.002);
	assert_true(own_share == 0);
	/* Nothing is published: what was seen. */
	own = (struct lt_own_history){.node_hours = 200, .interruptions = 3};
	assert_true(lt_posterior(0, &own, &own_share) == 3 / 200.0);
	assert_true(own_share == 1);
	/* One that is seen weighs about as much as what is published. */
	own = (struct lt_own_history){.node_hours = 500, .interruptions = 1};
	assert_true(fabs(lt_posterior(0.002, &own, &own_share) - 0.002) < 1e-9);
	assert_true(fabs(own_share - 0.75) < 1e-6);
	/* Far beyond what can be. */
	own = (struct lt_own_history){.node_hours = 1 / 3600.0, .interruptions = 100000};
	assert_true(isfinite(lt_posterior(1e-6, &own, &own_share)));
	own = (struct lt_own_history){.node_hours = 2.16e7};
	assert_true(lt_posterior(60, &own, &own_share) > 0);
	assert_true(lt_posterior(60, &own, &own_share) < 1e-6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bayes),
	    cmocka_unit_test(test_a_day_counts),
	    cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
