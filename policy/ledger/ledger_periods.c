/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periods in the ledger: the limits that budgets had in them and, once a period is closed, its
 * statement. Reads and writes the ledger; a failure of SQLite is an error. A closed period's
 * statement is never changed, only dropped by a reopening.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger_db.h"
#include "periods.h"

#define LIMIT(column, member) LT_DB_COLUMN(struct lt_amount, column, member)
static const struct lt_db_column limit_list[] = {
    {LIMIT("limit_micros", money_micros), LT_DB_COLUMN_HAS(struct lt_amount, has_money)},
    {LIMIT("limit_mg", carbon_mg), LT_DB_COLUMN_HAS(struct lt_amount, has_carbon)},
};
static const struct lt_db_columns limit_columns = {LT_DB_COLUMNS(struct lt_amount, limit_list)};

int
lt_ledger_put_limit(struct lt_ledger *ledger, const char *team, struct lt_span span,
    const struct lt_amount *limit, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_LIMIT_PUT, &limit_columns, limit, LT_TEXT(team),
		LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
	    err);
}

int
lt_ledger_limit(struct lt_ledger *ledger, const char *team, struct lt_span span,
    struct lt_amount *limit, struct lt_error *err)
{
	const int rc = lt_sql_get(ledger,
	    LT_BIND(
		LT_SQL_LIMIT_GET, LT_TEXT(team), LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
	    &limit_columns, limit, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: no limit of %s", team);
	return rc < 0 ? rc : LT_OK;
}

#define CLOSED(column, member) LT_DB_COLUMN(struct lt_closed, column, member)
static const struct lt_db_column closed_list[] = {
    {CLOSED("start_utc_s", span.from_utc_s)},
    {CLOSED("end_utc_s", span.to_utc_s)},
    {CLOSED("label", label)},
    {CLOSED("closed_utc_s", closed_utc_s)},
    {CLOSED("who", who)},
    {CLOSED("checksum", checksum)},
    {CLOSED("head", head)},
    {CLOSED("whole_hours", whole_hours)},
};
static const struct lt_db_columns closed_columns = {LT_DB_COLUMNS(struct lt_closed, closed_list)};

static int
put_closed(struct lt_ledger *ledger, const struct lt_closed *c, const struct lt_closed_row *rows,
    uint32_t count, struct lt_error *err)
{
	struct lt_closed row = *c;

	row.whole_hours = false;
	int rc = lt_sql_do(ledger, LT_RECORD(LT_SQL_CLOSED_PUT, &closed_columns, &row), err);
	for (uint32_t i = 0; rc == LT_OK && i < count; i++)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_CLOSED_ROW_PUT, LT_INT(c->span.from_utc_s),
			LT_INT(c->span.to_utc_s), LT_TEXT(rows[i].account),
			LT_TEXT(rows[i].figures), LT_TEXT(rows[i].labels)),
		    err);
	if (rc != LT_OK || c->span.to_utc_s <= lt_ledger_closed_until(ledger))
		return rc;
	return lt_ledger_put_number(ledger, "closed_until", c->span.to_utc_s, err);
}

int
lt_ledger_close_period(struct lt_ledger *ledger, const struct lt_closed *closed,
    const struct lt_closed_row *rows, uint32_t count, struct lt_error *err)
{
	const int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	return rc == LT_OK ? lt_call_end(ledger, LT_DB_LEDGER,
				 put_closed(ledger, closed, rows, count, err), err)
			   : rc;
}

static int
one_closed(
    struct lt_ledger *ledger, struct lt_bound which, struct lt_closed *closed, struct lt_error *err)
{
	const int rc = lt_sql_get(ledger, which, &closed_columns, closed, err);

	if (rc == 0)
		return lt_fail(err, LT_ENOENT, "ledger: not closed");
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_closed(
    struct lt_ledger *ledger, struct lt_span span, struct lt_closed *closed, struct lt_error *err)
{
	return one_closed(ledger,
	    LT_BIND(LT_SQL_CLOSED_GET, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), closed,
	    err);
}

int
lt_ledger_closed_around(
    struct lt_ledger *ledger, struct lt_span span, struct lt_closed *closed, struct lt_error *err)
{
	return one_closed(ledger,
	    LT_BIND(LT_SQL_CLOSED_AROUND, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), closed,
	    err);
}

int
lt_ledger_closed_rows(struct lt_ledger *ledger, struct lt_span span, lt_closed_row_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_CLOSED_ROWS, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_closed_row row;

		lt_row_text(&rows, row.account, sizeof(row.account));
		lt_row_text(&rows, row.figures, sizeof(row.figures));
		row.labels = lt_row_text_new(&rows);
		rc = row.labels != NULL ? take(context, &row, err)
					: lt_fail(err, LT_ENOMEM, "ledger: no memory for rows");
		free(row.labels);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_all_closed(
    struct lt_ledger *ledger, struct lt_closed **closed, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_CLOSED_ALL), &closed_columns, closed, count, err);
}

int64_t
lt_ledger_closed_until(struct lt_ledger *ledger)
{
	int64_t utc_s;

	return lt_ledger_get_number(ledger, "closed_until", 0, &utc_s) ? utc_s : 0;
}

int
lt_closed_stamp(struct lt_ledger *ledger, int64_t now_utc_s, int64_t *utc_s, struct lt_error *err)
{
	int64_t closed_utc_s = 0;
	const int rc =
	    lt_sql_number(ledger, LT_PLAIN(LT_SQL_CLOSED_LAST), &closed_utc_s, NULL, err);

	*utc_s = now_utc_s > closed_utc_s ? now_utc_s : closed_utc_s + 1;
	return rc;
}

int
lt_ledger_first_booked(struct lt_ledger *ledger, int64_t *at_utc_s, bool *has, struct lt_error *err)
{
	return lt_sql_number(ledger, LT_PLAIN(LT_SQL_FIRST_BOOKED), at_utc_s, has, err);
}

int
lt_ledger_day_sums(struct lt_ledger *ledger, struct lt_days_asked asked, lt_day_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_days_write(ledger, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_DAY_SUMS, LT_INT(asked.first), LT_INT(asked.last)), NULL, err);
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		const int64_t day = lt_row_int(&rows);
		struct lt_account_sum sum = {.uid = LT_NOBODY_UID};

		lt_row_text(&rows, sum.account, sizeof(sum.account));
		sum.money_micros = lt_row_int(&rows);
		sum.carbon_mg = lt_row_int(&rows);
		rc = take(context, day, &sum, err);
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_add_refused(
    struct lt_ledger *ledger, const char *account, int64_t at_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_REFUSED_ADD, LT_TEXT(account), LT_INT(at_utc_s)), err);
}

int
lt_ledger_refused(struct lt_ledger *ledger, struct lt_span span, lt_refused_function *take,
    void *context, struct lt_error *err)
{
	struct lt_rows rows;
	char account[LT_ACCOUNT_SIZE];
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_REFUSED_OF_SPAN, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), NULL,
	    err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		lt_row_text(&rows, account, sizeof(account));
		const int64_t at_utc_s = lt_row_int(&rows);
		rc = take(context, account, at_utc_s, lt_row_int(&rows), err);
	}
	lt_rows_end(&rows);
	return rc;
}

/* ---- a closing is undone ---- */

/*
 * Undoes a closing: the period's statement goes, corrections of its hours move from where they were
 * booked to where they belong, and a row stays that says so. Then the ledger is as if nobody had
 * closed the period; but for marks on its runs, which later closings pass (lt_closed_stamp()).
 */
#define REOPENED(column, member) LT_DB_COLUMN(struct lt_reopened, column, member)
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
	    LT_BIND(LT_SQL_CLOSED_ROWS_DROP, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)), err);

	return rc == LT_OK ? lt_sql_do(ledger,
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
		return lt_fail(err, LT_EOVERFLOW, "ledger: an entry passes 64 bits");
	const int rc = lt_days_add(ledger, &from, err);
	return rc == LT_OK ? lt_days_add(ledger, &to, err) : rc;
}

/* Books back the sums of hours from open_utc_s on. */
static int
book_back(struct lt_ledger *ledger, int64_t open_utc_s, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_BOOKED_LATER, LT_INT(open_utc_s)), NULL, err);

	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1)
		rc = move_sums(ledger, &rows, err);
	lt_rows_end(&rows);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_BOOKED_LATER_BACK, LT_INT(open_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_days_write(ledger, err);
	return rc == LT_OK
		   ? lt_sql_do(ledger, LT_BIND(LT_SQL_BOOKED_LATER_DAYS, LT_INT(open_utc_s)), err)
		   : rc;
}

static int
undo_closing(struct lt_ledger *ledger, const struct lt_reopened *reopened, struct lt_error *err)
{
	int64_t until_utc_s = 0;
	int rc =
	    lt_sql_do(ledger, LT_RECORD(LT_SQL_REOPENED_PUT, &reopened_columns, reopened), err);

	if (rc == LT_OK)
		rc = drop_closed(ledger, reopened->span, err);
	if (rc == LT_OK)
		rc = lt_sql_number(ledger, LT_PLAIN(LT_SQL_CLOSED_END), &until_utc_s, NULL, err);
	if (rc == LT_OK)
		rc = lt_ledger_put_number(ledger, "closed_until", until_utc_s, err);
	return rc == LT_OK ? book_back(ledger, until_utc_s, err) : rc;
}

int
lt_ledger_reopen(struct lt_ledger *ledger, const struct lt_reopened *reopened, struct lt_error *err)
{
	const int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	lt_kept_drop(ledger);
	return lt_call_end(ledger, LT_DB_LEDGER, undo_closing(ledger, reopened, err), err);
}

int
lt_ledger_all_reopened(
    struct lt_ledger *ledger, struct lt_reopened **reopened, uint32_t *count, struct lt_error *err)
{
	const int rc = lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_REOPENED_ALL), &reopened_columns, reopened, count, err);

	for (uint32_t i = 0; i < *count; i++)
		(*reopened)[i].cost.has_money = (*reopened)[i].cost.has_carbon = true;
	return rc;
}
