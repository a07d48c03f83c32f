/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger is made to agree with itself, a part at a time: each is a
 * transaction of its own, and short, whatever the ledger has.
 */
#include <stdlib.h>

#include "ledger_db.h"

enum { ENTRIES_A_PART = 10000, RUNS_A_PART = 5000 };

struct number {
	int64_t *to;
	bool has;
};

static void
read_number(struct lt_rows *rows, void *out)
{
	struct number *const number = out;

	number->has = lt_row_optional(rows, number->to);
}

/* A statement's one number. *has: it is there. */
static int
number_of(struct lt_ledger *ledger, struct lt_bound bound, int64_t *number,
    bool *has, struct lt_error *err)
{
	struct number found = {.to = number};
	const int rc = lt_row_one(ledger, bound, read_number, &found, err);

	*has = found.has;
	return rc < 0 ? rc : LT_OK;
}

static int
repair_adjustments(
    struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	r->stage++;
	return lt_journal_repair(ledger, err);
}

static int
repair_orphans(
    struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	int64_t last = 0;
	bool has;
	int rc =
	    number_of(ledger, LT_PLAIN(LT_SQL_LAST_ENTRY), &last, &has, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_REPAIR_ORPHANS, LT_INT(r->after),
		LT_INT(r->after + ENTRIES_A_PART)),
	    err);
	r->after += ENTRIES_A_PART;
	if (r->after >= last)
		*r = (struct lt_repair){.stage = r->stage + 1};
	return rc;
}

static void
read_difference(struct lt_rows *rows, void *element)
{
	struct lt_entry *const entry = element;

	*entry = (struct lt_entry){.kind = LT_ENTRY_CORRECTION};
	entry->run.job_id = (uint32_t)lt_row_int(rows);
	entry->run.submit_utc_s = lt_row_int(rows);
	entry->at_utc_s = lt_row_int(rows);
	entry->made_utc_s = lt_row_int(rows);
	lt_row_text(rows, entry->account, sizeof(entry->account));
	entry->uid = (uint32_t)lt_row_int(rows);
	lt_row_figures(rows, entry);
}

/* Of runs with ids in (after, until]. At their own hours, of a closed period,
 * too: what it had is there again. */
static int
put_differences(struct lt_ledger *ledger, int64_t after, int64_t until,
    struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_difference, .size = sizeof(struct lt_entry)};
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_rows_all(ledger,
	    LT_BIND(LT_SQL_REPAIR_SUMS, LT_INT(after), LT_INT(until)), &found,
	    err);
	const struct lt_entry *const entries = found.items;
	for (uint32_t i = 0; i < found.count && rc == LT_OK; i++) {
		const struct lt_entry *const entry = &entries[i];

		rc = lt_entry_put(ledger, entry, entry->at_utc_s, err);
		if (rc == LT_OK)
			rc = lt_sql_do(ledger,
			    LT_BIND(LT_SQL_RUN_CORRECTED,
				LT_INT(entry->run.job_id),
				LT_INT(entry->run.submit_utc_s)),
			    err);
	}
	free(found.items);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

static int
repair_sums(struct lt_ledger *ledger, struct lt_repair *r, struct lt_error *err)
{
	int64_t until = INT64_MAX;
	bool has;
	int rc = number_of(ledger,
	    LT_BIND(
		LT_SQL_REPAIR_NEXT_RUN, LT_INT(r->after), LT_INT(RUNS_A_PART)),
	    &until, &has, err);

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
	int rc = number_of(ledger,
	    LT_BIND(LT_SQL_REPAIR_NEXT_DAY, LT_INT(r->after)), &day, &has, err);

	if (rc == LT_OK && !has)
		r->stage++;
	if (rc != LT_OK || !has ||
	    (rc = lt_call_begin(ledger, LT_DB_LEDGER, err)) != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_BIND(LT_SQL_REPAIR_DAY, LT_INT(day)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_REPAIR_DAY_FILL, LT_INT(day)), err);
	r->after = day + 1;
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_repair(
    struct lt_ledger *ledger, struct lt_repair *repair, struct lt_error *err)
{
	static int (*const stages[LT_REPAIR_DONE])(struct lt_ledger * ledger,
	    struct lt_repair * repair, struct lt_error * err) = {
	    [LT_REPAIR_ADJUSTMENTS] = repair_adjustments,
	    [LT_REPAIR_ORPHANS] = repair_orphans,
	    [LT_REPAIR_SUMS] = repair_sums,
	    [LT_REPAIR_DAYS] = repair_day,
	};

	const int rc = lt_days_write(ledger, err);
	if (rc != LT_OK)
		return rc;
	lt_kept_drop(ledger);
	return repair->stage < LT_REPAIR_DONE
		   ? stages[repair->stage](ledger, repair, err)
		   : LT_OK;
}
