/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own forecast where the provider's ends. Pure.
 */
#ifndef LT_FORECAST_H
#define LT_FORECAST_H

#include "rate.h"

enum {
	LT_FORECAST_HOURS = 8 * 24,	   /* how far we guess */
	LT_FORECAST_HISTORY_S = 7 * 86400, /* less: the last value stays */
	LT_FORECAST_MEAN_DAYS = 28,
};

/* Weather that moves a grid's intensity, as it was forecast: never as it was measured afterwards,
 * which is not known for the hours to come. */
enum {
	LT_WEATHER_WIND,   /* m/s */
	LT_WEATHER_SUN,	   /* W/m2, on the ground */
	LT_WEATHER_WARMTH, /* degrees Celsius */
	LT_WEATHER_COUNT,
	/* The operator's own forecast, published the day before; MW. */
	LT_OPERATOR_WIND = LT_WEATHER_COUNT,
	LT_OPERATOR_SUN,
	LT_OPERATOR_LOAD,
	LT_AHEAD_COUNT
};

struct lt_weather { /* in order; as long as the history, and ahead */
	const struct lt_rate_step *steps;
	uint32_t count; /* 0 = not known */
};

struct lt_forecast_fit;

/* Known values of a source: in order, at least its last weeks. */
struct lt_known {
	const struct lt_rate_step *steps;
	uint32_t count;
	bool seasonal; /* days are alike */
	double floor;  /* no forecast is below it */
	int64_t now_utc_s;
	struct lt_weather weather[LT_AHEAD_COUNT];
	const struct lt_forecast_fit *fit; /* forecast_fit.h; NULL = none */
};

/*
 * Steps from the end of what is known (hour steps, at most room) into out:
 * the mean of that UTC hour over 28 days, plus a weighted sum of what is off
 * it: the last value, its change, yesterday, the last week, that hour of the
 * week; weights by lead, counted in hours from the last value known at now.
 * With a fit of a long history (forecast_fit.h), and the weather of the hours
 * that it is known of, those count the more, the further ahead.
 * Holes, and steps of any length, are fine. Quality CLIMATOLOGY. Not
 * seasonal, or less than 7 days of history: one step of the last value,
 * LAST_VALUE. Returns how many were written. Takes some 0.3 ms and 60 KiB of
 * stack. Source: docs/model.md, eq. (31).
 */
uint32_t lt_forecast(struct lt_rate_step *out, uint32_t room, const struct lt_known *known);

/*
 * ---- features ----
 *
 * Features of a forecast: the last four weeks of a source by the hour, its mean day, and what can
 * be seen at an hour of the hours after it. Pure. Outside
 * forecast.c only the tool that fits its table uses them.
 */

enum {
	LT_DAY_HOURS = 24,
	LT_WEEK_HOURS = 7 * LT_DAY_HOURS,
	LT_HISTORY_HOURS = LT_FORECAST_MEAN_DAYS * LT_DAY_HOURS,
};

/* Features of the deviation of an hour to come from the mean day. */
enum {
	LT_FEATURE_LAST,      /* how far the last hour was */
	LT_FEATURE_CHANGE,    /* and that less the hour before */
	LT_FEATURE_SHAPE,     /* the mean day now less the mean day then */
	LT_FEATURE_YESTERDAY, /* how far off that hour was when last seen */
	LT_FEATURE_DRIFT,     /* that less how far off this hour was a day ago */
	LT_FEATURE_STEADY,    /* always the usual anomaly; to 6 h ahead only */
	LT_FEATURE_LATELY,    /* and the seven days before now, on average */
	LT_FEATURE_WEEKDAY,   /* and the same hour of the week, within the window
			       */
	LT_FEATURE_COUNT,
	LT_FEATURE_FITTED = LT_FEATURE_LATELY, /* those before: corrected by own
						* history */
};

struct lt_history {
	int64_t first;			  /* of its hours, since 1970 */
	double anomaly[LT_HISTORY_HOURS]; /* NAN = not known */
	double lately[LT_HISTORY_HOURS];  /* mean of the week up to it */
	double mean_day[LT_DAY_HOURS], weekday[LT_WEEK_HOURS];
	double variance; /* of anomaly */
};

/* Fills the window that ends with the hour of seen_utc_s. False when an hour of the day was never
 * seen in it. */
bool lt_history_fill(struct lt_history *history, const struct lt_rate_step *known, uint32_t count,
    int64_t seen_utc_s);
/* Returns the UTC hour of an index, also after the window's end. */
int lt_history_hour(const struct lt_history *history, int i);
/* Computes the features at hour i of the hour `lead` later; false = nothing was known at i. */
bool lt_history_features(
    const struct lt_history *history, int i, int lead, double features[LT_FEATURE_COUNT]);

#endif
