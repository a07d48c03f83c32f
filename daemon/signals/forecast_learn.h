/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares and keeps what signals.db has of a source: what it revised, the weather that its
 * forecasts are made with, as it was forecast, and how far they were off.
 */
#ifndef LT_FORECAST_LEARN_H
#define LT_FORECAST_LEARN_H

#include "forecast.h"
#include "forecast_error.h"
#include "ledger.h"
#include "points.h"
#include "rate.h"

/* ---- revisions ---- */

/*
 * Counts the measured values of known (count steps in order) that points (sorted) have otherwise;
 * *most is the largest change, 0 without one. An estimate that becomes measured is not a revision.
 * Pure.
 */
uint32_t lt_revisions(
    const struct lt_rate_step *known, uint32_t count, const struct lt_points *points, double *most);

/* ---- weather ---- */

/* A source's key in the ledger, and those of its weather, in the order of forecast.h; NULL or "" =
 * none. */
struct lt_weather_keys {
	const char *source;
	const char *weather[LT_AHEAD_COUNT];
};

/* known->weather of [from, to); nothing where it has none. The caller frees it, also after an
 * error. */
int lt_weather_load(struct lt_known *known, struct lt_ledger *ledger,
    const struct lt_weather_keys *keys, const int64_t span_utc_s[2], struct lt_error *err);
void lt_weather_free(struct lt_known *known);

/* Drops the points of hours that have begun and are known: their forecast stays, whatever the
 * source says now. */
int lt_weather_keep_forecasts(struct lt_ledger *ledger, const char *key, struct lt_points *points,
    int64_t now_utc_s, struct lt_error *err);

/* ---- errors of forecasts ---- */

/*
 * Once an hour and source (later calls in the same hour do nothing): score what was forecast and is
 * measured now, keep what is forecast now, drop what is too old. A source that was never scored
 * starts with hindcasts over `known`. One transaction of signals.db, or a savepoint of the
 * caller's.
 */
int lt_forecast_learn(
    struct lt_ledger *ledger, const char *key, const struct lt_known *known, struct lt_error *err);

/* Reads what was learned of the source. */
int lt_forecast_bands(struct lt_ledger *ledger, const char *key,
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT][LT_FORECAST_BUCKET_COUNT],
    struct lt_error *err);

#endif
