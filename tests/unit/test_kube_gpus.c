/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GPUs and parts of them: what nodes offer, what pods ask for, and what that is worth, counted by
 * hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube_facts.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, 0, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

static struct lt_kube_gpus
offered(const char *allocatable, const char *labels)
{
	json_t *const a = load(allocatable), *const l = load(labels);
	struct lt_kube_gpus gpus;
	struct lt_error err = {0};

	assert_int_equal(lt_kube_gpus_offered(&gpus, a, l, &err), LT_OK);
	json_decref(a);
	json_decref(l);
	return gpus;
}

static void
test_gpu_parts(void **state)
{
	static const struct {
		const char *why, *allocatable, *labels;
		uint64_t micro; /* of all that it offers */
	} nodes[] = {
	    {"whole ones", "{\"nvidia.com/gpu\":\"8\",\"cpu\":\"9\"}", "{}", 8000000},
	    {"slices of three sizes, and no whole one",
		"{\"nvidia.com/gpu\":\"0\",\"nvidia.com/mig-1g.10gb\":\"7\","
		"\"nvidia.com/mig-3g.40gb\":\"1\",\"nvidia.com/mig-4g.40gb\":"
		"\"1\"}",
		"{}", 7 * 142857 + 428571 + 571428},
	    {"all of a GPU", "{\"nvidia.com/mig-7g.80gb\":\"2\"}", "{}", 2000000},
	    {"of four slices", "{\"nvidia.com/mig-1g.6gb\":\"4\"}", "{}", 1000000},
	    {"of four slices, by its name", "{\"nvidia.com/mig-1g.9gb\":\"4\"}",
		"{\"nvidia.com/gpu.product\":\"NVIDIA-A30\"}", 1000000},
	    {"a part of a slice, with media engines",
		"{\"nvidia.com/mig-1c.3g.40gb\":\"3\","
		"\"nvidia.com/mig-1g.10gb.me\":\"1\"}",
		"{}", 4 * 142857},
	    {"time-sliced", "{\"nvidia.com/gpu\":\"32\"}", "{\"nvidia.com/gpu.replicas\":\"4\"}",
		8000000},
	    {"time-sliced, renamed", "{\"nvidia.com/gpu\":\"0\",\"nvidia.com/gpu.shared\":\"32\"}",
		"{\"nvidia.com/gpu.replicas\":\"4\"}", 8000000},
	    {"one strategy", "{\"nvidia.com/gpu\":\"56\"}",
		"{\"nvidia.com/gpu.product\":"
		"\"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb\"}",
		56 * 142857},
	    {"slices that are shared", "{\"nvidia.com/mig-1g.10gb.shared\":\"14\"}",
		"{\"nvidia.com/mig-1g.10gb.replicas\":\"2\"}", 14 * 71428},
	    {"nothing that is a GPU",
		"{\"nvidia.com/migs\":\"1\",\"rdma/ib\":\"2\","
		"\"nvidia.com/mig-\":\"3\"}",
		"{}", 0},
	};
	const struct lt_kube_gpus mig = offered("{\"nvidia.com/mig-1g.10gb\":\"56\"}", "{}");
	const struct lt_kube_gpus sliced =
	    offered("{\"nvidia.com/gpu\":\"32\"}", "{\"nvidia.com/gpu.replicas\":\"4\"}");
	struct lt_kube_gpus asked;
	struct lt_error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		const struct lt_kube_gpus gpus = offered(nodes[i].allocatable, nodes[i].labels);
		const uint64_t micro = lt_kube_gpus_micro(&gpus, NULL);

		if (micro != nodes[i].micro)
			fail_msg("%s: got %llu, want %llu", nodes[i].why, (unsigned long long)micro,
			    (unsigned long long)nodes[i].micro);
	}
	/* One container that goes before, one beside another. */
	json_t *const spec =
	    load("{\"initContainers\":[{\"resources\":{\"limits\":"
		 "{\"nvidia.com/mig-1g.10gb\":\"5\"}}}],\"containers\":"
		 "[{\"resources\":{\"requests\":{\"nvidia.com/mig-1g.10gb\":\"2\"},"
		 "\"limits\":{\"nvidia.com/mig-1g.10gb\":\"2\","
		 "\"nvidia.com/gpu\":\"1\"}}},{\"resources\":{\"limits\":"
		 "{\"nvidia.com/mig-1g.10gb\":\"1\"}}}]}");
	assert_int_equal(lt_kube_gpus_asked(&asked, spec, &err), LT_OK);
	assert_int_equal(lt_kube_gpus_micro(&asked, NULL), 5 * 142857 + 1000000);
	assert_int_equal(lt_kube_gpus_micro(&asked, &mig), 5 * 142857 + 1000000);
	assert_int_equal(lt_kube_gpus_micro(&asked, &sliced), 5 * 142857 + 250000);
	json_decref(spec);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gpu_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
