/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the API server for what the watch does not bring, a part of it each pass, as far as
 * lt_kube_spend() allows: what pods are given at their creation, CronJobs, and dry runs of Jobs'
 * pods. What was known stays while the API server is away; failures are logged.
 *
 * LimitRanges, RuntimeClasses, DeviceClasses and ResourceSlices change seldom:
 * they are asked for each minute. Where lowtide has no right to list them, Jobs whose pods they may
 * concern count as of unknown cost.
 *
 * A CronJob's next tick deletes a Job that waits where its policy is Replace, and is skipped for it
 * where it is Forbid, so the Job starts before that. A CronJob that can't be read delays no Job.
 *
 * Dry runs (where the site opted in, LOWTIDE_DRY_RUN_PODS) show what webhooks add, so that it is
 * held for from the first. They are sent as lowtide-dry-run, an account that an admission policy
 * refuses all but dry runs. A Job waits for its own before it is decided; of one that fails, the
 * rest of what is read counts, and its plan says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_facts.h"
#include "http.h"
#include "log.h"
#include "object.h"
#include "site.h"
#include "units.h"

/* ---- what pods are given ---- */

enum {
	GIVEN_EVERY_S = 60,
	PATH_BYTES = 1024,
	ACCOUNT_BYTES = 128,
	BEFORE_S = 60,
	/* Clocks are set an hour ahead or back between ticks that are rare. */
	RARE_S = LT_DAY_S / 2,
	BEFORE_RARE_S = 3600,
	FRESH_S = 60,		   /* alike templates are tried once in that time */
	KEY_BYTES_MAX = 64 * 1024, /* a larger template is tried each time */
	PASS_MS = 2000,		   /* a slow webhook must not keep all else waiting */
};

/* Adds the items of all pages. */
static int
list_items(json_t *items, const char *path, struct lt_error *err)
{
	char page[PATH_BYTES], next[PATH_BYTES / 2] = "";
	int code = LT_OK;

	do {
		const struct lt_kube_request request = {.path = page};
		json_t *answer = NULL;

		snprintf(page, sizeof(page), "%s?limit=%d%s%s", path, LT_KUBE_PAGE,
		    next[0] != '\0' ? "&continue=" : "", next);
		code = lt_kube_do(lt_kube_site.kube, &request, &answer, err);
		json_array_extend(items, json_object_get(answer, "items"));
		snprintf(next, sizeof(next), "%s",
		    lt_kube_string(json_object_get(answer, "metadata"), "continue"));
		json_decref(answer);
	} while (code == LT_OK && next[0] != '\0');
	return code;
}

/* Asks for a list. Returns true if it is another than before. */
static bool
ask_known(json_t **known, const char *path, json_t *(*read)(const json_t *items))
{
	struct lt_kube_site *const s = &lt_kube_site;
	json_t *const items = json_array(), *const was = *known;
	struct lt_error err = {0};
	const int code = list_items(items, path, &err);

	if (code == LT_OK)
		*known = read(items);
	else if (code == LT_EDENIED)
		*known = NULL;
	/* Servers before 1.34 have no devices. */
	if (*known == NULL && code != LT_ENOENT)
		snprintf(s->given_failed, sizeof(s->given_failed), "%s", err.text);
	if (code != LT_OK && code != LT_ENOENT)
		lt_log("given_unknown", "error=\"%s\"", err.text);
	json_decref(items);
	if (*known == was)
		return false;
	const bool differs = *known == NULL || was == NULL || json_equal(*known, was) != 1;
	json_decref(was);
	return differs;
}

/* Asks for the GPUs that nodes have by claims. */
static void
ask_devices(void)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	if (!ask_known(&lt_kube_site.given.devices, "/apis/resource.k8s.io/v1/resourceslices",
		lt_kube_claims_devices))
		return;
	for (uint32_t i = 0; i < c->node_count; i++)
		lt_kube_claims_offered(&c->nodes[i].facts, c->names.given);
	c->nodes_changed = true;
}

/* Reads Jobs again that lacked a claim or class: these may come later. */
static void
ask_claims(void)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	for (uint32_t i = 0; i < c->job_count; i++)
		if (c->jobs[i]->facts.is_waiting && lt_kube_is_ours(c->jobs[i]) &&
		    c->jobs[i]->forget_utc_s == 0 &&
		    lt_kube_job_text(&c->jobs[i]->facts, LT_KUBE_UNSIZED)[0] != '\0' &&
		    lt_kube_spend())
			lt_kube_look_again(c->jobs[i]);
}

bool
lt_kube_ask_given(int64_t now_utc_s)
{
	struct lt_kube_site *const s = &lt_kube_site;

	if (now_utc_s >= s->given_utc_s && now_utc_s < s->given_utc_s + GIVEN_EVERY_S)
		return false;
	s->given_utc_s = now_utc_s;
	s->given_failed[0] = '\0';
	s->cluster.names.given = &s->given;
	bool differs = ask_known(&s->given.requests, "/api/v1/limitranges", lt_kube_given_requests);
	differs |= ask_known(
	    &s->given.classes, "/apis/node.k8s.io/v1/runtimeclasses", lt_kube_given_classes);
	differs |= ask_known(&s->given.device_classes, "/apis/resource.k8s.io/v1/deviceclasses",
	    lt_kube_claims_classes);
	ask_devices();
	ask_claims();
	return differs;
}

/* ---- CronJobs ---- */

/* Returns the latest start; 0 = the policy's max_delay alone. */
static int64_t
latest_start(const struct lt_kube_known_job *job, const json_t *cron_job, int64_t now_utc_s)
{
	const json_t *const spec = json_object_get(cron_job, "spec");
	const char *const policy = lt_kube_string(spec, "concurrencyPolicy");
	const int64_t at_utc_s = job->facts.scheduled_utc_s;
	int64_t next_utc_s;

	if (strcmp(policy, "Replace") != 0 && strcmp(policy, "Forbid") != 0)
		return 0;
	if (!lt_kube_cron_next(
		&next_utc_s, lt_kube_string(spec, "schedule"), at_utc_s, job->facts.zone_offset_s))
		return now_utc_s;
	return next_utc_s - (next_utc_s - at_utc_s >= RARE_S ? BEFORE_RARE_S : BEFORE_S);
}

bool
lt_kube_is_cron_unknown(const struct lt_kube_known_job *job)
{
	return !job->is_cron_known && job->forget_utc_s == 0 &&
	       lt_kube_job_text(&job->facts, LT_KUBE_CRON)[0] != '\0';
}

static void
ask_cron_job(struct lt_kube_known_job *job, int64_t now_utc_s)
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
		lt_log("cron_job_unknown", "job=%u error=\"%s\"", job->id, err.text);
	json_decref(cron_job);
}

void
lt_kube_ask_cron_jobs(int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;

	for (uint32_t i = 0; i < c->job_count; i++) {
		if (!lt_kube_is_cron_unknown(c->jobs[i]) || !lt_kube_is_ours(c->jobs[i]))
			continue;
		if (!lt_kube_spend())
			return; /* they are decided once it is known */
		ask_cron_job(c->jobs[i], now_utc_s);
	}
}

/* ---- dry runs ---- */

/* Labels of the template that are each Job's own. */
static const char *const own_labels[] = {"controller-uid", "job-name",
    "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"};

/* Returns the part of a pod that is alike for all Jobs of one kind; malloc'd. NULL: too large. */
static char *
key_of(const json_t *pod)
{
	json_t *const alike = json_deep_copy(pod);
	json_t *const metadata = json_object_get(alike, "metadata");

	json_object_del(metadata, "generateName");
	json_object_del(metadata, "ownerReferences");
	for (size_t i = 0; i < sizeof(own_labels) / sizeof(own_labels[0]); i++)
		json_object_del(json_object_get(metadata, "labels"), own_labels[i]);
	char *key = json_dumps(alike, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(alike);
	if (key != NULL && strlen(key) > KEY_BYTES_MAX) {
		free(key);
		key = NULL;
	}
	return key;
}

/* Sends a dry run. NULL, with err: there is no answer. */
static json_t *
ask_dry_run(const json_t *pod, struct lt_error *err)
{
	char path[PATH_BYTES], account[ACCOUNT_BYTES];
	const struct lt_kube_request request = {.method = "POST",
	    .path = path,
	    .body = pod,
	    .user = lt_kube_dry_run_user(account, sizeof(account))};
	json_t *answer = NULL;

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods?dryRun=All&fieldManager=lowtide",
	    lt_kube_string(json_object_get(pod, "metadata"), "namespace"));
	if (lt_kube_do(lt_kube_site.kube, &request, &answer, err) == LT_OK &&
	    !json_is_object(json_object_get(answer, "spec")))
		lt_fail(err, LT_EINPUT, "a dry run without a pod");
	if (err->code == LT_OK)
		return answer;
	json_decref(answer);
	return NULL;
}

const char *
lt_kube_dry_run_user(char *out, size_t size)
{
	snprintf(out, size, "system:serviceaccount:%.63s:lowtide-dry-run", lt_kube_site.namespace);
	return out;
}

void
lt_kube_dry_run(json_t *job, int64_t now_utc_s)
{
	struct lt_kube_site *const s = &lt_kube_site;
	struct lt_error err = {0};

	if (s->tried == NULL || now_utc_s < s->tried_utc_s ||
	    now_utc_s >= s->tried_utc_s + FRESH_S) {
		json_decref(s->tried);
		s->tried = json_object();
		s->tried_utc_s = now_utc_s;
	}
	json_t *const pod = lt_kube_dry_pod(job);
	char *const key = key_of(pod);
	json_t *result = json_incref(key != NULL ? json_object_get(s->tried, key) : NULL);
	if (result == NULL) {
		json_t *const answer = ask_dry_run(pod, &err);

		if (answer == NULL)
			lt_log("dry_run_failed", "name=%s/%s error=\"%s\"",
			    lt_kube_string(json_object_get(job, "metadata"), "namespace"),
			    lt_kube_string(json_object_get(job, "metadata"), "name"), err.text);
		result = lt_kube_dry_result(job, answer, err.text);
		if (key != NULL)
			json_object_set(s->tried, key, result);
		json_decref(answer);
	}
	json_object_set_new(job, LT_KUBE_DRY_RUN, result);
	free(key);
	json_decref(pod);
}

bool
lt_kube_is_untried(const struct lt_kube_known_job *job)
{
	return lt_kube_site.dry_runs && !job->facts.is_pod && !job->facts.is_tried &&
	       job->facts.is_waiting && job->forget_utc_s == 0 && lt_kube_is_ours(job);
}

/* Asks for a Job's dry run. False: the API server is away. The watch reports one that is gone. */
static bool
try_job(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	json_t *object = NULL;
	struct lt_error err = {0};
	const int code = lt_kube_get(job, &object, &err);

	if (code == LT_OK) {
		lt_kube_dry_run(object, now_utc_s);
		json_decref(job->dry_run);
		job->dry_run = json_incref(json_object_get(object, LT_KUBE_DRY_RUN));
		lt_kube_take_answer(job, object);
	}
	json_decref(object);
	return code != LT_ENET;
}

void
lt_kube_ask_dry_runs(int64_t now_utc_s)
{
	struct lt_kube_cluster *const c = &lt_kube_site.cluster;
	const int64_t until_ms = lt_monotonic_ms() + PASS_MS;

	for (uint32_t i = 0; i < c->job_count; i++) {
		if (!lt_kube_is_untried(c->jobs[i]))
			continue;
		/* A GET and a dry run each. */
		if (lt_monotonic_ms() >= until_ms || !lt_kube_spend() || !lt_kube_spend() ||
		    !try_job(c->jobs[i], now_utc_s))
			return; /* they are decided once it is known */
	}
}
