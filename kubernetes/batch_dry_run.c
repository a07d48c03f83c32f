/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dry runs of Jobs' pods, where the site opted in (LOWTIDE_DRY_RUN_PODS): what
 * webhooks add is held for from the first. Asked as lowtide-dry-run, an account
 * that an admission policy refuses all but dry runs. A Job waits for its own
 * before it is decided; of one that fails, the rest of what is read counts, and
 * its plan says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dry_run.h"
#include "http.h"
#include "log.h"
#include "object.h"
#include "site.h"

enum {
	PATH_BYTES = 512,
	ACCOUNT_BYTES = 128,
	FRESH_S = 60, /* alike templates are tried once in that time */
	KEY_BYTES_MAX = 64 * 1024, /* a larger template is tried each time */
	PASS_MS = 2000, /* a slow webhook must not keep all else waiting */
};

/* Labels of the template that are each Job's own. */
static const char *const own_labels[] = {"controller-uid", "job-name",
    "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"};

/* What is alike for all Jobs of one kind; malloc'd. NULL: too large. */
static char *
key_of(const json_t *pod)
{
	json_t *const alike = json_deep_copy(pod);
	json_t *const metadata = json_object_get(alike, "metadata");

	json_object_del(metadata, "generateName");
	json_object_del(metadata, "ownerReferences");
	for (size_t i = 0; i < sizeof(own_labels) / sizeof(own_labels[0]); i++)
		json_object_del(
		    json_object_get(metadata, "labels"), own_labels[i]);
	char *key = json_dumps(alike, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(alike);
	if (key != NULL && strlen(key) > KEY_BYTES_MAX) {
		free(key);
		key = NULL;
	}
	return key;
}

/* NULL, with err: there is no answer. */
static json_t *
ask(const json_t *pod, struct lt_error *err)
{
	char path[PATH_BYTES], account[ACCOUNT_BYTES];
	const struct lt_kube_request request = {.method = "POST",
	    .path = path,
	    .body = pod,
	    .user = lt_kube_dry_run_user(account, sizeof(account))};
	json_t *answer = NULL;

	snprintf(path, sizeof(path),
	    "/api/v1/namespaces/%s/pods?dryRun=All&fieldManager=lowtide",
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
	snprintf(out, size, "system:serviceaccount:%.63s:lowtide-dry-run",
	    lt_kube_site.namespace);
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
	json_t *result =
	    json_incref(key != NULL ? json_object_get(s->tried, key) : NULL);
	if (result == NULL) {
		json_t *const answer = ask(pod, &err);

		if (answer == NULL)
			lt_log("dry_run_failed", "name=%s/%s error=\"%s\"",
			    lt_kube_string(
				json_object_get(job, "metadata"), "namespace"),
			    lt_kube_string(
				json_object_get(job, "metadata"), "name"),
			    err.text);
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
	return lt_kube_site.dry_runs && !job->facts.is_pod &&
	       !job->facts.is_tried && job->facts.is_waiting &&
	       job->forget_utc_s == 0 && lt_kube_is_ours(job);
}

/* False: the API server is away. One that is gone is told by the watch. */
static bool
try(struct lt_kube_known_job *job, int64_t now_utc_s)
{
	json_t *object = NULL;
	struct lt_error err = {0};
	const int code = lt_kube_get(job, &object, &err);

	if (code == LT_OK) {
		lt_kube_dry_run(object, now_utc_s);
		json_decref(job->dry_run);
		job->dry_run =
		    json_incref(json_object_get(object, LT_KUBE_DRY_RUN));
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
		if (lt_monotonic_ms() >= until_ms || !lt_kube_spend() ||
		    !lt_kube_spend() || !try(c->jobs[i], now_utc_s))
			return; /* they are decided once it is known */
	}
}
