/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From steps of any length, with holes, to hours off the mean day, and from
 * those to the features that forecast.c weighs; docs/model.md, eq. (31).
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "forecast_features.h"
#include "forecast_view.h"
#include "units.h"

enum {
	DAY = LT_DAY_HOURS,
	WEEK = LT_WEEK_HOURS,
	LOOK_BACK = 6, /* hours: how old the last or last but one may be */
	NEAR = 2,      /* hours beside one that tell of its weekday, too */
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

/* The mean day, taken off. True when every hour of the day was seen. */
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

/* The last known hour at or before i, at most LOOK_BACK back; -1 = none. */
static int
known_before(const struct lt_history *h, int i)
{
	for (int k = i; k >= 0 && k > i - LOOK_BACK; k--)
		if (!isnan(h->anomaly[k]))
			return k;
	return -1;
}

bool
lt_history_features(const struct lt_history *h, int i, int lead,
    double features[LT_FEATURE_COUNT])
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
	features[LT_FEATURE_CHANGE] =
	    before < 0 ? 0 : h->anomaly[last] - h->anomaly[before];
	features[LT_FEATURE_SHAPE] = h->mean_day[lt_history_hour(h, i)] -
				     h->mean_day[lt_history_hour(h, i + lead)];
	features[LT_FEATURE_YESTERDAY] =
	    same < 0 || isnan(h->anomaly[same]) ? 0 : h->anomaly[same];
	const double then = i >= DAY ? h->anomaly[i - DAY] : NAN;
	features[LT_FEATURE_DRIFT] =
	    isnan(then) || lead % DAY == 0
		? 0
		: features[LT_FEATURE_YESTERDAY] - then;
	features[LT_FEATURE_STEADY] =
	    lead <= STEADY_LEAD_MAX ? sqrt(h->variance) : 0;
	features[LT_FEATURE_LATELY] = h->lately[i];
	features[LT_FEATURE_WEEKDAY] = h->weekday[week_hour_of(h, i + lead)];
	return true;
}

bool
lt_history_fill(struct lt_history *h, const struct lt_rate_step *known,
    uint32_t count, int64_t seen_utc_s)
{
	h->first = seen_utc_s / LT_HOUR_S - LT_HISTORY_HOURS + 1;
	lt_hours_of(h->anomaly, h->first, LT_HISTORY_HOURS, known, count);
	if (!subtract_mean_day(h))
		return false;
	fill_lately(h);
	fill_weekday(h);
	return true;
}
