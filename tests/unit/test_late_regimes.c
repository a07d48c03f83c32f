/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regimes out of traces that were made of two, and what is planned by them:
 * extremes whose cost is known, and no job late.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "late/late_regimes.h"
#include "units.h"

enum { TICKS = 500, TRACES = 40 };

static uint8_t taken[TRACES][TICKS];
static const double spot_per_hour[3] = {1, 1.05, 2};

/* Nodes go and come back with that chance in each tick. */
static void
make_trace(uint8_t *ticks, double goes, double comes, uint64_t *seed)
{
	bool there = true;

	for (int t = 0; t < TICKS; t++) {
		const double drawn = (double)(lt_random(seed) % 1000000) / 1000000;

		there = there ? drawn >= goes : drawn < comes;
		ticks[t] = !there;
	}
}

static struct lt_late_regimes
constant(double goes, double comes)
{
	struct lt_late_regimes regimes = {.count = 1};

	regimes.regimes[0].share = 1;
	for (int age = 0; age < LT_LATE_AGES; age++) {
		regimes.regimes[0].flips[1][age] = goes;
		regimes.regimes[0].flips[0][age] = comes;
	}
	return regimes;
}

static void
test_ages(void **state)
{
	(void)state;
	assert_int_equal(lt_late_age(1), 0);
	assert_int_equal(lt_late_age(3), 2);
	assert_int_equal(lt_late_age(5), 3);
	assert_int_equal(lt_late_age(6), 4);
	assert_int_equal(lt_late_age(59), 8);
	assert_int_equal(lt_late_age(100000), 9);
}

static void
test_learned(void **state)
{
	struct lt_sim_spot_trace traces[TRACES];
	struct lt_late_regimes regimes = {.count = 2};
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < TRACES; i++) {
		make_trace(taken[i], i % 4 == 0 ? 0.4 : 0.05, i % 4 == 0 ? 0.1 : 0.3, &seed);
		traces[i] = (struct lt_sim_spot_trace){600, TICKS, taken[i]};
	}
	assert_int_equal(lt_late_learn(&regimes, traces, TRACES, TICKS, NULL), LT_OK);

	const struct lt_late_regime *const bad = &regimes.regimes[0];
	const struct lt_late_regime *const good = &regimes.regimes[1];

	assert_true(fabs(bad->share - 0.25) < 0.01);
	assert_true(fabs(bad->flips[1][0] - 0.4) < 0.05);
	assert_true(fabs(bad->flips[0][5] - 0.1) < 0.03);
	assert_true(fabs(good->flips[1][7] - 0.05) < 0.01);
	assert_true(fabs(good->flips[0][0] - 0.3) < 0.05);

	regimes.count = LT_LATE_REGIMES_MAX + 1;
	assert_int_equal(lt_late_learn(&regimes, traces, TRACES, TICKS, NULL), LT_EINPUT);
	regimes.count = 2;
	assert_int_equal(lt_late_learn(&regimes, traces, TRACES, TICKS + 1, NULL), LT_EINPUT);
}

static struct lt_late_outcome
run_mdp(struct lt_late *late, const struct lt_late_regimes *regimes)
{
	struct lt_late_outcome outcome;
	struct lt_late_mdp *mdp;

	assert_int_equal(lt_late_mdp_open(&mdp, regimes, late, NULL), LT_OK);
	const struct lt_late_policy policy = lt_late_mdp_policy(mdp, 1);

	assert_int_equal(lt_late_run(&outcome, late, &policy, NULL), LT_OK);
	lt_late_mdp_close(mdp);
	return outcome;
}

/* 100 ticks of work, and 40 of slack. */
static struct lt_late
of_trace(const struct lt_sim_spot_trace *trace)
{
	return (struct lt_late){.regions = trace,
	    .region_count = 1,
	    .spot_per_hour = spot_per_hour,
	    .on_demand_per_hour = 3,
	    .job = {60000, 84000, 300}};
}

static void
test_extremes(void **state)
{
	const struct lt_sim_spot_trace trace = {600, TICKS, taken[0]};
	struct lt_late late = of_trace(&trace);
	struct lt_late_regimes regimes = constant(1e-9, 1e-9);
	struct lt_late_outcome outcome;
	struct lt_late_mdp *mdp;

	(void)state;
	/* There for good: 100 ticks and half a one for the restart. */
	memset(taken[0], 0, TICKS);
	outcome = run_mdp(&late, &regimes);
	assert_int_equal(outcome.spot_ticks[0], 101);
	assert_int_equal(outcome.on_demand_ticks, 0);
	/* Gone for good. */
	memset(taken[0], 1, TICKS);
	outcome = run_mdp(&late, &regimes);
	assert_int_equal(outcome.on_demand_ticks, 101);
	assert_false(outcome.is_late);
	/* Back after four ticks, and then for long: it waits for that. */
	memset(taken[0] + 4, 0, TICKS - 4);
	regimes = constant(0.001, 0.3);
	outcome = run_mdp(&late, &regimes);
	assert_int_equal(outcome.spot_ticks[0], 101);
	assert_int_equal(outcome.on_demand_ticks, 0);
	late.job.restart_s = 601;
	assert_int_equal(lt_late_mdp_open(&mdp, &regimes, &late, NULL), LT_EINPUT);
	lt_late_mdp_close(mdp);
}

static void
test_never_late(void **state)
{
	const struct lt_late_regimes regimes = constant(0.1, 0.2);
	struct lt_sim_spot_trace traces[3];
	struct lt_late_zones memory = {.usual = &regimes.regimes[0], .usual_tick_s = 600};
	const struct lt_late_policy zones = lt_late_zones_policy(&memory);
	uint64_t seed = 9;

	(void)state;
	for (int i = 0; i < 3; i++)
		traces[i] = (struct lt_sim_spot_trace){600, TICKS, taken[i]};

	struct lt_late late = of_trace(traces);
	struct lt_late_mdp *mdp;

	assert_int_equal(lt_late_mdp_open(&mdp, &regimes, &late, NULL), LT_OK);
	const struct lt_late_policy policy = lt_late_mdp_policy(mdp, 1);

	for (int i = 0; i < 500; i++) {
		struct lt_late_outcome outcome;

		for (int k = 0; k < 3; k++)
			make_trace(taken[k], 0.01 * (double)(1 + lt_random(&seed) % 50),
			    0.01 * (double)(1 + lt_random(&seed) % 50), &seed);
		late.job.deadline_s = 60900 + (int64_t)(lt_random(&seed) % 23000);
		late.region_count = 1;
		assert_int_equal(lt_late_run(&outcome, &late, &policy, NULL), LT_OK);
		assert_false(outcome.is_late);
		late.region_count = 3;
		assert_int_equal(lt_late_run(&outcome, &late, &zones, NULL), LT_OK);
		assert_false(outcome.is_late);
	}
	lt_late_mdp_close(mdp);
}

/* It is where it is cheap, unless nodes are taken there all the time. */
static void
test_zones(void **state)
{
	const struct lt_late_regimes regimes = constant(0.01, 0.2);
	struct lt_sim_spot_trace traces[3];
	struct lt_late_zones memory = {.usual = &regimes.regimes[0], .usual_tick_s = 600};
	const struct lt_late_policy zones = lt_late_zones_policy(&memory);
	struct lt_late_outcome outcome;

	(void)state;
	memset(taken, 0, sizeof(taken));
	for (int i = 0; i < 3; i++)
		traces[i] = (struct lt_sim_spot_trace){600, TICKS, taken[i]};
	struct lt_late late = of_trace(traces);

	late.region_count = 3;
	assert_int_equal(lt_late_run(&outcome, &late, &zones, NULL), LT_OK);
	assert_int_equal(outcome.spot_ticks[0], 101);
	for (int t = 0; t < TICKS; t++)
		taken[0][t] = t % 2 != 0;
	assert_int_equal(lt_late_run(&outcome, &late, &zones, NULL), LT_OK);
	assert_true(outcome.spot_ticks[1] > 70);
	assert_int_equal(outcome.spot_ticks[2] + outcome.on_demand_ticks, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ages),
	    cmocka_unit_test(test_learned),
	    cmocka_unit_test(test_extremes),
	    cmocka_unit_test(test_never_late),
	    cmocka_unit_test(test_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
