/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler: each pod that waits gets the first node, by name, that its selector and
 * tolerations allow (and test/never-on, a pool) and that has room. Pods of a shape that just found
 * no place are not tried again in the same round.
 */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { SHAPE_MAX = 256 };

/* FNV-1a of what decides where a pod fits. */
static uint64_t
shape_of(const json_t *spec, const struct resources *needs)
{
	static const char *const parts[] = {"nodeSelector", "tolerations"};
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const json_t *const part = json_object_get(spec, parts[i]);
		char *const text =
		    part == NULL ? NULL : json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS);

		for (const char *at = text; at != NULL && *at != '\0'; at++)
			hash = (hash ^ (unsigned char)*at) * 1099511628211u;
		hash = (hash ^ '|') * 1099511628211u;
		free(text);
	}
	hash = (hash ^ (uint64_t)needs->cpu_milli) * 1099511628211u;
	hash = (hash ^ (uint64_t)needs->memory_bytes) * 1099511628211u;
	return (hash ^ (uint64_t)needs->gpus) * 1099511628211u;
}

static void
resources_add(struct resources *to, const struct resources *what, int64_t sign)
{
	to->cpu_milli += sign * what->cpu_milli;
	to->memory_bytes += sign * what->memory_bytes;
	to->gpus += sign * what->gpus;
	to->pods += sign * what->pods;
}

void
node_release(struct object *pod)
{
	pod->waits = false;
	if (pod->node == NULL)
		return;
	resources_add(&pod->node->used, &pod->needs, -1);
	pod->node = NULL;
	world.must_schedule = true;
}

static bool
pod_is_over(const struct object *pod)
{
	const char *const phase = json_text_at(pod->now->document, "status.phase");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

/* What the scheduler has to know of a pod that is new or has changed. */
void
pod_learn(struct object *pod)
{
	const json_t *const document = pod->now->document;
	const json_t *const spec = json_at(document, "spec");
	const char *const node = json_text_at(spec, "nodeName");

	if (pod_is_over(pod)) {
		node_release(pod);
		job_pod_ended(pod);
		return;
	}
	if (pod->node != NULL)
		return;
	pod->needs = resources_of(spec);
	pod->shape = shape_of(spec, &pod->needs);
	pod->waits = node[0] == '\0' && json_array_size(json_at(spec, "schedulingGates")) == 0 &&
		     json_at(document, "metadata.deletionTimestamp") == NULL;
	if (pod->waits) {
		world.must_schedule = true;
	} else if (node[0] != '\0') {
		pod->node = store_find(KUBE_NODES, "", node);
		if (pod->node != NULL)
			resources_add(&pod->node->used, &pod->needs, 1);
	}
}

static bool
taint_is_tolerated(const json_t *taint, const json_t *tolerations)
{
	const char *const key = json_text_at(taint, "key");
	const char *const effect = json_text_at(taint, "effect");
	json_t *toleration;
	size_t i;

	if (strcmp(effect, "PreferNoSchedule") == 0)
		return true;
	json_array_foreach(tolerations, i, toleration) {
		const char *const own_key = json_text_at(toleration, "key");
		const char *const own_effect = json_text_at(toleration, "effect");
		const bool any_value = strcmp(json_text_at(toleration, "operator"), "Exists") == 0;

		if ((own_effect[0] == '\0' || strcmp(own_effect, effect) == 0) &&
		    (strcmp(own_key, key) == 0 || (own_key[0] == '\0' && any_value)) &&
		    (any_value || strcmp(json_text_at(toleration, "value"),
				      json_text_at(taint, "value")) == 0))
			return true;
	}
	return false;
}

static bool
node_allows(const json_t *node, const json_t *pod)
{
	const json_t *const pod_spec = json_at(pod, "spec");
	const json_t *const never =
	    json_object_get(json_at(pod, "metadata.annotations"), "test/never-on");
	const json_t *const labels = json_at(node, "metadata.labels");
	json_t *value, *taint;
	const char *key;
	size_t i;

	json_object_foreach(json_object_get(pod_spec, "nodeSelector"), key, value)
		if (json_equal(json_object_get(labels, key), value) != 1)
			return false;
	/* As something that only the scheduler knows would. */
	if (never != NULL && json_equal(json_object_get(labels, "lowtide.dev/pool"), never) == 1)
		return false;
	json_array_foreach(json_at(node, "spec.taints"), i, taint)
		if (!taint_is_tolerated(taint, json_object_get(pod_spec, "tolerations")))
			return false;
	return !json_true_at(node, "spec.unschedulable") && condition_is(node, "Ready");
}

/* By one of its rules with the most weight, where the others play no part. */
static bool
node_is_preferred(const json_t *node, const json_t *pod)
{
	const json_t *const labels = json_at(node, "metadata.labels");
	const json_t *const rules = json_at(pod, "spec.affinity.nodeAffinity."
						 "preferredDuringSchedulingIgnoredDuringExecution");
	json_t *rule, *wish;
	size_t i, k;

	json_array_foreach(rules, i, rule) {
		bool all = json_int_at(rule, "weight", 0) == 100;

		json_array_foreach(json_at(rule, "preference.matchExpressions"), k, wish)
			all &= json_equal(json_object_get(labels, json_text_at(wish, "key")),
				   json_array_get(json_at(wish, "values"), 0)) == 1;
		if (all)
			return true;
	}
	return false;
}

static bool
node_has_room(const struct object *node, const struct resources *needs)
{
	struct resources left = node->room;

	resources_add(&left, &node->used, -1);
	resources_add(&left, needs, -1);
	return left.cpu_milli >= 0 && left.memory_bytes >= 0 && left.gpus >= 0 && left.pods >= 0;
}

static struct object *
node_for(const struct object *pod)
{
	struct object *first = NULL;

	for (struct object *node = world.heads[KUBE_NODES][0]; node != NULL; node = node->next[0]) {
		if (!node_has_room(node, &pod->needs) ||
		    !node_allows(node->now->document, pod->now->document))
			continue;
		if (node_is_preferred(node->now->document, pod->now->document))
			return node;
		if (first == NULL)
			first = node;
	}
	return first;
}

static void
pod_bind(struct object *pod, struct object *node)
{
	json_t *const after = object_edit(pod);

	json_put_at(after, "spec.nodeName", json_string(object_name(node)));
	claims_bind(pod, after, object_name(node));
	condition_set(after, "PodScheduled", "True", "", "");
	store_put(pod, after);
}

static void
pod_tell_unschedulable(struct object *pod)
{
	json_t *after;

	if (pod->is_told)
		return;
	pod->is_told = true;
	after = object_edit(pod);
	condition_set(after, "PodScheduled", "False", "Unschedulable",
	    "0 nodes are available: no node matches the pod's node affinity "
	    "and tolerations and has what it requests.");
	store_put(pod, after);
}

void
schedule_all(int64_t at_ms)
{
	uint64_t full[SHAPE_MAX];
	int full_count = 0;

	(void)at_ms;
	for (struct object *pod = world.heads[KUBE_PODS][0]; pod != NULL; pod = pod->next[0]) {
		bool is_full = false;
		struct object *node;

		if (!pod->waits)
			continue;
		for (int i = 0; i < full_count && !is_full; i++)
			is_full = full[i] == pod->shape;
		node = is_full ? NULL : node_for(pod);
		if (node != NULL) {
			pod_bind(pod, node);
			continue;
		}
		if (!is_full && full_count < SHAPE_MAX)
			full[full_count++] = pod->shape;
		pod_tell_unschedulable(pod);
	}
	/* What it wrote itself is no reason for another round. */
	world.must_schedule = false;
}
