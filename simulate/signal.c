/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A signal by the hour as it was, which is what is charged to a job; and what is expected of it at
 * each hour, by what had been seen until then and nothing later. Each hour's is made once and kept:
 * many runs on one signal ask for the same hours.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast_fit.h"
#include "rate.h"
#include "simulate.h"
#include "units.h"

/* A straight line between the values at its two ends. */
static void
bridge_holes(double *value, int hours)
{
	int last = -1;

	for (int i = 0; i < hours; i++) {
		if (isnan(value[i]))
			continue;
		for (int k = last + 1; k < i; k++)
			value[k] = last < 0 ? value[i]
					    : value[last] + (value[i] - value[last]) * (k - last) /
								(i - last);
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
		signal->steps[signal->step_count++] = (struct lt_rate_step){.start_utc_s = at_s,
		    .end_utc_s = at_s + LT_HOUR_S,
		    .value = signal->seen[i],
		    .quality = LT_QUALITY_MEASURED};
	}
}

int
lt_sim_signal_make(struct lt_sim_signal *signal, int64_t first_hour, const double *seen, int hours,
    struct lt_error *err)
{
	const size_t count = (size_t)(hours > 0 ? hours : 0);
	int known = 0;

	*signal = (struct lt_sim_signal){.first_hour = first_hour, .hours = hours};
	for (int i = 0; i < hours; i++)
		known += !isnan(seen[i]);
	if (known == 0)
		return lt_fail(err, LT_EINPUT, "signal: no hour has a value");
	if (hours > LT_SIM_HOURS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "signal: %d hours, limit %d", hours, LT_SIM_HOURS_MAX);
	signal->seen = malloc(count * sizeof(*signal->seen));
	signal->value = malloc(count * sizeof(*signal->value));
	signal->sum = malloc((count + 1) * sizeof(*signal->sum));
	signal->steps = malloc(count * sizeof(*signal->steps));
	if (signal->seen == NULL || signal->value == NULL || signal->sum == NULL ||
	    signal->steps == NULL) {
		lt_sim_signal_free(signal);
		return lt_fail(err, LT_ENOMEM, "signal: no memory");
	}
	memcpy(signal->seen, seen, count * sizeof(*seen));
	memcpy(signal->value, seen, count * sizeof(*seen));
	bridge_holes(signal->value, hours);
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
hour_index(const struct lt_sim_signal *signal, int64_t hour)
{
	const int64_t i = hour - signal->first_hour;

	return i < 0 ? 0 : i >= signal->hours ? signal->hours - 1 : (int)i;
}

double
lt_sim_signal_at(const struct lt_sim_signal *signal, int64_t hour)
{
	return signal->value[hour_index(signal, hour)];
}

/* From the first hour to utc_s; negative before it. */
static double
integral_to(const struct lt_sim_signal *signal, int64_t utc_s)
{
	const int i = hour_index(signal, utc_s / LT_HOUR_S);
	const int64_t from_s = (signal->first_hour + i) * LT_HOUR_S;

	return signal->sum[i] + signal->value[i] * (double)(utc_s - from_s) / LT_HOUR_S;
}

double
lt_sim_signal_integral(const struct lt_sim_signal *signal, int64_t from_utc_s, int64_t to_utc_s)
{
	assert(from_utc_s <= to_utc_s);

	return integral_to(signal, to_utc_s) - integral_to(signal, from_utc_s);
}

/* ---- what is expected ---- */

enum {
	AHEAD = LT_FORECAST_HOURS,
	DAY = 24,
	WEEK = 7 * DAY,
	WEEKS = 4,
	/* lowtided fits anew every three hours, for that time of the day. Here each of the eight is
	 * kept for a week, which is worse. */
	CLOCKS = 8,
	CLOCK_HOURS = DAY / CLOCKS,
	FIT_KEPT_HOURS = WEEK,
};

struct clock_fit {
	bool made;
	int64_t at_hour;
	struct lt_forecast_fit fit;
};

struct lt_sim_outlook {
	const struct lt_sim_signal *signal;
	enum lt_sim_forecast forecast;
	double **hours; /* AHEAD values each; NULL = not made yet */
	struct clock_fit fits[CLOCKS];
};

int
lt_sim_outlook_open(struct lt_sim_outlook **outlook, const struct lt_sim_signal *signal,
    enum lt_sim_forecast forecast, struct lt_error *err)
{
	struct lt_sim_outlook *const made = calloc(1, sizeof(*made));

	*outlook = made;
	if (made != NULL)
		made->hours = calloc((size_t)signal->hours, sizeof(*made->hours));
	if (made == NULL || made->hours == NULL) {
		lt_sim_outlook_close(made);
		*outlook = NULL;
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	}
	made->signal = signal;
	made->forecast = forecast;
	return LT_OK;
}

void
lt_sim_outlook_close(struct lt_sim_outlook *outlook)
{
	if (outlook == NULL)
		return;
	for (int i = 0; outlook->hours != NULL && i < outlook->signal->hours; i++)
		free(outlook->hours[i]);
	free(outlook->hours);
	free(outlook);
}

/* How many steps began by the end of hour i. */
static uint32_t
known_until(const struct lt_sim_signal *signal, int i)
{
	const int64_t at_s = (signal->first_hour + i) * LT_HOUR_S;
	uint32_t low = 0, high = signal->step_count;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (signal->steps[middle].start_utc_s <= at_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The fit for this hour of the day, made anew when it is old. NULL: history is too short. */
static const struct lt_forecast_fit *
fit_of_hour(struct lt_sim_outlook *outlook, const struct lt_known *known, int64_t hour)
{
	struct clock_fit *const kept = &outlook->fits[hour % DAY / CLOCK_HOURS];

	if (!kept->made || hour - kept->at_hour >= FIT_KEPT_HOURS) {
		kept->made = true;
		kept->at_hour = hour;
		if (lt_forecast_fit(&kept->fit, known, NULL) != LT_OK)
			kept->fit.is_fitted[LT_FIT_WITHOUT] = false;
	}
	return kept->fit.is_fitted[LT_FIT_WITHOUT] ? &kept->fit : NULL;
}

static void
make_own_outlook(struct lt_sim_outlook *outlook, int i, double *values)
{
	const struct lt_sim_signal *const signal = outlook->signal;
	const int64_t hour = signal->first_hour + i;
	const uint32_t count = known_until(signal, i);
	const uint32_t room = LT_FIT_DAYS * DAY;
	const uint32_t first = count > room ? count - room : 0;
	struct lt_rate_step steps[AHEAD + WEEK];
	struct lt_known known = {.steps = signal->steps + first,
	    .count = count - first,
	    .seasonal = true,
	    .now_utc_s = hour * LT_HOUR_S};
	uint32_t made;

	for (int k = 0; k < AHEAD; k++)
		values[k] = count > 0 ? signal->steps[count - 1].value : signal->value[i];
	if (count == 0)
		return;
	if (outlook->forecast == LT_SIM_OWN)
		known.fit = fit_of_hour(outlook, &known, hour);
	made = lt_forecast(steps, AHEAD + WEEK, &known);
	for (uint32_t s = 0; s < made; s++) {
		const int64_t from = steps[s].start_utc_s / LT_HOUR_S - hour;
		const int64_t to = steps[s].end_utc_s / LT_HOUR_S - hour;

		for (int64_t k = from > 0 ? from : 0; k < to && k < AHEAD; k++)
			values[k] = steps[s].value;
	}
}

/* The value `back` hours ago, or as many times that as it takes to find one. NAN = none was ever
 * seen. */
static double
seen_back(const struct lt_sim_signal *signal, int i, int back)
{
	for (; i >= 0; i -= back)
		if (!isnan(signal->seen[i]))
			return signal->seen[i];
	return NAN;
}

static double
yesterday(const struct lt_sim_signal *signal, int now, int lead)
{
	const int days = (lead + DAY - 1) / DAY;

	return seen_back(signal, now + lead - days * DAY, DAY);
}

static double
hour_of_week(const struct lt_sim_signal *signal, int now, int lead)
{
	double sum = 0;
	int count = 0;

	for (int k = 1; k <= WEEKS + 1; k++) {
		const int i = now + lead - k * WEEK;

		if (i > now || i <= now - WEEKS * WEEK || i < 0 || isnan(signal->seen[i]))
			continue;
		sum += signal->seen[i];
		count++;
	}
	return count > 0 ? sum / count : yesterday(signal, now, lead);
}

static void
make_outlook(struct lt_sim_outlook *outlook, int i, double *values)
{
	const struct lt_sim_signal *const signal = outlook->signal;

	if (outlook->forecast == LT_SIM_OWN || outlook->forecast == LT_SIM_OWN_WEEKS) {
		make_own_outlook(outlook, i, values);
	} else {
		for (int k = 0; k < AHEAD; k++) {
			const double truth = lt_sim_signal_at(signal, signal->first_hour + i + k);
			const double value = outlook->forecast == LT_SIM_PERFECT ? truth
					     : outlook->forecast == LT_SIM_YESTERDAY
						 ? yesterday(signal, i, k)
						 : hour_of_week(signal, i, k);

			values[k] = isnan(value) ? signal->value[i] : value;
		}
	}
	if (!isnan(signal->seen[i]))
		values[0] = signal->seen[i];
}

const double *
lt_sim_outlook_at(struct lt_sim_outlook *outlook, int64_t hour)
{
	const int64_t at = hour - outlook->signal->first_hour;
	const int last = outlook->signal->hours - 1;
	const int i = at < 0 ? 0 : at > last ? last : (int)at;
	double **const kept = &outlook->hours[i];

	if (*kept == NULL) {
		*kept = malloc(AHEAD * sizeof(**kept));
		if (*kept != NULL)
			make_outlook(outlook, i, *kept);
	}
	return *kept;
}
