/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a run was: figures of one user, and users erased from what is old, so
 * that sums of accounts stay as they are.
 */
#include <string.h>

#include "ledger_db.h"
#include "periods.h"

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

	return lt_ledger_get_number(ledger, ERASED_UNTIL, INT64_MIN, &utc_s)
		   ? utc_s
		   : INT64_MIN;
}

/* In this order: the sums of days are moved by what entries still say. */
static int
erase_part(struct lt_ledger *ledger, int64_t from_utc_s, int64_t to_utc_s,
    struct lt_error *err)
{
	static const enum lt_sql steps[] = {LT_SQL_ERASE_ADD_DAYS,
	    LT_SQL_ERASE_TAKE_DAYS, LT_SQL_ERASE_DROP_DAYS,
	    LT_SQL_ERASE_ENTRIES, LT_SQL_ERASE_RUNS, LT_SQL_ERASE_KEPT_RUNS,
	    LT_SQL_ERASE_HOLDS};
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps) && rc == LT_OK;
	     i++)
		rc = lt_sql_do(ledger,
		    LT_BIND(steps[i], LT_INT(from_utc_s), LT_INT(to_utc_s)),
		    err);
	if (rc == LT_OK)
		rc = lt_ledger_put_number(ledger, ERASED_UNTIL, to_utc_s, err);
	/* They are by users, and have what these had. */
	lt_kept_drop(ledger);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_erase_users(struct lt_ledger *ledger, int64_t before_utc_s,
    bool *done, struct lt_error *err)
{
	const int64_t from_utc_s = erased_until(ledger);

	*done = true;
	if (before_utc_s <= from_utc_s)
		return before_utc_s < from_utc_s
			   ? lt_ledger_put_number(
				 ledger, ERASED_UNTIL, before_utc_s, err)
			   : LT_OK;
	const int64_t last_utc_s = before_utc_s - 1;
	bool has;
	int64_t to_utc_s = last_utc_s;
	const int rc = lt_sql_number(ledger,
	    LT_BIND(LT_SQL_ERASE_UNTIL, LT_INT(from_utc_s), LT_INT(last_utc_s),
		LT_INT(RUNS_A_PART)),
	    &to_utc_s, &has, err);
	if (rc != LT_OK)
		return rc;
	*done = !has;
	return erase_part(ledger, from_utc_s, to_utc_s, err);
}
