/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own forecast: the mean day, and what of the present anomaly stays at each lead time. First
 * from steps of any length, with holes, to hours off the mean day and the features of these; then
 * the weights, learned from six grids and corrected by the source's own last weeks; docs/model.md,
 * eq. (31).
 *
 * Pure. Too little history gives one step of the last value.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast.h"
#include "forecast_fit.h"
#include "forecast_view.h"
#include "units.h"

/* ---- features ---- */

enum {
	DAY = LT_DAY_HOURS,
	WEEK = LT_WEEK_HOURS,
	LOOK_BACK = 6, /* hours: how old the last or last but one may be */
	NEAR = 2,      /* hours beside one that count for its weekday, too */
	STEADY_LEAD_MAX = 6,
	WEEKS_DOUBT = 4 /* weeks of no anomaly, against chance */
};

int
lt_history_hour(const struct lt_history *h, int i)
{
	return (int)((h->first + i) % DAY);
}

static int
week_hour_of(const struct lt_history *h, int i)
{
	return (int)((h->first + i) % WEEK);
}

/* Takes the mean day off. Returns true if every hour of the day was seen. */
static bool
subtract_mean_day(struct lt_history *h)
{
	double sums[DAY] = {0}, sum = 0;
	int counts[DAY] = {0}, count = 0;

	for (int i = 0; i < LT_HISTORY_HOURS; i++) {
		if (isnan(h->anomaly[i]))
			continue;
		sums[lt_history_hour(h, i)] += h->anomaly[i];
		counts[lt_history_hour(h, i)]++;
	}
	for (int hour = 0; hour < DAY; hour++) {
		if (counts[hour] == 0)
			return false;
		h->mean_day[hour] = sums[hour] / counts[hour];
	}
	for (int i = 0; i < LT_HISTORY_HOURS; i++) {
		if (isnan(h->anomaly[i]))
			continue;
		h->anomaly[i] -= h->mean_day[lt_history_hour(h, i)];
		sum += h->anomaly[i] * h->anomaly[i];
		count++;
	}
	h->variance = sum / count;
	return true;
}

static void
fill_lately(struct lt_history *h)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < LT_HISTORY_HOURS; i++) {
		if (!isnan(h->anomaly[i])) {
			sum += h->anomaly[i];
			count++;
		}
		if (i >= WEEK && !isnan(h->anomaly[i - WEEK])) {
			sum -= h->anomaly[i - WEEK];
			count--;
		}
		h->lately[i] = count > 0 ? sum / count : 0;
	}
}

static void
fill_weekday(struct lt_history *h)
{
	double sums[WEEK] = {0};
	int counts[WEEK] = {0};

	for (int i = 0; i < LT_HISTORY_HOURS; i++) {
		if (isnan(h->anomaly[i]))
			continue;
		sums[week_hour_of(h, i)] += h->anomaly[i];
		counts[week_hour_of(h, i)]++;
	}
	for (int hour = 0; hour < WEEK; hour++) {
		double sum = 0;
		int count = WEEKS_DOUBT * (2 * NEAR + 1);

		for (int k = hour + WEEK - NEAR; k <= hour + WEEK + NEAR; k++) {
			sum += sums[k % WEEK];
			count += counts[k % WEEK];
		}
		h->weekday[hour] = sum / count;
	}
}

/* Returns the last known hour at or before i, at most LOOK_BACK back; -1 = none. */
static int
known_before(const struct lt_history *h, int i)
{
	for (int k = i; k >= 0 && k > i - LOOK_BACK; k--)
		if (!isnan(h->anomaly[k]))
			return k;
	return -1;
}

bool
lt_history_features(const struct lt_history *h, int i, int lead, double features[LT_FEATURE_COUNT])
{
	assert(i >= 0 && i < LT_HISTORY_HOURS && lead >= 1);

	const int last = known_before(h, i);
	if (last < 0)
		return false;
	const int before = known_before(h, last - 1);
	int same = i + lead - DAY * ((lead + DAY - 1) / DAY);

	if (same >= DAY && isnan(h->anomaly[same]))
		same -= DAY;
	features[LT_FEATURE_LAST] = h->anomaly[last];
	features[LT_FEATURE_CHANGE] = before < 0 ? 0 : h->anomaly[last] - h->anomaly[before];
	features[LT_FEATURE_SHAPE] =
	    h->mean_day[lt_history_hour(h, i)] - h->mean_day[lt_history_hour(h, i + lead)];
	features[LT_FEATURE_YESTERDAY] = same < 0 || isnan(h->anomaly[same]) ? 0 : h->anomaly[same];
	const double then = i >= DAY ? h->anomaly[i - DAY] : NAN;
	features[LT_FEATURE_DRIFT] =
	    isnan(then) || lead % DAY == 0 ? 0 : features[LT_FEATURE_YESTERDAY] - then;
	features[LT_FEATURE_STEADY] = lead <= STEADY_LEAD_MAX ? sqrt(h->variance) : 0;
	features[LT_FEATURE_LATELY] = h->lately[i];
	features[LT_FEATURE_WEEKDAY] = h->weekday[week_hour_of(h, i + lead)];
	return true;
}

bool
lt_history_fill(
    struct lt_history *h, const struct lt_rate_step *known, uint32_t count, int64_t seen_utc_s)
{
	h->first = seen_utc_s / LT_HOUR_S - LT_HISTORY_HOURS + 1;
	lt_hours_of(h->anomaly, h->first, LT_HISTORY_HOURS, known, count);
	if (!subtract_mean_day(h))
		return false;
	fill_lately(h);
	fill_weekday(h);
	return true;
}

/* ---- the forecast ---- */

enum {
	FIT_MIN = DAY, /* fewer samples correct nothing */
	FIT_HOURS = 3, /* of the day, before and after now's: samples */
	FIT_PASSES = 2,
	MIX_LEAD_MAX = 6, /* hours */
	AHEAD = LT_FORECAST_HOURS + DAY,
};

/* Least absolute errors over 1,200 days of six grids; between these leads
 * the weights are interpolated. tests/tools/fit_forecast.c makes them. */
enum { KNOTS = 10 };
static const int leads[KNOTS] = {1, 2, 3, 6, 12, 24, 36, 48, 96, 192};
static const double learned[KNOTS][LT_FEATURE_COUNT] = {
    {0.997, -0.008, 0.248, 0.015, 0, 0, 0.010, -0.042},
    {0.964, -0.049, 0.110, 0.026, 0, 0, 0.016, -0.034},
    {0.908, -0.074, 0.054, 0.067, 0, 0, 0.025, 0.007},
    {0.728, -0.032, 0.025, 0.175, 0, 0, 0.060, 0.111},
    {0.445, -0.102, 0, 0.329, 0, 0, 0.150, 0.356},
    {0.539, -0.126, 0, 0.114, 0, 0, 0.247, 0.410},
    {0.255, -0.083, 0, 0.203, 0, 0, 0.344, 0.601},
    {0.246, -0.044, 0, 0.162, 0, 0, 0.335, 0.625},
    {0.149, -0.005, 0, 0.178, 0, 0, 0.182, 0.888},
    {0.136, -0.037, 0, 0.141, 0, 0, 0.006, 0.342},
};
/* Weight of the table against own history: lead^1.5 times this, in hours of the usual anomaly. */
static const double trust = 0.3;
/* A residual less than this, in usual anomalies, weighs no more. */
static const double residual_min = 0.1;

static double
inner_product(const double *a, const double *b, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Gauss; a is symmetric and positive definite. The result is in b. */
static void
solve_weights(double a[LT_FEATURE_FITTED][LT_FEATURE_FITTED], double b[LT_FEATURE_FITTED])
{
	for (int i = 0; i < LT_FEATURE_FITTED; i++)
		for (int row = i + 1; row < LT_FEATURE_FITTED; row++) {
			const double factor = a[row][i] / a[i][i];

			for (int k = i; k < LT_FEATURE_FITTED; k++)
				a[row][k] -= factor * a[i][k];
			b[row] -= factor * b[i];
		}
	for (int i = LT_FEATURE_FITTED - 1; i >= 0; i--) {
		for (int k = i + 1; k < LT_FEATURE_FITTED; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
}

/* Returns the weight of hour i as a sample for now: the nearer by the clock, the more. The night is
 * not like the morning. */
static double
nearness_of(const struct lt_history *h, int i)
{
	const int apart = abs(lt_history_hour(h, i) - lt_history_hour(h, LT_HISTORY_HOURS - 1));
	const int hours = apart > DAY / 2 ? DAY - apart : apart;

	return hours > FIT_HOURS ? 0 : exp(-0.5 * hours * hours);
}

struct sample { /* what was to be seen at an hour, and what came */
	double near;
	double features[LT_FEATURE_COUNT];
	double seen;
};

/* Takes a sample at hour i. False = none. */
static bool
sample_at(struct sample *sample, const struct lt_history *h, int i, int lead)
{
	sample->near = nearness_of(h, i);
	sample->seen = h->anomaly[i + lead];
	return sample->near > 0 && !isnan(sample->seen) &&
	       lt_history_features(h, i, lead, sample->features);
}

/* Mixes the weights that own history starts from: the table, and "the last value stays", the more
 * of each, the better it did at these hours. */
static void
mix_start(const struct lt_history *h, int lead, double start[LT_FEATURE_COUNT])
{
	static const double last[LT_FEATURE_COUNT] = {
	    [LT_FEATURE_LAST] = 1, [LT_FEATURE_SHAPE] = 1};
	double off_start = 0, off_last = 0;
	struct sample sample;
	int count = 0;

	for (int i = 0; i + lead < LT_HISTORY_HOURS; i++) {
		if (!sample_at(&sample, h, i, lead))
			continue;
		off_start += sample.near * fabs(sample.seen - inner_product(start, sample.features,
								  LT_FEATURE_COUNT));
		off_last += sample.near * fabs(sample.seen - inner_product(last, sample.features,
								 LT_FEATURE_COUNT));
		count++;
	}
	if (count < FIT_MIN || off_start <= 0)
		return;
	const double part = 1 / (1 + pow(off_last / off_start, 4));
	for (int k = 0; k < LT_FEATURE_COUNT; k++)
		start[k] += part * (last[k] - start[k]);
}

/*
 * One pass of ridge regression, towards the weights it starts from: sets `fitted`. A sample that
 * `fitted` was far from weighs less, so that absolute errors are what becomes least.
 */
static void
correct_weights(const struct lt_history *h, int lead, const double start[LT_FEATURE_COUNT],
    double fitted[LT_FEATURE_COUNT])
{
	const double least = residual_min * sqrt(h->variance);
	double a[LT_FEATURE_FITTED][LT_FEATURE_FITTED] = {{0}}, b[LT_FEATURE_FITTED] = {0};
	double sum = 0;
	struct sample sample;
	int count = 0;

	for (int i = 0; i + lead < LT_HISTORY_HOURS; i++) {
		if (!sample_at(&sample, h, i, lead))
			continue;
		const double left =
		    sample.seen - inner_product(start, sample.features, LT_FEATURE_COUNT);
		const double far =
		    fabs(sample.seen - inner_product(fitted, sample.features, LT_FEATURE_COUNT));
		const double weight = sample.near / fmax(far, least);
		for (int k = 0; k < LT_FEATURE_FITTED; k++) {
			for (int m = 0; m < LT_FEATURE_FITTED; m++)
				a[k][m] += weight * sample.features[k] * sample.features[m];
			b[k] += weight * sample.features[k] * left;
		}
		sum += weight;
		count++;
	}
	if (count < FIT_MIN)
		return;
	for (int k = 0; k < LT_FEATURE_FITTED; k++)
		a[k][k] += trust * pow(lead, 1.5) * h->variance * sum / count;
	solve_weights(a, b);
	for (int k = 0; k < LT_FEATURE_FITTED; k++)
		fitted[k] = start[k] + b[k];
}

static void
fit_weights(const struct lt_history *h, int lead, double weights[LT_FEATURE_COUNT])
{
	double start[LT_FEATURE_COUNT];

	if (lead <= MIX_LEAD_MAX)
		mix_start(h, lead, weights);
	memcpy(start, weights, sizeof(start));
	for (int pass = 0; pass < FIT_PASSES; pass++)
		correct_weights(h, lead, start, weights);
}

/* False when history is not enough to know the mean day. */
static bool
learn_weights(struct lt_history *h, double weights[KNOTS][LT_FEATURE_COUNT],
    const struct lt_rate_step *known, uint32_t count, int64_t seen_utc_s)
{
	if (!lt_history_fill(h, known, count, seen_utc_s))
		return false;
	memcpy(weights, learned, sizeof(learned));
	/* The same every day: the mean day is all there is to know. */
	if (h->variance <= 0)
		memset(weights, 0, sizeof(learned));
	else
		for (int k = 0; k < KNOTS; k++)
			fit_weights(h, leads[k], weights[k]);
	return true;
}

static double
forecast_at(const struct lt_history *h, double weights[KNOTS][LT_FEATURE_COUNT], int lead)
{
	double features[LT_FEATURE_COUNT], mixed[LT_FEATURE_COUNT];
	const double mean = h->mean_day[lt_history_hour(h, LT_HISTORY_HOURS - 1 + lead)];
	int k = 0;

	if (!lt_history_features(h, LT_HISTORY_HOURS - 1, lead, features))
		return mean;
	while (k + 2 < KNOTS && leads[k + 1] <= lead)
		k++;
	const double part = fmin(1, (double)(lead - leads[k]) / (double)(leads[k + 1] - leads[k]));
	for (int i = 0; i < LT_FEATURE_COUNT; i++)
		mixed[i] = (1 - part) * weights[k][i] + part * weights[k + 1][i];
	return mean + inner_product(mixed, features, LT_FEATURE_COUNT);
}

/* Inputs of a forecast at one time. */
struct guess {
	struct lt_history history;
	double weights[KNOTS][LT_FEATURE_COUNT];
	/* The same hours, and the weather of those to come. */
	double values[LT_HISTORY_HOURS];
	double weather[LT_AHEAD_COUNT][LT_HISTORY_HOURS + AHEAD];
	struct lt_hours hours;
	struct lt_view view;
	const struct lt_forecast_fit *fit; /* NULL = none */
};

static bool
guess_learn(struct guess *guess, const struct lt_known *known, uint32_t count)
{
	const int64_t seen = lt_known_seen_utc_s(known);
	struct lt_hours *const hours = &guess->hours;

	guess->fit = NULL;
	if (!learn_weights(&guess->history, guess->weights, known->steps, count, seen))
		return false;
	if (known->fit == NULL)
		return true;
	*hours = (struct lt_hours){.first = guess->history.first,
	    .count = LT_HISTORY_HOURS + AHEAD,
	    .values = guess->values};
	lt_hours_of(guess->values, hours->first, LT_HISTORY_HOURS, known->steps, count);
	for (int i = 0; i < LT_AHEAD_COUNT; i++)
		if (known->weather[i].count > 0)
			hours->weather[i] = guess->weather[i];
	lt_hours_ahead(hours, known);
	if (lt_view_open(&guess->view, hours, LT_HISTORY_HOURS - 1))
		guess->fit = known->fit;
	return true;
}

static double
guess_at(struct guess *guess, int lead)
{
	const double own = forecast_at(&guess->history, guess->weights, lead);
	struct lt_fitted fitted;

	if (guess->fit == NULL || !lt_forecast_fit_at(guess->fit, &guess->view, lead, &fitted))
		return own;
	return own + fitted.trust * (fitted.value - own);
}

uint32_t
lt_forecast(struct lt_rate_step *out, uint32_t room, const struct lt_known *known)
{
	assert(known->steps != NULL || known->count == 0);

	const int64_t now_utc_s = known->now_utc_s;
	struct guess guess;

	if (known->count == 0 || room == 0)
		return 0;
	const struct lt_rate_step *const last = &known->steps[known->count - 1];
	int64_t at = last->end_utc_s;
	const int64_t end =
	    now_utc_s / LT_HOUR_S * LT_HOUR_S + (int64_t)LT_FORECAST_HOURS * LT_HOUR_S;
	if (at >= end)
		return 0;
	const uint32_t count = lt_known_until_now(known);
	if (!known->seasonal || count == 0 ||
	    now_utc_s - known->steps[0].start_utc_s < LT_FORECAST_HISTORY_S ||
	    !guess_learn(&guess, known, count)) {
		out[0] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = end,
		    .value = last->value,
		    .quality = LT_QUALITY_LAST_VALUE};
		memcpy(out[0].source, last->source, sizeof(out[0].source));
		return 1;
	}
	const int64_t seen = lt_known_seen_utc_s(known);
	uint32_t used = 0;
	while (at < end && used < room) {
		const int64_t stop = (at / LT_HOUR_S + 1) * LT_HOUR_S;
		const int lead = (int)(at / LT_HOUR_S - seen / LT_HOUR_S);
		/* The rest of an hour that is known in part. */
		const double value =
		    lead < 1 ? known->steps[count - 1].value : guess_at(&guess, lead);

		out[used] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = stop,
		    .value = fmax(value, known->floor),
		    .quality = LT_QUALITY_CLIMATOLOGY};
		memcpy(out[used].source, last->source, sizeof(out[used].source));
		used++;
		at = stop;
	}
	return used;
}
