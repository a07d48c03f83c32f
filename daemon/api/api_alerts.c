/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/alerts: alerts on costs that were sent, and those that are due. A team's alerts are shown
 * to those who see its sums, a run's to those who see the run. They are read from the ledger; a
 * failure is 503.
 */
#include <stdlib.h>

#include "access.h"
#include "alert.h"
#include "alert_send.h"
#include "daemon.h"

static bool
may_see(const struct lt_access *access, const struct lt_alert *alert)
{
	return lt_alert_is_of_run(alert->kind) ? lt_access_job(access, alert->uid, alert->team)
					       : lt_access_sums(access, alert->team);
}

/* When the alert will be sent; 0: it was sent, or nobody gets it. */
static int64_t
due_utc_s(const struct lt_daemon *d, const struct lt_alert *alert, int64_t now_utc_s)
{
	const uint32_t hour = d->site.policy->notify.digest_hour;

	if (alert->told_utc_s != 0 || !d->site.policy->notify.is_set)
		return 0;
	if (lt_alert_is_at_once(alert))
		return alert->made_utc_s;
	const int64_t last_utc_s = lt_alert_digest_utc_s(&d->site.offsets, hour, now_utc_s);
	return alert->made_utc_s < last_utc_s
		   ? last_utc_s
		   : lt_alert_next_digest_utc_s(&d->site.offsets, hour, now_utc_s);
}

static json_t *
alert_json(const struct lt_daemon *d, const struct lt_alert *alert, int64_t now_utc_s)
{
	const bool is_run = lt_alert_is_of_run(alert->kind);
	char user[LT_NAME_SIZE] = "";

	if (is_run)
		lt_api_user_name(d, user, alert->uid);
	return json_pack("{s:s,s:s,s:s?,s:o,s:o,s:o,s:o,s:o,s:b,s:I,s:o,s:o}", "kind",
	    lt_alert_word(alert->kind), "team", alert->team, "user", is_run ? user : NULL, "job_id",
	    lt_api_optional(is_run, alert->job_id), "percent",
	    lt_api_optional(alert->kind == LT_ALERT_BUDGET, alert->percent), "made",
	    lt_api_time(alert->made_utc_s), "sent", lt_api_time(alert->told_utc_s), "due",
	    lt_api_time(due_utc_s(d, alert, now_utc_s)), "over", alert->is_over, "times",
	    (json_int_t)alert->times, "subject", lt_api_string(alert->subject), "text",
	    json_string(alert->text));
}

int
lt_api_alerts(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_alerts last = {0};
	struct lt_error err = {0};
	const struct lt_access access = lt_access_of(d, request);
	const int status = lt_access_check_any(&access, d, reply);

	if (status != 200)
		return status;
	if (lt_ledger_alerts_last(d->ledger, &last, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	json_t *const list = json_array();
	for (uint32_t i = 0; i < last.count; i++)
		if (may_see(&access, &last.rows[i]))
			json_array_append_new(
			    list, alert_json(d, &last.rows[i], request->now_utc_s));
	free(last.rows);
	*reply = json_pack("{s:b,s:o}", "notify", d->site.policy->notify.is_set, "alerts", list);
	return 200;
}
