/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what in a pod's spec says where it runs. Fields, kinds of volumes and resources that are
 * known to say nothing of it, or that where.c weighs, are listed; anything else in a spec binds the
 * pod to where it would go by itself. Pure.
 */
#include <string.h>

#include "object.h"
#include "text.h"

/* Fields of PodSpec, by the API of 1.36. Those that depend on their value are looked at below. */
static const char free_fields[] =
    "activeDeadlineSeconds,automountServiceAccountToken,dnsConfig,dnsPolicy,"
    "enableServiceLinks,hostAliases,hostIPC,hostPID,hostUsers,hostname,"
    "hostnameOverride,imagePullSecrets,overhead,preemptionPolicy,priority,"
    "priorityClassName,readinessGates,restartPolicy,schedulingGates,"
    "securityContext,serviceAccount,serviceAccountName,setHostnameAsFQDN,"
    "shareProcessNamespace,subdomain,terminationGracePeriodSeconds,"
    "tolerations,nodeSelector";

static const char free_volumes[] = "name,configMap,downwardAPI,emptyDir,image,nfs,projected,secret";

static const char *const asked[] = {"requests", "limits"};
enum { ASKED = sizeof(asked) / sizeof(asked[0]) };

static const char known_labels[] =
    "kubernetes.io/os,kubernetes.io/arch,topology.kubernetes.io/region,"
    "topology.kubernetes.io/zone,node.kubernetes.io/instance-type";

/* The first that is not in the list; NULL: all are. */
static const char *
stranger_in(const json_t *object, const char *list)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value)
		if (!lt_text_is_among(name, list))
			return name;
	return NULL;
}

static bool
is_empty(const json_t *value)
{
	return value == NULL || json_is_null(value) ||
	       (json_is_array(value) && json_array_size(value) == 0) ||
	       (json_is_object(value) && json_object_size(value) == 0);
}

static const char *
find_volume(const json_t *volumes)
{
	const json_t *volume;
	size_t i;

	json_array_foreach(volumes, i, volume) {
		const char *const kind = stranger_in(volume, free_volumes);

		if (kind != NULL)
			return kind;
	}
	return NULL;
}

/* A port of the node, of which there is one on each. */
static const char *
find_port(const json_t *container)
{
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(container, "ports"), i, port)
		if (lt_kube_number(port, "hostPort", 0) != 0)
			return "hostPort";
	return NULL;
}

/* Resources that are counted, beside one kind of GPU. */
static const char *
find_resource(const json_t *of, const char *gpu)
{
	static const char counted[] = "cpu,memory,ephemeral-storage";
	const char *name;
	json_t *quantity;

	for (size_t i = 0; i < ASKED; i++)
		json_object_foreach(
		    (json_t *)lt_kube_part(of, "resources", asked[i]), name, quantity)
			if (!lt_text_is_among(name, counted) && strcmp(name, gpu) != 0)
				return name;
	return is_empty(lt_kube_part(of, "resources", "claims")) ? NULL : "resources.claims";
}

static const char *
find_in_containers(const json_t *pod_spec, const char *gpu)
{
	const json_t *container;
	size_t i;

	for (size_t k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container) {
			const char *found = find_resource(container, gpu);

			if (found == NULL)
				found = find_port(container);
			if (found != NULL)
				return found;
		}
	return find_resource(pod_spec, gpu);
}

static const char *
gpu_of(const json_t *container)
{
	const char *name;
	json_t *quantity;

	for (size_t i = 0; i < ASKED; i++)
		json_object_foreach(
		    (json_t *)lt_kube_part(container, "resources", asked[i]), name, quantity)
			if (lt_kube_is_gpu(name))
				return name;
	return "";
}

const char *
lt_kube_gpu_name(const json_t *pod_spec)
{
	const char *name = "";
	const json_t *container;
	size_t i;

	for (size_t k = 0; k < LT_KUBE_CONTAINER_LISTS; k++)
		json_array_foreach(
		    json_object_get(pod_spec, lt_kube_container_lists[k]), i, container)
			if (name[0] == '\0')
				name = gpu_of(container);
	return name;
}

/* A mere wish for a place does not bind. */
static const char *
find_in_affinity(const json_t *affinity)
{
	const char *kind;
	json_t *rules;

	json_object_foreach((json_t *)affinity, kind, rules)
		if (stranger_in(rules, LT_KUBE_PREFERS) != NULL)
			return kind;
	return NULL;
}

static const char *
find_in_spreads(const json_t *spreads)
{
	const json_t *spread;
	size_t i;

	json_array_foreach(spreads, i, spread)
		if (strcmp(lt_kube_string(spread, "whenUnsatisfiable"), "ScheduleAnyway") != 0)
			return "topologySpreadConstraints";
	return NULL;
}

/* Labels that where.c knows of nodes, and those of pools. */
static const char *
find_in_selector(const json_t *selector, const struct lt_kube_names *names)
{
	const char *key, *pool_key = "";
	json_t *value;

	(void)lt_kube_pool_in(selector, names, &pool_key);
	json_object_foreach((json_t *)selector, key, value)
		if (!lt_text_is_among(key, known_labels) && !lt_kube_tells_sold(key) &&
		    strcmp(key, pool_key) != 0)
			return key;
	return NULL;
}

/* One field of the spec; NULL: it binds nothing. */
static const char *
find_in_field(const char *field, const json_t *value)
{
	if (is_empty(value) || lt_text_is_among(field, free_fields))
		return NULL;
	if (strcmp(field, "volumes") == 0)
		return find_volume(value);
	if (strcmp(field, "affinity") == 0)
		return find_in_affinity(value);
	if (strcmp(field, "topologySpreadConstraints") == 0)
		return find_in_spreads(value);
	if (strcmp(field, "os") == 0)
		return strcmp(lt_kube_string(value, "name"), "linux") == 0 ? NULL : field;
	if (strcmp(field, "schedulerName") == 0)
		return strcmp(json_string_value(value) != NULL ? json_string_value(value) : "",
			   "default-scheduler") == 0
			   ? NULL
			   : field;
	if (strcmp(field, "hostNetwork") == 0)
		return json_is_true(value) ? field : NULL;
	return strcmp(field, "containers") == 0 || strcmp(field, "initContainers") == 0 ||
		       strcmp(field, "resources") == 0
		   ? NULL
		   : field;
}

const char *
lt_kube_bound(char *out, size_t size, const json_t *pod_spec, const struct lt_kube_names *names)
{
	const json_t *const selector = json_object_get(pod_spec, "nodeSelector");
	const char *found = find_in_containers(pod_spec, lt_kube_gpu_name(pod_spec));
	const char *field;
	json_t *value;

	if (found == NULL)
		found = find_in_selector(selector, names);
	json_object_foreach((json_t *)pod_spec, field, value)
		if (found == NULL)
			found = find_in_field(field, value);
	lt_copy(out, size, found != NULL ? found : "");
	return out;
}
