/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.db: forecasts that wait for their measured value, and daily sums of
 * how far those of the last 90 days were off. policy/model/forecast_error.c
 * scores.
 */
#include <assert.h>
#include <math.h>

#include "ledger_db.h"
#include "units.h"

enum { DAY_HOURS = LT_DAY_S / LT_HOUR_S };

#define ISSUED(column, member) LT_DB_COLUMN(struct lt_issued, column, member)
static const struct lt_db_column issued_list[] = {
    {ISSUED("issued_hour", issued_hour)},
    {ISSUED("target_hour", target_hour)},
    {ISSUED("kind", kind)},
    {ISSUED("value", value)},
};
static const struct lt_db_columns issued_columns = {
    LT_DB_COLUMNS(struct lt_issued, issued_list)};

#define SUM(column, member) LT_DB_COLUMN(struct lt_error_sum, column, member)
static const struct lt_db_column sum_list[] = {
    {SUM("kind", kind)},
    {SUM("bucket", bucket)},
    {SUM("count", count)},
    {SUM("sum", sum)},
    {SUM("sum_abs", sum_abs)},
};
static const struct lt_db_columns sum_columns = {
    LT_DB_COLUMNS(struct lt_error_sum, sum_list)};

static int
put_issued(struct lt_ledger *ledger, const char *source,
    const struct lt_issued *issued, struct lt_error *err)
{
	if (!isfinite(issued->value))
		return lt_fail(
		    err, LT_EINPUT, "%s: a forecast is not a number", source);
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(
		LT_SQL_FORECAST_PUT, &issued_columns, issued, LT_TEXT(source)),
	    err);
}

static int
forget_issued(struct lt_ledger *ledger, const char *source,
    const struct lt_issued *issued, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_FORECAST_FORGET, LT_TEXT(source),
		LT_INT(issued->issued_hour), LT_INT(issued->target_hour),
		LT_INT(issued->kind)),
	    err);
}

static int
add_sum(struct lt_ledger *ledger, const char *source, int64_t day,
    const struct lt_error_sum *sum, struct lt_error *err)
{
	if (sum->count == 0)
		return LT_OK;
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_ERROR_ADD, &sum_columns, sum, LT_TEXT(source),
		LT_INT(day)),
	    err);
}

int
lt_ledger_put_forecasts(struct lt_ledger *ledger, const char *source,
    const struct lt_forecast_news *news, struct lt_error *err)
{
	assert(news->fresh != NULL || news->fresh_count == 0);
	assert(news->scored != NULL || news->scored_count == 0);

	const int64_t day = news->hour / DAY_HOURS;
	int rc = lt_call_begin(ledger, LT_DB_SIGNALS, err);

	if (rc != LT_OK)
		return rc;
	for (uint32_t i = 0; i < news->scored_count && rc == LT_OK; i++)
		rc = forget_issued(ledger, source, &news->scored[i], err);
	for (uint32_t i = 0; i < news->fresh_count && rc == LT_OK; i++)
		rc = put_issued(ledger, source, &news->fresh[i], err);
	for (uint32_t i = 0; i < news->sum_count && rc == LT_OK; i++)
		rc = add_sum(ledger, source, day, &news->sums[i], err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_FORECASTS_PRUNE,
			LT_INT(news->hour - LT_FORECASTS_WAIT_HOURS)),
		    err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_ERRORS_PRUNE,
			LT_INT(day - LT_FORECAST_ERROR_DAYS)),
		    err);
	return lt_call_end(ledger, LT_DB_SIGNALS, rc, err);
}

int
lt_ledger_due_forecasts(struct lt_ledger *ledger, const char *source,
    int64_t hour, struct lt_due *due, struct lt_error *err)
{
	return lt_sql_list(ledger,
	    LT_BIND(LT_SQL_FORECASTS_DUE, LT_TEXT(source), LT_INT(hour)),
	    &issued_columns, &due->issued, &due->count, err);
}

int
lt_ledger_last_forecast(struct lt_ledger *ledger, const char *source,
    int64_t *hour, struct lt_error *err)
{
	*hour = -1;
	return lt_sql_number(ledger,
	    LT_BIND(LT_SQL_FORECAST_LAST, LT_TEXT(source)), hour, NULL, err);
}

int
lt_ledger_forecast_errors(struct lt_ledger *ledger, const char *source,
    struct lt_error_sum *sums, uint32_t room, struct lt_error *err)
{
	return lt_sql_some(ledger, LT_BIND(LT_SQL_ERROR_SUMS, LT_TEXT(source)),
	    &sum_columns, sums, room, err);
}
