/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the members of a report that are computed from its rows: groups and the dearest runs,
 * total cost to outcome, unused nodes and carbon; and its adjustments, and the forecast of an open
 * period. A part that can't be read or is too large fails the report.
 */
#include <stdlib.h>
#include <string.h>

#include "min_max.h"
#include "out.h"
#include "period_end.h"
#include "report_parts.h"
#include "units.h"

/* A JSON object without the brace that ends it, and that begins it. */
void
lt_report_put_members(struct lt_out *out, json_t *object)
{
	char *const text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;

	if (text != NULL)
		lt_out_bytes(out, text + 1, strlen(text) - 2);
	else
		out->failed = true;
	free(text);
	json_decref(object);
}

struct adjustments {
	const struct lt_report_work *w;
	struct lt_report_groups *groups;
	json_t *list;
};

static int
take_adjustment(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct adjustments *const all = context;
	const struct lt_report_account *const account =
	    lt_report_account_of(all->w, entry->account);
	char day[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	if (!lt_report_is_seen(account, entry->at_utc_s) || account->own_sums)
		return LT_OK;
	if (all->groups != NULL)
		return lt_report_groups_adjustment(all->groups, entry, err);
	lt_calendar_day(day, &start, &end, &all->w->offsets, entry->at_utc_s);
	json_t *const row = json_pack("{s:o,s:s,s:s,s:I,s:I,s:s?,s:s}", "made",
	    lt_api_time(entry->made_utc_s), "day", day, "team", entry->account, "money_micros",
	    (json_int_t)entry->money_micros, "carbon_mg", (json_int_t)entry->carbon_mg, "who",
	    all->w->users.are_hidden ? NULL : entry->who, "reason", entry->reason);
	return json_array_append_new(all->list, row) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: no memory, or a text that is not UTF-8");
}

int
lt_report_put_adjustments(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct adjustments all = {.w = view->work, .list = json_array()};
	const int code = lt_ledger_adjustments(
	    view->ledger, lt_report_span(view->period), take_adjustment, &all, err);

	lt_report_put_members(out, json_pack("{s:o}", "adjustments", all.list));
	return code;
}

/* ---- corrections of closed periods, where they belong ---- */

static int
take_incurred(void *list, const struct lt_incurred *incurred, struct lt_error *err)
{
	return json_array_append_new(
		   list, json_pack("{s:s,s:I,s:I,s:I}", "partition", incurred->partition,
			     "cost_micros", (json_int_t)incurred->money_micros,
			     "carbon_charge_micros", (json_int_t)incurred->carbon_charge_micros,
			     "discount_micros", (json_int_t)incurred->discount_micros)) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: out of memory");
}

int
lt_report_put_incurred(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	json_t *const list = w->is_everyones ? json_array() : NULL;
	const int code = list == NULL ? LT_OK
				      : lt_ledger_incurred(view->ledger,
					    lt_report_span(view->period), take_incurred, list, err);

	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o?}", "incurred", list));
	return code;
}

/* ---- groups ---- */

struct tcto {
	const struct lt_tcto_site *site;
	struct lt_tcto_figures figures;
};

static int
add_tcto(void *context, const struct lt_report_group *group, struct lt_error *err)
{
	struct tcto *const tcto = context;
	const struct lt_tcto_group one = {group->texts[0], group->texts[1], group->ended,
	    group->cost_micros, group->energy_wh, group->gpu_s};

	return lt_tcto_add(&tcto->figures, tcto->site, &one, err);
}

static int
put_tcto(struct lt_out *out, const struct lt_report_view *view,
    const struct lt_report_groups *groups, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	const struct lt_period *const p = view->period;
	const int64_t end_utc_s = lt_min_i64(p->end_utc_s, w->now_utc_s);
	struct tcto tcto = {.site = &w->tcto};

	if (end_utc_s > p->start_utc_s)
		tcto.figures.month_parts =
		    lt_calendar_month_parts(&w->offsets, p->start_utc_s, end_utc_s);
	const int code = lt_report_groups_each(groups, add_tcto, &tcto, err);
	if (code != LT_OK)
		return code;
	json_t *const json = lt_tcto_json(&w->tcto, &tcto.figures, w->currency, err);
	if (json == NULL)
		return err->code;
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "tcto", json));
	return LT_OK;
}

struct lt_span
lt_report_hours(const struct lt_report_view *view)
{
	const struct lt_offsets *const offsets = &view->work->offsets;
	const struct lt_span span = lt_report_span(view->period);

	return view->is_closed && view->closed.whole_hours
		   ? lt_booked_hours(span.from_utc_s, span.to_utc_s)
		   : (struct lt_span){lt_calendar_next_hour(offsets, span.from_utc_s),
			 lt_calendar_next_hour(offsets, span.to_utc_s)};
}

static int
put_unused(struct lt_out *out, const struct lt_report_work *w,
    const struct lt_report_unused *unused, struct lt_error *err)
{
	json_t *const json =
	    w->sees_site ? lt_report_unused_json(unused, w->currency[0] != '\0', err) : json_null();

	if (json == NULL)
		return err->code;
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "unused", json));
	return LT_OK;
}

int
lt_report_put_groups(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	const struct lt_span span = lt_report_span(view->period);
	json_t *labels = NULL;
	int code = lt_groupings_have(&w->groupings, LT_BY_LABEL)
		       ? lt_report_labels_all(&labels, view, err)
		       : LT_OK;
	struct lt_report_groups *const groups =
	    lt_report_groups_new(&w->groupings, &w->offsets, view->ledger, span, labels);
	const bool is_own = view->period == &w->period;
	struct lt_report_rows rows = {.view = view, .groups = groups, .are_sums = true};
	struct adjustments adjustments = {.w = w, .groups = groups};

	if (groups == NULL)
		code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	if (code == LT_OK && w->has_unused && w->sees_site && is_own)
		code = lt_report_unused_new(
		    &rows.unused, view->ledger, lt_report_hours(view), w->now_utc_s, err);
	if (code == LT_OK)
		code = lt_report_rows(&rows, err);
	if (code == LT_OK)
		code =
		    lt_ledger_adjustments(view->ledger, span, take_adjustment, &adjustments, err);
	if (code == LT_OK)
		lt_report_groups_write(out, groups);
	if (code == LT_OK && w->has_tcto && is_own)
		code = put_tcto(out, view, groups, err);
	if (code == LT_OK && w->has_unused && is_own)
		code = put_unused(out, w, rows.unused, err);
	lt_report_unused_free(rows.unused);
	lt_report_groups_free(groups);
	json_decref(labels);
	return code;
}

json_t *
lt_report_head(const struct lt_report_work *w)
{
	return json_pack("{s:s,s:s,s:s?,s:s,s:o*}", "currency", w->currency, "carbon_intensity",
	    w->is_marginal ? "marginal" : "average", "emission_factors",
	    w->basis[0] != '\0' ? w->basis : NULL, "cluster", w->cluster, "billing",
	    lt_report_billing_now(w));
}

json_t *
lt_report_head_of(const struct lt_report_view *view)
{
	return view->is_closed ? json_loads(view->closed.head, 0, NULL)
			       : lt_report_head(view->work);
}

int
lt_report_put_carbon(struct lt_out *out, const struct lt_report_view *view, struct lt_out *hours,
    struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lt_report_carbon *const carbon =
	    lt_report_carbon_new(&(struct lt_carbon_asked){.ledger = view->ledger,
		.offsets = &w->offsets,
		.period = lt_report_span(view->period),
		.zones = w->zones,
		.zone_count = w->zone_count,
		.hours = hours});
	struct lt_report_rows rows = {.view = view, .carbon = carbon, .are_sums = hours == NULL};

	if (carbon == NULL)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	const int code = lt_report_rows(&rows, err);
	json_t *const head = lt_report_head_of(view);
	if (code == LT_OK && hours == NULL)
		lt_report_carbon_write(out, carbon, head);
	json_decref(head);
	lt_report_carbon_free(carbon);
	return code;
}

/* ---- forecast ---- */

static json_t *
range_json(const struct lt_period_forecast *f, bool has_money)
{
	const bool money = f->money.known && has_money;
	const bool carbon = f->carbon.known;

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "low_micros",
	    lt_api_optional(money, f->money.low), "expected_micros",
	    lt_api_optional(money, f->money.expected), "high_micros",
	    lt_api_optional(money, f->money.high), "low_mg", lt_api_optional(carbon, f->carbon.low),
	    "expected_mg", lt_api_optional(carbon, f->carbon.expected), "high_mg",
	    lt_api_optional(carbon, f->carbon.high));
}

static int
index_of(const void *context, const char *account)
{
	return lt_report_account_index(context, account);
}

/* Forecasts the accounts that are seen now: days to come are theirs. */
static int
forecast_seen(struct lt_period_forecast *forecast, const struct lt_report_view *view,
    const struct lt_last_days *last, const struct lt_amount *cost)
{
	const struct lt_report_work *const w = view->work;
	struct lt_accounts_end seen = {0};
	struct lt_period_end end;
	int code = lt_period_end_make(&end, last, lt_report_span(view->period), NULL);

	for (uint32_t i = 0; code == LT_OK && i < w->account_count; i++)
		if (lt_report_is_seen(&w->accounts[i], w->now_utc_s))
			code = lt_period_end_add(&seen, &end, i, NULL);
	if (code == LT_OK)
		code = lt_period_end_forecast(forecast, &end, &seen, cost, NULL);
	free(end.accounts);
	return code;
}

/* NULL: the forecast is not known. */
static json_t *
forecast_json(const struct lt_report_view *view, const struct lt_amount *cost)
{
	const struct lt_report_work *const w = view->work;
	const struct lt_last_days_asked asked = {
	    &w->offsets, w->now_utc_s, w->account_count, index_of, w};
	struct lt_period_forecast forecast;
	struct lt_last_days last;
	int code = lt_last_days_read(&last, view->ledger, &asked, NULL);

	if (code == LT_OK)
		code = forecast_seen(&forecast, view, &last, cost);
	lt_last_days_free(&last);
	return code == LT_OK ? range_json(&forecast, w->currency[0] != '\0') : NULL;
}

int
lt_report_put_forecast(struct lt_out *out, const struct lt_report_view *view,
    const struct lt_amount *cost, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	const bool is_open = !view->is_closed && w->now_utc_s >= view->period->start_utc_s &&
			     w->now_utc_s < view->period->end_utc_s;
	json_t *json = is_open && !w->users.own_figures ? forecast_json(view, cost) : NULL;

	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o?}", "forecast", json));
	return out->failed ? lt_fail(err, LT_ENOMEM, "report: out of memory") : LT_OK;
}
