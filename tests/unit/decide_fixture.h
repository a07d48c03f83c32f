/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two partitions, one dear and one cheap, that the tests of lt_decide()
 * change one thing at a time in. For one test program each.
 */
#ifndef LT_DECIDE_FIXTURE_H
#define LT_DECIDE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "size.h"

enum { NOW = 1795176000, HOUR = 3600, DAY = 86400 };
enum { HOME, CHEAP, PARTITIONS };
enum { PRICE_HOME, PRICE_CHEAP, CARBON, SERIES };

static int64_t starts[SERIES][4];
static double values[SERIES][3], integrals[SERIES][4];
static struct lt_series series[SERIES];
static struct lt_shape shapes[PARTITIONS];
static struct lt_partition partitions[PARTITIONS];
static struct lt_gpu gpus[2];
static struct lt_market market;
static struct lt_request request;
static struct lt_plan plan;

/* Three steps of eight hours. */
static void
set_series(int i, double first, double second, double third)
{
	for (int k = 0; k < 4; k++)
		starts[i][k] = NOW + k * 8 * HOUR;
	values[i][0] = first;
	values[i][1] = second;
	values[i][2] = third;
	series[i] = (struct lt_series){.count = 3,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = starts[i],
	    .value = values[i],
	    .integral = integrals[i]};
	assert_int_equal(lt_series_prepare(&series[i], NULL), LT_OK);
}

/* Home at 4 an hour, the other at 1; the grid is clean from 8 h on. */
static int
setup(void **state)
{
	(void)state;
	set_series(PRICE_HOME, 4e6, 4e6, 4e6);
	set_series(PRICE_CHEAP, 1e6, 1e6, 1e6);
	set_series(CARBON, 500, 100, 500);
	gpus[0] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, "V100-SXM2");
	gpus[1] = *lt_gpu_find(&(struct lt_gpu){.name = ""}, "A100-SXM4-40GB");
	for (int i = 0; i < PARTITIONS; i++) {
		shapes[i] = (struct lt_shape){
		    .node_count = 8, .cpus = 64, .gpus = 8, .memory_mib = 256000, .gpu_index = i};
		partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
			.max_time_s = INT64_MAX,
			.max_nodes = UINT32_MAX,
			.allow_accounts = "",
			.deny_accounts = "",
			.allow_qos = "",
			.deny_qos = "",
			.node_count = 8,
			.first_shape = (uint32_t)i,
			.shape_count = 1,
			.price_series = i,
			.carbon_series = CARBON,
			.tariff_series = LT_NO_SERIES,
			.occupancy_series = LT_NO_SERIES,
			.node_idle_w = 500,
			.node_cpu_w = 500,
			.node_gpu_w = 3000,
			.pue = 1};
	}
	market = (struct lt_market){.currency = "USD",
	    .carbon_price_micros_per_tonne = 100000000,
	    .max_delay_s = DAY,
	    .stale_after_s = 3 * HOUR,
	    .deadline_slack_s = 1800,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .max_extra_cost_ppm = 50000,
	    .partition_count = PARTITIONS,
	    .shape_count = PARTITIONS,
	    .series_count = SERIES,
	    .gpu_count = 2,
	    .partitions = partitions,
	    .shapes = shapes,
	    .series = series,
	    .gpus = gpus};
	request = (struct lt_request){.account = "vision",
	    .qos = "normal",
	    .min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 64,
	    .array_tasks = 1,
	    .limit_s = 2 * HOUR,
	    .expected_run_s = LT_UNSET_64,
	    .home = HOME,
	    .deadline_utc_s = LT_UNSET_64,
	    .objective = LT_OBJECTIVE_COST,
	    .max_cost_micros = LT_UNSET_64};
	return 0;
}

static inline void
decide(void)
{
	memset(&plan, 0x5a, sizeof(plan));
	assert_int_equal(lt_decide(&plan, &request, &market, NULL, 0, NOW, NULL), LT_OK);
}

#endif
