/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small readings of the API server's objects, where any member may be missing:
 * times, conditions, requests, and what a pod takes now. Pure. A missing member reads as absent; a
 * quantity that is not one is LT_EINPUT.
 *
 * A pod's spec says what its user wants; since 1.33 a running pod may be resized in place, and its
 * status says what its node has allocated. Source:
 * KEP-1287; determineContainerReqs() of k8s.io/component-helpers/resource counts the same, and the
 * spec beside it, for kube-scheduler keeps room for what may come.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lookup.h"
#include "object.h"
#include "units.h"

const char *const lt_kube_container_lists[LT_KUBE_CONTAINER_LISTS] = {
    "containers", "initContainers"};

int64_t
lt_kube_time(const json_t *object, const char *key)
{
	int64_t utc_s;
	const char *const text = lt_kube_string(object, key);

	return text[0] != '\0' && lt_utc_parse(text, &utc_s, NULL) == LT_OK ? utc_s : 0;
}

int64_t
lt_kube_number(const json_t *object, const char *key, int64_t none)
{
	const json_t *const number = json_object_get(object, key);

	return json_is_integer(number) ? json_integer_value(number) : none;
}

const json_t *
lt_kube_condition(const json_t *object, const char *type)
{
	const json_t *const all = lt_kube_part(object, "status", "conditions");
	const json_t *condition;
	size_t i;

	json_array_foreach(all, i, condition)
		if (strcmp(lt_kube_string(condition, "type"), type) == 0 &&
		    strcmp(lt_kube_string(condition, "status"), "True") == 0)
			return condition;
	return NULL;
}

const json_t *
lt_kube_controller(const json_t *object)
{
	const json_t *const owners = lt_kube_part(object, "metadata", "ownerReferences");
	const json_t *owner;
	size_t i;

	json_array_foreach(owners, i, owner)
		if (lt_kube_is_true(owner, "controller"))
			return owner;
	return NULL;
}

bool
lt_kube_is_gated(const json_t *pod)
{
	const json_t *const gates = lt_kube_part(pod, "spec", "schedulingGates");
	const json_t *gate;
	size_t i;

	json_array_foreach(gates, i, gate)
		if (strcmp(lt_kube_string(gate, "name"), LT_KUBE_GATE) == 0)
			return true;
	return false;
}

bool
lt_kube_is_own(const json_t *pod)
{
	const json_t *const annotations = lt_kube_part(pod, "metadata", "annotations");

	return lt_kube_controller(pod) == NULL || lt_kube_is_gated(pod) ||
	       json_object_get(annotations, LT_KUBE_DOMAIN "quote") != NULL;
}

/* ---- what a pod takes ---- */

enum { MILLI = 1000, MIB = 1024 * 1024 };

/* LT_KUBE_RESOURCES: none that is counted. */
static enum lt_kube_resource
resource_of(const char *name)
{
	static const char *const names[LT_KUBE_RESOURCES] = {
	    [LT_KUBE_CPU] = "cpu",
	    [LT_KUBE_MEMORY] = "memory",
	    [LT_KUBE_STORAGE] = "ephemeral-storage",
	    [LT_KUBE_POD_COUNT] = "pods",
	};

	for (int i = 0; i < LT_KUBE_RESOURCES; i++)
		if (names[i] != NULL && strcmp(name, names[i]) == 0)
			return (enum lt_kube_resource)i;
	return lt_kube_is_gpu(name) ? LT_KUBE_GPU : LT_KUBE_RESOURCES;
}

static int
add_resource(
    struct lt_kube_amounts *sum, const char *name, const json_t *quantity, struct lt_error *err)
{
	static const int64_t parts[LT_KUBE_RESOURCES] = {
	    [LT_KUBE_CPU] = MILLI,
	    [LT_KUBE_MEMORY] = 1,
	    [LT_KUBE_STORAGE] = 1,
	    [LT_KUBE_GPU] = MILLI,
	    [LT_KUBE_POD_COUNT] = 1,
	};
	const enum lt_kube_resource which = resource_of(name);
	int64_t value;

	if (which == LT_KUBE_RESOURCES)
		return LT_OK;
	const int code = lt_kube_quantity(quantity, LT_ROW(parts, which), &value, err);
	if (code != LT_OK)
		return code;
	return lt_add(&sum->of[which], value)
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "%s: more than can be counted", name);
}

int
lt_kube_room_read(struct lt_kube_amounts *room, const json_t *allocatable, struct lt_error *err)
{
	const char *name;
	json_t *quantity;

	*room = (struct lt_kube_amounts){{0}};
	json_object_foreach((json_t *)allocatable, name, quantity) {
		const int code = add_resource(room, name, quantity, err);

		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* Adds a resource of a container or a pod. A missing request is the limit, as the API server sets
 * it. */
static int
add_resources(struct lt_kube_amounts *sum, const json_t *of, struct lt_error *err)
{
	json_t *const resources = json_object_get(of, "resources");
	json_t *const requests = json_object_get(resources, "requests");
	json_t *const limits = json_object_get(resources, "limits");
	const char *name;
	json_t *quantity;
	int code = LT_OK;

	json_object_foreach(requests, name, quantity) {
		code = add_resource(sum, name, quantity, err);
		if (code != LT_OK)
			return code;
	}
	json_object_foreach(limits, name, quantity) {
		if (json_object_get(requests, name) == NULL)
			code = add_resource(sum, name, quantity, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static void
raise_all(struct lt_kube_amounts *to, const struct lt_kube_amounts *least)
{
	for (int i = 0; i < LT_KUBE_RESOURCES; i++)
		if (to->of[i] < least->of[i])
			to->of[i] = least->of[i];
}

static int64_t
whole_units(int64_t value, int64_t of)
{
	return value / of + (value % of != 0);
}

/* All containers together, with those that start first and stay; or one that runs before them,
 * where it takes more. Source: KEP-753. */
static int
sum_containers(struct lt_kube_amounts *sum, const json_t *pod_spec, struct lt_error *err)
{
	struct lt_kube_amounts most = {0};
	const json_t *container;
	size_t i;
	int code = LT_OK;

	json_array_foreach(json_object_get(pod_spec, "initContainers"), i, container) {
		const bool stays =
		    strcmp(lt_kube_string(container, "restartPolicy"), "Always") == 0;
		struct lt_kube_amounts first = *sum;

		code = add_resources(stays ? sum : &first, container, err);
		if (code != LT_OK)
			return code;
		raise_all(&most, &first);
	}
	json_array_foreach(json_object_get(pod_spec, "containers"), i, container) {
		code = add_resources(sum, container, err);
		if (code != LT_OK)
			return code;
	}
	raise_all(sum, &most);
	return LT_OK;
}

/* Source: DefaultMilliCPURequest and DefaultMemoryRequest of
 * k8s.io/kubernetes/pkg/scheduler/util. */
static struct lt_exact
exact_of(const struct lt_kube_amounts *sum)
{
	enum { KIB = 1024, SCORED_MILLI = 100, SCORED_KIB = 200 * 1024 };
	const int64_t cpus = sum->of[LT_KUBE_CPU];
	const int64_t bytes = sum->of[LT_KUBE_MEMORY];

	return (struct lt_exact){.cpu_milli = cpus > 0 ? (uint64_t)cpus : SCORED_MILLI,
	    .memory_kib = bytes >= KIB ? (uint64_t)bytes / KIB : SCORED_KIB};
}

int
lt_kube_asks_read(struct lt_kube_amounts *asks, const json_t *pod_spec, struct lt_error *err)
{
	struct lt_kube_amounts sum = {{0}}, pod = {{0}};
	int code = sum_containers(&sum, pod_spec, err);

	/* A pod as a whole asks for at least what its parts do (KEP-2837); the API server sees to
	 * that. */
	if (code == LT_OK)
		code = add_resources(&pod, pod_spec, err);
	if (code != LT_OK)
		return code;
	raise_all(&sum, &pod);
	json_t *const overhead = json_object_get(pod_spec, "overhead");
	const char *name;
	json_t *quantity;
	json_object_foreach(overhead, name, quantity) {
		code = add_resource(&sum, name, quantity, err);
		if (code != LT_OK)
			return code;
	}
	sum.of[LT_KUBE_POD_COUNT] = 1;
	*asks = sum;
	return LT_OK;
}

int
lt_kube_need_read(struct lt_kube_need *need, const json_t *pod_spec, struct lt_error *err)
{
	struct lt_kube_amounts sum;
	struct lt_kube_gpus kinds;
	int code = lt_kube_asks_read(&sum, pod_spec, err);

	if (code == LT_OK)
		code = lt_kube_gpus_asked(&kinds, pod_spec, err);
	if (code != LT_OK)
		return code;
	const int64_t cpus = whole_units(sum.of[LT_KUBE_CPU], MILLI);
	const int64_t mib = whole_units(sum.of[LT_KUBE_MEMORY], MIB);
	if (cpus > UINT32_MAX)
		return lt_fail(err, LT_EINPUT, "more CPUs than %u", UINT32_MAX);
	*need = (struct lt_kube_need){.cpus = cpus > 0 ? (uint32_t)cpus : 1,
	    .memory_mib = mib > 0 ? (uint64_t)mib : 1,
	    .exact = exact_of(&sum),
	    .gpu_kinds = kinds};
	lt_kube_need_on(need, NULL);
	return LT_OK;
}

void
lt_kube_need_on(struct lt_kube_need *need, const struct lt_kube_gpus *offered)
{
	const uint64_t micro = lt_kube_gpus_micro(&need->gpu_kinds, offered);

	need->exact.gpu_micro = micro;
	need->gpus = (uint32_t)(micro / LT_KUBE_WHOLE_GPU + (micro % LT_KUBE_WHOLE_GPU != 0));
}

bool
lt_kube_need_raise(struct lt_kube_need *need, const struct lt_kube_need *other)
{
	const struct lt_exact was = need->exact, *const more = &other->exact;

	if (more->cpu_milli > was.cpu_milli) {
		need->exact.cpu_milli = more->cpu_milli;
		need->cpus = other->cpus;
	}
	if (more->memory_kib > was.memory_kib) {
		need->exact.memory_kib = more->memory_kib;
		need->memory_mib = other->memory_mib;
	}
	if (more->gpu_micro > was.gpu_micro) {
		need->exact.gpu_micro = more->gpu_micro;
		need->gpus = other->gpus;
		need->gpu_kinds = other->gpu_kinds;
	}
	return memcmp(&was, &need->exact, sizeof(was)) != 0;
}

/* ---- less of it ---- */

static void
strip_containers(json_t *list)
{
	static const char *const kept[] = {"name", "resources", "restartPolicy", "ports"};
	json_t *container;
	size_t i;

	json_array_foreach(list, i, container) {
		json_t *const fresh = json_object();

		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
			json_t *const part = json_object_get(container, kept[k]);

			if (part != NULL)
				json_object_set(fresh, kept[k], part);
		}
		json_array_set_new(list, i, fresh);
	}
}

/* Keeps only the kinds of volumes. */
static void
strip_volumes(json_t *list)
{
	json_t *volume, *source;
	const char *kind;
	size_t i;
	void *next;

	json_array_foreach(list, i, volume)
		json_object_foreach_safe(volume, next, kind, source)
		    json_object_set_new(volume, kind, json_true());
}

static void
strip_pod_spec(json_t *spec)
{
	strip_containers(json_object_get(spec, "containers"));
	strip_containers(json_object_get(spec, "initContainers"));
	strip_volumes(json_object_get(spec, "volumes"));
}

void
lt_kube_strip(json_t *object)
{
	json_t *const metadata = json_object_get(object, "metadata");
	json_t *const spec = json_object_get(object, "spec");
	json_t *const annotations = json_object_get(metadata, "annotations");

	json_object_del(metadata, "managedFields");
	/* The manifest as it was applied, once more. */
	json_object_del(annotations, "kubectl.kubernetes.io/last-applied-configuration");
	strip_pod_spec(spec);
	strip_pod_spec(json_object_get(json_object_get(spec, "template"), "spec"));
	json_object_del(json_object_get(object, "status"), "images");
}

/* ---- the size that a pod has now ---- */

enum { SIZE_PARTS = 1000 };

static const json_t *
larger_quantity(const json_t *a, const json_t *b)
{
	int64_t x, y;

	return b != NULL && lt_kube_quantity(a, SIZE_PARTS, &x, NULL) == LT_OK &&
		       lt_kube_quantity(b, SIZE_PARTS, &y, NULL) == LT_OK && y > x
		   ? b
		   : a;
}

/* Puts what was allocated into a container's, or the pod's own, requests: while its node is still
 * at work on it, what it has in fact if that is more. If nothing is said the spec stays. */
static void
take_allocated(json_t *part, const json_t *status, bool is_resizing)
{
	static const char *const names[] = {"cpu", "memory"};
	json_t *const allocated = json_object_get(status, "allocatedResources");
	json_t *const requests = json_object_get(json_object_get(part, "resources"), "requests");
	const json_t *const actual = lt_kube_part(status, "resources", "requests");

	for (size_t i = 0; allocated != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *const has = json_object_get(allocated, names[i]);

		if (has == NULL)
			json_object_del(requests, names[i]);
		else
			json_object_set(requests, names[i],
			    (json_t *)(is_resizing
					   ? larger_quantity(has, json_object_get(actual, names[i]))
					   : has));
	}
}

static const json_t *
container_status(const json_t *statuses, const char *name)
{
	const json_t *status;
	size_t i;

	json_array_foreach(statuses, i, status)
		if (strcmp(lt_kube_string(status, "name"), name) == 0)
			return status;
	return NULL;
}

/* True if the node reports it: kubelets before 1.33 do so for no container. */
static bool
is_told_by(const json_t *statuses)
{
	const json_t *status;
	size_t i;

	json_array_foreach(statuses, i, status)
		if (json_object_get(status, "allocatedResources") != NULL)
			return true;
	return false;
}

json_t *
lt_kube_sized_spec(struct lt_kube_sized *sized, const json_t *pod)
{
	static const char *const lists[LT_KUBE_CONTAINER_LISTS] = {
	    "containerStatuses", "initContainerStatuses"};
	json_t *const spec = json_object_get(pod, "spec");
	const json_t *const status = json_object_get(pod, "status");
	const json_t *const resizing = lt_kube_condition(pod, "PodResizeInProgress");

	*sized =
	    (struct lt_kube_sized){.is_pending = lt_kube_condition(pod, "PodResizePending") != NULL,
		.is_told = is_told_by(json_object_get(status, lists[0])),
		.resizing_utc_s = lt_kube_time(resizing, "lastTransitionTime")};
	if (!sized->is_told)
		return json_incref(spec);
	json_t *const now = json_deep_copy(spec);
	json_t *container;
	size_t i;
	for (int k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(json_object_get(now, lt_kube_container_lists[k]), i, container)
			take_allocated(container,
			    container_status(json_object_get(status, lists[k]),
				lt_kube_string(container, "name")),
			    resizing != NULL);
	take_allocated(now, status, resizing != NULL); /* KEP-5419 */
	return now;
}
