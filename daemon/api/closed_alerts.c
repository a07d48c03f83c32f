/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the message to a team's owners when a month is closed: its figures with those of the
 * accounts below it, as api_close.c writes it in the transaction of the closing. Reads the
 * statement's work and the ledger. No memory or a ledger that fails makes the closing fail.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "alert.h"
#include "api.h"
#include "breath.h"
#include "closed_alerts.h"
#include "report_accounts.h"
#include "report_parts.h"
#include "text.h"
#include "units.h"

struct statement { /* of a team with the accounts below it */
	const char *team;
	struct lt_report_line sum;
	struct lt_amount limit; /* has_x: of a budget of just this period */
	struct lt_span span;	/* of the account that is added */
};

struct statements { /* of all teams that have owners */
	const struct lt_report_view *view;
	struct lt_report_asked asked;
	struct statement *list; /* by team */
	int count;
};

static int
by_team(const void *a, const void *b)
{
	const struct statement *const x = a, *const y = b;

	return strcasecmp(x->team, y->team);
}

/* In each team's time, at which the account was its own or below it. */
static void
find_spans(struct statements *all, const char *account)
{
	for (int i = 0; i < all->count; i++)
		all->list[i].span = LT_REPORT_NEVER;
	for (uint32_t k = 0; k <= all->asked.cut_count; k++) {
		const struct lt_span part = lt_report_cut_part(&all->asked, k);
		const char *name = account;

		for (int depth = 0; depth < LT_TREE_DEPTH_MAX && name[0]; depth++) {
			const struct statement key = {.team = name};
			struct statement *const s =
			    bsearch(&key, all->list, (size_t)all->count, sizeof(key), by_team);

			if (s != NULL)
				lt_report_span_add(&s->span, part);
			name = lt_account_parent(&all->asked.tree, name, part.to_utc_s - 1);
		}
	}
}

/* The whole row, or of an account that was moved amid the period what it had while it was there. */
static int
add_to(struct statement *s, const struct lt_report_view *view, const struct lt_report_row *row,
    struct lt_error *err)
{
	const struct lt_span period = lt_report_span(view->period);
	const struct lt_runs_asked asked = {.account = row->account,
	    .from_utc_s =
		s->span.from_utc_s > period.from_utc_s ? s->span.from_utc_s : period.from_utc_s,
	    .to_utc_s = s->span.to_utc_s < period.to_utc_s ? s->span.to_utc_s : period.to_utc_s};
	struct lt_report_line line = *row->line;

	if (asked.from_utc_s >= asked.to_utc_s)
		return LT_OK;
	if ((asked.from_utc_s > period.from_utc_s || asked.to_utc_s < period.to_utc_s) &&
	    lt_report_line_fill(&line, view->ledger, &asked, err) != LT_OK)
		return err->code;
	lt_report_line_add(&s->sum, &line);
	if (row->budget != NULL && strcmp(row->account, s->team) == 0)
		s->limit = row->budget->limit;
	return LT_OK;
}

/* A lt_row_function. */
static int
add_row(void *context, const struct lt_report_row *row, struct lt_error *err)
{
	struct statements *const all = context;
	int code = LT_OK;

	lt_breath(LT_TURN_READ);
	find_spans(all, row->account);
	for (int i = 0; code == LT_OK && i < all->count; i++)
		code = add_to(&all->list[i], all->view, row, err);
	return code;
}

static void
put_amount(struct lt_text *text, const char *currency, struct lt_amount amount)
{
	char carbon[64], money[64];

	lt_carbon_text(carbon, sizeof(carbon), amount.carbon_mg);
	if (currency[0] == '\0') {
		lt_text_put(text, "%s CO2e", carbon);
		return;
	}
	lt_money_text(money, sizeof(money), amount.money_micros, currency);
	lt_text_put(text, "%s, %s CO2e", money, carbon);
}

/* Writes the part of a limit, in per cent; nothing without a limit. */
static void
put_part(struct lt_text *text, bool has, int64_t cost, int64_t limit, const char *what)
{
	char percent[LT_PERCENT_SIZE];

	if (has && limit > 0)
		lt_text_put(text, "%s of its %s budget of the period\n",
		    lt_percent_text(percent, cost, limit), what);
}

static void
write_text(struct lt_alert *alert, const struct lt_report_work *w, const struct statement *s)
{
	static const char *const kinds[] = {/* by enum lt_entry_kind */
	    "Runs", "Corrections of closed months", "Adjustments"};
	const struct lt_amount cost = lt_report_line_cost(&s->sum);
	struct lt_text subject = {.out = alert->subject, .size = sizeof(alert->subject)};
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};

	lt_text_put(&subject, "lowtide: %s, %s: ", alert->team, w->period.label);
	put_amount(&subject, w->currency, cost);
	lt_text_put(
	    &text, "%s with the accounts below it, %s, is closed: ", alert->team, w->period.label);
	put_amount(&text, w->currency, cost);
	lt_text_put(&text, "\n\n");
	for (int k = 0; k < 3; k++) {
		const struct lt_totals *const t = &s->sum.in[k];

		if (t->money_micros == 0 && t->carbon_mg == 0 && t->runs == 0)
			continue;
		lt_text_put(&text, "%s", kinds[k]);
		if (k != LT_ENTRY_ADJUSTMENT)
			lt_text_put(&text, " (%" PRId64 ")", t->runs);
		lt_text_put(&text, ": ");
		put_amount(&text, w->currency,
		    (struct lt_amount){.money_micros = t->money_micros, .carbon_mg = t->carbon_mg});
		lt_text_put(&text, "\n");
	}
	put_part(&text, s->limit.has_money, cost.money_micros, s->limit.money_micros, "money");
	put_part(&text, s->limit.has_carbon, cost.carbon_mg, s->limit.carbon_mg, "carbon");
	lt_text_put(&text,
	    "\nAs a page: lowtide report --team %s --period %s --format html\n"
	    "By whom:   lowtide report --team %s --period %s --by user\n",
	    alert->team, w->period.label, alert->team, w->period.label);
}

static int
tell_team(const struct statements *all, const struct statement *s, struct lt_error *err)
{
	const struct lt_report_work *const w = all->view->work;
	const struct lt_span span = all->view->closed.span;
	struct lt_alert alert = {.kind = LT_ALERT_STATEMENT,
	    .uid = LT_NOBODY_UID,
	    .times = 1,
	    .is_over = true,
	    .made_utc_s = w->now_utc_s};

	if (lt_report_line_is_empty(&s->sum))
		return LT_OK;
	snprintf(alert.team, sizeof(alert.team), "%s", s->team);
	snprintf(alert.name, sizeof(alert.name), "statement:%s:%" PRId64 ":%" PRId64, s->team,
	    span.from_utc_s, span.to_utc_s);
	snprintf(alert.begins, sizeof(alert.begins), "%s", alert.name);
	write_text(&alert, w, s);
	return lt_ledger_put_alert(all->view->ledger, &alert, err);
}

/* The rows are read once, whatever the number of teams. */
static int
tell_all(struct statements *all, const struct lt_policy_notify *notify, struct lt_error *err)
{
	for (int i = 0; i < notify->owner_count; i++)
		all->list[i].team = notify->owners[i].team;
	all->count = notify->owner_count;
	qsort(all->list, (size_t)all->count, sizeof(*all->list), by_team);
	int code = lt_report_lines(all->view, add_row, all, err);
	for (int i = 0; code == LT_OK && i < all->count; i++)
		code = tell_team(all, &all->list[i], err);
	return code;
}

int
lt_closed_alerts(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_closed *closed, struct lt_error *err)
{
	struct lt_period period = {
	    .start_utc_s = closed->span.from_utc_s, .end_utc_s = closed->span.to_utc_s};
	const struct lt_policy_notify *const notify = &d->site.policy->notify;
	struct lt_api_request of = *request;
	struct statements all = {.asked = {.tree = lt_tables_tree(&d->site.tables)}};

	memcpy(period.label, closed->label, sizeof(period.label));
	of.value_count = 0; /* all teams */
	struct lt_report_work *const w = lt_report_take(d, &of, &period);
	const struct lt_report_view view = {.work = w,
	    .period = &period,
	    .ledger = d->ledger,
	    .is_closed = true,
	    .closed = *closed};
	all.view = &view;
	all.list = calloc((size_t)notify->owner_count + 1, sizeof(*all.list));
	const int code = w != NULL && all.list != NULL && lt_report_cut(&all.asked, &period)
			     ? tell_all(&all, notify, err)
			     : lt_fail(err, LT_ENOMEM, "close: out of memory");
	free(all.asked.cuts);
	free(all.list);
	free(w);
	return code;
}
