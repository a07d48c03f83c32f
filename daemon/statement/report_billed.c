/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What FOCUS needs where the site sends invoices (report_billing.c): what was
 * paid for its own nodes, and which partitions are preemptible. Both are by
 * rates that never change for what is over, so that of a closed period they
 * stay.
 */
#include <stdlib.h>

#include "batch.h"
#include "out.h"
#include "report_parts.h"

/* Of the span, in any part of it. */
static int
is_preemptible(bool *is, struct lt_ledger *ledger, const char *partition,
    struct lt_span span, struct lt_error *err)
{
	const struct lt_rates_asked asked = {partition, LT_RATE_THERE, span};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &steps, &count, err);

	*is = false;
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		*is |= steps[i].quality == LT_QUALITY_MEASURED &&
		       steps[i].value != LT_RATE_ENDED;
	free(steps);
	return code;
}

static int
list_preemptible(
    json_t *list, const struct lt_report_view *view, struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;
	int code =
	    lt_ledger_rated(view->ledger, LT_RATE_THERE, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		bool is;

		code = is_preemptible(&is, view->ledger, names[i],
		    lt_report_span(view->period), err);
		if (code == LT_OK && is)
			json_array_append_new(list, json_string(names[i]));
	}
	free(names);
	return code;
}

/* Does the site pay for their energy itself? Of others a cloud sends the
 * invoice. Where the nodes of all partitions are recorded, this tells them. */
static int
is_own(bool *is, struct lt_ledger *ledger, const char *partition,
    struct lt_span span, struct lt_error *err)
{
	const struct lt_rates_asked asked = {partition, LT_RATE_TARIFF, span};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	int code = LT_OK;

	if (lt_batch_words.pays_all_nodes)
		code = lt_ledger_rates(ledger, &asked, &steps, &count, err);
	*is = !lt_batch_words.pays_all_nodes || count > 0;
	free(steps);
	return code;
}

/* What was paid is told to who sees the whole site, and asks for all of it. */
static int
list_owned(
    json_t *list, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lt_report_unused *unused = NULL;
	int code = lt_report_unused_new(
	    &unused, view->ledger, lt_report_hours(view), w->now_utc_s, err);

	for (uint32_t i = 0;
	     code == LT_OK && i < lt_report_unused_count(unused); i++) {
		const struct lt_unused_row row =
		    lt_report_unused_row(unused, i);
		bool is;

		code = is_own(&is, view->ledger, row.partition,
		    lt_report_span(view->period), err);
		if (code != LT_OK || !is)
			continue;
		json_array_append_new(list,
		    json_pack("{s:s,s:o,s:o,s:o,s:o}", "partition",
			row.partition, "from", lt_api_time(row.from_utc_s),
			"to", lt_api_time(row.to_utc_s), "paid_node_s",
			lt_api_optional(w->sees_site, row.paid_node_s),
			"paid_micros",
			lt_api_optional(
			    w->sees_site && row.has_micros, row.paid_micros)));
	}
	lt_report_unused_free(unused);
	return code;
}

int
lt_report_put_billed(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	json_t *const billing = w->has_months
				    ? lt_report_billing(w, view->ledger,
					  lt_report_span(view->period))
				    : NULL;

	if (billing == NULL)
		return LT_OK;
	json_decref(billing);
	json_t *const owned = json_array(), *const preemptible = json_array();
	int code = list_owned(owned, view, err);

	if (code == LT_OK)
		code = list_preemptible(preemptible, view, err);
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:{s:o,s:o}}", "billed", "owned",
				       owned, "preemptible", preemptible));
	return code;
}
