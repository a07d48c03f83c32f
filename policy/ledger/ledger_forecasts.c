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

static int
put_issued(struct lt_ledger *ledger, const char *source,
    const struct lt_issued *issued, struct lt_error *err)
{
	if (!isfinite(issued->value))
		return lt_fail(
		    err, LT_EINPUT, "%s: a forecast is not a number", source);
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_FORECAST_PUT, LT_TEXT(source),
		LT_INT(issued->issued_hour), LT_INT(issued->target_hour),
		LT_INT(issued->kind), LT_REAL(issued->value)),
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
	    LT_BIND(LT_SQL_ERROR_ADD, LT_TEXT(source), LT_INT(sum->kind),
		LT_INT(sum->bucket), LT_INT(day), LT_INT(sum->count),
		LT_REAL(sum->sum), LT_REAL(sum->sum_abs)),
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

static void
read_issued(struct lt_rows *rows, void *element)
{
	struct lt_issued *const issued = element;

	issued->issued_hour = lt_row_int(rows);
	issued->target_hour = lt_row_int(rows);
	issued->kind = (int)lt_row_int(rows);
	issued->value = lt_row_real(rows);
}

int
lt_ledger_due_forecasts(struct lt_ledger *ledger, const char *source,
    int64_t hour, struct lt_due *due, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_issued, .size = sizeof(*due->issued)};
	const int rc = lt_rows_all(ledger,
	    LT_BIND(LT_SQL_FORECASTS_DUE, LT_TEXT(source), LT_INT(hour)),
	    &found, err);

	due->issued = found.items;
	due->count = found.count;
	return rc;
}

int
lt_ledger_last_forecast(struct lt_ledger *ledger, const char *source,
    int64_t *hour, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_FORECAST_LAST, LT_TEXT(source)), err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1 && !lt_row_optional(&rows, hour))
		*hour = -1;
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_forecast_errors(struct lt_ledger *ledger, const char *source,
    struct lt_error_sum *sums, uint32_t room, struct lt_error *err)
{
	struct lt_rows rows;
	uint32_t used = 0;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_ERROR_SUMS, LT_TEXT(source)), err);

	while (rc == LT_OK && used < room &&
	       (rc = lt_rows_next(&rows, err)) == 1) {
		sums[used].kind = (int)lt_row_int(&rows);
		sums[used].bucket = (int)lt_row_int(&rows);
		sums[used].count = (uint32_t)lt_row_int(&rows);
		sums[used].sum = lt_row_real(&rows);
		sums[used].sum_abs = lt_row_real(&rows);
		used++;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : (int)used;
}
