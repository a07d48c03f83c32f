/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budget alerts: after each budget snapshot, a log line and a row of the ledger
 * for each percentage that was passed since. Rows are states, not events: what
 * is over is compared with what was, so a restart tells nothing again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alert.h"
#include "alert_send.h"
#include "alerts.h"
#include "daemon.h"
#include "log.h"
#include "units.h"

/* All that a policy can have (values up to 1000), each once. */
enum { MEMORY_SIZE = 32 + 1000 * sizeof(" 1000"), WHOLE = 100 };
/* "alert:TEAM:KIND:WHICH:START:held:1000:again:TIMES" */
_Static_assert(LT_ACCOUNT_SIZE + 80 < LT_ALERT_NAME_SIZE, "a name fits");

/* Is value at that percentage of the limit, or at a share of it? */
static bool
is_at(int64_t value, int64_t limit, int percent, int share_percent)
{
	int64_t threshold;

	return value > 0 &&
	       lt_scale_up(limit, (int64_t)percent * share_percent,
		   WHOLE * WHOLE, &threshold) &&
	       value >= threshold;
}

static int64_t
sum(int64_t a, int64_t b)
{
	int64_t both;

	return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

/* What is compared with the limit. */
static struct lt_amount
amount_on(const struct lt_period *period, enum lt_alert_basis basis)
{
	struct lt_amount amount = period->settled;

	if (basis == LT_ALERT_ON_HELD) {
		amount.money_micros =
		    sum(amount.money_micros, period->held.money_micros);
		amount.carbon_mg =
		    sum(amount.carbon_mg, period->held.carbon_mg);
	}
	amount.has_money = period->limit.has_money;
	amount.has_carbon = period->limit.has_carbon;
	return amount;
}

static bool
money_at(const struct lt_period *period, enum lt_alert_basis basis, int percent,
    int share_percent)
{
	const struct lt_amount amount = amount_on(period, basis);

	return amount.has_money &&
	       is_at(amount.money_micros, period->limit.money_micros, percent,
		   share_percent);
}

static bool
either_at(const struct lt_period *period, enum lt_alert_basis basis,
    int percent, int share_percent)
{
	const struct lt_amount amount = amount_on(period, basis);

	return money_at(period, basis, percent, share_percent) ||
	       (amount.has_carbon &&
		   is_at(amount.carbon_mg, period->limit.carbon_mg, percent,
		       share_percent));
}

int
lt_alerts_passed(int passed[LT_ALERTS_MAX],
    const struct lt_policy_budget *budget, const struct lt_period *period)
{
	int count = 0;

	for (int i = 0; i < budget->alert_count; i++) {
		const int percent = budget->alert_at[i];
		int at = count;

		if (!either_at(period, LT_ALERT_ON_SPENT, percent, WHOLE))
			continue;
		while (at > 0 && passed[at - 1] >= percent)
			at--;
		if (at < count && passed[at] == percent)
			continue;
		memmove(&passed[at + 1], &passed[at],
		    (size_t)(count - at) * sizeof(*passed));
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

/* A name that stays over reloads: team, kind, and which of several. */
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

struct following { /* one budget, by one basis */
	struct lt_daemon *d;
	const struct lt_alerts *known;
	const struct lt_period *period;
	const char *team;
	char budget[LT_ALERT_NAME_SIZE]; /* name_of() */
	char begins[LT_ALERT_NAME_SIZE];
	enum lt_alert_basis basis;
	int64_t now_utc_s;
};

struct figures { /* in what has reached it */
	char spent[64], held[64], limit[64];
};

static struct figures
figures_of(const struct following *f, int percent)
{
	const struct lt_period *const p = f->period;
	const char *const currency = f->d->policy->currency;
	struct figures text;

	if (money_at(p, f->basis, percent, WHOLE)) {
		lt_money_text(text.spent, sizeof(text.spent),
		    p->settled.money_micros, currency);
		lt_money_text(text.held, sizeof(text.held),
		    p->held.money_micros, currency);
		lt_money_text(text.limit, sizeof(text.limit),
		    p->limit.money_micros, currency);
	} else {
		lt_carbon_text(
		    text.spent, sizeof(text.spent), p->settled.carbon_mg);
		lt_carbon_text(text.held, sizeof(text.held), p->held.carbon_mg);
		lt_carbon_text(
		    text.limit, sizeof(text.limit), p->limit.carbon_mg);
	}
	return text;
}

/* Totals, and where to look: it may go to a chat room. A digest has the first
 * line. */
static void
write_text(struct lt_alert *alert, const struct following *f)
{
	const struct figures text = figures_of(f, alert->percent);
	const char *const label = f->period->label, *const team = f->team;
	const bool is_held = f->basis == LT_ALERT_ON_HELD;

	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: %s has %s %d %% of its budget for %s", team,
	    is_held ? "spent or held" : "spent", alert->percent, label);
	if (is_held)
		snprintf(alert->text, sizeof(alert->text),
		    "%s has spent %s, and %s more is held for its jobs that wait or run, of %s for %s: %d %% and more.\n\n"
		    "Now:     lowtide budget --team %s\n"
		    "By whom: lowtide report --team %s --by user\n",
		    team, text.spent, text.held, text.limit, label,
		    alert->percent, team, team);
	else
		snprintf(alert->text, sizeof(alert->text),
		    "%s has spent %s of %s for %s: %d %% and more.\n"
		    "%s more is held for its jobs that wait or run.\n\n"
		    "Now:     lowtide budget --team %s\n"
		    "By whom: lowtide report --team %s --by user\n",
		    team, text.spent, text.limit, label, alert->percent,
		    text.held, team, team);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct lt_alert *)a)->name,
	    ((const struct lt_alert *)b)->name);
}

/* Told by a release that kept it otherwise. */
static bool
was_told(const struct following *f, int percent)
{
	char told[MEMORY_SIZE] = "";

	return f->basis == LT_ALERT_ON_SPENT &&
	       lt_ledger_get(f->d->ledger, f->budget, told, sizeof(told),
		   NULL) == LT_OK &&
	       lt_alerts_told(told, f->period->start_utc_s, percent);
}

/* It is over, and was not: written down before it is logged. */
static int
raise_alert(
    struct lt_alert *alert, const struct following *f, struct lt_error *err)
{
	const bool is_told = alert->times == 0 && was_told(f, alert->percent);

	alert->times++;
	alert->is_over = true;
	alert->made_utc_s = f->now_utc_s;
	alert->told_utc_s =
	    is_told || !f->d->policy->notify.is_set ? f->now_utc_s : 0;
	alert->until_utc_s = f->period->end_utc_s;
	write_text(alert, f);
	const int code = lt_ledger_put_alert(f->d->ledger, alert, err);
	if (code == LT_OK && !is_told) {
		const struct figures text = figures_of(f, alert->percent);

		lt_log("budget_alert",
		    "team=%s period=\"%s\" percent=%d spent=\"%s\" held=\"%s\" limit=\"%s\" on=%s",
		    f->team, f->period->label, alert->percent, text.spent,
		    text.held, text.limit,
		    f->basis == LT_ALERT_ON_HELD ? "held" : "spent");
	}
	return code;
}

static int
follow_percent(const struct following *f, int percent, struct lt_error *err)
{
	struct lt_alert alert = {
	    .kind = LT_ALERT_BUDGET, .uid = LT_NOBODY_UID, .percent = percent};
	const bool is_over = either_at(f->period, f->basis, percent, WHOLE);

	snprintf(alert.begins, sizeof(alert.begins), "%s", f->begins);
	snprintf(alert.name, sizeof(alert.name), "%.*s:%d",
	    (int)sizeof(alert.name) - 8, f->begins, percent);
	snprintf(alert.team, sizeof(alert.team), "%s", f->team);
	const struct lt_alert *const known =
	    f->known->count == 0
		? NULL
		: bsearch(&alert, f->known->rows, f->known->count,
		      sizeof(alert), compare_names);
	if (known != NULL)
		alert = *known;
	if (is_over && !alert.is_over)
		return raise_alert(&alert, f, err);
	if (!alert.is_over ||
	    either_at(f->period, f->basis, percent, LT_ALERT_BACK_PERCENT))
		return LT_OK;
	/* It came back: what nobody was told of is not told. */
	if (alert.told_utc_s == 0 && alert.times == 1)
		return lt_ledger_drop_alert(f->d->ledger, alert.name, err);
	if (alert.told_utc_s == 0)
		alert.told_utc_s = f->now_utc_s;
	alert.is_over = false;
	return lt_ledger_put_alert(f->d->ledger, &alert, err);
}

/* Is a row of that team there? They are sorted by names, "alert:TEAM:...". */
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
	return from < known->count &&
	       strncmp(known->rows[from].name, begins, strlen(begins)) == 0;
}

/* Whether there is anything to look at, of thousands of budgets. */
static bool
is_near(const struct following *f, const struct lt_policy_budget *b)
{
	bool is_over = has_rows(f->known, b->team);

	for (int i = 0; i < b->alert_count; i++)
		for (int basis = 0; basis < LT_ALERT_BASES; basis++)
			is_over |= either_at(f->period,
			    (enum lt_alert_basis)basis, b->alert_at[i], WHOLE);
	return is_over;
}

static int
follow_budget(struct lt_daemon *d, uint32_t index,
    const struct lt_alerts *known, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_policy_budget *const b = &d->policy->budgets[index];
	const struct lt_budget *const of = &d->budget.snapshot.budgets[index];
	const uint32_t on =
	    b->alert_on != 0 ? b->alert_on : 1u << LT_ALERT_ON_SPENT;
	struct following f = {.d = d,
	    .known = known,
	    .period = &of->periods[0],
	    .team = of->team,
	    .now_utc_s = now_utc_s};
	int code = LT_OK;

	if (b->alert_count == 0 ||
	    f.period->start_utc_s == f.period->end_utc_s || !is_near(&f, b))
		return LT_OK;
	name_of(f.budget, sizeof(f.budget), d->policy, index);
	for (int basis = 0; basis < LT_ALERT_BASES; basis++) {
		f.basis = (enum lt_alert_basis)basis;
		snprintf(f.begins, sizeof(f.begins), "%.100s:%" PRId64 "%s",
		    f.budget, f.period->start_utc_s,
		    basis == LT_ALERT_ON_HELD ? ":held" : "");
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
lt_alerts_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	struct lt_alerts known = {0};

	/* A policy that was just read comes with the next snapshot. */
	if (s->budget_count != (uint32_t)d->policy->budget_count)
		return LT_OK;
	if (lt_ledger_alerts_of_budgets(d->ledger, now_utc_s, &known, err) !=
	    LT_OK)
		return err->code;
	/* One that fails keeps nobody: the first failure is the step's. */
	for (uint32_t i = 0; i < s->budget_count; i++) {
		struct lt_error failed = {0};

		if (follow_budget(d, i, &known, now_utc_s, &failed) != LT_OK &&
		    err->code == LT_OK)
			(void)lt_fail(err, failed.code, "%s", failed.text);
	}
	free(known.rows);
	struct lt_error unsent = {0};
	if (lt_alerts_send(d, now_utc_s, &unsent) != LT_OK &&
	    err->code == LT_OK)
		(void)lt_fail(err, unsent.code, "%s", unsent.text);
	return err->code;
}
