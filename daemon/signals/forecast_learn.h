/*
 * Forecasts of a source and their errors, kept in signals.db.
 */
#ifndef LT_FORECAST_LEARN_H
#define LT_FORECAST_LEARN_H

#include "forecast_error.h"
#include "ledger.h"

/*
 * Once an hour and source (later calls in the same hour do nothing): score
 * what was forecast and is measured now, keep what is forecast now, drop what
 * is too old. A source that was never scored starts with hindcasts over
 * `known`. One transaction of signals.db, or a savepoint of the caller's.
 */
int lt_forecast_learn(struct lt_ledger *ledger, const char *key,
    const struct lt_known *known, struct lt_error *err);

/* What was learned of the source. */
int lt_forecast_bands(struct lt_ledger *ledger, const char *key,
    struct lt_forecast_band bands[LT_FORECAST_KIND_COUNT]
				 [LT_FORECAST_BUCKET_COUNT],
    struct lt_error *err);

#endif
