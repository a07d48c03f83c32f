/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The weather that a source's forecasts are made with, from the ledger, as it
 * was forecast.
 */
#ifndef LT_DAEMON_WEATHER_H
#define LT_DAEMON_WEATHER_H

#include "forecast.h"
#include "ledger.h"

/* A source's key in the ledger, and those of its weather, in the order of
 * forecast.h; NULL or "" = none. */
struct lt_weather_keys {
	const char *source;
	const char *weather[LT_AHEAD_COUNT];
};

/* known->weather of [from, to); nothing where it has none. The caller frees
 * it, also after an error. */
int lt_weather_load(struct lt_known *known, struct lt_ledger *ledger,
    const struct lt_weather_keys *keys, const int64_t span_utc_s[2],
    struct lt_error *err);
void lt_weather_free(struct lt_known *known);

/* Drop the points of hours that have begun and are known: what was forecast
 * of them stays, whatever the source says now. */
int lt_weather_keep_forecasts(struct lt_ledger *ledger, const char *key,
    struct lt_points *points, int64_t now_utc_s, struct lt_error *err);

#endif
