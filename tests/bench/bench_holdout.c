/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the interval of what moving saved hold the truth as often as it says? Months of jobs are
 * made up whose costs are known at home and elsewhere, with the sizes of a recorded trace; users
 * are drawn as at a site, and what the report would say is compared with what was saved.
 * docs/quality.md.
 *
 *   bench_holdout TRACE.csv [MONTHS]
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdout.h"
#include "measured.h"
#include "units.h"

enum { TRACE_MAX = 2000, DAYS = 30, USERS_MAX = 400 };

struct site { /* a kind of month */
	const char *name;
	uint32_t share_ppm;
	int users;
	double jobs_a_day;    /* of a user on a day that he is there */
	double saving;	      /* of most jobs; others save more or less: */
	double saving_spread; /* of users, and of jobs */
	double length_spread; /* of a run over what was expected, log */
	double least, most;   /* goal: of 100 intervals so many */
};

static const struct site sites[] = {
    {"2 % of a large site", 20000, 400, 8, 0.3, 0.1, 0.8, 93, 97},
    {"5 % of a mid-sized site", 50000, 120, 5, 0.3, 0.1, 0.8, 93, 97},
    {"10 % of a small site", 100000, 40, 5, 0.3, 0.1, 0.8, 93, 97},
    {"20 %, saving nothing", 200000, 40, 5, 0.0, 0.1, 0.8, 93, 97},
    {"5 %, half is saved", 50000, 120, 5, 0.5, 0.1, 0.8, 93, 97},
    {"5 %, run times all over", 50000, 120, 5, 0.3, 0.1, 1.5, 93, 97},
    {"5 %, savings all over", 50000, 120, 5, 0.5, 0.2, 0.8, 93, 97},
};

static double sizes[TRACE_MAX];
static int size_count;
static uint64_t state;

static double
uniform(void)
{
	static const uint64_t key[2] = {1, 2};

	return ((double)(lt_siphash(key, ++state, 0) >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void
read_sizes(const char *path)
{
	FILE *const file = fopen(path, "r");
	char line[256];
	double arrival, length, cpus;

	if (file == NULL) {
		fprintf(stderr, "bench_holdout: can't open %s\n", path);
		exit(1);
	}
	while (fgets(line, sizeof(line), file) != NULL && size_count < TRACE_MAX)
		if (sscanf(line, "%lf,%lf,%lf", &arrival, &length, &cpus) == 3 && length > 0)
			sizes[size_count++] = length * cpus / LT_HOUR_S;
	fclose(file);
	if (size_count < 100) {
		fprintf(stderr, "bench_holdout: %s: %d jobs, want 100\n", path, size_count);
		exit(1);
	}
}

enum by { BY_WORK, BY_QUOTE, BYS }; /* what charges are compared by */

struct month {
	struct lt_measured_user users[BYS][USERS_MAX * DAYS];
	uint32_t count;
	double home, there; /* of those that moved: what is true */
};

static void
make_month(struct month *month, const struct site *site, uint64_t number)
{
	const struct lt_holdout holdout = {
	    site->share_ppm, {number, ~number * UINT64_C(0x9e3779b97f4a7c15)}};

	month->count = 0;
	month->home = month->there = 0;
	for (int u = 0; u < site->users; u++) {
		const double there_at_all = 0.1 + 0.6 * uniform();
		const double scale = exp(normal()); /* of his jobs */
		const double saves = site->saving + site->saving_spread * normal();

		for (int day = 0; day < DAYS; day++) {
			const int64_t at = (int64_t)day * LT_DAY_S + 36000; /* one period */
			struct lt_request request = {.uid = (uint32_t)u};
			struct lt_measured_user user;
			const double jobs = -site->jobs_a_day * log(uniform());
			const double mood = 0.3 * normal();

			if (uniform() > there_at_all)
				continue;
			lt_holdout_lay(&request, &holdout, at);
			user = (struct lt_measured_user){.is_kept = request.is_held_out};
			double work = 0;
			for (int j = 0; j <= (int)jobs; j++) {
				const double expected =
				    scale * sizes[(int)(uniform() * size_count)];
				const double length = exp(mood + site->length_spread * normal());
				/* Prices at home move, too. */
				const double home = expected * length * (1 + 0.15 * normal());
				const double there =
				    home * fmax(0.05, 1 - saves - site->saving_spread * normal());

				work += expected * length;
				user.baseline += expected;
				user.charged += request.is_held_out ? home : there;
				if (!request.is_held_out) {
					month->home += home;
					month->there += there;
				}
			}
			month->users[BY_QUOTE][month->count] = user;
			user.baseline = work;
			month->users[BY_WORK][month->count] = user;
			month->count++;
		}
	}
}

struct tally {
	int with, held, low, high;
	double width, kept;
};

static void
count_month(struct tally *tally, const struct month *month, enum by by)
{
	const struct lt_measured_user *const users = month->users[by];
	const double truth = month->there / month->home;
	struct lt_measured measured;

	if (lt_measure(&measured, users, month->count, NULL) != LT_OK) {
		fprintf(stderr, "bench_holdout: out of memory\n");
		exit(1);
	}
	for (uint32_t i = 0; i < month->count; i++)
		tally->kept += users[i].is_kept;
	if (!measured.has_interval)
		return;
	tally->with++;
	tally->low += truth < measured.low;
	tally->high += truth > measured.high;
	tally->held += measured.low <= truth && truth <= measured.high;
	tally->width += measured.high - measured.low;
}

static bool
print_tally(const struct site *site, const struct tally *t, enum by by, int months)
{
	static const char *const names[BYS] = {"work", "quote"};
	const double percent = t->with > 0 ? 100.0 * t->held / t->with : 0;
	const bool met = site->least <= percent && percent <= site->most;

	printf(
	    "%-24s by %-6s %5.1f user-days kept; of %d intervals, %.3f wide, the truth is in %d, below %d, above %d\n",
	    site->name, names[by], t->kept / months, t->with, t->with > 0 ? t->width / t->with : 0,
	    t->held, t->low, t->high);
	printf("goal %-24s by %-6s %5.1f %%   %g to %g %%   %s\n", site->name, names[by], percent,
	    site->least, site->most, met ? "met" : "missed");
	fflush(stdout);
	return met;
}

static bool
print_site(const struct site *site, struct month *month, int months)
{
	struct tally tallies[BYS] = {{0}};
	bool met = true;

	for (int m = 0; m < months; m++) {
		make_month(month, site, (uint64_t)m + 1);
		for (int b = 0; b < BYS; b++)
			count_month(&tallies[b], month, (enum by)b);
	}
	for (int b = 0; b < BYS; b++)
		met &= print_tally(site, &tallies[b], (enum by)b, months);
	return met;
}

int
main(int argc, char **argv)
{
	const int months = argc > 2 ? atoi(argv[2]) : 1000;
	struct month *const month = malloc(sizeof(*month));
	bool met = true;

	if (argc < 2 || months < 1 || month == NULL) {
		fprintf(stderr, "usage: bench_holdout TRACE.csv [MONTHS]\n");
		return 2;
	}
	read_sizes(argv[1]);
	for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
		met &= print_site(&sites[i], month, months);
	free(month);
	return met ? 0 : 1;
}
