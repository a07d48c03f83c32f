/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes signs from hours; docs/model.md, eq. (31). Missing hours are left out of means; a
 * missing sign is 0, as usual. Pure; nothing fails.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "forecast_view.h"
#include "units.h"
#include "min_max.h"

enum {
	DAY = 24,
	WEEK = 7 * DAY,
	WINDOW = LT_FORECAST_MEAN_DAYS * DAY,
	THURSDAY = 3, /* 1970-01-01, from Monday */
	NOW_HOURS = 3,
	SQUARES = LT_AHEAD_COUNT /* their places among the weather's means */
};
static const double mild = 15; /* degrees: neither heated nor cooled */

uint32_t
lt_known_until_now(const struct lt_known *known)
{
	uint32_t count = 0;

	while (count < known->count && known->steps[count].start_utc_s <= known->now_utc_s)
		count++;
	return count;
}

int64_t
lt_known_seen_utc_s(const struct lt_known *known)
{
	const uint32_t count = lt_known_until_now(known);
	const int64_t end = count > 0 ? known->steps[count - 1].end_utc_s : known->now_utc_s;

	return known->now_utc_s < end ? known->now_utc_s : end - 1;
}

void
lt_hours_of(
    double *means, int64_t first, int count, const struct lt_rate_step *steps, uint32_t step_count)
{
	const int64_t from = first * LT_HOUR_S, to = from + (int64_t)count * LT_HOUR_S;
	int64_t open = -1; /* the hour that is being summed */
	double sum = 0, seconds = 0;

	for (int i = 0; i < count; i++)
		means[i] = NAN;
	for (uint32_t i = 0; i < step_count; i++) {
		int64_t at = lt_max_i64(steps[i].start_utc_s, from);
		const int64_t end = lt_min_i64(steps[i].end_utc_s, to);

		while (at < end) {
			const int64_t hour = at / LT_HOUR_S - first;
			const int64_t next = (hour + first + 1) * LT_HOUR_S;
			const int64_t stop = lt_min_i64(next, end);

			if (hour != open)
				sum = seconds = 0;
			open = hour;
			sum += steps[i].value * (double)(stop - at);
			seconds += (double)(stop - at);
			means[hour] = sum / seconds;
			at = stop;
		}
	}
}

static int
clock_of(const struct lt_hours *hours, int i)
{
	return (int)((hours->first + i) % DAY);
}

/* The mean day of a series over the hours up to `at`; false = an hour of the day is in none of
 * them. */
static bool
mean_day_of(
    const struct lt_hours *hours, const double *values, int at, int length, double means[DAY])
{
	const int from = at + 1 > length ? at + 1 - length : 0;
	int counts[DAY] = {0};

	memset(means, 0, DAY * sizeof(*means));
	for (int i = from; i <= at; i++) {
		if (isnan(values[i]))
			continue;
		means[clock_of(hours, i)] += values[i];
		counts[clock_of(hours, i)]++;
	}
	for (int i = 0; i < DAY; i++) {
		if (counts[i] == 0)
			return false;
		means[i] /= counts[i];
	}
	return true;
}

/* Returns the mean deviation of a series from a mean day over the last
 * hours. */
static double
off_lately(
    const struct lt_hours *hours, const double *values, const double means[DAY], int at, int length)
{
	double sum = 0;
	int count = 0;

	for (int i = at; i >= 0 && i > at - length; i--)
		if (!isnan(values[i])) {
			sum += values[i] - means[clock_of(hours, i)];
			count++;
		}
	return count > 0 ? sum / count : 0;
}

static double
square_of(double value)
{
	return value * value;
}

/* Means of squares: by hour, as all others. */
static void
square_day(struct lt_view *view, const double *values, double from, double *out)
{
	const int first = view->at + 1 > WINDOW ? view->at + 1 - WINDOW : 0;
	int counts[DAY] = {0};

	memset(out, 0, DAY * sizeof(*out));
	for (int i = first; i <= view->at; i++) {
		if (isnan(values[i]))
			continue;
		out[clock_of(view->hours, i)] += square_of(values[i] - from);
		counts[clock_of(view->hours, i)]++;
	}
	for (int i = 0; i < DAY; i++)
		out[i] /= counts[i] > 0 ? counts[i] : 1;
}

void
lt_hours_ahead(struct lt_hours *hours, const struct lt_known *known)
{
	double *const wind = hours->weather[LT_OPERATOR_WIND],
		      *const sun = hours->weather[LT_OPERATOR_SUN],
		      *const load = hours->weather[LT_OPERATOR_LOAD];

	for (int i = 0; i < LT_AHEAD_COUNT; i++)
		if (hours->weather[i] != NULL)
			lt_hours_of(hours->weather[i], hours->first, hours->count,
			    known->weather[i].steps, known->weather[i].count);
	if (wind == NULL || sun == NULL || load == NULL)
		return;
	for (int i = 0; i < hours->count; i++) {
		wind[i] = load[i] > 0 ? wind[i] / load[i] : NAN;
		sun[i] = load[i] > 0 ? sun[i] / load[i] : NAN;
		load[i] = load[i] > 0 ? log(load[i]) : NAN;
	}
}

/* Deviations of three series from `first` on. */
static bool
open_ahead(struct lt_view *view, int first)
{
	const struct lt_hours *const hours = view->hours;

	for (int i = first; i < first + 3; i++) {
		const double *const values = hours->weather[i];

		if (values == NULL ||
		    !mean_day_of(hours, values, view->at, WINDOW, view->weather_day[i]))
			return false;
		view->day_weather[i] =
		    off_lately(hours, values, view->weather_day[i], view->at, DAY);
		view->now_weather[i] =
		    off_lately(hours, values, view->weather_day[i], view->at, NOW_HOURS);
	}
	return true;
}

static bool
open_weather(struct lt_view *view)
{
	const struct lt_hours *const hours = view->hours;

	if (!open_ahead(view, LT_WEATHER_WIND))
		return false;
	square_day(view, hours->weather[LT_WEATHER_WIND], 0, view->weather_day[SQUARES]);
	square_day(view, hours->weather[LT_WEATHER_WARMTH], mild, view->weather_day[SQUARES + 1]);
	return true;
}

bool
lt_view_open(struct lt_view *view, const struct lt_hours *hours, int at)
{
	assert(at >= 0 && at < hours->count);

	double newer[DAY];

	view->hours = hours;
	view->at = at;
	if (isnan(hours->values[at]) ||
	    !mean_day_of(hours, hours->values, at, WINDOW, view->mean_day))
		return false;
	const bool has_newer = mean_day_of(hours, hours->values, at, WEEK, newer);
	for (int i = 0; i < DAY; i++)
		view->newer[i] = has_newer ? newer[i] - view->mean_day[i] : 0;
	view->day = off_lately(hours, hours->values, view->mean_day, at, DAY);
	view->lately = off_lately(hours, hours->values, view->mean_day, at, WEEK);
	view->has[LT_FIT_WITHOUT] = true;
	view->has[LT_FIT_WITH] = open_weather(view);
	view->has[LT_FIT_OPERATOR] = open_ahead(view, LT_OPERATOR_WIND);
	return true;
}

double
lt_view_mean(const struct lt_view *view, int lead)
{
	return view->mean_day[clock_of(view->hours, view->at + lead)];
}

/* Returns the deviation of hour i from the mean day; 0 = not known. */
static double
mean_deviation(const struct lt_view *view, int i)
{
	return i < 0 || isnan(view->hours->values[i])
		   ? 0
		   : view->hours->values[i] - view->mean_day[clock_of(view->hours, i)];
}

static double
weather_at(const struct lt_view *view, int kind, int i)
{
	return i < view->hours->count ? view->hours->weather[kind][i] : NAN;
}

static bool
weather_signs(const struct lt_view *view, int i, double *signs)
{
	if (!view->has[LT_FIT_WITH])
		return false;
	const int clock = clock_of(view->hours, i);
	const double wind = weather_at(view, LT_WEATHER_WIND, i);
	const double sun = weather_at(view, LT_WEATHER_SUN, i);
	const double warmth = weather_at(view, LT_WEATHER_WARMTH, i);
	const double next = weather_at(view, LT_WEATHER_WIND, i + 1);

	if (isnan(wind) || isnan(sun) || isnan(warmth))
		return false;
	signs[LT_SIGN_WIND] = wind - view->weather_day[LT_WEATHER_WIND][clock];
	signs[LT_SIGN_WIND_SQUARE] = square_of(wind) - view->weather_day[SQUARES][clock];
	signs[LT_SIGN_WIND_NEXT] =
	    (isnan(next) ? wind : next) -
	    view->weather_day[LT_WEATHER_WIND][isnan(next) ? clock : (clock + 1) % DAY];
	signs[LT_SIGN_SUN] = sun - view->weather_day[LT_WEATHER_SUN][clock];
	signs[LT_SIGN_WARMTH] = warmth - view->weather_day[LT_WEATHER_WARMTH][clock];
	signs[LT_SIGN_HEATING] = square_of(warmth - mild) - view->weather_day[SQUARES + 1][clock];
	for (int kind = 0; kind < LT_WEATHER_COUNT; kind++) {
		signs[LT_SIGN_DAY_WEATHER + kind] = view->day_weather[kind];
		signs[LT_SIGN_NOW_WEATHER + kind] = view->now_weather[kind];
	}
	return true;
}

static bool
operator_signs(const struct lt_view *view, int i, double *signs)
{
	if (!view->has[LT_FIT_OPERATOR])
		return false;
	for (int k = 0; k < 3; k++) {
		const int kind = LT_OPERATOR_WIND + k;

		signs[LT_SIGN_OPERATOR + k] =
		    weather_at(view, kind, i) - view->weather_day[kind][clock_of(view->hours, i)];
		if (isnan(signs[LT_SIGN_OPERATOR + k]))
			return false;
		signs[LT_SIGN_DAY_OPERATOR + k] = view->day_weather[kind];
		signs[LT_SIGN_NOW_OPERATOR + k] = view->now_weather[kind];
	}
	return true;
}

void
lt_view_signs(
    const struct lt_view *view, int lead, double signs[LT_SIGN_COUNT], bool known[LT_FIT_KINDS])
{
	assert(lead >= 1);

	const int at = view->at, then = at + lead;
	const int day = (int)(((view->hours->first + then) / DAY + THURSDAY) % (WEEK / DAY));
	const double mean = lt_view_mean(view, lead);

	memset(&signs[LT_SIGN_WEATHER], 0, (LT_SIGN_COUNT - LT_SIGN_WEATHER) * sizeof(*signs));
	signs[LT_SIGN_LAST] = mean_deviation(view, at);
	signs[LT_SIGN_CHANGE] = at < 1 || isnan(view->hours->values[at - 1])
				    ? 0
				    : signs[LT_SIGN_LAST] - mean_deviation(view, at - 1);
	signs[LT_SIGN_SAME] = mean_deviation(view, then - DAY * ((lead + DAY - 1) / DAY));
	signs[LT_SIGN_WEEK] = mean_deviation(view, then - WEEK * ((lead + WEEK - 1) / WEEK));
	signs[LT_SIGN_DAY] = view->day;
	signs[LT_SIGN_LATELY] = view->lately;
	signs[LT_SIGN_SHAPE] = view->mean_day[clock_of(view->hours, at)] - mean;
	signs[LT_SIGN_MEAN] = mean;
	signs[LT_SIGN_NEWER] = view->newer[clock_of(view->hours, then)];
	for (int i = 0; i < WEEK / DAY; i++)
		signs[LT_SIGN_MONDAY + i] = i == day ? 1 : 0;
	known[LT_FIT_WITHOUT] = true;
	known[LT_FIT_WITH] = weather_signs(view, then, signs);
	known[LT_FIT_OPERATOR] = operator_signs(view, then, signs);
}
