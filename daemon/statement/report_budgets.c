/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budgets that a report's period is part of, each with its own period: a
 * month's report has those of the quarter and the year too, and what they are
 * expected to be at their ends by the last hourly forecast (budget_forecast.h).
 */
#include "api.h"
#include "out.h"
#include "report_parts.h"

/* A forecast is up to an hour old: never below what is spent by now. */
static json_t *
expected_json(const struct lt_forecast_range *expected, int64_t spent)
{
	return lt_api_optional(expected->known,
	    expected->expected > spent ? expected->expected : spent);
}

static json_t *
budget_json(
    const struct lt_report_work *w, const struct lt_report_budget *budget)
{
	const struct lt_period *const p = &budget->period;

	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:o,s:o}",
	    "team", w->accounts[budget->account].name, "label", p->label,
	    "start", lt_api_time(p->start_utc_s), "end",
	    lt_api_time(p->end_utc_s), "budget_micros",
	    lt_api_optional(p->limit.has_money, p->limit.money_micros),
	    "budget_mg",
	    lt_api_optional(p->limit.has_carbon, p->limit.carbon_mg),
	    "actual_micros", (json_int_t)p->settled.money_micros, "actual_mg",
	    (json_int_t)p->settled.carbon_mg, "held_micros",
	    (json_int_t)p->held.money_micros, "held_mg",
	    (json_int_t)p->held.carbon_mg, "expected_micros",
	    expected_json(&budget->forecast.money, p->settled.money_micros),
	    "expected_mg",
	    expected_json(&budget->forecast.carbon, p->settled.carbon_mg));
}

int
lt_report_put_budgets(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	json_t *const list = json_array();
	int code = LT_OK;

	if (view->is_closed) {
		json_decref(list);
		return LT_OK;
	}
	for (uint32_t i = 0; code == LT_OK && i < w->budget_count; i++)
		if (json_array_append_new(
			list, budget_json(w, &w->budgets[i])) != 0)
			code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "budgets", list));
	return code;
}
