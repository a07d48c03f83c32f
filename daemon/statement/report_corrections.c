/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The corrections of a report's period as a list: for which month, of which run
 * and team, and why. They add up to what the teams were corrected by.
 */
#include <string.h>

#include "api.h"
#include "out.h"
#include "report_parts.h"

enum { LISTED_MAX = 500 }; /* the others are one row */

struct corrections {
	const struct lt_report_work *work;
	json_t *list;
	struct lt_entry row; /* of hours of one run, account and month */
	struct lt_period month;
	bool has_row;
	int64_t others, others_micros, others_mg;
};

/* Of a run that is not shown only its team is. */
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
	json_t *const one = json_pack("{s:o,s:s,s:o,s:s,s:I,s:I,s:s}", "made",
	    lt_api_time(row->made_utc_s), "month", all->month.label, "job_id",
	    lt_api_optional(!is_hidden, row->run.job_id), "team", row->account,
	    "money_micros", (json_int_t)row->money_micros, "carbon_mg",
	    (json_int_t)row->carbon_mg, "why", row->reason);
	return json_array_append_new(all->list, one) == 0
		   ? LT_OK
		   : lt_fail(err, LT_ENOMEM, "report: out of memory");
}

/* An lt_hour_function: hours of a run and account come one after the other. */
static int
take(void *context, const struct lt_entry *entry, struct lt_error *err)
{
	struct corrections *const all = context;
	const struct lt_report_work *const w = all->work;
	const struct lt_report_account *const account =
	    lt_report_account_of(w, entry->account);
	struct lt_entry *const row = &all->row;

	if (!lt_report_is_seen(account, entry->at_utc_s) ||
	    (account->own_sums && entry->uid != w->uid))
		return LT_OK;
	if (all->has_row && row->run.job_id == entry->run.job_id &&
	    row->run.submit_utc_s == entry->run.submit_utc_s &&
	    strcmp(row->account, entry->account) == 0 &&
	    entry->at_utc_s < all->month.end_utc_s)
		return lt_entry_add(row, entry, 1)
			   ? LT_OK
			   : lt_fail(err, LT_EOVERFLOW,
				 "report: corrections pass 64 bits");
	const int code = end_row(all, err);
	*row = *entry;
	all->has_row = true;
	lt_calendar_period(
	    &all->month, &w->offsets, LT_MONTH, entry->at_utc_s, 0);
	return code;
}

int
lt_report_put_corrections(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err)
{
	struct corrections all = {.work = view->work, .list = json_array()};
	int code = lt_ledger_corrections(
	    view->ledger, lt_report_span(view->period), take, &all, err);

	if (code == LT_OK && all.has_row)
		code = end_row(&all, err);
	lt_out_text(out, ",");
	lt_report_put_members(
	    out, json_pack("{s:o,s:{s:I,s:I,s:I}}", "corrections", all.list,
		     "more_corrections", "count", (json_int_t)all.others,
		     "money_micros", (json_int_t)all.others_micros, "carbon_mg",
		     (json_int_t)all.others_mg));
	return code;
}
