/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of CronJobs: where the policy of theirs is Replace, the next tick
 * deletes one that waits, and where it is Forbid, is skipped for it. So it
 * starts before that. Of what can't be read, none is delayed.
 */
#include <stdio.h>

#include "cron.h"
#include "log.h"
#include "object.h"
#include "site.h"
#include "units.h"

enum {
	PATH_BYTES = 512,
	BEFORE_S = 60,
	/* Clocks are set an hour ahead or back between ticks that are rare. */
	RARE_S = LT_DAY_S / 2,
	BEFORE_RARE_S = 3600,
};

/* 0 = the policy's max_delay alone. */
static int64_t
latest_start(const struct lt_kube_known_job *job, const json_t *cron_job,
    int64_t now_utc_s)
{
	const json_t *const spec = json_object_get(cron_job, "spec");
	const char *const policy = lt_kube_string(spec, "concurrencyPolicy");
	const int64_t at_utc_s = job->facts.scheduled_utc_s;
	int64_t next_utc_s;

	if (strcmp(policy, "Replace") != 0 && strcmp(policy, "Forbid") != 0)
		return 0;
	if (!lt_kube_cron_next(&next_utc_s, lt_kube_string(spec, "schedule"),
		at_utc_s, job->facts.zone_offset_s))
		return now_utc_s;
	return next_utc_s -
	       (next_utc_s - at_utc_s >= RARE_S ? BEFORE_RARE_S : BEFORE_S);
}

bool
lt_kube_is_cron_unknown(const struct lt_kube_known_job *job)
{
	return !job->is_cron_known && job->forget_utc_s == 0 &&
	       lt_kube_job_text(&job->facts, LT_KUBE_CRON)[0] != '\0';
}

static void
ask(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	char path[PATH_BYTES];
	const struct lt_kube_request request = {.path = path};
	json_t *cron_job = NULL;
	struct lt_error err = {0};

	snprintf(path, sizeof(path), "/apis/batch/v1/namespaces/%s/cronjobs/%s",
	    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE),
	    lt_kube_job_text(&job->facts, LT_KUBE_CRON));
	job->is_cron_known = true;
	job->start_by_utc_s = now_utc_s;
	if (lt_kube_do(lt_kube_site.kube, &request, &cron_job, &err) == LT_OK)
		job->start_by_utc_s = latest_start(job, cron_job, now_utc_s);
	else
		lt_log("cron_job_unknown", "job=%u error=\"%s\"", job->id,
		    err.text);
	json_decref(cron_job);
}

void
lt_kube_ask_cron_jobs(int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	for (uint32_t i = 0; i < c->job_count; i++) {
		if (!lt_kube_is_cron_unknown(c->jobs[i]) ||
		    !lt_kube_is_ours(c->jobs[i]))
			continue;
		if (!lt_kube_spend())
			return; /* they are decided once it is known */
		ask(c->jobs[i], now_utc_s);
	}
}
