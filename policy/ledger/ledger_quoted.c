/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs beside what their jobs were quoted. Figures of their own, and not those
 * of `runs`: a closed period's stay as they were.
 */
#include "ledger_db.h"
#include "quoted.h"

#define AMOUNT(amount)                                                         \
	LT_OPTIONAL((amount).has_money, (amount).money_micros),                \
	    LT_OPTIONAL((amount).has_carbon, (amount).carbon_mg)

int
lt_ledger_put_quoted(
    struct lt_ledger *ledger, const struct lt_quoted *q, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_QUOTED_PUT, LT_INT(q->run.job_id),
		LT_INT(q->run.submit_utc_s), LT_INT(q->quote_id),
		LT_TEXT(q->account), LT_INT(q->compared), LT_INT(q->draw),
		AMOUNT(q->plan), AMOUNT(q->home), AMOUNT(q->charged),
		AMOUNT(q->base), AMOUNT(q->work), LT_INT(q->end_utc_s),
		LT_INT(q->end), LT_INT(q->left), LT_INT(q->deadline_utc_s),
		LT_INT(q->stated_ppm)),
	    err);
}

static void
read_amount(struct lt_rows *rows, struct lt_amount *amount)
{
	amount->has_money = lt_row_optional(rows, &amount->money_micros);
	amount->has_carbon = lt_row_optional(rows, &amount->carbon_mg);
}

static void
read_quoted(struct lt_rows *rows, struct lt_quoted *q)
{
	q->run.job_id = (uint32_t)lt_row_int(rows);
	q->run.submit_utc_s = lt_row_int(rows);
	q->quote_id = (uint64_t)lt_row_int(rows);
	lt_row_text(rows, q->account, sizeof(q->account));
	q->compared = (enum lt_compared)lt_row_int(rows);
	q->draw = (uint64_t)lt_row_int(rows);
	read_amount(rows, &q->plan);
	read_amount(rows, &q->home);
	read_amount(rows, &q->charged);
	read_amount(rows, &q->base);
	read_amount(rows, &q->work);
	q->end_utc_s = lt_row_int(rows);
	q->end = (enum lt_quoted_end)lt_row_int(rows);
	q->left = lt_row_int(rows) != 0;
	q->deadline_utc_s = lt_row_int(rows);
	q->stated_ppm = (uint32_t)lt_row_int(rows);
	q->waited_s = lt_row_int(rows);
}

int
lt_ledger_each_quoted(struct lt_ledger *ledger, struct lt_span span,
    lt_quoted_function *take, void *context, struct lt_error *err)
{
	struct lt_quoted quoted;
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_QUOTED_ENDED, LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s)),
	    err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		read_quoted(&rows, &quoted);
		rc = take(context, &quoted, err);
	}
	lt_rows_end(&rows);
	return rc;
}

_Static_assert(LT_QUOTE_NO_SMOKE == 8192, "as the index and its query have it");

int
lt_ledger_no_smoke(struct lt_ledger *ledger, int64_t since_utc_s,
    uint32_t *count, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_QUOTED_NO_SMOKE, LT_INT(since_utc_s)), err);

	*count = 0;
	if (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1)
		*count = (uint32_t)lt_row_int(&rows);
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}
