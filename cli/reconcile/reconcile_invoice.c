/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads an invoice, CSV of a known format (docs/formats.md), row by row into the sums of its days
 * and instance types. It may be larger than memory: it is read piece by piece, packed with gzip or
 * not.
 *
 * A row that can't be read, is cut, or is in a currency without a rate is an error with its file,
 * line and column.
 */
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "date.h"
#include "lookup.h"
#include "reconcile_tie.h"
#include "reconcile_row.h"
#include "reconcile_unpack.h"
#include "text_mend.h"
#include "units.h"

enum {
	ROW_BYTES_MAX = 256 * 1024, /* more are refused; real ones have thousands */
	BUFFER_BYTES = 1024 * 1024 + ROW_BYTES_MAX,
};

struct reader {
	struct lt_unpack unpack;
	char *bytes; /* BUFFER_BYTES */
	bool ended;
	const struct lt_invoice_ask *ask;
	const struct lt_tie_map *map;
	struct lt_invoice_parser parser;
	struct lt_csv csv;
	struct lt_csv_row row;
	struct lt_invoice_row parsed;
};

/* Fills the buffer, so that the next row is whole unless it is too large. */
static int
refill(struct reader *reader, struct lt_error *err)
{
	const size_t left = (size_t)(reader->csv.end - reader->csv.at);
	size_t got;

	if (reader->ended || left >= ROW_BYTES_MAX)
		return LT_OK;
	memmove(reader->bytes, reader->csv.at, left);
	if (lt_unpack_read(&reader->unpack, reader->bytes + left, BUFFER_BYTES - left, &got, err))
		return err->code;
	reader->ended = left + got < BUFFER_BYTES;
	lt_csv_move(&reader->csv, reader->bytes, left + got);
	return LT_OK;
}

static int
read_header(struct reader *reader, struct lt_error *err)
{
	size_t got;

	if (lt_unpack_read(&reader->unpack, reader->bytes, BUFFER_BYTES, &got, err))
		return err->code;
	reader->ended = got < BUFFER_BYTES;
	return lt_invoice_parser_start(&reader->parser, &reader->csv,
	    &(struct lt_invoice_head){.bytes = reader->bytes, .byte_count = got}, reader->ask, err);
}

/* ---- the days ---- */
static int
make_sums(struct lt_invoice *invoice, struct lt_error *err)
{
	if (invoice->day_count < 1 || invoice->day_count > LT_TIE_DAYS_MAX)
		return lt_fail(
		    err, LT_ELIMIT, "%d days, want 1 to %d", invoice->day_count, LT_TIE_DAYS_MAX);
	invoice->sums = calloc(((size_t)invoice->day_count + 1) * ((size_t)invoice->type_count + 1),
	    sizeof(*invoice->sums));
	return invoice->sums != NULL ? LT_OK : lt_fail(err, LT_ENOMEM, "no memory");
}

/* Finds the days: those asked for, or the first row's billing period. */
static int
find_days(struct lt_invoice *invoice, const struct reader *reader, struct lt_error *err)
{
	int64_t start_utc_s, end_utc_s;

	invoice->first_day = reader->ask->first_day;
	invoice->day_count = reader->ask->day_count;
	if (invoice->day_count > 0)
		return make_sums(invoice, err);
	if (lt_invoice_row_period(&start_utc_s, &end_utc_s, &reader->parser, &reader->row, err))
		return err->code;
	const int64_t last = lt_day_of_second(end_utc_s - 1);

	invoice->first_day = lt_day_of_second(start_utc_s);
	invoice->day_count = last - invoice->first_day < LT_TIE_DAYS_MAX
				 ? (int)(last - invoice->first_day) + 1
				 : LT_TIE_DAYS_MAX + 1;
	return make_sums(invoice, err);
}

/* ---- a row into its sum ---- */
static void
add_unknown(struct lt_invoice *invoice, const struct lt_invoice_row *row)
{
	int i = 0;

	while (i < invoice->unknown_count && strcmp(invoice->unknown[i].type, row->type) != 0)
		i++;
	if (i == LT_TIE_UNKNOWN_MAX)
		return;
	if (i == invoice->unknown_count) {
		strcpy(invoice->unknown[i].type, row->type);
		invoice->unknown_count++;
	}
	invoice->unknown[i].cost_pico += row->cost_pico;
}

/* Adds a cost to the month of the day; months stay in order. */
static int
add_month(struct lt_invoice *invoice, int64_t day, lt_wide cost_pico, struct lt_error *err)
{
	const struct lt_date date = lt_date_of_day(day);
	const int64_t month = date.year * 12 + date.month - 1;
	struct lt_invoice_month *const all = invoice->outside_months;
	int i = 0;

	while (i < invoice->outside_month_count && all[i].month < month)
		i++;
	if (i == invoice->outside_month_count || all[i].month != month) {
		if (invoice->outside_month_count == LT_TIE_MONTHS_MAX)
			return lt_fail(err, LT_ELIMIT, "rows of more than %d months outside",
			    LT_TIE_MONTHS_MAX);
		memmove(&all[i + 1], &all[i],
		    (size_t)(invoice->outside_month_count++ - i) * sizeof(*all));
		all[i] = (struct lt_invoice_month){.month = month};
	}
	all[i].rows++;
	all[i].cost_pico += cost_pico;
	return LT_OK;
}

static int
add_outside(
    struct lt_invoice *invoice, const struct reader *reader, int64_t day, struct lt_error *err)
{
	const struct lt_invoice_row *const row = &reader->parsed;
	const int types = invoice->type_count + 1;

	if (invoice->outside_rows++ == 0) {
		invoice->outside_first_day = invoice->outside_last_day = day;
		invoice->outside = (struct lt_invoice_place){reader->ask->path,
		    lt_invoice_start_name(&reader->parser), row->start_utc_s, reader->row.line};
	}
	if (day < invoice->outside_first_day)
		invoice->outside_first_day = day;
	if (day > invoice->outside_last_day)
		invoice->outside_last_day = day;
	invoice->sums[invoice->day_count * types + invoice->type_count].cost_pico += row->cost_pico;
	return add_month(invoice, day, row->cost_pico, err);
}

static int
add_row(struct lt_invoice *invoice, struct reader *reader, struct lt_error *err)
{
	const struct lt_invoice_row *const row = &reader->parsed;
	const int64_t of_day = lt_day_of_second(row->start_utc_s);
	const int64_t day = of_day - invoice->first_day;

	invoice->rows++;
	invoice->billed_pico += row->billed_pico;
	invoice->fees_pico += row->fee_pico;
	if (day < 0 || day >= invoice->day_count)
		return add_outside(invoice, reader, of_day, err);
	const int found = row->type[0] ? lt_tie_type_find(reader->map, row->type) : -1;
	const int type = found >= 0 ? found : invoice->type_count;
	struct lt_invoice_sum *const sum = &invoice->sums[day * (invoice->type_count + 1) + type];

	sum->cost_pico += row->cost_pico;
	if (found < 0 && row->type[0])
		add_unknown(invoice, row);
	if (found < 0 || !row->has_quantity)
		return LT_OK;
	if (row->is_long)
		return lt_fail(err, LT_EINPUT,
		    "%s: a charge of an instance for more than a day; want an export by the hour or day",
		    lt_invoice_start_name(&reader->parser));
	sum->has_nodes = sum->has_nodes || row->unit_s > 0;
	sum->nodes_unknown = sum->nodes_unknown || row->unit_s == 0;
	sum->node_pico_s += row->quantity_pico * row->unit_s;
	return LT_OK;
}

/* Fails if the row that was read last lacks a cell or was cut. */
static int
check_row(const struct reader *reader, struct lt_error *err)
{
	if (reader->csv.at == reader->csv.end && !reader->ended)
		return lt_fail(err, LT_ELIMIT,
		    "a row of more than %d bytes, or a quote that is never closed", ROW_BYTES_MAX);
	if (reader->row.long_line > 0)
		return lt_fail(err, LT_ELIMIT, "a cell of more than %d bytes at column %d",
		    LT_CSV_CELL_SIZE - 1, reader->row.long_column);
	if (reader->row.cell_count != reader->csv.column_count)
		return lt_fail(err, LT_EINPUT, "a row of %d cells, the header has %d",
		    reader->row.cell_count, reader->csv.column_count);
	return LT_OK;
}

/* Refuses a mix of Azure's actual and amortised exports: they have the same columns, and together
 * they would count commitments twice. */
static int
check_basis(struct lt_invoice *invoice, const struct reader *reader, struct lt_error *err)
{
	static const char *const names[LT_INVOICE_BASIS_COUNT] = {[LT_INVOICE_AUTO] = "any",
	    [LT_INVOICE_BILLED] = "actual (billed)",
	    [LT_INVOICE_AMORTISED] = "amortised",
	    [LT_INVOICE_COLUMN] = "a column's"};
	const enum lt_invoice_basis shows = reader->parsed.shows;

	if (shows == LT_INVOICE_AMORTISED)
		invoice->has_billed = false; /* it is in another export */
	if (shows == LT_INVOICE_AUTO || invoice->basis == LT_INVOICE_COLUMN ||
	    shows == invoice->basis)
		return LT_OK;
	if (invoice->basis == LT_INVOICE_AUTO) {
		invoice->basis = shows;
		return LT_OK;
	}
	return lt_fail(err, LT_EINPUT,
	    "a commitment as an export of %s costs has it, want one of %s costs",
	    LT_WORD(names, shows), LT_WORD(names, invoice->basis));
}

static int
take_row(struct lt_invoice *invoice, struct reader *reader, struct lt_error *err)
{
	bool taken = false;

	if (check_row(reader, err) == LT_OK &&
	    lt_invoice_filter_row(&taken, &reader->parser, &reader->row, err) == LT_OK && !taken)
		invoice->left_out_rows++;
	if (taken && (invoice->sums != NULL || find_days(invoice, reader, err) == LT_OK) &&
	    lt_invoice_row_parse(&reader->parsed, &reader->parser, &reader->row, err) == LT_OK &&
	    check_basis(invoice, reader, err) == LT_OK)
		add_row(invoice, reader, err);
	if (err->code)
		lt_error_at(err, reader->row.line, 0);
	return err->code;
}

static lt_wide
magnitude(lt_wide value)
{
	return value < 0 ? -value : value;
}

/* Compares for qsort(): the dearest first. */
static int
by_cost(const void *a, const void *b)
{
	const struct lt_invoice_unknown *const x = a, *const y = b;
	const lt_wide x_cost = magnitude(x->cost_pico);
	const lt_wide y_cost = magnitude(y->cost_pico);

	if (x_cost != y_cost)
		return x_cost < y_cost ? 1 : -1;
	return strcmp(x->type, y->type);
}

static int
read_rows(struct lt_invoice *invoice, struct reader *reader, struct lt_error *err)
{
	for (;;) {
		if (refill(reader, err) || lt_csv_row(&reader->csv, &reader->row, err))
			return err->code;
		if (reader->row.cell_count > 0) {
			if (take_row(invoice, reader, err))
				return err->code;
		} else if (reader->ended) {
			break;
		}
	}
	return LT_OK;
}

/* Adds "PATH:LINE: " to the error. */
static int
place_error(const struct reader *reader, struct lt_error *err)
{
	const char *const path = reader->ask->path;

	lt_error_mend(err, err->code);
	if (err->line > 0 && err->column > 0)
		return lt_context(err, "%s:%d:%d", path, err->line, err->column);
	if (err->line > 0)
		return lt_context(err, "%s:%d", path, err->line);
	return lt_context(err, "%s", path);
}

/* Checks that a part has the format of the first, and the column by which costs are added up. */
static int
check_format(struct lt_invoice *invoice, const struct reader *reader, struct lt_error *err)
{
	const struct lt_invoice_parser *const parser = &reader->parser;

	if (invoice->format != NULL && strcmp(invoice->format, parser->format->name) != 0)
		return lt_fail(err, LT_EINPUT, "is %s, and the parts before it are %s",
		    parser->format->name, invoice->format);
	if (invoice->format != NULL && parser->basis != LT_INVOICE_AUTO &&
	    invoice->basis != parser->basis)
		return lt_fail(err, LT_EINPUT,
		    "has other columns for amortised costs than the parts before it; say --cost amortised or billed");
	if (invoice->format == NULL) {
		invoice->basis = parser->basis;
		invoice->has_billed = parser->basis != LT_INVOICE_COLUMN;
	}
	invoice->format = parser->format->name;
	snprintf(invoice->cost, sizeof(invoice->cost), "%s", lt_invoice_cost_name(parser));
	return LT_OK;
}

static int
read_part(struct lt_invoice *invoice, struct reader *reader, struct lt_error *err)
{
	if (read_header(reader, err) || check_format(invoice, reader, err))
		return err->code;
	return read_rows(invoice, reader, err);
}

int
lt_invoice_read(struct lt_invoice *invoice, FILE *in, const struct lt_invoice_ask *ask,
    const struct lt_tie_map *map, struct lt_error *err)
{
	struct reader *const reader = calloc(1, sizeof(*reader));

	if (reader == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	reader->ask = ask;
	reader->map = map;
	reader->bytes = malloc(BUFFER_BYTES);
	invoice->type_count = map->type_count;
	if (reader->bytes == NULL)
		lt_fail(err, LT_ENOMEM, "no memory");
	else if (lt_unpack_start(&reader->unpack, in, err) == LT_OK)
		read_part(invoice, reader, err);
	if (err->code)
		place_error(reader, err);
	lt_unpack_end(&reader->unpack);
	free(reader->bytes);
	free(reader);
	return err->code;
}

/* Fails for an invoice whose rows are all of other days. */
static int
days_fail(const struct lt_invoice *invoice, struct lt_error *err)
{
	const struct lt_invoice_place *const outside = &invoice->outside;
	char at[32], first[32], last[32];

	lt_utc_text(at, sizeof(at), outside->utc_s);
	lt_utc_text(first, sizeof(first), invoice->first_day * LT_DAY_S);
	lt_utc_text(last, sizeof(last), (invoice->first_day + invoice->day_count - 1) * LT_DAY_S);
	return lt_fail(err, LT_EINPUT,
	    "%s:%d: %s: %s is not from %.10s to %.10s, the days of the invoice, nor is any other row; --from and --to say others",
	    outside->path, outside->line, outside->column, at, first, last);
}

int
lt_invoice_finish(
    struct lt_invoice *invoice, const struct lt_invoice_ask *ask, struct lt_error *err)
{
	qsort(
	    invoice->unknown, (size_t)invoice->unknown_count, sizeof(invoice->unknown[0]), by_cost);
	if (invoice->rows == 0 && invoice->left_out_rows > 0)
		return lt_fail(err, LT_EINPUT,
		    "%s: none of the rows has what --only and --account say", ask->path);
	if (invoice->sums == NULL)
		return lt_fail(err, LT_EINPUT, "%s: no rows", ask->path);
	return invoice->outside_rows == invoice->rows ? days_fail(invoice, err) : LT_OK;
}

void
lt_invoice_free(struct lt_invoice *invoice)
{
	free(invoice->sums);
	*invoice = (struct lt_invoice){0};
}
