/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes lowtide's own balance of twelve months: runs that it moved and their savings, by the model
 * and as measured, how long jobs waited for it, how many came out worse, and how many it refused.
 * Closed months are computed too, whatever their statements have. A month that can't be read fails
 * the report.
 */
#include "api.h"
#include "figures.h"
#include "lookup.h"
#include "out.h"
#include "report_parts.h"

/* A figure below some members of an object; null where it is not there. */
static void
set_figure(
    json_t *row, enum lt_balance_figure figure, json_t *of, const char *outer, const char *inner)
{
	json_t *const at = outer != NULL ? json_object_get(of, outer) : of;
	json_t *const value = json_object_get(at, inner);

	json_object_set_new(row, LT_ROW(lt_balance_figures, figure).key,
	    value != NULL ? json_incref(value) : json_null());
}

static void
set_of_team(json_t *row, enum lt_balance_figure figure, json_t *line, enum lt_team_figure from)
{
	set_figure(row, figure, line, NULL, LT_ROW(lt_team_figures, from).key);
}

/* Makes the row of a period; one in which nothing was booked has no sums. The total's row has all
 * of measured too. */
static json_t *
row_of(const struct lt_report_view *v, json_t *measured, bool is_total, struct lt_error *err)
{
	struct lt_report_line total;
	json_t *refused;

	if (lt_report_total(&total, v, err) != LT_OK ||
	    lt_report_refused(&refused, v, err) != LT_OK)
		return NULL;
	json_t *const line =
	    lt_report_line_is_empty(&total) ? NULL : lt_report_line_json(NULL, &total, NULL);
	json_t *const row = json_pack("{s:s,s:o,s:o,s:s}", "label", v->period->label, "start",
	    lt_api_time(v->period->start_utc_s), "end", lt_api_time(v->period->end_utc_s), "state",
	    lt_report_state(v));

	set_of_team(row, LT_BALANCE_RUNS, line, LT_TEAM_RUNS);
	set_of_team(row, LT_BALANCE_MOVED_RUNS, line, LT_TEAM_MOVED_RUNS);
	set_of_team(row, LT_BALANCE_SAVED, line, LT_TEAM_SAVED);
	set_of_team(row, LT_BALANCE_SAVED_MG, line, LT_TEAM_SAVED_MG);
	set_figure(row, LT_BALANCE_MEASURED, measured, "micros", "saved");
	set_figure(row, LT_BALANCE_MEASURED_MG, measured, "mg", "saved");
	set_figure(row, LT_BALANCE_WAITED, measured, NULL, "waited_s");
	set_figure(row, LT_BALANCE_WORSE_JOBS, measured, "worse", "jobs");
	set_figure(row, LT_BALANCE_WORSE_OF_JOBS, measured, "worse", "known_jobs");
	json_object_set_new(row, lt_balance_figures[LT_BALANCE_REFUSED_JOBS].key,
	    json_integer(json_integer_value(json_object_get(refused, "jobs"))));
	if (is_total && measured != NULL)
		json_object_set(row, "measured", measured);
	json_decref(line);
	json_decref(refused);
	return row;
}

static json_t *
row_measured(const struct lt_report_view *v, bool is_total, struct lt_error *err)
{
	json_t *measured;

	if (lt_report_measured(&measured, v, true, err) != LT_OK)
		return NULL;
	json_t *const row = row_of(v, measured, is_total, err);
	json_decref(measured);
	return row;
}

int
lt_report_put_balance(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
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
		lt_report_look_at(
		    &v, view->work, i < LT_TREND_MONTHS ? &months[i] : &all, view->ledger);
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
	lt_report_put_members(
	    out, json_pack("{s:{s:o,s:o}}", "balance", "months", rows, "total", row));
	return LT_OK;
}
