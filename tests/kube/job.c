/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Job controller: a step brings a Job's pods to what its spec asks for, and its status to what
 * its pods are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

struct tally {
	int active, ready, terminating;
};

static bool
pod_is_over(const struct object *pod)
{
	const char *const phase = json_text_at(pod->now->document, "status.phase");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static bool
pod_is_leaving(const struct object *pod)
{
	return json_at(pod->now->document, "metadata.deletionTimestamp") != NULL;
}

static struct tally
tally_of(const struct object *job)
{
	struct tally tally = {0};

	for (const struct object *pod = job->pods; pod != NULL; pod = pod->next_of_job) {
		if (pod_is_over(pod))
			continue;
		if (pod_is_leaving(pod))
			tally.terminating++;
		else
			tally.active++;
		if (!pod_is_leaving(pod) && condition_is(pod->now->document, "Ready"))
			tally.ready++;
	}
	return tally;
}

/* Whether the Job's podFailurePolicy does not count what a node's loss ends. */
static bool
failure_is_ignored(const struct object *pod)
{
	json_t *rule;
	size_t i;

	if (!condition_is(pod->now->document, "DisruptionTarget"))
		return false;
	json_array_foreach(json_at(pod->job->now->document, "spec.podFailurePolicy.rules"), i, rule)
		if (strcmp(json_text_at(rule, "action"), "Ignore") == 0 &&
		    json_member(json_object_get(rule, "onPodConditions"), "type",
			"DisruptionTarget") != NULL)
			return true;
	return false;
}

/* Also of one that was deleted; pods deleted for suspension don't count. */
void
job_pod_ended(struct object *pod)
{
	struct object *const job = pod->job;
	int wait_s = 1;

	if (job == NULL || pod->is_counted)
		return;
	pod->is_counted = true;
	if (strcmp(json_text_at(pod->now->document, "status.phase"), "Succeeded") == 0) {
		job->succeeded++;
		return;
	}
	if (failure_is_ignored(pod))
		return;
	job->failed++;
	for (int i = 1; i < job->failed && wait_s < 60; i++)
		wait_s *= 2;
	job->retry_ms = now_ms() + control_ms(wait_s);
}

static void
pods_delete(struct object *job, bool counts)
{
	struct object *next;

	for (struct object *pod = job->pods; pod != NULL; pod = next) {
		next = pod->next_of_job;
		if (pod_is_over(pod) || pod_is_leaving(pod))
			continue;
		if (!counts)
			pod->is_counted = true;
		object_delete(pod, -1);
	}
}

static int
pod_index(const struct object *pod)
{
	const char *const text =
	    json_string_value(json_object_get(json_at(pod->now->document, "metadata.annotations"),
		"batch.kubernetes.io/job-completion-index"));

	return text == NULL ? -1 : atoi(text);
}

/* The lowest that no pod has that runs or is done; -1: not indexed. */
static int
free_index(const struct object *job, int64_t completions)
{
	bool *const taken = calloc((size_t)completions + 1, sizeof(bool));
	int index = 0;

	for (const struct object *pod = job->pods; pod != NULL; pod = pod->next_of_job) {
		const int own = pod_index(pod);
		const bool failed =
		    strcmp(json_text_at(pod->now->document, "status.phase"), "Failed") == 0;

		if (own >= 0 && own < completions && !failed && !pod_is_leaving(pod))
			taken[own] = true;
	}
	while (index < completions && taken[index])
		index++;
	free(taken);
	return index;
}

static void
pod_set_index(json_t *pod, int index)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", index);
	json_default_at(pod, "metadata.annotations", json_object());
	json_object_set_new(json_at(pod, "metadata.annotations"),
	    "batch.kubernetes.io/job-completion-index", json_string(text));
	json_object_set_new(json_at(pod, "metadata.labels"),
	    "batch.kubernetes.io/job-completion-index", json_string(text));
}

json_t *
job_owners(const json_t *job)
{
	return json_pack("[{s:s,s:s,s:O,s:O,s:b,s:b}]", "apiVersion", "batch/v1", "kind", "Job",
	    "name", json_at(job, "metadata.name"), "uid", json_at(job, "metadata.uid"),
	    "controller", 1, "blockOwnerDeletion", 1);
}

static void
pod_create(struct object *job, int64_t completions)
{
	const json_t *const owner = job->now->document;
	const json_t *const template = json_at(owner, "spec.template");
	json_t *const pod = json_pack("{s:{s:O},s:o}", "metadata", "namespace",
	    json_at(owner, "metadata.namespace"), "spec",
	    json_deep_copy(json_at(template, "spec")));
	const bool is_indexed = strcmp(json_text_at(owner, "spec.completionMode"), "Indexed") == 0;
	const int index = is_indexed ? free_index(job, completions) : -1;
	char suffix[6], prefix[256], name[300];

	default_suffix(suffix);
	if (is_indexed)
		snprintf(prefix, sizeof(prefix), "%.200s-%d-", object_name(job), index);
	else
		snprintf(prefix, sizeof(prefix), "%.200s-", object_name(job));
	snprintf(name, sizeof(name), "%s%s", prefix, suffix);
	json_put_at(pod, "metadata.name", json_string(name));
	json_put_at(pod, "metadata.generateName", json_string(prefix));
	json_put_at(pod, "metadata.labels", json_deep_copy(json_at(template, "metadata.labels")));
	if (json_at(template, "metadata.annotations") != NULL)
		json_put_at(pod, "metadata.annotations",
		    json_deep_copy(json_at(template, "metadata.annotations")));
	if (is_indexed)
		pod_set_index(pod, index);
	json_put_at(pod, "metadata.ownerReferences", job_owners(owner));
	limits_give(json_text_at(owner, "metadata.namespace"), pod);
	default_new(KUBE_PODS, pod);
	store_add(KUBE_PODS, pod);
}

static bool
job_is_over(const json_t *job)
{
	return condition_is(job, "Complete") || condition_is(job, "Failed");
}

/* Fails now, or once its pods have ended; the first reason stays. */
static void
job_fail(struct object *job, json_t *after, const char *reason, const char *message)
{
	pods_delete(job, true);
	condition_set(after, "FailureTarget", "True", reason, message);
}

static void
job_end(struct object *job, json_t *after, int64_t at_ms)
{
	const int64_t ttl_s = json_int_at(after, "spec.ttlSecondsAfterFinished", -1);

	if (!job_is_over(after))
		return;
	job->due_ms = INT64_MAX;
	if (ttl_s >= 0)
		control_at(job, at_ms + control_ms((double)ttl_s));
}

static void
job_succeed(json_t *after, int64_t at_ms)
{
	condition_set(after, "SuccessCriteriaMet", "True", "CompletionsReached",
	    "Reached expected number of succeeded pods");
	condition_set(after, "Complete", "True", "CompletionsReached",
	    "Reached expected number of succeeded pods");
	json_put_at(after, "status.completionTime", json_time(at_ms));
}

static void
job_suspend(struct object *job, json_t *after)
{
	pods_delete(job, false);
	condition_set(after, "Suspended", "True", "JobSuspended", "Job suspended");
	json_object_del(json_at(after, "status"), "startTime");
	job->start_ms = 0;
	job->due_ms = INT64_MAX;
}

static void
job_resume(struct object *job, json_t *after, int64_t at_ms)
{
	if (condition_is(after, "Suspended"))
		condition_set(after, "Suspended", "False", "JobResumed", "Job resumed");
	if (json_at(after, "status.startTime") != NULL)
		return;
	json_put_at(after, "status.startTime", json_time(at_ms));
	job->start_ms = at_ms;
}

/* Pods as the spec asks for: more of them, or fewer. */
static void
job_manage(struct object *job, const json_t *after, int64_t at_ms)
{
	const int64_t parallelism = json_int_at(after, "spec.parallelism", 1);
	const int64_t completions = json_int_at(after, "spec.completions", -1);
	const int64_t left = completions >= 0	  ? completions - job->succeeded
			     : job->succeeded > 0 ? 0
						  : parallelism;
	const int64_t wanted = left < parallelism ? left : parallelism;
	int64_t active = tally_of(job).active;

	if (active < wanted && job->retry_ms > at_ms) {
		control_at(job, job->retry_ms);
		return;
	}
	for (; active < wanted; active++)
		pod_create(job, completions);
	for (struct object *pod = job->pods, *next; pod != NULL && active > parallelism;
	     pod = next) {
		next = pod->next_of_job;
		if (pod_is_over(pod) || pod_is_leaving(pod))
			continue;
		pod->is_counted = true;
		object_delete(pod, -1);
		active--;
	}
}

static void
job_go_on(struct object *job, json_t *after, int64_t at_ms)
{
	const int64_t limit_s = json_int_at(after, "spec.activeDeadlineSeconds", -1);
	const int64_t completions = json_int_at(after, "spec.completions", -1);
	const int64_t end_ms = job->start_ms + control_ms((double)limit_s);
	const struct tally tally = tally_of(job);

	if (job->failed > json_int_at(after, "spec.backoffLimit", 6)) {
		job_fail(job, after, "BackoffLimitExceeded",
		    "Job has reached the specified backoff limit");
	} else if (completions >= 0 ? job->succeeded >= completions
				    : job->succeeded > 0 && tally.active == 0) {
		pods_delete(job, true);
		job_succeed(after, at_ms);
	} else if (limit_s >= 0 && end_ms <= at_ms) {
		job_fail(job, after, "DeadlineExceeded",
		    "Job was active longer than specified deadline");
	} else {
		job->due_ms = INT64_MAX;
		if (limit_s >= 0)
			control_at(job, end_ms);
		job_manage(job, after, at_ms);
	}
}

static void
status_number(json_t *after, const char *path, int number)
{
	if (number > 0)
		json_put_at(after, path, json_integer(number));
	else
		json_object_del(json_at(after, "status"), path + strlen("status."));
}

static void
job_count(const struct object *job, json_t *after)
{
	const struct tally tally = tally_of(job);

	status_number(after, "status.active", tally.active);
	status_number(after, "status.succeeded", job->succeeded);
	status_number(after, "status.failed", job->failed);
	json_put_at(after, "status.ready", json_integer(tally.ready));
	json_put_at(after, "status.terminating", json_integer(tally.terminating));
	json_put_at(after, "status.uncountedTerminatedPods", json_object());
}

/* With a time to live, it goes when that is over. */
static void
job_remove_due(struct object *job, int64_t at_ms)
{
	if (at_ms < job->due_ms)
		return;
	pods_delete(job, true);
	while (job->pods != NULL)
		store_remove(job->pods);
	store_remove(job);
}

void
job_step(struct object *job, int64_t at_ms)
{
	json_t *after;

	if (job_is_over(job->now->document)) {
		job_remove_due(job, at_ms);
		return;
	}
	after = object_edit(job);
	if (condition_is(after, "FailureTarget")) {
		const json_t *const target =
		    json_member(json_at(after, "status.conditions"), "type", "FailureTarget");
		const struct tally tally = tally_of(job);

		job->due_ms = INT64_MAX;
		if (tally.active + tally.terminating == 0)
			condition_set(after, "Failed", "True", json_text_at(target, "reason"),
			    json_text_at(target, "message"));
	} else if (json_true_at(after, "spec.suspend")) {
		job_suspend(job, after);
	} else {
		job_resume(job, after, at_ms);
		job_go_on(job, after, at_ms);
	}
	job_count(job, after);
	job_end(job, after, at_ms);
	if (json_equal(job->now->document, after) == 1)
		json_decref(after);
	else
		store_put(job, after);
}
