/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger adds up of one account: its totals of a period by kind of
 * entry; and how long a partition was in use.
 */
#include <assert.h>
#include <string.h>

#include "ledger_db.h"
#include "periods.h"
#include "units.h"

static_assert(LT_QUALITY_REPLAY == 7 && LT_GPUS_SLURMDBD == 0 &&
		  LT_GPUS_SLURMCTLD == 1 && LT_GPUS_UNKNOWN == 2,
    "sql.h has these numbers");

/* A statement of one user has all; another the first three, or the rest. */
#define COUNT(column, member) LT_DB_COLUMN(struct lt_totals, column, member)
static const struct lt_db_column count_list[] = {
    {COUNT("runs", runs)},
    {COUNT("moved", moved_runs)},
    {COUNT("unpriced", unpriced_runs)},
    {COUNT("replay", replay_runs)},
    {COUNT("provisional", provisional_runs)},
    {COUNT("gpus_slurmctld", gpus_slurmctld_runs)},
    {COUNT("gpus_unknown", gpus_unknown_runs)},
};
enum { ODD_FIRST = 3 };
static const struct lt_db_columns all_counts = {
    .list = count_list, .count = LT_ROWS_OF(count_list)};
static const struct lt_db_columns run_counts = {
    .list = count_list, .count = ODD_FIRST};
static const struct lt_db_columns odd_counts = {.list = count_list + ODD_FIRST,
    .count = LT_ROWS_OF(count_list) - ODD_FIRST};

static const struct count {
	enum lt_sql sql;
	enum lt_entry_kind kind;
	const struct lt_db_columns *columns;
} counts[] = {
    {LT_SQL_RUN_COUNTS, LT_ENTRY_CHARGE, &run_counts},
    {LT_SQL_RUNS_ODD, LT_ENTRY_CHARGE, &odd_counts},
    {LT_SQL_CORRECTED_COUNTS, LT_ENTRY_CORRECTION, &run_counts},
};

/* Beside the figures that are there. */
static int
read_counts(struct lt_totals *totals, struct lt_ledger *ledger,
    struct lt_bound bound, const struct lt_db_columns *columns,
    struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger, bound, columns, err);

	if (rc == LT_OK)
		rc = lt_rows_next(&rows, err);
	if (rc == 1)
		lt_row_add(&rows, totals);
	lt_rows_end(&rows);
	return rc < 0 ? rc : LT_OK;
}

static int
read_totals(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_totals totals[3], struct lt_error *err)
{
	struct lt_rows rows;

	memset(totals, 0, 3 * sizeof(*totals));
	int rc = lt_sql_start(&rows, ledger, bound, NULL, err);
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		const int64_t kind = lt_row_int(&rows);

		rc = LT_OK;
		if (kind < 0 || kind > LT_ENTRY_ADJUSTMENT)
			continue;
#define FIGURE(column, member) totals[kind].member = lt_row_int(&rows);
		LT_FIGURES(FIGURE)
#undef FIGURE
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_totals(struct lt_ledger *ledger, const char *account,
    struct lt_span span, struct lt_totals totals[3], struct lt_error *err)
{
	const struct lt_split p = lt_split_period(span);
	int rc = lt_days_write(ledger, err);

	if (rc == LT_OK)
		rc = read_totals(ledger,
		    LT_BIND(LT_SQL_TOTALS, LT_BIND_PERIOD(p), LT_TEXT(account)),
		    totals, err);
	for (size_t i = 0; rc == LT_OK && i < sizeof(counts) / sizeof(*counts);
	     i++) {
		const struct count *const c = &counts[i];

		rc = read_counts(&totals[c->kind], ledger,
		    LT_BIND(c->sql, LT_TEXT(account), LT_INT(span.from_utc_s),
			LT_INT(span.to_utc_s)),
		    c->columns, err);
	}
	return rc;
}

int
lt_ledger_totals_of_user(struct lt_ledger *ledger,
    const struct lt_runs_asked *asked, struct lt_totals totals[3],
    struct lt_error *err)
{
	struct lt_bound bound = LT_BIND(LT_SQL_TOTALS_OF_USER,
	    LT_TEXT(asked->account), LT_INT(asked->from_utc_s),
	    LT_INT(asked->to_utc_s), LT_INT(asked->uid));
	const int rc = read_totals(ledger, bound, totals, err);

	bound.sql = LT_SQL_COUNTS_OF_USER;
	return rc == LT_OK ? read_counts(&totals[LT_ENTRY_CHARGE], ledger,
				 bound, &all_counts, err)
			   : rc;
}

int
lt_ledger_exposure(struct lt_ledger *ledger, const char *partition,
    struct lt_span span, struct lt_own_history *own, struct lt_error *err)
{
	assert(span.from_utc_s <= span.to_utc_s);

	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(
		struct lt_own_history, "interruptions", interruptions)},
	    {LT_DB_COLUMN(struct lt_own_history, "node_hours", node_hours)},
	};
	static const struct lt_db_columns columns = {
	    LT_DB_COLUMNS(struct lt_own_history, list)};

	*own = (struct lt_own_history){0};
	const int rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_EXPOSURE, LT_TEXT(partition),
		LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
	    &columns, own, err);
	return rc < 0 ? rc : LT_OK;
}
