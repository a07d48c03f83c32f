/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ran while nobody watched: pods that were seen to run and are gone, and
 * those that the API server has no more, but its Jobs' status counts. Both are
 * charged as estimated, never beyond what their Job held for.
 */
#include <stdio.h>

#include "cluster.h"
#include "log.h"

enum {
	MARK_EVERY_S = 10,
	SHOWN_S = 60, /* a shorter time is a restart */
};

/* When its last pod can have ended; 0 = any may run still. */
static int64_t
end_of(const struct lt_kube_job *facts)
{
	return facts->ended_utc_s != 0 ? facts->ended_utc_s
	       : facts->is_waiting     ? facts->suspended_utc_s
				       : 0;
}

/* Pods that its status counts and that are no rows: each slot of its parallel
 * ones ran no longer than nobody watched, and than the Job itself. */
static int
add_missing(struct lt_kube_cluster *c, const struct lt_kube_known_job *job,
    struct lt_batch_away away, struct lt_error *err)
{
	const struct lt_kube_job *const f = &job->facts;
	const int64_t end_utc_s = end_of(f);
	int64_t known = 0, known_s = 0;
	struct lt_kube_pod pod = {.need = f->need,
	    .created_utc_s = f->start_utc_s,
	    .start_utc_s = f->start_utc_s > away.from_utc_s ? f->start_utc_s
							    : away.from_utc_s};

	if (end_utc_s != 0 && end_utc_s < away.to_utc_s)
		away.to_utc_s = end_utc_s;
	const int64_t length_s = away.to_utc_s - pod.start_utc_s;
	if (f->is_pod || f->start_utc_s == 0 || length_s <= 0 || f->done == 0 ||
	    !lt_kube_cluster_manages(c, lt_kube_job_text(f, LT_KUBE_NAMESPACE)))
		return LT_OK;
	int code = lt_kube_store_known(c->store, job->id,
	    &(struct lt_kube_known){
		pod.start_utc_s, away.to_utc_s, &known, &known_s},
	    err);
	if (code != LT_OK || f->done <= known)
		return code;
	const int64_t missing =
	    f->done - known < f->pods ? f->done - known : f->pods;
	const int64_t each_s =
	    missing > 0 ? (f->pods * length_s - known_s) / missing : 0;
	if (each_s <= 0)
		return LT_OK;
	pod.end_utc_s =
	    pod.start_utc_s + (each_s < length_s ? each_s : length_s);
	snprintf(pod.state, sizeof(pod.state), "%s",
	    f->is_complete ? "COMPLETED" : "FAILED");
	for (int64_t i = 0; code == LT_OK && i < missing; i++) {
		uint32_t id;

		snprintf(pod.uid, sizeof(pod.uid), "%.48s/%lld", job->uid,
		    (long long)(known + i));
		code = lt_kube_store_id(c->store, pod.uid, true, &id, err);
		if (code == LT_OK)
			code = lt_kube_cluster_put_pod(c, &pod, job, id, err);
	}
	lt_log("missed_pods", "job=%u pods=%lld seconds=%lld", job->id,
	    (long long)missing, (long long)(pod.end_utc_s - pod.start_utc_s));
	return code;
}

int
lt_kube_cluster_catch_up(struct lt_kube_cluster *c, struct lt_error *err)
{
	struct lt_batch_away away = {0, c->now_utc_s};
	int code = lt_kube_store_end_unseen(
	    c->store, c->began_utc_s[LT_KUBE_PODS], c->now_utc_s, err);
	const bool is_known =
	    code == LT_OK &&
	    lt_kube_store_last_heard(c->store, &away.from_utc_s, NULL) == LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < c->job_count; i++) {
		const struct lt_kube_known_job *const job = c->jobs[i];
		const int64_t end_utc_s = end_of(&job->facts);

		if (end_utc_s != 0)
			code = lt_kube_store_end_by(
			    c->store, job->id, end_utc_s, err);
		if (code == LT_OK && is_known)
			code = add_missing(c, job, away, err);
	}
	if (code != LT_OK || !is_known ||
	    away.to_utc_s - away.from_utc_s < SHOWN_S)
		return code;
	c->away_from_utc_s = away.from_utc_s;
	c->away_to_utc_s = away.to_utc_s;
	lt_log("was_away", "from=%lld to=%lld", (long long)away.from_utc_s,
	    (long long)away.to_utc_s);
	return lt_kube_store_away(c->store, &away, err);
}

int
lt_kube_cluster_mark(
    struct lt_kube_cluster *c, int64_t now_utc_s, struct lt_error *err)
{
	bool is_listing = false;

	for (int i = 0; i < LT_KUBE_KINDS; i++)
		is_listing |= c->listing[i] || !c->complete[i];
	/* What failed, and told nothing since, may have missed something. */
	if (is_listing || c->heard_utc_s < c->failed_utc_s ||
	    (now_utc_s >= c->marked_utc_s &&
		now_utc_s < c->marked_utc_s + MARK_EVERY_S))
		return LT_OK;
	c->marked_utc_s = now_utc_s;
	return lt_kube_store_heard(c->store, now_utc_s, err);
}
