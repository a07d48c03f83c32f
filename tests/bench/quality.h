/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the protocols of bench_quality share: the files, the jobs moved to the beginning of a week,
 * one run. Ends the program where something fails.
 */
#ifndef LT_BENCH_QUALITY_H
#define LT_BENCH_QUALITY_H

#include "forecast.h"
#include "tools/carbon_zone.h"
#include "trace.h"

enum { QUALITY_ZONES = 5 };

struct quality {
	struct carbon_zone zones[QUALITY_ZONES]; /* the first is GAIA's */
	struct lt_sim_trace trace;		 /* pai_1k, from second 0 on */
};

struct quality_setting { /* jobs on a signal; quality_close() */
	struct lt_sim_signal signal;
	struct lt_sim_outlook *outlooks[LT_SIM_FORECAST_COUNT];
	struct lt_sim_trace trace;
	const struct quality *quality;
	double nowait_kg, perfect_kg; /* emitted; saved at most by shifting */
};

/* So many watts that the last digit of no figure decides who waits: what is asked here is where the
 * carbon goes, not which job is large enough. */
static inline struct lt_sim_options
quality_options(enum lt_sim_policy policy)
{
	struct lt_sim_options options = lt_sim_defaults;

	options.watts_per_cpu = 1e9;
	options.policy = policy;
	return options;
}

static inline void
quality_fail(const struct lt_error *err)
{
	fprintf(stderr, "bench_quality: %s\n", err->text);
	exit(1);
}

static inline bool
quality_load(struct quality *quality, const char *directory)
{
	static const struct carbon_zone zones[QUALITY_ZONES] = {
	    {.name = "AU-SA", .file = "AU-SA.csv", .column = "Life cycle"},
	    {.name = "CISO", .file = "US-CAL-CISO.csv", .column = "carbon_intensity_avg"},
	    {.name = "DE", .file = "DE.csv", .column = "carbon_intensity_avg"},
	    {.name = "GB", .file = "GB.csv", .column = "carbon_intensity_avg"},
	    {.name = "FR", .file = "FR.csv", .column = "carbon_intensity_avg"},
	};
	const struct lt_sim_trace_look look = {.path = "pai_1k.csv", .unit_s = 1, .tick_s = 5};
	static char bytes[1 << 20];
	struct lt_error err = {0};
	char path[400];
	FILE *file;

	snprintf(path, sizeof(path), "%s/carbon", directory);
	for (int i = 0; i < QUALITY_ZONES; i++) {
		quality->zones[i] = zones[i];
		if (!zone_load(&quality->zones[i], path)) {
			fprintf(stderr, "bench_quality: %s/%s: not read\n", path, zones[i].file);
			return false;
		}
	}
	snprintf(path, sizeof(path), "%s/jobs/pai_1k.csv", directory);
	file = fopen(path, "r");
	if (file == NULL) {
		fprintf(stderr, "bench_quality: %s: not read\n", path);
		return false;
	}
	const size_t length = fread(bytes, 1, sizeof(bytes), file);

	fclose(file);
	if (lt_sim_trace_parse(&quality->trace, bytes, length, &look, &err) != LT_OK)
		quality_fail(&err);
	return true;
}

/* The first `hours` of the zone; later ones are unknown to all. */
static inline void
quality_open(struct quality_setting *setting, const struct quality *quality,
    const struct carbon_zone *zone, int hours)
{
	struct lt_error err = {0};

	setting->quality = quality;
	if (lt_sim_signal_make(&setting->signal, zone->first_hour, zone->values, hours, &err) !=
	    LT_OK)
		quality_fail(&err);
	for (int f = 0; f < LT_SIM_FORECAST_COUNT; f++)
		if (lt_sim_outlook_open(&setting->outlooks[f], &setting->signal,
			(enum lt_sim_forecast)f, &err) != LT_OK)
			quality_fail(&err);
}

static inline void
quality_close(struct quality_setting *setting)
{
	for (int f = 0; f < LT_SIM_FORECAST_COUNT; f++)
		lt_sim_outlook_close(setting->outlooks[f]);
	lt_sim_signal_free(&setting->signal);
	lt_sim_trace_free(&setting->trace);
}

static inline struct lt_sim_result
quality_run(struct quality_setting *setting, const struct lt_sim_options *options)
{
	const struct lt_sim_input input = {.trace = &setting->trace,
	    .signal = &setting->signal,
	    .outlook = setting->outlooks[options->forecast]};
	struct lt_sim_result result;
	struct lt_error err = {0};

	if (lt_simulate(&result, &input, options, &err) != LT_OK)
		quality_fail(&err);
	return result;
}

static inline double
quality_kg(struct quality_setting *setting, const struct lt_sim_options *options)
{
	struct lt_sim_result result = quality_run(setting, options);
	const double kg = result.carbon_kg;

	lt_sim_result_free(&result);
	return kg;
}

/* The week begins: jobs, what they emit without waiting and save at most. */
static inline void
quality_begin(struct quality_setting *setting, int64_t from_utc_s)
{
	const struct lt_sim_trace *const all = &setting->quality->trace;
	struct lt_sim_options options = quality_options(LT_SIM_NOWAIT);

	lt_sim_trace_free(&setting->trace);
	setting->trace.jobs = malloc(all->count * sizeof(*all->jobs));
	if (setting->trace.jobs == NULL)
		exit(1);
	memcpy(setting->trace.jobs, all->jobs, all->count * sizeof(*all->jobs));
	setting->trace.count = all->count;
	for (uint32_t i = 0; i < all->count; i++)
		setting->trace.jobs[i].submit_utc_s += from_utc_s;
	setting->nowait_kg = quality_kg(setting, &options);
	options.policy = LT_SIM_LOWTIDE;
	options.again = LT_SIM_DECIDE;
	setting->perfect_kg = setting->nowait_kg - quality_kg(setting, &options);
}

/* Limits, users and names anew. */
static inline void
quality_generate(struct quality_setting *setting, const struct lt_sim_generator *generator)
{
	struct lt_error err = {0};

	for (uint32_t i = 0; i < setting->trace.count; i++) {
		setting->trace.jobs[i].user = setting->trace.jobs[i].name = 0;
		setting->trace.jobs[i].limit_s = 0;
	}
	if (lt_sim_generate(&setting->trace, generator, &err) != LT_OK)
		quality_fail(&err);
}

#endif
