/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our own forecast where the provider's ends. Pure.
 */
#ifndef LT_FORECAST_H
#define LT_FORECAST_H

#include "rate.h"

enum {
	LT_FORECAST_HOURS = 8 * 24,	   /* how far we guess */
	LT_FORECAST_HISTORY_S = 7 * 86400, /* less: the last value goes on */
	LT_FORECAST_MEAN_DAYS = 28,
};

/* What is known of a source: in order, at least its last weeks. */
struct lt_known {
	const struct lt_rate_step *steps;
	uint32_t count;
	bool seasonal; /* days are alike */
	double floor;  /* no forecast is below it */
	int64_t now_utc_s;
};

/*
 * Steps from the end of what is known (hour steps, at most room) into out:
 * the mean of that UTC hour over 28 days, plus a weighted sum of what is off
 * it: the last value, its change, yesterday, the last week, that hour of the
 * week; weights by lead, counted in hours from the last value known at now.
 * Holes, and steps of any length, are fine. Quality CLIMATOLOGY. Not
 * seasonal, or less than 7 days of history: one step of the last value,
 * LAST_VALUE. Returns how many were
 * written. Takes some 0.2 ms. Source: docs/model.md, eq. (31).
 */
uint32_t lt_forecast(
    struct lt_rate_step *out, uint32_t room, const struct lt_known *known);

#endif
