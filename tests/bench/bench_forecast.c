/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How good our forecast is on real grids: mean absolute error by lead beside the simple ones, and
 * how much of what perfect foresight saves is kept when jobs start by it, or by the climatology of
 * the hours that it is not tried on. Arguments: the directory of the recorded zones (gaps, doubles
 * and all), and that of CarbonX.
 */
#include <stdio.h>

#include "tools/carbon_profile.h"
#include "tools/forecast_score.h"

enum {
	START_EVERY = 11, /* hours: all hours of the day in turn */
	JOB_HOURS = 4,
	WINDOW_HOURS = 24,
	TRY_EVERY = 6,	 /* hours */
	MISSING_MAX = 4, /* of a window; more: not tried */
};

static struct carbon_zone zones[] = {
    {.name = "AU-SA", .file = "AU-SA.csv", .column = "Life cycle"},
    {.name = "DE", .file = "DE.csv", .column = "carbon_intensity_avg"},
    {.name = "ES", .file = "ES_2022_hourly.csv", .column = "LCA"},
    {.name = "FR", .file = "FR.csv", .column = "carbon_intensity_avg"},
    {.name = "GB", .file = "GB.csv", .column = "carbon_intensity_avg"},
    {.name = "US-CAL-CISO", .file = "US-CAL-CISO.csv", .column = "carbon_intensity_avg"},
};
enum { ZONES = sizeof(zones) / sizeof(*zones) };

static void
print_errors(const struct carbon_zone *zone)
{
	struct forecast_scores scores;

	score_zone(zone, START_EVERY, &scores);
	printf("%s: mean absolute error, g CO2e/kWh, %d starts\n", zone->name, scores.starts);
	printf("  %-14s", "lead, h");
	for (int i = 0; i < SCORE_LEADS; i++)
		printf(" %6d", score_leads[i]);
	printf("\n");
	for (int model = 0; model < SCORE_MODELS; model++) {
		printf("  %-14s", score_names[model]);
		for (int i = 0; i < SCORE_LEADS; i++)
			printf(" %6.1f", score_of(&scores, model, i));
		printf("\n");
	}
	printf("  least at %d of %d leads, target all\n", SCORE_LEADS - score_beaten(&scores),
	    SCORE_LEADS);
}

/* The hours of a window, holes filled by the hour before; false = too many. */
static bool
window_of(const struct carbon_zone *zone, int64_t start, double *values)
{
	double last = score_last(zone, start, 1);
	int missing = 0;

	for (int i = 0; i < WINDOW_HOURS; i++) {
		const double value = zone_at(zone, start + 1 + i);

		missing += isnan(value) ? 1 : 0;
		last = isnan(value) ? last : value;
		values[i] = last;
	}
	return missing <= MISSING_MAX;
}

static double
job_mean(const double *values, int start)
{
	double sum = 0;

	for (int i = 0; i < JOB_HOURS; i++)
		sum += values[start + i];
	return sum / JOB_HOURS;
}

/* Where the job starts that goes by what is forecast. */
static int
best_start(const double *forecast)
{
	int best = 0;

	for (int i = 1; i + JOB_HOURS <= WINDOW_HOURS; i++)
		if (job_mean(forecast, i) < job_mean(forecast, best))
			best = i;
	return best;
}

struct savings {
	double perfect, climatology, ours;
	int tries;
};

static void
try_year(const struct carbon_zone *zone, struct savings *savings)
{
	double means[12][24];

	profile_make(zone, PROFILE_YEAR, means);
	for (int64_t at = SCORE_WINDOW; at + WINDOW_HOURS < zone->hours; at += TRY_EVERY) {
		double seen[WINDOW_HOURS], guess[WINDOW_HOURS], ours[WINDOW_HOURS + 1];

		if (!profile_has(zone, at + 1, PROFILE_TRY_YEAR) ||
		    !profile_has(zone, at + WINDOW_HOURS, PROFILE_TRY_YEAR) ||
		    isnan(zone_at(zone, at + 1)) || !window_of(zone, at, seen))
			continue;
		for (int i = 0; i < WINDOW_HOURS; i++)
			guess[i] = means[profile_month(zone, at + 1 + i, NULL)]
					[(zone->first_hour + at + 1 + i) % 24];
		score_ours(zone, at, ours, WINDOW_HOURS);
		const double now = job_mean(seen, 0);
		savings->perfect += now - job_mean(seen, best_start(seen));
		savings->climatology += now - job_mean(seen, best_start(guess));
		savings->ours += now - job_mean(seen, best_start(ours + 1));
		savings->tries++;
	}
}

static int
print_savings(const char *directory)
{
	printf("Share of the perfect saving kept, %%: jobs of %d h started "
	       "within %d h in %d, climatology of %d; target 50\n",
	    JOB_HOURS, WINDOW_HOURS, PROFILE_TRY_YEAR, PROFILE_YEAR);
	printf("%-12s %6s %8s %11s %8s\n", "zone", "jobs", "g/kWh", "climatology", "forecast");
	for (int i = 0; i < PROFILE_ZONES; i++) {
		struct carbon_zone *const zone = &profile_zones[i];
		struct savings savings = {0};

		if (!zone_load(zone, directory)) {
			fprintf(stderr, "%s/%s: not as expected\n", directory, zone->file);
			return 1;
		}
		try_year(zone, &savings);
		printf("%-12s %6d %8.1f %11.1f %8.1f\n", zone->name, savings.tries,
		    savings.perfect / savings.tries, 100 * savings.climatology / savings.perfect,
		    100 * savings.ours / savings.perfect);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: bench_forecast DIRECTORY [CARBONX]\n");
		return 2;
	}
	for (int i = 0; i < ZONES; i++) {
		if (!zone_load(&zones[i], argv[1])) {
			fprintf(stderr, "%s/%s: not as expected\n", argv[1], zones[i].file);
			return 1;
		}
		print_errors(&zones[i]);
	}
	return argc == 3 ? print_savings(argv[2]) : 0;
}
