/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a pod that has a node: start and end of its time there, its size, and how it ended, in
 * Slurm's words. Pure. A pod without a node is LT_ENOENT.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

/* Reasons of a pod's status, and what Slurm calls such an end. */
static const struct {
	const char *reason, *state;
} ends[] = {
    {"NodeLost", "NODE_FAIL"},
    {"NodeShutdown", "NODE_FAIL"},
    {"Shutdown", "NODE_FAIL"},
    {"Terminated", "NODE_FAIL"},
    {"Evicted", "PREEMPTED"},
    {"Preempting", "PREEMPTED"},
    {"DeadlineExceeded", "TIMEOUT"},
    {"OOMKilled", "OUT_OF_MEMORY"},
};

/* Reasons of the condition DisruptionTarget: somebody else ended it. Source:
 * k8s.io/api/core/v1, PodReason*. */
static const struct {
	const char *reason, *state;
} disruptions[] = {
    {"DeletionByTaintManager", "NODE_FAIL"},
    {"DeletionByPodGC", "NODE_FAIL"},
    {"TerminationByKubelet", "PREEMPTED"},
    {"PreemptionByScheduler", "PREEMPTED"},
    {"PreemptionByKubeScheduler", "PREEMPTED"},
    {"EvictionByEvictionAPI", "PREEMPTED"},
};

struct containers { /* what its containers say */
	int64_t last_end_utc_s;
	uint32_t exit_code;
	bool any_runs;
	const char *reason;
};

static void
look_at(struct containers *c, const json_t *statuses)
{
	const json_t *status;
	size_t i;

	json_array_foreach(statuses, i, status) {
		const json_t *const state = json_object_get(status, "state");
		const json_t *const ended = json_object_get(state, "terminated");
		const int64_t end_utc_s = lt_kube_time(ended, "finishedAt");
		const int64_t code = lt_kube_number(ended, "exitCode", 0);

		c->any_runs |= ended == NULL; /* or waits to run again */
		if (end_utc_s > c->last_end_utc_s)
			c->last_end_utc_s = end_utc_s;
		if (code > 0 && c->exit_code == 0) {
			/* 128 and more: a signal, as wait(2) has it low. */
			c->exit_code =
			    code > 128 ? (uint32_t)(code - 128) & 0x7f : (uint32_t)code << 8;
			c->reason = lt_kube_string(ended, "reason");
		}
	}
}

static const char *
state_of(const json_t *object, const struct containers *c, const char *phase)
{
	const json_t *const disrupted = lt_kube_condition(object, "DisruptionTarget");
	const char *const reason = lt_kube_string(json_object_get(object, "status"), "reason");

	if (strcmp(phase, "Succeeded") == 0)
		return "COMPLETED";
	for (size_t i = 0; disrupted != NULL && i < sizeof(disruptions) / sizeof(disruptions[0]);
	     i++)
		if (strcmp(lt_kube_string(disrupted, "reason"), disruptions[i].reason) == 0)
			return disruptions[i].state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(reason, ends[i].reason) == 0 ||
		    (c->reason != NULL && strcmp(c->reason, ends[i].reason) == 0))
			return ends[i].state;
	return strcmp(phase, "Failed") == 0 ? "FAILED" : "CANCELLED";
}

/* 0: it has its node still. */
static int64_t
end_of(const json_t *object, const struct containers *c, const char *phase,
    const struct lt_kube_seen *seen)
{
	const bool is_over = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

	if (!is_over && !seen->is_gone)
		return 0;
	if (c->last_end_utc_s != 0 && !c->any_runs)
		return c->last_end_utc_s;
	/* No container says when: its node is gone, and they are as they were last heard of, or it
	 * was deleted. */
	const int64_t disrupted_utc_s =
	    lt_kube_time(lt_kube_condition(object, "DisruptionTarget"), "lastTransitionTime");
	return disrupted_utc_s != 0 && (is_over || !c->any_runs) ? disrupted_utc_s : seen->utc_s;
}

int
lt_kube_pod_read(struct lt_kube_pod *pod, const json_t *object, const struct lt_kube_seen *seen,
    struct lt_error *err)
{
	static const char index_label[] = "batch.kubernetes.io/job-completion-index";
	const json_t *const metadata = json_object_get(object, "metadata");
	const json_t *const spec = json_object_get(object, "spec");
	const json_t *const status = json_object_get(object, "status");
	const json_t *const owner = lt_kube_controller(object);
	const char *const uid = lt_kube_string(metadata, "uid");
	const char *const phase = lt_kube_string(status, "phase");
	struct containers containers = {0};

	*pod = (struct lt_kube_pod){.created_utc_s = lt_kube_time(metadata, "creationTimestamp"),
	    .start_utc_s = lt_kube_time(status, "startTime")};
	if (lt_kube_string(spec, "nodeName")[0] == '\0' || pod->start_utc_s == 0)
		return lt_fail(err, LT_ENOENT, "it has no node");
	snprintf(pod->uid, sizeof(pod->uid), "%s", uid);
	snprintf(
	    pod->namespace, sizeof(pod->namespace), "%s", lt_kube_string(metadata, "namespace"));
	snprintf(pod->node, sizeof(pod->node), "%s", lt_kube_string(spec, "nodeName"));
	snprintf(pod->owner, sizeof(pod->owner), "%s",
	    !lt_kube_is_own(object) ? lt_kube_string(owner, "uid") : uid);
	pod->index = (uint32_t)strtoul(
	    lt_kube_string(json_object_get(metadata, "labels"), index_label), NULL, 10);
	json_t *const sized = lt_kube_sized_spec(&pod->sized, object);
	const int code = lt_kube_need_read(&pod->need, sized, err);
	json_decref(sized);
	if (code != LT_OK)
		return code;
	look_at(&containers, json_object_get(status, "containerStatuses"));
	pod->exit_code = containers.exit_code;
	/* Those that started first may be the last to end. */
	look_at(&containers, json_object_get(status, "initContainerStatuses"));
	pod->end_utc_s = end_of(object, &containers, phase, seen);
	if (pod->end_utc_s != 0 && pod->end_utc_s < pod->start_utc_s)
		pod->end_utc_s = pod->start_utc_s;
	snprintf(pod->state, sizeof(pod->state), "%s",
	    pod->end_utc_s == 0 ? "RUNNING" : state_of(object, &containers, phase));
	return LT_OK;
}
