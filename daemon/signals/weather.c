/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A forecast of intensity that had learned from the weather as it came would
 * trust the forecasts of weather too much: what is kept is what was forecast.
 */
#include <stdlib.h>

#include "points.h"
#include "weather.h"

int
lt_weather_load(struct lt_known *known, struct lt_ledger *ledger,
    const struct lt_weather_keys *keys, const int64_t span_utc_s[2],
    struct lt_error *err)
{
	int code = LT_OK;

	for (int i = 0; i < LT_AHEAD_COUNT && code == LT_OK; i++) {
		const char *const key = keys->weather[i];
		struct lt_rate_step *steps = NULL;

		if (key == NULL || key[0] == '\0')
			continue;
		code = lt_ledger_points(ledger,
		    &(struct lt_points_asked){
			key, {span_utc_s[0], span_utc_s[1]}},
		    &steps, &known->weather[i].count, err);
		known->weather[i].steps = steps;
	}
	return code;
}

void
lt_weather_free(struct lt_known *known)
{
	for (int i = 0; i < LT_AHEAD_COUNT; i++) {
		free((void *)known->weather[i].steps);
		known->weather[i] = (struct lt_weather){NULL, 0};
	}
}

int
lt_weather_keep_forecasts(struct lt_ledger *ledger, const char *key,
    struct lt_points *points, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_rate_step *known = NULL;
	uint32_t count = 0, at = 0;
	size_t kept = 0;

	if (points->count == 0)
		return LT_OK;
	const int code = lt_ledger_points(ledger,
	    &(struct lt_points_asked){
		key, {points->points[0].start_utc_s, now_utc_s}},
	    &known, &count, err);
	for (size_t i = 0; code == LT_OK && i < points->count; i++) {
		const struct lt_point *const point = &points->points[i];

		while (at < count && known[at].end_utc_s <= point->start_utc_s)
			at++;
		if (point->start_utc_s > now_utc_s || at == count ||
		    known[at].start_utc_s >= point->end_utc_s)
			points->points[kept++] = *point;
	}
	if (code == LT_OK)
		points->count = kept;
	free(known);
	return code;
}
