/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Helpers of the three requests about signals.
 */
#ifndef LT_API_SIGNALS_H
#define LT_API_SIGNALS_H

#include "api.h"
#include "forecast_error.h"
#include "points.h"
#include "signals.h"

/* Finds a source by its name in the policy file; NULL = none. */
const struct lt_source *lt_api_source(const struct lt_signals_state *signals, const char *name);
/* The quantity that it gives; before its first fetch, by its options. */
enum lt_quantity lt_api_quantity(const struct lt_source *source);
/* The place that its options say, as "region 13"; "" = none. */
enum { LT_API_WHERE_SIZE = 160 };
void lt_api_where(char where[LT_API_WHERE_SIZE], const struct lt_source *source);

/* Check `source`, read `offset` (the first source wanted; 0). An HTTP status:
 * 200, or another and its reply. */
int lt_api_offset(int *offset, const struct lt_signals_state *signals,
    const struct lt_api_request *request, json_t **reply);

struct lt_api_bands { /* what was learned of one source; may be nothing */
	enum lt_quantity quantity;
	struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT][LT_FORECAST_BUCKET_COUNT];
};
void lt_api_bands_load(
    struct lt_api_bands *bands, struct lt_ledger *ledger, const struct lt_source *source);
/* The band in which 80 % of the values should lie; false: the hour is no forecast, or nothing was
 * learned of its kind. lead_s: from now to the hour's end. */
bool lt_api_band(double *low, double *high, const struct lt_api_bands *bands,
    const struct lt_hour *hour, int64_t lead_s);

#endif
