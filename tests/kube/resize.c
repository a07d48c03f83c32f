/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that are resized in place, since 1.33: the subresource pods/resize, and the kubelet, which
 * takes a resize if its node has room (else the condition PodResizePending says Deferred, or
 * Infeasible where it never can have), is at work on it for the seconds of test/resize-seconds
 * (PodResizeInProgress; 0:
 * nobody sees that), and then tells what containers have. Sources: KEP-1287,
 * pkg/kubelet/allocation.
 */
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum { FIRST_MINOR = 33 };

bool
resize_is(const struct request *request)
{
	return request->kind == KUBE_PODS && world.options.minor >= FIRST_MINOR &&
	       strcmp(request->sub, "resize") == 0;
}

json_t *
resize_only(const json_t *before, json_t *after)
{
	json_t *const document = json_deep_copy(before);
	json_t *container;
	size_t i;

	json_array_foreach(json_at(document, "spec.containers"), i, container) {
		json_t *const resources = json_at(json_member(json_at(after, "spec.containers"),
						      "name", json_text_at(container, "name")),
		    "resources");

		if (resources != NULL)
			json_object_set(container, "resources", resources);
	}
	json_decref(after);
	return document;
}

static bool
other_resources_stay(const json_t *before, const json_t *after)
{
	static const char *const lists[] = {"requests", "limits"};
	json_t *const a = json_deep_copy(before);
	json_t *const b = json_deep_copy(after);
	bool same;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		json_object_del(json_object_get(a, lists[i]), "cpu");
		json_object_del(json_object_get(a, lists[i]), "memory");
		json_object_del(json_object_get(b, lists[i]), "cpu");
		json_object_del(json_object_get(b, lists[i]), "memory");
	}
	same = json_equal(a, b) == 1;
	json_decref(a);
	json_decref(b);
	return same;
}

bool
resize_rules(
    const struct request *request, const json_t *before, const json_t *after, struct reply *reply)
{
	json_t *container;
	size_t i;

	json_array_foreach(json_at(before, "spec.containers"), i, container)
		if (!other_resources_stay(json_at(container, "resources"),
			json_at(
			    json_array_get(json_at(after, "spec.containers"), i), "resources"))) {
			reply_invalid(reply, request, "spec",
			    "Forbidden: only cpu and memory resources are "
			    "mutable");
			return false;
		}
	return true;
}

/* ---- the kubelet ---- */

static void
tell_allocated(json_t *status, const json_t *container)
{
	json_t *const requests = json_at(container, "resources.requests");

	if (json_object_size(requests) > 0)
		json_object_set_new(status, "allocatedResources", json_deep_copy(requests));
	else
		json_object_del(status, "allocatedResources");
}

static void
tell_actual(json_t *status, const json_t *container)
{
	json_object_set_new(status, "resources", json_deep_copy(json_at(container, "resources")));
}

void
resize_begin(json_t *status, const json_t *container)
{
	if (world.options.minor < FIRST_MINOR)
		return;
	tell_allocated(status, container);
	tell_actual(status, container);
}

static void
tell_all(json_t *pod, void (*tell)(json_t *status, const json_t *container))
{
	json_t *container;
	size_t i;

	json_array_foreach(json_at(pod, "spec.containers"), i, container)
		tell(json_member(json_at(pod, "status.containerStatuses"), "name",
			 json_text_at(container, "name")),
		    container);
}

static bool
is_allocated(const json_t *pod)
{
	json_t *container;
	size_t i;

	json_array_foreach(json_at(pod, "spec.containers"), i, container) {
		const json_t *const wanted = json_at(container, "resources.requests");
		const json_t *const has =
		    json_at(json_member(json_at(pod, "status.containerStatuses"), "name",
				json_text_at(container, "name")),
			"allocatedResources");

		if (json_object_size(wanted) > 0 && json_equal(wanted, has) != 1)
			return false;
	}
	return true;
}

static void
condition_drop(json_t *pod, const char *type)
{
	json_t *const all = json_at(pod, "status.conditions");
	json_t *condition;
	size_t i;

	json_array_foreach(all, i, condition)
		if (strcmp(json_text_at(condition, "type"), type) == 0) {
			json_array_remove(all, i);
			return;
		}
}

static bool
has_room(const struct resources *room, const struct resources *needs)
{
	return needs->cpu_milli <= room->cpu_milli && needs->memory_bytes <= room->memory_bytes;
}

/* What it wants is another than what it has. */
static void
resize_take(struct object *pod, json_t *after, int64_t at_ms)
{
	const char *const seconds = json_string_value(
	    json_object_get(json_at(after, "metadata.annotations"), "test/resize-seconds"));
	const struct resources needs = resources_of(json_at(after, "spec"));
	struct resources left = pod->node->room;

	if (!has_room(&left, &needs)) {
		condition_set(after, "PodResizePending", "True", "Infeasible",
		    "Node didn't have enough capacity");
		return;
	}
	left.cpu_milli += pod->needs.cpu_milli - pod->node->used.cpu_milli;
	left.memory_bytes += pod->needs.memory_bytes - pod->node->used.memory_bytes;
	if (!has_room(&left, &needs)) {
		condition_set(after, "PodResizePending", "True", "Deferred",
		    "Node didn't have enough resource");
		return;
	}
	pod->node->used.cpu_milli += needs.cpu_milli - pod->needs.cpu_milli;
	pod->node->used.memory_bytes += needs.memory_bytes - pod->needs.memory_bytes;
	pod->needs = needs;
	condition_drop(after, "PodResizePending");
	tell_all(after, tell_allocated);
	if (seconds != NULL && atof(seconds) == 0) {
		tell_all(after, tell_actual);
		return;
	}
	condition_set(after, "PodResizeInProgress", "True", "", "");
	pod->resized_ms = at_ms + control_ms(seconds != NULL ? atof(seconds) : 1);
}

void
resize_step(struct object *pod, int64_t at_ms)
{
	const json_t *const now = pod->now->document;
	json_t *after;

	if (world.options.minor < FIRST_MINOR || pod->node == NULL ||
	    json_at(now, "status.containerStatuses") == NULL)
		return;
	after = object_edit(pod);
	if (at_ms >= pod->resized_ms) {
		pod->resized_ms = INT64_MAX;
		condition_drop(after, "PodResizeInProgress");
		tell_all(after, tell_actual);
	}
	if (!is_allocated(after))
		resize_take(pod, after, at_ms);
	else
		condition_drop(after, "PodResizePending");
	if (json_equal(now, after) == 1)
		json_decref(after);
	else
		store_put(pod, after);
}
