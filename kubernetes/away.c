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
	SHOWN_S = 60,	 /* a shorter time is a restart */
	ROWS_MAX = 1000, /* of a Job; of more pods, and not at once: as many */
};

/* When its last pod can have ended; 0 = any may run still. */
static int64_t
end_of(const struct lt_kube_job *facts)
{
	return facts->ended_utc_s != 0 ? facts->ended_utc_s
	       : facts->is_waiting     ? facts->suspended_utc_s
				       : 0;
}

/* Rows of so many pods that ran one after the other, no more than `pods` at
 * once, for `seconds` in all. */
struct missing {
	struct lt_batch_away within;
	int64_t first, count, pods, seconds;
};

static int
add_rows(struct lt_kube_cluster *c, const struct lt_kube_known_job *job,
    const struct missing *m, struct lt_error *err)
{
	struct lt_kube_pod pod = {
	    .need = job->facts.need, .created_utc_s = m->within.from_utc_s};
	int code = LT_OK;

	snprintf(pod.state, sizeof(pod.state), "%s",
	    job->facts.is_complete ? "COMPLETED" : "FAILED");
	for (int64_t i = 0; code == LT_OK && i < m->count; i++) {
		const int64_t before_s = m->seconds * i / m->count;
		const int64_t own_s =
		    m->seconds * (i + 1) / m->count - before_s;
		const int64_t latest_utc_s = m->within.to_utc_s - own_s;
		uint32_t id;

		pod.start_utc_s = m->within.from_utc_s + before_s / m->pods;
		if (pod.start_utc_s > latest_utc_s)
			pod.start_utc_s = latest_utc_s;
		pod.end_utc_s = pod.start_utc_s + own_s;
		snprintf(pod.uid, sizeof(pod.uid), "%.40s/%lld", job->uid,
		    (long long)(m->first + i));
		code = lt_kube_store_id(c->store, pod.uid, true, &id, err);
		if (code == LT_OK)
			code = lt_kube_cluster_put_pod(c, &pod, job, id, err);
	}
	lt_log("missed_pods", "job=%u pods=%lld seconds=%lld", job->id,
	    (long long)m->count, (long long)m->seconds);
	return code;
}

/* Pods that its status counts and that are no rows: they ran while nobody
 * watched, while the Job did, and where its other pods did not. */
static int
add_missing(struct lt_kube_cluster *c, const struct lt_kube_known_job *job,
    struct lt_batch_away away, struct lt_error *err)
{
	const struct lt_kube_job *const f = &job->facts;
	const int64_t end_utc_s = end_of(f);
	int64_t known = 0, known_s = 0;

	if (f->start_utc_s > away.from_utc_s)
		away.from_utc_s = f->start_utc_s;
	if (end_utc_s != 0 && end_utc_s < away.to_utc_s)
		away.to_utc_s = end_utc_s;
	const int64_t length_s = away.to_utc_s - away.from_utc_s;
	if (f->is_pod || f->start_utc_s == 0 || length_s <= 0 || f->done == 0 ||
	    f->pods == 0 ||
	    !lt_kube_cluster_manages(c, lt_kube_job_text(f, LT_KUBE_NAMESPACE)))
		return LT_OK;
	const int code = lt_kube_store_known(c->store, job->id,
	    &(struct lt_kube_known){
		away.from_utc_s, away.to_utc_s, &known, &known_s},
	    err);
	const int64_t left_s = f->pods * length_s - known_s;
	if (code != LT_OK || f->done <= known || left_s <= 0)
		return code;
	struct missing missing = {
	    away, known, f->done - known, f->pods, left_s};
	if (missing.count > ROWS_MAX && missing.count > f->pods)
		missing.count = f->pods > ROWS_MAX ? f->pods : ROWS_MAX;
	if (missing.seconds > missing.count * length_s)
		missing.seconds = missing.count * length_s;
	return add_rows(c, job, &missing, err);
}

int
lt_kube_cluster_catch_up(struct lt_kube_cluster *c, struct lt_error *err)
{
	struct lt_batch_away away = {0, c->now_utc_s};

	if (!c->must_catch_up || !c->complete[LT_KUBE_JOBS])
		return LT_OK;
	c->must_catch_up = false;
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
	if (lt_kube_cluster_is_behind(c) ||
	    (now_utc_s >= c->marked_utc_s &&
		now_utc_s < c->marked_utc_s + MARK_EVERY_S))
		return LT_OK;
	c->marked_utc_s = now_utc_s;
	return lt_kube_store_heard(c->store, now_utc_s, err);
}
