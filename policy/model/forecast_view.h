/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the signs at one hour of the hours after it, for the weights that are fitted to a long
 * history (forecast_fit.c): the mean day, the latest values, the week, and the weather that is
 * forecast. Pure.
 */
#ifndef LT_FORECAST_VIEW_H
#define LT_FORECAST_VIEW_H

#include "forecast.h"

enum {
	/* Signs of the value alone; all in its unit, but the days. */
	LT_SIGN_LAST,	/* how far the last hour is off the mean day */
	LT_SIGN_CHANGE, /* and that less the hour before */
	LT_SIGN_SAME,	/* how far off that hour was when last seen */
	LT_SIGN_WEEK,	/* and a week ago */
	LT_SIGN_DAY,	/* and all of the last day */
	LT_SIGN_LATELY, /* and of the last week */
	LT_SIGN_SHAPE,	/* the mean day now less the mean day then */
	LT_SIGN_MEAN,	/* the mean day then */
	LT_SIGN_NEWER,	/* and what the last week's mean day is off it */
	LT_SIGN_MONDAY, /* 1 on that day of the week, UTC; seven of them */
	LT_SIGN_WEATHER = LT_SIGN_MONDAY + 7,
	/* Then of the weather, each less its own mean of that hour. */
	LT_SIGN_WIND = LT_SIGN_WEATHER, /* at that hour */
	LT_SIGN_WIND_SQUARE,
	LT_SIGN_WIND_NEXT, /* an hour later: fronts come early or late */
	LT_SIGN_SUN,
	LT_SIGN_WARMTH,
	LT_SIGN_HEATING, /* squares of what is off 15 degrees */
	/* And what of it the last values have felt: a day, three hours. */
	LT_SIGN_DAY_WEATHER,
	LT_SIGN_NOW_WEATHER = LT_SIGN_DAY_WEATHER + LT_WEATHER_COUNT,
	/* Signs of what the operator expects: wind and sun as parts of the load, and its logarithm;
	 * at that hour, and in the last hours. */
	LT_SIGN_OPERATOR = LT_SIGN_NOW_WEATHER + LT_WEATHER_COUNT,
	LT_SIGN_DAY_OPERATOR = LT_SIGN_OPERATOR + 3,
	LT_SIGN_NOW_OPERATOR = LT_SIGN_DAY_OPERATOR + 3,
	LT_SIGN_COUNT = LT_SIGN_NOW_OPERATOR + 3
};

/* Kinds of fits by what they learned from; each has the signs of those before it. */
enum {
	LT_FIT_WITHOUT, /* weather and operator */
	LT_FIT_WITH,	/* weather */
	LT_FIT_OPERATOR,
	LT_FIT_KINDS
};

/* Hours in a row, NAN = not known; the arrays are the caller's. */
struct lt_hours {
	int64_t first; /* since 1970 */
	int count;
	double *values;
	double *weather[LT_AHEAD_COUNT]; /* NULL = none */
};

struct lt_view {
	const struct lt_hours *hours;
	int at; /* the last hour that is seen */
	bool has[LT_FIT_KINDS];
	double mean_day[24], newer[24];
	double day, lately;
	/* and the squares of wind and warmth */
	double weather_day[LT_AHEAD_COUNT + 2][24];
	double day_weather[LT_AHEAD_COUNT], now_weather[LT_AHEAD_COUNT];
};

/* Counts its steps that began by now. */
uint32_t lt_known_until_now(const struct lt_known *known);
/* The last second that is known, at most now; some step has begun. */
int64_t lt_known_seen_utc_s(const struct lt_known *known);

/* Computes time-weighted means of `count` whole hours from `first` on, of steps in order; NAN where
 * there is none. */
void lt_hours_of(
    double *means, int64_t first, int count, const struct lt_rate_step *steps, uint32_t step_count);

/* Those of hours->weather that are not NULL. */
void lt_hours_ahead(struct lt_hours *hours, const struct lt_known *known);

/* False when the hour `at` is not known, or an hour of the day in none of the 28 days up to it. */
bool lt_view_open(struct lt_view *view, const struct lt_hours *hours, int at);
/* Computes the signs of the hour `lead` later (1 ...), and returns which kinds of fits they are
 * enough for; unknown signs are 0. */
void lt_view_signs(
    const struct lt_view *view, int lead, double signs[LT_SIGN_COUNT], bool known[LT_FIT_KINDS]);
/* The mean day then: what the weighed signs are added to. */
double lt_view_mean(const struct lt_view *view, int lead);

#endif
