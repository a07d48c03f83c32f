/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the statement of a period: a row for each account that had entries or has a budget, and a
 * line for each run. Each entry is in exactly one row and one line, so that both add up to the
 * total. Reads the work that api_report.c copied in the loop, and a ledger of its own. A part that
 * fails makes an error of the whole answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "closed.h"
#include "out.h"
#include "report_parts.h"
#include "report_tree.h"

struct sums {
	json_t *teams;
	struct lt_report_line total;
	struct lt_report_tree *tree; /* NULL: not asked for */
};

static int
add_line(void *context, const struct lt_report_row *row, struct lt_error *err)
{
	struct sums *const sums = context;
	json_t *const team = lt_report_line_json(row->account, row->line, row->budget);

	lt_report_line_add(&sums->total, row->line);
	if (sums->tree != NULL)
		lt_report_tree_add(sums->tree, row);
	return json_object_set(team, "labels", row->labels) == 0 &&
		       json_array_append_new(sums->teams, team) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: out of memory");
}

/* The months that the period touches, as wholes: what the ledger bills. Where a quarter or a year
 * was closed, its months are, too. */
static json_t *
months_json(const struct lt_report_view *v)
{
	const struct lt_report_work *const w = v->work;
	json_t *const months = json_array();
	struct lt_period month = {.end_utc_s = v->period->start_utc_s};

	while (month.end_utc_s < v->period->end_utc_s) {
		struct lt_closed closed = {.closed_utc_s = 0};

		lt_calendar_period(&month, &w->offsets, LT_MONTH, month.end_utc_s, 0);
		const struct lt_span span = lt_report_span(&month);
		const bool is_closed =
		    lt_ledger_closed(v->ledger, span, &closed, NULL) == LT_OK ||
		    lt_ledger_closed_around(v->ledger, span, &closed, NULL) == LT_OK;

		json_array_append_new(
		    months, json_pack("{s:s,s:o,s:o,s:s,s:o,s:o*}", "label", month.label, "start",
				lt_api_time(month.start_utc_s), "end", lt_api_time(month.end_utc_s),
				"state", lt_report_state_of(&month, is_closed, w->now_utc_s),
				"closed", lt_api_time(closed.closed_utc_s), "billing",
				lt_report_billing(w, v->ledger, span)));
	}
	return months;
}

static json_t *
period_json(const struct lt_report_view *v)
{
	const struct lt_report_work *const w = v->work;
	const struct lt_period *const period = v->period;
	char first[LT_DAY_TEXT_SIZE], last[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	lt_calendar_day(first, &start, &end, &w->offsets, period->start_utc_s);
	lt_calendar_day(last, &start, &end, &w->offsets, period->end_utc_s - 1);
	json_t *const json = json_pack("{s:s,s:o,s:o,s:s,s:s,s:s,s:o,s:s?,s:s?}", "label",
	    period->label, "start", lt_api_time(period->start_utc_s), "end",
	    lt_api_time(period->end_utc_s), "first_day", first, "last_day", last, "state",
	    lt_report_state_of(period, v->is_closed, w->now_utc_s), "closed",
	    lt_api_time(v->closed.closed_utc_s), "closed_by", v->is_closed ? v->closed.who : NULL,
	    "checksum", v->is_closed ? v->closed.checksum : NULL);
	json_t *const reopened = lt_reopened_brief(v->ledger, lt_report_span(period));
	if (reopened != NULL)
		json_object_set_new(json, "reopened", reopened);
	if (w->has_months && period == &w->period)
		json_object_set_new(json, "months", months_json(v));
	return json;
}

static int
put_previous(struct lt_out *out, const struct lt_report_work *w, struct lt_ledger *ledger,
    struct lt_error *err)
{
	struct sums sums = {.teams = json_array()};
	struct lt_report_view v;

	lt_report_look_at(&v, w, &w->previous, ledger);
	int code = lt_report_lines(&v, add_line, &sums, err);
	lt_out_text(out, ",\"previous\":{");
	lt_report_put_members(
	    out, json_pack("{s:o,s:o,s:o}", "period", period_json(&v), "teams", sums.teams, "total",
		     lt_report_line_json(NULL, &sums.total, NULL)));
	if (code == LT_OK && w->groupings.shown > 0)
		code = lt_report_put_groups(out, &v, err);
	lt_out_text(out, "}");
	return code;
}

/* ---- twelve months ---- */

/* A month in which nothing was booked has no figures. */
static int
add_month(json_t *months, const struct lt_report_view *v, struct lt_error *err)
{
	struct lt_report_line total;
	const int code = lt_report_total(&total, v, err);
	const bool has_any = !lt_report_line_is_empty(&total);
	const struct lt_amount cost = lt_report_line_cost(&total);

	if (code != LT_OK)
		return code;
	json_array_append_new(
	    months, json_pack("{s:s,s:o,s:o,s:s,s:o,s:o,s:o}", "label", v->period->label, "start",
			lt_api_time(v->period->start_utc_s), "end",
			lt_api_time(v->period->end_utc_s), "state", lt_report_state(v),
			"cost_micros", lt_api_optional(has_any, cost.money_micros), "carbon_mg",
			lt_api_optional(has_any, cost.carbon_mg), "runs",
			lt_api_optional(has_any, total.in[LT_ENTRY_CHARGE].runs)));
	return LT_OK;
}

static int
put_trend(struct lt_out *out, const struct lt_report_work *w, struct lt_ledger *ledger,
    struct lt_error *err)
{
	struct lt_period all[LT_TREND_MONTHS];
	json_t *const months = json_array();
	int code = LT_OK;

	lt_report_months(all, w);
	for (int i = 0; code == LT_OK && i < LT_TREND_MONTHS; i++) {
		struct lt_report_view v;

		lt_report_look_at(&v, w, &all[i], ledger);
		v.no_budgets = true;
		code = add_month(months, &v, err);
	}
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "trend", months));
	return code;
}

/* Writes the members that need no sums, first and at once. */
static void
put_head(struct lt_out *out, const struct lt_report_view *v)
{
	const struct lt_access_users *const users = &v->work->users;
	const int64_t as_of_utc_s = v->is_closed ? v->closed.closed_utc_s : v->work->now_utc_s;
	json_t *const head = json_pack("{s:o,s:o,s:b,s:b}", "period", period_json(v), "as_of",
	    lt_api_time(as_of_utc_s), "own_runs", users->own_runs, "own_figures",
	    users->own_figures);
	json_t *const more = lt_report_head_of(v);

	if (json_object_update(head, more) != 0)
		out->failed = true;
	json_decref(more);
	lt_report_put_members(out, head);
	lt_out_flush(out);
}

/* "teams", "total" and, as asked, "tree". *cost: of the total. */
static int
put_sums(struct lt_amount *cost, struct lt_out *out, const struct lt_report_view *v,
    struct lt_error *err)
{
	const struct lt_report_work *const w = v->work;
	struct sums sums = {
	    .teams = json_array(), .tree = w->has_tree ? lt_report_tree_new(v) : NULL};
	int code = w->has_tree && sums.tree == NULL
		       ? lt_fail(err, LT_ENOMEM, "report: out of memory")
		       : lt_report_lines(v, add_line, &sums, err);
	const bool is_settled =
	    v->is_closed || (w->is_settled && sums.total.in[0].provisional_runs == 0);

	lt_report_put_members(out,
	    json_pack("{s:b,s:b,s:o,s:o}", "settled", is_settled, "complete",
		is_settled && w->now_utc_s >= w->period.end_utc_s, "teams", sums.teams, "total",
		lt_report_line_json(NULL, &sums.total, w->has_budget ? &w->budget : NULL)));
	if (code == LT_OK && w->has_tree)
		code = lt_report_tree_put(out, sums.tree, err);
	lt_report_tree_free(sums.tree);
	*cost = lt_report_line_cost(&sums.total);
	return code;
}

/* Without the brace that ends it. */
static int
put_statement(struct lt_out *out, const struct lt_report_view *v, struct lt_error *err)
{
	const struct lt_report_work *const w = v->work;
	struct lt_amount cost;

	lt_out_text(out, "{");
	put_head(out, v);
	lt_out_text(out, ",");
	int code = put_sums(&cost, out, v, err);
	lt_out_text(out, ",");
	if (code == LT_OK)
		code = lt_report_put_adjustments(out, v, err);
	if (code == LT_OK && w->has_corrections)
		code = lt_report_put_corrections(out, v, err);
	if (code == LT_OK)
		code = lt_report_put_forecast(out, v, &cost, err);
	if (code == LT_OK)
		code = lt_report_put_budgets(out, v, err);
	if (code == LT_OK)
		code = lt_report_put_measured(out, v, err);
	if (code == LT_OK)
		code = lt_report_put_refused(out, v, err);
	if (code == LT_OK)
		code = lt_report_put_away(out, v, err);
	if (code == LT_OK && w->has_trend)
		code = put_trend(out, w, v->ledger, err);
	if (code == LT_OK && w->has_balance)
		code = lt_report_put_balance(out, v, err);
	if (code == LT_OK && w->has_previous)
		code = put_previous(out, w, v->ledger, err);
	if (code == LT_OK && (w->groupings.count + w->groupings.top > 0 || w->has_unused))
		code = lt_report_put_groups(out, v, err);
	if (code == LT_OK)
		code = lt_report_put_billed(out, v, err);
	if (code == LT_OK && w->has_incurred)
		code = lt_report_put_incurred(out, v, err);
	if (code == LT_OK && w->has_carbon)
		code = lt_report_put_carbon(out, v, NULL, err);
	return code;
}

bool
lt_report_place(struct lt_run *after, bool *is_late, const char *text)
{
	long long end, start, submit;
	unsigned moved, priced, job_id, late;
	int used = 0;

	if (sscanf(text, "%u.%lld.%lld.%u.%u.%u.%lld.%n", &late, &end, &start, &moved, &priced,
		&job_id, &submit, &used) != 7 ||
	    used == 0 || text[used] == '\0' || strlen(text + used) >= sizeof(after->account))
		return false;
	*after = (struct lt_run){.end_utc_s = end,
	    .start_utc_s = start,
	    .moved = moved != 0,
	    .priced = priced != 0,
	    .key = {job_id, submit}};
	*is_late = late != 0;
	(void)strcpy(after->account, text + used);
	return true;
}

int
lt_report_statement(const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out)
{
	struct lt_error err = {0};
	struct lt_report_view v;

	lt_report_look_at(&v, (const void *)work,
	    &((const struct lt_report_work *)(const void *)work)->period, ledger);
	if (put_statement(out, &v, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "}");
	return 200;
}

int
lt_report_page(const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct lt_error err = {0};
	struct lt_report_view v;
	char next[LT_ACCOUNT_SIZE + 128];

	lt_report_look_at(&v, w, &w->period, ledger);
	struct lt_report_rows rows = {.view = &v, .out = out};
	lt_out_text(out, "{\"runs\":[");
	if (lt_report_rows_page(&rows, w->most, &err) != LT_OK)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, "\n],\"next\":");
	snprintf(next, sizeof(next), "%d.%lld.%lld.%d.%d.%u.%lld.%s", rows.last_late,
	    (long long)rows.last.end_utc_s, (long long)rows.last.start_utc_s, rows.last.moved,
	    rows.last.priced, rows.last.key.job_id, (long long)rows.last.key.submit_utc_s,
	    rows.last.account);
	if (rows.left == 0)
		lt_out_quoted(out, next);
	else
		lt_out_text(out, "null");
	lt_out_text(out, "}");
	return 200;
}

int
lt_report_all(const struct lt_api_work *work, struct lt_ledger *ledger, struct lt_out *out)
{
	const struct lt_report_work *const w = (const void *)work;
	struct lt_error err = {0};
	struct lt_report_view v;

	lt_report_look_at(&v, w, &w->period, ledger);
	struct lt_report_rows rows = {.view = &v, .out = out};
	int code = put_statement(out, &v, &err);
	if (code != LT_OK && !out->taken)
		return lt_out_error(out, 503, err.text);
	lt_out_text(out, w->has_hours ? ",\"hours\":[" : ",\"runs\":[");
	if (code == LT_OK)
		code = w->has_hours ? lt_report_put_carbon(out, &v, out, &err)
				    : lt_report_rows(&rows, &err);
	lt_out_text(out, code == LT_OK ? "\n],\"next\":null}" : "\n],\"error\":");
	if (code != LT_OK) {
		lt_out_quoted(out, err.text);
		lt_out_text(out, "}");
	}
	return 200;
}
