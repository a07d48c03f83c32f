/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budget alerts: after each budget snapshot, a log line for each percentage
 * that was passed since, and a message for the largest. What was told is in the
 * ledger, so that a restart does not tell it again; a message whose note there
 * is lost has the same id again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alerts.h"
#include "daemon.h"
#include "log.h"
#include "spool.h"
#include "units.h"

/* All that a policy can have (values up to 1000), each once. */
enum { MEMORY_SIZE = 32 + 1000 * sizeof(" 1000") };

static bool
reached(bool limited, int64_t spent, int64_t limit, int percent)
{
	int64_t threshold;

	return limited && spent > 0 &&
	       lt_scale_up(limit, percent, 100, &threshold) &&
	       spent >= threshold;
}

int
lt_alerts_passed(int passed[LT_ALERTS_MAX],
    const struct lt_policy_budget *budget, const struct lt_period *period)
{
	const struct lt_amount *const limit = &period->limit;
	const struct lt_amount *const spent = &period->settled;
	int count = 0;

	for (int i = 0; i < budget->alert_count; i++) {
		const int percent = budget->alert_at[i];
		int at = count;

		if (!reached(limit->has_money, spent->money_micros,
			limit->money_micros, percent) &&
		    !reached(limit->has_carbon, spent->carbon_mg,
			limit->carbon_mg, percent))
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

struct alert {
	const struct lt_budget *budget;
	const struct lt_period *period;
	int percent;
	char spent[64], held[64], limit[64]; /* in what has reached it */
};

static void
say(struct alert *alert, const char *currency)
{
	const struct lt_period *const p = alert->period;

	if (reached(p->limit.has_money, p->settled.money_micros,
		p->limit.money_micros, alert->percent)) {
		lt_money_text(alert->spent, sizeof(alert->spent),
		    p->settled.money_micros, currency);
		lt_money_text(alert->held, sizeof(alert->held),
		    p->held.money_micros, currency);
		lt_money_text(alert->limit, sizeof(alert->limit),
		    p->limit.money_micros, currency);
	} else {
		lt_carbon_text(
		    alert->spent, sizeof(alert->spent), p->settled.carbon_mg);
		lt_carbon_text(
		    alert->held, sizeof(alert->held), p->held.carbon_mg);
		lt_carbon_text(
		    alert->limit, sizeof(alert->limit), p->limit.carbon_mg);
	}
}

static void
log_alert(const struct alert *alert)
{
	lt_log("budget_alert",
	    "team=%s period=\"%s\" percent=%d spent=\"%s\" limit=\"%s\"",
	    alert->budget->team, alert->period->label, alert->percent,
	    alert->spent, alert->limit);
}

/* Totals, and where to look: it may go to a chat room. */
static int
write_message(const struct alert *alert, const char *name,
    const struct lt_policy *policy, int64_t now_utc_s, struct lt_error *err)
{
	const char *const team = alert->budget->team;
	const struct lt_policy_owners *const owners =
	    lt_policy_owners_of(policy, team);
	struct lt_message message = {
	    .kind = LT_MESSAGE_BUDGET_ALERT, .made_utc_s = now_utc_s};
	char id[LT_MESSAGE_ID_SIZE];

	snprintf(id, sizeof(id), "%s:%" PRId64 ":%d", name,
	    alert->period->start_utc_s, alert->percent);
	lt_message_id_of(message.id, id);
	if (owners != NULL) {
		memcpy(message.to, owners->to, sizeof(message.to));
		message.to_count = owners->count;
	}
	snprintf(message.subject, sizeof(message.subject),
	    "lowtide: %s has spent %d %% of its budget for %s", team,
	    alert->percent, alert->period->label);
	snprintf(message.text, sizeof(message.text),
	    "%s has spent %s of %s for %s: %d %% and more.\n"
	    "%s more is held for its jobs that wait or run.\n\n"
	    "Now:     lowtide budget --team %s\n"
	    "By whom: lowtide report --team %s --by user\n",
	    team, alert->spent, alert->limit, alert->period->label,
	    alert->percent, alert->held, team, team);
	lt_message_clean(&message);
	return lt_spool_write(policy->notify.spool, &message, err);
}

/* " 50 80": each that is new. */
static void
log_new(struct alert *alert, const char *currency, const char *percents)
{
	char *end;

	for (const char *at = percents; *at != '\0'; at = end) {
		alert->percent = (int)strtol(at, &end, 10);
		if (end == at)
			return;
		say(alert, currency);
		log_alert(alert);
	}
}

static int
run_one(struct lt_daemon *d, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_budget_snapshot *const snapshot = &d->budget.snapshot;
	const struct lt_policy *const policy = d->policy;
	struct lt_ledger *const ledger = d->ledger;
	const struct lt_period *const p = &snapshot->budgets[index].periods[0];
	struct alert alert = {&snapshot->budgets[index], p, 0, "", "", ""};
	int passed[LT_ALERTS_MAX];
	char name[LT_NAME_SIZE + LT_ACCOUNT_SIZE];
	char start[32], told[MEMORY_SIZE] = "";
	const int count = lt_alerts_passed(passed, &policy->budgets[index], p);

	if (count == 0 || p->start_utc_s == p->end_utc_s)
		return LT_OK;
	name_of(name, sizeof(name), policy, index);
	(void)lt_ledger_get(ledger, name, told, sizeof(told), NULL);
	snprintf(start, sizeof(start), "%" PRId64, p->start_utc_s);
	const size_t length = strlen(start);
	if (strncmp(told, start, length) != 0 ||
	    (told[length] != ' ' && told[length] != '\0'))
		snprintf(told, sizeof(told), "%s", start); /* a new period */
	const size_t before = strlen(told);
	for (int i = 0; i < count; i++) {
		const size_t used = strlen(told);

		if (lt_alerts_told(told, p->start_utc_s, passed[i]))
			continue;
		snprintf(told + used, sizeof(told) - used, " %d", passed[i]);
		alert.percent = passed[i];
	}
	if (strlen(told) == before)
		return LT_OK;
	say(&alert, policy->currency);
	int code = policy->notify.is_set
		       ? write_message(&alert, name, policy, now_utc_s, err)
		       : LT_OK;
	if (code == LT_OK)
		code = lt_ledger_put(ledger, name, told, err);
	if (code == LT_OK)
		log_new(&alert, policy->currency, told + before);
	return code;
}

int
lt_alerts_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	/* A policy that was just read comes with the next snapshot. */
	if (d->budget.snapshot.budget_count !=
	    (uint32_t)d->policy->budget_count)
		return LT_OK;
	/* One that fails keeps nobody: the first failure is the step's. */
	for (uint32_t i = 0; i < d->budget.snapshot.budget_count; i++) {
		struct lt_error failed = {0};

		if (run_one(d, i, now_utc_s, &failed) != LT_OK &&
		    err->code == LT_OK)
			(void)lt_fail(err, failed.code, "%s", failed.text);
	}
	return err->code;
}
