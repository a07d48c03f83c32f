/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's running takes: carbon by the signal as it was, and load by the
 * hour.
 */
#include <stdlib.h>

#include "internal.h"
#include "units.h"

static const double g_per_kg = 1000;

double
lt_sim_cost(const struct lt_sim_run *run, const struct lt_sim_job *job,
    int64_t from_utc_s, int64_t to_utc_s)
{
	if (run->price != NULL)
		return job->cpus *
		       lt_sim_signal_integral(
			   run->price, from_utc_s, to_utc_s) /
		       LT_MICROS;
	return job->cpus * (double)(to_utc_s - from_utc_s) / LT_HOUR_S *
	       run->options->price_per_cpu_hour;
}

int
lt_sim_use(struct lt_sim_run *run, const struct lt_sim_job *job,
    int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	struct lt_sim_result *const result = run->result;
	const int64_t first_hour = result->from_utc_s / LT_HOUR_S;
	const int64_t last_hour = (to_utc_s - 1) / LT_HOUR_S;

	result->carbon_kg +=
	    job->cpus * run->options->watts_per_cpu / 1000 / g_per_kg *
	    lt_sim_signal_integral(run->signal, from_utc_s, to_utc_s);
	if (to_utc_s > result->to_utc_s)
		result->to_utc_s = to_utc_s;
	if (last_hour - first_hour >= result->load_hours) {
		const int hours = (int)(last_hour - first_hour) * 3 / 2 + 24;
		double *const load =
		    realloc(result->load, (size_t)hours * sizeof(*load));

		if (load == NULL)
			return lt_fail(err, LT_ENOMEM, "load: no memory");
		for (int i = result->load_hours; i < hours; i++)
			load[i] = 0;
		result->load = load;
		result->load_hours = hours;
	}
	for (int64_t at_s = from_utc_s; at_s < to_utc_s;) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t end_s = (hour + 1) * LT_HOUR_S < to_utc_s
					  ? (hour + 1) * LT_HOUR_S
					  : to_utc_s;

		result->load[hour - first_hour] +=
		    job->cpus * (double)(end_s - at_s) / LT_HOUR_S;
		at_s = end_s;
	}
	return LT_OK;
}
