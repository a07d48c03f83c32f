/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small site as structs, for the tests and fuzzers of its files: market and snapshot are made
 * anew by make_market() and make_sheet().
 */
#ifndef LT_FILES_FIXTURE_H
#define LT_FILES_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "files.h"

enum { STEPS = 2016, SERIES = 3, START = 1763683200 };

static int64_t starts[SERIES][STEPS + 1];
static double values[SERIES][STEPS], integrals[SERIES][STEPS + 1];
static struct lt_series series[SERIES];
static struct lt_partition partitions[2];
static struct lt_shape shapes[3];
static struct lt_gpu gpus[1];
static struct lt_class classes[1];
static struct lt_power_cap power_caps[1];
static struct lt_precision_rule precision_rules[1];
static struct lt_bar bars[2];
static struct lt_market market;

static struct lt_budget budgets[2];
static struct lt_usage usages[2];
static struct lt_account accounts[2];
static uint32_t bindings[3];
static struct lt_pair pairs[3];
static struct lt_manager managers[2];
static struct lt_budget_snapshot snapshot;

static void
make_market(void)
{
	for (int s = 0; s < SERIES; s++) {
		for (int i = 0; i <= STEPS; i++)
			starts[s][i] = START + 300 * i;
		for (int i = 0; i < STEPS; i++)
			values[s][i] = s * 100.0 + i % 7 - 2.5;
		series[s] = (struct lt_series){.count = STEPS,
		    .quality = LT_QUALITY_FORECAST,
		    .issued_utc_s = START,
		    .source = "london",
		    .start_utc_s = starts[s],
		    .value = values[s],
		    .integral = integrals[s]};
		if (lt_series_prepare(&series[s], NULL) != LT_OK)
			abort();
	}
	for (int i = 0; i < 2; i++)
		partitions[i] = (struct lt_partition){.flags = LT_PARTITION_UP,
		    .max_time_s = INT64_MAX,
		    .min_nodes = 1,
		    .max_nodes = UINT32_MAX,
		    .node_count = 4,
		    .shape_count = 1,
		    .first_shape = (uint32_t)i,
		    .price_series = i,
		    .carbon_series = 2,
		    .tariff_series = LT_NO_SERIES,
		    .occupancy_series = LT_NO_SERIES,
		    .node_idle_w = 300,
		    .pue = 1.15,
		    .allow_accounts = i ? "a,b" : "",
		    .allow_qos = i ? "normal" : NULL};
	strcpy(partitions[0].name, "ondemand");
	strcpy(partitions[1].name, "spot");
	partitions[1].overrun_s = INT64_MAX;
	shapes[1] = (struct lt_shape){.node_count = 4,
	    .cpus = 64,
	    .sockets = 2,
	    .threads = 2,
	    .gpus = 8,
	    .shards = 32,
	    .gpu_cores = 8,
	    .socket_cores = 16,
	    .memory_mib = 1024000,
	    .tmp_disk_mib = 100000,
	    .features = "ib,fast",
	    .kinds = {{"h100", 6, 0, 700}, {"3g.40gb", 2, -1, 0}},
	    .gpus_unclear = true};
	shapes[0] = shapes[2] = (struct lt_shape){.gpu_index = -1};
	gpus[0] = (struct lt_gpu){
	    .name = "H100", .memory_mib = 81559, .tflops = {[LT_PRECISION_FP8] = 1979}};
	classes[0] = (struct lt_class){.name = "batch",
	    .account = "vision",
	    .qos = "green",
	    .partition = "p",
	    .default_objective = LT_OBJECTIVE_CARBON,
	    .has_max_delay = true,
	    .max_delay_s = 7200,
	    .deadline_confidence_ppm = 990000,
	    .max_price_micros = 12500000,
	    .smoke_above_node_s = 230400,
	    .smoke_within_s = 604800,
	    .on_demand_only = true,
	    .max_interruptions = 3,
	    .pause = LT_PAUSE_SUSPEND,
	    .canary = true};
	power_caps[0] = (struct lt_power_cap){.account = "green",
	    .qos = "long",
	    .partition = "spot",
	    .gpu = "H100",
	    .gpu_freq = "1200",
	    .cpu_freq = "low",
	    .slow_down = 1.25,
	    .power = 0.5};
	precision_rules[0] =
	    (struct lt_precision_rule){LT_PRECISION_OF_PARTITION, "spot", LT_PRECISION_FP8};
	bars[0] = (struct lt_bar){UINT64_MAX - 1, 1};
	bars[1] = (struct lt_bar){UINT64_MAX, 0};
	market = (struct lt_market){.generation = 7,
	    .compiled_utc_s = START,
	    .cluster = "c1",
	    .currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .max_delay_s = 86400,
	    .hold_margin_ppm = 50000,
	    .waiting_micros_per_hour = 5000,
	    .waiting_mg_per_hour = 7000,
	    .min_saving_ppm = 60000,
	    .partition_count = 2,
	    .shape_count = 3,
	    .series_count = SERIES,
	    .gpu_count = 1,
	    .class_count = 1,
	    .power_cap_count = 1,
	    .precision_rule_count = 1,
	    .bar_count = 2,
	    .power_cap_above = 400,
	    .partitions = partitions,
	    .shapes = shapes,
	    .series = series,
	    .gpus = gpus,
	    .classes = classes,
	    .power_caps = power_caps,
	    .precision_rules = precision_rules,
	    .bars = bars};
	market.zone.count = 2;
	market.zone.steps[0].start_utc_s = INT64_MIN;
	market.zone.steps[1].offset_s = -3600;
	strcpy(market.zone.steps[1].abbreviation, "CET");
}

static void
make_sheet(void)
{
	const struct lt_amount some = {true, false, -3, 0};

	for (int i = 0; i < 2; i++) {
		memset(&budgets[i], 0, sizeof(budgets[i]));
		strcpy(budgets[i].team, i ? "vision" : "research");
		budgets[i].on_exceed = LT_RULE_WARN;
		budgets[i].has_per_user = i == 1;
		budgets[i].periods[0] = (struct lt_period){10, 20, "November", some, some, some};
		budgets[i].periods[1] = (struct lt_period){20, 30, "December", some, some, some};
	}
	usages[0] = (struct lt_usage){.budget = 1, .uid = 5};
	usages[1] = (struct lt_usage){.budget = 1, .uid = 6};
	accounts[0] = (struct lt_account){"research", 0, 1, 0};
	accounts[1] = (struct lt_account){"vision", 1, 2, 1};
	bindings[0] = 0;
	bindings[1] = 1;
	bindings[2] = 0;
	pairs[0] = (struct lt_pair){5, 0, false, true, 3600, true};
	pairs[1] = (struct lt_pair){5, 1, true, false, 7200, false};
	pairs[2] = (struct lt_pair){6, 0, true, false, 0, false};
	managers[0] = (struct lt_manager){3, 0};
	managers[1] = (struct lt_manager){5, 1};
	snapshot = (struct lt_budget_snapshot){.generation = 9,
	    .jobs_utc_s = START - 1,
	    .manager_count = 2,
	    .managers = managers,
	    .compiled_utc_s = START,
	    .ring_generation = UINT64_MAX,
	    .ring_absorbed = 77,
	    .ready = true,
	    .on_unknown = LT_RULE_HOLD,
	    .stale_after_s = 120,
	    .holdout = {20000, {UINT64_MAX, 7}},
	    .budget_count = 2,
	    .usage_count = 2,
	    .account_count = 2,
	    .binding_count = 3,
	    .pair_count = 3,
	    .budgets = budgets,
	    .usages = usages,
	    .accounts = accounts,
	    .bindings = bindings,
	    .pairs = pairs};
}

#endif
