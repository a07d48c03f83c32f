/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the percentages of budgets that were passed: after each budget snapshot, a log line and a
 * row of the ledger for each new one. Rows are states, not events: the present state is compared
 * with the former, so that a restart repeats nothing.
 *
 * Reads the snapshot, the forecasts and the ledger's rows. On failure the next snapshot is compared
 * again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "alert_send.h"
#include "alerter.h"
#include "alerts.h"
#include "budget_forecast.h"
#include "log.h"
#include "site.h"
#include "text.h"
#include "units.h"

/* All that a policy can have (values up to 1000), each once. */
enum { MEMORY_SIZE = 32 + 1000 * sizeof(" 1000"), WHOLE = 100 };
/* "alert:TEAM:KIND:WHICH:START:forecast:1000:again:TIMES" */
_Static_assert(LT_ACCOUNT_SIZE + 80 < LT_ALERT_NAME_SIZE, "a name fits");

/* True if value is at that percentage of the limit, or at a share of it. */
static bool
is_at(int64_t value, int64_t limit, int percent, int share_percent)
{
	int64_t threshold;

	return value > 0 &&
	       lt_scale_up(limit, (int64_t)percent * share_percent, WHOLE * WHOLE, &threshold) &&
	       value >= threshold;
}

static int64_t
capped_sum(int64_t a, int64_t b)
{
	int64_t both;

	return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

/* Returns the amount that is compared with the limit; has_x: it is limited, and known. */
static struct lt_amount
amount_on(const struct lt_period *period, const struct lt_period_forecast *forecast,
    enum lt_alert_basis basis)
{
	struct lt_amount amount = period->settled;

	amount.has_money = period->limit.has_money;
	amount.has_carbon = period->limit.has_carbon;
	if (basis == LT_ALERT_ON_HELD) {
		amount.money_micros = capped_sum(amount.money_micros, period->held.money_micros);
		amount.carbon_mg = capped_sum(amount.carbon_mg, period->held.carbon_mg);
	} else if (basis == LT_ALERT_ON_FORECAST) {
		amount.has_money &= forecast->money.known;
		amount.has_carbon &= forecast->carbon.known;
		amount.money_micros = forecast->money.expected;
		amount.carbon_mg = forecast->carbon.expected;
	}
	return amount;
}

static bool
money_at(
    const struct lt_amount *amount, const struct lt_amount *limit, int percent, int share_percent)
{
	return amount->has_money &&
	       is_at(amount->money_micros, limit->money_micros, percent, share_percent);
}

static bool
either_at(
    const struct lt_amount *amount, const struct lt_amount *limit, int percent, int share_percent)
{
	return money_at(amount, limit, percent, share_percent) ||
	       (amount->has_carbon &&
		   is_at(amount->carbon_mg, limit->carbon_mg, percent, share_percent));
}

int
lt_alerts_passed(int passed[LT_ALERTS_MAX], const struct lt_policy_budget *budget,
    const struct lt_period *period)
{
	const struct lt_amount spent = amount_on(period, NULL, LT_ALERT_ON_SPENT);
	int count = 0;

	for (int i = 0; i < budget->alert_count; i++) {
		const int percent = budget->alert_at[i];
		int at = count;

		if (!either_at(&spent, &period->limit, percent, WHOLE))
			continue;
		while (at > 0 && passed[at - 1] >= percent)
			at--;
		if (at < count && passed[at] == percent)
			continue;
		memmove(&passed[at + 1], &passed[at], (size_t)(count - at) * sizeof(*passed));
		passed[at] = percent;
		count++;
	}
	return count;
}

bool
lt_alerts_told(const char *remembered, int64_t start_utc_s, int percent)
{
	char *end;

	if (strtoll(remembered, &end, 10) != start_utc_s || end == remembered)
		return false;
	for (const char *at = end; *at == ' '; at = end) {
		const long told = strtol(at, &end, 10);

		if (end == at)
			return false;
		if (told == percent)
			return true;
	}
	return false;
}

/* Makes a name that stays over reloads: team, kind, and which of several. */
static void
name_of(char *out, size_t size, const struct lt_policy *policy, uint32_t index)
{
	const struct lt_policy_budget *const b = &policy->budgets[index];
	int before = 0;

	for (uint32_t i = 0; i < index; i++)
		before += policy->budgets[i].period == b->period &&
			  strcasecmp(policy->budgets[i].team, b->team) == 0;
	snprintf(out, size, "alert:%s:%d:%d", b->team, (int)b->period, before);
}

/* For each enum lt_alert_basis: its word in a log line, the ending of its percentages' names, and
 * what the team does. */
static const struct basis {
	const char *word, *suffix, *does;
} bases[LT_ALERT_BASES] = {
    {"spent", "", "has spent"},
    {"held", ":held", "has spent or held"},
    {"forecast", ":forecast", "is expected to spend"},
};

struct following { /* one budget, by one basis */
	const struct lt_alerter *by;
	const struct lt_alerts *known;
	const struct lt_period *period;
	struct lt_period_forecast forecast;
	struct lt_amount amount; /* amount_on() */
	const char *team;
	char budget[LT_ALERT_NAME_SIZE]; /* name_of() */
	char begins[LT_ALERT_NAME_SIZE];
	enum lt_alert_basis basis;
};

struct figures { /* in what has reached it */
	char spent[64], held[64], limit[64], low[64], expected[64], high[64];
};

static struct figures
figures_of(const struct following *f, int percent)
{
	const struct lt_period *const p = f->period;
	const struct lt_period_forecast *const end = &f->forecast;
	const char *const currency = f->by->site->policy->currency;
	const bool is_money = money_at(&f->amount, &p->limit, percent, WHOLE);
	struct figures text;
	const struct {
		char *out;
		int64_t money_micros, carbon_mg;
	} all[] = {
	    {text.spent, p->settled.money_micros, p->settled.carbon_mg},
	    {text.held, p->held.money_micros, p->held.carbon_mg},
	    {text.limit, p->limit.money_micros, p->limit.carbon_mg},
	    {text.low, end->money.low, end->carbon.low},
	    {text.expected, end->money.expected, end->carbon.expected},
	    {text.high, end->money.high, end->carbon.high},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (is_money)
			lt_money_text(
			    all[i].out, sizeof(text.spent), all[i].money_micros, currency);
		else
			lt_carbon_text(all[i].out, sizeof(text.spent), all[i].carbon_mg);
	return text;
}

static void
put_days(struct lt_text *out, const struct following *f)
{
	char first[LT_DAY_TEXT_SIZE], last[LT_DAY_TEXT_SIZE];
	const struct lt_offsets *const offsets = &f->by->site->offsets;
	int64_t start, end;

	(void)lt_calendar_day(first, &start, &end, offsets, f->period->start_utc_s);
	(void)lt_calendar_day(last, &start, &end, offsets, f->period->end_utc_s - 1);
	lt_text_put(out,
	    "By day:  lowtide report --team %s --from %s --to %s --format html -o %s.html\n",
	    f->team, first, last, f->team);
}

/* Totals, and where to look: it may go to a chat room. A digest has the first line. */
static void
write_text(struct lt_alert *alert, const struct following *f)
{
	const struct figures text = figures_of(f, alert->percent);
	const char *const label = f->period->label, *const team = f->team;
	struct lt_text out = {.out = alert->text, .size = sizeof(alert->text)};

	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: %s %s %d %% of its budget for %s", team, bases[f->basis].does, alert->percent,
	    label);
	if (f->basis == LT_ALERT_ON_HELD)
		lt_text_put(&out,
		    "%s has spent %s, and %s more is held for its jobs that wait or run, of %s for %s: %d %% and more.\n",
		    team, text.spent, text.held, text.limit, label, alert->percent);
	else if (f->basis == LT_ALERT_ON_FORECAST)
		lt_text_put(&out,
		    "%s is expected to spend %s of %s for %s: %d %% and more.\n"
		    "It has spent %s so far. In 8 of 10 cases it comes to between %s and %s.\n",
		    team, text.expected, text.limit, label, alert->percent, text.spent, text.low,
		    text.high);
	else
		lt_text_put(&out,
		    "%s has spent %s of %s for %s: %d %% and more.\n"
		    "%s more is held for its jobs that wait or run.\n",
		    team, text.spent, text.limit, label, alert->percent, text.held);
	lt_text_put(&out,
	    "\nNow:     lowtide budget --team %s\n"
	    "By whom: lowtide report --team %s --by user\n",
	    team, team);
	if (f->basis == LT_ALERT_ON_FORECAST)
		put_days(&out, f);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct lt_alert *)a)->name, ((const struct lt_alert *)b)->name);
}

/* True if a release that kept it otherwise sent it. */
static bool
was_told(const struct following *f, int percent)
{
	char told[MEMORY_SIZE] = "";

	return f->basis == LT_ALERT_ON_SPENT &&
	       lt_ledger_get(f->by->ledger, f->budget, told, sizeof(told), NULL) == LT_OK &&
	       lt_alerts_told(told, f->period->start_utc_s, percent);
}

/* Raises an alert that was not over before: written down before it is logged. */
static int
raise_alert(struct lt_alert *alert, const struct following *f, struct lt_error *err)
{
	const bool is_told = alert->times == 0 && was_told(f, alert->percent);

	alert->times++;
	alert->is_over = true;
	alert->made_utc_s = f->by->now_utc_s;
	alert->told_utc_s = is_told || !f->by->site->policy->notify.is_set ? f->by->now_utc_s : 0;
	alert->until_utc_s = f->period->end_utc_s;
	write_text(alert, f);
	const int code = lt_ledger_put_alert(f->by->ledger, alert, err);
	if (code == LT_OK && !is_told) {
		const struct figures text = figures_of(f, alert->percent);

		lt_log("budget_alert",
		    "team=%s period=\"%s\" percent=%d spent=\"%s\" held=\"%s\" limit=\"%s\" on=%s",
		    f->team, f->period->label, alert->percent, text.spent, text.held, text.limit,
		    bases[f->basis].word);
	}
	return code;
}

static int
follow_percent(const struct following *f, int percent, struct lt_error *err)
{
	struct lt_alert alert = {.kind = LT_ALERT_BUDGET, .uid = LT_NOBODY_UID, .percent = percent};
	const struct lt_amount *const limit = &f->period->limit;
	const bool is_over = either_at(&f->amount, limit, percent, WHOLE);

	snprintf(alert.begins, sizeof(alert.begins), "%s", f->begins);
	snprintf(alert.name, sizeof(alert.name), "%.*s:%d", (int)sizeof(alert.name) - 8, f->begins,
	    percent);
	snprintf(alert.team, sizeof(alert.team), "%s", f->team);
	const struct lt_alert *const known =
	    f->known->count == 0
		? NULL
		: bsearch(&alert, f->known->rows, f->known->count, sizeof(alert), compare_names);
	if (known != NULL)
		alert = *known;
	if (is_over && !alert.is_over)
		return raise_alert(&alert, f, err);
	/* An unknown amount has not come back below. */
	if (!alert.is_over || f->amount.has_money != limit->has_money ||
	    f->amount.has_carbon != limit->has_carbon ||
	    either_at(&f->amount, limit, percent, LT_ALERT_BACK_PERCENT))
		return LT_OK;
	/* It came back below: an alert that was not sent is dropped. */
	if (alert.told_utc_s == 0 && alert.times == 1)
		return lt_ledger_drop_alert(f->by->ledger, alert.name, err);
	if (alert.told_utc_s == 0)
		alert.told_utc_s = f->by->now_utc_s;
	alert.is_over = false;
	return lt_ledger_put_alert(f->by->ledger, &alert, err);
}

/* True if there is a row of that team. They are sorted by names, "alert:TEAM:...". */
static bool
has_rows(const struct lt_alerts *known, const char *team)
{
	char begins[LT_ALERT_NAME_SIZE];
	uint32_t from = 0, to = known->count;

	snprintf(begins, sizeof(begins), "alert:%s:", team);
	while (from < to) {
		const uint32_t middle = from + (to - from) / 2;

		if (strcmp(known->rows[middle].name, begins) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < known->count && strncmp(known->rows[from].name, begins, strlen(begins)) == 0;
}

/* True if there is anything to look at, of thousands of budgets. */
static bool
is_near(const struct following *f, const struct lt_policy_budget *b)
{
	bool is_over = has_rows(f->known, b->team);

	for (int basis = 0; basis < LT_ALERT_BASES; basis++) {
		const struct lt_amount amount =
		    amount_on(f->period, &f->forecast, (enum lt_alert_basis)basis);

		for (int i = 0; i < b->alert_count; i++)
			is_over |= either_at(&amount, &f->period->limit, b->alert_at[i], WHOLE);
	}
	return is_over;
}

static int
follow_budget(const struct lt_alerter *by, uint32_t index, const struct lt_alerts *known,
    struct lt_error *err)
{
	const struct lt_policy_budget *const b = &by->site->policy->budgets[index];
	const struct lt_budget *const of = &by->budget->snapshot.budgets[index];
	const uint32_t on = b->alert_on != 0 ? b->alert_on : 1u << LT_ALERT_ON_SPENT;
	struct following f = {.by = by,
	    .known = known,
	    .period = &of->periods[0],
	    .forecast = lt_budget_forecast_of(by->budget, index),
	    .team = of->team};
	int code = LT_OK;

	if (b->alert_count == 0 || f.period->start_utc_s == f.period->end_utc_s || !is_near(&f, b))
		return LT_OK;
	name_of(f.budget, sizeof(f.budget), by->site->policy, index);
	for (int basis = 0; basis < LT_ALERT_BASES; basis++) {
		f.basis = (enum lt_alert_basis)basis;
		f.amount = amount_on(f.period, &f.forecast, f.basis);
		snprintf(f.begins, sizeof(f.begins), "%.100s:%" PRId64 "%s", f.budget,
		    f.period->start_utc_s, bases[basis].suffix);
		for (int i = 0; code == LT_OK && i < b->alert_count; i++) {
			bool is_second = false;

			for (int k = 0; k < i; k++)
				is_second |= b->alert_at[k] == b->alert_at[i];
			if (!is_second && (on >> basis & 1))
				code = follow_percent(&f, b->alert_at[i], err);
		}
	}
	return code;
}

int
lt_alerts_run(const struct lt_alerter *by, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &by->budget->snapshot;
	struct lt_alerts known = {0};

	/* A policy that was just read comes with the next snapshot. */
	if (s->budget_count != (uint32_t)by->site->policy->budget_count)
		return LT_OK;
	int code = lt_ledger_alerts_of_budgets(by->ledger, by->now_utc_s, &known, err);
	if (code != LT_OK)
		return code;
	/* One that fails keeps nobody: the first failure is the step's. */
	for (uint32_t i = 0; i < s->budget_count; i++) {
		struct lt_error failed = {0};

		if (follow_budget(by, i, &known, &failed) != LT_OK && code == LT_OK)
			code = lt_fail(err, failed.code, "%s", failed.text);
	}
	free(known.rows);
	struct lt_error unsent = {0};
	if (lt_alerts_send(by, &unsent) != LT_OK && code == LT_OK)
		code = lt_fail(err, unsent.code, "%s", unsent.text);
	return code;
}
