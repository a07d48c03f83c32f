/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arrays of 16 to 1,000 tasks that run at once on nodes that are taken away, with a deadline: how
 * often lt_decide() sends one so late that it misses it, and how far the end that it tells is from
 * the one that comes. The grid becomes cleaner by the hour, so that the latest start is the best.
 * Random interruptions by a seed. For make quality.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "decide.h"
#include "tools/course.h"
#include "units.h"

enum {
	NOW = 1795176000,
	STEPS = 40 * 24,
	TRIALS = 100,
};

static struct lt_series series;
static int64_t starts[STEPS + 1];
static double values[STEPS], integrals[STEPS + 1];
static struct lt_partition partition;
static struct lt_shape shape = {.node_count = 1000, .cpus = 1, .memory_mib = 1024, .gpu_index = -1};
static struct lt_market market;
static struct lt_plan plan;

static void
make_market(void)
{
	series = (struct lt_series){.count = STEPS,
	    .quality = LT_QUALITY_FORECAST,
	    .issued_utc_s = NOW,
	    .start_utc_s = starts,
	    .value = values,
	    .integral = integrals};
	for (int i = 0; i <= STEPS; i++)
		starts[i] = NOW + (int64_t)i * LT_HOUR_S;
	for (int i = 0; i < STEPS; i++)
		values[i] = 1000 - i;
	if (lt_series_prepare(&series, NULL) != LT_OK)
		exit(1);
	partition = (struct lt_partition){
	    .flags = LT_PARTITION_UP | LT_PARTITION_MANAGED | LT_PARTITION_PREEMPTIBLE,
	    .max_time_s = INT64_MAX,
	    .max_nodes = UINT32_MAX,
	    .allow_accounts = "",
	    .deny_accounts = "",
	    .allow_qos = "",
	    .deny_qos = "",
	    .node_count = 1000,
	    .shape_count = 1,
	    .price_series = LT_NO_SERIES,
	    .tariff_series = LT_NO_SERIES,
	    .occupancy_series = LT_NO_SERIES,
	    .node_cpu_w = 1e6,
	    .restart_s = 360,
	    .pue = 1};
	market = (struct lt_market){.stale_after_s = LT_DAY_S,
	    .deadline_confidence_ppm = 950000,
	    .deadline_slack_s = 1800,
	    .max_restart_risk_ppm = 100000,
	    .memory_ignored = true,
	    .partition_count = 1,
	    .shape_count = 1,
	    .series_count = 1,
	    .partitions = &partition,
	    .shapes = &shape,
	    .series = &series};
}

struct sums {
	int planned, refused, late, trials;
	double off; /* of the told length, sum of sizes over the settings */
};

static void
try(struct sums *sums, const struct lt_request *request)
{
	double told_s, sum_s = 0;

	if (lt_decide(&plan, request, &market, NULL, 0, NOW, NULL) != LT_OK)
		exit(1);
	if (plan.candidates[0].reject == LT_REJECT_DEADLINE) {
		sums->refused++;
		return;
	}
	sums->planned++;
	told_s = (double)(plan.chosen.end_utc_s - plan.chosen.start_utc_s);
	/* By the interval that the plan told it. */
	const struct course course = {.work_s = (double)request->expected_run_s,
	    .interval_s = plan.chosen.interval_s,
	    .write_s = request->checkpoint.write_s,
	    .restart_s = partition.restart_s,
	    .mean_s = LT_HOUR_S / partition.hazard_per_node_hour};

	for (int trial = 0; trial < TRIALS; trial++) {
		double longest_s = 0;

		for (uint32_t task = 0; task < request->array_tasks; task++)
			longest_s = fmax(longest_s, task_s(&course));
		sum_s += longest_s;
		sums->late +=
		    (double)plan.chosen.start_utc_s + longest_s > (double)request->deadline_utc_s;
		sums->trials++;
	}
	sums->off += fabs(sum_s / TRIALS / told_s - 1);
}

int
main(void)
{
	static const uint32_t tasks[] = {16, 64, 250, 1000};
	static const int64_t work_h[] = {2, 8, 24};
	static const double hazards[] = {0.004, 0.02, 0.1};
	struct sums all = {0};

	make_market();
	printf("Arrays that run at once, with a deadline\n%6s %9s %8s %7s %9s\n", "tasks",
	    "planned", "refused", "late %", "told off");
	for (int t = 0; t <= 4; t++) {
		struct sums sums = {0};

		for (int w = 0; t < 4 && w < 3; w++)
			for (int h = 0; h < 3; h++)
				for (int saves = 0; saves < 2; saves++) {
					const int64_t work_s = work_h[w] * LT_HOUR_S;
					const struct lt_request request = {.min_nodes = 1,
					    .max_nodes = 1,
					    .cpus = 1,
					    .array_tasks = tasks[t],
					    .limit_s = 2 * work_s,
					    .expected_run_s = work_s,
					    .deadline_utc_s = NOW + 10 * work_s + LT_DAY_S,
					    .objective = LT_OBJECTIVE_CARBON,
					    .checkpoint = {.enabled = saves == 1, .write_s = 60},
					    .max_cost_micros = LT_UNSET_64};

					partition.hazard_per_node_hour = hazards[h];
					try(&sums, &request);
				}
		all.planned += sums.planned;
		all.refused += sums.refused;
		all.late += sums.late;
		all.trials += sums.trials;
		all.off += sums.off;
		if (t == 4)
			sums = all;
		printf("%6s %9d %8d %7.1f %8.1f%%\n",
		    t == 4 ? "all" : (const char *[]){"16", "64", "250", "1000"}[t], sums.planned,
		    sums.refused, 100.0 * sums.late / sums.trials, 100 * sums.off / sums.planned);
	}
	return 0;
}
