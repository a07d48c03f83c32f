/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what forecasts of a source learn from, in signals.db: the weather as it was forecast, and
 * the forecasts with their errors. Weather as it came would make a forecast of intensity trust
 * forecasts of weather too much.
 *
 * Stands between points of a source (signals.c), the arithmetic of forecast errors
 * (forecast_error.h) and their tables in the ledger. A failure of the ledger is returned; the
 * caller frees what was loaded.
 */
#include <math.h>
#include <stdlib.h>

#include "forecast_learn.h"
#include "points.h"
#include "units.h"

/* ---- revisions ---- */

uint32_t
lt_revisions(
    const struct lt_rate_step *known, uint32_t count, const struct lt_points *points, double *most)
{
	uint32_t at = 0, revised = 0;

	*most = 0;
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const point = &points->points[i];

		while (at < count && known[at].start_utc_s < point->start_utc_s)
			at++;
		if (at == count)
			break;
		const double change = fabs(known[at].value - point->value);
		if (known[at].start_utc_s != point->start_utc_s ||
		    known[at].quality != LT_QUALITY_MEASURED ||
		    point->quality != LT_QUALITY_MEASURED || change == 0)
			continue;
		revised++;
		*most = fmax(*most, change);
	}
	return revised;
}

/* ---- weather ---- */

int
lt_weather_load(struct lt_known *known, struct lt_ledger *ledger,
    const struct lt_weather_keys *keys, const int64_t span_utc_s[2], struct lt_error *err)
{
	int code = LT_OK;

	for (int i = 0; i < LT_AHEAD_COUNT && code == LT_OK; i++) {
		const char *const key = keys->weather[i];
		struct lt_rate_step *steps = NULL;

		if (key == NULL || key[0] == '\0')
			continue;
		code = lt_ledger_points(ledger,
		    &(struct lt_points_asked){key, {span_utc_s[0], span_utc_s[1]}}, &steps,
		    &known->weather[i].count, err);
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
lt_weather_keep_forecasts(struct lt_ledger *ledger, const char *key, struct lt_points *points,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_rate_step *known = NULL;
	uint32_t count = 0, at = 0;
	size_t kept = 0;

	if (points->count == 0)
		return LT_OK;
	const int code = lt_ledger_points(ledger,
	    &(struct lt_points_asked){key, {points->points[0].start_utc_s, now_utc_s}}, &known,
	    &count, err);
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

/* ---- errors of forecasts ---- */

static int
load_sums(struct lt_ledger *ledger, const char *key, struct lt_error_sum *loaded, uint32_t *count,
    struct lt_error *err)
{
	const int rc = lt_ledger_forecast_errors(ledger, key, loaded, LT_FORECAST_SUM_COUNT, err);

	*count = rc < 0 ? 0 : (uint32_t)rc;
	return rc < 0 ? rc : LT_OK;
}

int
lt_forecast_learn(
    struct lt_ledger *ledger, const char *key, const struct lt_known *known, struct lt_error *err)
{
	const int64_t hour = known->now_utc_s / LT_HOUR_S;
	struct lt_error_sum loaded[LT_FORECAST_SUM_COUNT];
	struct lt_due due = {NULL, 0};
	struct lt_lesson lesson;
	uint32_t loaded_count;
	int64_t last_hour;
	int rc = lt_ledger_last_forecast(ledger, key, &last_hour, err);

	if (rc != LT_OK || last_hour == hour)
		return rc;
	rc = load_sums(ledger, key, loaded, &loaded_count, err);
	if (rc == LT_OK)
		rc = lt_ledger_due_forecasts(ledger, key, hour, &due, err);
	if (rc == LT_OK)
		rc = lt_forecast_lesson(&lesson, known, &due, loaded_count == 0, err);
	/* A source that neither measures nor forecasts teaches nothing. */
	if (rc == LT_OK && (lesson.issued_count > 0 || lesson.scored_count > 0))
		rc = lt_ledger_put_forecasts(ledger, key,
		    &(struct lt_forecast_news){.hour = hour,
			.scored_count = lesson.scored_count,
			.scored = due.issued,
			.fresh_count = lesson.issued_count,
			.fresh = lesson.issued,
			.sums = lesson.sums,
			.sum_count = LT_FORECAST_SUM_COUNT},
		    err);
	free(due.issued);
	return rc;
}

int
lt_forecast_bands(struct lt_ledger *ledger, const char *key,
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT][LT_FORECAST_BUCKET_COUNT],
    struct lt_error *err)
{
	struct lt_error_sum loaded[LT_FORECAST_SUM_COUNT];
	uint32_t count;
	const int rc = load_sums(ledger, key, loaded, &count, err);

	if (rc == LT_OK)
		lt_forecast_bands_of(bands, loaded, count);
	return rc;
}
