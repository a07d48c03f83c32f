/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps in the ledger from when on runs are charged, and until when all are, and decides how long a
 * window of slurmdbd's rows is. Errors are the ledger's, for the caller.
 */
#include "ended.h"
#include "settle.h"
#include "units.h"

enum {
	COUNTED_S = 600, /* less says nothing of an hour */
};

int64_t
lt_settle_since(struct lt_ledger *ledger, int64_t fallback)
{
	int64_t at;

	return lt_ledger_get_number(ledger, "since", 1, &at) ? at : fallback;
}

int
lt_settle_save_until(
    struct lt_charges *charges, struct lt_ledger *ledger, int64_t until, struct lt_error *err)
{
	charges->settled_until_utc_s = until;
	return lt_ledger_put_number(ledger, "settled_until", until, err);
}

int
lt_settle_load_until(struct lt_charges *charges, struct lt_jobs_state *jobs,
    struct lt_ledger *ledger, int64_t now_utc_s, struct lt_error *err)
{
	if (charges->settled_until_utc_s)
		return LT_OK;
	lt_ended_load(jobs, ledger);
	if (lt_ledger_get_number(ledger, "settled_until", 1, &charges->settled_until_utc_s))
		return LT_OK;
	const int code = lt_ledger_put_number(ledger, "since", now_utc_s, err);
	return code == LT_OK ? lt_settle_save_until(charges, ledger, now_utc_s, err) : code;
}

void
lt_settle_await(struct lt_jobs_state *jobs, int64_t from_utc_s)
{
	if (jobs->rows_from_utc_s == 0 || from_utc_s < jobs->rows_from_utc_s)
		jobs->rows_from_utc_s = from_utc_s;
}

void
lt_settle_counted(struct lt_charges *charges, int64_t rows, int64_t past_s)
{
	if (past_s >= COUNTED_S)
		charges->rows_an_hour = rows * LT_HOUR_S / past_s;
}

int64_t
lt_settle_first_window(int64_t rows_an_hour)
{
	const int64_t window_s =
	    rows_an_hour > 0 ? (int64_t)LT_SETTLE_ROWS * LT_HOUR_S / rows_an_hour : LT_DAY_S;

	if (window_s > LT_DAY_S)
		return LT_DAY_S;
	return window_s > LT_SETTLE_WINDOW_LEAST_S ? window_s : LT_SETTLE_WINDOW_LEAST_S;
}

int64_t
lt_settle_window(int64_t window_s, uint32_t row_count, uint32_t most)
{
	if (row_count > most && window_s > LT_SETTLE_WINDOW_LEAST_S)
		return window_s / 2;
	if (row_count < most / 3 && window_s < LT_DAY_S)
		return window_s * 2;
	return window_s;
}
