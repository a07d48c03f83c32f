/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far forecasts of a source were off, by lead time: issued ones are kept
 * (signals.db), scored when the measured value comes, and told as a band.
 */
#ifndef LT_FORECAST_ERROR_H
#define LT_FORECAST_ERROR_H

#include "ledger.h"

enum lt_forecast_kind {
	LT_FORECAST_PROVIDER,	/* the source's own forecast */
	LT_FORECAST_OWN,	/* lt_forecast() */
	LT_FORECAST_LAST_VALUE, /* the last value goes on */
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
	uint32_t count;	   /* forecasts scored; 0 = none yet */
	double mean;	   /* of the errors: the bias; 0 with count 0 */
	double mean_abs;   /* of their sizes; 0 with count 0 */
	bool has_width;	   /* this bucket or a shorter one was scored */
	double half_width; /* forecast +- this holds about 80 % of what came;
			    * never less than at a shorter lead */
};

/*
 * Once an hour and source (later calls in the same hour do nothing): score
 * what was forecast and is measured now, keep what is forecast now, drop what
 * is too old. A source that was never scored starts with hindcasts over
 * `known`. known, seasonal, floor: as for lt_forecast(). One transaction of
 * signals.db, or a savepoint of the caller's. Source: docs/model.md, eq. (36).
 */
int lt_forecast_learn(struct lt_ledger *ledger, const char *key,
    const struct lt_rate_step *known, uint32_t count, bool seasonal,
    double floor, int64_t now_utc_s, struct lt_error *err);

/* What was learned of the source. */
int lt_forecast_bands(struct lt_ledger *ledger, const char *key,
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT]
				 [LT_FORECAST_BUCKET_COUNT],
    struct lt_error *err);

#endif
