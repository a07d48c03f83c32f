/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods of no Job: whose they are, and the hours of them that become rows, each second once,
 * whatever is told twice, late or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster.h"
#include "units.h"

enum { HOUR_UTC_S = 1795665600 }; /* 2026-11-26T04:00:00Z */

static struct lt_kube_cluster cluster;
static char state_dir[64];

static void
tell(enum lt_kube_kind kind, enum lt_kube_event event, const char *text)
{
	struct lt_kube_line line = {kind, event, NULL, ""};

	if (text != NULL)
		line.object = json_loads(text, 0, NULL);
	assert_true(text == NULL || line.object != NULL);
	lt_kube_cluster_take(&cluster, &line);
	json_decref(line.object);
}

static void
list(enum lt_kube_kind kind, const char *const *objects)
{
	tell(kind, LT_KUBE_BEGIN, NULL);
	for (; objects != NULL && *objects != NULL; objects++)
		tell(kind, LT_KUBE_SEEN, *objects);
	tell(kind, LT_KUBE_END, NULL);
	assert_int_equal(lt_kube_cluster_catch_up(&cluster, NULL), LT_OK);
}

static const char *
pod_text(const char *uid, const char *start, const char *end)
{
	static char text[4][2048];
	static int which;
	char state[256] = "\"running\":{}";

	which = (which + 1) % 4;
	if (end != NULL)
		snprintf(state, sizeof(state),
		    "\"terminated\":{\"exitCode\":0,\"finishedAt\":"
		    "\"2026-11-26T%sZ\"}",
		    end);
	snprintf(text[which], sizeof(text[which]),
	    "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"a\","
	    "\"uid\":\"%s\",\"labels\":{\"pod-template-hash\":\"5d4f8\"},"
	    "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"uid\":\"r\","
	    "\"name\":\"web-5d4f8\",\"controller\":true}]},\"spec\":{"
	    "\"nodeName\":\"n1\",\"containers\":[{\"resources\":{"
	    "\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}}}]},"
	    "\"status\":{\"phase\":\"%s\",\"startTime\":"
	    "\"2026-11-26T%sZ\",\"containerStatuses\":[{\"state\":{%s}}]}}",
	    uid, uid, end != NULL ? "Succeeded" : "Running", start, state);
	return text[which];
}

static const char *
namespace_text(const char *labels)
{
	static char text[256];

	snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"a\",\"labels\":{%s}}}", labels);
	return text;
}

static const char managed[] = "\"lowtide.dev/managed\":\"true\"";

/* Watched at this second after the hour, and charged. */
static void
watch(int64_t at_s)
{
	cluster.now_utc_s = cluster.heard_utc_s = HOUR_UTC_S + at_s;
	assert_int_equal(lt_kube_cluster_mark(&cluster, cluster.now_utc_s, NULL), LT_OK);
	assert_int_equal(lt_kube_unheld_charge(&cluster, NULL), LT_OK);
}

static void
open_all(int64_t at_s)
{
	static const char node[] = "{\"metadata\":{\"name\":\"n1\",\"labels\":"
				   "{\"lowtide.dev/pool\":\"main\"}},\"status\":{\"allocatable\":"
				   "{\"cpu\":\"64\",\"memory\":\"512Gi\"}}}";
	const char *const nodes[] = {node, NULL};
	const char *const namespaces[] = {namespace_text(managed), NULL};

	cluster = (struct lt_kube_cluster){.now_utc_s = HOUR_UTC_S + at_s};
	assert_int_equal(lt_kube_store_open(&cluster.store, state_dir, NULL), LT_OK);
	list(LT_KUBE_NAMESPACES, namespaces);
	list(LT_KUBE_NODES, nodes);
	list(LT_KUBE_JOBS, NULL);
}

static int
begin(void **state)
{
	(void)state;
	snprintf(state_dir, sizeof(state_dir), "/tmp/lt-kube-XXXXXX");
	assert_non_null(mkdtemp(state_dir));
	open_all(0);
	list(LT_KUBE_PODS, NULL);
	return 0;
}

static int
end(void **state)
{
	static const char *const files[] = {"kube.db", "kube.db-wal", "kube.db-shm"};

	(void)state;
	lt_kube_cluster_free(&cluster);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", state_dir, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(state_dir), 0);
	return 0;
}

/* Finished rows, and the pod-seconds that they come to. */
static uint32_t
charged(int64_t *seconds, uint32_t *estimated)
{
	const struct lt_kube_rows_asked asked = {.from_utc_s = HOUR_UTC_S - 1,
	    .to_utc_s = HOUR_UTC_S + LT_DAY_S,
	    .now_utc_s = HOUR_UTC_S + 2 * (int64_t)LT_DAY_S};
	struct lt_batch_runs runs;

	assert_int_equal(lt_kube_store_rows(&runs, state_dir, &asked, NULL), LT_OK);
	*seconds = *estimated = 0;
	for (uint32_t i = 0; i < runs.count; i++) {
		const struct lt_batch_run *const r = &runs.runs[i];

		assert_true(r->finished && r->is_part && r->goes_on);
		assert_string_equal(r->name, "deployment/web");
		assert_string_equal(r->partition, "main");
		assert_int_equal(r->size.pod.cpu_milli, r->nodes * 500);
		assert_int_equal(r->size.pod.memory_kib, r->nodes * 1048576);
		assert_int_equal(r->size.node.cpu_milli, 64000);
		*seconds += (r->end_utc_s - r->start_utc_s) * r->nodes;
		*estimated += r->is_estimated;
	}
	const uint32_t count = runs.count;
	lt_batch_runs_free(&runs);
	return count;
}

static void
is_charged(uint32_t rows, int64_t seconds, uint32_t estimated)
{
	int64_t is_s;
	uint32_t are_estimated;

	assert_int_equal(charged(&is_s, &are_estimated), rows);
	assert_int_equal(is_s, seconds);
	assert_int_equal(are_estimated, estimated);
}

static void
test_owners(void **state)
{
	static const struct {
		const char *why, *kind, *version, *name, *hash, *owner;
	} cases[] = {
	    {"its Deployment", "ReplicaSet", "apps/v1", "web-5d4", "5d4", "deployment/web"},
	    {"with dashes", "ReplicaSet", "apps/v1", "my-web-5d4", "5d4", "deployment/my-web"},
	    {"a ReplicaSet of its own", "ReplicaSet", "apps/v1", "web", "", "replicaset/web"},
	    {"whose name ends otherwise", "ReplicaSet", "apps/v1", "web5d4", "5d4",
		"replicaset/web5d4"},
	    {"whose name is the hash", "ReplicaSet", "apps/v1", "-5d4", "5d4", "replicaset/-5d4"},
	    {"a StatefulSet", "StatefulSet", "apps/v1", "db", "5d4", "statefulset/db"},
	    {"an operator's", "RayCluster", "ray.io/v1", "ray", "", "raycluster/ray"},
	    {"a Job", "Job", "batch/v1", "train", "", NULL},
	    {"another Job", "Job", "batch.volcano.sh/v1alpha1", "train", "", "job/train"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char owner[LT_KUBE_OWNER_SIZE] = "";
		json_t *const pod = json_pack("{s:{s:{s:s},s:[{s:s,s:s,s:s,s:b}]}}", "metadata",
		    "labels", "pod-template-hash", cases[i].hash, "ownerReferences", "kind",
		    cases[i].kind, "apiVersion", cases[i].version, "name", cases[i].name,
		    "controller", 1);

		if (lt_kube_unheld_owner(owner, pod) != (cases[i].owner != NULL) ||
		    (cases[i].owner != NULL && strcmp(owner, cases[i].owner) != 0))
			fail_msg("%s: \"%s\"", cases[i].why, owner);
		json_decref(pod);
	}
}

static void
test_hours(void **state)
{
	uint32_t id = 0;

	(void)state;
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p1", "04:10:00", NULL));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p2", "04:10:00", NULL));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p3", "04:20:00", NULL));
	watch(3659);
	is_charged(0, 0, 0); /* an end may still be told */
	watch(3670);
	is_charged(2, 2 * 3000 + 2400, 0);
	watch(3690);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p1", "04:10:00", NULL));
	is_charged(2, 2 * 3000 + 2400, 0);
	/* All three are alike from now on. */
	watch(7270);
	is_charged(3, 2 * 3000 + 2400 + 3 * 3600, 0);
	for (int twice = 0; twice < 2; twice++)
		tell(LT_KUBE_PODS, LT_KUBE_GONE, pod_text("p3", "04:20:00", "06:00:30"));
	is_charged(4, 2 * 3000 + 2400 + 3 * 3600 + 30, 0);
	/* Told too late to be less than what was charged. */
	tell(LT_KUBE_PODS, LT_KUBE_GONE, pod_text("p2", "04:10:00", "05:59:00"));
	is_charged(5, 2 * 3000 + 2400 + 3 * 3600 + 30, 0);
	assert_int_equal(lt_kube_store_find(state_dir, "a/web", &id, NULL), LT_OK);
	assert_int_equal(lt_kube_store_find(state_dir, "a/deployment/web", &id, NULL), LT_OK);
	assert_int_equal(lt_kube_store_find(state_dir, "b/web", &id, NULL), LT_ENOENT);
	assert_int_equal(lt_kube_store_find(state_dir, "a/eb", &id, NULL), LT_ENOENT);
}

/* p1 runs through it, p2 ends in it, p3 starts in it, p4 was over before. */
static void
test_away(void **state)
{
	const char *const pods[] = {pod_text("p1", "04:10:00", NULL),
	    pod_text("p3", "05:30:00", NULL), pod_text("p4", "03:00:00", "03:30:00"), NULL};

	(void)state;
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pods[0]);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p2", "04:10:00", NULL));
	watch(1800);
	lt_kube_cluster_free(&cluster);
	open_all(2 * 3600 + 600);
	list(LT_KUBE_PODS, pods);
	watch(2 * 3600 + 600);
	is_charged(3, 1200 + 6600 + 1800, 1);
}

/* What ran before anybody watched is not charged, nor what ran while its namespace took no part. */
static void
test_since(void **state)
{
	const char *const pods[] = {pod_text("p1", "00:00:00", NULL), NULL};

	(void)state;
	list(LT_KUBE_PODS, pods);
	watch(600);
	tell(LT_KUBE_NAMESPACES, LT_KUBE_SEEN, namespace_text(""));
	is_charged(1, 600, 0);
	list(LT_KUBE_PODS, pods);
	watch(3670);
	is_charged(1, 600, 0);
	assert_false(cluster.list_anew);
	tell(LT_KUBE_NAMESPACES, LT_KUBE_SEEN, namespace_text(managed));
	assert_true(cluster.list_anew);
	list(LT_KUBE_PODS, pods);
	watch(7270);
	is_charged(2, 600 + 7200 - 3670, 0);
	/* It is gone, and its pods with it. */
	watch(7300);
	tell(LT_KUBE_NAMESPACES, LT_KUBE_GONE, namespace_text(managed));
	is_charged(3, 600 + 7300 - 3670, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	    cmocka_unit_test(test_owners),
	    TEST(test_hours),
	    TEST(test_away),
	    TEST(test_since),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
