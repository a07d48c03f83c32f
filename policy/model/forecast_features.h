/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The features that a forecast is made from: the last four weeks of a source by
 * the hour, its mean day, and what can be seen at an hour of the hours after
 * it. Pure. For forecast.c and the tool that fits its table.
 */
#ifndef LT_FORECAST_FEATURES_H
#define LT_FORECAST_FEATURES_H

#include "forecast.h"

enum {
	LT_DAY_HOURS = 24,
	LT_WEEK_HOURS = 7 * LT_DAY_HOURS,
	LT_HISTORY_HOURS = LT_FORECAST_MEAN_DAYS * LT_DAY_HOURS,
};

/* What may tell how far an hour to come will be off the mean day. */
enum {
	LT_FEATURE_LAST,      /* how far the last hour was */
	LT_FEATURE_CHANGE,    /* and that less the hour before */
	LT_FEATURE_SHAPE,     /* the mean day now less the mean day then */
	LT_FEATURE_YESTERDAY, /* how far off that hour was when last seen */
	LT_FEATURE_DRIFT,   /* that less how far off this hour was a day ago */
	LT_FEATURE_STEADY,  /* always the usual anomaly; to 6 h ahead only */
	LT_FEATURE_LATELY,  /* and the seven days before now, on average */
	LT_FEATURE_WEEKDAY, /* and the same hour of the week, within the window
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

/* The window that ends with the hour of seen_utc_s. False when an hour of the
 * day was never seen in it. */
bool lt_history_fill(struct lt_history *history,
    const struct lt_rate_step *known, uint32_t count, int64_t seen_utc_s);
/* The UTC hour of an index, also after the window's end. */
int lt_history_hour(const struct lt_history *history, int i);
/* What was to be seen at hour i of the one `lead` later; false = nothing was
 * known at i. */
bool lt_history_features(const struct lt_history *history, int i, int lead,
    double features[LT_FEATURE_COUNT]);

#endif
