/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "object.h"
#include "quantity.h"
#include "units.h"

int64_t
lt_kube_time(const json_t *object, const char *key)
{
	int64_t utc_s;
	const char *const text = lt_kube_string(object, key);

	return text[0] != '\0' && lt_utc_parse(text, &utc_s, NULL) == LT_OK
		   ? utc_s
		   : 0;
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
	const json_t *const owners =
	    lt_kube_part(object, "metadata", "ownerReferences");
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
	const json_t *const gates =
	    lt_kube_part(pod, "spec", "schedulingGates");
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
	const json_t *const annotations =
	    lt_kube_part(pod, "metadata", "annotations");

	return lt_kube_controller(pod) == NULL || lt_kube_is_gated(pod) ||
	       json_object_get(annotations, LT_KUBE_DOMAIN "quote") != NULL;
}

/* ---- what a pod takes ---- */

struct milli { /* thousandths */
	int64_t cpus, gpus, memory_bytes;
};

static bool
is_gpu(const char *resource)
{
	const char *const slash = strrchr(resource, '/');

	return slash != NULL && strcmp(slash, "/gpu") == 0;
}

static int
add_resource(struct milli *sum, const char *name, const json_t *quantity,
    struct lt_error *err)
{
	int64_t *const to = strcmp(name, "cpu") == 0	  ? &sum->cpus
			    : strcmp(name, "memory") == 0 ? &sum->memory_bytes
			    : is_gpu(name)		  ? &sum->gpus
							  : NULL;
	int64_t milli;

	if (to == NULL)
		return LT_OK;
	const int code = lt_kube_milli(quantity, &milli, err);
	if (code != LT_OK)
		return code;
	return lt_add(to, milli) ? LT_OK
				 : lt_fail(err, LT_EINPUT,
				       "%s: more than can be counted", name);
}

/* A request that is not there is the limit, as the API server sets it. */
static int
add_container(struct milli *sum, const json_t *container, struct lt_error *err)
{
	json_t *const resources = json_object_get(container, "resources");
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
raise(int64_t *to, int64_t least)
{
	if (*to < least)
		*to = least;
}

static int64_t
whole(int64_t milli, int64_t unit)
{
	const int64_t of = 1000 * unit;

	return milli / of + (milli % of != 0);
}

/* All containers together, with those that start first and stay; or one that
 * runs before them, where it takes more. Source: KEP-753. */
int
lt_kube_need_read(
    struct lt_kube_need *need, const json_t *pod_spec, struct lt_error *err)
{
	enum { MIB = 1024 * 1024 };
	struct milli sum = {0}, most = {0};
	const json_t *container;
	size_t i;
	int code = LT_OK;

	json_array_foreach(
	    json_object_get(pod_spec, "initContainers"), i, container) {
		const bool stays =
		    strcmp(lt_kube_string(container, "restartPolicy"),
			"Always") == 0;
		struct milli first = sum;

		code = add_container(stays ? &sum : &first, container, err);
		if (code != LT_OK)
			return code;
		raise(&most.cpus, first.cpus);
		raise(&most.gpus, first.gpus);
		raise(&most.memory_bytes, first.memory_bytes);
	}
	json_array_foreach(
	    json_object_get(pod_spec, "containers"), i, container) {
		code = add_container(&sum, container, err);
		if (code != LT_OK)
			return code;
	}
	raise(&sum.cpus, most.cpus);
	raise(&sum.gpus, most.gpus);
	raise(&sum.memory_bytes, most.memory_bytes);
	const json_t *const overhead = json_object_get(pod_spec, "overhead");
	const char *name;
	json_t *quantity;
	json_object_foreach((json_t *)overhead, name, quantity) {
		code = add_resource(&sum, name, quantity, err);
		if (code != LT_OK)
			return code;
	}
	const int64_t cpus = whole(sum.cpus, 1), gpus = whole(sum.gpus, 1);
	const int64_t mib = whole(sum.memory_bytes, MIB);
	if (cpus > UINT32_MAX || gpus > UINT32_MAX)
		return lt_fail(
		    err, LT_EINPUT, "more CPUs or GPUs than %u", UINT32_MAX);
	*need = (struct lt_kube_need){.cpus = cpus > 0 ? (uint32_t)cpus : 1,
	    .gpus = (uint32_t)gpus,
	    .memory_mib = mib > 0 ? (uint64_t)mib : 1};
	return LT_OK;
}

/* ---- less of it ---- */

static void
strip_containers(json_t *list)
{
	static const char *const kept[] = {
	    "name", "resources", "restartPolicy"};
	json_t *container;
	size_t i;

	json_array_foreach(list, i, container) {
		json_t *const fresh = json_object();

		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
			json_t *const part =
			    json_object_get(container, kept[k]);

			if (part != NULL)
				json_object_set(fresh, kept[k], part);
		}
		json_array_set_new(list, i, fresh);
	}
}

static void
strip_pod_spec(json_t *spec)
{
	strip_containers(json_object_get(spec, "containers"));
	strip_containers(json_object_get(spec, "initContainers"));
	json_object_del(spec, "volumes");
}

void
lt_kube_strip(json_t *object)
{
	json_t *const metadata = json_object_get(object, "metadata");
	json_t *const spec = json_object_get(object, "spec");
	json_t *const annotations = json_object_get(metadata, "annotations");

	json_object_del(metadata, "managedFields");
	/* The manifest as it was applied, once more. */
	json_object_del(
	    annotations, "kubectl.kubernetes.io/last-applied-configuration");
	strip_pod_spec(spec);
	strip_pod_spec(
	    json_object_get(json_object_get(spec, "template"), "spec"));
	json_object_del(json_object_get(object, "status"), "images");
}
