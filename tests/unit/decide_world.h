/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small random markets and requests for test_decide_brute.c: every kind of rule comes up, steps are
 * seconds to minutes so that every second can be tried.
 */
#ifndef DECIDE_WORLD_H
#define DECIDE_WORLD_H

#include "decide.h"
#include "units.h"

enum {
	PARTITIONS = 5,
	SERIES = PARTITIONS * 4,
	STEPS = 40,
	PLANNED = 12,
	NOW = 1000000,
};

static struct {
	struct lt_market market;
	struct lt_partition partitions[PARTITIONS];
	struct lt_shape shapes[PARTITIONS];
	struct lt_series series[SERIES];
	int64_t starts[SERIES][STEPS + 1];
	double values[SERIES][STEPS], integrals[SERIES][STEPS + 1];
	struct lt_planned planned[PLANNED];
	uint32_t planned_count;
	struct lt_request request;
} world;

static uint64_t seed;

static uint64_t
bits(void)
{
	return lt_random(&seed);
}

static int
among(int low, int high)
{
	return low + (int)(bits() % (uint64_t)(high - low + 1));
}

static bool
one_in(int n)
{
	return among(1, n) == 1;
}

static double
fraction(void)
{
	return (double)(bits() >> 11) * 0x1p-53;
}

static int
make_series(int index, double low, double high)
{
	struct lt_series *series = &world.series[index];
	const bool few_values = one_in(3);
	int64_t at = NOW + among(-900, 300);

	*series = (struct lt_series){.count = (uint32_t)among(1, STEPS),
	    .quality = one_in(6) ? LT_QUALITY_CONSTANT : LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW - (one_in(12) ? 4000 : among(0, 3000)),
	    .start_utc_s = world.starts[index],
	    .value = world.values[index],
	    .integral = world.integrals[index]};
	if (series->quality == LT_QUALITY_CONSTANT)
		series->count = 1;
	for (uint32_t i = 0; i < series->count; i++) {
		series->start_utc_s[i] = at;
		series->value[i] =
		    low + (high - low) * (few_values ? among(0, 4) / 4.0 : fraction());
		at += among(1, 120);
	}
	series->start_utc_s[series->count] = at;
	assert_int_equal(lt_series_prepare(series, NULL), LT_OK);
	return index;
}

static void
make_partition(int i, bool money)
{
	struct lt_partition *part = &world.partitions[i];

	world.shapes[i] = (struct lt_shape){.node_count = (uint32_t)among(2, 8),
	    .cpus = one_in(2) ? 64 : 32,
	    .gpus = one_in(3) ? 0 : 4,
	    .memory_mib = 262144,
	    .gpu_index = one_in(4) ? -1 : among(0, 18)};
	*part = (struct lt_partition){
	    .flags = LT_PARTITION_UP | (one_in(10) ? 0 : LT_PARTITION_MANAGED) |
		     (one_in(2) ? LT_PARTITION_OWNED : 0) | (one_in(3) ? LT_PARTITION_QUEUED : 0) |
		     (one_in(3) ? 0 : LT_PARTITION_STAYS_ON),
	    .max_time_s = one_in(8) ? 300 : INT64_MAX,
	    .min_nodes = 1,
	    .max_nodes = UINT32_MAX,
	    .allow_accounts = "",
	    .deny_accounts = "",
	    .allow_qos = "",
	    .deny_qos = "",
	    .node_count = world.shapes[i].node_count,
	    .first_shape = (uint32_t)i,
	    .shape_count = 1,
	    .price_series = LT_NO_SERIES,
	    .carbon_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .occupancy_series = LT_NO_SERIES,
	    .node_idle_w = one_in(3) ? 3000 : 300,
	    .node_cpu_w = 400,
	    .node_gpu_w = world.shapes[i].gpus ? 1600 : 0,
	    .pue = 1.2,
	    .hazard_per_node_hour = one_in(3) ? fraction() : 0,
	    .notice_s = one_in(3) ? 120 : 0,
	    .restart_s = among(0, 100),
	    .engineer_micros_per_restart = one_in(3) ? 2000000 : 0,
	    .storage_micros_per_gib_month = 50000,
	    .storage_gib_per_s = one_in(2) ? 2.5 : 0,
	    .embodied_g_per_node_hour = one_in(2) ? 20 : 0};
	/* Different cloud prices; the tariff may be negative. */
	if (money && !one_in(10))
		part->price_series = make_series(i * 4, 1e6, 9e6);
	if (one_in(2))
		part->tariff_series = make_series(i * 4 + 1, -1e5, 4e5);
	if (!one_in(8))
		part->carbon_series = make_series(i * 4 + 2, 20, 700);
	if (one_in(3))
		part->occupancy_series = make_series(i * 4 + 3, 0, part->node_count + 1);
}

/* Other prices, at the same hours. */
static void
set_prices(int index, int other)
{
	struct lt_series *series = &world.series[index];
	const struct lt_series *from = &world.series[other];
	const double factor = among(1, 4) / 2.0;

	series->count = from->count;
	series->quality = from->quality;
	for (uint32_t i = 0; i <= from->count; i++)
		series->start_utc_s[i] = from->start_utc_s[i];
	for (uint32_t i = 0; i < from->count; i++)
		series->value[i] = from->value[i] * factor;
	assert_int_equal(lt_series_prepare(series, NULL), LT_OK);
}

/* Another price of the same nodes on the same grid, as of another contract. */
static void
make_twin(int i)
{
	const int price = world.partitions[i].price_series;
	const int other = world.partitions[i - 1].price_series;

	if (price >= 0 && other >= 0 && one_in(2))
		set_prices(price, other);
	world.shapes[i] = world.shapes[i - 1];
	world.partitions[i] = world.partitions[i - 1];
	world.partitions[i].first_shape = (uint32_t)i;
	world.partitions[i].price_series = price;
}

static void
make_request(void)
{
	struct lt_request *request = &world.request;
	const int64_t expected = among(1, 700);

	*request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = (uint32_t)among(1, 3),
	    .cpus = (uint32_t)among(0, 96),
	    .gpus = one_in(3) ? (uint32_t)among(1, 4) : 0,
	    .memory_mib_per_node = one_in(3) ? (uint64_t)among(1, 200000) : 0,
	    .exclusive = one_in(5),
	    .array_tasks = one_in(4) ? (uint32_t)among(2, 30) : 1,
	    .array_parallel = one_in(4) ? (uint32_t)among(1, 4) : 0,
	    .limit_s = expected + among(0, 200),
	    .expected_run_s = one_in(2) ? LT_UNSET_64 : expected,
	    .learned = {.from = LT_HISTORY_NAME,
		.runs = 5,
		.expected_s = one_in(3) ? 0 : expected + among(-50, 50),
		.upper_s = one_in(3) ? 0 : expected + among(0, 300),
		.low_s = one_in(2) ? 0 : 1 + expected / among(1, 9),
		.high_s = one_in(9) ? 0 : expected + among(0, 900)},
	    .gpu_memory_mib = one_in(4) ? 30000 : 0,
	    .precision = one_in(5) ? LT_PRECISION_BF16 : LT_PRECISION_AUTO,
	    .pins = one_in(12) ? LT_PIN_BEGIN : 0,
	    .home = among(0, (int)world.market.partition_count - 1),
	    .earliest_utc_s = one_in(4) ? NOW + among(-10, 200) : 0,
	    .deadline_utc_s = one_in(4) ? NOW + among(0, 2500) : LT_UNSET_64,
	    .objective = (enum lt_objective)among(LT_OBJECTIVE_BALANCED, LT_OBJECTIVE_FAST),
	    .max_cost_micros = one_in(5) ? among(1, 3000000) : LT_UNSET_64,
	    .has_available = one_in(5),
	    .available_micros = among(1, 3000000),
	    .available_mg = one_in(2) ? INT64_MAX : among(1, 100000)};
	if (one_in(3))
		request->checkpoint = (struct lt_checkpoint){true, one_in(2) ? 20 : 0,
		    one_in(3) ? 90 : 0, one_in(2) ? 100 : 0, (uint32_t)among(1, 3), 0};
	if (one_in(8)) {
		request->named_count = 1;
		request->named[0] = (uint16_t)among(0, (int)world.market.partition_count - 1);
	}
}

static void
make_world(uint64_t number)
{
	int gpu_count;
	/* const: lt_decide() reads them only */
	struct lt_gpu *gpus = (struct lt_gpu *)(uintptr_t)lt_gpu_table(&gpu_count);
	bool money;

	seed = number;
	money = !one_in(5);
	world.market = (struct lt_market){
	    .carbon_price_micros_per_tonne = one_in(2) ? 0 : 100000000000 * (one_in(2) ? 1 : 100),
	    .charge_micros_per_tonne = one_in(2) ? 0 : 20000000000 * (one_in(2) ? 1 : 100),
	    .max_delay_s = one_in(8) ? 0 : among(1, 1500),
	    .stale_after_s = 3600,
	    .deadline_slack_s = 60,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .max_extra_cost_ppm = 50000,
	    .hold_margin_ppm = 100000,
	    .waiting_micros_per_hour = one_in(2) ? 0 : among(0, 400000),
	    .waiting_mg_per_hour = one_in(2) ? 0 : among(0, 2000000),
	    .min_saving_ppm = one_in(2) ? 0 : (uint32_t)among(0, 300000),
	    .partition_count = (uint32_t)among(1, PARTITIONS),
	    .series_count = SERIES,
	    .shape_count = PARTITIONS,
	    .gpu_count = (uint32_t)gpu_count,
	    .partitions = world.partitions,
	    .shapes = world.shapes,
	    .series = world.series,
	    .gpus = gpus};
	for (int i = 0; i < PARTITIONS; i++)
		make_partition(i, money);
	for (int i = 1; i < PARTITIONS; i++)
		if (one_in(2))
			make_twin(i);
	make_request();
	world.planned_count = one_in(2) ? (uint32_t)among(1, PLANNED) : 0;
	for (uint32_t i = 0; i < world.planned_count; i++) {
		const int64_t start = NOW + among(-300, 2000);

		world.planned[i] = (struct lt_planned){(uint16_t)among(0, PARTITIONS - 1),
		    (float)(fraction() * 4), start, start + among(1, 600)};
	}
}

#endif
