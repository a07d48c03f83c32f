/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows the comparison as a table, CSV or JSON. In JSON each amount is exact; a table and CSV are
 * in whole cents that add up. Below the table stands what a reader would ask next: unknown types,
 * days outside, rows left out, commitments, rates.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "currency.h"
#include "date.h"
#include "lookup.h"
#include "reconcile_tie.h"
#include "units.h"

/* "2026-11-21", into out. */
static const char *
day_text(char *out, size_t size, int64_t day)
{
	const struct lt_date date = lt_date_of_day(day);

	snprintf(out, size, "%04" PRId64 "-%02d-%02d", date.year, date.month, date.day);
	return out;
}

static const char *
file_name_of(const char *operand)
{
	return strcmp(operand, "-") == 0 ? "standard input" : operand;
}

/* Returns the word for how costs are added up; NULL: by a column. */
static const char *
basis_name(const struct lt_invoice *invoice)
{
	static const char *const names[LT_INVOICE_BASIS_COUNT] = {[LT_INVOICE_AUTO] = "billed",
	    [LT_INVOICE_BILLED] = "billed",
	    [LT_INVOICE_AMORTISED] = "amortised"};

	return LT_WORD_OR(names, invoice->basis, NULL);
}

/* Returns the day of a row; NULL if it is not one of the invoice's days. */
static const char *
day_of_row(char *out, size_t size, const struct lt_tie_row *row)
{
	return row->is_outside ? NULL : day_text(out, size, row->day);
}

static json_t *
integer(bool known, int64_t value)
{
	return known ? json_integer(value) : json_null();
}

static json_t *
row_json(const struct lt_tie_row *row, bool is_instance)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "invoice_micros",
	    integer(true, row->invoice_micros), "jobs_micros",
	    integer(is_instance, row->jobs_micros), "idle_micros",
	    integer(row->has_idle, row->idle_micros), "unexplained_micros",
	    integer(true, row->unexplained_micros), "invoice_node_s",
	    integer(row->has_nodes, row->invoice_node_s), "jobs_node_s",
	    integer(is_instance, row->jobs_node_s));
}

static json_t *
rows_json(const struct lt_tie *tie)
{
	json_t *const list = json_array();

	for (int i = 0; i < tie->count; i++) {
		const struct lt_tie_row *const row = &tie->rows[i];
		json_t *const object = row_json(row, row->type != NULL);
		char day[32];

		json_object_set_new(
		    object, "day", json_pack("s?", day_of_row(day, sizeof(day), row)));
		json_object_set_new(object, "instance_type",
		    row->type != NULL ? json_string(row->type) : json_null());
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *
unknown_json(const struct lt_invoice *invoice)
{
	json_t *const list = json_array();

	for (int i = 0; i < invoice->unknown_count; i++)
		json_array_append_new(list,
		    json_pack("{s:s,s:I}", "instance_type", invoice->unknown[i].type,
			"invoice_micros", (json_int_t)(invoice->unknown[i].cost_pico / LT_MICROS)));
	return list;
}

static json_t *
files_json(const struct lt_tie_shown *shown)
{
	json_t *const list = json_array();

	for (int i = 0; i < shown->file_count; i++)
		json_array_append_new(list, json_string(file_name_of(shown->files[i])));
	return list;
}

static json_t *
rates_json(const struct lt_invoice_rates *rates)
{
	json_t *const list = json_array();

	for (int i = 0; i < rates->count; i++) {
		const struct lt_invoice_rate *const rate = &rates->list[i];
		char from[32];

		if (rate->rows == 0)
			continue;
		lt_utc_text(from, sizeof(from), rate->from_utc_s);
		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:s?,s:b,s:I}", "currency", rate->currency, "rate",
			      rate->text, "from", rate->from_utc_s != INT64_MIN ? from : NULL,
			      "said", rate->is_said, "rows", (json_int_t)rate->rows));
	}
	return list;
}

/* Returns the argument of --rate; NULL: not given. */
static const char *
said_rate(char *out, size_t size, const struct lt_invoice_rates *rates)
{
	if (rates->count == 0 || !rates->list[0].is_said)
		return NULL;
	snprintf(out, size, "%s=%s", rates->list[0].currency, rates->list[0].text);
	return out;
}

static json_t *
outside_json(const struct lt_invoice *invoice)
{
	json_t *const list = json_array();

	for (int i = 0; i < invoice->outside_month_count; i++) {
		const struct lt_invoice_month *const one = &invoice->outside_months[i];
		char month[48];

		snprintf(month, sizeof(month), "%04" PRId64 "-%02" PRId64, one->month / 12,
		    one->month % 12 + 1);
		json_array_append_new(
		    list, json_pack("{s:s,s:I,s:I}", "month", month, "rows", (json_int_t)one->rows,
			      "invoice_micros", (json_int_t)lt_tie_micros(one->cost_pico)));
	}
	return list;
}

static json_t *
others_json(const struct lt_tie_jobs *jobs)
{
	json_t *const list = json_array();

	for (int i = 0; i < jobs->other_count; i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:I}", "partition", jobs->others[i].partition,
			      "jobs_micros", (json_int_t)jobs->others[i].cost_micros));
	return list;
}

json_t *
lt_tie_json(const struct lt_tie_shown *shown)
{
	const struct lt_invoice *const invoice = shown->parts->invoice;
	const struct lt_tie_jobs *const jobs = shown->parts->jobs;
	const struct lt_tie *const tie = shown->tie;
	char first[32], last[32], rate[48];

	day_text(first, sizeof(first), invoice->first_day);
	day_text(last, sizeof(last), invoice->first_day + invoice->day_count - 1);
	return json_pack("{s:s,s:o,s:s,s:s,s:s?,s:o,s:I,s:s,s:s?,s:o,s:s,s:s,s:I,s:s?,s:s?,"
			 "s:I,s:I,s:o,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I}",
	    "file", file_name_of(shown->files[0]), "files", files_json(shown), "format",
	    invoice->format, "cost", invoice->cost, "basis", basis_name(invoice), "billed_micros",
	    integer(invoice->has_billed, tie->billed_micros), "fees_micros",
	    (json_int_t)shown->tie->fees_micros, "currency", shown->currency, "rate",
	    said_rate(rate, sizeof(rate), shown->rates), "rates", rates_json(shown->rates),
	    "first_day", first, "last_day", last, "rows", (json_int_t)invoice->rows, "only",
	    shown->filter->only, "account", shown->filter->accounts, "left_out_rows",
	    (json_int_t)invoice->left_out_rows, "outside_rows", (json_int_t)invoice->outside_rows,
	    "outside", outside_json(invoice), "complete", jobs->complete, "only_own",
	    jobs->only_own, "days", rows_json(tie), "instances", row_json(&tie->instances, true),
	    "other_services", row_json(&tie->others, false), "total", row_json(&tie->total, true),
	    "unknown_types", unknown_json(invoice), "other_partitions", others_json(jobs),
	    "adjustments_micros", (json_int_t)jobs->adjustments_micros, "carbon_charge_micros",
	    (json_int_t)jobs->carbon_charge_micros, "discount_micros",
	    (json_int_t)jobs->discount_micros, "corrected_here_micros",
	    (json_int_t)jobs->corrected_here_micros, "corrected_elsewhere_micros",
	    (json_int_t)-jobs->corrected_elsewhere_micros);
}

enum { TEXT_SIZE = 48 };

static const char other_services[] = "other services";

/* ---- the table ---- */
enum { INVOICE, JOBS, IDLE, COLUMNS_ROUNDED };

static int64_t *
amount_of(struct lt_tie_row *row, int column)
{
	return column == INVOICE ? &row->invoice_micros
	       : column == JOBS	 ? &row->jobs_micros
				 : &row->idle_micros;
}

static void
find_rest(struct lt_tie_row *row)
{
	row->unexplained_micros = row->invoice_micros - row->jobs_micros - row->idle_micros;
}

static void
add_cents(struct lt_tie_row *sum, const struct lt_tie_row *row)
{
	sum->invoice_micros += row->invoice_micros;
	sum->jobs_micros += row->jobs_micros;
	sum->idle_micros += row->idle_micros;
}

/*
 * In whole cents or what the currency has, as the reports' columns are; what is unexplained is then
 * the rest of each row, and so it adds up down the column too. The two sums are those of their
 * rows.
 */
static bool
round_rows(struct lt_tie *cents, const struct lt_tie *tie, const char *currency)
{
	const size_t count = (size_t)tie->count;
	int64_t *const values = calloc(count + 1, sizeof(*values));

	*cents = *tie;
	cents->rows = calloc(count + 1, sizeof(*cents->rows));
	if (values == NULL || cents->rows == NULL) {
		free(values);
		return false;
	}
	memcpy(cents->rows, tie->rows, count * sizeof(*cents->rows));
	for (int column = 0; column < COLUMNS_ROUNDED; column++) {
		for (size_t i = 0; i < count; i++)
			values[i] = *amount_of(&cents->rows[i], column);
		lt_round_column(values, tie->count, amount_of(&cents->total, column),
		    lt_currency_step(currency));
		for (size_t i = 0; i < count; i++)
			*amount_of(&cents->rows[i], column) = values[i];
		*amount_of(&cents->instances, column) = 0;
		*amount_of(&cents->others, column) = 0;
	}
	for (size_t i = 0; i < count; i++) {
		find_rest(&cents->rows[i]);
		add_cents(cents->rows[i].type != NULL ? &cents->instances : &cents->others,
		    &cents->rows[i]);
	}
	find_rest(&cents->instances);
	find_rest(&cents->others);
	find_rest(&cents->total);
	free(values);
	return true;
}

/* Writes the share of the invoice, "3.2 %", half away from zero. */
static void
share_text(char *out, size_t size, const struct lt_tie_row *row)
{
	const lt_wide invoice = row->invoice_micros;
	const lt_wide rest = row->unexplained_micros;
	const lt_wide part = rest < 0 ? -rest : rest;
	const lt_wide whole = invoice < 0 ? -invoice : invoice;

	if (whole == 0) {
		snprintf(out, size, part == 0 ? "0.0 %%" : "-");
		return;
	}
	const int64_t tenths = (int64_t)((part * 1000 + whole / 2) / whole);

	snprintf(out, size, "%s%" PRId64 ".%d %%",
	    rest != 0 && tenths > 0 && (rest < 0) != (invoice < 0) ? "-" : "", tenths / 10,
	    (int)(tenths % 10));
}

static void
add_table_row(struct lt_table *table, const char *day, const char *name,
    const struct lt_tie_row *row, const char *currency)
{
	char invoice[TEXT_SIZE], jobs[TEXT_SIZE], idle[TEXT_SIZE], rest[TEXT_SIZE],
	    share[TEXT_SIZE];
	const bool is_other = strcmp(name, other_services) == 0;

	share_text(share, sizeof(share), row);
	const char *const cells[] = {
	    day,
	    name,
	    lt_money_text(invoice, sizeof(invoice), row->invoice_micros, currency),
	    is_other ? "-" : lt_money_text(jobs, sizeof(jobs), row->jobs_micros, currency),
	    is_other	    ? "-"
	    : row->has_idle ? lt_money_text(idle, sizeof(idle), row->idle_micros, currency)
			    : "n/a",
	    lt_money_text(rest, sizeof(rest), row->unexplained_micros, currency),
	    share,
	};

	lt_table_row(table, cells);
}

static void
print_rows(FILE *out, const struct lt_tie *cents, const char *currency, bool color)
{
	static const struct lt_table_column columns[] = {
	    {"DAY", false},
	    {"INSTANCE TYPE", false},
	    {"INVOICE", true},
	    {"JOBS", true},
	    {"IDLE", true},
	    {"UNEXPLAINED", true},
	    {"SHARE", true},
	    {NULL, false},
	};
	struct lt_table *const table = lt_table_new(columns);

	if (table == NULL)
		return;
	for (int i = 0; i < cents->count; i++) {
		const struct lt_tie_row *const row = &cents->rows[i];
		char day[32];
		const char *const named = day_of_row(day, sizeof(day), row);

		add_table_row(table, named != NULL ? named : "outside",
		    row->type != NULL ? row->type : other_services, row, currency);
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 1);
	lt_table_rule(table);
	add_table_row(table, "", "instances", &cents->instances, currency);
	add_table_row(table, "", other_services, &cents->others, currency);
	add_table_row(table, "TOTAL", "", &cents->total, currency);
	lt_table_print(out, table, color);
	lt_table_free(table);
}

/* ---- the lines below the table ---- */
static void
print_unknown(FILE *out, const struct lt_tie_shown *shown)
{
	enum { SHOWN_MAX = 8 };
	const struct lt_invoice *const invoice = shown->parts->invoice;
	const int count = invoice->unknown_count;

	for (int i = 0; i < count && i < SHOWN_MAX; i++) {
		char text[TEXT_SIZE];

		fputs(i == 0 ? "In other services are instances whose type no "
			       "partition has: "
			     : ", ",
		    out);
		lt_print_safe(out, invoice->unknown[i].type);
		fprintf(out, " %s",
		    lt_money_text(text, sizeof(text),
			(int64_t)(invoice->unknown[i].cost_pico / LT_MICROS), shown->currency));
	}
	if (count > SHOWN_MAX)
		fprintf(out, " and %d more", count - SHOWN_MAX);
	fputs(count > 0 ? ".\n" : "", out);
}

static void
print_outside(FILE *out, const struct lt_tie_shown *shown)
{
	enum { SHOWN_MAX = 12 };
	const struct lt_invoice *const invoice = shown->parts->invoice;
	const int count = invoice->outside_month_count;
	char first[32], last[32], text[TEXT_SIZE];

	if (invoice->outside_rows == 0)
		return;
	fprintf(out,
	    "Outside are %" PRId64
	    " rows of other days (%s to %s): refunds, corrections or late usage.\n",
	    invoice->outside_rows, day_text(first, sizeof(first), invoice->outside_first_day),
	    day_text(last, sizeof(last), invoice->outside_last_day));
	for (int i = 0; i < count && i < SHOWN_MAX; i++) {
		const struct lt_invoice_month *const month = &invoice->outside_months[i];

		fprintf(out, "%s %04" PRId64 "-%02" PRId64 " %s",
		    i == 0 ? "Of them belong to" : ",", month->month / 12, month->month % 12 + 1,
		    lt_money_text(
			text, sizeof(text), lt_tie_micros(month->cost_pico), shown->currency));
	}
	if (count > SHOWN_MAX)
		fprintf(out, " and to %d more months", count - SHOWN_MAX);
	fputs(".\n", out);
}

static void
print_left_out(FILE *out, const struct lt_tie_shown *shown)
{
	const int64_t rows = shown->parts->invoice->left_out_rows;

	if (rows > 0)
		fprintf(out,
		    "Left out are %" PRId64
		    " rows that --only and --account do not take; the jobs are those of all.\n",
		    rows);
}

/* Prints the costs of commitments that the sums leave out, if amortised. */
static void
print_commitments(FILE *out, const struct lt_tie_shown *shown)
{
	const struct lt_invoice *const invoice = shown->parts->invoice;
	char text[TEXT_SIZE];

	if (invoice->has_billed && shown->tie->billed_micros != shown->tie->total.invoice_micros)
		fprintf(out,
		    "Billed are %s in all (--cost billed): savings plans and reservations when they are paid.\n",
		    lt_money_text(text, sizeof(text), shown->tie->billed_micros, shown->currency));
	if (shown->tie->fees_micros != 0)
		fprintf(out,
		    "Not in it are fees of %s for commitments: what of them was used is in the rows of its use, and no column says what was not.\n",
		    lt_money_text(text, sizeof(text), shown->tie->fees_micros, shown->currency));
}

static void
print_notes(FILE *out, const struct lt_tie_shown *shown)
{
	const struct lt_tie_jobs *const jobs = shown->parts->jobs;
	const struct lt_tie *const tie = shown->tie;
	char text[TEXT_SIZE], other[TEXT_SIZE];
	bool unknown_idle = false;

	for (int i = 0; i < tie->count; i++)
		unknown_idle =
		    unknown_idle || (tie->rows[i].type != NULL && !tie->rows[i].has_idle);
	print_left_out(out, shown);
	print_commitments(out, shown);
	print_outside(out, shown);
	print_unknown(out, shown);
	for (int i = 0; i < jobs->other_count; i++) {
		fputs(i == 0 ? "Not in it, as they have no instance type, are "
			       "the jobs of: "
			     : ", ",
		    out);
		lt_print_safe(out, jobs->others[i].partition);
		fprintf(out, " %s",
		    lt_money_text(
			text, sizeof(text), jobs->others[i].cost_micros, shown->currency));
	}
	fputs(jobs->other_count ? " (--map).\n" : "", out);
	if (jobs->adjustments_micros != 0)
		fprintf(out, "Not in it are adjustments of %s.\n",
		    lt_money_text(text, sizeof(text), jobs->adjustments_micros, shown->currency));
	if (jobs->corrected_here_micros != 0 || jobs->corrected_elsewhere_micros != 0)
		fprintf(out,
		    "Corrections of closed months are in the days that they correct: %s of later bookings here, %s booked here elsewhere.\n",
		    lt_money_text(text, sizeof(text), jobs->corrected_here_micros, shown->currency),
		    lt_money_text(
			other, sizeof(other), -jobs->corrected_elsewhere_micros, shown->currency));
	if (jobs->carbon_charge_micros != 0)
		fprintf(out, "Not in it is the charge for carbon, %s.\n",
		    lt_money_text(text, sizeof(text), jobs->carbon_charge_micros, shown->currency));
	if (jobs->discount_micros != 0)
		fprintf(out, "Discounts of %s for having waited are not taken off.\n",
		    lt_money_text(text, sizeof(text), jobs->discount_micros, shown->currency));
	if (unknown_idle)
		fputs("IDLE n/a: the invoice has no node-hours there, and what "
		      "was idle is in UNEXPLAINED.\n",
		    out);
	if (jobs->only_own)
		fputs("You do not see the jobs of all: those of others are in "
		      "UNEXPLAINED.\n",
		    out);
	if (!jobs->complete)
		fputs("Not all runs of these days are charged yet.\n", out);
}

/* Prints --rate, and the rates of the policy that were used. */
static void
print_rates(FILE *out, const struct lt_invoice_rates *rates)
{
	const char *before = " (";

	for (int i = 0; i < rates->count; i++) {
		const struct lt_invoice_rate *const rate = &rates->list[i];
		char from[32];

		if (!rate->is_said && rate->rows == 0)
			continue;
		fprintf(out, "%s%s=%s", before, rate->currency, rate->text);
		if (!rate->is_said)
			fprintf(out, " by exchange_rates:");
		if (rate->from_utc_s != INT64_MIN)
			fprintf(out, " from %s", lt_utc_text(from, sizeof(from), rate->from_utc_s));
		before = ", ";
	}
	fputs(before[0] == ',' ? ")" : "", out);
}

void
lt_tie_table(FILE *out, const struct lt_tie_shown *shown, bool color)
{
	const struct lt_invoice *const invoice = shown->parts->invoice;
	struct lt_tie cents;
	char first[32], last[32];

	lt_print_safe(out, file_name_of(shown->files[0]));
	if (shown->file_count > 1)
		fprintf(out, " and %d more", shown->file_count - 1);
	fprintf(out, ": %s, %" PRId64 " rows, ", invoice->format, invoice->rows);
	lt_print_safe(out, invoice->cost);
	if (basis_name(invoice) != NULL)
		fprintf(out, " (%s)", basis_name(invoice));
	fprintf(out, " in %s", shown->currency);
	print_rates(out, shown->rates);
	fprintf(out, ", %s to %s (UTC days)\n\n",
	    day_text(first, sizeof(first), invoice->first_day),
	    day_text(last, sizeof(last), invoice->first_day + invoice->day_count - 1));
	if (round_rows(&cents, shown->tie, shown->currency))
		print_rows(out, &cents, shown->currency, color);
	free(cents.rows);
	print_notes(out, shown);
}

/* ---- CSV ---- */
static void
print_seconds(FILE *out, bool known, int64_t seconds)
{
	if (known)
		fprintf(out, "%" PRId64, seconds);
}

static void
print_amount(FILE *out, bool known, int64_t micros)
{
	char text[TEXT_SIZE];

	if (known)
		fputs(lt_micros_exact(text, sizeof(text), micros), out);
	fputc(',', out);
}

void
lt_tie_csv(FILE *out, const struct lt_tie_shown *shown)
{
	fputs("day,instance_type,currency,invoice,jobs,idle,unexplained,"
	      "invoice_node_s,jobs_node_s\r\n",
	    out);
	for (int i = 0; i < shown->tie->count; i++) {
		const struct lt_tie_row *const row = &shown->tie->rows[i];
		const bool is_instance = row->type != NULL;
		char text[32];
		const char *const day = day_of_row(text, sizeof(text), row);

		fprintf(out, "%s,", day != NULL ? day : "");
		lt_csv_text(out, is_instance ? row->type : other_services);
		fprintf(out, ",%s,", shown->currency);
		print_amount(out, true, row->invoice_micros);
		print_amount(out, is_instance, row->jobs_micros);
		print_amount(out, row->has_idle, row->idle_micros);
		print_amount(out, true, row->unexplained_micros);
		print_seconds(out, row->has_nodes, row->invoice_node_s);
		fputc(',', out);
		print_seconds(out, is_instance, row->jobs_node_s);
		fputs("\r\n", out);
	}
}
