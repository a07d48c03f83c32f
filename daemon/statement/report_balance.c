/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lowtide's own balance of twelve months: what it moved and what that saved, by
 * the model and as measured, how long jobs waited for it, how many came out
 * worse, and how many it refused. Of closed months, too, whatever their
 * statements say of it.
 */
#include "api.h"
#include "out.h"
#include "report_parts.h"

/* A figure below some members of an object; null where it is not there. */
static json_t *
figure(json_t *of, const char *outer, const char *inner)
{
	json_t *const at = outer != NULL ? json_object_get(of, outer) : of;
	json_t *const value = json_object_get(at, inner);

	return value != NULL ? json_incref(value) : json_null();
}

/* A period in which nothing was booked has no sums. measured: of the row that
 * tells all of it. */
static json_t *
row_of(const struct lt_report_view *v, json_t *measured, bool is_total,
    struct lt_error *err)
{
	struct lt_report_line total;
	json_t *refused;

	if (lt_report_total(&total, v, err) != LT_OK ||
	    lt_report_refused(&refused, v, err) != LT_OK)
		return NULL;
	json_t *const line = lt_report_line_is_empty(&total)
				 ? NULL
				 : lt_report_line_json(NULL, &total, NULL);
	json_t *const row = json_pack(
	    "{s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I}",
	    "label", v->period->label, "start",
	    lt_api_time(v->period->start_utc_s), "end",
	    lt_api_time(v->period->end_utc_s), "state", lt_report_state(v),
	    "runs", figure(line, NULL, "runs"), "moved_runs",
	    figure(line, NULL, "moved_runs"), "saved_micros",
	    figure(line, NULL, "saved_micros"), "saved_mg",
	    figure(line, NULL, "saved_mg"), "measured_micros",
	    figure(measured, "micros", "saved"), "measured_mg",
	    figure(measured, "mg", "saved"), "waited_s",
	    figure(measured, NULL, "waited_s"), "worse_jobs",
	    figure(measured, "worse", "jobs"), "worse_of_jobs",
	    figure(measured, "worse", "known_jobs"), "refused_jobs",
	    json_integer_value(json_object_get(refused, "jobs")));

	if (is_total && measured != NULL)
		json_object_set(row, "measured", measured);
	json_decref(line);
	json_decref(refused);
	return row;
}

static json_t *
row_measured(
    const struct lt_report_view *v, bool is_total, struct lt_error *err)
{
	json_t *measured;

	if (lt_report_measured(&measured, v, true, err) != LT_OK)
		return NULL;
	json_t *const row = row_of(v, measured, is_total, err);
	json_decref(measured);
	return row;
}

int
lt_report_put_balance(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct lt_period months[LT_TREND_MONTHS], all;
	json_t *const rows = json_array();
	struct lt_report_view v;
	json_t *row = NULL;

	lt_report_months(months, view->work);
	all = months[0];
	all.end_utc_s = months[LT_TREND_MONTHS - 1].end_utc_s;
	snprintf(all.label, sizeof(all.label), "%.7s to %.7s", months[0].label,
	    months[LT_TREND_MONTHS - 1].label);
	for (int i = 0; i <= LT_TREND_MONTHS; i++) {
		lt_report_look_at(&v, view->work,
		    i < LT_TREND_MONTHS ? &months[i] : &all, view->ledger);
		v.no_budgets = true;
		row = row_measured(&v, i == LT_TREND_MONTHS, err);
		if (row == NULL) {
			json_decref(rows);
			return err->code;
		}
		if (i < LT_TREND_MONTHS)
			json_array_append_new(rows, row);
	}
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:{s:o,s:o}}", "balance",
				       "months", rows, "total", row));
	return LT_OK;
}
