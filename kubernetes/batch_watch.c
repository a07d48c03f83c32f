/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the cluster is watched, and what waits there: for lowtide status and
 * doctor.
 */
#include <stdio.h>

#include "batch_watch.h"
#include "site.h"

const struct lt_batch_words lt_batch_words = {.system = "kubernetes",
    .lock = LT_KUBE_DOMAIN "hold",
    .record = "its pods as they were seen last, as they have no end yet",
    .name = "NAMESPACE/NAME",
    .renews = true,
    .pays_all_nodes = true,
    .brings_nodes = true};

static void
count_waiting(struct lt_batch_watch *watch, const struct lt_kube_cluster *c)
{
	for (uint32_t i = 0; i < c->job_count; i++) {
		const struct lt_kube_known_job *const job = c->jobs[i];

		if (job->forget_utc_s != 0 || !job->facts.is_waiting ||
		    job->facts.is_deleted)
			continue;
		watch->left += lt_kube_is_left(job);
		if (!lt_kube_is_ours(job))
			continue;
		watch->waiting++;
		if (lt_kube_job_text(&job->facts, LT_KUBE_HOLD)[0] != '\0')
			watch->waiting_budget++;
	}
}

const char *
lt_batch_starter(uint32_t job_id)
{
	const struct lt_kube_known_job *const job =
	    lt_kube_cluster_job(&lt_kube_site.cluster, job_id);

	return job != NULL && lt_kube_is_left(job)
		   ? lt_kube_job_text(&job->facts, LT_KUBE_STARTER)
		   : NULL;
}

bool
lt_batch_watch(struct lt_batch_watch *watch)
{
	const struct lt_kube_site *const site = &lt_kube_site;
	const struct lt_kube_cluster *const c = &site->cluster;

	*watch = (struct lt_batch_watch){.namespace = site->namespace,
	    .places_anew = c->names.places_anew,
	    .runs = lt_kube_watcher_fd() >= 0,
	    .heard_utc_s = c->heard_utc_s,
	    .failed_utc_s = c->failed_utc_s,
	    .away_from_utc_s = c->away_from_utc_s,
	    .away_to_utc_s = c->away_to_utc_s,
	    .unsuspended = c->unsuspended,
	    .balances_utc_s = site->balances_sent_utc_s};
	snprintf(watch->given_failed, sizeof(watch->given_failed), "%s",
	    site->given_failed);
	snprintf(watch->failed, sizeof(watch->failed), "%s", c->failed.text);
	count_waiting(watch, c);
	int64_t unheld = 0;
	if (lt_kube_store_unheld(c->store, &unheld, NULL) == LT_OK)
		watch->unheld = (uint32_t)unheld;
	return true;
}

int
lt_batch_aways(
    struct lt_batch_away *aways, int most, int64_t from_utc_s, int64_t to_utc_s)
{
	return lt_kube_store_aways(aways, most, lt_kube_site.state_dir,
	    &(struct lt_batch_away){from_utc_s, to_utc_s});
}
