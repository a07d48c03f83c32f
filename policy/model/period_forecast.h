/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forecasts what a period will have cost at its end, with a range, from the costs of its days and
 * those before it. Pure.
 */
#ifndef LT_PERIOD_FORECAST_H
#define LT_PERIOD_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum { LT_PERIOD_FORECAST_DAYS = 56 }; /* complete ones that are looked at */

struct lt_day_amounts { /* what was used in a day of the site's zone */
	int64_t day;	/* since 1970-01-01, as lt_day_of_date() */
	int64_t money_micros, carbon_mg;
};

struct lt_period_days {
	int64_t first_day, last_day; /* of the period, the last one in it */
	int64_t today;		     /* in the period; not complete */
	uint32_t today_gone_ppm;     /* of its seconds, 0 to 1,000,000 */
	int64_t known_from;	     /* nothing is known of days before */
	/* Spent in the period and no day's use: adjustments, corrections. */
	int64_t booked_micros, booked_mg;
	const struct lt_day_amounts *days; /* rising; a day without a row cost
					    * nothing; those from today - 56
					    * and first_day on are wanted */
	uint32_t count;
};

struct lt_period_forecast {
	struct lt_forecast_range {
		bool known; /* false: no complete day is */
		/* 80 %; spent <= low <= expected <= high */
		int64_t low, expected, high;
	} money, carbon; /* micros, mg CO2e */
};

/*
 * Spent, and for each day to come the level of the last days times the part of its weekday, where
 * three weeks or more show one. Doubles inside, rounded once.
 *
 *   *out  written on success only
 *
 * LT_EINPUT when today is not in the period, or days do not rise;
 * LT_EOVERFLOW when a sum passes int64_t. docs/model.md, eq. (47).
 */
int lt_period_forecast(
    struct lt_period_forecast *out, const struct lt_period_days *of, struct lt_error *err);

#endif
