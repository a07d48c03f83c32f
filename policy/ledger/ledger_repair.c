/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the ledger agree with itself, a part at a time: sums with entries, and entries with runs.
 * Each part is a short transaction of its own, however large the ledger is. A failure of SQLite is
 * an error; struct lt_repair says how far the repair has come.
 */
#include <stdlib.h>

#include "ledger_db.h"

enum { ENTRIES_A_PART = 10000, RUNS_A_PART = 5000 };

static int
repair_adjustments(struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	r->stage++;
	return lt_journal_repair(ledger, err);
}

static int
repair_orphans(struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	int64_t last = 0;
	int rc = lt_sql_number(ledger, LT_PLAIN(LT_SQL_LAST_ENTRY), &last, NULL, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_REPAIR_ORPHANS, LT_INT(r->after), LT_INT(r->after + ENTRIES_A_PART)),
	    err);
	r->after += ENTRIES_A_PART;
	if (r->after >= last)
		*r = (struct lt_repair){.stage = r->stage + 1};
	return rc;
}

#define MISSING(column, member) LT_DB_COLUMN(struct lt_entry, column, member)
#define FIGURE(column, member) {MISSING("missing_" #column, member)},
/* A table: clang-format would make paragraphs of it. */
/* clang-format off */
static const struct lt_db_column missing_list[] = {
	{MISSING("job_id", run.job_id)},
	{MISSING("submit_utc_s", run.submit_utc_s)},
	{MISSING("start_utc_s", at_utc_s)},
	{MISSING("end_utc_s", made_utc_s)},
	{MISSING("account", account)},
	{MISSING("uid", uid)},
	LT_FIGURES(FIGURE)
};
/* clang-format on */
#undef FIGURE
static const struct lt_db_columns missing_columns = {LT_DB_COLUMNS(struct lt_entry, missing_list)};

/* Puts the differences of runs with ids in (after, until] at their own hours, in a closed period,
 * too, so that it has its sums again. */
static int
put_differences(struct lt_ledger *ledger, int64_t after, int64_t until, struct lt_error *err)
{
	struct lt_entry *entries = NULL;
	uint32_t count = 0;
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_list(ledger, LT_BIND(LT_SQL_REPAIR_SUMS, LT_INT(after), LT_INT(until)),
	    &missing_columns, &entries, &count, err);
	for (uint32_t i = 0; i < count && rc == LT_OK; i++) {
		struct lt_entry *const entry = &entries[i];

		entry->kind = LT_ENTRY_CORRECTION;
		rc = lt_entry_put(ledger, entry, entry->at_utc_s, err);
		if (rc == LT_OK)
			rc = lt_sql_do(ledger,
			    LT_BIND(LT_SQL_RUN_CORRECTED, LT_INT(entry->run.job_id),
				LT_INT(entry->run.submit_utc_s)),
			    err);
	}
	free(entries);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

static int
repair_sums(struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	int64_t until = INT64_MAX;
	bool has;
	int rc = lt_sql_number(ledger,
	    LT_BIND(LT_SQL_REPAIR_NEXT_RUN, LT_INT(r->after), LT_INT(RUNS_A_PART)), &until, &has,
	    err);

	if (rc != LT_OK)
		return rc;
	rc = put_differences(ledger, r->after, until, err);
	r->after = until;
	if (!has)
		*r = (struct lt_repair){.stage = r->stage + 1};
	return rc;
}

static int
repair_day(struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	int64_t day;
	bool has;
	int rc = lt_sql_number(
	    ledger, LT_BIND(LT_SQL_REPAIR_NEXT_DAY, LT_INT(r->after)), &day, &has, err);

	if (rc == LT_OK && !has)
		r->stage++;
	if (rc != LT_OK || !has || (rc = lt_call_begin(ledger, LT_DB_LEDGER, err)) != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_BIND(LT_SQL_REPAIR_DAY, LT_INT(day)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_REPAIR_DAY_FILL, LT_INT(day)), err);
	r->after = day + 1;
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_repair(struct lt_ledger *ledger, struct lt_repair *repair, struct lt_error *err)
{
	static int (*const stages[LT_REPAIR_DONE])(
	    struct lt_ledger * ledger, struct lt_repair * repair, struct lt_error * err) = {
	    [LT_REPAIR_ADJUSTMENTS] = repair_adjustments,
	    [LT_REPAIR_ORPHANS] = repair_orphans,
	    [LT_REPAIR_SUMS] = repair_sums,
	    [LT_REPAIR_DAYS] = repair_day,
	};

	const int rc = lt_days_write(ledger, err);
	if (rc != LT_OK)
		return rc;
	lt_kept_drop(ledger);
	return repair->stage < LT_REPAIR_DONE ? stages[repair->stage](ledger, repair, err) : LT_OK;
}
