/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all charges of FOCUS have, whatever they are for: the report's cluster,
 * currency and billing period, who bills, and when.
 */
#include <string.h>

#include "cli.h"
#include "focus.h"
#include "report.h"
#include "units.h"

int
lt_focus_span(struct lt_figure *start, struct lt_figure *end,
    const json_t *period, struct lt_error *err)
{
	start->known = end->known = true;
	if (lt_utc_parse(
		lt_json_text(period, "start", ""), &start->value, err) ||
	    lt_utc_parse(lt_json_text(period, "end", ""), &end->value, err))
		lt_context(err, "focus: the period");
	return err->code;
}

const json_t *
lt_focus_months(const json_t *report, struct lt_error *err)
{
	const json_t *const months =
	    json_object_get(json_object_get(report, "period"), "months");

	if (json_array_size(months) > 0)
		return months;
	lt_fail(err, LT_EVERSION,
	    "focus: lowtided does not say which months it bills; it is an older release");
	return NULL;
}

int
lt_focus_start(
    struct lt_focus_charge *charge, const json_t *report, struct lt_error *err)
{
	const char *const currency = lt_json_text(report, "currency", "");
	const json_t *months;

	*charge = (struct lt_focus_charge){
	    .cluster = lt_json_text(report, "cluster", ""),
	    .currency = currency,
	    .sku_price = LT_FOCUS_NODE_SHARE,
	    .category = "Other",
	    .consumed.known = true, /* a correction: nothing more */
	};
	if (strlen(currency) != 3 ||
	    strspn(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3)
		return lt_fail(err, LT_EINPUT,
		    "focus: got the currency \"%s\", want one of ISO 4217, such as USD",
		    currency);
	if (charge->cluster[0] == '\0')
		return lt_fail(
		    err, LT_EINPUT, "focus: the cluster has no name");
	if (lt_focus_span(&charge->from, &charge->to,
		json_object_get(report, "period"), err) ||
	    (months = lt_focus_months(report, err)) == NULL)
		return err->code;
	const json_t *const month = json_array_get(months, 0);
	const json_t *const billing = json_object_get(month, "billing");

	charge->issuer = lt_json_text(billing, "issuer", charge->cluster);
	charge->account_id =
	    lt_json_text(billing, "account_id", charge->cluster);
	charge->account_name =
	    lt_json_text(billing, "account_name", charge->cluster);
	return lt_focus_span(
	    &charge->period_start, &charge->period_end, month, err);
}

void
lt_focus_times(struct lt_focus_charge *charge, int64_t start, int64_t end,
    int64_t from, int64_t to)
{
	const int64_t first = start > from ? start : from;
	const int64_t last = end < to ? end : to;

	charge->start = (struct lt_figure){true, first};
	charge->end = (struct lt_figure){true, last > first ? last : first + 1};
}

int
lt_focus_start_row(struct lt_focus_charge *charge, const struct lt_rows *rows,
    struct lt_error *err)
{
	if (lt_focus_start(charge, rows->report, err))
		return err->code;
	charge->billing = rows->own;
	charge->has_category = rows->kind->flags & LT_FOCUS_HAS_CATEGORY;
	return LT_OK;
}
