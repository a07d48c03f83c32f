/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budgets that a report's period is part of, each with its own period: a
 * month's report has those of the quarter and the year too. One read of the
 * ledger's days says what all of them will have spent at their ends.
 */
#include <stdlib.h>

#include "account_tree.h"
#include "accounts.h"
#include "api.h"
#include "out.h"
#include "period_end.h"
#include "report_parts.h"
#include "units.h"

struct ends { /* of all budgets, in the work's order */
	const struct lt_report_work *work;
	struct lt_account_moves moves;
	struct lt_period_end *list; /* malloc'd */
};

static bool
is_open(const struct lt_report_work *w, uint32_t budget)
{
	const struct lt_period *const period = &w->budgets[budget].period;

	return w->now_utc_s >= period->start_utc_s &&
	       w->now_utc_s < period->end_utc_s;
}

/* A day for the budgets of one account. */
static int
add_day(struct ends *ends, const struct lt_report_account *account, int64_t day,
    const struct lt_account_sum *sum, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = account->first_budget;
	     code == LT_OK && i < account->first_budget + account->budget_count;
	     i++)
		/* Days of a longer period are of no use to a shorter one. */
		if (is_open(ends->work, i) &&
		    day >= lt_period_end_days(&ends->list[i]).first)
			code = lt_period_end_add(&ends->list[i], day, sum, err);
	return code;
}

/* An lt_day_function. A day counts where its account stood when it began. */
static int
take_day(void *context, int64_t day, const struct lt_account_sum *sum,
    struct lt_error *err)
{
	struct ends *const ends = context;
	const struct lt_report_work *const w = ends->work;
	int64_t at = lt_report_account_index(w, sum->account);
	int code = LT_OK;

	for (int depth = 0;
	     code == LT_OK && at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
		code = add_day(ends, &w->accounts[at], day, sum, err);
		at = lt_report_parent_then(w, &ends->moves, at, day * LT_DAY_S);
	}
	return code;
}

static int
read_days(struct ends *ends, struct lt_ledger *ledger, int64_t first_utc_s,
    struct lt_error *err)
{
	const struct lt_report_work *const w = ends->work;
	struct lt_days_asked days = {.first = INT64_MAX}; /* none */

	for (uint32_t i = 0; i < w->budget_count; i++) {
		const struct lt_period *const period = &w->budgets[i].period;

		if (!is_open(w, i))
			continue;
		lt_period_end_begin(&ends->list[i], &w->offsets,
		    &(struct lt_period_moment){
			lt_report_span(period), w->now_utc_s, first_utc_s});
		const struct lt_days_asked asked =
		    lt_period_end_days(&ends->list[i]);
		if (asked.first < days.first)
			days.first = asked.first;
		days.last = asked.last;
	}
	const int code = lt_ledger_account_moves(ledger, &ends->moves, err);
	return code == LT_OK
		   ? lt_ledger_day_sums(ledger, days, take_day, ends, err)
		   : code;
}

/* end: NULL where nothing says what is to come. */
static json_t *
budget_json(const struct lt_report_work *w,
    const struct lt_report_budget *budget, struct lt_period_end *end)
{
	const struct lt_period *const p = &budget->period;
	struct lt_period_forecast forecast = {0};

	if (end != NULL)
		(void)lt_period_end_forecast(&forecast, end, &p->settled, NULL);
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
	    lt_api_optional(forecast.money.known, forecast.money.expected),
	    "expected_mg",
	    lt_api_optional(forecast.carbon.known, forecast.carbon.expected));
}

int
lt_report_put_budgets(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct ends ends = {.work = w};
	json_t *const list = json_array();
	int64_t first_utc_s = 0;
	bool has = false;

	if (view->is_closed) {
		json_decref(list);
		return LT_OK;
	}
	ends.list = calloc(w->budget_count + 1u, sizeof(*ends.list));
	int code =
	    ends.list == NULL
		? lt_fail(err, LT_ENOMEM, "report: out of memory")
		: lt_ledger_first_booked(view->ledger, &first_utc_s, &has, err);
	if (code == LT_OK && has && w->budget_count > 0)
		code = read_days(&ends, view->ledger, first_utc_s, err);
	for (uint32_t i = 0; code == LT_OK && i < w->budget_count; i++)
		if (json_array_append_new(list,
			budget_json(w, &w->budgets[i],
			    has && is_open(w, i) ? &ends.list[i] : NULL)) != 0)
			code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	for (uint32_t i = 0; ends.list != NULL && i < w->budget_count; i++)
		free(ends.list[i].items);
	free(ends.list);
	free(ends.moves.list);
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "budgets", list));
	return code;
}
