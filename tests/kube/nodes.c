/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes: those that are there from the start, quantities, and how much a node has and a pod asks
 * for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static double
suffix_factor(const char *suffix)
{
	static const struct {
		const char *suffix;
		double factor;
	} factors[] = {
	    {"", 1},
	    {"m", 1e-3},
	    {"k", 1e3},
	    {"M", 1e6},
	    {"G", 1e9},
	    {"T", 1e12},
	    {"Ki", 1024.0},
	    {"Mi", 1048576.0},
	    {"Gi", 1073741824.0},
	    {"Ti", 1099511627776.0},
	};

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		if (strcmp(suffix, factors[i].suffix) == 0)
			return factors[i].factor;
	return 0;
}

int64_t
quantity_milli(const json_t *quantity)
{
	const char *const text = json_string_value(quantity);
	char *end;

	if (json_is_number(quantity))
		return (int64_t)(json_number_value(quantity) * 1000);
	if (text == NULL)
		return -1;
	const double number = strtod(text, &end);

	return (int64_t)(number * suffix_factor(end) * 1000);
}

static struct resources
resources_read(const json_t *list)
{
	const int64_t cpu = quantity_milli(json_object_get(list, "cpu"));
	const int64_t memory = quantity_milli(json_object_get(list, "memory"));
	const int64_t gpus = quantity_milli(json_object_get(list, "nvidia.com/gpu"));
	const int64_t pods = quantity_milli(json_object_get(list, "pods"));

	return (struct resources){
	    .cpu_milli = cpu > 0 ? cpu : 0,
	    .memory_bytes = memory > 0 ? memory / 1000 : 0,
	    .gpus = gpus > 0 ? gpus / 1000 : 0,
	    .pods = pods > 0 ? pods / 1000 : 0,
	};
}

struct resources
resources_of(const json_t *pod_spec)
{
	struct resources sum = resources_read(json_at(pod_spec, "overhead"));
	json_t *container;
	size_t i;

	sum.pods = 1;
	json_array_foreach(json_at(pod_spec, "containers"), i, container) {
		const struct resources one =
		    resources_read(json_at(container, "resources.requests"));

		sum.cpu_milli += one.cpu_milli;
		sum.memory_bytes += one.memory_bytes;
		sum.gpus += one.gpus;
	}
	return sum;
}

void
node_learn(struct object *node)
{
	node->room = resources_read(json_at(node->now->document, "status.allocatable"));
	world.must_schedule = true;
}

static json_t *
node_conditions(void)
{
	static const char *const pressures[] = {"MemoryPressure", "DiskPressure", "PIDPressure"};
	json_t *const list = json_array();

	for (size_t i = 0; i < sizeof(pressures) / sizeof(pressures[0]); i++)
		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:o,s:o,s:s,s:s}", "type", pressures[i], "status",
			      "False", "lastHeartbeatTime", json_time(now_ms()),
			      "lastTransitionTime", json_time(now_ms()), "reason",
			      "KubeletHasEnough", "message", "kubelet has enough"));
	json_array_append_new(list,
	    json_pack("{s:s,s:s,s:o,s:o,s:s,s:s}", "type", "Ready", "status", "True",
		"lastHeartbeatTime", json_time(now_ms()), "lastTransitionTime", json_time(now_ms()),
		"reason", "KubeletReady", "message", "kubelet is posting ready status"));
	return list;
}

static json_t *
node_labels(const char *name, const char *pool, bool is_spot)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "kubernetes.io/arch", "amd64",
	    "kubernetes.io/hostname", name, "kubernetes.io/os", "linux", "lowtide.dev/pool", pool,
	    "karpenter.sh/capacity-type", is_spot ? "spot" : "on-demand",
	    "node.kubernetes.io/instance-type", "p4d.24xlarge", "nvidia.com/gpu.product",
	    "NVIDIA-A100-SXM4-40GB", "topology.kubernetes.io/region", "eu-north-1",
	    "topology.kubernetes.io/zone", "eu-north-1a");
}

static json_t *
node_resources(void)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "cpu", "64", "ephemeral-storage", "1000Gi",
	    "memory", "512Gi", "nvidia.com/gpu", "8", "pods", "110");
}

static void
node_add(const char *pool, int number, bool is_spot)
{
	char name[64], address[64];
	json_t *node;

	snprintf(name, sizeof(name), "%s-%d", pool, number);
	snprintf(address, sizeof(address), "10.9.%d.%d", is_spot, number);
	node = json_pack("{s:{s:s,s:o},s:{},s:{s:o,s:o,s:o,s:[{s:s,s:s}],"
			 "s:{s:s,s:s,s:s,s:s,s:s}}}",
	    "metadata", "name", name, "labels", node_labels(name, pool, is_spot), "spec", "status",
	    "capacity", node_resources(), "allocatable", node_resources(), "conditions",
	    node_conditions(), "addresses", "type", "InternalIP", "address", address, "nodeInfo",
	    "architecture", "amd64", "containerRuntimeVersion", "played://1", "kubeletVersion",
	    "v1.36.2", "operatingSystem", "linux", "osImage", "played");
	if (is_spot)
		json_put_at(node, "spec.taints",
		    json_pack("[{s:s,s:s,s:s}]", "key", "lowtide.dev/spot", "value", "true",
			"effect", "NoSchedule"));
	default_new(KUBE_NODES, node);
	store_add(KUBE_NODES, node);
}

/* A list of nodes, or a List object that has it in "items". */
static void
nodes_from_file(const char *path)
{
	json_error_t error;
	json_t *const file = json_load_file(path, 0, &error);
	json_t *node;
	size_t i;

	if (file == NULL) {
		fprintf(stderr, "kube server: %s:%d: %s\n", path, error.line, error.text);
		exit(1);
	}
	json_array_foreach(json_is_array(file) ? file : json_object_get(file, "items"), i, node) {
		json_t *const own = json_deep_copy(node);

		json_object_del(own, "kind");
		json_object_del(own, "apiVersion");
		json_default_at(own, "status.conditions", node_conditions());
		if (json_at(own, "status.allocatable") == NULL)
			json_put_at(own, "status.allocatable",
			    json_deep_copy(json_at(own, "status.capacity")));
		default_new(KUBE_NODES, own);
		store_add(KUBE_NODES, own);
	}
	json_decref(file);
}

void
nodes_start(void)
{
	if (world.options.nodes != NULL) {
		nodes_from_file(world.options.nodes);
		return;
	}
	for (int number = 1; number <= 2; number++) {
		node_add("ondemand", number, false);
		node_add("spot", number, true);
	}
}
