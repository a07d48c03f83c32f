/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long one lt_decide() takes: 64 partitions, each with a price of its own, 8 carbon zones, 7
 * days of 5-minute steps; jobs of all lengths and objectives, for windows of 24 hours and 7 days,
 * and jobs that did not ask. In processor time, so that what else runs here counts little. Lines
 * `name value unit`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decide.h"
#include "units.h"

enum {
	PARTITIONS = 64,
	ZONES = 8,
	SERIES = PARTITIONS + ZONES,
	STEP_S = 300,
	STEPS = 7 * LT_DAY_S / STEP_S,
	JOBS = 4000,
	WARM_UP = 200,
	NOW = 1795176000,
};

static struct lt_series series[SERIES];
static int64_t starts[SERIES][STEPS + 1];
static double values[SERIES][STEPS], integrals[SERIES][STEPS + 1];
static struct lt_shape shape = {
    .node_count = 64, .cpus = 64, .gpus = 8, .memory_mib = 1024000, .gpu_index = 0};
static struct lt_partition partitions[PARTITIONS];
static struct lt_plan plan;
static double times_us[JOBS];
static uint64_t seed = 1;

static double
fraction(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) * 0x1p-53;
}

/* A daily pattern with a phase of its own, and noise. */
static void
fill_series(int index, double base)
{
	const double phase = fraction(), swing = 0.1 + 0.3 * fraction();

	series[index] = (struct lt_series){.count = STEPS,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = starts[index],
	    .value = values[index],
	    .integral = integrals[index]};
	for (int i = 0; i <= STEPS; i++)
		starts[index][i] = NOW - 150 + (int64_t)i * STEP_S;
	for (int i = 0; i < STEPS; i++)
		values[index][i] = base * (1 + swing * sin(6.2831853 * (i / 288.0 + phase)) +
					      0.1 * (fraction() - 0.5));
	if (lt_series_prepare(&series[index], NULL) != LT_OK)
		exit(1);
}

static void
fill_market(struct lt_market *market, struct lt_gpu *gpus, int gpu_count)
{
	*market = (struct lt_market){.currency = "USD",
	    .carbon_price_micros_per_tonne = 100000000,
	    .stale_after_s = 3 * LT_HOUR_S,
	    .max_restart_risk_ppm = 100000,
	    .max_extra_cost_ppm = 50000,
	    .deadline_confidence_ppm = 950000,
	    .partition_count = PARTITIONS,
	    .shape_count = 1,
	    .series_count = SERIES,
	    .gpu_count = (uint32_t)gpu_count,
	    .partitions = partitions,
	    .shapes = &shape,
	    .series = series,
	    .gpus = gpus};
	for (int i = 0; i < ZONES; i++)
		fill_series(PARTITIONS + i, 100 + 400 * fraction());
	for (int i = 0; i < PARTITIONS; i++) {
		fill_series(i, (8 + 4 * fraction()) * LT_MICROS);
		partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
			.max_time_s = INT64_MAX,
			.max_nodes = UINT32_MAX,
			.allow_accounts = "",
			.deny_accounts = "",
			.allow_qos = "",
			.deny_qos = "",
			.node_count = 64,
			.shape_count = 1,
			.price_series = i,
			.carbon_series = PARTITIONS + i % ZONES,
			.tariff_series = LT_NO_SERIES,
			.occupancy_series = LT_NO_SERIES,
			.node_idle_w = 500,
			.node_cpu_w = 600,
			.node_gpu_w = 3200,
			.pue = 1.15};
	}
}

static struct lt_request
some_request(enum lt_objective objective)
{
	static const int64_t run_s[] = {300, 1800, 3 * 3600, 8 * 3600 + 77, 86400, 3 * 86400};
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1 + (uint32_t)(fraction() * 4),
	    .cpus = 32,
	    .gpus = 8,
	    .array_tasks = 1,
	    .limit_s = run_s[(int)(fraction() * 6)],
	    .expected_run_s = LT_UNSET_64,
	    .home = (int)(fraction() * PARTITIONS),
	    .deadline_utc_s = LT_UNSET_64,
	    .objective = objective,
	    .max_cost_micros = LT_UNSET_64};

	return request;
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(const struct lt_market *market, const char *name, bool plain)
{
	for (int i = -WARM_UP; i < JOBS; i++) {
		const struct lt_request request = some_request(
		    plain ? LT_OBJECTIVE_OFF
			  : (enum lt_objective)(LT_OBJECTIVE_BALANCED + (int)(fraction() * 4)));
		const int64_t at_s = NOW + (int64_t)(fraction() * 600);
		const double start_us = now_us();

		if (lt_decide(&plan, &request, market, NULL, 0, at_s, NULL) != LT_OK)
			exit(1);
		if (i >= 0)
			times_us[i] = now_us() - start_us;
	}
	qsort(times_us, JOBS, sizeof(times_us[0]), compare);
	printf("%s_p50 %.1f us\n", name, times_us[JOBS / 2]);
	printf("%s_p99 %.1f us\n", name, times_us[JOBS * 99 / 100]);
}

int
main(void)
{
	struct lt_market market;
	struct lt_gpu gpus[LT_GPUS_MAX];
	int gpu_count;
	const struct lt_gpu *const table = lt_gpu_table(&gpu_count);

	for (int i = 0; i < gpu_count && i < LT_GPUS_MAX; i++)
		gpus[i] = table[i];
	fill_market(&market, gpus, gpu_count);
	market.max_delay_s = LT_DAY_S;
	measure(&market, "decide_24h", false);
	market.max_delay_s = 7 * LT_DAY_S;
	measure(&market, "decide_7d", false);
	measure(&market, "decide_plain", true);
	return 0;
}
