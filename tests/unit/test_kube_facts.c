/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Nodes, Jobs and Pods are read as: quantities by the API server's own examples, objects in
 * the shape that a 1.36 server sends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kube_facts.h"
#include "object.h"
#include "units.h"

static json_t *
load(const char *text)
{
	json_error_t why;
	json_t *const json = json_loads(text, JSON_DECODE_ANY, &why);

	if (json == NULL)
		fail_msg("%s: %s", why.text, text);
	return json;
}

static int64_t
milli(const char *text)
{
	json_t *const json = load(text);
	int64_t value = -1;

	(void)lt_kube_quantity(json, 1000, &value, NULL);
	json_decref(json);
	return value;
}

/* k8s.io/apimachinery/pkg/api/resource/quantity_test.go has these. */
static void
test_quantities(void **state)
{
	static const struct {
		const char *text;
		int64_t milli;
	} cases[] = {
	    {"\"0\"", 0},
	    {"\"500m\"", 500},
	    {"\"1\"", 1000},
	    {"2", 2000},
	    {"\"0.5\"", 500},
	    {"\"1.5\"", 1500},
	    {"\"100M\"", 100000000000},
	    {"\"1Ki\"", 1024000},
	    {"\"64Gi\"", 68719476736000},
	    {"\"1e3\"", 1000000},
	    {"\"12E-1\"", 1200},
	    {"\"1n\"", 1}, /* rounded up */
	    {"\"100u\"", 1},
	    {"\"\"", -1},
	    {"\"1GB\"", -1},
	    {"\"-1\"", -1},
	    {"\"one\"", -1},
	    {"null", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (milli(cases[i].text) != cases[i].milli)
			fail_msg("%s: %lld, want %lld", cases[i].text,
			    (long long)milli(cases[i].text), (long long)cases[i].milli);
}

/* ---- what a pod takes ---- */

static struct lt_kube_need
need_of(const char *spec)
{
	json_t *const json = load(spec);
	struct lt_kube_need need;
	struct lt_error err = {0};

	assert_int_equal(lt_kube_need_read(&need, json, &err), LT_OK);
	json_decref(json);
	return need;
}

static void
test_need(void **state)
{
	/* Two containers; limits stand in for requests that are not there. */
	struct lt_kube_need n =
	    need_of("{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1500m\","
		    "\"memory\":\"1Gi\"},\"limits\":{\"cpu\":\"4\","
		    "\"nvidia.com/gpu\":\"2\"}}},{\"resources\":{\"limits\":"
		    "{\"cpu\":\"500m\",\"memory\":\"100M\"}}}]}");

	(void)state;
	assert_int_equal(n.cpus, 2);
	assert_int_equal(n.gpus, 2);
	assert_int_equal(n.memory_mib, 1024 + 96); /* 95.4 MiB, rounded up */
	assert_true(n.exact.cpu_milli == 2000 && n.exact.memory_kib == 1024 * 1024 + 97656);
	/* One that runs before them counts where it takes more, one that stays (KEP-753) beside
	 * them. */
	n = need_of("{\"initContainers\":[{\"resources\":{\"requests\":"
		    "{\"cpu\":\"1\"}},\"restartPolicy\":\"Always\"},"
		    "{\"resources\":{\"requests\":{\"cpu\":\"7\","
		    "\"memory\":\"1Mi\"}}}],"
		    "\"containers\":[{\"resources\":{\"requests\":"
		    "{\"cpu\":\"3\",\"memory\":\"8Mi\"}}}],"
		    "\"overhead\":{\"cpu\":\"250m\"}}");
	assert_int_equal(n.cpus, 9); /* 1 + 7, and the overhead */
	assert_int_equal(n.memory_mib, 8);
	/* What the pod asks for as a whole, where that is more. */
	n = need_of("{\"resources\":{\"requests\":{\"cpu\":\"16\"},\"limits\":"
		    "{\"memory\":\"20Pi\"}},\"containers\":[{\"resources\":"
		    "{\"requests\":{\"cpu\":\"1\"},\"limits\":"
		    "{\"nvidia.com/gpu\":1}}}]}");
	assert_int_equal(n.cpus, 16);
	assert_int_equal(n.gpus, 1);
	assert_int_equal(n.memory_mib, INT64_C(20) << 30);
	/* Who asks for nothing is not free of charge. */
	n = need_of("{\"containers\":[{}]}");
	assert_int_equal(n.cpus, 1);
	assert_true(n.gpus == 0 && n.memory_mib == 1);
	assert_true(n.exact.cpu_milli == 100 && n.exact.memory_kib == 204800);
}

/* ---- nodes ---- */

static struct lt_kube_node
node_of(const char *labels, const char *taints)
{
	char text[2048];
	const struct lt_kube_names names = {0};
	struct lt_kube_node node;
	struct lt_error err = {0};

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"n1\",\"labels\":{%s}},"
	    "\"spec\":{\"taints\":[%s]},"
	    "\"status\":{\"allocatable\":{\"cpu\":\"63500m\","
	    "\"memory\":\"527957340Ki\",\"nvidia.com/gpu\":\"8\","
	    "\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\","
	    "\"status\":\"True\"}]}}",
	    labels, taints);
	json_t *const json = load(text);
	assert_int_equal(lt_kube_node_read(&node, json, &names, &err), LT_OK);
	json_decref(json);
	return node;
}

static void
test_node(void **state)
{
	const char *const eks = "\"eks.amazonaws.com/nodegroup\":\"gpu-od\","
				"\"nvidia.com/gpu.product\":\"NVIDIA-A100-SXM4-40GB\"";
	struct lt_kube_node n = node_of(eks, "");

	(void)state;
	assert_string_equal(n.pool, "gpu-od");
	assert_string_equal(n.pool_key, "eks.amazonaws.com/nodegroup");
	assert_string_equal(n.gpu_type, "A100-SXM4-40GB");
	assert_true(n.cpus == 63 && n.exact.cpu_milli == 63500);
	assert_true(n.gpus == 8 && n.memory_mib == 515583); /* rounded down */
	assert_true(n.is_up && !n.is_spot);
	/* The cloud's taint for preemptible nodes is one that lowtide may tolerate, a GPU's own
	 * each pod with GPUs does. */
	n = node_of(eks, "{\"key\":\"nvidia.com/gpu\",\"effect\":\"NoSchedule\"},"
			 "{\"key\":\"cloud.google.com/gke-spot\",\"value\":\"true\","
			 "\"effect\":\"NoSchedule\"}");
	assert_true(n.is_up && n.is_spot);
	/* Any other is the site's word: kept for who tolerates it. */
	n = node_of(eks, "{\"key\":\"dedicated\",\"value\":\"x\",\"effect\":\"NoSchedule\"}");
	assert_true(n.is_up && !n.is_spot && n.taints[0] == '[');
	assert_string_equal(node_of("\"a\":\"b\"", "").pool, "");
}

/* What the pool's taints want and the user did not write, behind the user's. */
static void
test_tolerations(void **state)
{
	static const struct {
		const char *why, *own, *taints, *want; /* keys; NULL: none */
	} cases[] = {
	    {"no taint, nothing added", "[]", "", NULL},
	    {"nor is the user's list written anew", "[{\"key\":\"dedicated\",\"value\":\"x\"}]", "",
		NULL},
	    {"one taint, one toleration", "[]",
		"{\"key\":\"cloud.google.com/gke-spot\",\"value\":\"true\","
		"\"effect\":\"NoSchedule\"}",
		"cloud.google.com/gke-spot "},
	    {"the user's first", "[{\"key\":\"dedicated\",\"value\":\"x\"}]",
		"{\"key\":\"kubernetes.azure.com/scalesetpriority\","
		"\"value\":\"spot\",\"effect\":\"NoSchedule\"}",
		"dedicated kubernetes.azure.com/scalesetpriority "},
	    {"the user tolerates it", "[{\"key\":\"lowtide.dev/spot\",\"operator\":\"Exists\"}]",
		"{\"key\":\"lowtide.dev/spot\",\"value\":\"true\","
		"\"effect\":\"NoSchedule\"}",
		NULL},
	    {"and all taints", "[{\"operator\":\"Exists\"}]",
		"{\"key\":\"lowtide.dev/spot\",\"value\":\"true\","
		"\"effect\":\"NoSchedule\"}",
		NULL},
	    {"but for another effect", "[{\"operator\":\"Exists\",\"effect\":\"NoExecute\"}]",
		"{\"key\":\"lowtide.dev/spot\",\"value\":\"true\","
		"\"effect\":\"NoSchedule\"}",
		" lowtide.dev/spot "},
	};

	const struct lt_kube_names names = {.pool = NULL};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_node n;
		char node[512], keys[256] = "";
		const json_t *toleration;
		size_t k;

		snprintf(node, sizeof(node),
		    "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[%s]}}", cases[i].taints);
		json_t *const object = load(node), *const own = load(cases[i].own);
		assert_int_equal(lt_kube_node_read(&n, object, &names, NULL), LT_OK);
		json_t *const all = lt_kube_tolerations(own, n.spot_taints);
		json_array_foreach(all, k, toleration)
			snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%s ",
			    lt_kube_string(toleration, "key"));
		if (all != NULL ? cases[i].want == NULL || strcmp(keys, cases[i].want) != 0
				: cases[i].want != NULL)
			fail_msg("%s: %s", cases[i].why, keys);
		json_decref(all);
		json_decref(own);
		json_decref(object);
	}
}

/* ---- Jobs ---- */

static int
job_of(struct lt_kube_job *job, const char *annotations, const char *spec)
{
	char text[4096];
	const struct lt_kube_names names = {0};
	struct lt_error err = {0};

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"train\",\"namespace\":\"Team-A\","
	    "\"uid\":\"u1\",\"resourceVersion\":\"77\","
	    "\"creationTimestamp\":\"2026-11-26T04:00:00Z\","
	    "\"annotations\":{%s}},\"spec\":{%s\"template\":{\"spec\":"
	    "{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"8\"},"
	    "\"limits\":{\"nvidia.com/gpu\":\"4\"}}}],"
	    "\"terminationGracePeriodSeconds\":10}}}}",
	    annotations, spec);
	json_t *const json = load(text);
	const int code = lt_kube_job_read(job, json, &names, &err);
	json_decref(json);
	return code;
}

static void
test_job(void **state)
{
	struct lt_kube_job job;

	(void)state;
	assert_int_equal(job_of(&job,
			     "\"lowtide.dev/carbon-aware\":\"true\","
			     "\"lowtide.dev/max-cost\":\"12.50\","
			     "\"lowtide.dev/deadline\":\"12h\","
			     "\"lowtide.dev/class\":\"batch\"",
			     "\"suspend\":true,\"parallelism\":4,"
			     "\"completions\":3,"
			     "\"activeDeadlineSeconds\":3600,"),
	    LT_OK);
	assert_true(job.is_waiting && !job.is_pod && !job.is_finished);
	assert_string_equal(
	    lt_kube_job_text(&job, LT_KUBE_WISHES), "carbon-aware=\nmax-cost=12.50\n");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_CLASS), "batch");
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_FAULT), "");
	assert_int_equal(job.deadline_utc_s - job.created_utc_s, 12 * 3600);
	assert_int_equal(job.pods, 3); /* more are never at work */
	/* To end takes 10 s, and so does making a pod anew beside it. */
	assert_int_equal(job.limit_s, 3620);
	assert_int_equal(job.need.gpus, 4);
	assert_int_equal(job.version, 77);
	lt_kube_job_free(&job);
	/* A pod that waits for the one before it does not overlap. */
	assert_int_equal(job_of(&job, "",
			     "\"activeDeadlineSeconds\":3600,"
			     "\"podReplacementPolicy\":\"Failed\","),
	    LT_OK);
	assert_int_equal(job.limit_s, 3610);
	assert_false(job.is_waiting);
	lt_kube_job_free(&job);
	/* Without a deadline nothing bounds it: no limit, not 0 seconds. */
	assert_int_equal(job_of(&job, "", ""), LT_OK);
	assert_int_equal(job.limit_s, 0);
	lt_kube_job_free(&job);
}

/* Nothing that a user may write makes a hold smaller. */
static void
test_limits_at_the_edge(void **state)
{
	static const struct {
		const char *spec;
		int64_t limit_s;
	} cases[] = {
	    {"\"activeDeadlineSeconds\":9223372036854775807,", 366 * LT_DAY_S},
	    {"\"activeDeadlineSeconds\":0,", 0},
	    {"\"activeDeadlineSeconds\":-5,", 0},
	};
	const struct lt_kube_names names = {0};
	struct lt_kube_job job;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(job_of(&job, "", cases[i].spec), LT_OK);
		assert_true(job.limit_s == cases[i].limit_s);
		lt_kube_job_free(&job);
	}
	json_t *const json = load("{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"spec\":{"
				  "\"activeDeadlineSeconds\":60,\"template\":{\"spec\":{"
				  "\"terminationGracePeriodSeconds\":9223372036854775807,"
				  "\"containers\":[{}]}}}}");
	assert_int_equal(lt_kube_job_read(&job, json, &names, NULL), LT_OK);
	assert_true(job.limit_s > 366 * (int64_t)LT_DAY_S);
	lt_kube_job_free(&job);
	json_decref(json);
}

/* Kueue's and a JobSet's are left alone, and what an operator that may override starts by itself;
 * what lowtide holds for is not Kueue's by a label that comes later. */
static void
test_whose_it_is(void **state)
{
	static const struct {
		const char *metadata, *starter;
		bool is_suspended;
	} cases[] = {
	    {"\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"}", "Kueue", false},
	    {"\"labels\":{\"kueue.x-k8s.io/queue-name\":\"q\"},"
	     "\"annotations\":{\"lowtide.dev/quote\":\"lowtide:1 \"}",
		"", false},
	    {"\"ownerReferences\":[{\"kind\":\"JobSet\",\"uid\":\"j\","
	     "\"apiVersion\":\"jobset.x-k8s.io/v1alpha2\",\"name\":\"s\","
	     "\"controller\":true}]",
		"JobSet s", true},
	    {"\"ownerReferences\":[{\"kind\":\"CronJob\",\"uid\":\"c\","
	     "\"controller\":true}]",
		"", false},
	    {"\"ownerReferences\":[{\"kind\":\"MPIJob\",\"uid\":\"m\","
	     "\"name\":\"m\",\"controller\":true}]",
		"MPIJob m", false},
	    {"\"ownerReferences\":[{\"kind\":\"MPIJob\",\"uid\":\"m\","
	     "\"name\":\"m\",\"controller\":true}]",
		"", true},
	    {"\"ownerReferences\":[{\"kind\":\"JobSet\",\"uid\":\"j\","
	     "\"name\":\"forged\",\"controller\":true}]",
		"", true},
	    {"\"ownerReferences\":[{\"kind\":\"Backup\",\"uid\":\"b\"}]", "", false},
	};
	const struct lt_kube_names names = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_job job;
		char text[1024];

		snprintf(text, sizeof(text),
		    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\",%s},"
		    "\"spec\":{\"suspend\":%s,\"template\":{\"spec\":"
		    "{\"containers\":[{}]}}}}",
		    cases[i].metadata, cases[i].is_suspended ? "true" : "false");
		json_t *const json = load(text);
		assert_int_equal(lt_kube_job_read(&job, json, &names, NULL), LT_OK);
		assert_string_equal(lt_kube_job_text(&job, LT_KUBE_STARTER), cases[i].starter);
		assert_int_equal(job.is_foreign, cases[i].starter[0] != '\0');
		lt_kube_job_free(&job);
		json_decref(json);
	}
}

#define UMLAUT_8 "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
#define UMLAUTS UMLAUT_8 UMLAUT_8 UMLAUT_8 UMLAUT_8

static void
test_job_says_what_it_cannot_read(void **state)
{
	struct lt_kube_job job;

	(void)state;
	assert_int_equal(job_of(&job,
			     "\"lowtide.dev/carbon-aware\":\"cheap\","
			     "\"lowtide.dev/deadline\":\"soon\","
			     "\"lowtide.dev/gpu-memory\":\"40G\"",
			     ""),
	    LT_OK);
	assert_non_null(strstr(
	    lt_kube_job_text(&job, LT_KUBE_FAULT), "lowtide.dev/carbon-aware: got \"cheap\""));
	assert_non_null(strstr(lt_kube_job_text(&job, LT_KUBE_FAULT), "deadline: got \"soon\""));
	assert_string_equal(lt_kube_job_text(&job, LT_KUBE_WISHES), "gpu-memory=40G\n");
	assert_int_equal(job.deadline_utc_s, 0);
	lt_kube_job_free(&job);
	/* A long value is cut, at a character's border: the Event is JSON. */
	assert_int_equal(job_of(&job,
			     "\"lowtide.dev/carbon-aware\":\"a" UMLAUTS
			     "\",\"lowtide.dev/deadline\":\"a" UMLAUTS "\"",
			     ""),
	    LT_OK);
	assert_non_null(strstr(lt_kube_job_text(&job, LT_KUBE_FAULT), "deadline: got \"a\xc3\xbc"));
	json_t *const text = json_string(lt_kube_job_text(&job, LT_KUBE_FAULT));
	assert_non_null(text);
	json_decref(text);
	lt_kube_job_free(&job);
}

/* ---- pods ---- */

static int
pod_of(struct lt_kube_pod *pod, const char *status, bool is_gone)
{
	char text[2048];
	const struct lt_kube_seen seen = {1795665700, is_gone};
	struct lt_error err = {0};

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"p1\","
	    "\"creationTimestamp\":\"2026-11-26T04:00:00Z\","
	    "\"ownerReferences\":[{\"kind\":\"Job\",\"uid\":\"u1\","
	    "\"controller\":true}],\"labels\":{"
	    "\"batch.kubernetes.io/job-completion-index\":\"5\"}},"
	    "\"spec\":{\"nodeName\":\"n1\",\"containers\":[{}]},"
	    "\"status\":{%s}}",
	    status);
	json_t *const json = load(text);
	const int code = lt_kube_pod_read(pod, json, &seen, &err);
	json_decref(json);
	return code;
}

/* 2026-11-26T04:00:00Z */
enum { HOUR_UTC_S = 1795665600 };

static void
test_pod_ends(void **state)
{
	static const char started[] = "\"startTime\":\"2026-11-26T04:00:10Z\",";
	static const struct {
		const char *status, *word;
		bool is_gone;
		int64_t end_after_s;
		uint32_t exit_code;
	} cases[] = {
	    {"\"phase\":\"Running\",\"containerStatuses\":[{\"state\":"
	     "{\"running\":{}}}]",
		"RUNNING", false, 0, 0},
	    {"\"phase\":\"Succeeded\",\"containerStatuses\":[{\"state\":"
	     "{\"terminated\":{\"exitCode\":0,"
	     "\"finishedAt\":\"2026-11-26T04:00:40Z\"}}},{\"state\":"
	     "{\"terminated\":{\"exitCode\":0,"
	     "\"finishedAt\":\"2026-11-26T04:00:50Z\"}}}]",
		"COMPLETED", false, 50, 0},
	    {"\"phase\":\"Failed\",\"containerStatuses\":[{\"state\":"
	     "{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\","
	     "\"finishedAt\":\"2026-11-26T04:00:41Z\"}}}]",
		"OUT_OF_MEMORY", false, 41, 9},
	    {"\"phase\":\"Failed\",\"reason\":\"Evicted\",\"conditions\":"
	     "[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
	     "\"EvictionByEvictionAPI\","
	     "\"lastTransitionTime\":\"2026-11-26T04:00:30Z\"}]",
		"PREEMPTED", false, 30, 0},
	    /* Its containers are as they were last heard of. */
	    {"\"phase\":\"Failed\",\"reason\":\"NodeLost\",\"conditions\":"
	     "[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
	     "\"DeletionByPodGC\","
	     "\"lastTransitionTime\":\"2026-11-26T04:00:30Z\"}],"
	     "\"containerStatuses\":[{\"state\":{\"running\":{}}}]",
		"NODE_FAIL", false, 30, 0},
	    /* One of its containers waits to run again: it has its node. */
	    {"\"phase\":\"Running\",\"containerStatuses\":[{\"state\":"
	     "{\"terminated\":{\"exitCode\":0,"
	     "\"finishedAt\":\"2026-11-26T04:00:41Z\"}}},{\"state\":"
	     "{\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}]",
		"CANCELLED", true, 100, 0},
	    /* A sidecar is the last to end. */
	    {"\"phase\":\"Succeeded\",\"containerStatuses\":[{\"state\":"
	     "{\"terminated\":{\"exitCode\":0,"
	     "\"finishedAt\":\"2026-11-26T04:00:15Z\"}}}],"
	     "\"initContainerStatuses\":[{\"state\":{\"terminated\":{"
	     "\"exitCode\":143,"
	     "\"finishedAt\":\"2026-11-26T04:00:45Z\"}}}]",
		"COMPLETED", false, 45, 0},
	    /* Its node is gone, and nothing says when: it is over by now. */
	    {"\"phase\":\"Failed\",\"reason\":\"NodeLost\"", "NODE_FAIL", false, 100, 0},
	    {"\"phase\":\"Running\",\"containerStatuses\":[{\"state\":"
	     "{\"running\":{}}}]",
		"CANCELLED", true, 100, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_pod pod;
		char status[1024];

		snprintf(status, sizeof(status), "%s%s", started, cases[i].status);
		assert_int_equal(pod_of(&pod, status, cases[i].is_gone), LT_OK);
		assert_string_equal(pod.state, cases[i].word);
		assert_int_equal(
		    pod.end_utc_s == 0 ? 0 : pod.end_utc_s - HOUR_UTC_S, cases[i].end_after_s);
		assert_int_equal(pod.exit_code, cases[i].exit_code);
		assert_int_equal(pod.start_utc_s, HOUR_UTC_S + 10);
		assert_int_equal(pod.index, 5);
		assert_string_equal(pod.owner, "u1");
	}
}

static void
test_pod_without_a_node_is_no_run(void **state)
{
	struct lt_kube_pod pod;

	(void)state;
	assert_int_equal(pod_of(&pod, "\"phase\":\"Pending\"", false), LT_ENOENT);
}

static void
test_strip(void **state)
{
	json_t *const job =
	    load("{\"metadata\":{\"managedFields\":[1],\"annotations\":{"
		 "\"kubectl.kubernetes.io/last-applied-configuration\":\"x\","
		 "\"lowtide.dev/class\":\"a\"}},\"spec\":{\"template\":{\"spec\":"
		 "{\"volumes\":[{\"name\":\"v\",\"secret\":{\"secretName\":\"s\"}}],"
		 "\"containers\":[{\"name\":\"m\",\"env\":[1],"
		 "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}");
	json_t *const want = load("{\"metadata\":{\"annotations\":{\"lowtide.dev/class\":\"a\"}},"
				  "\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":true,"
				  "\"secret\":true}],\"containers\":[{\"name\":\"m\","
				  "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}");

	(void)state;
	lt_kube_strip(job);
	assert_true(json_equal(job, want));
	json_decref(job);
	json_decref(want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_quantities),
	    cmocka_unit_test(test_need),
	    cmocka_unit_test(test_node),
	    cmocka_unit_test(test_tolerations),
	    cmocka_unit_test(test_job),
	    cmocka_unit_test(test_limits_at_the_edge),
	    cmocka_unit_test(test_whose_it_is),
	    cmocka_unit_test(test_job_says_what_it_cannot_read),
	    cmocka_unit_test(test_pod_ends),
	    cmocka_unit_test(test_pod_without_a_node_is_no_run),
	    cmocka_unit_test(test_strip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
