/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between points of a source (signals.c), the arithmetic of forecast errors,
 * and their tables in the ledger.
 */
#include <stdlib.h>

#include "forecast_learn.h"
#include "units.h"

static int
load_sums(struct lt_ledger *ledger, const char *key,
    struct lt_error_sum *loaded, uint32_t *count, struct lt_error *err)
{
	const int rc = lt_ledger_forecast_errors(
	    ledger, key, loaded, LT_FORECAST_SUM_COUNT, err);

	*count = rc < 0 ? 0 : (uint32_t)rc;
	return rc < 0 ? rc : LT_OK;
}

int
lt_forecast_learn(struct lt_ledger *ledger, const char *key,
    const struct lt_known *known, struct lt_error *err)
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
		rc = lt_forecast_lesson(
		    &lesson, known, &due, loaded_count == 0, err);
	/* A source that neither measures nor forecasts has nothing to tell. */
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
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT]
				 [LT_FORECAST_BUCKET_COUNT],
    struct lt_error *err)
{
	struct lt_error_sum loaded[LT_FORECAST_SUM_COUNT];
	uint32_t count;
	const int rc = load_sums(ledger, key, loaded, &count, err);

	if (rc == LT_OK)
		lt_forecast_bands_of(bands, loaded, count);
	return rc;
}
