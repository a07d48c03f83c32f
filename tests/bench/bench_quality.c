/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How good decisions are, by the protocols of docs/quality.md, on a folder with carbon/ and jobs/:
 * make quality DATA=DIR prints it. Nothing in here is chosen by what it scores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/quality.h"

enum {
	GAIA_UTC_S = 1666195200, /* 2022-10-19 16:00 */
	GAIA_HOURS = 720,
	WEEKS = 12,
	WEEK_HOURS = 216, /* of jobs and of what they may wait and run */
	MISSING_MAX = 60,
	SEEDS = 5,
};

static struct quality_setting
gaia(const struct quality *quality)
{
	struct quality_setting setting = {0};
	const struct carbon_zone *const zone = &quality->zones[0];
	const int hours = (int)(GAIA_UTC_S / LT_HOUR_S - zone->first_hour) + GAIA_HOURS;

	quality_open(&setting, quality, zone, hours);
	quality_begin(&setting, GAIA_UTC_S);
	return setting;
}

static void
print_gaia(struct quality_setting *gaia)
{
	static const struct {
		enum lt_sim_policy policy;
		uint32_t reserved;
		double golden, golden_usd; /* of GAIA's own code */
	} rows[] = {
	    {LT_SIM_NOWAIT, 0, 1, 199.1759},
	    {LT_SIM_LOWEST_SLOT, 0, 0.779988, 199.1759},
	    {LT_SIM_LOWEST_WINDOW, 0, 0.683641, 199.1759},
	    {LT_SIM_CARBON_TIME, 0, 0.724712, 199.1759},
	    {LT_SIM_ECOVISOR, 0, 0.638786, 199.1759},
	    {LT_SIM_WAIT_AWHILE, 0, 0.546233, 199.1759},
	    {LT_SIM_NOWAIT, 9, 1, 154.3974},
	    {LT_SIM_RES_FIRST, 9, 0.854439, 142.2039},
	};

	printf("GAIA's baselines, AU-SA\n%-20s %9s %9s %9s %9s\n", "", "carbon", "golden", "USD",
	    "golden");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_sim_options options = quality_options(rows[i].policy);
		struct lt_sim_result result;
		char name[32];

		options.reserved = rows[i].reserved;
		result = quality_run(gaia, &options);
		snprintf(name, sizeof(name), "%s%s", lt_sim_policy_name((int)rows[i].policy),
		    rows[i].reserved > 0 ? ", 9 reserved" : "");
		printf("%-20s %9.6f %9.6f %9.4f %9.4f\n", name, result.carbon_kg / gaia->nowait_kg,
		    rows[i].golden, result.money, rows[i].golden_usd);
		lt_sim_result_free(&result);
	}
}

static void
print_own(struct quality_setting *gaia)
{
	static const struct {
		const char *what;
		enum lt_sim_policy policy;
		enum lt_sim_length length;
		enum lt_sim_again again;
	} rows[] = {
	    {"exact, replan", LT_SIM_LOWTIDE, LT_SIM_EXACT, LT_SIM_REPLAN},
	    {"exact, decide", LT_SIM_LOWTIDE, LT_SIM_EXACT, LT_SIM_DECIDE},
	    {"exact, once", LT_SIM_LOWTIDE, LT_SIM_EXACT, LT_SIM_NEVER},
	    {"average, replan", LT_SIM_LOWTIDE, LT_SIM_AVERAGE, LT_SIM_REPLAN},
	    {"average, decide", LT_SIM_LOWTIDE, LT_SIM_AVERAGE, LT_SIM_DECIDE},
	    {"average, once", LT_SIM_LOWTIDE, LT_SIM_AVERAGE, LT_SIM_NEVER},
	    {"suspended", LT_SIM_LOWTIDE_PAUSE, LT_SIM_EXACT, LT_SIM_NEVER},
	};

	printf("\nlowtide, AU-SA: carbon over that of no waiting\n%-28s", "");
	for (int f = 0; f < LT_SIM_FORECAST_COUNT; f++)
		printf(" %12s", lt_sim_forecast_name(f));
	putchar('\n');
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		printf("%-28s", rows[i].what);
		for (int f = 0; f < LT_SIM_FORECAST_COUNT; f++) {
			struct lt_sim_options options = quality_options(rows[i].policy);

			options.length = rows[i].length;
			options.again = rows[i].again;
			options.forecast = (enum lt_sim_forecast)f;
			printf(" %12.4f", quality_kg(gaia, &options) / gaia->nowait_kg);
		}
		putchar('\n');
	}
}

/* Mean share kept over the seeds, and the least and the most of them. */
static void
print_lengths(struct quality_setting *gaia)
{
	static const struct {
		const char *what;
		struct lt_sim_generator generator;
		enum lt_sim_length length;
	} rows[] = {
	    {"exact", {.limit_factor = 3}, LT_SIM_EXACT},
	    {"limit x 3: limit", {.limit_factor = 3}, LT_SIM_LIMIT},
	    {"limit x 3: ratio learned", {.limit_factor = 3}, LT_SIM_LEARNED},
	    {"lognormal: limit", {.limit_factor = 3, .limit_sigma = 0.9}, LT_SIM_LIMIT},
	    {"lognormal: ratio learned", {.limit_factor = 3, .limit_sigma = 0.9}, LT_SIM_LEARNED},
	    {"lognormal: 60 names learned",
		{.limit_factor = 3, .limit_sigma = 0.9, .names = 60, .users = 20}, LT_SIM_LEARNED},
	};

	printf("\nRun times, AU-SA, own forecast: %% of the perfect saving kept, "
	       "mean of %d seeds (least, most)\n",
	    SEEDS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double sum = 0, least = INFINITY, most = -INFINITY;

		for (int seed = 1; seed <= SEEDS; seed++) {
			struct lt_sim_generator generator = rows[i].generator;
			struct lt_sim_options options = quality_options(LT_SIM_LOWTIDE);
			double share;

			generator.seed = (uint64_t)seed;
			quality_generate(gaia, &generator);
			options.forecast = LT_SIM_OWN;
			options.length = rows[i].length;
			share =
			    100 * (gaia->nowait_kg - quality_kg(gaia, &options)) / gaia->perfect_kg;
			sum += share;
			least = fmin(least, share);
			most = fmax(most, share);
		}
		printf("%-28s %6.1f (%.1f, %.1f)\n", rows[i].what, sum / SEEDS, least, most);
	}
}

enum { REPLAN, DECIDE, ONCE, PAUSE, KINDS };
static const struct {
	const char *name;
	enum lt_sim_policy policy;
	enum lt_sim_again again;
	int perfect; /* with all known: what it is measured by */
} kinds[KINDS] = {
    {"replan", LT_SIM_LOWTIDE, LT_SIM_REPLAN, DECIDE},
    {"decide", LT_SIM_LOWTIDE, LT_SIM_DECIDE, DECIDE},
    {"once", LT_SIM_LOWTIDE, LT_SIM_NEVER, DECIDE},
    {"suspended", LT_SIM_LOWTIDE_PAUSE, LT_SIM_NEVER, PAUSE},
};

/* A zone's weeks: what each kind and forecast saves, all weeks together. */
static int
sum_weeks(double saved[KINDS][LT_SIM_FORECAST_COUNT], const struct quality *quality,
    const struct carbon_zone *zone)
{
	const int first = LT_FORECAST_MEAN_DAYS * 24;
	const int last = zone->hours - WEEK_HOURS;
	struct quality_setting setting = {0};
	int weeks = 0;

	quality_open(&setting, quality, zone, zone->hours);
	for (int week = 0; week < WEEKS; week++) {
		const int at = first + (int)((int64_t)(last - first) * week / (WEEKS - 1));
		int missing = 0;

		for (int i = 0; i < WEEK_HOURS; i++)
			missing += isnan(zone_at(zone, at + i));
		if (missing > MISSING_MAX)
			continue;
		weeks++;
		quality_begin(&setting, (zone->first_hour + at) * LT_HOUR_S);
		for (int kind = 0; kind < KINDS; kind++)
			for (int f = 0; f < LT_SIM_FORECAST_COUNT; f++) {
				struct lt_sim_options options = quality_options(kinds[kind].policy);

				options.again = kinds[kind].again;
				options.forecast = (enum lt_sim_forecast)f;
				saved[kind][f] +=
				    setting.nowait_kg - quality_kg(&setting, &options);
			}
	}
	quality_close(&setting);
	return weeks;
}

static void
print_zones(const struct quality *quality)
{
	double mean[KINDS][LT_SIM_FORECAST_COUNT] = {{0}};

	printf("\n%% of the perfect saving kept, %d weeks of each zone\n%-18s", WEEKS, "");
	for (int f = 1; f < LT_SIM_FORECAST_COUNT; f++)
		printf(" %12s", lt_sim_forecast_name(f));
	putchar('\n');
	for (int z = 0; z <= QUALITY_ZONES; z++) {
		double saved[KINDS][LT_SIM_FORECAST_COUNT] = {{0}};
		const bool all = z == QUALITY_ZONES;
		const int weeks = all ? 0 : sum_weeks(saved, quality, &quality->zones[z]);

		for (int kind = 0; kind < KINDS; kind++) {
			const double perfect = saved[kinds[kind].perfect][0];
			char name[32];

			snprintf(name, sizeof(name), "%s %s", all ? "mean" : quality->zones[z].name,
			    kinds[kind].name);
			printf("%-18s", name);
			for (int f = 1; f < LT_SIM_FORECAST_COUNT; f++) {
				const double share =
				    all ? mean[kind][f] : 100 * saved[kind][f] / perfect;

				mean[kind][f] += all ? 0 : share / QUALITY_ZONES;
				printf(" %12.1f", share);
			}
			printf(all || kind > 0 ? "\n" : "  (%d weeks)\n", weeks);
		}
		fflush(stdout);
	}
}

/* The week's CPU-hours over its hours, times the factor, in whole CPUs. */
static uint32_t
capacity_of(const struct quality_setting *setting, double factor)
{
	double sum = 0;

	for (uint32_t i = 0; i < setting->trace.count; i++)
		sum += setting->trace.jobs[i].cpus * (double)setting->trace.jobs[i].run_s;
	return (uint32_t)ceil(factor * sum / (7 * LT_DAY_S));
}

static void
print_capacity_cell(struct quality_setting *gaia, const struct lt_sim_options *options)
{
	struct lt_sim_result result = quality_run(gaia, options);
	char cell[32];

	snprintf(cell, sizeof(cell), "%.1f (%u)",
	    100 * (gaia->nowait_kg - result.carbon_kg) / gaia->perfect_kg, result.late);
	printf(" %14s", cell);
	lt_sim_result_free(&result);
}

static void
print_capacity(struct quality_setting *gaia)
{
	static const double factors[] = {1.1, 1.3, 2, 3};
	static const struct {
		const char *what;
		bool herd;
		enum lt_sim_again again;
	} rows[] = {
	    {"herd, once", true, LT_SIM_NEVER},
	    {"booked, once", false, LT_SIM_NEVER},
	    {"booked, replan", false, LT_SIM_REPLAN},
	    {"booked, decide", false, LT_SIM_DECIDE},
	};

	printf("\nCapacity, AU-SA: %% of the perfect saving without one (late "
	       "jobs of %u)\n%-26s",
	    gaia->trace.count, "");
	for (int f = 0; f <= LT_SIM_OWN_WEEKS; f++)
		printf(" %14s", lt_sim_forecast_name(f));
	putchar('\n');
	for (size_t k = 0; k < sizeof(factors) / sizeof(factors[0]); k++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct lt_sim_options options = quality_options(LT_SIM_LOWTIDE);

			printf("%.1f x load, %-14s", factors[k], rows[i].what);
			options.capacity = capacity_of(gaia, factors[k]);
			options.herd = rows[i].herd;
			options.again = rows[i].again;
			for (int f = 0; f <= LT_SIM_OWN_WEEKS; f++) {
				options.forecast = (enum lt_sim_forecast)f;
				print_capacity_cell(gaia, &options);
			}
			putchar('\n');
		}
}

/* A cluster as busy as they are: limits three times the run times, so that Slurm's line is shorter
 * than it says. Beside plain Slurm on the same CPUs. */
static void
print_busy(struct quality_setting *gaia)
{
	static const double loads[] = {0.6, 0.7, 0.8, 0.9, 1, 1.1};
	static const struct lt_sim_generator generator = {
	    .limit_factor = 3, .limit_sigma = 0.9, .seed = 1};

	quality_generate(gaia, &generator);
	printf("\nBusy, AU-SA, limits x 3, run times learned, own forecast: "
	       "beside plain Slurm\n%-26s %9s %9s %9s %9s\n",
	    "", "saved %", "wait h", "plain h", "late");
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		struct lt_sim_options options = quality_options(LT_SIM_NOWAIT);
		struct lt_sim_result plain, ours;

		options.capacity = capacity_of(gaia, 1 / loads[i]);
		plain = quality_run(gaia, &options);
		options.policy = LT_SIM_LOWTIDE;
		options.forecast = LT_SIM_OWN;
		options.length = LT_SIM_LEARNED;
		options.again = LT_SIM_REPLAN;
		ours = quality_run(gaia, &options);
		printf("busy %3.0f %% of %-3u CPUs       %9.1f %9.1f %9.1f %9u\n", 100 * loads[i],
		    options.capacity, 100 * (1 - ours.carbon_kg / plain.carbon_kg),
		    ours.wait_s / 3600, plain.wait_s / 3600, ours.late);
		lt_sim_result_free(&plain);
		lt_sim_result_free(&ours);
	}
}

int
main(int argc, char **argv)
{
	static struct quality quality;
	struct quality_setting setting;

	if (argc != 2) {
		fputs("usage: bench_quality DIR\n", stderr);
		return 2;
	}
	if (!quality_load(&quality, argv[1]))
		return 1;
	setting = gaia(&quality);
	print_gaia(&setting);
	print_own(&setting);
	print_lengths(&setting);
	print_capacity(&setting);
	print_busy(&setting);
	quality_close(&setting);
	print_zones(&quality);
	return 0;
}
