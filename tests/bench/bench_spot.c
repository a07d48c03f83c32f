/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late": what policies pay for a job with a deadline on recorded spot
 * nodes. docs/quality.md says what the data are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "late.h"
#include "simulate_spot.h"
#include "units.h"

enum { ENVIRONMENTS = 6, WINDOWS = 30, OF = 300, SETTINGS = 6, ZONES = 9 };

static const double on_demand_per_hour = 3.06, spot_per_hour = 0.9731;

static const char *const environments[ENVIRONMENTS] = {"us-west-2a_k80_8",
    "us-west-2b_k80_1", "us-west-2b_k80_8", "us-west-2a_v100_1",
    "us-west-2a_v100_8", "us-west-2b_v100_1"};

static const struct lt_late_job settings[SETTINGS] = {
    {48 * LT_HOUR_S, 52 * LT_HOUR_S, 72}, {48 * LT_HOUR_S, 70 * LT_HOUR_S, 72},
    {48 * LT_HOUR_S, 52 * LT_HOUR_S, 180},
    {48 * LT_HOUR_S, 70 * LT_HOUR_S, 180},
    {48 * LT_HOUR_S, 52 * LT_HOUR_S, 360},
    {48 * LT_HOUR_S, 70 * LT_HOUR_S, 360}};

static struct lt_sim_spot_trace windows[ENVIRONMENTS][WINDOWS];

static void
fail(const struct lt_error *err)
{
	fprintf(stderr, "bench_spot: %s\n", err->text);
	exit(1);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Every tenth or so, in the order of their names. */
static void
load_windows(const char *directory)
{
	char names[OF][16], path[400];

	for (int i = 0; i < OF; i++)
		snprintf(names[i], sizeof(names[i]), "%d.json", i);
	qsort(names, OF, sizeof(names[0]), by_name);
	for (int e = 0; e < ENVIRONMENTS; e++)
		for (int w = 0; w < WINDOWS; w++) {
			struct lt_error err = {0};
			uint8_t *taken;
			const int i = (w * (OF - 1) * 2 + WINDOWS - 1) /
				      (2 * (WINDOWS - 1));

			snprintf(path, sizeof(path),
			    "%s/spot/%s/traces/random_start/%s", directory,
			    environments[e], names[i]);
			if (lt_simulate_spot_read_trace(
				&windows[e][w], &taken, path, &err) != LT_OK)
				fail(&err);
		}
}

struct figures {
	double money; /* mean */
	int late, runs;
	double a_second;
};

/* NULL: the optimum. */
static double
cost_of(const struct lt_late *late, const struct lt_late_policy *policy,
    bool *is_late)
{
	struct lt_late_outcome outcome;
	struct lt_error err = {0};
	double money;

	*is_late = false;
	if (policy == NULL) {
		if (lt_late_optimum(&money, late, on_demand_per_hour, &err) !=
		    LT_OK)
			fail(&err);
		return money;
	}
	if (lt_late_run(&outcome, late, policy, &err) != LT_OK)
		fail(&err);
	*is_late = outcome.is_late;
	return lt_late_cost(&outcome, late, on_demand_per_hour);
}

static struct figures
run(const struct lt_late_policy *policy, const char *name)
{
	const clock_t begin = clock();
	struct figures sum = {0};

	for (int i = 0; i < ENVIRONMENTS * WINDOWS * SETTINGS; i++) {
		const int w = i / SETTINGS;
		const struct lt_late late = {
		    .regions = &windows[w / WINDOWS][w % WINDOWS],
		    .region_count = 1,
		    .spot_per_hour = &spot_per_hour,
		    .job = settings[i % SETTINGS]};
		bool is_late;

		sum.money += cost_of(&late, policy, &is_late);
		sum.late += is_late;
		sum.runs++;
	}
	sum.money /= sum.runs;
	sum.a_second =
	    sum.runs * (double)CLOCKS_PER_SEC / (double)(clock() - begin);
	printf("%-18s %9.4f %6d %12.0f\n", name, sum.money, sum.late,
	    sum.a_second);
	return sum;
}

static void
goal(const char *name, double value, const char *relation, double want)
{
	const bool met = relation[0] == '<'   ? value <= want
			 : relation[0] == '>' ? value >= want
					      : fabs(value - want) < 0.005;
	char text[32];

	snprintf(text, sizeof(text), "%s %g", relation, want);
	printf("goal %-52s %-8.6g %-10s %s\n", name, value, text,
	    met ? "met" : "missed");
}

int
main(int argc, char **argv)
{
	struct figures of[LT_LATE_POLICY_COUNT];
	double slowest = INFINITY;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_spot DATA\n");
		return 2;
	}
	load_windows(argv[1]);
	printf("Can't Be Late, 1,080 runs of 48 h\n%-18s %9s %6s %12s\n", "",
	    "USD", "late", "runs/s");
	for (int p = 0; p < LT_LATE_POLICY_COUNT; p++)
		of[p] = run(&lt_late_policies[p], lt_late_policies[p].name);
	run(NULL, "optimum");
	goal("on demand, USD", of[LT_LATE_ALL_ON_DEMAND].money, "=", 147.39);
	goal("greedy, USD", of[LT_LATE_GREEDY].money, "=", 119.035);
	goal("spot, else on demand, USD", of[LT_LATE_SPOT_ELSE].money, "=",
	    104.65);
	goal("the same, late", of[LT_LATE_SPOT_ELSE].late, "=", 27);
	goal("uniform progress, USD", of[LT_LATE_UNIFORM].money, "=", 99.456);
	goal("slack rule, USD", of[LT_LATE_SLACK].money, "<=", 95.5);
	goal("the same, late", of[LT_LATE_SLACK].late, "<=", 0);
	for (int p = 0; p < LT_LATE_POLICY_COUNT; p++)
		slowest = fmin(slowest, of[p].a_second);
	goal("runs a second, of the slowest", slowest, ">=", 100000);
	return 0;
}
