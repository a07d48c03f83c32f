/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads closings from the ledger and makes their JSON: GET /v1/closed, a report's head, and the
 * answers of close and reopen. A row that can't be unpacked is LT_EINPUT, "damaged"; nothing is
 * written.
 */
#include "closed.h"

#include <stdlib.h>

#include "api.h"
#include "report_line.h"

/* An lt_closed_row_function. */
static int
add_row(void *sum, const struct lt_closed_row *row, struct lt_error *err)
{
	struct lt_report_line line;
	struct lt_period budget;
	bool has_budget;

	if (!lt_report_line_unpack(&line, &budget, &has_budget, row->figures))
		return lt_fail(err, LT_EINPUT, "closed: the row of %s is damaged", row->account);
	lt_report_line_add(sum, &line);
	return LT_OK;
}

int
lt_closed_cost(
    struct lt_ledger *ledger, struct lt_span span, struct lt_amount *cost, struct lt_error *err)
{
	struct lt_report_line sum = {0};
	const int code = lt_ledger_closed_rows(ledger, span, add_row, &sum, err);

	*cost = lt_report_line_cost(&sum);
	return code;
}

static bool
is_of(const struct lt_reopened *reopened, struct lt_span span)
{
	return reopened->span.from_utc_s == span.from_utc_s &&
	       reopened->span.to_utc_s == span.to_utc_s;
}

int
lt_closed_reopened(
    struct lt_ledger *ledger, struct lt_span span, struct lt_reopened *last, struct lt_error *err)
{
	struct lt_reopened *all = NULL;
	uint32_t count = 0;
	int found = 0;
	const int code = lt_ledger_all_reopened(ledger, &all, &count, err);

	for (uint32_t i = 0; i < count; i++)
		if (is_of(&all[i], span)) {
			*last = all[i];
			found++;
		}
	free(all);
	return code == LT_OK ? found : code;
}

json_t *
lt_closed_json(
    const struct lt_closings *closings, const struct lt_closed *closed, struct lt_error *err)
{
	struct lt_reopened last;
	struct lt_amount cost = {0};
	json_t *difference = NULL;
	const int undone = lt_closed_reopened(closings->ledger, closed->span, &last, err);

	if (undone < 0)
		return NULL;
	if (undone > 0 && closings->sees_all) {
		if (lt_closed_cost(closings->ledger, closed->span, &cost, err))
			return NULL;
		difference = json_pack("{s:s,s:I,s:I}", "currency", closings->currency,
		    "cost_micros", (json_int_t)(cost.money_micros - last.cost.money_micros),
		    "carbon_mg", (json_int_t)(cost.carbon_mg - last.cost.carbon_mg));
	}
	return json_pack("{s:s,s:o,s:o,s:o,s:s,s:s,s:i,s:o?}", "label", closed->label, "start",
	    lt_api_time(closed->span.from_utc_s), "end", lt_api_time(closed->span.to_utc_s),
	    "closed", lt_api_time(closed->closed_utc_s), "closed_by", closed->who, "checksum",
	    closed->checksum, "closing", undone + 1, "difference", difference);
}

json_t *
lt_reopened_json(const struct lt_closings *closings, const struct lt_reopened *r)
{
	const struct lt_amount *const cost = &r->cost;

	return json_pack("{s:s,s:o,s:o,s:o,s:s,s:s,s:o,s:s,s:s,s:o,s:o}", "label", r->label,
	    "start", lt_api_time(r->span.from_utc_s), "end", lt_api_time(r->span.to_utc_s),
	    "closed", lt_api_time(r->closed_utc_s), "closed_by", r->closed_by, "checksum",
	    r->checksum, "reopened", lt_api_time(r->reopened_utc_s), "reopened_by", r->reopened_by,
	    "reason", r->reason, "cost_micros",
	    lt_api_optional(closings->sees_all, cost->money_micros), "carbon_mg",
	    lt_api_optional(closings->sees_all, cost->carbon_mg));
}

json_t *
lt_reopened_brief(struct lt_ledger *ledger, struct lt_span span)
{
	struct lt_reopened *all = NULL;
	uint32_t count = 0;
	json_t *const list = json_array();

	(void)lt_ledger_all_reopened(ledger, &all, &count, NULL);
	for (uint32_t i = 0; i < count; i++)
		if (is_of(&all[i], span))
			json_array_append_new(
			    list, json_pack("{s:o,s:s,s:s}", "reopened",
				      lt_api_time(all[i].reopened_utc_s), "reopened_by",
				      all[i].reopened_by, "reason", all[i].reason));
	free(all);
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}
