/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looked at when slurmdbd's steps of a run come in (utilisation.c): it has
 * ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address.h"
#include "alert.h"
#include "batch.h"
#include "daemon.h"
#include "idle_gpus.h"
#include "log.h"
#include "text.h"
#include "units.h"

enum { LATE_S = 2 * LT_DAY_S }; /* a first look goes over older runs, too */

static int64_t
length_of(const struct lt_run *run)
{
	return run->end_utc_s - run->start_utc_s - run->suspended_s;
}

bool
lt_idle_gpus_are(const struct lt_run *run, int64_t least_s)
{
	return run->gpus > 0 && run->used.has_gpu &&
	       run->used.gpu_ppm < LT_IDLE_GPUS_PPM &&
	       length_of(run) >= least_s;
}

static void
write_text(
    struct lt_alert *alert, const struct lt_run *run, const char *currency)
{
	struct lt_text text = {.out = alert->text, .size = sizeof(alert->text)};
	char length[32], cost[64];

	snprintf(alert->subject, sizeof(alert->subject),
	    "lowtide: the GPUs of job %u did nothing", run->key.job_id);
	lt_text_put(&text,
	    "Job %u of %s in %s had %u GPU%s for %s, and by Slurm's accounting %s did nothing.\n",
	    run->key.job_id, run->user, run->account, run->gpus,
	    run->gpus == 1 ? "" : "s",
	    lt_duration_text(length, sizeof(length), length_of(run)),
	    run->gpus == 1 ? "it" : "they");
	if (run->priced)
		lt_text_put(&text, "The run cost %s.\n",
		    lt_money_text(
			cost, sizeof(cost), run->money_micros, currency));
	lt_text_put(&text,
	    "\nNext time, if it needs none: leave out --gpus, --gpus-per-node, --gpus-per-task and --gres=gpu\n"
	    "If it does:                  run nvidia-smi in the job, to see whether it finds them\n"
	    "How it went:                 lowtide explain %u\n",
	    run->key.job_id);
	lt_text_lines(alert->text);
}

int
lt_idle_gpus_look(struct lt_daemon *d, const struct lt_run *run,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_policy_notify *const notify = &d->site.policy->notify;
	struct lt_alert alert = {.kind = LT_ALERT_IDLE,
	    .uid = run->uid,
	    .job_id = run->key.job_id,
	    .quote_id = run->quote_id,
	    .times = 1,
	    .is_over = true,
	    .made_utc_s = now_utc_s};
	struct lt_alert known;

	if (!notify->is_set || notify->idle_gpus_s <= 0 ||
	    now_utc_s - run->end_utc_s > LATE_S ||
	    !lt_idle_gpus_are(run, notify->idle_gpus_s))
		return LT_OK;
	snprintf(alert.name, sizeof(alert.name), "idle:%u:%" PRId64 ":%" PRId64,
	    run->key.job_id, run->key.submit_utc_s, run->start_utc_s);
	snprintf(alert.begins, sizeof(alert.begins), "%s", alert.name);
	int code = lt_ledger_alert(d->ledger, alert.name, &known, err);
	if (code != LT_ENOENT)
		return code;
	lt_copy_lower(alert.team, sizeof(alert.team), run->account);
	write_text(&alert, run, d->site.policy->currency);
	/* On Kubernetes users are no addresses. */
	if (!lt_batch_is_near() && lt_address_is(run->user))
		snprintf(alert.to, sizeof(alert.to), "%s", run->user);
	code = lt_ledger_put_alert(d->ledger, &alert, err);
	if (code == LT_OK)
		lt_log("idle_gpus", "job=%u team=%s gpus=%u", run->key.job_id,
		    alert.team, run->gpus);
	return code;
}
