/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a Node: its pool, its size and taints, and whether lowtide may put pods on it. Pure. A
 * quantity that can't be read is LT_EINPUT; a label that is missing leaves its fact empty.
 */
#include <stdio.h>
#include <string.h>

#include "object.h"
#include "text.h"

/* Labels of pools; of several on a node the first counts. */
static const char *const pool_labels[] = {
    LT_KUBE_DOMAIN "pool",
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
};

static const char *const gpu_labels[] = {
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
};

static const struct {
	const char *key, *value;
} spot_taints[] = {
    {"cloud.google.com/gke-spot", "true"},
    {"cloud.google.com/gke-preemptible", "true"},
    {"kubernetes.azure.com/scalesetpriority", "spot"},
    {LT_KUBE_DOMAIN "spot", "true"},
};

/* Labels of nodes that the cloud may take back, or says that it will not. */
static const struct {
	const char *key, *value;
	bool is_spot;
} sold_labels[] = {
    {"karpenter.sh/capacity-type", "spot", true},
    {"karpenter.sh/capacity-type", "on-demand", false},
    {"eks.amazonaws.com/capacityType", "SPOT", true},
    {"eks.amazonaws.com/capacityType", "ON_DEMAND", false},
    {"cloud.google.com/gke-spot", "true", true},
    {"cloud.google.com/gke-preemptible", "true", true},
    {"kubernetes.azure.com/scalesetpriority", "spot", true},
};

static const char machine_key[] = "node.kubernetes.io/instance-type";

/* Prefixes of spec.providerID, and the cloud of lowtide's sources. */
static const struct {
	const char *scheme, *cloud;
} providers[] = {
    {"aws://", "aws"},
    {"gce://", "gcp"},
    {"azure://", "azure"},
};

enum {
	SOLD_LABELS = sizeof(sold_labels) / sizeof(sold_labels[0]),
	PROVIDERS = sizeof(providers) / sizeof(providers[0]),
	POOL_LABELS = sizeof(pool_labels) / sizeof(pool_labels[0]),
	GPU_LABELS = sizeof(gpu_labels) / sizeof(gpu_labels[0]),
	SPOT_TAINTS = sizeof(spot_taints) / sizeof(spot_taints[0]),
};

const char *
lt_kube_pool_in(const json_t *labels, const struct lt_kube_names *names, const char **key)
{
	const char *const *const keys = names->pool != NULL ? &names->pool : pool_labels;
	const int count = names->pool != NULL ? 1 : POOL_LABELS;

	for (int i = 0; i < count; i++) {
		const char *const value = lt_kube_string(labels, keys[i]);

		if (value[0] == '\0' || strlen(value) >= LT_NAME_SIZE)
			continue;
		if (key != NULL)
			*key = keys[i];
		return value;
	}
	return "";
}

static void
find_pool(struct lt_kube_node *node, const json_t *labels, const struct lt_kube_names *names)
{
	const char *key;
	const char *const pool = lt_kube_pool_in(labels, names, &key);

	if (pool[0] == '\0')
		return;
	snprintf(node->label, sizeof(node->label), "%s", pool);
	snprintf(node->pool, sizeof(node->pool), "%s", pool);
	snprintf(node->pool_key, sizeof(node->pool_key), "%s", key);
}

/* The name that the project's table of GPUs knows it by. */
static void
find_gpu(struct lt_kube_node *node, const json_t *labels)
{
	static const char vendor[] = "NVIDIA-";

	for (int i = 0; i < GPU_LABELS && node->gpu_type[0] == '\0'; i++) {
		const char *name = lt_kube_string(labels, gpu_labels[i]);

		if (strncmp(name, vendor, sizeof(vendor) - 1) == 0)
			name += sizeof(vendor) - 1;
		/* The GPU that is cut, or shared: its parts are counted. */
		const char *const cut = strstr(name, "-MIG-");
		const char *const is_shared = strstr(name, "-SHARED");
		const size_t length = cut != NULL	  ? (size_t)(cut - name)
				      : is_shared != NULL ? (size_t)(is_shared - name)
							  : strlen(name);

		if (length < sizeof(node->gpu_type))
			snprintf(node->gpu_type, sizeof(node->gpu_type), "%.*s", (int)length, name);
	}
}

static void
find_cloud(struct lt_kube_node *node, const json_t *object)
{
	const json_t *const labels = lt_kube_part(object, "metadata", "labels");
	const char *const provider = lt_kube_string(json_object_get(object, "spec"), "providerID");

	for (int i = 0; i < PROVIDERS; i++)
		if (strncmp(provider, providers[i].scheme, strlen(providers[i].scheme)) == 0)
			lt_copy(node->cloud, sizeof(node->cloud), providers[i].cloud);
	lt_copy(node->region, sizeof(node->region),
	    lt_kube_string(labels, "topology.kubernetes.io/region"));
	lt_copy(
	    node->zone, sizeof(node->zone), lt_kube_string(labels, "topology.kubernetes.io/zone"));
	lt_copy(node->instance, sizeof(node->instance), lt_kube_string(labels, machine_key));
	lt_copy(node->os, sizeof(node->os), lt_kube_string(labels, "kubernetes.io/os"));
	lt_copy(node->arch, sizeof(node->arch), lt_kube_string(labels, "kubernetes.io/arch"));
	node->sold = -1;
	for (int i = 0; i < SOLD_LABELS; i++) {
		if (strcmp(lt_kube_string(labels, sold_labels[i].key), sold_labels[i].value) != 0)
			continue;
		node->is_reclaimable |= sold_labels[i].is_spot;
		if (node->sold < 0)
			node->sold = i;
	}
}

/* Returns its bit of spot_taints; 0: it has none. */
static unsigned
spot_taint_bit(const json_t *taint)
{
	for (unsigned i = 0; i < SPOT_TAINTS; i++)
		if (strcmp(lt_kube_string(taint, "key"), spot_taints[i].key) == 0 &&
		    strcmp(lt_kube_string(taint, "value"), spot_taints[i].value) == 0)
			return 1u << i;
	return 0;
}

bool
lt_kube_is_spot_taint(const json_t *taint)
{
	return spot_taint_bit(taint) != 0;
}

/* Those that keep pods off, as JSON. */
static void
keep_taints(struct lt_kube_node *node, const json_t *spec)
{
	json_t *const kept = json_array();
	const json_t *taint;
	size_t i;

	json_array_foreach(json_object_get(spec, "taints"), i, taint)
		if (strcmp(lt_kube_string(taint, "effect"), "PreferNoSchedule") != 0)
			json_array_append_new(
			    kept, json_pack("{s:s,s:s,s:s}", "key", lt_kube_string(taint, "key"),
				      "value", lt_kube_string(taint, "value"), "effect",
				      lt_kube_string(taint, "effect")));
	if (json_array_size(kept) > 0) {
		const size_t length =
		    json_dumpb(kept, node->taints, sizeof(node->taints) - 1, JSON_COMPACT);

		if (length == 0 || length >= sizeof(node->taints))
			snprintf(node->taints, sizeof(node->taints), "?");
		else
			node->taints[length] = '\0';
	}
	json_decref(kept);
}

static void
find_taints(struct lt_kube_node *node, const json_t *spec)
{
	const json_t *taint;
	size_t i;
	bool is_closed = false;

	json_array_foreach(json_object_get(spec, "taints"), i, taint) {
		const char *const key = lt_kube_string(taint, "key");

		if (strcmp(lt_kube_string(taint, "effect"), "PreferNoSchedule") == 0 ||
		    lt_kube_is_gpu(key))
			continue;
		const unsigned bit = spot_taint_bit(taint);
		node->spot_taints |= bit;
		is_closed |= bit == 0;
	}
	node->is_spot = node->spot_taints != 0;
	if (is_closed)
		node->is_spot = false;
	keep_taints(node, spec);
}

/* As one container that takes all there is, but rounded down. */
static int
find_size(struct lt_kube_node *node, const json_t *allocatable, const json_t *labels,
    struct lt_error *err)
{
	enum { MILLI = 1000, KIB = 1024, MIB = 1024 * 1024 };
	const char *name;
	json_t *quantity;
	int code = lt_kube_room_read(&node->room, allocatable, err);

	if (code == LT_OK)
		code = lt_kube_gpus_offered(&node->gpu_kinds, allocatable, labels, err);
	if (code != LT_OK)
		return code;
	const uint64_t micro = lt_kube_gpus_micro(&node->gpu_kinds, NULL);
	node->cpus = (uint32_t)(node->room.of[LT_KUBE_CPU] / MILLI);
	node->gpus = (uint32_t)((micro + LT_KUBE_WHOLE_GPU - 1) / LT_KUBE_WHOLE_GPU);
	node->exact.gpu_micro = micro;
	node->memory_mib = (uint64_t)(node->room.of[LT_KUBE_MEMORY] / MIB);
	node->exact.cpu_milli = (uint64_t)node->room.of[LT_KUBE_CPU];
	node->exact.memory_kib = (uint64_t)(node->room.of[LT_KUBE_MEMORY] / KIB);
	json_object_foreach((json_t *)allocatable, name, quantity)
		if (lt_kube_is_gpu(name))
			lt_copy(node->gpu_resource, sizeof(node->gpu_resource),
			    node->gpu_resource[0] == '\0' ? name : "*");
	return LT_OK;
}

int
lt_kube_node_read(struct lt_kube_node *node, const json_t *object,
    const struct lt_kube_names *names, struct lt_error *err)
{
	const json_t *const metadata = json_object_get(object, "metadata");
	const json_t *const spec = json_object_get(object, "spec");
	const json_t *const labels = json_object_get(metadata, "labels");
	const char *const name = lt_kube_string(metadata, "name");

	memset(node, 0, sizeof(*node)); /* whole: it is compared by bytes */
	node->is_up =
	    lt_kube_condition(object, "Ready") != NULL && !lt_kube_is_true(spec, "unschedulable");
	if (name[0] == '\0' || strlen(name) >= sizeof(node->name))
		return lt_fail(err, LT_EINPUT, "a Node without a name");
	snprintf(node->name, sizeof(node->name), "%s", name);
	find_pool(node, labels, names);
	find_gpu(node, labels);
	find_cloud(node, object);
	find_taints(node, spec);
	return find_size(node, lt_kube_part(object, "status", "allocatable"), labels, err);
}

/* Matches as kube-scheduler does; a toleration for some time only, or of a kind that is not known
 * here, does not count. Source: ToleratesTaint() of k8s.io/component-helpers/scheduling/corev1. */
static bool
is_match(const json_t *toleration, const json_t *taint)
{
	const char *const key = lt_kube_string(toleration, "key");
	const char *const effect = lt_kube_string(toleration, "effect");
	const char *const verb = lt_kube_string(toleration, "operator");
	const bool is_any = strcmp(verb, "Exists") == 0;

	if (effect[0] != '\0' && strcmp(effect, lt_kube_string(taint, "effect")) != 0)
		return false;
	if (json_object_get(toleration, "tolerationSeconds") != NULL)
		return false;
	if (key[0] == '\0' ? !is_any : strcmp(key, lt_kube_string(taint, "key")) != 0)
		return false;
	return is_any || ((verb[0] == '\0' || strcmp(verb, "Equal") == 0) &&
			     strcmp(lt_kube_string(toleration, "value"),
				 lt_kube_string(taint, "value")) == 0);
}

bool
lt_kube_tolerates(const json_t *tolerations, const json_t *taint)
{
	const json_t *toleration;
	size_t i;

	json_array_foreach(tolerations, i, toleration)
		if (is_match(toleration, taint))
			return true;
	return false;
}

/* No more than that: a list of the user's that was changed can't be applied again to a Job that
 * runs. */
json_t *
lt_kube_tolerations(const json_t *own, unsigned taints)
{
	json_t *all = NULL;

	for (unsigned i = 0; i < SPOT_TAINTS; i++) {
		json_t *const taint = json_pack("{s:s,s:s,s:s}", "key", spot_taints[i].key, "value",
		    spot_taints[i].value, "effect", "NoSchedule");
		const bool is_wanted = (taints & 1u << i) != 0 && !lt_kube_tolerates(own, taint);

		json_decref(taint);
		if (!is_wanted)
			continue;
		if (all == NULL)
			all = json_is_array(own) ? json_copy((json_t *)own) : json_array();
		json_array_append_new(all, json_pack("{s:s,s:s,s:s}", "key", spot_taints[i].key,
					       "operator", "Equal", "value", spot_taints[i].value));
	}
	return all;
}

bool
lt_kube_offers(const struct lt_kube_node *node, const struct lt_kube_gpus *kinds)
{
	for (uint32_t i = 0; i < kinds->kinds; i++)
		if (strcmp(kinds->of[i].name, node->gpu_resource) != 0 &&
		    lt_kube_gpus_find(&node->gpu_kinds, kinds->of[i].name) == NULL)
			return false;
	return true;
}

/* ---- parts of a pool ---- */

static const char *
sold_word(const struct lt_kube_node *node)
{
	return node->is_reclaimable ? "spot" : "on-demand";
}

/* The parts of its name behind the pool's: "/m5.large/spot". */
struct part {
	bool is_of, has_machine, is_sold;
};

static struct part
part_of(const struct lt_kube_node *node, const char *pool)
{
	const size_t length = strlen(node->label);
	const size_t machine = strlen(node->instance);
	struct part part = {.is_of = false};

	if (length == 0 || strncmp(pool, node->label, length) != 0)
		return part;
	const char *rest = pool + length;
	if (rest[0] == '/' && machine > 0 && strncmp(rest + 1, node->instance, machine) == 0 &&
	    (rest[1 + machine] == '\0' || rest[1 + machine] == '/')) {
		part.has_machine = true;
		rest += 1 + machine;
	}
	if (rest[0] == '/' && strcmp(rest + 1, sold_word(node)) == 0) {
		part.is_sold = true;
		rest = "";
	}
	part.is_of = rest[0] == '\0';
	return part;
}

bool
lt_kube_node_is_of(const struct lt_kube_node *node, const char *pool)
{
	return part_of(node, pool).is_of;
}

void
lt_kube_node_name(struct lt_kube_node *node, char (*names)[LT_NAME_SIZE], uint32_t count)
{
	memset(node->pool, 0, sizeof(node->pool));
	lt_copy(node->pool, sizeof(node->pool), node->label);
	for (uint32_t i = 0; i < count; i++)
		if (lt_kube_node_is_of(node, names[i]) && strlen(names[i]) > strlen(node->pool))
			lt_copy(node->pool, sizeof(node->pool), names[i]);
}

json_t *
lt_kube_node_selector(const struct lt_kube_node *node, const char *pool)
{
	const struct part part = part_of(node, pool);
	json_t *const labels = json_pack("{s:s}", node->pool_key, node->label);

	if (part.has_machine)
		json_object_set_new(labels, machine_key, json_string(node->instance));
	if (part.is_sold && node->sold >= 0)
		json_object_set_new(labels, sold_labels[node->sold].key,
		    json_string(sold_labels[node->sold].value));
	return labels;
}

bool
lt_kube_node_is_sold(const struct lt_kube_node *node, const char *key, const char *value)
{
	return node->sold >= 0 && strcmp(sold_labels[node->sold].key, key) == 0 &&
	       strcmp(sold_labels[node->sold].value, value) == 0;
}

bool
lt_kube_tells_sold(const char *key)
{
	for (int i = 0; i < SOLD_LABELS; i++)
		if (strcmp(sold_labels[i].key, key) == 0)
			return true;
	return false;
}
