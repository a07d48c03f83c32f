/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controllers of resource.k8s.io/v1, at once when a pod gets its node: a claim is made of each
 * template, and for extended resources that stand for a class; the first free devices of the node
 * that all selectors want are allocated; the pod is among those that it is reserved for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static const char implicit[] = "deviceclass.resource.kubernetes.io/";

/* "a == 'b'" of a selector that is joined by && alone. */
static bool
is_true(const char *term, const char *driver, const json_t *device)
{
	char attribute[128], wanted[128], path[200];

	if (sscanf(term, " device.driver == '%127[^']'", wanted) == 1)
		return strcmp(wanted, driver) == 0;
	if (sscanf(term, " device.attributes['%*[^']'].%127[a-zA-Z] == '%127[^']'", attribute,
		wanted) != 2)
		return false;
	snprintf(path, sizeof(path), "attributes.%s.string", attribute);
	return strcmp(json_text_at(device, path), wanted) == 0;
}

static bool
is_wanted(const json_t *selectors, const char *driver, const json_t *device)
{
	json_t *selector;
	size_t i;

	json_array_foreach(selectors, i, selector) {
		const char *term = json_text_at(selector, "cel.expression");

		while (term != NULL) {
			if (!is_true(term, driver, device))
				return false;
			term = strstr(term, "&&");
			term = term != NULL ? term + 2 : NULL;
		}
	}
	return true;
}

static bool
is_free(const json_t *slice, const char *device)
{
	const char *const pool = json_text_at(slice, "spec.pool.name");

	for (struct object *o = world.heads[KUBE_RESOURCE_CLAIMS][0]; o != NULL; o = o->next[0]) {
		json_t *result;
		size_t i;

		json_array_foreach(
		    json_at(o->now->document, "status.allocation.devices.results"), i, result)
			if (strcmp(json_text_at(result, "device"), device) == 0 &&
			    strcmp(json_text_at(result, "pool"), pool) == 0)
				return false;
	}
	return true;
}

static bool
has_result(const json_t *results, const char *device)
{
	return json_member(results, "device", device) != NULL;
}

/* One request; firstAvailable: its last alternative. */
static void
allocate(json_t *results, const json_t *request, const char *node)
{
	const json_t *const first = json_object_get(request, "firstAvailable");
	const json_t *const one = first != NULL ? json_array_get(first, json_array_size(first) - 1)
						: json_object_get(request, "exactly");
	const struct object *const class =
	    store_find(KUBE_DEVICE_CLASSES, "", json_text_at(one, "deviceClassName"));
	int64_t left = json_int_at(one, "count", 1);

	for (struct object *o = world.heads[KUBE_RESOURCE_SLICES][0]; class != NULL && o != NULL;
	     o = o->next[0]) {
		const json_t *const slice = o->now->document;
		const char *const driver = json_text_at(slice, "spec.driver");
		json_t *device;
		size_t i;

		json_array_foreach(json_at(slice, "spec.devices"), i, device) {
			const char *const name = json_text_at(device, "name");

			if (left == 0 || strcmp(json_text_at(slice, "spec.nodeName"), node) != 0 ||
			    !is_wanted(
				json_at(class->now->document, "spec.selectors"), driver, device) ||
			    !is_wanted(json_object_get(one, "selectors"), driver, device) ||
			    !is_free(slice, name) || has_result(results, name))
				continue;
			json_array_append_new(
			    results, json_pack("{s:s,s:s,s:s,s:s}", "request",
					 json_text_at(request, "name"), "driver", driver, "pool",
					 json_text_at(slice, "spec.pool.name"), "device", name));
			left--;
		}
	}
}

static void
reserve(struct object *claim, const struct object *pod, const char *node)
{
	json_t *const after = object_edit(claim);
	json_t *request;
	size_t i;

	json_default_at(after, "status.reservedFor", json_array());
	if (json_at(after, "status.allocation") == NULL) {
		json_t *const results = json_array();

		json_array_foreach(json_at(after, "spec.devices.requests"), i, request)
			allocate(results, request, node);
		json_put_at(after, "status.allocation.devices.results", results);
	}
	json_array_append_new(json_at(after, "status.reservedFor"),
	    json_pack("{s:s,s:s,s:s}", "resource", "pods", "name", object_name(pod), "uid",
		json_text_at(pod->now->document, "metadata.uid")));
	store_put(claim, after);
}

/* A claim of its own, with this spec. */
static struct object *
make(const struct object *pod, const char *as, json_t *spec)
{
	char space[256], suffix[6], name[600];
	json_t *const claim = json_object();

	default_suffix(suffix);
	snprintf(name, sizeof(name), "%s-%s-%s", object_name(pod), as, suffix);
	json_put_at(claim, "metadata.name", json_string(name));
	json_put_at(claim, "metadata.namespace", json_string(object_space(pod, space)));
	json_put_at(claim, "spec", spec);
	default_new(KUBE_RESOURCE_CLAIMS, claim);
	return store_add(KUBE_RESOURCE_CLAIMS, claim);
}

/* The class that an extended resource stands for; NULL: none. */
static const char *
class_of(const char *resource)
{
	if (strncmp(resource, implicit, strlen(implicit)) == 0)
		return resource + strlen(implicit);
	for (struct object *o = world.heads[KUBE_DEVICE_CLASSES][0]; o != NULL; o = o->next[0])
		if (strcmp(json_text_at(o->now->document, "spec.extendedResourceName"), resource) ==
		    0)
			return object_name(o);
	return NULL;
}

/* Of the first container, as tests have them. */
static void
bind_extended(const struct object *pod, json_t *after, const char *node)
{
	const json_t *const container = json_array_get(json_at(after, "spec.containers"), 0);
	const char *resource;
	json_t *quantity;

	json_object_foreach(json_at(container, "resources.limits"), resource, quantity) {
		const char *const class = class_of(resource);

		if (class == NULL)
			continue;
		struct object *const claim = make(pod, "extended",
		    json_pack("{s:{s:[{s:s,s:{s:s,s:i}}]}}", "devices", "requests", "name",
			"container-0-request-0", "exactly", "deviceClassName", class, "count",
			atoi(json_string_value(quantity))));
		json_put_at(after, "status.extendedResourceClaimStatus",
		    json_pack("{s:s,s:[{s:s,s:s,s:s}]}", "resourceClaimName", object_name(claim),
			"requestMappings", "containerName", json_text_at(container, "name"),
			"resourceName", resource, "requestName", "container-0-request-0"));
		reserve(claim, pod, node);
	}
}

void
claims_bind(const struct object *pod, json_t *after, const char *node)
{
	char space[256];
	json_t *entry;
	size_t i;

	object_space(pod, space);
	json_array_foreach(json_at(after, "spec.resourceClaims"), i, entry) {
		const char *const as = json_text_at(entry, "name");
		const struct object *const template = store_find(
		    KUBE_CLAIM_TEMPLATES, space, json_text_at(entry, "resourceClaimTemplateName"));
		struct object *claim = store_find(
		    KUBE_RESOURCE_CLAIMS, space, json_text_at(entry, "resourceClaimName"));

		if (template != NULL) {
			claim = make(
			    pod, as, json_deep_copy(json_at(template->now->document, "spec.spec")));
			json_default_at(after, "status.resourceClaimStatuses", json_array());
			json_array_append_new(json_at(after, "status.resourceClaimStatuses"),
			    json_pack(
				"{s:s,s:s}", "name", as, "resourceClaimName", object_name(claim)));
		}
		if (claim != NULL)
			reserve(claim, pod, node);
	}
	bind_extended(pod, after, node);
}
