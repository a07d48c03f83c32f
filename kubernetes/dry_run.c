/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the pod to be tried, and keeps what the answer says of its size and its place. Pure.
 * Source: k8s.io/kubernetes/pkg/controller/job and controller_utils.go, GetPodFromTemplate; the API
 * server adds the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_facts.h"
#include "object.h"

enum { PREFIX_SIZE = 320 };

static const json_t *
template_of(const json_t *job)
{
	return lt_kube_part(job, "spec", "template");
}

/* blockOwnerDeletion would want a right to change the Job's finalizers, where
 * OwnerReferencesPermissionEnforcement is on. */
json_t *
lt_kube_dry_pod(const json_t *job)
{
	static const char index_key[] = "batch.kubernetes.io/job-completion-index";
	const json_t *const own = json_object_get(job, "metadata");
	const json_t *const template = template_of(job);
	const char *const name = lt_kube_string(own, "name");
	const bool is_indexed =
	    strcmp(lt_kube_string(json_object_get(job, "spec"), "completionMode"), "Indexed") == 0;
	char prefix[PREFIX_SIZE];

	snprintf(prefix, sizeof(prefix), "%.253s-%s", name, is_indexed ? "0-" : "");
	json_t *const metadata =
	    json_pack("{s:s,s:s,s:[{s:s,s:s,s:s,s:s,s:b}]}", "generateName", prefix, "namespace",
		lt_kube_string(own, "namespace"), "ownerReferences", "apiVersion", "batch/v1",
		"kind", "Job", "name", name, "uid", lt_kube_string(own, "uid"), "controller", 1);
	static const char *const maps[] = {"labels", "annotations"};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		json_t *const map =
		    json_copy((json_t *)lt_kube_part(template, "metadata", maps[i]));
		json_t *const all = map != NULL ? map : json_object();

		if (is_indexed)
			json_object_set_new(all, index_key, json_string("0"));
		json_object_set_new(metadata, maps[i], all);
	}
	return json_pack("{s:s,s:s,s:o,s:O}", "apiVersion", "v1", "kind", "Pod", "metadata",
	    metadata, "spec", json_object_get(template, "spec"));
}

/* Returns the part of a template that decides a pod's size, as text;
 * malloc'd. */
static char *
sizes_of(const json_t *job)
{
	const json_t *const pod_spec = json_object_get(template_of(job), "spec");
	json_t *const all = json_array();
	const json_t *container;
	size_t i;

	json_array_append_new(all, json_string(lt_kube_string(pod_spec, "runtimeClassName")));
	for (int k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container)
			json_array_append_new(
			    all, json_pack("[s,O?]", lt_kube_string(container, "name"),
				     json_object_get(container, "resources")));
	char *const text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(all);
	return text;
}

/* Labels of nodes that the template does not name itself. */
static json_t *
added_labels(const json_t *pod_spec, const json_t *answered)
{
	const json_t *const own = json_object_get(pod_spec, "nodeSelector");
	json_t *const added = json_object();
	const char *label;
	json_t *value;

	json_object_foreach(json_object_get(answered, "nodeSelector"), label, value)
		if (json_object_get(own, label) == NULL)
			json_object_set(added, label, value);
	return added;
}

static bool
has_own_claims(const json_t *own, const json_t *answer)
{
	const json_t *const is = json_object_get(own, "resourceClaims");
	const json_t *const became = lt_kube_part(answer, "spec", "resourceClaims");

	return is == became || json_equal(is, became) == 1;
}

json_t *
lt_kube_dry_result(const json_t *job, const json_t *answer, const char *why)
{
	static const char *const kept[] = {"containers", "initContainers", "overhead", "resources",
	    "schedulerName", "hostNetwork", "volumes", "topologySpreadConstraints"};
	const json_t *const own = json_object_get(template_of(job), "spec");
	char *const sizes = sizes_of(job);
	json_t *const result = json_pack("{s:s}", "sizes", sizes != NULL ? sizes : "");

	free(sizes);
	/* Claims are read by the Job's own names of them. */
	if (answer != NULL && !has_own_claims(own, answer)) {
		answer = NULL;
		why = "a webhook changes its resourceClaims";
	}
	if (answer == NULL) {
		json_object_set_new(result, "why", json_string(why));
		return result;
	}
	json_t *const pod = json_deep_copy(answer);
	json_t *const spec = json_object();
	lt_kube_strip(pod);
	const json_t *const answered = json_object_get(pod, "spec");
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		json_t *const part = json_object_get(answered, kept[i]);

		if (part != NULL)
			json_object_set(spec, kept[i], part);
	}
	json_object_set_new(result, "nodeSelector", added_labels(own, answered));
	json_object_set_new(result, "spec", spec);
	json_decref(pod);
	return result;
}

const json_t *
lt_kube_dry_run_of(const json_t *job)
{
	const json_t *const result = json_object_get(job, LT_KUBE_DRY_RUN);

	if (result == NULL)
		return NULL;
	char *const sizes = sizes_of(job);
	const bool is_same = sizes != NULL && strcmp(sizes, lt_kube_string(result, "sizes")) == 0;
	free(sizes);
	return is_same ? result : NULL;
}
