/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a server adds to an object: metadata of its own, the defaults of Jobs and Pods, and the
 * labels that tie a Job to its pods.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "server.h"

static void
random_bytes(unsigned char *out, size_t length)
{
	while (getrandom(out, length, 0) != (ssize_t)length)
		;
}

json_t *
default_uid(void)
{
	unsigned char b[16];
	char text[37];

	random_bytes(b, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	snprintf(text, sizeof(text),
	    "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
	    "%02x%02x%02x%02x%02x%02x",
	    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
	    b[14], b[15]);
	return json_string(text);
}

void
default_suffix(char out[6])
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[5];

	random_bytes(bytes, sizeof(bytes));
	for (int i = 0; i < 5; i++)
		out[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	out[5] = '\0';
}

/* Requests that only limits are given for, and quantities as text. */
static void
default_resources(json_t *container)
{
	json_t *limits, *quantity;
	const char *name;
	char path[300];

	json_default_at(container, "resources", json_object());
	limits = json_at(container, "resources.limits");
	json_object_foreach(limits, name, quantity) {
		json_t *const requests = json_at(container, "resources.requests");

		if (json_object_get(requests, name) != NULL)
			continue;
		snprintf(path, sizeof(path), "resources.requests");
		json_default_at(container, path, json_object());
		json_object_set_new(json_at(container, path), name, json_deep_copy(quantity));
	}
	for (int i = 0; i < 2; i++) {
		json_t *const list =
		    json_at(container, i == 0 ? "resources.limits" : "resources.requests");

		json_object_foreach(list, name, quantity) {
			char text[64];

			if (!json_is_number(quantity))
				continue;
			snprintf(text, sizeof(text), "%g", json_number_value(quantity));
			json_object_set_new(list, name, json_string(text));
		}
	}
}

static void
default_pod_spec(json_t *spec)
{
	json_t *container;
	size_t i;

	json_array_foreach(json_at(spec, "containers"), i, container) {
		default_resources(container);
		json_default_at(
		    container, "terminationMessagePath", json_string("/dev/termination-log"));
		json_default_at(container, "terminationMessagePolicy", json_string("File"));
		json_default_at(container, "imagePullPolicy", json_string("IfNotPresent"));
	}
	json_default_at(spec, "restartPolicy", json_string("Always"));
	json_default_at(spec, "terminationGracePeriodSeconds", json_integer(30));
	json_default_at(spec, "dnsPolicy", json_string("ClusterFirst"));
	json_default_at(spec, "securityContext", json_object());
	json_default_at(spec, "schedulerName", json_string("default-scheduler"));
}

static void
default_toleration(json_t *spec, const char *key)
{
	json_t *const list = json_at(spec, "tolerations");

	if (json_member(list, "key", key) == NULL)
		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:s,s:i}", "key", key, "operator", "Exists", "effect",
			      "NoExecute", "tolerationSeconds", 300));
}

/* A real server's admission does these for a pod only. */
static void
default_pod_only(json_t *spec)
{
	json_default_at(spec, "serviceAccountName", json_string("default"));
	json_default_at(spec, "serviceAccount", json_string("default"));
	json_default_at(spec, "priority", json_integer(0));
	json_default_at(spec, "enableServiceLinks", json_true());
	json_default_at(spec, "preemptionPolicy", json_string("PreemptLowerPriority"));
	json_default_at(spec, "tolerations", json_array());
	default_toleration(spec, "node.kubernetes.io/not-ready");
	default_toleration(spec, "node.kubernetes.io/unreachable");
}

static void
default_job(json_t *job)
{
	const bool has_parallelism = json_at(job, "spec.parallelism") != NULL;

	if (json_at(job, "spec.completions") == NULL && !has_parallelism)
		json_put_at(job, "spec.completions", json_integer(1));
	json_default_at(job, "spec.parallelism", json_integer(1));
	json_default_at(job, "spec.backoffLimit", json_integer(6));
	json_default_at(job, "spec.manualSelector", json_false());
	json_default_at(job, "spec.completionMode", json_string("NonIndexed"));
	json_default_at(job, "spec.suspend", json_false());
	json_default_at(job, "spec.podReplacementPolicy", json_string("TerminatingOrFailed"));
	json_default_at(job, "spec.template.metadata", json_object());
	json_default_at(job, "spec.template.spec", json_object());
	default_pod_spec(json_at(job, "spec.template.spec"));
}

/* An empty list or map of these is none, once written and read again. */
static void
drop_empty(json_t *document)
{
	static const struct {
		const char *path, *name;
	} places[] = {
	    {"metadata", "annotations"},
	    {"metadata", "labels"},
	    {"spec", "schedulingGates"},
	    {"spec", "nodeSelector"},
	    {"spec", "tolerations"},
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		json_t *const in = json_at(document, places[i].path);
		const json_t *const value = json_object_get(in, places[i].name);

		if (value != NULL && json_array_size(value) == 0 && json_object_size(value) == 0)
			json_object_del(in, places[i].name);
	}
}

void
default_fields(enum kind_index kind, json_t *document)
{
	drop_empty(document);
	drop_empty(json_at(document, "spec.template"));
	if (kind == KUBE_JOBS)
		default_job(document);
	else if (kind == KUBE_PODS)
		default_pod_spec(json_at(document, "spec"));
	else if (kind == KUBE_LIMIT_RANGES)
		limits_default(document);
}

/* The labels that say whose pods the template's are. */
static void
default_selector(json_t *job)
{
	json_t *const uid = json_at(job, "metadata.uid");
	json_t *const name = json_at(job, "metadata.name");
	json_t *labels;

	if (json_true_at(job, "spec.manualSelector"))
		return;
	json_default_at(job, "spec.template.metadata.labels", json_object());
	labels = json_at(job, "spec.template.metadata.labels");
	json_object_set(labels, "batch.kubernetes.io/controller-uid", uid);
	json_object_set(labels, "batch.kubernetes.io/job-name", name);
	json_object_set(labels, "controller-uid", uid);
	json_object_set(labels, "job-name", name);
	json_put_at(job, "spec.selector",
	    json_pack("{s:{s:O}}", "matchLabels", "batch.kubernetes.io/controller-uid", uid));
}

static void
default_pod_status(json_t *pod)
{
	const struct resources needs = resources_of(json_at(pod, "spec"));

	json_put_at(pod, "status",
	    json_pack("{s:s,s:s}", "phase", "Pending", "qosClass",
		needs.cpu_milli > 0 || needs.memory_bytes > 0 ? "Burstable" : "BestEffort"));
	if (json_array_size(json_at(pod, "spec.schedulingGates")) > 0)
		condition_set(pod, "PodScheduled", "False", "SchedulingGated",
		    "Scheduling is blocked due to non-empty scheduling gates");
}

static void
default_space(json_t *space)
{
	json_default_at(space, "metadata.labels", json_object());
	json_object_set(json_at(space, "metadata.labels"), "kubernetes.io/metadata.name",
	    json_at(space, "metadata.name"));
	json_default_at(space, "spec.finalizers", json_pack("[s]", "kubernetes"));
	json_put_at(space, "status", json_pack("{s:s}", "phase", "Active"));
}

void
default_new(enum kind_index kind, json_t *document)
{
	json_put_at(document, "metadata.uid", default_uid());
	json_put_at(document, "metadata.creationTimestamp", json_time(now_ms()));
	json_object_del(json_at(document, "metadata"), "deletionTimestamp");
	default_fields(kind, document);
	switch (kind) {
	case KUBE_JOBS:
		json_put_at(document, "metadata.generation", json_integer(1));
		json_put_at(document, "status", json_object());
		default_selector(document);
		break;
	case KUBE_PODS:
		json_put_at(document, "metadata.generation", json_integer(1));
		default_pod_only(json_at(document, "spec"));
		default_pod_status(document);
		break;
	case KUBE_NAMESPACES:
		default_space(document);
		break;
	case KUBE_NODES:
	case KUBE_CONFIGMAPS:
	case KUBE_EVENTS:
	case KUBE_CRON_JOBS:
	case KUBE_LIMIT_RANGES:
	case KUBE_RUNTIME_CLASSES:
	case KUBE_DEVICE_CLASSES:
	case KUBE_RESOURCE_SLICES:
	case KUBE_RESOURCE_CLAIMS:
	case KUBE_CLAIM_TEMPLATES:
	case KUBE_MUTATING:
	case KUBE_MUTATING_BINDINGS:
	case KUBE_VALIDATING:
	case KUBE_VALIDATING_BINDINGS:
	case KUBE_KIND_COUNT:
		break;
	}
}
