/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transactions over both databases, and calls that are kept or undone as one. Before a commit it
 * writes the sums, carries and lengths that were collected in memory. A failure undoes the call or
 * the transaction, and what was collected for it.
 */
#include "ledger_db.h"
#include "lookup.h"

static const struct {
	enum lt_sql begin, commit, rollback, save, keep, undo;
} databases[LT_DB_COUNT] = {
    [LT_DB_LEDGER] = {LT_SQL_BEGIN_LEDGER, LT_SQL_COMMIT_LEDGER, LT_SQL_ROLLBACK_LEDGER,
	LT_SQL_SAVE_LEDGER, LT_SQL_KEEP_LEDGER, LT_SQL_UNDO_LEDGER},
    [LT_DB_SIGNALS] = {LT_SQL_BEGIN_SIGNALS, LT_SQL_COMMIT_SIGNALS, LT_SQL_ROLLBACK_SIGNALS,
	LT_SQL_SAVE_SIGNALS, LT_SQL_KEEP_SIGNALS, LT_SQL_UNDO_SIGNALS},
};

static int
write_kept(struct lt_ledger *ledger, struct lt_error *err)
{
	int rc = lt_days_write(ledger, err);

	if (rc == LT_OK)
		rc = lt_lengths_write(ledger, err);
	return rc == LT_OK ? lt_carries_write(ledger, err) : rc;
}

static void
drop_kept(struct lt_ledger *ledger)
{
	lt_days_drop(ledger);
	lt_lengths_drop(ledger);
	lt_carries_drop(ledger);
	if (ledger->kept.has_added)
		lt_kept_drop(ledger);
}

int
lt_ledger_begin(struct lt_ledger *ledger, struct lt_error *err)
{
	if (ledger->in_transaction)
		return lt_fail(err, LT_EBUG, "ledger: begin within a transaction");
	for (int i = 0; i < LT_DB_COUNT; i++) {
		const int rc = lt_sql_do(ledger, LT_PLAIN(databases[i].begin), err);

		if (rc != LT_OK) {
			lt_ledger_rollback(ledger);
			return rc;
		}
	}
	ledger->in_transaction = true;
	ledger->kept.has_added = false;
	ledger->seen_rates.count = 0;
	return LT_OK;
}

/* signals.db first: a rate without its charge does no harm. */
int
lt_ledger_commit(struct lt_ledger *ledger, struct lt_error *err)
{
	if (!ledger->in_transaction)
		return lt_fail(err, LT_EBUG, "ledger: commit without a transaction");
	int rc = write_kept(ledger, err);
	for (int i = LT_DB_COUNT - 1; i >= 0 && rc == LT_OK; i--)
		rc = lt_sql_do(ledger, LT_PLAIN(databases[i].commit), err);
	if (rc != LT_OK)
		lt_ledger_rollback(ledger);
	ledger->in_transaction = false;
	return rc;
}

void
lt_ledger_rollback(struct lt_ledger *ledger)
{
	for (int i = 0; i < LT_DB_COUNT; i++)
		if (!sqlite3_get_autocommit(ledger->db[i]))
			(void)lt_sql_do(ledger, LT_PLAIN(databases[i].rollback), NULL);
	drop_kept(ledger);
	ledger->in_transaction = false;
}

int
lt_call_begin(struct lt_ledger *ledger, enum lt_database database, struct lt_error *err)
{
	/* From here on, only what the savepoint would undo is kept in memory. */
	const int rc = database == LT_DB_LEDGER ? write_kept(ledger, err) : LT_OK;

	if (rc != LT_OK)
		return rc;
	ledger->kept.has_added &= ledger->in_transaction;
	return lt_sql_do(ledger,
	    LT_PLAIN(ledger->in_transaction ? LT_ROW(databases, database).save
					    : LT_ROW(databases, database).begin),
	    err);
}

int
lt_call_end(struct lt_ledger *ledger, enum lt_database database, int code, struct lt_error *err)
{
	if (code == LT_OK)
		code = lt_sql_do(ledger,
		    LT_PLAIN(ledger->in_transaction ? LT_ROW(databases, database).keep
						    : LT_ROW(databases, database).commit),
		    err);
	if (code == LT_OK)
		return code;
	if (ledger->kept.has_added)
		lt_kept_drop(ledger);
	if (sqlite3_get_autocommit(ledger->db[database]))
		return code;
	if (!ledger->in_transaction) {
		(void)lt_sql_do(ledger, LT_PLAIN(LT_ROW(databases, database).rollback), NULL);
		return code;
	}
	if (database == LT_DB_LEDGER)
		drop_kept(ledger);
	(void)lt_sql_do(ledger, LT_PLAIN(LT_ROW(databases, database).undo), NULL);
	(void)lt_sql_do(ledger, LT_PLAIN(LT_ROW(databases, database).keep), NULL);
	return code;
}
