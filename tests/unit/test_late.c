/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late", tick for tick: what its published simulator (Frontier-CS 4d508c1) has for the
 * same policies, and that who is safe is never late.
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

#include "late/late.h"
#include "simulation.h"
#include "units.h"

static const double spot_per_hour = 0.9731, on_demand_per_hour = 3.06;

/* Dollars of a job of 48 h, by the policies below. */
static const int compared[] = {
    LT_LATE_ALL_ON_DEMAND, LT_LATE_GREEDY, LT_LATE_SPOT_ELSE, LT_LATE_UNIFORM, LT_LATE_SLACK};

static const struct {
	const char *window;
	int deadline_h, restart_s;
	double money[sizeof(compared) / sizeof(compared[0])];
} published[] = {
    {"us-west-2a_k80_8", 52, 72, {147.39, 125.83, 92.23, 92.23, 91.18}},
    {"us-west-2a_k80_8", 52, 360, {147.39, 127.36, 99.34, 101.29, 99.34}},
    {"us-west-2a_k80_8", 70, 72, {147.39, 91.21, 92.23, 89.56, 89.28}},
    {"us-west-2a_k80_8", 70, 360, {147.39, 97.21, 99.34, 98.23, 94.38}},
    {"us-west-2b_k80_1", 52, 72, {147.39, 145.30, 136.96, 137.98, 136.96}},
    {"us-west-2b_k80_1", 52, 360, {147.39, 145.81, 138.49, 140.53, 138.49}},
    {"us-west-2b_k80_1", 70, 72, {147.39, 136.96, 136.96, 143.08, 136.96}},
    {"us-west-2b_k80_1", 70, 360, {147.39, 137.98, 138.49, 151.75, 137.98}},
    {"us-west-2b_k80_8", 52, 72, {147.39, 128.61, 90.49, 90.49, 89.44}},
    {"us-west-2b_k80_8", 52, 360, {147.39, 130.67, 97.60, 97.63, 97.60}},
    {"us-west-2b_k80_8", 70, 72, {147.39, 89.47, 90.49, 85.92, 85.46}},
    {"us-west-2b_k80_8", 70, 360, {147.39, 93.55, 97.60, 93.73, 90.56}},
    {"us-west-2a_v100_1", 52, 72, {147.39, 142.52, 93.27, 90.14, 90.14}},
    {"us-west-2a_v100_1", 52, 360, {147.39, 143.03, 96.77, 97.28, 96.77}},
    {"us-west-2a_v100_1", 70, 72, {147.39, 111.03, 93.27, 69.94, 62.31}},
    {"us-west-2a_v100_1", 70, 360, {147.39, 120.70, 96.77, 76.55, 70.13}},
    {"us-west-2a_v100_8", 52, 72, {147.39, 144.96, 133.24, 135.84, 132.02}},
    {"us-west-2a_v100_8", 52, 360, {147.39, 145.47, 147.29, 146.32, 147.48}},
    {"us-west-2a_v100_8", 70, 72, {147.39, 143.22, 133.24, 131.55, 127.12}},
    {"us-west-2a_v100_8", 70, 360, {147.39, 144.75, 146.81, 153.67, 144.44}},
    {"us-west-2b_v100_1", 52, 72, {147.39, 143.22, 106.67, 104.75, 104.24}},
    {"us-west-2b_v100_1", 52, 360, {147.39, 143.73, 110.87, 114.37, 110.36}},
    {"us-west-2b_v100_1", 70, 72, {147.39, 114.51, 106.67, 91.30, 88.75}},
    {"us-west-2b_v100_1", 70, 360, {147.39, 126.64, 110.87, 102.01, 97.79}},
};

static struct lt_sim_spot_trace
read_window(const char *name)
{
	struct lt_sim_spot_trace trace;
	struct lt_error err = {0};
	char path[128];
	uint8_t *taken;

	snprintf(path, sizeof(path), "tests/fixtures/simulate/late/%s.json", name);
	if (lt_simulation_read_spot_trace(&trace, &taken, path, &err) != LT_OK)
		fail_msg("%s", err.text);
	return trace;
}

static void
test_as_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		const struct lt_sim_spot_trace trace = read_window(published[i].window);
		const struct lt_late late = {.regions = &trace,
		    .region_count = 1,
		    .spot_per_hour = &spot_per_hour,
		    .on_demand_per_hour = on_demand_per_hour,
		    .job = {48 * LT_HOUR_S, published[i].deadline_h * LT_HOUR_S,
			published[i].restart_s}};

		for (size_t p = 0; p < sizeof(compared) / sizeof(compared[0]); p++) {
			const struct lt_late_policy *const policy = &lt_late_policies[compared[p]];
			struct lt_late_outcome outcome;

			assert_int_equal(lt_late_run(&outcome, &late, policy, NULL), LT_OK);
			const double money = lt_late_cost(&outcome, &late);

			if (fabs(money - published[i].money[p]) > 0.005 + 1e-9)
				fail_msg("%s, %d h, %d s, %s: %.4f, want %.2f", published[i].window,
				    published[i].deadline_h, published[i].restart_s, policy->name,
				    money, published[i].money[p]);
		}
		free((void *)(uintptr_t)trace.taken);
	}
}

enum { TICKS = 4096, TRIES = 3000 };

/* Nodes that are taken and given back at random, restarts of less and more than a tick, and
 * deadlines that have room for one restart and a tick. */
static void
test_never_late(void **state)
{
	static const int safe[] = {
	    LT_LATE_ALL_ON_DEMAND, LT_LATE_GREEDY, LT_LATE_UNIFORM, LT_LATE_SLACK, LT_LATE_ONE_WAY};
	static uint8_t taken[TICKS];
	uint64_t seed = 7;
	uint32_t without = 0; /* the safe rule */

	(void)state;
	for (int i = 0; i < TRIES; i++) {
		const struct lt_sim_spot_trace trace = {60, TICKS, taken};
		const int64_t restart_s = 1 + (int64_t)(lt_random(&seed) % 200);
		const int64_t work_s = 60 + (int64_t)(lt_random(&seed) % 6000);
		const int64_t room_s = (int64_t)(lt_random(&seed) % 3000);
		const uint64_t flips = 2 + lt_random(&seed) % 30;
		const struct lt_late late = {.regions = &trace,
		    .region_count = 1,
		    .spot_per_hour = &spot_per_hour,
		    .on_demand_per_hour = on_demand_per_hour,
		    .job = {work_s, work_s + restart_s + 60 + room_s, restart_s}};

		for (int t = 0; t < TICKS; t++)
			taken[t] = lt_random(&seed) % flips == 0 ? lt_random(&seed) % 2
								 : taken[t > 0 ? t - 1 : 0];
		struct lt_late_outcome outcome;

		for (size_t p = 0; p < sizeof(safe) / sizeof(safe[0]); p++) {
			assert_int_equal(
			    lt_late_run(&outcome, &late, &lt_late_policies[safe[p]], NULL), LT_OK);
			if (outcome.is_late)
				fail_msg("try %d, %s: %lld of %lld s", i,
				    lt_late_policies[safe[p]].name, (long long)outcome.ended_s,
				    (long long)late.job.deadline_s);
		}
		assert_int_equal(
		    lt_late_run(&outcome, &late, &lt_late_policies[LT_LATE_SPOT_ELSE], NULL),
		    LT_OK);
		without += outcome.is_late;
	}
	if (without < 10)
		fail_msg("late without: %u of %d", without, TRIES);
}

/* Every way that there is, tried. */
static double
cheapest(const struct lt_late *late, uint32_t tick, int64_t lag_s, int place)
{
	const struct lt_sim_spot_trace *const trace = late->regions;
	const struct lt_late_job *const job = &late->job;
	const int64_t tick_s = trace->tick_s;
	const int64_t left_s = job->deadline_s - tick * tick_s;
	const int64_t work_s = job->work_s - tick * tick_s + lag_s;
	double least = INFINITY;

	if (work_s <= 0)
		return lag_s <= job->deadline_s - job->work_s ? 0 : INFINITY;
	if (tick == trace->count)
		return INFINITY;
	for (int to = 0; to < LT_LATE_PLACE_COUNT; to++) {
		const bool there = !trace->taken[tick];
		const bool forced = work_s + job->restart_s > left_s - tick_s;
		const int must = place != LT_LATE_SPOT ? LT_LATE_ON_DEMAND
				 : there	       ? LT_LATE_SPOT
						       : LT_LATE_IDLE;

		if ((to == LT_LATE_SPOT && !there) || (forced && to != must))
			continue;
		const int64_t more_s = to == LT_LATE_IDLE ? tick_s
				       : to == place	  ? 0
							  : job->restart_s;
		const double price = to == LT_LATE_IDLE	  ? 0
				     : to == LT_LATE_SPOT ? spot_per_hour
							  : on_demand_per_hour;

		least = fmin(least, price * (double)tick_s / LT_HOUR_S +
					cheapest(late, tick + 1, lag_s + more_s, to));
	}
	return least;
}

static void
test_optimum(void **state)
{
	uint64_t seed = 3;
	uint8_t taken[9];
	int possible = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		const struct lt_sim_spot_trace trace = {60, 9, taken};
		const struct lt_late late = {.regions = &trace,
		    .region_count = 1,
		    .spot_per_hour = &spot_per_hour,
		    .on_demand_per_hour = on_demand_per_hour,
		    .job = {60 * (3 + (int64_t)(lt_random(&seed) % 3)), 480,
			15 * (1 + (int64_t)(lt_random(&seed) % 4))}};
		double money;

		for (size_t t = 0; t < sizeof(taken); t++)
			taken[t] = lt_random(&seed) % 2;
		assert_int_equal(lt_late_optimum(&money, &late, NULL), LT_OK);
		const double want = cheapest(&late, 0, 0, LT_LATE_IDLE);

		if (isinf(want) != isinf(money) || (!isinf(want) && fabs(money - want) > 1e-9))
			fail_msg("try %d: %f, want %f", i, money, want);
		possible += !isinf(want);
	}
	assert_true(possible > 250);
}

static void
test_refused(void **state)
{
	static const uint8_t there[2];
	struct lt_sim_spot_trace regions[2] = {{60, 2, there}, {60, 2, there}};
	struct lt_late late = {.regions = regions,
	    .spot_per_hour = &spot_per_hour,
	    .on_demand_per_hour = on_demand_per_hour,
	    .job = {120, 240, 30}};
	struct lt_late_outcome outcome;
	struct lt_error err = {0};

	(void)state;
	assert_int_equal(lt_late_run(&outcome, &late, &lt_late_policies[0], &err), LT_EINPUT);
	assert_string_equal(err.text, "regions: got 0, want 1 to 16");
	late.region_count = 2;
	regions[1].tick_s = 61;
	err = (struct lt_error){0};
	assert_int_equal(lt_late_run(&outcome, &late, &lt_late_policies[0], &err), LT_EINPUT);
	assert_non_null(strstr(err.text, "region 1: got 2 ticks of 61 s"));
	/* A trace that ends before the work does. */
	late.region_count = 1;
	assert_int_equal(lt_late_run(&outcome, &late, &lt_late_policies[0], NULL), LT_OK);
	assert_true(outcome.is_late);
	assert_true(outcome.ended_s == INT64_MAX);
	assert_int_equal(outcome.on_demand_ticks, 2);

	double money;

	late.job.restart_s = 90;
	assert_int_equal(lt_late_optimum(&money, &late, NULL), LT_EINPUT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_as_published),
	    cmocka_unit_test(test_never_late),
	    cmocka_unit_test(test_optimum),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
