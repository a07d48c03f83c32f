/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FOCUS as files: Cost and Usage, the adjustments of a month and then its runs
 * (focus_rows.c), month by month; and the BillingPeriod dataset.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "report.h"
#include "units.h"

/* The hour in which it was made, of the period. */
static int
adjustment_times(struct lt_focus_charge *charge, const json_t *adjustment,
    struct lt_error *err)
{
	int64_t made;

	if (lt_utc_parse(lt_json_text(adjustment, "made", ""), &made, err)) {
		lt_context(err, "focus: an adjustment's time");
		return err->code;
	}
	const int64_t hour = made - made % LT_HOUR_S;

	lt_focus_times(charge, hour, hour + LT_HOUR_S,
	    charge->period_start.value, charge->period_end.value);
	return LT_OK;
}

static int
print_adjustment(
    struct lt_rows *rows, const json_t *adjustment, struct lt_error *err)
{
	struct lt_focus_charge charge;
	char *description = NULL;
	size_t size = 0;

	if (lt_focus_start_row(&charge, rows, err) ||
	    adjustment_times(&charge, adjustment, err))
		return err->code;
	FILE *const text = open_memstream(&description, &size);

	if (text == NULL)
		return lt_fail(err, LT_ENOMEM, "no memory");
	charge.entry = LT_FOCUS_ADJUSTMENT;
	charge.account = lt_json_text(adjustment, "team", "");
	charge.tags = lt_rows_of_account(rows, charge.account);
	charge.who = lt_json_text(adjustment, "who", "");
	fprintf(text, "Adjustment by %s: %s", charge.who,
	    lt_json_text(adjustment, "reason", ""));
	fclose(text);
	charge.description = description;
	charge.cost.known = true;
	lt_json_int(adjustment, "money_micros", &charge.cost.value);
	charge.carbon.known =
	    lt_json_int(adjustment, "carbon_mg", &charge.carbon.value);
	lt_focus_bill(&charge);
	lt_focus_print(rows->out, &charge);
	free(description);
	return LT_OK;
}

static void
print_tags(FILE *out, const struct lt_rows *rows, const json_t *team)
{
	(void)rows;
	lt_focus_tags(out, json_object_get(team, "labels"));
}

static int
begin(struct lt_rows *rows, struct lt_error *err)
{
	struct lt_focus_charge charge;
	const json_t *adjustment;
	size_t index;

	if (lt_focus_start_row(&charge, rows, err))
		return err->code;
	rows->own = lt_focus_billing_new(rows->report, err);
	if (err->code)
		return err->code;
	if (rows->kind->flags & LT_FOCUS_HAS_HEADER)
		lt_focus_header(rows->out, charge.has_category);
	json_array_foreach(
	    json_object_get(rows->report, "adjustments"), index, adjustment)
		if (print_adjustment(rows, adjustment, err))
			return err->code;
	return LT_OK;
}

#define KIND(flags)                                                            \
	{                                                                      \
		"runs=all", print_tags, begin, lt_focus_run,                   \
		    lt_focus_print_unallocated, flags                          \
	}
const struct lt_rows_kind lt_focus_csv = KIND(LT_FOCUS_HAS_HEADER);
const struct lt_rows_kind lt_focus_more_csv = KIND(0);
const struct lt_rows_kind lt_focus_billed_csv =
    KIND(LT_FOCUS_HAS_HEADER | LT_FOCUS_HAS_CATEGORY);
const struct lt_rows_kind lt_focus_more_billed_csv =
    KIND(LT_FOCUS_HAS_CATEGORY);

/* A period has a record from its beginning, and is final once it is closed. */
static int
print_period(
    FILE *out, const json_t *month, const char *issuer, struct lt_error *err)
{
	const char *const state = lt_json_text(month, "state", "");
	const bool closed = strcmp(state, "closed") == 0;
	struct lt_figure start, end;
	char texts[3][32];
	int64_t changed;

	if (lt_focus_span(&start, &end, month, err) ||
	    strcmp(state, "future") == 0)
		return err->code;
	if (!closed)
		changed = start.value;
	else if (lt_utc_parse(lt_json_text(month, "closed", ""), &changed,
		     NULL) != LT_OK)
		changed = end.value;
	lt_utc_text(texts[0], sizeof(texts[0]), start.value);
	lt_utc_text(texts[1], sizeof(texts[1]), end.value);
	lt_utc_text(texts[2], sizeof(texts[2]), changed);
	fprintf(out, "%s,%s,%s,%s,%s,", texts[0], texts[1], texts[2], texts[0],
	    closed ? "Closed" : "Open");
	lt_csv_text(out, issuer);
	fputs("\r\n", out);
	return LT_OK;
}

int
lt_focus_period(FILE *out, const json_t *report, struct lt_error *err)
{
	struct lt_focus_charge charge;
	const json_t *month;
	size_t index;

	if (lt_focus_start(&charge, report, err))
		return err->code;
	fputs("BillingPeriodCreated,BillingPeriodEnd,BillingPeriodLastUpdated,"
	      "BillingPeriodStart,BillingPeriodStatus,InvoiceIssuerName\r\n",
	    out);
	json_array_foreach(lt_focus_months(report, err), index, month)
		if (print_period(out, month,
			lt_json_text(json_object_get(month, "billing"),
			    "issuer", charge.cluster),
			err))
			return err->code;
	return LT_OK;
}

/* Asks for a whole month by its label, so that the answer of a closed one is
 * what was kept. */
static void
ask_month(
    struct lt_report_query *part, const json_t *month, const json_t *period)
{
	const char *const start = lt_json_text(period, "start", "");
	const char *const end = lt_json_text(period, "end", "");

	/* Such texts are in the order of their times. */
	part->from = lt_json_text(month, "start", "");
	part->to = lt_json_text(month, "end", "");
	if (strcmp(start, part->from) <= 0 && strcmp(part->to, end) <= 0) {
		part->period = lt_json_text(month, "label", "");
		part->from = part->to = NULL;
		return;
	}
	part->period = NULL;
	part->from = strcmp(start, part->from) > 0 ? start : part->from;
	part->to = strcmp(part->to, end) > 0 ? end : part->to;
}

static bool
is_any_billed(const json_t *months)
{
	const json_t *month;
	size_t index;

	json_array_foreach(months, index, month)
		if (json_object_get(month, "billing") != NULL)
			return true;
	return false;
}

int
lt_focus_write(FILE *out, const struct lt_cli *cli,
    const struct lt_report_query *query, struct lt_error *err)
{
	json_t *report = NULL;
	size_t index = 0;

	if (lt_report_ask(&report, cli, query, false, err))
		return err->code;
	const json_t *const period = json_object_get(report, "period");
	const json_t *const months = json_object_get(period, "months");
	const bool billed = is_any_billed(months);
	do { /* one that says no months is refused as it begins */
		struct lt_report_query part = *query;
		const struct lt_report_rows to = {
		    out, billed	      ? index == 0 ? &lt_focus_billed_csv
						   : &lt_focus_more_billed_csv
			 : index == 0 ? &lt_focus_csv
				      : &lt_focus_more_csv};
		json_t *answer = NULL;

		if (json_array_size(months) > 0)
			ask_month(&part, json_array_get(months, index), period);
		lt_report_ask_runs(&answer, &to, cli, &part, err);
		json_decref(answer);
	} while (!err->code && ++index < json_array_size(months));
	json_decref(report);
	return err->code;
}
