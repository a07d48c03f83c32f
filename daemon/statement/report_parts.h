/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a report, which report.c puts together: rows of accounts (report_line.c), rows of
 * runs (report_rows.c), and members computed from either (report_more.c). Each returns LT_OK, or
 * fails.
 */
#ifndef LT_SERVE_REPORT_PARTS_H
#define LT_SERVE_REPORT_PARTS_H

#include "report.h"
#include "report_unused.h"

static inline struct lt_span
lt_report_span(const struct lt_period *period)
{
	return (struct lt_span){period->start_utc_s, period->end_utc_s};
}

/* The part of the period in which the account is asked for. */
static inline struct lt_span
lt_report_asked(const struct lt_report_account *account, const struct lt_period *period)
{
	struct lt_span span = lt_report_span(period);

	if (account->asked.from_utc_s > span.from_utc_s)
		span.from_utc_s = account->asked.from_utc_s;
	if (account->asked.to_utc_s < span.to_utc_s)
		span.to_utc_s = account->asked.to_utc_s;
	if (span.to_utc_s < span.from_utc_s)
		span.to_utc_s = span.from_utc_s;
	return span;
}

/* True if bookings for the account at that time are seen. */
static inline bool
lt_report_is_seen(const struct lt_report_account *account, int64_t at_utc_s)
{
	return account != NULL && account->is_seen && at_utc_s >= account->asked.from_utc_s &&
	       at_utc_s < account->asked.to_utc_s;
}

/* The hours whose entries are booked in the period. */
struct lt_span lt_report_hours(const struct lt_report_view *view);

struct lt_report_rows { /* of runs */
	const struct lt_report_view *view;
	struct lt_report_unused *unused; /* added to, beside groups; or NULL */
	/* They are added to; or both NULL: */
	struct lt_report_groups *groups;
	struct lt_report_carbon *carbon;
	bool are_sums; /* of runs that are not shown, too */
	struct lt_out *out;
	uint32_t count, left; /* left of a page: room for so many more; of all:
			       * 0 */
	struct lt_run last;   /* of a full page */
	bool last_late;
};
int lt_report_rows(struct lt_report_rows *rows, struct lt_error *err);
/* Gives rows of each account in turn, from the work's place on, until there are `most`; 0: all. */
int lt_report_rows_page(struct lt_report_rows *rows, uint32_t most, struct lt_error *err);

/* Looks at a period of the work, and names its state: "closed", "open", "ended" or "future". */
void lt_report_look_at(struct lt_report_view *view, const struct lt_report_work *work,
    const struct lt_period *period, struct lt_ledger *ledger);
const char *lt_report_state(const struct lt_report_view *view);
const char *lt_report_state_of(const struct lt_period *period, bool is_closed, int64_t now_utc_s);
/* Sums all teams that are seen. */
int lt_report_total(
    struct lt_report_line *total, const struct lt_report_view *view, struct lt_error *err);
/* The months up to the one in which the report's period ends. */
void lt_report_months(struct lt_period months[LT_TREND_MONTHS], const struct lt_report_work *work);
/* ,"balance":{...}: what lowtide did in these months. */
int lt_report_put_balance(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);

/* An object without its braces; it is dropped. */
void lt_report_put_members(struct lt_out *out, json_t *object);
/* "adjustments":[...] */
int lt_report_put_adjustments(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"corrections":[...],"more_corrections":{...} */
int lt_report_put_corrections(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* Counts refused jobs as {jobs, teams[{team, jobs}]}, the caller's; NULL: no job was refused. */
int lt_report_refused(json_t **json, const struct lt_report_view *view, struct lt_error *err);
/* ,"refused":{...} where jobs were */
int lt_report_put_refused(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"away":[...] where nobody watched for a while */
int lt_report_put_away(struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"by":{...},"top":[...] as asked, ,"tcto":{...} and ,"unused":{...} */
int lt_report_put_incurred(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
int lt_report_put_groups(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"carbon":{...}; or, of hours, each hour of each run there. */
int lt_report_put_carbon(struct lt_out *out, const struct lt_report_view *view,
    struct lt_out *hours, struct lt_error *err);
/* The head as it is, or as it was when the period was closed. */
json_t *lt_report_head_of(const struct lt_report_view *view);
/* Gives the measured figures, the caller's; NULL: no job of the period had a quote that was carried
 * out. is_whole: with those of open periods only. */
int lt_report_measured(
    json_t **json, const struct lt_report_view *view, bool is_whole, struct lt_error *err);
/* ,"measured":{...}; nothing, where no job of the period had a quote that was carried out. */
int lt_report_put_measured(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"budgets":[...] of a period that is not closed: what is left of them, and what they will have
 * spent at their ends. */
int lt_report_put_budgets(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* {issuer, account_id, account_name} where the site bills, by the policy; of a period by the one
 * with which it, or what it lies in, was closed. The caller's; NULL: it does not. */
json_t *lt_report_billing_now(const struct lt_report_work *work);
json_t *lt_report_billing(
    const struct lt_report_work *work, struct lt_ledger *ledger, struct lt_span span);
/* ,"billed":{...} of one that asks for months and is billed: what was paid for the site's own
 * nodes, and which partitions are preemptible; else nothing. */
int lt_report_put_billed(
    struct lt_out *out, const struct lt_report_view *view, struct lt_error *err);
/* ,"forecast":{...} of a period that is open and cost so much till now, else null. */
int lt_report_put_forecast(struct lt_out *out, const struct lt_report_view *view,
    const struct lt_amount *cost, struct lt_error *err);

#endif
