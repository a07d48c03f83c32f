/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts and users of the ledger: the accounts as they last were, and below which parent each
 * stood until when; the figures of one user; and users erased from old rows, so that sums of
 * accounts stay as they are.
 *
 * Reads and writes the ledger inside the caller's transaction, or as a call
 * of its own. A failure of SQLite is an error, and nothing of the call is
 * kept.
 */
#include <string.h>

#include "accounts.h"
#include "ledger_db.h"
#include "periods.h"

/* ---- Accounts ---- */

int
lt_ledger_put_account(struct lt_ledger *ledger, const char *name, const char *parent,
    int64_t now_utc_s, struct lt_error *err)
{
	const int code = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_ACCOUNT_MOVE, LT_TEXT(name), LT_TEXT(parent), LT_INT(now_utc_s)), err);

	lt_kept_drop(ledger); /* their sums are by tree */
	return code == LT_OK ? lt_sql_do(ledger,
				   LT_BIND(LT_SQL_ACCOUNT_PUT, LT_TEXT(name), LT_TEXT(parent)), err)
			     : code;
}

int
lt_ledger_account_moves(
    struct lt_ledger *ledger, struct lt_account_moves *moves, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_account_move, "name", name)},
	    {LT_DB_COLUMN(struct lt_account_move, "parent", parent)},
	    {LT_DB_COLUMN(struct lt_account_move, "until_utc_s", until_utc_s)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_account_move, list)};

	return lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_ACCOUNT_MOVES), &columns, &moves->list, &moves->count, err);
}

const char *
lt_account_parent_then(const struct lt_account_moves *moves, const char *name, int64_t at_utc_s)
{
	uint32_t low = 0, high = moves->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct lt_account_move *const m = &moves->list[middle];
		const int order = strcmp(m->name, name);

		if (order < 0 || (order == 0 && m->until_utc_s <= at_utc_s))
			low = middle + 1;
		else
			high = middle;
	}
	return low < moves->count && strcmp(moves->list[low].name, name) == 0
		   ? moves->list[low].parent
		   : NULL;
}

int
lt_ledger_accounts(
    struct lt_ledger *ledger, struct lt_account_seen **seen, uint32_t *count, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_account_seen, "name", name)},
	    {LT_DB_COLUMN(struct lt_account_seen, "parent", parent)},
	    {LT_DB_COLUMN(struct lt_account_seen, "charged", charged)},
	    {LT_DB_COLUMN(struct lt_account_seen, "was_parent", was_parent)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_account_seen, list)};
	const int rc = lt_days_write(ledger, err);

	*seen = NULL;
	*count = 0;
	return rc == LT_OK
		   ? lt_sql_list(ledger, LT_PLAIN(LT_SQL_ACCOUNTS), &columns, seen, count, err)
		   : rc;
}

/* ---- Users ---- */

/* Up to which end all runs have no user any more. */
#define ERASED_UNTIL "erased_until"

enum { RUNS_A_PART = 500 };

void
lt_run_erase_user(struct lt_run *run)
{
	run->uid = LT_NOBODY_UID;
	run->user[0] = run->name[0] = '\0';
}

static int64_t
erased_until(struct lt_ledger *ledger)
{
	int64_t utc_s;

	return lt_ledger_get_number(ledger, ERASED_UNTIL, INT64_MIN, &utc_s) ? utc_s : INT64_MIN;
}

/* In this order: the sums of days are moved by what entries still say. */
static int
erase_part(struct lt_ledger *ledger, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	static const enum lt_sql steps[] = {LT_SQL_ERASE_ADD_DAYS, LT_SQL_ERASE_TAKE_DAYS,
	    LT_SQL_ERASE_DROP_DAYS, LT_SQL_ERASE_ENTRIES, LT_SQL_ERASE_RUNS, LT_SQL_ERASE_KEPT_RUNS,
	    LT_SQL_ERASE_HOLDS};
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && rc == LT_OK; i++)
		rc =
		    lt_sql_do(ledger, LT_BIND(steps[i], LT_INT(from_utc_s), LT_INT(to_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_ledger_put_number(ledger, ERASED_UNTIL, to_utc_s, err);
	/* They are by users, and have what these had. */
	lt_kept_drop(ledger);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_erase_users(
    struct lt_ledger *ledger, int64_t before_utc_s, bool *done, struct lt_error *err)
{
	const int64_t from_utc_s = erased_until(ledger);

	*done = true;
	if (before_utc_s <= from_utc_s)
		return before_utc_s < from_utc_s
			   ? lt_ledger_put_number(ledger, ERASED_UNTIL, before_utc_s, err)
			   : LT_OK;
	const int64_t last_utc_s = before_utc_s - 1;
	bool has;
	int64_t to_utc_s = last_utc_s;
	const int rc = lt_sql_number(ledger,
	    LT_BIND(
		LT_SQL_ERASE_UNTIL, LT_INT(from_utc_s), LT_INT(last_utc_s), LT_INT(RUNS_A_PART)),
	    &to_utc_s, &has, err);
	if (rc != LT_OK)
		return rc;
	*done = !has;
	return erase_part(ledger, from_utc_s, to_utc_s, err);
}
