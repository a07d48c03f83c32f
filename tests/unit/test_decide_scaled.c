/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A larger job gives up nothing that it would have taken smaller: the same request on k times the
 * nodes, all else equal and with room for it, in random markets. docs/model.md, eqs. (23) and (24).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "decide_world.h"

enum { WORLDS = 40000, LARGEST = 400 };

/* Room for all, nobody takes nodes back, and what is shown is what decides. */
static void
make_room(void)
{
	struct lt_request *const request = &world.request;

	for (int i = 0; i < PARTITIONS; i++) {
		struct lt_partition *const part = &world.partitions[i];

		part->occupancy_series = LT_NO_SERIES;
		part->flags &= ~(uint32_t)(LT_PARTITION_OWNED | LT_PARTITION_STAYS_ON);
		part->hazard_per_node_hour = 0;
		world.shapes[i].node_count = part->node_count = 8 * LARGEST;
	}
	/* As a power of ten more: from cents and grams to hundreds and tonnes. */
	for (int i = among(0, 3); i-- > 0;)
		for (int p = 0; p < PARTITIONS; p++)
			world.partitions[p].node_idle_w *= 10;
	world.planned_count = 0;
	world.market.min_saving_ppm = (uint32_t)among(10000, 300000);
	*request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .gpus_per_node = request->gpus > 0 ? 2 : 0,
	    .cpus_per_node = 8,
	    .exclusive = request->exclusive,
	    .array_tasks = 1,
	    .limit_s = request->limit_s,
	    .expected_run_s = LT_UNSET_64,
	    .home = request->home,
	    .earliest_utc_s = request->earliest_utc_s,
	    .deadline_utc_s = request->deadline_utc_s,
	    .objective = request->objective,
	    .max_cost_micros = LT_UNSET_64};
}

struct worth { /* by the first score and by the second one */
	double first, second;
};

/* With what waiting is worth, or without. */
static struct worth
worth_of(const struct lt_plan *plan, const struct lt_estimate *at, bool waits)
{
	const struct lt_market *const market = &world.market;
	const double hours = waits ? (double)(at->start_utc_s - plan->home.start_utc_s) / 3600 : 0;
	const double money =
	    (double)at->cost_micros + hours * (double)market->waiting_micros_per_hour;
	const double carbon = (double)at->carbon_mg + hours * (double)market->waiting_mg_per_hour;
	const double price =
	    (double)(market->carbon_price_micros_per_tonne - market->charge_micros_per_tonne) / 1e9;
	/* What home knows counts. */
	const bool both = plan->home.has_cost && plan->home.has_carbon;
	const double cheap = plan->home.has_cost ? money : carbon;
	const double clean = plan->home.has_carbon ? carbon : money;

	if (plan->objective == LT_OBJECTIVE_CARBON)
		return (struct worth){clean, cheap};
	if (plan->objective == LT_OBJECTIVE_BALANCED && both)
		return (struct worth){
		    money + (price > 0 ? price * (double)at->carbon_mg : 0), clean};
	return (struct worth){cheap, clean};
}

/* What must be kept of a saving, and no more than it if it is none. */
static double
kept(double saving)
{
	return fmin(0.95 * saving, saving);
}

static uint32_t waited, by_second, around_a_kilogram;

/* Of the saving that the choice of the small job would be to the large one. */
static bool
gives_up(const struct lt_plan *large, const struct lt_estimate *there, bool waits)
{
	static const double figure = 2; /* rounded, both */
	const struct worth home = worth_of(large, &large->home, waits),
			   was = worth_of(large, there, waits),
			   is = worth_of(large, &large->chosen, waits);
	const double noise = figure + 1e-8 * (fabs(home.first) + fabs(home.second));
	const double saves = home.first - is.first, saves_second = home.second - is.second;
	const bool is_less = saves < kept(home.first - was.first) - noise;
	const bool is_less_second = saves_second < kept(home.second - was.second) - noise;

	/* What the digits of large figures hide the second score chooses. */
	if (is_less)
		return is_less_second || (saves <= noise && saves_second <= noise);
	return saves <= noise && is_less_second;
}

static void
check_world(uint64_t number)
{
	static struct lt_plan small, large;
	struct lt_estimate there;
	enum lt_reject reject;
	const uint32_t times = (uint32_t)(2 + number % (LARGEST - 1));

	make_world(number);
	make_room();
	assert_int_equal(
	    lt_decide(&small, &world.request, &world.market, NULL, 0, NOW, NULL), LT_OK);
	if (!small.fits || small.objective == LT_OBJECTIVE_FAST ||
	    small.chosen.start_utc_s <= small.home.start_utc_s)
		return;
	world.request.min_nodes = world.request.max_nodes = times;
	assert_int_equal(
	    lt_decide(&large, &world.request, &world.market, NULL, 0, NOW, NULL), LT_OK);
	assert_true(lt_estimate_at(&there, &reject, &world.request, &world.market,
	    small.chosen.partition, small.chosen.start_utc_s));
	waited++;
	by_second +=
	    worth_of(&large, &large.home, true).first - worth_of(&large, &there, true).first <
	    10000;
	around_a_kilogram += large.home.carbon_mg >= 1000000 && small.home.carbon_mg < 1000000;
	if (gives_up(&large, &there, true) && gives_up(&large, &there, false))
		fail_msg("%llu: on %u nodes %d at %lld, on one %d at %lld",
		    (unsigned long long)number, times, large.chosen.partition,
		    (long long)(large.chosen.start_utc_s - NOW), small.chosen.partition,
		    (long long)(small.chosen.start_utc_s - NOW));
}

static void
test_larger_gives_up_nothing(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++)
		check_world(number);
	print_message("# waited %u, by the second score %u, "
		      "from below a kilogram to above %u\n",
	    waited, by_second, around_a_kilogram);
	assert_true(waited > 1000 && by_second > 50 && around_a_kilogram > 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_larger_gives_up_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
