/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts as they last were, and below whom each stood until when.
 */
#include <string.h>

#include "accounts.h"
#include "ledger_db.h"

int
lt_ledger_put_account(struct lt_ledger *ledger, const char *name,
    const char *parent, int64_t now_utc_s, struct lt_error *err)
{
	const int code = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_ACCOUNT_MOVE, LT_TEXT(name), LT_TEXT(parent),
		LT_INT(now_utc_s)),
	    err);

	lt_kept_drop(ledger); /* their sums are by tree */
	return code == LT_OK ? lt_sql_do(ledger,
				   LT_BIND(LT_SQL_ACCOUNT_PUT, LT_TEXT(name),
				       LT_TEXT(parent)),
				   err)
			     : code;
}

int
lt_ledger_account_moves(struct lt_ledger *ledger,
    struct lt_account_moves *moves, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_account_move, "name", name)},
	    {LT_DB_COLUMN(struct lt_account_move, "parent", parent)},
	    {LT_DB_COLUMN(struct lt_account_move, "until_utc_s", until_utc_s)},
	};
	static const struct lt_db_columns columns = {
	    LT_DB_COLUMNS(struct lt_account_move, list)};

	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_ACCOUNT_MOVES), &columns,
	    &moves->list, &moves->count, err);
}

const char *
lt_account_parent_then(
    const struct lt_account_moves *moves, const char *name, int64_t at_utc_s)
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
lt_ledger_accounts(struct lt_ledger *ledger, struct lt_account_seen **seen,
    uint32_t *count, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_account_seen, "name", name)},
	    {LT_DB_COLUMN(struct lt_account_seen, "parent", parent)},
	    {LT_DB_COLUMN(struct lt_account_seen, "charged", charged)},
	    {LT_DB_COLUMN(struct lt_account_seen, "was_parent", was_parent)},
	};
	static const struct lt_db_columns columns = {
	    LT_DB_COLUMNS(struct lt_account_seen, list)};
	const int rc = lt_days_write(ledger, err);

	*seen = NULL;
	*count = 0;
	return rc == LT_OK ? lt_sql_list(ledger, LT_PLAIN(LT_SQL_ACCOUNTS),
				 &columns, seen, count, err)
			   : rc;
}
