/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at one period of a report: whether it is closed, its total, the months up to it, and who
 * sends invoices for it. Reads the ledger; a closing that can't be read counts as none.
 */
#include <stdlib.h>

#include "closed.h"
#include "report_parts.h"

void
lt_report_look_at(struct lt_report_view *v, const struct lt_report_work *w,
    const struct lt_period *period, struct lt_ledger *ledger)
{
	*v = (struct lt_report_view){.work = w, .period = period, .ledger = ledger};
	v->is_closed = lt_ledger_closed(ledger, lt_report_span(period), &v->closed, NULL) == LT_OK;
	v->runs_utc_s = v->closed.closed_utc_s;
	struct lt_closed around;
	/* Runs do not change either if a longer period around it is closed. */
	if (!v->is_closed &&
	    lt_ledger_closed_around(ledger, lt_report_span(period), &around, NULL) == LT_OK)
		v->runs_utc_s = around.closed_utc_s;
}

const char *
lt_report_state_of(const struct lt_period *period, bool is_closed, int64_t now_utc_s)
{
	if (is_closed)
		return "closed";
	if (now_utc_s < period->start_utc_s)
		return "future";
	return now_utc_s < period->end_utc_s ? "open" : "ended";
}

static int
add_to_total(void *total, const struct lt_report_row *row, struct lt_error *err)
{
	(void)err;
	lt_report_line_add(total, row->line);
	return LT_OK;
}

int
lt_report_total(
    struct lt_report_line *total, const struct lt_report_view *view, struct lt_error *err)
{
	*total = (struct lt_report_line){0};
	return lt_report_lines(view, add_to_total, total, err);
}

const char *
lt_report_state(const struct lt_report_view *view)
{
	return lt_report_state_of(
	    view->period, view->is_closed || view->runs_utc_s != 0, view->work->now_utc_s);
}

void
lt_report_months(struct lt_period months[LT_TREND_MONTHS], const struct lt_report_work *work)
{
	int64_t at_utc_s = work->period.end_utc_s - 1;

	for (int i = LT_TREND_MONTHS - 1; i >= 0; i--) {
		lt_calendar_period(&months[i], &work->offsets, LT_MONTH, at_utc_s, 0);
		at_utc_s = months[i].start_utc_s - 1;
	}
}

/* ---- invoices: who sends them, and to whom ---- */

/*
 * They come from the policy, for a closed period from the one that was in force when it was closed.
 */
static const char *
first_said(const char *text, const char *other)
{
	return text[0] != '\0' ? text : other;
}

json_t *
lt_report_billing_now(const struct lt_report_work *w)
{
	const struct lt_policy_billing *const b = &w->billing;
	const char *const id = first_said(b->account_id, w->cluster);

	return b->is_billed
		   ? json_pack("{s:s,s:s,s:s}", "issuer", first_said(b->issuer, w->cluster),
			 "account_id", id, "account_name", first_said(b->account_name, id))
		   : NULL;
}

json_t *
lt_report_billing(const struct lt_report_work *w, struct lt_ledger *ledger, struct lt_span span)
{
	struct lt_closed closed;

	if (lt_ledger_closed(ledger, span, &closed, NULL) != LT_OK &&
	    lt_ledger_closed_around(ledger, span, &closed, NULL) != LT_OK)
		return lt_report_billing_now(w);
	json_t *const head = json_loads(closed.head, 0, NULL);
	json_t *const billing = json_incref(json_object_get(head, "billing"));

	json_decref(head);
	return billing;
}
