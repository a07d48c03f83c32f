/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The size that a pod has now. Its spec says what its user wants; since 1.33 a
 * running pod may be resized in place, and its status says what its node has
 * allocated. Source: KEP-1287; determineContainerReqs() of
 * k8s.io/component-helpers/resource counts the same, and the spec beside it,
 * for kube-scheduler keeps room for what may come.
 */
#include <string.h>

#include "object.h"
#include "quantity.h"

enum { PARTS = 1000 };

static const json_t *
larger(const json_t *a, const json_t *b)
{
	int64_t x, y;

	return b != NULL && lt_kube_quantity(a, PARTS, &x, NULL) == LT_OK &&
		       lt_kube_quantity(b, PARTS, &y, NULL) == LT_OK && y > x
		   ? b
		   : a;
}

/* Puts what was allocated into a container's, or the pod's own, requests: while
 * its node is still at work on it, what it has in fact where that is more.
 * Where nothing is said the spec stays. */
static void
take_allocated(json_t *part, const json_t *status, bool is_resizing)
{
	static const char *const names[] = {"cpu", "memory"};
	json_t *const allocated = json_object_get(status, "allocatedResources");
	json_t *const requests =
	    json_object_get(json_object_get(part, "resources"), "requests");
	const json_t *const actual =
	    lt_kube_part(status, "resources", "requests");

	for (size_t i = 0;
	     allocated != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const json_t *const has = json_object_get(allocated, names[i]);

		if (has == NULL)
			json_object_del(requests, names[i]);
		else
			json_object_set(requests, names[i],
			    (json_t *)(is_resizing
					   ? larger(has, json_object_get(
							     actual, names[i]))
					   : has));
	}
}

static const json_t *
status_of(const json_t *statuses, const char *name)
{
	const json_t *status;
	size_t i;

	json_array_foreach(statuses, i, status)
		if (strcmp(lt_kube_string(status, "name"), name) == 0)
			return status;
	return NULL;
}

/* Kubelets before 1.33 say it of no container. */
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
	const json_t *const resizing =
	    lt_kube_condition(pod, "PodResizeInProgress");

	*sized = (struct lt_kube_sized){
	    .is_pending = lt_kube_condition(pod, "PodResizePending") != NULL,
	    .is_told = is_told_by(json_object_get(status, lists[0])),
	    .resizing_utc_s = lt_kube_time(resizing, "lastTransitionTime")};
	if (!sized->is_told)
		return json_incref(spec);
	json_t *const now = json_deep_copy(spec);
	json_t *container;
	size_t i;
	for (int k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(now, lt_kube_container_lists[k]), i,
		    container)
			take_allocated(container,
			    status_of(json_object_get(status, lists[k]),
				lt_kube_string(container, "name")),
			    resizing != NULL);
	take_allocated(now, status, resizing != NULL); /* KEP-5419 */
	return now;
}
