/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal by the hour as it was: what is charged to a job, and what a source
 * would have given of it.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rate.h"
#include "simulate.h"
#include "units.h"

/* A straight line between the values at its two ends. */
static void
bridge(double *value, int hours)
{
	int last = -1;

	for (int i = 0; i < hours; i++) {
		if (isnan(value[i]))
			continue;
		for (int k = last + 1; k < i; k++)
			value[k] = last < 0 ? value[i]
					    : value[last] +
						  (value[i] - value[last]) *
						      (k - last) / (i - last);
		last = i;
	}
	for (int k = last + 1; k < hours; k++)
		value[k] = value[last];
}

static void
fill_steps(struct lt_sim_signal *signal)
{
	for (int i = 0; i < signal->hours; i++) {
		const int64_t at_s = (signal->first_hour + i) * LT_HOUR_S;

		if (isnan(signal->seen[i]))
			continue;
		signal->steps[signal->step_count++] =
		    (struct lt_rate_step){.start_utc_s = at_s,
			.end_utc_s = at_s + LT_HOUR_S,
			.value = signal->seen[i],
			.quality = LT_QUALITY_MEASURED};
	}
}

int
lt_sim_signal_make(struct lt_sim_signal *signal, int64_t first_hour,
    const double *seen, int hours, struct lt_error *err)
{
	const size_t count = (size_t)(hours > 0 ? hours : 0);
	int known = 0;

	*signal =
	    (struct lt_sim_signal){.first_hour = first_hour, .hours = hours};
	for (int i = 0; i < hours; i++)
		known += !isnan(seen[i]);
	if (known == 0)
		return lt_fail(err, LT_EINPUT, "signal: no hour has a value");
	if (hours > LT_SIM_HOURS_MAX)
		return lt_fail(err, LT_ELIMIT, "signal: %d hours, limit %d",
		    hours, LT_SIM_HOURS_MAX);
	signal->seen = malloc(count * sizeof(*signal->seen));
	signal->value = malloc(count * sizeof(*signal->value));
	signal->sum = malloc((count + 1) * sizeof(*signal->sum));
	signal->steps = malloc(count * sizeof(*signal->steps));
	if (signal->seen == NULL || signal->value == NULL ||
	    signal->sum == NULL || signal->steps == NULL) {
		lt_sim_signal_free(signal);
		return lt_fail(err, LT_ENOMEM, "signal: no memory");
	}
	memcpy(signal->seen, seen, count * sizeof(*seen));
	memcpy(signal->value, seen, count * sizeof(*seen));
	bridge(signal->value, hours);
	fill_steps(signal);
	signal->sum[0] = 0;
	for (int i = 0; i < hours; i++)
		signal->sum[i + 1] = signal->sum[i] + signal->value[i];
	return LT_OK;
}

void
lt_sim_signal_free(struct lt_sim_signal *signal)
{
	free(signal->seen);
	free(signal->value);
	free(signal->sum);
	free(signal->steps);
	*signal = (struct lt_sim_signal){0};
}

static int
clamped(const struct lt_sim_signal *signal, int64_t hour)
{
	const int64_t i = hour - signal->first_hour;

	return i < 0 ? 0 : i >= signal->hours ? signal->hours - 1 : (int)i;
}

double
lt_sim_signal_at(const struct lt_sim_signal *signal, int64_t hour)
{
	return signal->value[clamped(signal, hour)];
}

/* From the first hour to utc_s; negative before it. */
static double
integral_to(const struct lt_sim_signal *signal, int64_t utc_s)
{
	const int i = clamped(signal, utc_s / LT_HOUR_S);
	const int64_t from_s = (signal->first_hour + i) * LT_HOUR_S;

	return signal->sum[i] +
	       signal->value[i] * (double)(utc_s - from_s) / LT_HOUR_S;
}

double
lt_sim_signal_integral(
    const struct lt_sim_signal *signal, int64_t from_utc_s, int64_t to_utc_s)
{
	assert(from_utc_s <= to_utc_s);

	return integral_to(signal, to_utc_s) - integral_to(signal, from_utc_s);
}
