/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the ledger adds up: totals of an account and period by kind of entry,
 * sums per account and user for the budget snapshot, and exact splitting.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ledger_kept.h"
#include "periods.h"
#include "units.h"

struct period { /* what LT_SQL_PERIOD binds */
	int64_t from_utc_s, to_utc_s, first_day, end_day;
	int64_t head_end_utc_s, tail_utc_s;
};

/* Whole UTC days inside [from, to), and the edges around them. */
static struct period
split_period(struct lt_span span)
{
	const int64_t to_utc_s = span.to_utc_s;
	int64_t from_utc_s = span.from_utc_s;
	struct period p = {.from_utc_s = from_utc_s,
	    .to_utc_s = to_utc_s,
	    .head_end_utc_s = to_utc_s,
	    .tail_utc_s = to_utc_s};

	/* days are of the epoch and later: division truncates below it. */
	if (from_utc_s < 0)
		from_utc_s = 0;
	if (to_utc_s <= from_utc_s)
		return p;
	const int64_t first_day =
	    from_utc_s / LT_DAY_S + (from_utc_s % LT_DAY_S != 0);
	const int64_t end_day = to_utc_s / LT_DAY_S;
	if (first_day >= end_day)
		return p;
	p.first_day = first_day;
	p.end_day = end_day;
	p.head_end_utc_s = first_day * LT_DAY_S;
	p.tail_utc_s = end_day * LT_DAY_S;
	return p;
}

#define BIND_PERIOD(p)                                                         \
	LT_INT((p).from_utc_s), LT_INT((p).to_utc_s), LT_INT((p).first_day),   \
	    LT_INT((p).end_day), LT_INT((p).head_end_utc_s),                   \
	    LT_INT((p).tail_utc_s)

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
	const struct period p = split_period(span);
	int rc = lt_days_write(ledger, err);

	if (rc == LT_OK)
		rc = lt_totals_read(ledger,
		    LT_BIND(LT_SQL_TOTALS, BIND_PERIOD(p), LT_TEXT(account)),
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
read_sum(struct lt_rows *rows, void *element)
{
	struct lt_account_sum *const sum = element;

	lt_row_text(rows, sum->account, sizeof(sum->account));
	sum->uid = (uint32_t)lt_row_int(rows);
	sum->money_micros = lt_row_int(rows);
	sum->carbon_mg = lt_row_int(rows);
}

/* Sums of a span in which no account was moved, behind those that are there. */
static int
add_piece(struct lt_sums *sums, struct lt_ledger *ledger, enum lt_sql sql,
    struct lt_span span, struct lt_error *err)
{
	const struct period p = split_period(span);
	struct lt_array found = {
	    .read = read_sum, .size = sizeof(struct lt_account_sum)};
	const int code =
	    lt_rows_all(ledger, LT_BIND(sql, BIND_PERIOD(p)), &found, err);

	if (code != LT_OK)
		return code;
	struct lt_account_sum *const all = reallocarray(
	    sums->items, (size_t)sums->count + found.count + 1, sizeof(*all));
	if (all == NULL) {
		free(found.items);
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	}
	sums->items = all;
	for (uint32_t i = 0; i < found.count; i++) {
		all[sums->count] = ((struct lt_account_sum *)found.items)[i];
		all[sums->count++].tree_utc_s = span.from_utc_s;
	}
	sums->capacity = sums->count + 1;
	sums->tree_utc_s = span.from_utc_s;
	free(found.items);
	return LT_OK;
}

int
lt_sums_read(struct lt_sums *sums, struct lt_ledger *ledger, enum lt_sql sql,
    struct lt_span span, struct lt_error *err)
{
	struct lt_array cuts = {.read = lt_row_number, .size = sizeof(int64_t)};
	struct lt_span piece = {.from_utc_s = span.from_utc_s};
	int code = lt_days_write(ledger, err);

	*sums = (struct lt_sums){0};
	if (code == LT_OK)
		code = lt_rows_all(ledger,
		    LT_BIND(LT_SQL_ACCOUNT_CUTS, LT_INT(span.from_utc_s),
			LT_INT(span.to_utc_s)),
		    &cuts, err);
	for (uint32_t i = 0; code == LT_OK && i <= cuts.count; i++) {
		piece.to_utc_s = i < cuts.count ? ((int64_t *)cuts.items)[i]
						: span.to_utc_s;
		code = add_piece(sums, ledger, sql, piece, err);
		piece.from_utc_s = piece.to_utc_s;
	}
	free(cuts.items);
	if (code != LT_OK) {
		free(sums->items);
		*sums = (struct lt_sums){0};
	}
	return code;
}

int
lt_ledger_sums(struct lt_ledger *ledger, struct lt_span span,
    struct lt_account_sum **sums, uint32_t *count, struct lt_error *err)
{
	struct lt_sums found;
	const int code =
	    ledger->in_transaction
		? lt_sums_read(&found, ledger, LT_SQL_SUMS, span, err)
		: lt_kept_sums(ledger, span, &found, err);

	*sums = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_discounts(struct lt_ledger *ledger, struct lt_span span,
    struct lt_account_sum **sums, uint32_t *count, struct lt_error *err)
{
	struct lt_sums found;
	const int code =
	    lt_sums_read(&found, ledger, LT_SQL_DISCOUNTS, span, err);

	*sums = found.items;
	*count = found.count;
	return code;
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
