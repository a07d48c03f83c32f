/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a server's admission gives a pod: requests and limits by its
 * namespace's LimitRanges, overhead and node labels by its RuntimeClass; and a
 * webhook's sidecar, where the namespace has its requests, as JSON, in the
 * annotation test/sidecar. test/side-effects: that takes no dry run.
 * Source: k8s.io/kubernetes/plugin/pkg/admission, limitranger and runtimeclass.
 */
#include <stdio.h>
#include <string.h>

#include "server.h"

/* What lacks in `to` of what `from` has. */
static void
fill(json_t *to, const char *name, const json_t *from)
{
	const char *resource;
	json_t *quantity;

	if (json_object_size(from) == 0)
		return;
	json_default_at(to, name, json_object());
	json_object_foreach((json_t *)from, resource, quantity)
		if (json_object_get(json_at(to, name), resource) == NULL)
			json_object_set(json_at(to, name), resource, quantity);
}

/* As it is stored: what of an item is not said follows from the rest. */
void
limits_default(json_t *range)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_at(range, "spec.limits"), i, item) {
		if (strcmp(json_text_at(item, "type"), "Container") != 0)
			continue;
		fill(item, "default", json_at(item, "max"));
		fill(item, "defaultRequest", json_at(item, "default"));
		fill(item, "defaultRequest", json_at(item, "min"));
	}
}

static void
give(json_t *container, const json_t *range)
{
	json_t *item;
	size_t i;

	json_default_at(container, "resources", json_object());
	json_array_foreach(json_at(range, "spec.limits"), i, item) {
		json_t *const resources = json_at(container, "resources");

		if (strcmp(json_text_at(item, "type"), "Container") != 0)
			continue;
		fill(resources, "requests", json_at(item, "defaultRequest"));
		fill(resources, "limits", json_at(item, "default"));
	}
}

static const char *
annotation_of(const char *space, const char *name)
{
	const struct object *const object = store_find(KUBE_NAMESPACES, "", space);
	const char *const text =
	    object == NULL ? NULL
			   : json_string_value(json_object_get(
				 json_at(object->now->document, "metadata.annotations"), name));

	return text == NULL ? "" : text;
}

bool
limits_refuse_dry_runs(const char *space)
{
	return annotation_of(space, "test/side-effects")[0] != '\0';
}

static void
add_sidecar(const char *space, json_t *pod)
{
	json_t *const requests = json_loads(annotation_of(space, "test/sidecar"), 0, NULL);

	if (requests == NULL)
		return;
	json_default_at(pod, "spec.initContainers", json_array());
	json_array_append_new(json_at(pod, "spec.initContainers"),
	    json_pack("{s:s,s:s,s:s,s:{s:o}}", "name", "sidecar", "image", "played",
		"restartPolicy", "Always", "resources", "requests", requests));
}

void
limits_give(const char *space, json_t *pod)
{
	static const char *const lists[] = {"spec.containers", "spec.initContainers"};
	const struct object *const class =
	    store_find(KUBE_RUNTIME_CLASSES, "", json_text_at(pod, "spec.runtimeClassName"));
	char prefix[260];
	const size_t length = (size_t)snprintf(prefix, sizeof(prefix), "%s/", space);
	json_t *container;
	size_t i;

	add_sidecar(space, pod);
	for (struct object *range = store_from(KUBE_LIMIT_RANGES, prefix);
	     range != NULL && strncmp(range->key, prefix, length) == 0; range = range->next[0])
		for (int k = 0; k < 2; k++)
			json_array_foreach(json_at(pod, lists[k]), i, container)
				give(container, range->now->document);
	if (class == NULL)
		return;
	const json_t *const given = class->now->document;
	fill(json_at(pod, "spec"), "nodeSelector", json_at(given, "scheduling.nodeSelector"));
	fill(json_at(pod, "spec"), "overhead", json_at(given, "overhead.podFixed"));
}
