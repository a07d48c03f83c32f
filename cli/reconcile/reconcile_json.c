/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tie-out as JSON, each amount exactly; and the words that it shares with
 * the table and CSV.
 */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "date.h"
#include "lookup.h"
#include "reconcile_tie.h"
#include "units.h"

const char *
lt_tie_day_text(char *out, size_t size, int64_t day)
{
	const struct lt_date date = lt_date_of_day(day);

	snprintf(out, size, "%04" PRId64 "-%02d-%02d", date.year, date.month,
	    date.day);
	return out;
}

const char *
lt_tie_file_name(const char *operand)
{
	return strcmp(operand, "-") == 0 ? "standard input" : operand;
}

/* NULL: it is what the column says. */
const char *
lt_tie_basis_name(const struct lt_invoice *invoice)
{
	static const char *const names[LT_INVOICE_BASIS_COUNT] = {
	    [LT_INVOICE_AUTO] = "billed",
	    [LT_INVOICE_BILLED] = "billed",
	    [LT_INVOICE_AMORTISED] = "amortised"};

	return LT_WORD_OR(names, invoice->basis, NULL);
}

/* Returns NULL where it is none of the invoice's days. */
const char *
lt_tie_row_day(char *out, size_t size, const struct lt_tie_row *row)
{
	return row->is_outside ? NULL : lt_tie_day_text(out, size, row->day);
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

		json_object_set_new(object, "day",
		    json_pack("s?", lt_tie_row_day(day, sizeof(day), row)));
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
		json_array_append_new(
		    list, json_pack("{s:s,s:I}", "instance_type",
			      invoice->unknown[i].type, "invoice_micros",
			      (json_int_t)(invoice->unknown[i].cost_pico /
					   LT_MICROS)));
	return list;
}

static json_t *
files_json(const struct lt_tie_shown *shown)
{
	json_t *const list = json_array();

	for (int i = 0; i < shown->file_count; i++)
		json_array_append_new(
		    list, json_string(lt_tie_file_name(shown->files[i])));
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
		json_array_append_new(list,
		    json_pack("{s:s,s:s,s:s?,s:b,s:I}", "currency",
			rate->currency, "rate", rate->text, "from",
			rate->from_utc_s != INT64_MIN ? from : NULL, "said",
			rate->is_said, "rows", (json_int_t)rate->rows));
	}
	return list;
}

/* What --rate said; NULL: nothing. */
static const char *
said_rate(char *out, size_t size, const struct lt_invoice_rates *rates)
{
	if (rates->count == 0 || !rates->list[0].is_said)
		return NULL;
	snprintf(
	    out, size, "%s=%s", rates->list[0].currency, rates->list[0].text);
	return out;
}

static json_t *
outside_json(const struct lt_invoice *invoice)
{
	json_t *const list = json_array();

	for (int i = 0; i < invoice->outside_month_count; i++) {
		const struct lt_invoice_month *const one =
		    &invoice->outside_months[i];
		char month[48];

		snprintf(month, sizeof(month), "%04" PRId64 "-%02" PRId64,
		    one->month / 12, one->month % 12 + 1);
		json_array_append_new(
		    list, json_pack("{s:s,s:I,s:I}", "month", month, "rows",
			      (json_int_t)one->rows, "invoice_micros",
			      (json_int_t)lt_tie_micros(one->cost_pico)));
	}
	return list;
}

static json_t *
others_json(const struct lt_tie_jobs *jobs)
{
	json_t *const list = json_array();

	for (int i = 0; i < jobs->other_count; i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:I}", "partition",
			      jobs->others[i].partition, "jobs_micros",
			      (json_int_t)jobs->others[i].cost_micros));
	return list;
}

json_t *
lt_tie_json(const struct lt_tie_shown *shown)
{
	const struct lt_invoice *const invoice = shown->parts->invoice;
	const struct lt_tie_jobs *const jobs = shown->parts->jobs;
	const struct lt_tie *const tie = shown->tie;
	char first[32], last[32], rate[48];

	lt_tie_day_text(first, sizeof(first), invoice->first_day);
	lt_tie_day_text(
	    last, sizeof(last), invoice->first_day + invoice->day_count - 1);
	return json_pack(
	    "{s:s,s:o,s:s,s:s,s:s?,s:o,s:I,s:s,s:s?,s:o,s:s,s:s,s:I,s:s?,s:s?,"
	    "s:I,s:I,s:o,s:b,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I}",
	    "file", lt_tie_file_name(shown->files[0]), "files",
	    files_json(shown), "format", invoice->format, "cost", invoice->cost,
	    "basis", lt_tie_basis_name(invoice), "billed_micros",
	    integer(invoice->has_billed, tie->billed_micros), "fees_micros",
	    (json_int_t)shown->tie->fees_micros, "currency", shown->currency,
	    "rate", said_rate(rate, sizeof(rate), shown->rates), "rates",
	    rates_json(shown->rates), "first_day", first, "last_day", last,
	    "rows", (json_int_t)invoice->rows, "only", shown->filter->only,
	    "account", shown->filter->accounts, "left_out_rows",
	    (json_int_t)invoice->left_out_rows, "outside_rows",
	    (json_int_t)invoice->outside_rows, "outside", outside_json(invoice),
	    "complete", jobs->complete, "only_own", jobs->only_own, "days",
	    rows_json(tie), "instances", row_json(&tie->instances, true),
	    "other_services", row_json(&tie->others, false), "total",
	    row_json(&tie->total, true), "unknown_types", unknown_json(invoice),
	    "other_partitions", others_json(jobs), "adjustments_micros",
	    (json_int_t)jobs->adjustments_micros, "carbon_charge_micros",
	    (json_int_t)jobs->carbon_charge_micros, "discount_micros",
	    (json_int_t)jobs->discount_micros, "corrected_here_micros",
	    (json_int_t)jobs->corrected_here_micros,
	    "corrected_elsewhere_micros",
	    (json_int_t)-jobs->corrected_elsewhere_micros);
}
