/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums of the ledger: an account's totals of a period by kind of entry, and
 * how long a partition was in use. Sums per account and user are kept in
 * memory for the spans that budgets ask for again and again, and each new
 * entry is added to them, so that a pass does not read a year of rows. Where
 * rows were taken away (what a transaction undoes, lt_ledger_repair(),
 * another connection) all are read again.
 *
 * Reads the ledger. A failure of SQLite, or a sum that passes 64 bits, is an error.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "ledger_db.h"
#include "periods.h"
#include "units.h"

/* ---- Sums that are kept ---- */

struct lt_split
lt_split_period(struct lt_span span)
{
	const int64_t to_utc_s = span.to_utc_s;
	int64_t from_utc_s = span.from_utc_s;
	struct lt_split p = {.from_utc_s = from_utc_s,
	    .to_utc_s = to_utc_s,
	    .head_end_utc_s = to_utc_s,
	    .tail_utc_s = to_utc_s};

	/* days are of the epoch and later: division truncates below it. */
	if (from_utc_s < 0)
		from_utc_s = 0;
	if (to_utc_s <= from_utc_s)
		return p;
	const int64_t first_day = from_utc_s / LT_DAY_S + (from_utc_s % LT_DAY_S != 0);
	const int64_t end_day = to_utc_s / LT_DAY_S;
	if (first_day >= end_day)
		return p;
	p.first_day = first_day;
	p.end_day = end_day;
	p.head_end_utc_s = first_day * LT_DAY_S;
	p.tail_utc_s = end_day * LT_DAY_S;
	return p;
}

#define SUM(column, member) LT_DB_COLUMN(struct lt_account_sum, column, member)
static const struct lt_db_column sum_list[] = {
    {SUM("account", account)},
    {SUM("uid", uid)},
    {SUM("money_micros", money_micros)},
    {SUM("carbon_mg", carbon_mg)},
};
static const struct lt_db_columns sum_columns = {LT_DB_COLUMNS(struct lt_account_sum, sum_list)};

static const struct lt_db_column cut_list[] = {
    {.name = "until_utc_s", .type = LT_DB_COLUMN_INT64, .size = sizeof(int64_t)},
};
static const struct lt_db_columns cut_columns = {LT_DB_COLUMNS(int64_t, cut_list)};

/* Sums of a span in which no account was moved, behind those that are there. */
static int
add_piece(struct lt_sums *sums, struct lt_ledger *ledger, enum lt_sql sql, struct lt_span span,
    struct lt_error *err)
{
	const struct lt_split p = lt_split_period(span);
	struct lt_account_sum *found;
	uint32_t count;
	const int code =
	    lt_sql_list(ledger, LT_BIND(sql, LT_BIND_PERIOD(p)), &sum_columns, &found, &count, err);

	if (code != LT_OK)
		return code;
	struct lt_account_sum *const all =
	    reallocarray(sums->items, (size_t)sums->count + count + 1, sizeof(*all));
	if (all == NULL) {
		free(found);
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	}
	sums->items = all;
	for (uint32_t i = 0; i < count; i++) {
		all[sums->count] = found[i];
		all[sums->count++].tree_utc_s = span.from_utc_s;
	}
	sums->capacity = sums->count + 1;
	sums->tree_utc_s = span.from_utc_s;
	free(found);
	return LT_OK;
}

/* Reads the sums of each piece of the span between two moves of accounts; malloc'd. */
static int
read_sums(struct lt_sums *sums, struct lt_ledger *ledger, enum lt_sql sql, struct lt_span span,
    struct lt_error *err)
{
	int64_t *cuts = NULL;
	uint32_t cut_count = 0;
	struct lt_span piece = {.from_utc_s = span.from_utc_s};
	int code = lt_days_write(ledger, err);

	*sums = (struct lt_sums){0};
	if (code == LT_OK)
		code = lt_sql_list(ledger,
		    LT_BIND(LT_SQL_ACCOUNT_CUTS, LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
		    &cut_columns, &cuts, &cut_count, err);
	for (uint32_t i = 0; code == LT_OK && i <= cut_count; i++) {
		piece.to_utc_s = i < cut_count ? cuts[i] : span.to_utc_s;
		code = add_piece(sums, ledger, sql, piece, err);
		piece.from_utc_s = piece.to_utc_s;
	}
	free(cuts);
	if (code != LT_OK) {
		free(sums->items);
		*sums = (struct lt_sums){0};
	}
	return code;
}

static int
compare_sums(const struct lt_account_sum *a, const struct lt_account_sum *b)
{
	const int by_account = strcmp(a->account, b->account);

	if (a->tree_utc_s != b->tree_utc_s)
		return a->tree_utc_s < b->tree_utc_s ? -1 : 1;
	return by_account != 0 ? by_account : (a->uid > b->uid) - (a->uid < b->uid);
}

/* Returns the index of the first that is not before it. */
static uint32_t
place_of(const struct lt_sums *sums, const struct lt_account_sum *wanted)
{
	uint32_t low = 0, high = sums->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (compare_sums(&sums->items[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* false: it passes 64 bits, or there is no memory. */
static bool
add_sum(struct lt_sums *sums, const struct lt_account_sum *more)
{
	const uint32_t at = place_of(sums, more);

	if (at < sums->count && compare_sums(&sums->items[at], more) == 0)
		return lt_add(&sums->items[at].money_micros, more->money_micros) &&
		       lt_add(&sums->items[at].carbon_mg, more->carbon_mg);
	struct lt_account_sum *const all =
	    lt_items_grow(sums->items, &sums->capacity, sums->count, sizeof(*all));
	if (all == NULL)
		return false;
	sums->items = all;
	memmove(&all[at + 1], &all[at], (sums->count++ - at) * sizeof(*all));
	all[at] = *more;
	return true;
}

static void
drop_span(struct lt_kept_span *kept)
{
	free(kept->sums.items);
	*kept = (struct lt_kept_span){0};
}

/* Returns that span's, or the one that was not asked for the longest, emptied. */
static struct lt_kept_span *
find_span(struct lt_kept *all, struct lt_span span)
{
	struct lt_kept_span *oldest = &all->spans[0];

	for (int i = 0; i < LT_KEPT_SPANS; i++) {
		struct lt_kept_span *const kept = &all->spans[i];

		if (kept->asked > 0 && kept->span.from_utc_s == span.from_utc_s &&
		    kept->span.to_utc_s == span.to_utc_s)
			return kept;
		if (kept->asked < oldest->asked)
			oldest = kept;
	}
	drop_span(oldest);
	oldest->span = span;
	return oldest;
}

void
lt_kept_add(struct lt_ledger *ledger, const struct lt_entry *entry)
{
	struct lt_account_sum sum = {
	    .uid = entry->uid, .money_micros = entry->money_micros, .carbon_mg = entry->carbon_mg};

	ledger->kept.has_added = true;
	memcpy(sum.account, entry->account, sizeof(sum.account));
	for (int i = 0; i < LT_KEPT_SPANS; i++) {
		struct lt_kept_span *const kept = &ledger->kept.spans[i];

		if (kept->asked == 0 || entry->at_utc_s < kept->span.from_utc_s ||
		    entry->at_utc_s >= kept->span.to_utc_s)
			continue;
		sum.tree_utc_s = kept->sums.tree_utc_s;
		/* Before the last move, or too large: the next look reads all, and says what is
		 * wrong. */
		if (entry->at_utc_s < sum.tree_utc_s || !add_sum(&kept->sums, &sum))
			drop_span(kept);
	}
}

/* Returns the same sums, kept. Not within a transaction: sums that it undoes would be kept. */
static int
kept_sums(struct lt_ledger *ledger, struct lt_span span, struct lt_sums *sums, struct lt_error *err)
{
	struct lt_kept *const all = &ledger->kept;
	int64_t version = 0;
	int code = lt_sql_number(ledger, LT_PLAIN(LT_SQL_DATA_VERSION), &version, NULL, err);

	*sums = (struct lt_sums){0};
	if (code < 0)
		return code;
	if (version != all->data_version)
		lt_kept_drop(ledger);
	all->data_version = version;
	struct lt_kept_span *const kept = find_span(all, span);

	code = LT_OK;
	if (kept->asked == 0)
		code = read_sums(&kept->sums, ledger, LT_SQL_SUMS, span, err);
	if (code != LT_OK) {
		drop_span(kept);
		return code;
	}
	kept->asked = ++all->asked;
	if (kept->sums.count == 0)
		return LT_OK;
	sums->items = calloc(kept->sums.count, sizeof(*sums->items));
	if (sums->items == NULL)
		return lt_fail(err, LT_ENOMEM, "ledger: no memory");
	sums->count = kept->sums.count;
	memcpy(sums->items, kept->sums.items, sums->count * sizeof(*sums->items));
	return LT_OK;
}

int
lt_ledger_sums(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err)
{
	struct lt_sums found;
	const int code = ledger->in_transaction ? read_sums(&found, ledger, LT_SQL_SUMS, span, err)
						: kept_sums(ledger, span, &found, err);

	*sums = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_discounts(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err)
{
	struct lt_sums found;
	const int code = read_sums(&found, ledger, LT_SQL_DISCOUNTS, span, err);

	*sums = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_used(struct lt_ledger *ledger, struct lt_span span, struct lt_account_sum **sums,
    uint32_t *count, struct lt_error *err)
{
	struct lt_sums found;
	const int code = read_sums(&found, ledger, LT_SQL_USED, span, err);

	*sums = found.items;
	*count = found.count;
	return code;
}

/* ---- Totals and use ---- */

static_assert(LT_QUALITY_REPLAY == 7 && LT_GPUS_SLURMDBD == 0 && LT_GPUS_SLURMCTLD == 1 &&
		  LT_GPUS_UNKNOWN == 2,
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
static const struct lt_db_columns run_counts = {.list = count_list, .count = ODD_FIRST};
static const struct lt_db_columns odd_counts = {
    .list = count_list + ODD_FIRST, .count = LT_ROWS_OF(count_list) - ODD_FIRST};

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
read_counts(struct lt_totals *totals, struct lt_ledger *ledger, struct lt_bound bound,
    const struct lt_db_columns *columns, struct lt_error *err)
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
read_totals(struct lt_ledger *ledger, struct lt_bound bound, struct lt_totals totals[3],
    struct lt_error *err)
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
lt_ledger_totals(struct lt_ledger *ledger, const char *account, struct lt_span span,
    struct lt_totals totals[3], struct lt_error *err)
{
	const struct lt_split p = lt_split_period(span);
	int rc = lt_days_write(ledger, err);

	if (rc == LT_OK)
		rc = read_totals(ledger,
		    LT_BIND(LT_SQL_TOTALS, LT_BIND_PERIOD(p), LT_TEXT(account)), totals, err);
	for (size_t i = 0; rc == LT_OK && i < sizeof(counts) / sizeof(*counts); i++) {
		const struct count *const c = &counts[i];

		rc = read_counts(&totals[c->kind], ledger,
		    LT_BIND(
			c->sql, LT_TEXT(account), LT_INT(span.from_utc_s), LT_INT(span.to_utc_s)),
		    c->columns, err);
	}
	return rc;
}

int
lt_ledger_totals_of_user(struct lt_ledger *ledger, const struct lt_runs_asked *asked,
    struct lt_totals totals[3], struct lt_error *err)
{
	struct lt_bound bound = LT_BIND(LT_SQL_TOTALS_OF_USER, LT_TEXT(asked->account),
	    LT_INT(asked->from_utc_s), LT_INT(asked->to_utc_s), LT_INT(asked->uid));
	const int rc = read_totals(ledger, bound, totals, err);

	bound.sql = LT_SQL_COUNTS_OF_USER;
	return rc == LT_OK ? read_counts(&totals[LT_ENTRY_CHARGE], ledger, bound, &all_counts, err)
			   : rc;
}

int
lt_ledger_exposure(struct lt_ledger *ledger, const char *partition, struct lt_span span,
    struct lt_own_history *own, struct lt_error *err)
{
	assert(span.from_utc_s <= span.to_utc_s);

	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_own_history, "interruptions", interruptions)},
	    {LT_DB_COLUMN(struct lt_own_history, "node_hours", node_hours)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_own_history, list)};

	*own = (struct lt_own_history){0};
	const int rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_EXPOSURE, LT_TEXT(partition), LT_INT(span.from_utc_s),
		LT_INT(span.to_utc_s)),
	    &columns, own, err);
	return rc < 0 ? rc : LT_OK;
}
