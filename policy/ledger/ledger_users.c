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

/* ---- figures ---- */

static void
read_counts(struct lt_rows *rows, void *element)
{
	struct lt_totals *const totals = element;
	int64_t *const counts[] = {&totals->runs, &totals->moved_runs,
	    &totals->unpriced_runs, &totals->replay_runs,
	    &totals->provisional_runs, &totals->gpus_slurmctld_runs,
	    &totals->gpus_unknown_runs};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		*counts[i] = lt_row_int(rows);
}

int
lt_ledger_totals_of_user(struct lt_ledger *ledger,
    const struct lt_runs_asked *asked, struct lt_totals totals[3],
    struct lt_error *err)
{
	const struct lt_value values[] = {LT_TEXT(asked->account),
	    LT_INT(asked->from_utc_s), LT_INT(asked->to_utc_s),
	    LT_INT(asked->uid)};
	enum { VALUES = sizeof(values) / sizeof(*values) };
	int rc = lt_totals_read(ledger,
	    (struct lt_bound){LT_SQL_TOTALS_OF_USER, values, VALUES}, totals,
	    err);

	if (rc == LT_OK)
		rc = lt_row_one(ledger,
		    (struct lt_bound){LT_SQL_COUNTS_OF_USER, values, VALUES},
		    read_counts, &totals[LT_ENTRY_CHARGE], err);
	return rc < 0 ? rc : LT_OK;
}

/* ---- retention ---- */

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
	int64_t to_utc_s;

	*done = true;
	if (before_utc_s <= from_utc_s)
		return before_utc_s < from_utc_s
			   ? lt_ledger_put_number(
				 ledger, ERASED_UNTIL, before_utc_s, err)
			   : LT_OK;
	const int64_t last_utc_s = before_utc_s - 1;
	const int found = lt_row_one(ledger,
	    LT_BIND(LT_SQL_ERASE_UNTIL, LT_INT(from_utc_s), LT_INT(last_utc_s),
		LT_INT(RUNS_A_PART)),
	    lt_row_number, &to_utc_s, err);
	if (found < 0)
		return found;
	*done = found == 0;
	if (found == 0)
		to_utc_s = last_utc_s;
	return erase_part(ledger, from_utc_s, to_utc_s, err);
}
