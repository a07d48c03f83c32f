/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long the simulator takes, and 10,000 jobs that wait are decided again:
 * CPU time. Traces and signal come from a seed, so that it needs no files; of DATA, as
 * docs/quality.md has it, also pai_1k on AU-SA.
 *
 *   bench_simulate [DATA]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/drawn.h"
#include "bench/quality.h"
#include "replan.h"

enum {
	FROM_UTC_S = 1666195200, /* 2022-10-19 16:00 */
	YEAR_S = 365 * 86400,
	WEEK_S = 7 * 86400,
	HISTORY_HOURS = 400 * 24,
	HOURS = HISTORY_HOURS + 400 * 24,
	WAITING = 10000,
	PARTITIONS = 16,
	SERIES = 2 * PARTITIONS,
	STEPS = LT_FORECAST_HOURS,
};

static double
now_ms(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID) * 1e3;
}

static void
print(const char *what, double ms, double goal_ms)
{
	char figure[32], goal[32] = "-";

	(void)snprintf(figure, sizeof(figure), "%.1f ms", ms);
	if (goal_ms > 0)
		(void)snprintf(goal, sizeof(goal), "<= %.0f ms", goal_ms);
	printf("%-52s %-28s target %s\n", what, figure, goal);
}

/* Jobs as clusters see them: a median of 20 minutes, some of days. */
static void
make_trace(struct lt_sim_trace *trace, uint32_t count, int64_t within_s)
{
	static const uint32_t sizes[] = {1, 1, 1, 1, 2, 2, 4, 8};
	struct lt_sim_generator generator = {
	    .seed = 1, .limit_factor = 3, .limit_sigma = 0.9, .names = 60, .users = 20};

	*trace = (struct lt_sim_trace){.count = count, .jobs = calloc(count, sizeof(*trace->jobs))};
	must(trace->jobs != NULL, "no memory");
	for (uint32_t i = 0; i < count; i++) {
		struct lt_sim_job *const job = &trace->jobs[i];
		const double run_s = fmin(1200 * exp(1.8 * normal()), 3 * 86400);

		job->submit_utc_s = FROM_UTC_S + within_s * i / count;
		job->run_s = (int64_t)fmax(run_s, 5) / 5 * 5;
		job->exact_run_s = (double)job->run_s;
		job->cpus = sizes[(int)(fraction() * 8)];
		job->number = i;
	}
	must(lt_sim_generate(trace, &generator, NULL) == LT_OK, "generate");
}

/* The sun of a day, the wind of some. */
static void
make_signal(struct lt_sim_signal *signal)
{
	double *const values = malloc(HOURS * sizeof(*values));
	double wind = 0;

	must(values != NULL, "no memory");
	for (int i = 0; i < HOURS; i++) {
		wind = 0.97 * wind + 12 * normal();
		values[i] = fmax(20, 350 - 120 * sin(6.2831853 * (i % 24) / 24) + wind);
	}
	must(lt_sim_signal_make(
		 signal, FROM_UTC_S / LT_HOUR_S - HISTORY_HOURS, values, HOURS, NULL) == LT_OK,
	    "signal");
	free(values);
}

/* Twice: the second time all forecasts are there. */
static void
simulate(const char *what, const struct lt_sim_input *input, const struct lt_sim_options *options,
    const double goals_ms[2])
{
	static const char *const parts[] = {"with its forecasts", "without"};

	for (int i = 0; i < 2; i++) {
		const double start_ms = now_ms();
		struct lt_sim_result result;
		struct lt_error err = {0};
		char line[96];

		must(lt_simulate(&result, input, options, &err) == LT_OK, err.text);
		(void)snprintf(line, sizeof(line), "%s, %s", what, parts[i]);
		print(line, now_ms() - start_ms, goals_ms[i]);
		lt_sim_result_free(&result);
	}
}

static void
bench_pai(const char *directory)
{
	const int hours = 30 * 24;
	struct quality quality = {0};
	struct quality_setting setting = {0};
	struct lt_sim_options options = quality_options(LT_SIM_LOWTIDE);

	must(quality_load(&quality, directory), "DATA");
	quality_open(&setting, &quality, &quality.zones[0],
	    (int)(FROM_UTC_S / LT_HOUR_S - quality.zones[0].first_hour) + hours);
	quality_begin(&setting, FROM_UTC_S);

	const struct lt_sim_input input = {.trace = &setting.trace,
	    .signal = &setting.signal,
	    .outlook = setting.outlooks[LT_SIM_OWN]};

	options.forecast = LT_SIM_OWN;
	simulate("simulate, pai_1k", &input, &options, (double[]){0, 50});
	quality_close(&setting);
	lt_sim_trace_free(&quality.trace);
}

static void
bench_generated(void)
{
	struct lt_sim_options options = lt_sim_defaults;
	struct lt_sim_outlook *outlook;
	struct lt_sim_signal signal;
	struct lt_sim_trace week, year;

	make_signal(&signal);
	make_trace(&week, 1000, WEEK_S);
	make_trace(&year, 100000, YEAR_S);
	must(lt_sim_outlook_open(&outlook, &signal, LT_SIM_OWN_WEEKS, NULL) == LT_OK, "outlook");
	options.policy = LT_SIM_LOWTIDE;
	options.forecast = LT_SIM_OWN_WEEKS;
	options.waiting_g_per_hour = 20;
	options.min_saving_percent = 5;
	const struct lt_sim_input of_week = {.trace = &week, .signal = &signal, .outlook = outlook};
	const struct lt_sim_input of_year = {.trace = &year, .signal = &signal, .outlook = outlook};

	simulate("simulate, 1,000 jobs of a week", &of_week, &options, (double[]){0, 50});
	/* 1.3 times what they use in the mean. */
	double cpu_s = 0;
	for (uint32_t i = 0; i < year.count; i++)
		cpu_s += (double)year.jobs[i].run_s * year.jobs[i].cpus;
	options.capacity = (uint32_t)(1.3 * cpu_s / YEAR_S);
	options.length = LT_SIM_LEARNED;
	simulate("simulate, 100,000 jobs of a year, 1.3 x capacity", &of_year, &options,
	    (double[]){10000, 0});
	lt_sim_outlook_close(outlook);
	lt_sim_trace_free(&week);
	lt_sim_trace_free(&year);
	lt_sim_signal_free(&signal);
}

/* ---- lt_replan() ---- */

struct site {
	struct lt_market market;
	struct lt_partition partitions[PARTITIONS];
	struct lt_shape shape;
	struct lt_series series[SERIES];
	int64_t starts[SERIES][STEPS + 1];
	double values[SERIES][STEPS], integrals[SERIES][STEPS + 1];
};

static void
fill_series(struct site *site, int i, double base)
{
	const double phase = fraction();

	for (int k = 0; k <= STEPS; k++)
		site->starts[i][k] = FROM_UTC_S + (int64_t)k * LT_HOUR_S;
	for (int k = 0; k < STEPS; k++)
		site->values[i][k] = base * (1 + 0.5 * sin(6.2831853 * (k / 24.0 + phase)) +
						0.1 * (fraction() - 0.5));
	site->series[i] = (struct lt_series){.count = STEPS,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = FROM_UTC_S,
	    .start_utc_s = site->starts[i],
	    .value = site->values[i],
	    .integral = site->integrals[i]};
	must(lt_series_prepare(&site->series[i], NULL) == LT_OK, "series");
}

static void
fill_site(struct site *site)
{
	site->shape =
	    (struct lt_shape){.node_count = 512, .cpus = 64, .memory_mib = 256000, .gpu_index = -1};
	site->market = (struct lt_market){.currency = "USD",
	    .carbon_price_micros_per_tonne = 100000000,
	    .max_delay_s = LT_DAY_S,
	    .stale_after_s = 3 * LT_HOUR_S,
	    .max_restart_risk_ppm = 100000,
	    .max_extra_cost_ppm = 50000,
	    .deadline_confidence_ppm = 950000,
	    .waiting_micros_per_hour = 2000,
	    .min_saving_ppm = 50000,
	    .partition_count = PARTITIONS,
	    .shape_count = 1,
	    .series_count = SERIES,
	    .partitions = site->partitions,
	    .shapes = &site->shape,
	    .series = site->series};
	for (int i = 0; i < PARTITIONS; i++) {
		fill_series(site, i, (2 + 2 * fraction()) * LT_MICROS);
		fill_series(site, PARTITIONS + i, 100 + 400 * fraction());
		site->partitions[i] =
		    (struct lt_partition){.flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
			.max_time_s = INT64_MAX,
			.max_nodes = UINT32_MAX,
			.allow_accounts = "",
			.deny_accounts = "",
			.allow_qos = "",
			.deny_qos = "",
			.node_count = 512,
			.shape_count = 1,
			.price_series = i,
			.carbon_series = PARTITIONS + i,
			.tariff_series = LT_NO_SERIES,
			.occupancy_series = LT_NO_SERIES,
			.node_idle_w = 200,
			.node_cpu_w = 500,
			.pue = 1.15};
	}
}

/* All that wait hold a window, as in lowtided; each is decided without its own. As many windows as
 * a snapshot may have beside it. */
static void
bench_replan(void)
{
	static struct site site;
	static struct lt_planned planned[LT_PLANNED_MAX];
	static struct lt_replanned again;
	uint32_t count = 0, changed = 0;

	fill_site(&site);
	for (; count < LT_PLANNED_MAX; count++) {
		const int64_t start_s = FROM_UTC_S + (int64_t)(fraction() * LT_DAY_S);

		planned[count] =
		    (struct lt_planned){.partition = (uint16_t)(fraction() * PARTITIONS),
			.nodes = 1,
			.start_utc_s = start_s,
			.end_utc_s = start_s + (int64_t)(fraction() * LT_DAY_S)};
	}

	const double start_ms = now_ms();

	for (uint32_t i = 0; i < WAITING; i++) {
		const struct lt_planned own = planned[i % count];
		const struct lt_request request = {.min_nodes = 1,
		    .max_nodes = 1,
		    .cpus = 64,
		    .array_tasks = 1,
		    .limit_s = 2 * (own.end_utc_s - own.start_utc_s) + 60,
		    .expected_run_s = own.end_utc_s - own.start_utc_s + 1,
		    .home = (int)(i % PARTITIONS),
		    .latest_utc_s = FROM_UTC_S + LT_DAY_S,
		    .deadline_utc_s = LT_UNSET_64,
		    .objective = LT_OBJECTIVE_BALANCED,
		    .max_cost_micros = LT_UNSET_64};
		const struct lt_replan of = {.request = &request,
		    .market = &site.market,
		    .planned = planned,
		    .planned_count = count,
		    .partition = own.partition,
		    .start_utc_s = own.start_utc_s,
		    .now_utc_s = FROM_UTC_S + 60};

		planned[i % count].nodes = 0;
		must(lt_replan(&again, &of, NULL) == LT_OK, "replan");
		planned[i % count] = own;
		changed += again.why != LT_REPLAN_KEEP;
	}
	print("10,000 waiting jobs decided again", now_ms() - start_ms, 2000);
	must(changed > 0, "nothing changes");
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		bench_pai(argv[1]);
	bench_generated();
	bench_replan();
	return 0;
}
