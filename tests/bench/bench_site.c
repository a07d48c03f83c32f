/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long `simulate --from-slurm` decides: 100,000 single runs of 30 days on four partitions,
 * three objectives by three prices of waiting, on as many threads as there are CPUs. Runs and
 * signals come from a seed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/drawn.h"
#include "site.h"
#include "units.h"

enum {
	FROM_UTC_S = 1666195200, /* 2022-10-19 16:00 */
	DAYS = 30,
	HISTORY_HOURS = 90 * 24,
	HOURS = HISTORY_HOURS + (DAYS + 10) * 24,
	RUNS = 100000,
	PARTITIONS = 4,
	PREEMPTIBLE = 1, /* the last ones */
	SIGNALS = 3,	 /* carbon, tariff, price of preemptible nodes */
	SERIES = SIGNALS + PARTITIONS,
	SETTINGS = 9,
	NODES = 128, /* of a partition */
	CPUS = 64,
};

static void
make_signal(struct lt_sim_signal *signal, double base)
{
	static double values[HOURS];
	double wind = 0;

	for (int i = 0; i < HOURS; i++) {
		wind = 0.97 * wind + 0.05 * normal();
		values[i] = base * fmax(0.1, 1 - 0.35 * sin(6.2831853 * i / 24) + wind);
	}
	must(lt_sim_signal_make(
		 signal, FROM_UTC_S / LT_HOUR_S - HISTORY_HOURS, values, HOURS, NULL) == LT_OK,
	    "signal");
}

struct bench {
	struct lt_market market;
	struct lt_partition partitions[PARTITIONS];
	struct lt_shape shape;
	struct lt_series series[SERIES];
	int64_t starts[SERIES][2];
	double values[SERIES][2], integrals[SERIES][2];
	struct lt_sim_signal signals[SERIES];
	struct lt_site_run runs[RUNS];
	char names[60][8];
};

static void
make_market(struct bench *bench)
{
	for (int i = 0; i < SERIES; i++) {
		struct lt_series *const series = &bench->series[i];

		bench->starts[i][0] = FROM_UTC_S;
		bench->starts[i][1] = FROM_UTC_S + 1;
		bench->values[i][0] = (8 + i) * LT_MICROS;
		*series = (struct lt_series){.count = 1,
		    .quality = i < SIGNALS ? LT_QUALITY_FORECAST : LT_QUALITY_CONSTANT,
		    .start_utc_s = bench->starts[i],
		    .value = bench->values[i],
		    .integral = bench->integrals[i]};
		must(lt_series_prepare(series, NULL) == LT_OK, "series");
	}
	make_signal(&bench->signals[0], 300);
	make_signal(&bench->signals[1], 0.2 * LT_MICROS);
	make_signal(&bench->signals[2], 3.0 * LT_MICROS);
	bench->shape = (struct lt_shape){
	    .node_count = NODES, .cpus = CPUS, .memory_mib = 256000, .gpu_index = -1};
	for (int i = 0; i < PARTITIONS; i++) {
		const bool takes = i >= PARTITIONS - PREEMPTIBLE;

		bench->partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_UP | LT_PARTITION_MANAGED |
						   (i == 0 ? LT_PARTITION_DEFAULT : 0) |
						   (takes ? LT_PARTITION_PREEMPTIBLE : 0),
			.max_time_s = INT64_MAX,
			.max_nodes = UINT32_MAX,
			.allow_accounts = "",
			.deny_accounts = "",
			.allow_qos = "",
			.deny_qos = "",
			.node_count = NODES,
			.shape_count = 1,
			.price_series = takes ? 2 : SIGNALS + i,
			.carbon_series = 0,
			.tariff_series = 1,
			.occupancy_series = LT_NO_SERIES,
			.node_idle_w = 200,
			.node_cpu_w = 500,
			.hazard_per_node_hour = takes ? 0.01 : 0,
			.pue = 1.15};
	}
	bench->market = (struct lt_market){.currency = "USD",
	    .carbon_price_micros_per_tonne = 100000000,
	    .max_delay_s = LT_DAY_S,
	    .stale_after_s = 3 * LT_HOUR_S,
	    .max_restart_risk_ppm = 100000,
	    .max_extra_cost_ppm = 50000,
	    .deadline_confidence_ppm = 950000,
	    .waiting_micros_per_hour = 2000,
	    .waiting_mg_per_hour = 5000,
	    .min_saving_ppm = 50000,
	    .partition_count = PARTITIONS,
	    .shape_count = 1,
	    .series_count = SERIES,
	    .partitions = bench->partitions,
	    .shapes = &bench->shape,
	    .series = bench->series};
}

/* A median of 20 minutes, some of days; a tenth of them is fixed. */
static void
make_runs(struct bench *bench)
{
	for (int i = 0; i < 60; i++)
		snprintf(
		    bench->names[i], sizeof(bench->names[i]), "j%c%c", 'a' + i % 26, 'a' + i / 26);
	for (int i = 0; i < RUNS; i++) {
		struct lt_site_run *const run = &bench->runs[i];
		const int name = (int)(fraction() * 60);
		const int64_t length_s =
		    (int64_t)fmax(5, fmin(1200 * exp(1.8 * normal()), 2 * LT_DAY_S));

		*run = (struct lt_site_run){
		    .submit_utc_s = FROM_UTC_S + (int64_t)DAYS * LT_DAY_S / RUNS * i,
		    .limit_s = (length_s * 2 + 59) / 60 * 60,
		    .uid = (uint32_t)(1000 + name / 3),
		    .nodes = 1,
		    .cpus = 1U << (int)(fraction() * 7),
		    .pins = fraction() < 0.1 ? LT_PIN_DEPENDENCY : 0,
		    .partition = (uint16_t)(fraction() * (PARTITIONS - PREEMPTIBLE)),
		    .account = "a",
		    .qos = "",
		    .name = bench->names[name],
		    .features = ""};
		run->eligible_utc_s = run->start_utc_s = run->submit_utc_s;
		run->end_utc_s = run->start_utc_s + length_s;
	}
}

int
main(void)
{
	static const double waits[] = {0, 1, 4};
	static struct lt_site_setting list[SETTINGS];
	static struct lt_site_result results[SETTINGS];
	const struct lt_site_settings settings = {
	    list, SETTINGS, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct bench *const bench = calloc(1, sizeof(*bench));
	struct lt_site_sim *sim = NULL;
	struct lt_error err = {0};
	char figure[64];

	must(bench != NULL, "no memory");
	make_market(bench);
	make_runs(bench);
	const double start_s = seconds_of(CLOCK_MONOTONIC);
	const struct lt_site site = {.market = &bench->market,
	    .signals = bench->signals,
	    .runs = bench->runs,
	    .run_count = RUNS,
	    .from_utc_s = FROM_UTC_S,
	    .to_utc_s = FROM_UTC_S + DAYS * LT_DAY_S};

	must(lt_site_open(&sim, &site, &err) == LT_OK, err.text);
	for (int i = 0; i < SETTINGS; i++)
		list[i] = (struct lt_site_setting){
		    (enum lt_objective)(LT_OBJECTIVE_BALANCED + i / 3), waits[i % 3]};
	must(lt_site_simulate_all(results, sim, &settings, &err) == LT_OK, err.text);
	(void)snprintf(figure, sizeof(figure), "%.1f s (CPU %.1f s)",
	    seconds_of(CLOCK_MONOTONIC) - start_s, seconds_of(CLOCK_PROCESS_CPUTIME_ID));
	printf("%-52s %-28s target <= 20 s\n", "simulate --from-slurm, 100,000 runs, nine settings",
	    figure);
	for (int i = 0; i < SETTINGS; i++) {
		const struct lt_site_sums *const all = &results[i].all;

		if (getenv("VERBOSE") != NULL)
			printf(
			    "%s x%g: moved %u, saved %.3f of money, %.3f of carbon, wait %.0f s, late %u\n",
			    lt_objective_name(list[i].objective), list[i].waiting, all->moved,
			    all->saved_micros / all->base_micros, all->saved_mg / all->base_mg,
			    results[i].wait_s, results[i].late);
		lt_site_result_free(&results[i]);
	}
	lt_site_close(sim);
	for (int i = 0; i < SIGNALS; i++)
		lt_sim_signal_free(&bench->signals[i]);
	free(bench);
	return 0;
}
