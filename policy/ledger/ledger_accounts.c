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

static void
read_move(struct lt_rows *rows, void *element)
{
	struct lt_account_move *const move = element;

	lt_row_text(rows, move->name, sizeof(move->name));
	lt_row_text(rows, move->parent, sizeof(move->parent));
	move->until_utc_s = lt_row_int(rows);
}

int
lt_ledger_account_moves(struct lt_ledger *ledger,
    struct lt_account_moves *moves, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_move, .size = sizeof(struct lt_account_move)};
	const int rc =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_ACCOUNT_MOVES), &found, err);

	*moves = (struct lt_account_moves){found.items, found.count};
	return rc;
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

static void
read_account(struct lt_rows *rows, void *element)
{
	struct lt_account_seen *const seen = element;

	lt_row_text(rows, seen->name, sizeof(seen->name));
	lt_row_text(rows, seen->parent, sizeof(seen->parent));
	seen->charged = lt_row_int(rows) != 0;
	seen->was_parent = lt_row_int(rows) != 0;
}

int
lt_ledger_accounts(struct lt_ledger *ledger, struct lt_account_seen **seen,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_account, .size = sizeof(**seen)};
	int rc = lt_days_write(ledger, err);

	if (rc == LT_OK)
		rc =
		    lt_rows_all(ledger, LT_PLAIN(LT_SQL_ACCOUNTS), &found, err);
	*seen = found.items;
	*count = found.count;
	return rc;
}
