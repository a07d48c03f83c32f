/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of a pool that a policy prices by themselves: which one a node is of, and by which labels
 * its nodes are chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube_facts.h"

static struct lt_kube_node
node_of(const char *labels)
{
	const struct lt_kube_names names = {0};
	struct lt_kube_node node;
	struct lt_error err = {0};
	char text[1024];

	snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"n\",\"labels\":{%s}}}", labels);
	json_t *const object = json_loads(text, 0, NULL);
	assert_non_null(object);
	assert_int_equal(lt_kube_node_read(&node, object, &names, &err), LT_OK);
	json_decref(object);
	return node;
}

#define POOL "\"karpenter.sh/nodepool\":\"general\""
#define LARGE ",\"node.kubernetes.io/instance-type\":\"m5.large\""
#define SPOT ",\"karpenter.sh/capacity-type\":\"spot\""
#define ONDEMAND ",\"karpenter.sh/capacity-type\":\"on-demand\""

static const struct {
	const char *why, *labels;
	const char *named[5];
	const char *pool, *selector;
} cases[] = {
    {"nothing else named: its pool", POOL LARGE SPOT, {"general"}, "general",
	"{\"karpenter.sh/nodepool\":\"general\"}"},
    {"not even the pool", POOL LARGE, {"other"}, "general",
	"{\"karpenter.sh/nodepool\":\"general\"}"},
    {"its machine", POOL LARGE SPOT, {"general", "general/m5.large", "general/m5.24xlarge"},
	"general/m5.large",
	"{\"karpenter.sh/nodepool\":\"general\","
	"\"node.kubernetes.io/instance-type\":\"m5.large\"}"},
    {"a machine whose name begins like it is another", POOL LARGE,
	{"general/m5.larg", "general/m5.large2", "generalx/m5.large"}, "general",
	"{\"karpenter.sh/nodepool\":\"general\"}"},
    {"the longest name", POOL LARGE SPOT,
	{"general/m5.large/spot", "general/spot", "general/m5.large"}, "general/m5.large/spot",
	"{\"karpenter.sh/capacity-type\":\"spot\","
	"\"karpenter.sh/nodepool\":\"general\","
	"\"node.kubernetes.io/instance-type\":\"m5.large\"}"},
    {"sold as the other", POOL LARGE ONDEMAND, {"general/m5.large/spot", "general/spot"}, "general",
	"{\"karpenter.sh/nodepool\":\"general\"}"},
    {"how it is sold", POOL LARGE ONDEMAND, {"general/on-demand"}, "general/on-demand",
	"{\"karpenter.sh/capacity-type\":\"on-demand\","
	"\"karpenter.sh/nodepool\":\"general\"}"},
    {"no label says so: it is not spot", POOL LARGE, {"general/on-demand"}, "general/on-demand",
	"{\"karpenter.sh/nodepool\":\"general\"}"},
    {"Azure's spot",
	"\"kubernetes.azure.com/agentpool\":\"general\","
	"\"kubernetes.azure.com/scalesetpriority\":\"spot\"",
	{"general/spot"}, "general/spot",
	"{\"kubernetes.azure.com/agentpool\":\"general\","
	"\"kubernetes.azure.com/scalesetpriority\":\"spot\"}"},
    {"no pool is no part of one", "\"a\":\"b\"" LARGE, {"/m5.large", "m5.large"}, "", NULL},
};

static void
parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_node node = node_of(cases[i].labels);
		char named[5][LT_NAME_SIZE] = {{0}};
		uint32_t count = 0;

		for (; count < 5 && cases[i].named[count] != NULL; count++)
			snprintf(named[count], sizeof(named[count]), "%s", cases[i].named[count]);
		lt_kube_node_name(&node, named, count);
		if (strcmp(node.pool, cases[i].pool) != 0)
			fail_msg("%s: got %s", cases[i].why, node.pool);
		if (cases[i].selector == NULL)
			continue;
		json_t *const labels = lt_kube_node_selector(&node, node.pool);
		char *const text = json_dumps(labels, JSON_COMPACT | JSON_SORT_KEYS);
		if (strcmp(text, cases[i].selector) != 0)
			fail_msg("%s: got %s", cases[i].why, text);
		free(text);
		json_decref(labels);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(parts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
