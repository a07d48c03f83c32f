/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the members of a report that are lists of their own: budgets, corrections, jobs that were
 * refused, times in which nobody watched, and the invoiced costs of the site's own nodes. They are
 * read from the ledger; a list that can't be read fails the report.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "batch.h"
#include "out.h"
#include "report_parts.h"

/* ---- budgets ---- */

/*
 * The period is part of each of them, which has a period of its own: a month's report has those of
 * the quarter and the year too, and what they are expected to be at their ends by the last hourly
 * forecast (budget_forecast.h). A forecast is up to an hour old: never below what is spent by now.
 */
static json_t *
expected_json(const struct lt_forecast_range *expected, int64_t spent)
{
	return lt_api_optional(
	    expected->known, expected->expected > spent ? expected->expected : spent);
}

static json_t *
budget_json(const struct lt_report_work *w, const struct lt_report_budget *budget)
{
	const struct lt_period *const p = &budget->period;

	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:o,s:o}", "team",
	    w->accounts[budget->account].name, "label", p->label, "start",
	    lt_api_time(p->start_utc_s), "end", lt_api_time(p->end_utc_s), "budget_micros",
	    lt_api_optional(p->limit.has_money, p->limit.money_micros), "budget_mg",
	    lt_api_optional(p->limit.has_carbon, p->limit.carbon_mg), "actual_micros",
	    (json_int_t)p->settled.money_micros, "actual_mg", (json_int_t)p->settled.carbon_mg,
	    "held_micros", (json_int_t)p->held.money_micros, "held_mg",
	    (json_int_t)p->held.carbon_mg, "expected_micros",
	    expected_json(&budget->forecast.money, p->settled.money_micros), "expected_mg",
	    expected_json(&budget->forecast.carbon, p->settled.carbon_mg));
}

int
lt_report_put_budgets(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	json_t *const list = json_array();
	int code = LT_OK;

	if (view->is_closed) {
		json_decref(list);
		return LT_OK;
	}
	for (uint32_t i = 0; code == LT_OK && i < w->budget_count; i++)
		if (json_array_append_new(list, budget_json(w, &w->budgets[i])) != 0)
			code = lt_fail(err, LT_ENOMEM, "report: out of memory");
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "budgets", list));
	return code;
}

/* ---- corrections ---- */

/*
 * For which month, of which run and team, and why. They add up to what the teams were corrected by;
 * those past LISTED_MAX are one row.
 */
enum { LISTED_MAX = 500 };

struct corrections {
	const struct lt_report_work *work;
	json_t *list;
	struct lt_entry row; /* of hours of one run, account and month */
	struct lt_period month;
	bool has_row;
	int64_t others, others_micros, others_mg;
};

/* Ends a row; a run that is not shown has only its team. */
static int
end_row(struct corrections *all, struct lt_error *err)
{
	const struct lt_entry *const row = &all->row;
	const struct lt_report_account *const account =
	    lt_report_account_of(all->work, row->account);

	if (!all->has_row)
		return LT_OK;
	all->has_row = false;
	const bool is_hidden = account->own_runs && row->uid != all->work->uid;

	if (json_array_size(all->list) >= LISTED_MAX) {
		all->others++;
		all->others_micros += row->money_micros;
		all->others_mg += row->carbon_mg;
		return LT_OK;
	}
	json_t *const one =
	    json_pack("{s:o,s:s,s:o,s:s,s:I,s:I,s:s}", "made", lt_api_time(row->made_utc_s),
		"month", all->month.label, "job_id", lt_api_optional(!is_hidden, row->run.job_id),
		"team", row->account, "money_micros", (json_int_t)row->money_micros, "carbon_mg",
		(json_int_t)row->carbon_mg, "why", row->reason);
	return json_array_append_new(all->list, one) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: out of memory");
}

/* An lt_hour_function: hours of a run and account come one after the other. */
static int
take_correction(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct corrections *const all = context;
	const struct lt_report_work *const w = all->work;
	const struct lt_report_account *const account = lt_report_account_of(w, entry->account);
	struct lt_entry *const row = &all->row;

	if (!lt_report_is_seen(account, entry->at_utc_s) ||
	    (account->own_sums && entry->uid != w->uid))
		return LT_OK;
	if (all->has_row && row->run.job_id == entry->run.job_id &&
	    row->run.submit_utc_s == entry->run.submit_utc_s &&
	    strcmp(row->account, entry->account) == 0 && entry->at_utc_s < all->month.end_utc_s)
		return lt_entry_add(row, entry, 1)
			   ? LT_OK
			   : lt_fail(err, LT_EOVERFLOW, "report: corrections pass 64 bits");
	const int code = end_row(all, err);
	*row = *entry;
	all->has_row = true;
	lt_calendar_period(&all->month, &w->offsets, LT_MONTH, entry->at_utc_s, 0);
	return code;
}

int
lt_report_put_corrections(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct corrections all = {.work = view->work, .list = json_array()};
	int code = lt_ledger_corrections(
	    view->ledger, lt_report_span(view->period), take_correction, &all, err);

	if (code == LT_OK && all.has_row)
		code = end_row(&all, err);
	lt_out_text(out, ",");
	lt_report_put_members(
	    out, json_pack("{s:o,s:{s:I,s:I,s:I}}", "corrections", all.list, "more_corrections",
		     "count", (json_int_t)all.others, "money_micros", (json_int_t)all.others_micros,
		     "carbon_mg", (json_int_t)all.others_mg));
	return code;
}

/* ---- refused jobs ---- */

/*
 * Refused jobs by team, for teams whose sums are seen. A period without any has no such member, so
 * that statements from before they were counted stay as they are.
 */
struct refused {
	const struct lt_report_work *work;
	json_t *teams;
	const struct lt_report_account *last; /* of the last of them */
	int64_t jobs;
};

/* An lt_refused_function: hours of an account come one after the other. */
static int
take_refused(void *context, const char *name, int64_t at_utc_s, int64_t jobs, struct lt_error *err)
{
	struct refused *const refused = context;
	const struct lt_report_account *const account = lt_report_account_of(refused->work, name);

	if (!lt_report_is_seen(account, at_utc_s) || account->own_sums)
		return LT_OK;
	refused->jobs += jobs;
	if (account != refused->last &&
	    json_array_append_new(
		refused->teams, json_pack("{s:s,s:I}", "team", name, "jobs", (json_int_t)0)) != 0)
		return lt_fail(err, LT_ENOMEM, "report: out of memory");
	refused->last = account;
	json_t *const team = json_array_get(refused->teams, json_array_size(refused->teams) - 1);
	json_t *const sum = json_object_get(team, "jobs");
	json_integer_set(sum, json_integer_value(sum) + (json_int_t)jobs);
	return LT_OK;
}

int
lt_report_refused(json_t **json, const struct lt_report_view *view, struct lt_error *err)
{
	struct refused refused = {.work = view->work, .teams = json_array()};
	const int code = lt_ledger_refused(
	    view->ledger, lt_report_span(view->period), take_refused, &refused, err);

	*json = NULL;
	if (code == LT_OK && refused.jobs > 0)
		*json = json_pack(
		    "{s:I,s:O}", "jobs", (json_int_t)refused.jobs, "teams", refused.teams);
	json_decref(refused.teams);
	return code;
}

int
lt_report_put_refused(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	json_t *json;
	const int code = lt_report_refused(&json, view, err);

	if (code == LT_OK && json != NULL) {
		lt_out_text(out, ",");
		lt_report_put_members(out, json_pack("{s:o}", "refused", json));
	}
	return code;
}

/* ---- times in which nobody watched ---- */

/*
 * Times in which nobody watched: jobs that ended then are charged as estimated. A period without
 * any has no such member.
 */
enum { MOST = 20 };

int
lt_report_put_away(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct lt_batch_away aways[MOST];
	const struct lt_period *const period = view->period;
	const int count = lt_batch_aways(aways, MOST, period->start_utc_s, period->end_utc_s);
	json_t *const list = count > 0 ? json_array() : NULL;

	(void)err;
	if (list == NULL)
		return LT_OK;
	for (int i = 0; i < count; i++)
		json_array_append_new(
		    list, json_pack("{s:o,s:o}", "from", lt_api_time(aways[i].from_utc_s), "to",
			      lt_api_time(aways[i].to_utc_s)));
	lt_out_text(out, ",");
	lt_report_put_members(out, json_pack("{s:o}", "away", list));
	return LT_OK;
}

/* ---- what invoices are for ---- */

/*
 * FOCUS needs it where the site sends invoices: what was paid for its own nodes, and which
 * partitions are preemptible. Both are by rates that never change for what is over, so that for a
 * closed period they stay.
 */
/* Finds whether the partition was preemptible in any part of the span. */
static int
is_preemptible(bool *is, struct lt_ledger *ledger, const char *partition, struct lt_span span,
    struct lt_error *err)
{
	const struct lt_rates_asked asked = {partition, LT_RATE_THERE, span};
	struct lt_rate_step *steps = NULL;
	uint32_t count = 0;
	const int code = lt_ledger_rates(ledger, &asked, &steps, &count, err);

	*is = false;
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		*is |= steps[i].quality == LT_QUALITY_MEASURED && steps[i].value != LT_RATE_ENDED;
	free(steps);
	return code;
}

static int
list_preemptible(json_t *list, const struct lt_report_view *view, struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;
	int code = lt_ledger_rated(view->ledger, LT_RATE_THERE, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		bool is;

		code =
		    is_preemptible(&is, view->ledger, names[i], lt_report_span(view->period), err);
		if (code == LT_OK && is)
			json_array_append_new(list, json_string(names[i]));
	}
	free(names);
	return code;
}

/* Finds whether the site pays for the partition's energy itself, as the recorded nodes show; a
 * cloud sends invoices for the others. */
static int
is_own(bool *is, struct lt_ledger *ledger, const char *partition, struct lt_span span,
    struct lt_error *err)
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

/* Lists the costs of the site's own nodes, for users who see the whole site and ask for all of
 * it. */
static int
list_owned(json_t *list, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	struct lt_report_unused *unused = NULL;
	int code =
	    lt_report_unused_new(&unused, view->ledger, lt_report_hours(view), w->now_utc_s, err);

	for (uint32_t i = 0; code == LT_OK && i < lt_report_unused_count(unused); i++) {
		const struct lt_unused_row row = lt_report_unused_row(unused, i);
		bool is;

		code = is_own(&is, view->ledger, row.partition, lt_report_span(view->period), err);
		if (code != LT_OK || !is)
			continue;
		json_array_append_new(list,
		    json_pack("{s:s,s:o,s:o,s:o,s:o}", "partition", row.partition, "from",
			lt_api_time(row.from_utc_s), "to", lt_api_time(row.to_utc_s), "paid_node_s",
			lt_api_optional(w->sees_site, row.paid_node_s), "paid_micros",
			lt_api_optional(w->sees_site && row.has_micros, row.paid_micros)));
	}
	lt_report_unused_free(unused);
	return code;
}

int
lt_report_put_billed(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	const struct lt_report_work *const w = view->work;
	json_t *const billing =
	    w->has_months ? lt_report_billing(w, view->ledger, lt_report_span(view->period)) : NULL;

	if (billing == NULL)
		return LT_OK;
	json_decref(billing);
	json_t *const owned = json_array(), *const preemptible = json_array();
	int code = list_owned(owned, view, err);

	if (code == LT_OK)
		code = list_preemptible(preemptible, view, err);
	lt_out_text(out, ",");
	lt_report_put_members(
	    out, json_pack("{s:{s:o,s:o}}", "billed", "owned", owned, "preemptible", preemptible));
	return code;
}
