/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a Job or a pod that waits, where its plan puts it: one PATCH of the Job as it was seen. A
 * refusal is logged and tried again in a while.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "object.h"
#include "quote.h"
#include "site.h"
#include "units.h"

enum {
	AGAIN_S = 10, /* after the API server refused */
};

bool
lt_kube_ran(const struct lt_kube_known_job *job)
{
	return job->first_utc_s != 0 || job->facts.started_utc_s != 0;
}

/* A user who suspended it while it ran says when it resumes. A Job that had pods is admitted anew
 * first: once the API server says since when it is suspended. */
bool
lt_kube_is_paused(const struct lt_kube_known_job *job)
{
	return job->facts.is_paused || (lt_kube_ran(job) && !job->facts.goes_on) ||
	       (job->first_utc_s != 0 && !lt_kube_runs_again(job));
}

bool
lt_kube_is_decided(const struct lt_kube_known_job *job)
{
	return lt_kube_job_text(&job->facts, LT_KUBE_QUOTE)[0] != '\0';
}

bool
lt_kube_may_start(const struct lt_kube_known_job *job, int64_t now_utc_s)
{
	const char *const text = lt_kube_job_text(&job->facts, LT_KUBE_QUOTE);
	struct lt_quote quote;

	return job->forget_utc_s == 0 && job->facts.is_waiting && !job->facts.is_deleted &&
	       !lt_kube_is_paused(job) && job->facts.is_resting && now_utc_s >= job->try_utc_s &&
	       text[0] != '\0' && job->facts.begin_utc_s <= now_utc_s &&
	       lt_kube_job_text(&job->facts, LT_KUBE_HOLD)[0] == '\0' && lt_kube_is_ours(job) &&
	       lt_quote_unpack(&quote, text, strlen(text), NULL) == LT_OK &&
	       lt_mode_may(quote.mode, LT_MAY_HOLD);
}

bool
lt_kube_is_soft(const struct lt_kube_known_job *job)
{
	return !lt_kube_site.cluster.names.places_anew && !job->facts.is_pod &&
	       !job->facts.is_placed;
}

/* Beside what its user would like. */
static void
prefer_pool(json_t *pod_spec, const struct lt_kube_known_job *job, json_t *labels)
{
	json_t *const own = json_loads(lt_kube_job_text(&job->facts, LT_KUBE_PREFERRED), 0, NULL);
	json_t *const all = own != NULL ? own : json_array();
	json_t *const expressions = json_array();
	const char *key;
	json_t *value;

	json_object_foreach(labels, key, value)
		json_array_append_new(expressions,
		    json_pack("{s:s,s:s,s:[O]}", "key", key, "operator", "In", "values", value));
	json_array_append_new(all, json_pack("{s:i,s:{s:o}}", "weight", 100, "preference",
				       "matchExpressions", expressions));
	json_object_set_new(
	    pod_spec, "affinity", json_pack("{s:{s:o}}", "nodeAffinity", LT_KUBE_PREFERS, all));
}

/* Pools may be named by labels of several clouds. */
static void
select_pool(json_t *pod_spec, const struct lt_kube_known_job *job, json_t *labels)
{
	json_t *const was = json_loads(lt_kube_job_text(&job->facts, LT_KUBE_SELECTOR), 0, NULL);
	const char *old = NULL;

	(void)lt_kube_pool_in(was, &lt_kube_site.cluster.names, &old);
	if (job->facts.is_put && old != NULL && json_object_get(labels, old) == NULL)
		json_object_set_new(labels, old, json_null());
	json_object_set(pod_spec, "nodeSelector", labels);
	json_decref(was);
}

/* Puts its pods where the plan has them: on nodes of one pool, also where these may be taken
 * away. */
static void
place_pods(json_t *pod_spec, const struct lt_kube_known_job *job)
{
	const char *const pool = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const char *const tolerations = lt_kube_job_text(&job->facts, LT_KUBE_TOLERATIONS);

	/* If the pool is gone its user has an Event, or gets one by the release. */
	if (pool[0] == '\0' || job->facts.is_placed ||
	    lt_kube_pool_is_gone(&lt_kube_site.cluster, pool))
		return;
	json_t *const labels = lt_kube_cluster_selector(&lt_kube_site.cluster, pool);
	if (labels == NULL)
		return;
	if (lt_kube_is_soft(job))
		prefer_pool(pod_spec, job, labels);
	else
		select_pool(pod_spec, job, labels);
	json_decref(labels);
	json_t *const own = json_loads(tolerations, 0, NULL);
	json_t *const all =
	    lt_kube_tolerations(own, lt_kube_cluster_spot_taints(&lt_kube_site.cluster, pool));
	if (all != NULL)
		json_object_set_new(pod_spec, "tolerations", all);
	json_decref(own);
}

/* Seconds between checkpoints, by the function that the plan goes by and that a node of Slurm has;
 * 0 = it writes none. Each pod is a task of one node. */
static double
interval_of(const struct lt_kube_known_job *job, const struct lt_partition *pool)
{
	const char *const text = lt_kube_job_text(&job->facts, LT_KUBE_QUOTE);
	struct lt_request request = {0};
	struct lt_quote quote;

	if (lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK || !quote.wish.checkpoint)
		return 0;
	lt_wish_lay(&request, &quote.wish);
	const struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&request.checkpoint, pool->storage_gib_per_s);
	return lt_checkpoint_told_s(lt_checkpoint_every_s(&checkpoint, pool->hazard_per_node_hour));
}

/* Without one the policy's defaults stay: what frameworks do anyway. */
static void
put_precision(json_t *annotations, const struct lt_kube_known_job *job, const struct lt_gpu *gpu)
{
	const char *const text = lt_kube_job_text(&job->facts, LT_KUBE_QUOTE);
	struct lt_quote quote;

	if (lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK || !quote.wish.known)
		return;
	const struct lt_precision_words *const words =
	    lt_precision_words(lt_precision_used(quote.wish.precision, lt_gpu_top_precision(gpu)));
	if (words == NULL)
		return;
	lt_kube_annotate(annotations, "precision", words->accelerate);
	lt_kube_annotate(annotations, "trainer-precision", words->lightning);
}

/* Adds what its containers' variables read (docs/kubernetes.md). */
static json_t *
facts_of(const struct lt_kube_known_job *job)
{
	const struct lt_market *const market = lt_kube_site.market;
	const char *const pool = lt_kube_job_text(&job->facts, LT_KUBE_POOL);
	const int at = market != NULL ? lt_market_partition(market, pool) : -1;
	json_t *const annotations = json_object();
	char seconds[24];

	if (pool[0] != '\0')
		lt_kube_annotate(annotations, "plan-pool", pool);
	if (at < 0)
		return annotations;
	const struct lt_partition *const p = &market->partitions[at];
	const double interval_s = interval_of(job, p);
	lt_kube_annotate(
	    annotations, "preemptible", p->flags & LT_PARTITION_PREEMPTIBLE ? "1" : "0");
	if (interval_s >= 1) {
		snprintf(seconds, sizeof(seconds), "%.0f", interval_s);
		lt_kube_annotate(annotations, "checkpoint-interval-seconds", seconds);
	}
	put_precision(annotations, job, lt_market_gpu(market, at));
	return annotations;
}

/* Only lowtide-kube release lets go what nobody decided. */
static void
add_undecided(json_t *body, const struct lt_kube_known_job *job)
{
	if (lt_kube_is_decided(job))
		return;
	lt_kube_pin(body, job);
	lt_kube_annotate(json_object_get(json_object_get(body, "metadata"), "annotations"), "plan",
	    "started without a hold, as lowtide was away");
}

/* Notes the start where a release without a store finds it, too. Its user's word to resume was for
 * this start. */
static json_t *
resumption_of(const struct lt_kube_known_job *job, int64_t now_utc_s)
{
	json_t *const annotations = json_object();
	char now[32];

	lt_kube_annotate(annotations, "started", lt_utc_text(now, sizeof(now), now_utc_s));
	if (job->facts.goes_on)
		lt_kube_annotate(annotations, "pause", NULL);
	return json_pack(
	    "{s:{s:o},s:{s:b}}", "metadata", "annotations", annotations, "spec", "suspend", 0);
}

static json_t *
start_body(const struct lt_kube_known_job *job, int64_t now_utc_s)
{
	json_t *const pod_spec = json_object();

	place_pods(pod_spec, job);
	if (job->facts.is_pod) {
		json_object_set_new(pod_spec, "schedulingGates",
		    json_pack("[{s:s,s:s}]", "$patch", "delete", "name", LT_KUBE_GATE));
		return json_pack(
		    "{s:{s:o},s:o}", "metadata", "annotations", facts_of(job), "spec", pod_spec);
	}
	json_t *const body = resumption_of(job, now_utc_s);

	json_object_set_new(json_object_get(body, "spec"), "template",
	    json_pack("{s:{s:o},s:o}", "metadata", "annotations", facts_of(job), "spec", pod_spec));
	return body;
}

int
lt_kube_start(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	struct lt_error err = {0};
	const char *const type = job->facts.is_pod ? LT_KUBE_STRATEGIC_PATCH : LT_KUBE_MERGE_PATCH;
	json_t *const body = start_body(job, now_utc_s);

	add_undecided(body, job);
	int code = lt_kube_patch(job, type, body, &err);

	/* A Job that has run keeps its template, on most servers. */
	if (code == LT_EINPUT && !job->facts.is_pod && job->facts.was_started)
		code = lt_kube_patch(job, type, resumption_of(job, now_utc_s), &err);
	if (code == LT_OK) {
		lt_log("started_job", "job=%u name=%s/%s pool=%s", job->id,
		    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE),
		    lt_kube_job_text(&job->facts, LT_KUBE_NAME),
		    lt_kube_job_text(&job->facts, LT_KUBE_POOL));
		return LT_OK;
	}
	job->try_utc_s = now_utc_s + AGAIN_S;
	lt_log("start_failed", "job=%u error=\"%s\"", job->id, err.text);
	if (code == LT_EINPUT)
		lt_kube_tell(job, &(struct lt_kube_told){"Warning", "LowtideStartFailed", err.text},
		    now_utc_s);
	return code;
}
