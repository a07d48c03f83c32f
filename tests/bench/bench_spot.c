/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late": what policies pay for a job with a deadline on recorded spot nodes.
 * docs/quality.md says what the data are.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "late/late_regimes.h"
#include "simulation.h"
#include "units.h"

enum {
	TESTED = 6,	  /* of these environments */
	ENVIRONMENTS = 8, /* the others only teach */
	OF = 300,	  /* windows of each */
	WINDOWS = 30,	  /* that are tested */
	SETTINGS = 6,
	ZONES = 9,
	ZONE_WINDOWS = 100,
	SCENARIOS = 6,
	REGIMES = 7,
	SEGMENT = 350, /* ticks of 600 s that all windows have */
};

static const double on_demand_per_hour = 3.06, spot_per_hour = 0.9731;
/* What a tick shows counts to that power. */
static const double belief_power = 0.3;

static const char *const environments[ENVIRONMENTS] = {"us-west-2a_k80_8", "us-west-2b_k80_1",
    "us-west-2b_k80_8", "us-west-2a_v100_1", "us-west-2a_v100_8", "us-west-2b_v100_1",
    "us-west-2a_k80_1", "us-west-2b_v100_8"};

static const char *const zones[ZONES] = {"us-east-1a", "us-east-1c", "us-east-1d", "us-east-1f",
    "us-east-2a", "us-east-2b", "us-west-2a", "us-west-2b", "us-west-2c"};

static const struct lt_late_job settings[SETTINGS] = {{48 * LT_HOUR_S, 52 * LT_HOUR_S, 72},
    {48 * LT_HOUR_S, 70 * LT_HOUR_S, 72}, {48 * LT_HOUR_S, 52 * LT_HOUR_S, 180},
    {48 * LT_HOUR_S, 70 * LT_HOUR_S, 180}, {48 * LT_HOUR_S, 52 * LT_HOUR_S, 360},
    {48 * LT_HOUR_S, 70 * LT_HOUR_S, 360}};

static const struct {
	uint32_t count, windows;
	int zones[ZONES]; /* in the published order: the first is where it
			     begins */
} scenarios[SCENARIOS] = {
    {2, 8, {0, 1}},
    {2, 8, {4, 6}},
    {3, 6, {0, 5, 8}},
    {3, 6, {0, 1, 2}},
    {5, 4, {0, 3, 6, 7, 5}},
    {9, 2, {4, 8, 2, 5, 6, 3, 0, 7, 1}},
};

/* By the order of their names. */
static struct lt_sim_spot_trace windows[ENVIRONMENTS][OF];
static struct lt_sim_spot_trace zone_windows[ZONES][ZONE_WINDOWS];
static double zone_prices[ZONES][ZONE_WINDOWS]; /* of the first tick */

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

static void
read_window(struct lt_sim_spot_trace *trace, const char *path)
{
	struct lt_error err = {0};
	uint8_t *taken;

	if (lt_simulation_read_spot_trace(trace, &taken, path, &err) != LT_OK)
		fail(&err);
}

static void
load_environments(const char *directory)
{
	char names[OF][16], path[400];

	for (int i = 0; i < OF; i++)
		snprintf(names[i], sizeof(names[i]), "%d.json", i);
	qsort(names, OF, sizeof(names[0]), by_name);
	for (int i = 0; i < ENVIRONMENTS * OF; i++) {
		snprintf(path, sizeof(path), "%s/spot/%s/traces/random_start/%s", directory,
		    environments[i / OF], names[i % OF]);
		read_window(&windows[i / OF][i % OF], path);
	}
}

static double
first_price(const char *path)
{
	json_t *const root = json_load_file(path, 0, NULL);
	const json_t *const price = json_array_get(json_object_get(root, "prices"), 0);
	const double is = json_number_value(price);

	if (!json_is_number(price)) {
		fprintf(stderr, "bench_spot: %s: no prices\n", path);
		exit(1);
	}
	json_decref(root);
	return is;
}

static void
load_zones(const char *directory)
{
	char path[400];

	for (int z = 0; z < ZONES; z++)
		for (int w = 0; w < ZONE_WINDOWS; w++) {
			snprintf(path, sizeof(path),
			    "%s/spot/converted_multi_region_aligned/%s_v100_1/%d.json", directory,
			    zones[z], w);
			read_window(&zone_windows[z][w], path);
			zone_prices[z][w] = first_price(path);
		}
}

/* Every tenth or so: as the published evaluator takes them. */
static const struct lt_sim_spot_trace *
tested(int environment, int window)
{
	return &windows[environment][(window * (OF - 1) * 2 + WINDOWS - 1) / (2 * (WINDOWS - 1))];
}

/* ---- one region ---- */

struct figures {
	double money; /* mean */
	int late, runs;
	double a_second;
};

/* NULL: the optimum. */
static void
add_run(struct figures *sum, const struct lt_late *late, const struct lt_late_policy *policy)
{
	struct lt_late_outcome outcome = {0};
	struct lt_error err = {0};
	double money;

	if (policy == NULL) {
		if (lt_late_optimum(&money, late, &err) != LT_OK)
			fail(&err);
	} else {
		if (lt_late_run(&outcome, late, policy, &err) != LT_OK)
			fail(&err);
		money = lt_late_cost(&outcome, late);
	}
	sum->money += money;
	sum->late += outcome.is_late;
	sum->runs++;
}

static struct lt_late
late_of(const struct lt_sim_spot_trace *trace, const struct lt_late_job *job)
{
	return (struct lt_late){.regions = trace,
	    .region_count = 1,
	    .spot_per_hour = &spot_per_hour,
	    .on_demand_per_hour = on_demand_per_hour,
	    .job = *job};
}

static void
print(const char *name, const struct figures *of)
{
	printf("%-30s %9.4f %6d", name, of->money, of->late);
	if (of->a_second > 0)
		printf(" %12.0f", of->a_second);
	putchar('\n');
}

static struct figures
run(const struct lt_late_policy *policy, const char *name)
{
	const clock_t begin = clock();
	struct figures sum = {0};

	for (int i = 0; i < TESTED * WINDOWS * SETTINGS; i++) {
		const int w = i / SETTINGS;
		const struct lt_late late =
		    late_of(tested(w / WINDOWS, w % WINDOWS), &settings[i % SETTINGS]);

		add_run(&sum, &late, policy);
	}
	sum.money /= sum.runs;
	sum.a_second = sum.runs * (double)CLOCKS_PER_SEC / (double)(clock() - begin);
	print(name, &sum);
	return sum;
}

/* ---- learned ---- */

/* All but that environment. */
static void
learn_without(struct lt_late_regimes *regimes, int held_out)
{
	static struct lt_sim_spot_trace taught[ENVIRONMENTS * OF];
	struct lt_error err = {0};
	uint32_t count = 0;

	for (int e = 0; e < ENVIRONMENTS; e++)
		for (int w = 0; w < OF && e != held_out; w++)
			taught[count++] = windows[e][w];
	if (lt_late_learn(regimes, taught, count, taught[0].count, &err) != LT_OK)
		fail(&err);
}

/* Zones of 2023, each 600 s of them. */
static void
learn_zones(struct lt_late_regimes *regimes)
{
	static struct lt_sim_spot_trace taught[ZONES * ZONE_WINDOWS];
	static uint8_t ticks[ZONES * ZONE_WINDOWS][SEGMENT];
	struct lt_error err = {0};

	for (int i = 0; i < ZONES * ZONE_WINDOWS; i++) {
		const struct lt_sim_spot_trace *const from =
		    &zone_windows[i / ZONE_WINDOWS][i % ZONE_WINDOWS];

		for (int t = 0; t < SEGMENT; t++)
			ticks[i][t] = from->taken[t * 600 / from->tick_s];
		taught[i] = (struct lt_sim_spot_trace){600, SEGMENT, ticks[i]};
	}
	if (lt_late_learn(regimes, taught, ZONES * ZONE_WINDOWS, SEGMENT, &err) != LT_OK)
		fail(&err);
}

/* Of one environment; the tight and the loose deadline have one table. */
static void
run_mdp(struct figures *sum, const struct lt_late_regimes *regimes, int environment)
{
	for (int s = 0; s < SETTINGS; s += 2) {
		const struct lt_late largest = late_of(tested(0, 0), &settings[s + 1]);
		struct lt_late_mdp *mdp;
		struct lt_error err = {0};

		if (lt_late_mdp_open(&mdp, regimes, &largest, &err) != LT_OK)
			fail(&err);
		const struct lt_late_policy policy =
		    lt_late_mdp_policy(mdp, regimes->count > 1 ? belief_power : 1);

		for (int w = 0; w < 2 * WINDOWS; w++) {
			const struct lt_late late =
			    late_of(tested(environment, w / 2), &settings[s + w % 2]);

			add_run(sum, &late, &policy);
		}
		lt_late_mdp_close(mdp);
	}
}

static struct figures
run_learned(uint32_t count, bool by_zones, const char *name)
{
	struct lt_late_regimes regimes = {.count = count};
	struct figures sum = {0};

	if (by_zones)
		learn_zones(&regimes);
	for (int e = 0; e < TESTED; e++) {
		if (!by_zones)
			learn_without(&regimes, e);
		run_mdp(&sum, &regimes, e);
	}
	sum.money /= sum.runs;
	print(name, &sum);
	return sum;
}

/* ---- many regions ---- */

struct many {
	double end_money; /* all of a run by the price of where it ended */
	double money;	  /* each tick by the price of where it was */
	int late, runs;
};

static void
run_many(struct many *sum, int scenario, int window, const struct lt_late_policy *policy)
{
	const uint32_t count = scenarios[scenario].count;
	const double weight = 1.0 / scenarios[scenario].windows / SCENARIOS;
	struct lt_sim_spot_trace regions[ZONES];
	double prices[ZONES], end_prices[ZONES];
	struct lt_late late = {.regions = regions,
	    .region_count = count,
	    .spot_per_hour = prices,
	    .on_demand_per_hour = on_demand_per_hour,
	    .job = {48 * LT_HOUR_S, 52 * LT_HOUR_S, 720}};
	struct lt_late_outcome outcome;
	struct lt_error err = {0};

	for (uint32_t i = 0; i < count; i++) {
		const int zone = scenarios[scenario].zones[i];

		regions[i] = zone_windows[zone][window];
		prices[i] = zone_prices[zone][window];
	}
	if (lt_late_run(&outcome, &late, policy, &err) != LT_OK)
		fail(&err);
	sum->money += weight * lt_late_cost(&outcome, &late);
	for (uint32_t i = 0; i < count; i++)
		end_prices[i] = prices[outcome.region];
	late.spot_per_hour = end_prices;
	sum->end_money += weight * lt_late_cost(&outcome, &late);
	sum->late += outcome.is_late;
	sum->runs++;
}

static struct many
run_zones(void)
{
	struct lt_late_regimes usual = {.count = 1};
	struct many sum = {0};

	learn_without(&usual, ENVIRONMENTS);
	struct lt_late_zones memory = {
	    .usual = &usual.regimes[0], .usual_tick_s = windows[0][0].tick_s};
	const struct lt_late_policy policy = lt_late_zones_policy(&memory);

	for (int s = 0; s < SCENARIOS; s++)
		for (uint32_t w = 0; w < scenarios[s].windows; w++)
			run_many(&sum, s, (int)w, &policy);
	printf("many regions, %d runs: %.4f USD by where a run ended, %.4f by "
	       "where it was, %d late\n",
	    sum.runs, sum.end_money, sum.money, sum.late);
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
	printf("goal %-52s %-8.6g %-10s %s\n", name, value, text, met ? "met" : "missed");
}

static void
published_goals(const struct figures of[LT_LATE_POLICY_COUNT])
{
	double slowest = INFINITY;

	goal("on demand, USD", of[LT_LATE_ALL_ON_DEMAND].money, "=", 147.39);
	goal("greedy, USD", of[LT_LATE_GREEDY].money, "=", 119.035);
	goal("spot, else on demand, USD", of[LT_LATE_SPOT_ELSE].money, "=", 104.65);
	goal("the same, late", of[LT_LATE_SPOT_ELSE].late, "=", 27);
	goal("uniform progress, USD", of[LT_LATE_UNIFORM].money, "=", 99.456);
	goal("slack rule, USD", of[LT_LATE_SLACK].money, "<=", 95.5);
	goal("the same, late", of[LT_LATE_SLACK].late, "<=", 0);
	for (int p = 0; p < LT_LATE_POLICY_COUNT; p++)
		slowest = fmin(slowest, of[p].a_second);
	goal("runs a second, of the slowest", slowest, ">=", 100000);
}

int
main(int argc, char **argv)
{
	struct figures of[LT_LATE_POLICY_COUNT];

	if (argc != 2) {
		fprintf(stderr, "usage: bench_spot DATA\n");
		return 2;
	}
	load_environments(argv[1]);
	load_zones(argv[1]);
	printf("Can't Be Late, %d runs of 48 h\n%-30s %9s %6s %12s\n", TESTED * WINDOWS * SETTINGS,
	    "", "USD", "late", "runs/s");
	for (int p = 0; p < LT_LATE_POLICY_COUNT; p++)
		of[p] = run(&lt_late_policies[p], lt_late_policies[p].name);
	const struct many many = run_zones();
	const struct figures optimum = run(NULL, "optimum");

	run_learned(1, true, "mdp, by nine zones");
	run_learned(REGIMES, true, "mdp of 7 regimes, by nine zones");
	run_learned(1, false, "mdp, by other environments");
	const struct figures learned = run_learned(REGIMES, false, "mdp of 7 regimes, by others");

	published_goals(of);
	goal("optimum, USD", optimum.money, "=", 92.34);
	goal("regimes of other environments, USD", learned.money, "<=", 94.9);
	goal("the same, late", learned.late, "<=", 0);
	goal("many regions, by where it ended, USD", many.end_money, "<=", 74.40);
	goal("the same, by where it was, USD", many.money, "<=", 75.55);
	goal("the same, late", many.late, "<=", 0);
	return 0;
}
