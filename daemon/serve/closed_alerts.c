/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "api.h"
#include "closed_alerts.h"
#include "report.h"
#include "text.h"
#include "units.h"

struct statement { /* of a team with the accounts below it */
	const char *team;
	struct lt_report_line sum;
	struct lt_amount limit; /* has_x: of a budget of just this period */
};

/* A lt_row_function. */
static int
add_row(void *context, const struct lt_report_row *row, struct lt_error *err)
{
	struct statement *const s = context;

	(void)err;
	lt_report_line_add(&s->sum, row->line);
	if (row->budget != NULL && strcmp(row->account, s->team) == 0)
		s->limit = row->budget->limit;
	return LT_OK;
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

/* Of a limit, in per cent; nothing where there is none. */
static void
put_part(struct lt_text *text, bool has, int64_t cost, int64_t limit,
    const char *what)
{
	if (has && limit > 0)
		lt_text_put(text, "%.0f %% of its %s budget of the period\n",
		    100 * (double)cost / (double)limit, what);
}

static void
write_text(struct lt_alert *alert, const struct lt_report_work *w,
    const struct statement *s)
{
	static const char *const kinds[] = {/* by enum lt_entry_kind */
	    "Runs", "Corrections of closed months", "Adjustments"};
	const struct lt_amount cost = lt_report_line_cost(&s->sum);
	struct lt_text subject = {
	    .out = alert->subject, .size = sizeof(alert->subject)};
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};

	lt_text_put(
	    &subject, "lowtide: %s, %s: ", alert->team, w->period.label);
	put_amount(&subject, w->currency, cost);
	lt_text_put(&text,
	    "%s with the accounts below it, %s, is closed: ", alert->team,
	    w->period.label);
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
		    (struct lt_amount){.money_micros = t->money_micros,
			.carbon_mg = t->carbon_mg});
		lt_text_put(&text, "\n");
	}
	put_part(&text, s->limit.has_money, cost.money_micros,
	    s->limit.money_micros, "money");
	put_part(&text, s->limit.has_carbon, cost.carbon_mg, s->limit.carbon_mg,
	    "carbon");
	lt_text_put(&text,
	    "\nAs a page: lowtide report --team %s --period %s --format html\n"
	    "By whom:   lowtide report --team %s --period %s --by user\n",
	    alert->team, w->period.label, alert->team, w->period.label);
}

/* Of one team with the accounts below it, as `lowtide report --team` adds it
 * up. */
static int
tell_team(struct lt_daemon *d, struct lt_report_work *w,
    const struct lt_closed *closed, const char *team, struct lt_error *err)
{
	const struct lt_report_view view = {.work = w,
	    .period = &w->period,
	    .ledger = d->ledger,
	    .is_closed = true,
	    .closed = *closed};
	struct statement s = {.team = team};
	struct lt_alert alert = {.kind = LT_ALERT_STATEMENT,
	    .uid = LT_NOBODY_UID,
	    .times = 1,
	    .is_over = true,
	    .made_utc_s = w->now_utc_s};
	const int code = lt_report_lines(&view, add_row, &s, err);

	if (code != LT_OK || lt_report_line_is_empty(&s.sum))
		return code;
	snprintf(alert.team, sizeof(alert.team), "%s", team);
	snprintf(alert.name, sizeof(alert.name),
	    "statement:%s:%" PRId64 ":%" PRId64, team, closed->span.from_utc_s,
	    closed->span.to_utc_s);
	snprintf(alert.begins, sizeof(alert.begins), "%s", alert.name);
	write_text(&alert, w, &s);
	return lt_ledger_put_alert(d->ledger, &alert, err);
}

int
lt_closed_alerts(struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_closed *closed, struct lt_error *err)
{
	struct lt_period period = {.start_utc_s = closed->span.from_utc_s,
	    .end_utc_s = closed->span.to_utc_s};
	const struct lt_policy_notify *const notify = &d->policy->notify;
	struct lt_api_request of = *request;
	int code = LT_OK;

	memcpy(period.label, closed->label, sizeof(period.label));
	of.value_count = 1;
	snprintf(of.values[0].key, sizeof(of.values[0].key), "team");
	for (int i = 0; code == LT_OK && i < notify->owner_count; i++) {
		const char *const team = notify->owners[i].team;

		snprintf(
		    of.values[0].value, sizeof(of.values[0].value), "%s", team);
		struct lt_report_work *const w =
		    lt_report_take(d, &of, &period);
		code = w != NULL
			   ? tell_team(d, w, closed, team, err)
			   : lt_fail(err, LT_ENOMEM, "close: out of memory");
		free(w);
	}
	return code;
}
