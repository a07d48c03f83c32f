/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decision outside of Slurm: two partitions, one with a cheap night, and
 * where a job of four hours should run. Build:
 *   cc embed.c $(pkg-config --cflags --libs lowtide)
 */
#include <stdio.h>

#include <lowtide.h>

enum { START = 1767225600 /* 2026-01-01 00:00 UTC */, HOURS = 24 };

int
main(void)
{
	static int64_t hours[HOURS + 1], always[2] = {START, START + 86400};
	static double by_day[HOURS], fixed[1] = {3e6}, grid[1] = {200};
	static double sums[3][HOURS + 1];
	struct lt_error err = {0};

	for (int h = 0; h <= HOURS; h++)
		hours[h] = START + h * LT_HOUR_S;
	for (int h = 0; h < HOURS; h++) /* micros per node-hour */
		by_day[h] = h >= 8 && h < 12 ? 1e6 : 4e6;
	struct lt_series series[] = {
	    {.count = HOURS,
		.quality = LT_QUALITY_FORECAST,
		.issued_utc_s = START,
		.source = "market",
		.start_utc_s = hours,
		.value = by_day,
		.integral = sums[0]},
	    {.count = 1,
		.quality = LT_QUALITY_CONSTANT,
		.start_utc_s = always,
		.value = fixed,
		.integral = sums[1]},
	    {.count = 1,
		.quality = LT_QUALITY_CONSTANT,
		.start_utc_s = always,
		.value = grid,
		.integral = sums[2]},
	};
	for (int i = 0; i < 3; i++) {
		if (lt_series_prepare(&series[i], &err) != LT_OK) {
			fprintf(stderr, "embed: %s\n", err.text);
			return 1;
		}
	}
	static struct lt_shape shapes[2] = {
	    {.node_count = 4, .cpus = 64, .memory_mib = 256000, .gpu_index = -1},
	    {.node_count = 4, .cpus = 64, .memory_mib = 256000, .gpu_index = -1},
	};
	static struct lt_partition partitions[2];
	for (int i = 0; i < 2; i++) {
		struct lt_partition *p = &partitions[i];

		snprintf(p->name, sizeof(p->name), i ? "night" : "steady");
		p->flags = LT_PARTITION_UP | LT_PARTITION_MANAGED |
			   (i ? 0 : (uint32_t)LT_PARTITION_DEFAULT);
		p->max_time_s = INT64_MAX;
		p->max_nodes = UINT32_MAX;
		p->allow_accounts = p->deny_accounts = "";
		p->allow_qos = p->deny_qos = "";
		p->node_count = 4;
		p->first_shape = (uint32_t)i;
		p->shape_count = 1;
		p->price_series = i ? 0 : 1;
		p->carbon_series = 2;
		p->tariff_series = p->occupancy_series = LT_NO_SERIES;
		p->node_idle_w = 100;
		p->node_cpu_w = 300;
		p->pue = 1.2;
	}
	const struct lt_market market = {
	    .currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .carbon_price_micros_per_tonne = 100 * (int64_t)LT_MICROS,
	    .max_delay_s = LT_DAY_S,
	    .stale_after_s = LT_DAY_S,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .partition_count = 2,
	    .partitions = partitions,
	    .shape_count = 2,
	    .shapes = shapes,
	    .series_count = 3,
	    .series = series,
	};
	struct lt_request request = {
	    .account = "vision",
	    .min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 64,
	    .array_tasks = 1,
	    .limit_s = 4 * LT_HOUR_S,
	    .expected_run_s = LT_UNSET_64,
	    .home = 0,
	    .earliest_utc_s = START,
	    .deadline_utc_s = LT_UNSET_64,
	    .objective = LT_OBJECTIVE_BALANCED,
	    .max_cost_micros = LT_UNSET_64,
	};
	static struct lt_plan plan;
	static char table[LT_MESSAGE_SIZE];

	if (lt_decide(&plan, &request, &market, NULL, 0, START, &err) != LT_OK) {
		fprintf(stderr, "embed: %s\n", err.text);
		return 1;
	}
	lt_plan_table(table, sizeof(table), &plan, &request, &market, START);
	fputs(table, stdout);
	return 0;
}
