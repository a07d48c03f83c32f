/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a Job or Pod that is not there: as of any other, but that
 * nothing of it is kept.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "claims.h"
#include "json.h"
#include "manifest_check.h"
#include "object.h"
#include "site.h"

static void
note(struct lt_batch_manifest *out, const struct lt_kube_known_job *job)
{
	const char *const namespace =
	    lt_kube_job_text(&job->facts, LT_KUBE_NAMESPACE);

	const char *const untried =
	    lt_kube_job_text(&job->facts, LT_KUBE_UNTRIED);

	out->note[0] = out->unknown[0] = '\0';
	lt_kube_say_unknown(out->unknown, sizeof(out->unknown), job, NULL);
	snprintf(out->name, sizeof(out->name), "%s/%s", namespace,
	    lt_kube_job_text(&job->facts, LT_KUBE_NAME));
	if (job->facts.is_foreign)
		snprintf(out->note, sizeof(out->note),
		    "lowtide takes no hold for it: %.160s starts it",
		    lt_kube_job_text(&job->facts, LT_KUBE_STARTER));
	else if (!lt_kube_is_ours(job))
		snprintf(out->note, sizeof(out->note),
		    "lowtide leaves it alone: namespace %.63s has no label " LT_KUBE_DOMAIN
		    "managed: \"true\"",
		    namespace);
	else if (untried[0] != '\0')
		snprintf(out->note, sizeof(out->note),
		    "what webhooks add to its pods is held for once the first of them runs: %.160s",
		    untried);
}

static int
record(struct lt_batch_manifest *out, const json_t *object, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_kube_known_job *const job = &lt_kube_site.question;
	struct lt_kube_job facts;
	int code =
	    lt_kube_job_read(&facts, object, &lt_kube_site.cluster.names, err);

	if (code != LT_OK)
		return code == LT_ENOMEM ? code : LT_EINPUT;
	lt_kube_job_free(&job->facts);
	*job = (struct lt_kube_known_job){.uid = "manifest", .facts = facts};
	const char *const fault = lt_kube_job_text(&job->facts, LT_KUBE_FAULT);

	if (fault[0] != '\0')
		code = lt_fail(err, LT_EINPUT, "annotations: %s", fault);
	else if (job->facts.pods == 0)
		code = lt_fail(err, LT_EINPUT,
		    "parallelism and completions: got 0, want 1 or more");
	if (code == LT_OK)
		code = lt_kube_list_one(&out->jobs, job, now_utc_s, err);
	if (code == LT_OK)
		note(out, job);
	return code;
}

/* Would its pods be, if it were there? */
static bool
is_tried(const json_t *object)
{
	return lt_kube_site.dry_runs &&
	       strcmp(lt_kube_string(object, "kind"), "Job") == 0 &&
	       lt_kube_cluster_manages(&lt_kube_site.cluster,
		   lt_kube_string(
		       json_object_get(object, "metadata"), "namespace"));
}

int
lt_batch_job_of_manifest(struct lt_batch_manifest *out, const char *text,
    size_t length, struct lt_error *err)
{
	const int64_t now_utc_s = (int64_t)time(NULL);
	json_t *object = NULL;
	int code = lt_json_load(&object, text, length, err);

	if (code == LT_OK)
		code = lt_kube_manifest_complete(object, now_utc_s, err);
	if (code == LT_OK)
		lt_kube_claims_fetch(lt_kube_site.kube, object);
	if (code == LT_OK && is_tried(object))
		lt_kube_dry_run(object, now_utc_s);
	if (code == LT_OK)
		code = record(out, object, now_utc_s, err);
	json_decref(object);
	return code;
}
