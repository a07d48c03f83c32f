/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures errors of a source's forecasts by lead time: the caller keeps those that were issued,
 * they are scored when the measured value comes, and the errors make a band. Pure.
 */
#ifndef LT_FORECAST_ERROR_H
#define LT_FORECAST_ERROR_H

#include "forecast.h"

enum lt_forecast_kind {
	LT_FORECAST_PROVIDER,	/* the source's own forecast */
	LT_FORECAST_OWN,	/* lt_forecast() */
	LT_FORECAST_LAST_VALUE, /* the last value stays */
	LT_FORECAST_KIND_COUNT,
};

enum { LT_FORECAST_BUCKET_COUNT = 8 };

/* Bucket i is (hours[i], hours[i + 1]] ahead: 0, 1, 3, 6, 12, 24, 48, 96,
 * 192. */
extern const int lt_forecast_bucket_hours[LT_FORECAST_BUCKET_COUNT + 1];

/* "provider", "own", "last_value". */
const char *lt_forecast_kind_name(enum lt_forecast_kind kind);
/* The bucket of what lies lead_s seconds ahead; beyond the last: the last. */
int lt_forecast_bucket(int64_t lead_s);

/* Errors are forecast minus measured, in the unit of the source's points. */
struct lt_forecast_band {
	uint32_t count;	      /* forecasts scored; 0 = none yet */
	double mean;	      /* of the errors: the bias; 0 with count 0 */
	double mean_abs;      /* of their sizes; 0 with count 0 */
	bool has_interval;    /* this bucket or a shorter one was scored */
	double half_width;    /* forecast +- this holds about 80 % of what came;
			       * never less than at a shorter lead */
	double half_width_95; /* and 95 % */
};

enum { LT_FORECAST_SUM_COUNT = LT_FORECAST_KIND_COUNT * LT_FORECAST_BUCKET_COUNT };

/* A lesson of one hour: the forecasts of now, and the errors of those that are over. */
struct lt_lesson {
	uint32_t issued_count; /* at most one of each kind and bucket */
	struct lt_issued issued[LT_FORECAST_SUM_COUNT];
	struct lt_error_sum sums[LT_FORECAST_SUM_COUNT];
	uint32_t scored_count; /* these were put to the front of due */
};

/*
 * Those of due that can be scored go to its front.
 * is_first: nothing was ever scored, so that the sums begin with hindcasts
 * over what is known. LT_ENOMEM only. Source: docs/model.md, eq. (36).
 */
int lt_forecast_lesson(struct lt_lesson *lesson, const struct lt_known *known,
    const struct lt_due *due, bool is_first, struct lt_error *err);

/* Makes bands from the sums of all days. */
void lt_forecast_bands_of(
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT][LT_FORECAST_BUCKET_COUNT],
    const struct lt_error_sum *sums, uint32_t count);

#endif
