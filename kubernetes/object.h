/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small readings of the API server's objects, where any member may be missing.
 */
#ifndef LT_KUBE_OBJECT_H
#define LT_KUBE_OBJECT_H

#include "kube_facts.h"

/* An extended resource that is a DeviceClass of this name. */
#define LT_KUBE_OF_CLASS "deviceclass.resource.kubernetes.io/"
#define LT_KUBE_PREFERS "preferredDuringSchedulingIgnoredDuringExecution"

/* "" where it is no text. */
static inline const char *
lt_kube_string(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

/* The object's member of this name, which is made if it has none. */
static inline json_t *
lt_kube_object_at(json_t *object, const char *name)
{
	if (json_object_get(object, name) == NULL)
		json_object_set_new(object, name, json_object());
	return json_object_get(object, name);
}

static inline const json_t *
lt_kube_part(const json_t *object, const char *outer, const char *inner)
{
	return json_object_get(json_object_get(object, outer), inner);
}

static inline bool
lt_kube_is_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* RFC 3339; 0 = none, or no time. */
int64_t lt_kube_time(const json_t *object, const char *key);
/* Returns a whole number, or `none` where the member is missing. */
int64_t lt_kube_number(const json_t *object, const char *key, int64_t none);
/* Returns the condition of this type if its status is "True", else NULL. */
const json_t *lt_kube_condition(const json_t *object, const char *type);
/* The controller among its owners; NULL = none. */
const json_t *lt_kube_controller(const json_t *object);
/* True if this pod waits behind lowtide's gate. */
bool lt_kube_is_gated(const json_t *pod);
/* True if it is a job by itself. Anybody may write its owner; only the policies and lowtide write
 * the gate, and the quote that took it away. */
bool lt_kube_is_own(const json_t *pod);
/* Reads the amounts that kube-scheduler counts for a pod of this spec. */
int lt_kube_asks_read(struct lt_kube_amounts *asks, const json_t *pod_spec, struct lt_error *err);
/* Reads the amounts that a node has for pods. */
int lt_kube_room_read(
    struct lt_kube_amounts *room, const json_t *allocatable, struct lt_error *err);
/* "nvidia.com/gpu", "amd.com/gpu". */
bool lt_kube_is_gpu(const char *resource);
/* Writes what in a pod's spec may say where it runs and is not understood, in words; "" = nothing.
 * Returns out. */
const char *lt_kube_bound(
    char *out, size_t size, const json_t *pod_spec, const struct lt_kube_names *names);
/* The GPUs' resource that its containers ask for; "" = none. */
const char *lt_kube_gpu_name(const json_t *pod_spec);
/* The same of a pod's spec: what it takes of its node, in whole parts. */
int lt_kube_need_read(struct lt_kube_need *need, const json_t *pod_spec, struct lt_error *err);

/* Raises a need to what another has more of; GPUs as a whole. Returns true if it was raised. */
bool lt_kube_need_raise(struct lt_kube_need *need, const struct lt_kube_need *other);
/* A pod's spec with the CPUs and memory that it has now, in place of those that are asked for: new
 * reference. */
json_t *lt_kube_sized_spec(struct lt_kube_sized *sized, const json_t *pod);

/* Sets its GPUs on a node that offers these (NULL: on any), in whole ones, rounded up, and
 * exactly. */
void lt_kube_need_on(struct lt_kube_need *need, const struct lt_kube_gpus *offered);

/* The lists of a pod's spec that have its containers. */
enum { LT_KUBE_CONTAINER_LISTS = 2 };
extern const char *const lt_kube_container_lists[LT_KUBE_CONTAINER_LISTS];

/*
 * ---- quantities ----
 *
 * Kubernetes' quantities: "500m", "1.5", "64Gi", "1e3".
 */

/* Reads a text or a number, of at least 0, in so many parts of its unit (1000:
 * CPUs as thousandths; 1: bytes), rounded up, as the API server rounds. LT_EINPUT: it is not one,
 * or passes 63 bits. Source: the grammar of k8s.io/apimachinery/pkg/api/resource, Quantity. */
int lt_kube_quantity(const json_t *quantity, int64_t parts, int64_t *value, struct lt_error *err);

#endif
