/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds to a pod's spec what the API server will give it: requests by LimitRanges, overhead and node
 * labels by RuntimeClasses. Pure. Sources:
 * k8s.io/kubernetes/plugin/pkg/admission/limitranger and runtimeclass; the API server has filled in
 * a LimitRange's defaultRequest from its default, max and min when it was written.
 */
#include <string.h>

#include "kube_facts.h"
#include "object.h"

/* ---- what there is ---- */

/* Keeps the most of several LimitRanges: the API server takes the first that it comes to. */
static bool
is_more(const json_t *quantity, const json_t *than)
{
	int64_t a, b;

	return than == NULL || (lt_kube_quantity(quantity, 1000, &a, NULL) == LT_OK &&
				   lt_kube_quantity(than, 1000, &b, NULL) == LT_OK && a > b);
}

static void
add_requests(json_t *requests, const json_t *item)
{
	const char *name;
	json_t *quantity;

	if (strcmp(lt_kube_string(item, "type"), "Container") != 0)
		return;
	json_object_foreach(json_object_get(item, "defaultRequest"), name, quantity)
		if (is_more(quantity, json_object_get(requests, name)))
			json_object_set(requests, name, quantity);
}

json_t *
lt_kube_given_requests(const json_t *limit_ranges)
{
	json_t *const all = json_object();
	json_t *range, *item;
	size_t i, k;

	json_array_foreach(limit_ranges, i, range) {
		json_t *const requests = lt_kube_object_at(
		    all, lt_kube_string(json_object_get(range, "metadata"), "namespace"));

		json_array_foreach(lt_kube_part(range, "spec", "limits"), k, item)
			add_requests(requests, item);
	}
	return all;
}

json_t *
lt_kube_given_classes(const json_t *runtime_classes)
{
	static const char *const kept[] = {"overhead", "scheduling"};
	json_t *const all = json_object();
	json_t *class;
	size_t i;

	json_array_foreach(runtime_classes, i, class) {
		json_t *const of_it = lt_kube_object_at(
		    all, lt_kube_string(json_object_get(class, "metadata"), "name"));

		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
			json_t *const part = json_object_get(class, kept[k]);

			if (part != NULL)
				json_object_set(of_it, kept[k], part);
		}
	}
	return all;
}

/* ---- what a Job's pods get of it ---- */

static bool
asks_for(const json_t *container, const char *resource)
{
	const json_t *const resources = json_object_get(container, "resources");

	return lt_kube_part(resources, "requests", resource) != NULL ||
	       lt_kube_part(resources, "limits", resource) != NULL;
}

/* True if a container does not say how many CPUs or how much memory. */
static bool
lacks_requests(const json_t *pod_spec)
{
	json_t *container;
	size_t i;

	for (int k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container)
			if (!asks_for(container, "cpu") || !asks_for(container, "memory"))
				return true;
	return false;
}

static void
give_requests(json_t *pod_spec, json_t *requests)
{
	json_t *container, *quantity;
	const char *name;
	size_t i;

	for (int k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container)
			json_object_foreach(requests, name, quantity)
				if (!asks_for(container, name))
					json_object_set(
					    lt_kube_object_at(
						lt_kube_object_at(container, "resources"),
						"requests"),
					    name, quantity);
}

static void
give_class(json_t *pod_spec, const json_t *class)
{
	json_t *const overhead = (json_t *)lt_kube_part(class, "overhead", "podFixed");
	json_t *const selector = (json_t *)lt_kube_part(class, "scheduling", "nodeSelector");

	if (overhead != NULL)
		json_object_set(pod_spec, "overhead", overhead);
	if (selector != NULL)
		json_object_update(lt_kube_object_at(pod_spec, "nodeSelector"), selector);
}

json_t *
lt_kube_given_spec(const json_t *job, const struct lt_kube_given *given, bool *is_unsized)
{
	const json_t *const pod_spec =
	    lt_kube_part(json_object_get(job, "spec"), "template", "spec");
	const char *const class = lt_kube_string(pod_spec, "runtimeClassName");
	const json_t *const dry_run = lt_kube_dry_run_of(job);
	json_t *const tried = json_object_get(dry_run, "spec");
	json_t *const labels = json_object_get(dry_run, "nodeSelector");
	json_t *const spec = json_deep_copy(pod_spec);

	*is_unsized = false;
	if (tried != NULL) {
		json_object_update(spec, tried);
		if (json_object_size(labels) > 0)
			json_object_update(lt_kube_object_at(spec, "nodeSelector"), labels);
		return spec;
	}
	if (given == NULL)
		return spec;
	if (given->requests != NULL)
		give_requests(
		    spec, json_object_get(given->requests,
			      lt_kube_string(json_object_get(job, "metadata"), "namespace")));
	else
		*is_unsized = lacks_requests(spec);
	if (given->classes != NULL)
		give_class(spec, json_object_get(given->classes, class));
	else
		*is_unsized |= class[0] != '\0';
	return spec;
}
