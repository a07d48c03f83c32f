/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own forecast: the mean day, and what of the present anomaly stays at
 * each lead time. Weights of its signs, learned from six grids and corrected
 * by the source's own last weeks; docs/model.md, eq. (31).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forecast.h"
#include "units.h"

enum {
	DAY = 24, /* all in hours */
	WEEK = 7 * DAY,
	WINDOW = LT_FORECAST_MEAN_DAYS * DAY,
	LOOK_BACK = 6, /* how old the last or last but one value may be */
	NEAR = 2,      /* hours beside one that tell of its weekday, too */
	FIT_MIN = DAY, /* fewer samples correct nothing */
	FIT_HOURS = 3, /* of the day, before and after now's: samples */
	FIT_PASSES = 2,
	STEADY_LEAD_MAX = 6,
	WEEKS_DOUBT = 4 /* weeks of no anomaly, against chance */
};

/* What may tell how far an hour to come will be off the mean day. */
enum {
	LAST,	   /* how far the last hour was */
	CHANGE,	   /* and that less the hour before */
	SHAPE,	   /* the mean day now less the mean day then */
	YESTERDAY, /* how far off was the same hour, the last time seen */
	DRIFT,	   /* that less how far off this hour was a day ago */
	STEADY,	   /* always the same: the usual anomaly; short leads only */
	LATELY,	   /* and the seven days before now, on average */
	WEEKDAY,   /* and the same hour of the week, within the window */
	SIGNS,
	FITTED = LATELY, /* signs before it: corrected by own history */
};

/* Least absolute errors over 1,200 days of six grids; between these leads
 * the weights are interpolated. tests/tools/fit_forecast.c makes them. */
enum { KNOTS = 9 };
static const int leads[KNOTS] = {1, 2, 3, 6, 12, 24, 48, 96, 192};
static const double learned[KNOTS][SIGNS] = {
    {1.004, -0.027, 0.276, 0.005, 0, 0, 0.026, -0.020},
    {0.967, -0.056, 0.103, 0.031, 0, 0, 0.028, -0.029},
    {0.907, -0.069, 0.036, 0.063, 0, 0, 0.028, -0.015},
    {0.719, -0.086, 0.018, 0.166, 0, 0, 0.066, 0.106},
    {0.446, -0.099, 0, 0.326, 0, 0, 0.163, 0.364},
    {0.483, -0.107, 0, 0.147, 0, 0, 0.255, 0.497},
    {0.196, -0.047, 0, 0.183, 0, 0, 0.359, 0.598},
    {0.162, -0.042, 0, 0.169, 0, 0, 0.187, 0.880},
    {0.141, -0.002, 0, 0.148, 0, 0, -0.018, 0.345},
};
/* How much own history must say against the table: lead^1.5 times this, in
 * hours of the usual anomaly. */
static const double trust = 0.3;
/* A residual less than this, in usual anomalies, weighs no more. */
static const double residual_min = 0.1;

struct history {
	int64_t first;		/* hours since 1970; the last is + WINDOW - 1 */
	double anomaly[WINDOW]; /* NAN = not known */
	double lately[WINDOW];	/* mean of the week up to it */
	double mean_day[DAY], weekday[WEEK];
	double variance; /* of anomaly */
};

static int
hour_of(const struct history *h, int i)
{
	return (int)((h->first + i) % DAY);
}

static int
week_hour_of(const struct history *h, int i)
{
	return (int)((h->first + i) % WEEK);
}

/* Time-weighted means of each hour of the window, into anomaly. */
static void
fill_hours(struct history *h, const struct lt_rate_step *known, uint32_t count)
{
	double seconds[WINDOW] = {0};
	const int64_t from = h->first * LT_HOUR_S,
		      to = from + (int64_t)WINDOW * LT_HOUR_S;

	memset(h->anomaly, 0, sizeof(h->anomaly));
	for (uint32_t i = 0; i < count; i++) {
		int64_t at =
		    known[i].start_utc_s > from ? known[i].start_utc_s : from;
		const int64_t end =
		    known[i].end_utc_s < to ? known[i].end_utc_s : to;
		while (at < end) {
			const int64_t hour = at / LT_HOUR_S;
			const int64_t stop = (hour + 1) * LT_HOUR_S < end
						 ? (hour + 1) * LT_HOUR_S
						 : end;
			h->anomaly[hour - h->first] +=
			    known[i].value * (double)(stop - at);
			seconds[hour - h->first] += (double)(stop - at);
			at = stop;
		}
	}
	for (int i = 0; i < WINDOW; i++)
		h->anomaly[i] =
		    seconds[i] > 0 ? h->anomaly[i] / seconds[i] : NAN;
}

/* The mean day, taken off. True when every hour of the day was seen. */
static bool
subtract_mean_day(struct history *h)
{
	double sums[DAY] = {0}, sum = 0;
	int counts[DAY] = {0}, count = 0;

	for (int i = 0; i < WINDOW; i++) {
		if (isnan(h->anomaly[i]))
			continue;
		sums[hour_of(h, i)] += h->anomaly[i];
		counts[hour_of(h, i)]++;
	}
	for (int hour = 0; hour < DAY; hour++) {
		if (counts[hour] == 0)
			return false;
		h->mean_day[hour] = sums[hour] / counts[hour];
	}
	for (int i = 0; i < WINDOW; i++) {
		if (isnan(h->anomaly[i]))
			continue;
		h->anomaly[i] -= h->mean_day[hour_of(h, i)];
		sum += h->anomaly[i] * h->anomaly[i];
		count++;
	}
	h->variance = sum / count;
	return true;
}

static void
fill_lately(struct history *h)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < WINDOW; i++) {
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
fill_weekday(struct history *h)
{
	double sums[WEEK] = {0};
	int counts[WEEK] = {0};

	for (int i = 0; i < WINDOW; i++) {
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

/* The last known hour at or before i, at most LOOK_BACK back; -1 = none. */
static int
known_before(const struct history *h, int i)
{
	for (int k = i; k >= 0 && k > i - LOOK_BACK; k--)
		if (!isnan(h->anomaly[k]))
			return k;
	return -1;
}

/* What was to be seen at hour i of the one `lead` later. */
static bool
signs_at(const struct history *h, int i, int lead, double signs[SIGNS])
{
	const int last = known_before(h, i);
	if (last < 0)
		return false;
	const int before = known_before(h, last - 1);
	int same = i + lead - DAY * ((lead + DAY - 1) / DAY);

	if (same >= DAY && isnan(h->anomaly[same]))
		same -= DAY;
	signs[LAST] = h->anomaly[last];
	signs[CHANGE] = before < 0 ? 0 : h->anomaly[last] - h->anomaly[before];
	signs[SHAPE] =
	    h->mean_day[hour_of(h, i)] - h->mean_day[hour_of(h, i + lead)];
	signs[YESTERDAY] =
	    same < 0 || isnan(h->anomaly[same]) ? 0 : h->anomaly[same];
	const double then = i >= DAY ? h->anomaly[i - DAY] : NAN;
	signs[DRIFT] =
	    isnan(then) || lead % DAY == 0 ? 0 : signs[YESTERDAY] - then;
	signs[STEADY] = lead <= STEADY_LEAD_MAX ? sqrt(h->variance) : 0;
	signs[LATELY] = h->lately[i];
	signs[WEEKDAY] = h->weekday[week_hour_of(h, i + lead)];
	return true;
}

static double
product(const double *a, const double *b, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Gauss; a is symmetric and positive definite. The result is in b. */
static void
solve(double a[FITTED][FITTED], double b[FITTED])
{
	for (int i = 0; i < FITTED; i++)
		for (int row = i + 1; row < FITTED; row++) {
			const double factor = a[row][i] / a[i][i];
			for (int k = i; k < FITTED; k++)
				a[row][k] -= factor * a[i][k];
			b[row] -= factor * b[i];
		}
	for (int i = FITTED - 1; i >= 0; i--) {
		for (int k = i + 1; k < FITTED; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
}

/* How much hour i tells of what follows now: the more, the nearer it is by
 * the clock. The night is not like the morning. */
static double
nearness(const struct history *h, int i)
{
	const int apart = abs(hour_of(h, i) - hour_of(h, WINDOW - 1));
	const int hours = apart > DAY / 2 ? DAY - apart : apart;

	return hours > FIT_HOURS ? 0 : exp(-0.5 * hours * hours);
}

/*
 * One pass of ridge regression, towards the table's weights: sets `fitted`. A
 * sample that `fitted` was far from weighs less, so that absolute errors are
 * what becomes least.
 */
static void
correct(const struct history *h, int lead, const double table[SIGNS],
    double fitted[SIGNS])
{
	const double least = residual_min * sqrt(h->variance);
	double a[FITTED][FITTED] = {{0}}, b[FITTED] = {0}, signs[SIGNS];
	double sum = 0;
	int count = 0;

	for (int i = 0; i + lead < WINDOW; i++) {
		const double seen = h->anomaly[i + lead], near = nearness(h, i);
		if (near <= 0 || isnan(seen) || !signs_at(h, i, lead, signs))
			continue;
		const double left = seen - product(table, signs, SIGNS);
		const double far = fabs(seen - product(fitted, signs, SIGNS));
		const double weight = near / fmax(far, least);
		for (int k = 0; k < FITTED; k++) {
			for (int m = 0; m < FITTED; m++)
				a[k][m] += weight * signs[k] * signs[m];
			b[k] += weight * signs[k] * left;
		}
		sum += weight;
		count++;
	}
	if (count < FIT_MIN)
		return;
	for (int k = 0; k < FITTED; k++)
		a[k][k] += trust * pow(lead, 1.5) * h->variance * sum / count;
	solve(a, b);
	for (int k = 0; k < FITTED; k++)
		fitted[k] = table[k] + b[k];
}

/* False when history is not enough to know the mean day. */
static bool
learn(struct history *h, double weights[KNOTS][SIGNS],
    const struct lt_rate_step *known, uint32_t count, int64_t seen_utc_s)
{
	h->first = seen_utc_s / LT_HOUR_S - WINDOW + 1;
	fill_hours(h, known, count);
	if (!subtract_mean_day(h))
		return false;
	fill_lately(h);
	fill_weekday(h);
	memcpy(weights, learned, sizeof(learned));
	/* The same every day: the mean day is all there is to know. */
	if (h->variance <= 0)
		memset(weights, 0, sizeof(learned));
	else
		for (int k = 0; k < KNOTS; k++)
			for (int pass = 0; pass < FIT_PASSES; pass++)
				correct(h, leads[k], learned[k], weights[k]);
	return true;
}

static double
forecast_at(const struct history *h, double weights[KNOTS][SIGNS], int lead)
{
	double signs[SIGNS], mixed[SIGNS];
	const double mean = h->mean_day[hour_of(h, WINDOW - 1 + lead)];
	int k = 0;

	if (!signs_at(h, WINDOW - 1, lead, signs))
		return mean;
	while (k + 2 < KNOTS && leads[k + 1] <= lead)
		k++;
	const double part = fmin(
	    1, (double)(lead - leads[k]) / (double)(leads[k + 1] - leads[k]));
	for (int i = 0; i < SIGNS; i++)
		mixed[i] =
		    (1 - part) * weights[k][i] + part * weights[k + 1][i];
	return mean + product(mixed, signs, SIGNS);
}

/* The last step that began at or before now; count - 1 >= result. */
static uint32_t
index_at(const struct lt_rate_step *known, uint32_t count, int64_t now_utc_s)
{
	uint32_t i = 0;
	while (i + 1 < count && known[i + 1].start_utc_s <= now_utc_s)
		i++;
	return i;
}

uint32_t
lt_forecast(struct lt_rate_step *out, uint32_t room,
    const struct lt_rate_step *known, uint32_t count, bool seasonal,
    double floor, int64_t now_utc_s)
{
	struct history history;
	double weights[KNOTS][SIGNS];

	if (count == 0 || room == 0)
		return 0;
	const struct lt_rate_step *const last = &known[count - 1];
	int64_t at = last->end_utc_s;
	const int64_t end = now_utc_s / LT_HOUR_S * LT_HOUR_S +
			    (int64_t)LT_FORECAST_HOURS * LT_HOUR_S;
	if (at >= end)
		return 0;
	const uint32_t index = index_at(known, count, now_utc_s);
	const struct lt_rate_step *const now = &known[index];
	const int64_t seen = now->start_utc_s > now_utc_s ? now->start_utc_s
			     : now_utc_s < now->end_utc_s ? now_utc_s
							  : now->end_utc_s - 1;
	if (!seasonal ||
	    now_utc_s - known[0].start_utc_s < LT_FORECAST_HISTORY_S ||
	    !learn(&history, weights, known, index + 1, seen)) {
		out[0] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = end,
		    .value = last->value,
		    .quality = LT_QUALITY_LAST_VALUE};
		memcpy(out[0].source, last->source, sizeof(out[0].source));
		return 1;
	}
	uint32_t used = 0;
	while (at < end && used < room) {
		const int64_t stop = (at / LT_HOUR_S + 1) * LT_HOUR_S;
		const int lead = (int)(at / LT_HOUR_S - seen / LT_HOUR_S);
		/* The rest of an hour that is known in part. */
		const double value = lead < 1
					 ? now->value
					 : forecast_at(&history, weights, lead);
		out[used] = (struct lt_rate_step){.start_utc_s = at,
		    .end_utc_s = stop,
		    .value = value > floor ? value : floor,
		    .quality = LT_QUALITY_CLIMATOLOGY};
		memcpy(
		    out[used].source, last->source, sizeof(out[used].source));
		used++;
		at = stop;
	}
	return used;
}
