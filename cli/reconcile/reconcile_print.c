/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tie-out as table and CSV. CSV has each amount exactly; in the table, in
 * cents, each row and each column adds up as well.
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
	row->unexplained_micros =
	    row->invoice_micros - row->jobs_micros - row->idle_micros;
}

static void
add_cents(struct lt_tie_row *sum, const struct lt_tie_row *row)
{
	sum->invoice_micros += row->invoice_micros;
	sum->jobs_micros += row->jobs_micros;
	sum->idle_micros += row->idle_micros;
}

/*
 * In whole cents or what the currency has, as the reports' columns are; what is
 * unexplained is then the rest of each row, and so it adds up down the column
 * too. The two sums are those of their rows.
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
		lt_round_column(values, tie->count,
		    amount_of(&cents->total, column),
		    lt_currency_step(currency));
		for (size_t i = 0; i < count; i++)
			*amount_of(&cents->rows[i], column) = values[i];
		*amount_of(&cents->instances, column) = 0;
		*amount_of(&cents->others, column) = 0;
	}
	for (size_t i = 0; i < count; i++) {
		find_rest(&cents->rows[i]);
		add_cents(cents->rows[i].type != NULL ? &cents->instances
						      : &cents->others,
		    &cents->rows[i]);
	}
	find_rest(&cents->instances);
	find_rest(&cents->others);
	find_rest(&cents->total);
	free(values);
	return true;
}

/* "3.2 %" of the invoice, half away from zero. */
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
	    rest != 0 && tenths > 0 && (rest < 0) != (invoice < 0) ? "-" : "",
	    tenths / 10, (int)(tenths % 10));
}

static void
add_table_row(struct lt_table *table, const char *day, const char *name,
    const struct lt_tie_row *row, const char *currency)
{
	char invoice[TEXT_SIZE], jobs[TEXT_SIZE], idle[TEXT_SIZE],
	    rest[TEXT_SIZE], share[TEXT_SIZE];
	const bool is_other = strcmp(name, other_services) == 0;

	share_text(share, sizeof(share), row);
	const char *const cells[] = {
	    day,
	    name,
	    lt_money_text(
		invoice, sizeof(invoice), row->invoice_micros, currency),
	    is_other
		? "-"
		: lt_money_text(jobs, sizeof(jobs), row->jobs_micros, currency),
	    is_other ? "-"
	    : row->has_idle
		? lt_money_text(idle, sizeof(idle), row->idle_micros, currency)
		: "n/a",
	    lt_money_text(
		rest, sizeof(rest), row->unexplained_micros, currency),
	    share,
	};

	lt_table_row(table, cells);
}

static void
print_rows(
    FILE *out, const struct lt_tie *cents, const char *currency, bool color)
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
		const char *const named = lt_tie_row_day(day, sizeof(day), row);

		add_table_row(table, named != NULL ? named : "outside",
		    row->type != NULL ? row->type : other_services, row,
		    currency);
	}
	lt_table_fit(table, lt_cli_columns(), 1 << 1);
	lt_table_rule(table);
	add_table_row(table, "", "instances", &cents->instances, currency);
	add_table_row(table, "", other_services, &cents->others, currency);
	add_table_row(table, "TOTAL", "", &cents->total, currency);
	lt_table_print(out, table, color);
	lt_table_free(table);
}

/* ---- below it: what a reader would ask next ---- */
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
			(int64_t)(invoice->unknown[i].cost_pico / LT_MICROS),
			shown->currency));
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
	    invoice->outside_rows,
	    lt_tie_day_text(first, sizeof(first), invoice->outside_first_day),
	    lt_tie_day_text(last, sizeof(last), invoice->outside_last_day));
	for (int i = 0; i < count && i < SHOWN_MAX; i++) {
		const struct lt_invoice_month *const month =
		    &invoice->outside_months[i];

		fprintf(out, "%s %04" PRId64 "-%02" PRId64 " %s",
		    i == 0 ? "Of them belong to" : ",", month->month / 12,
		    month->month % 12 + 1,
		    lt_money_text(text, sizeof(text),
			lt_tie_micros(month->cost_pico), shown->currency));
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

/* What the sums are not, if costs are amortised. */
static void
print_commitments(FILE *out, const struct lt_tie_shown *shown)
{
	const struct lt_invoice *const invoice = shown->parts->invoice;
	char text[TEXT_SIZE];

	if (invoice->has_billed &&
	    shown->tie->billed_micros != shown->tie->total.invoice_micros)
		fprintf(out,
		    "Billed are %s in all (--cost billed): savings plans and reservations when they are paid.\n",
		    lt_money_text(text, sizeof(text), shown->tie->billed_micros,
			shown->currency));
	if (shown->tie->fees_micros != 0)
		fprintf(out,
		    "Not in it are fees of %s for commitments: what of them was used is in the rows of its use, and no column says what was not.\n",
		    lt_money_text(text, sizeof(text), shown->tie->fees_micros,
			shown->currency));
}

static void
print_notes(FILE *out, const struct lt_tie_shown *shown)
{
	const struct lt_tie_jobs *const jobs = shown->parts->jobs;
	const struct lt_tie *const tie = shown->tie;
	char text[TEXT_SIZE], other[TEXT_SIZE];
	bool unknown_idle = false;

	for (int i = 0; i < tie->count; i++)
		unknown_idle = unknown_idle || (tie->rows[i].type != NULL &&
						   !tie->rows[i].has_idle);
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
		    lt_money_text(text, sizeof(text),
			jobs->others[i].cost_micros, shown->currency));
	}
	fputs(jobs->other_count ? " (--map).\n" : "", out);
	if (jobs->adjustments_micros != 0)
		fprintf(out, "Not in it are adjustments of %s.\n",
		    lt_money_text(text, sizeof(text), jobs->adjustments_micros,
			shown->currency));
	if (jobs->corrected_here_micros != 0 ||
	    jobs->corrected_elsewhere_micros != 0)
		fprintf(out,
		    "Corrections of closed months are in the days that they correct: %s of later bookings here, %s booked here elsewhere.\n",
		    lt_money_text(text, sizeof(text),
			jobs->corrected_here_micros, shown->currency),
		    lt_money_text(other, sizeof(other),
			-jobs->corrected_elsewhere_micros, shown->currency));
	if (jobs->carbon_charge_micros != 0)
		fprintf(out, "Not in it is the charge for carbon, %s.\n",
		    lt_money_text(text, sizeof(text),
			jobs->carbon_charge_micros, shown->currency));
	if (jobs->discount_micros != 0)
		fprintf(out,
		    "Discounts of %s for having waited are not taken off.\n",
		    lt_money_text(text, sizeof(text), jobs->discount_micros,
			shown->currency));
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

/* What was said, and what the policy says if it was needed. */
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
			fprintf(out, " from %s",
			    lt_utc_text(from, sizeof(from), rate->from_utc_s));
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

	lt_print_safe(out, lt_tie_file_name(shown->files[0]));
	if (shown->file_count > 1)
		fprintf(out, " and %d more", shown->file_count - 1);
	fprintf(
	    out, ": %s, %" PRId64 " rows, ", invoice->format, invoice->rows);
	lt_print_safe(out, invoice->cost);
	if (lt_tie_basis_name(invoice) != NULL)
		fprintf(out, " (%s)", lt_tie_basis_name(invoice));
	fprintf(out, " in %s", shown->currency);
	print_rates(out, shown->rates);
	fprintf(out, ", %s to %s (UTC days)\n\n",
	    lt_tie_day_text(first, sizeof(first), invoice->first_day),
	    lt_tie_day_text(last, sizeof(last),
		invoice->first_day + invoice->day_count - 1));
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
		const char *const day = lt_tie_row_day(text, sizeof(text), row);

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
