/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rules out whole partitions changes no decision: worlds of days, for the bound by the least
 * windows of a series and for one by its least value alone, which is what test_decide_brute.c,
 * whose worlds are of minutes, looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "decide_world.h"

enum { WORLDS = 20000, STRETCH = 150 };

static int64_t
stretched(int64_t utc_s)
{
	return NOW + (utc_s - NOW) * STRETCH;
}

/* Minutes to hours. */
static void
stretch_world(void)
{
	struct lt_request *const request = &world.request;

	for (int i = 0; i < SERIES; i++) {
		struct lt_series *const series = &world.series[i];

		if (series->count == 0)
			continue;
		for (uint32_t k = 0; k <= series->count; k++)
			series->start_utc_s[k] = stretched(series->start_utc_s[k]);
		assert_int_equal(lt_series_prepare(series, NULL), LT_OK);
	}
	for (uint32_t i = 0; i < world.planned_count; i++) {
		world.planned[i].start_utc_s = stretched(world.planned[i].start_utc_s);
		world.planned[i].end_utc_s = stretched(world.planned[i].end_utc_s);
	}
	world.market.max_delay_s *= STRETCH;
	request->limit_s *= STRETCH;
	if (request->expected_run_s != LT_UNSET_64)
		request->expected_run_s *= STRETCH;
	request->learned.expected_s *= STRETCH;
	request->learned.upper_s *= STRETCH;
	request->learned.low_s *= STRETCH;
	request->learned.high_s *= STRETCH;
	if (request->deadline_utc_s != LT_UNSET_64)
		request->deadline_utc_s = stretched(request->deadline_utc_s);
	if (request->max_cost_micros != LT_UNSET_64)
		request->max_cost_micros *= STRETCH;
	request->available_micros *= STRETCH;
	if (request->earliest_utc_s > 0)
		request->earliest_utc_s = stretched(request->earliest_utc_s);
	for (int i = 0; i < PARTITIONS; i++) {
		world.partitions[i].hazard_per_node_hour /= STRETCH;
		if (world.partitions[i].max_time_s != INT64_MAX)
			world.partitions[i].max_time_s *= STRETCH;
	}
}

/* As if nothing were known of windows; false where nothing was. */
static bool
loosen(void)
{
	bool tighter = false;

	for (int i = 0; i < SERIES; i++)
		for (int w = 0; w < LT_SERIES_WINDOWS; w++) {
			struct lt_series *const series = &world.series[i];
			const double loose =
			    (double)(LT_DAY_S >> w) / LT_HOUR_S * series->min_value;

			tighter |= series->window_min[w] > loose;
			series->window_min[w] = loose;
		}
	return tighter;
}

static void
decide(struct lt_plan *plan)
{
	assert_int_equal(lt_decide(plan, &world.request, &world.market, world.planned,
			     world.planned_count, NOW, NULL),
	    LT_OK);
}

static void
test_bound_changes_nothing(void **state)
{
	static struct lt_plan plan, wanted;
	int moves = 0, waits = 0;

	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++) {
		memset(world.series, 0, sizeof(world.series));
		make_world(number);
		stretch_world();
		decide(&plan);
		if (!loosen())
			continue;
		decide(&wanted);
		if (plan.moved != wanted.moved ||
		    plan.chosen.partition != wanted.chosen.partition ||
		    plan.chosen.start_utc_s != wanted.chosen.start_utc_s ||
		    plan.chosen.cost_micros != wanted.chosen.cost_micros ||
		    plan.chosen.carbon_mg != wanted.chosen.carbon_mg)
			fail_msg("%llu: partition %d at %lld, want %d at %lld",
			    (unsigned long long)number, plan.chosen.partition,
			    (long long)plan.chosen.start_utc_s, wanted.chosen.partition,
			    (long long)wanted.chosen.start_utc_s);
		moves += plan.chosen.partition != plan.home.partition;
		waits += plan.chosen.start_utc_s > NOW && plan.moved;
	}
	/* What the worlds came to: they must be worth it. */
	assert_true(moves > WORLDS / 20);
	assert_true(waits > WORLDS / 20);
	print_message("# %d move, %d wait\n", moves, waits);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bound_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
