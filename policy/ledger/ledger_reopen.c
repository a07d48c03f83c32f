/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A closing is undone: the period's statement goes, what was corrected of its
 * hours goes from where it was booked to where it belongs, and a row stays that
 * says so. Then the ledger is as if nobody had closed the period; but for marks
 * on its runs, which later closings pass (lt_closed_stamp()).
 */
#include <string.h>

#include "ledger_db.h"
#include "periods.h"

#define REOPENED(column, member)                                               \
	LT_DB_COLUMN(struct lt_reopened, column, member)
static const struct lt_db_column reopened_list[] = {
    {REOPENED("start_utc_s", span.from_utc_s)},
    {REOPENED("end_utc_s", span.to_utc_s)},
    {REOPENED("label", label)},
    {REOPENED("closed_utc_s", closed_utc_s)},
    {REOPENED("closed_by", closed_by)},
    {REOPENED("checksum", checksum)},
    {REOPENED("money_micros", cost.money_micros)},
    {REOPENED("carbon_mg", cost.carbon_mg)},
    {REOPENED("reopened_utc_s", reopened_utc_s)},
    {REOPENED("reopened_by", reopened_by)},
    {REOPENED("reason", reason)},
};
static const struct lt_db_columns reopened_columns = {
    LT_DB_COLUMNS(struct lt_reopened, reopened_list)};

static int
drop_closed(struct lt_ledger *ledger, struct lt_span span, struct lt_error *err)
{
	const int rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_CLOSED_ROWS_DROP, LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s)),
	    err);

	return rc == LT_OK
		   ? lt_sql_do(ledger,
			 LT_BIND(LT_SQL_CLOSED_DROP, LT_INT(span.from_utc_s),
			     LT_INT(span.to_utc_s)),
			 err)
		   : rc;
}

/* One entry's part of its day's sums, from one day to the other. */
static int
move_sums(struct lt_ledger *ledger, struct lt_rows *rows, struct lt_error *err)
{
	const enum lt_entry_kind kind =
	    lt_row_int(rows) != 0 ? LT_ENTRY_CORRECTION : LT_ENTRY_CHARGE;
	struct lt_entry from = {.kind = LT_ENTRY_CORRECTION};

	from.at_utc_s = lt_row_int(rows);
	struct lt_entry to = {.kind = kind, .at_utc_s = lt_row_int(rows)};
	lt_row_text(rows, to.account, sizeof(to.account));
	to.uid = (uint32_t)lt_row_int(rows);
	lt_row_figures(rows, &to);
	memcpy(from.account, to.account, sizeof(from.account));
	from.uid = to.uid;
	if (!lt_entry_add(&from, &to, -1))
		return lt_fail(
		    err, LT_EOVERFLOW, "ledger: an entry passes 64 bits");
	const int rc = lt_days_add(ledger, &from, err);
	return rc == LT_OK ? lt_days_add(ledger, &to, err) : rc;
}

/* Of hours from open_utc_s on. */
static int
book_back(struct lt_ledger *ledger, int64_t open_utc_s, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_BOOKED_LATER, LT_INT(open_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1)
		rc = move_sums(ledger, &rows, err);
	lt_rows_end(&rows);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_BOOKED_LATER_BACK, LT_INT(open_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_days_write(ledger, err);
	return rc == LT_OK
		   ? lt_sql_do(ledger,
			 LT_BIND(LT_SQL_BOOKED_LATER_DAYS, LT_INT(open_utc_s)),
			 err)
		   : rc;
}

static int
undo_closing(struct lt_ledger *ledger, const struct lt_reopened *reopened,
    struct lt_error *err)
{
	int64_t until_utc_s = 0;
	int rc = lt_sql_do(ledger,
	    LT_RECORD(LT_SQL_REOPENED_PUT, &reopened_columns, reopened), err);

	if (rc == LT_OK)
		rc = drop_closed(ledger, reopened->span, err);
	if (rc == LT_OK)
		rc = lt_sql_number(ledger, LT_PLAIN(LT_SQL_CLOSED_END),
		    &until_utc_s, NULL, err);
	if (rc == LT_OK)
		rc = lt_ledger_put_number(
		    ledger, "closed_until", until_utc_s, err);
	return rc == LT_OK ? book_back(ledger, until_utc_s, err) : rc;
}

int
lt_ledger_reopen(struct lt_ledger *ledger, const struct lt_reopened *reopened,
    struct lt_error *err)
{
	const int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	lt_kept_drop(ledger);
	return lt_call_end(
	    ledger, LT_DB_LEDGER, undo_closing(ledger, reopened, err), err);
}

int
lt_ledger_all_reopened(struct lt_ledger *ledger, struct lt_reopened **reopened,
    uint32_t *count, struct lt_error *err)
{
	const int rc = lt_sql_list(ledger, LT_PLAIN(LT_SQL_REOPENED_ALL),
	    &reopened_columns, reopened, count, err);

	for (uint32_t i = 0; i < *count; i++)
		(*reopened)[i].cost.has_money = (*reopened)[i].cost.has_carbon =
		    true;
	return rc;
}
