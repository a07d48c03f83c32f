/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger adds up of one account: its totals of a period by kind of
 * entry; and how long a partition was in use.
 */
#include <assert.h>
#include <string.h>

#include "ledger_kept.h"
#include "periods.h"
#include "units.h"

static void
read_run_counts(struct lt_rows *rows, void *element)
{
	struct lt_totals *const totals = element;

	totals->runs = lt_row_int(rows);
	totals->moved_runs = lt_row_int(rows);
	totals->unpriced_runs = lt_row_int(rows);
}

static_assert(LT_QUALITY_REPLAY == 7 && LT_GPUS_SLURMDBD == 0 &&
		  LT_GPUS_SLURMCTLD == 1 && LT_GPUS_UNKNOWN == 2,
    "sql.h has these numbers");

static void
read_odd(struct lt_rows *rows, void *element)
{
	struct lt_totals *const totals = element;

	totals->replay_runs = lt_row_int(rows);
	totals->provisional_runs = lt_row_int(rows);
	totals->gpus_slurmctld_runs = lt_row_int(rows);
	totals->gpus_unknown_runs = lt_row_int(rows);
}

static const struct count {
	enum lt_sql sql;
	enum lt_entry_kind kind;
	lt_row_reader *read;
} counts[] = {
    {LT_SQL_RUN_COUNTS, LT_ENTRY_CHARGE, read_run_counts},
    {LT_SQL_RUNS_ODD, LT_ENTRY_CHARGE, read_odd},
    {LT_SQL_CORRECTED_COUNTS, LT_ENTRY_CORRECTION, read_run_counts},
};

int
lt_totals_read(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_totals totals[3], struct lt_error *err)
{
	struct lt_rows rows;

	memset(totals, 0, 3 * sizeof(*totals));
	int rc = lt_sql_start(&rows, ledger, bound, err);
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		const int64_t kind = lt_row_int(&rows);

		rc = LT_OK;
		if (kind < 0 || kind > LT_ENTRY_ADJUSTMENT)
			continue;
		totals[kind].money_micros = lt_row_int(&rows);
		totals[kind].carbon_mg = lt_row_int(&rows);
		totals[kind].energy_wh = lt_row_int(&rows);
		totals[kind].baseline_money_micros = lt_row_int(&rows);
		totals[kind].baseline_carbon_mg = lt_row_int(&rows);
		lt_row_saved_by(&rows, &totals[kind].saved_by);
		lt_row_parts(&rows, &totals[kind].parts);
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
		rc = lt_totals_read(ledger,
		    LT_BIND(LT_SQL_TOTALS, LT_BIND_PERIOD(p), LT_TEXT(account)),
		    totals, err);
	for (size_t i = 0; rc >= 0 && i < sizeof(counts) / sizeof(*counts);
	     i++) {
		const struct count *const c = &counts[i];

		rc = lt_row_one(ledger,
		    LT_BIND(c->sql, LT_TEXT(account), LT_INT(span.from_utc_s),
			LT_INT(span.to_utc_s)),
		    c->read, &totals[c->kind], err);
	}
	return rc < 0 ? rc : LT_OK;
}

static void
read_exposure(struct lt_rows *rows, void *element)
{
	struct lt_own_history *const own = element;

	own->interruptions = (uint32_t)lt_row_real(rows);
	own->node_hours = lt_row_real(rows);
}

int
lt_ledger_exposure(struct lt_ledger *ledger, const char *partition,
    struct lt_span span, struct lt_own_history *own, struct lt_error *err)
{
	assert(span.from_utc_s <= span.to_utc_s);

	*own = (struct lt_own_history){0};
	const int rc = lt_row_one(ledger,
	    LT_BIND(LT_SQL_EXPOSURE, LT_TEXT(partition),
		LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
	    read_exposure, own, err);
	return rc < 0 ? rc : LT_OK;
}
