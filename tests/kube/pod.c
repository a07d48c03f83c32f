/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kubelet: a pod with a node runs, for the seconds of its annotation test/run-seconds, and
 * ends, well or (test/fail) not; one that is deleted ends and is removed; one whose node is gone
 * has failed. Conditions are set here too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

bool
condition_is(const json_t *document, const char *type)
{
	return strcmp(
		   json_text_at(
		       json_member(json_at(document, "status.conditions"), "type", type), "status"),
		   "True") == 0;
}

void
condition_set(
    json_t *document, const char *type, const char *status, const char *reason, const char *message)
{
	const bool is_job = json_at(document, "spec.template") != NULL; /* of a Job */
	json_t *condition;

	json_default_at(document, "status.conditions", json_array());
	condition = json_member(json_at(document, "status.conditions"), "type", type);
	if (condition == NULL) {
		condition = json_pack("{s:s}", "type", type);
		json_array_append_new(json_at(document, "status.conditions"), condition);
	} else if (strcmp(json_text_at(condition, "status"), status) == 0 &&
		   strcmp(json_text_at(condition, "reason"), reason) == 0) {
		return;
	}
	json_object_set_new(condition, "status", json_string(status));
	json_object_set_new(condition, "lastProbeTime", is_job ? json_time(now_ms()) : json_null());
	json_object_set_new(condition, "lastTransitionTime", json_time(now_ms()));
	json_object_del(condition, "reason");
	json_object_del(condition, "message");
	if (reason[0] != '\0')
		json_object_set_new(condition, "reason", json_string(reason));
	if (message[0] != '\0')
		json_object_set_new(condition, "message", json_string(message));
}

static const char *
annotation(const struct object *pod, const char *name)
{
	const char *const text = json_string_value(
	    json_object_get(json_at(pod->now->document, "metadata.annotations"), name));

	return text == NULL ? "" : text;
}

static double
annotation_seconds(const struct object *pod, const char *name, double otherwise)
{
	const char *const text = annotation(pod, name);

	return text[0] == '\0' ? otherwise : atof(text);
}

static json_t *
container_status(const json_t *container, json_t *state, bool is_ready)
{
	return json_pack("{s:s,s:s,s:s,s:i,s:b,s:b,s:o,s:{},s:s}", "name",
	    json_text_at(container, "name"), "image", json_text_at(container, "image"), "imageID",
	    "played://image", "restartCount", 0, "ready", is_ready, "started", is_ready, "state",
	    state, "lastState", "containerID", "played://container");
}

static void
ready_set(json_t *pod, bool is_ready, const char *reason)
{
	const char *const status = is_ready ? "True" : "False";

	condition_set(pod, "PodReadyToStartContainers", status, "", "");
	condition_set(pod, "Initialized", "True", is_ready ? "" : reason, "");
	condition_set(pod, "Ready", status, reason, "");
	condition_set(pod, "ContainersReady", status, reason, "");
}

static bool
runs_forever(const struct object *pod)
{
	return strcmp(json_text_at(pod->now->document, "spec.restartPolicy"), "Always") == 0 &&
	       annotation(pod, "test/run-seconds")[0] == '\0';
}

static void
pod_run(struct object *pod, int64_t at_ms)
{
	const double run_s = annotation_seconds(pod, "test/run-seconds", 3);
	json_t *const after = object_edit(pod);
	const int64_t limit_s = json_int_at(after, "spec.activeDeadlineSeconds", 0);
	json_t *const statuses = json_array();
	json_t *container;
	size_t i;

	json_array_foreach(json_at(after, "spec.containers"), i, container) {
		json_t *const status = container_status(container,
		    json_pack("{s:{s:o}}", "running", "startedAt", json_time(at_ms)), true);

		resize_begin(status, container);
		json_array_append_new(statuses, status);
	}
	json_put_at(after, "status.phase", json_string("Running"));
	json_put_at(after, "status.startTime", json_time(at_ms));
	json_put_at(after, "status.hostIP", json_string("10.9.0.1"));
	json_put_at(after, "status.podIP", json_string("10.10.0.1"));
	json_put_at(after, "status.containerStatuses", statuses);
	ready_set(after, true, "");
	store_put(pod, after);
	pod->end_ms = runs_forever(pod) ? INT64_MAX
					: at_ms + control_ms(limit_s > 0 && (double)limit_s < run_s
								 ? (double)limit_s
								 : run_s);
	control_at(pod, pod->end_ms);
}

struct ending {
	int exit_code;
	const char *reason; /* of the containers */
	const char *pod_reason, *message;
};

static void
pod_end(struct object *pod, const struct ending *ending, int64_t at_ms)
{
	json_t *const after = object_edit(pod);
	json_t *status;
	size_t i;

	json_array_foreach(json_at(after, "status.containerStatuses"), i, status) {
		json_t *const started = json_incref(json_at(status, "state.running.startedAt"));

		json_object_set_new(status, "state",
		    json_pack("{s:{s:s,s:i,s:s,s:o,s:o}}", "terminated", "containerID",
			"played://container", "exitCode", ending->exit_code, "reason",
			ending->reason, "startedAt", started != NULL ? started : json_time(at_ms),
			"finishedAt", json_time(at_ms)));
		json_object_set_new(status, "ready", json_false());
		json_object_set_new(status, "started", json_false());
	}
	json_put_at(
	    after, "status.phase", json_string(ending->exit_code == 0 ? "Succeeded" : "Failed"));
	if (ending->pod_reason != NULL) {
		json_put_at(after, "status.reason", json_string(ending->pod_reason));
		json_put_at(after, "status.message", json_string(ending->message));
	}
	ready_set(after, false, ending->exit_code == 0 ? "PodCompleted" : "PodFailed");
	store_put(pod, after);
}

static void
pod_run_out(struct object *pod, int64_t at_ms)
{
	static const struct ending good = {0, "Completed", NULL, NULL};
	static const struct ending bad = {1, "Error", NULL, NULL};
	static const struct ending late = {137, "Error", "DeadlineExceeded",
	    "Pod was active on the node longer than the specified deadline"};
	const int64_t limit_s = json_int_at(pod->now->document, "spec.activeDeadlineSeconds", 0);

	if (limit_s > 0 && (double)limit_s < annotation_seconds(pod, "test/run-seconds", 3))
		pod_end(pod, &late, at_ms);
	else if (strcmp(annotation(pod, "test/fail"), "1") == 0)
		pod_end(pod, &bad, at_ms);
	else
		pod_end(pod, &good, at_ms);
}

void
pod_step(struct object *pod, int64_t at_ms)
{
	static const struct ending killed = {143, "Error", NULL, NULL};
	const json_t *const now = pod->now->document;
	const char *const phase = json_text_at(now, "status.phase");
	const bool is_due = at_ms >= pod->due_ms;

	if (is_due)
		pod->due_ms = INT64_MAX;
	if (json_at(now, "metadata.deletionTimestamp") != NULL) {
		if (is_due) {
			if (strcmp(phase, "Running") == 0)
				pod_end(pod, &killed, at_ms);
			store_remove(pod);
		}
	} else if (strcmp(phase, "Pending") == 0 && pod->node != NULL) {
		if (is_due)
			pod_run(pod, at_ms);
		else if (pod->due_ms == INT64_MAX)
			control_at(pod,
			    at_ms + control_ms(annotation_seconds(pod, "test/start-seconds", 0.1)));
	} else if (strcmp(phase, "Running") == 0) {
		/* Also where the clock was set ahead. */
		if (at_ms >= pod->end_ms) {
			pod_run_out(pod, pod->end_ms);
			return;
		}
		resize_step(pod, at_ms);
		control_at(pod, pod->resized_ms < pod->end_ms ? pod->resized_ms : pod->end_ms);
	}
}

/* Containers stay as they were last heard of. */
void
node_lost(struct object *node)
{
	for (struct object *pod = world.heads[KUBE_PODS][0]; pod != NULL; pod = pod->next[0]) {
		json_t *after;

		if (pod->node != node)
			continue;
		after = object_edit(pod);
		json_put_at(after, "status.phase", json_string("Failed"));
		json_put_at(after, "status.reason", json_string("NodeLost"));
		json_put_at(after, "status.message", json_string("PodGC: node no longer exists"));
		condition_set(after, "DisruptionTarget", "True", "DeletionByPodGC",
		    "PodGC: node no longer exists");
		condition_set(after, "Ready", "False", "NodeLost", "");
		store_put(pod, after);
		node_release(pod);
	}
}
