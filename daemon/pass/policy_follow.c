/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the policy file in force at start, on SIGHUP, by `lowtide reload` and when the file changes,
 * and follows the off switch; with the consequences of a change of either. The error of a bad file
 * is kept for status and logged each hour. The text of the last good one is kept in the state
 * directory, for a start with a bad file.
 */
#include <string.h>

#include "daemon.h"
#include "log.h"
#include "policy_follow.h"
#include "policy_load.h"
#include "text_mend.h"
#include "units.h"

/* Writes one word for a job_submit that can read no snapshot. If that fails the policy is in force
 * all the same. */
static void
tell_in_force(const struct lt_daemon *d)
{
	const bool yes = d->site.policy->budget_count > 0 &&
			 lt_policy_unknown_rule(d->site.policy) != LT_RULE_ALLOW;
	struct lt_error err = {0};

	if (lt_in_force_save(d->paths.in_force, yes, &err) != LT_OK)
		lt_log("in_force_failed", "error=\"%s\"", err.text);
}

/* Makes anew all that was made by the former policy. */
static void
follow_policy(struct lt_daemon *d)
{
	d->signals.changed = d->budget.dirty = true;
	d->replan.looked_utc_s = d->alerts.next.forecasts = 0;
	tell_in_force(d);
}

static void
tell_refused(struct lt_daemon *d, int64_t now_utc_s)
{
	d->next.policy_told = now_utc_s + LT_HOUR_S;
	lt_log("policy_refused", "path=%s in_force=%s error=\"%s\"", d->args.config,
	    d->site.policy != NULL ? d->site.policy->path : "none", d->policy_error);
}

int
lt_daemon_load_policy(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_error failed = {0}, last = {0};

	lt_file_id(&d->policy_id, d->args.config);
	int code = lt_policy_use(&d->site, &d->signals, d->ledger, d->args.config,
	    d->paths.last_policy, now_utc_s, &failed);
	if (code == LT_OK) {
		follow_policy(d);
		d->policy_error[0] = '\0';
		return LT_OK;
	}
	lt_text_mend(failed.text); /* cut, maybe in a character */
	memcpy(d->policy_error, failed.text, sizeof(d->policy_error));
	if (d->site.policy == NULL && d->paths.last_policy[0] &&
	    lt_policy_use(&d->site, &d->signals, d->ledger, d->paths.last_policy, "", now_utc_s,
		&last) == LT_OK) {
		follow_policy(d);
		code = LT_OK;
	} else if (last.code != LT_OK && last.code != LT_ENOENT)
		lt_log("last_policy_refused", "error=\"%s\"", last.text);
	tell_refused(d, now_utc_s);
	if (code != LT_OK && err != NULL)
		*err = failed;
	return code;
}

int
lt_daemon_reload_policy(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	const int code = lt_daemon_load_policy(d, now_utc_s, err);

	if (code == LT_OK)
		lt_signals_restore(&d->signals, d->ledger, now_utc_s);
	d->site.next.tables = 0;
	return code;
}

void
lt_policy_remind(struct lt_daemon *d, int64_t now_utc_s)
{
	if (d->policy_error[0] && now_utc_s >= d->next.policy_told)
		tell_refused(d, now_utc_s);
}

void
lt_daemon_follow_off(struct lt_daemon *d, int64_t now_utc_s)
{
	const bool was_off = d->site.off.is_off;
	char text[LT_ERROR_TEXT_SIZE];
	struct lt_error err = {0};

	const int code = lt_off_read(&d->site.off, d->args.off, &err);
	if (was_off && !d->site.off.is_off)
		lt_log("on", "mode=%s", lt_mode_name(d->site.policy->mode));
	/* Held jobs are released, or judged again. */
	if (was_off != d->site.off.is_off) {
		d->budget.dirty = true;
		d->replan.looked_utc_s = d->jobs.next.list = 0;
		d->off_told_utc_s = 0;
	}
	if ((code == LT_OK && !d->site.off.is_off) || now_utc_s - d->off_told_utc_s < LT_HOUR_S)
		return;
	d->off_told_utc_s = now_utc_s;
	if (code != LT_OK)
		lt_log("off_ignored", "error=\"%s\"", err.text);
	else
		lt_log("off", "why=\"%s\"", lt_off_text(text, sizeof(text), &d->site.off));
}
