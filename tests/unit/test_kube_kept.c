/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of pools that have no node now: from the nodes that they had, over a restart, and
 * from the policy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "limits.h"

enum { DAY_S = 86400 };

static void
tell(struct lt_kube_cluster *c, enum lt_kube_event event, const char *text)
{
	const struct lt_kube_line line = {LT_KUBE_NODES, event, json_loads(text, 0, NULL), ""};

	assert_non_null(line.object);
	lt_kube_cluster_take(c, &line);
	json_decref(line.object);
}

/* A node of a pool, with these taints; it is ready, or not. */
static void
see(struct lt_kube_cluster *c, const char *name, const char *taints, const char *ready)
{
	char text[1024];

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"%s-1\",\"labels\":{"
	    "\"lowtide.dev/pool\":\"%s\"}},\"spec\":{\"taints\":[%s]},"
	    "\"status\":{\"allocatable\":{\"cpu\":\"7910m\",\"memory\":\"16Gi\","
	    "\"pods\":\"8\"},\"conditions\":[{\"type\":\"Ready\","
	    "\"status\":\"%s\"}]}}",
	    name, name, taints, ready);
	tell(c, LT_KUBE_SEEN, text);
}

static void
lose(struct lt_kube_cluster *c, const char *name)
{
	char text[128];

	snprintf(text, sizeof(text), "{\"metadata\":{\"name\":\"%s-1\"}}", name);
	tell(c, LT_KUBE_GONE, text);
}

static void
name(struct lt_kube_cluster *c, const struct lt_batch_named *named, uint32_t count)
{
	const char *names[8];

	for (uint32_t i = 0; i < count; i++)
		names[i] = named[i].name;
	lt_kube_cluster_name(c, names, count);
	lt_kube_kept_name(c, named, count);
}

#define TAINT(key) "{\"key\":\"" key "\",\"value\":\"x\",\"effect\":\"NoSchedule\"}"

static void
test_taints_of_the_next(void **state)
{
	static const struct {
		const char *why, *taints, *kept;
	} cases[] = {
	    {"none", "", ""},
	    {"its pool's", TAINT("dedicated"), "[" TAINT("dedicated") "]"},
	    {"what goes with it alone",
		TAINT("ToBeDeletedByClusterAutoscaler") "," TAINT("dedicated") "," TAINT(
		    "node.kubernetes.io/unschedulable"),
		"[" TAINT("dedicated") "]"},
	    {"and what comes with it",
		TAINT("karpenter.sh/unregistered") "," TAINT(
		    "node.cloudprovider.kubernetes.io/uninitialized"),
		""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_kube_cluster c = {.now_utc_s = 1};

		see(&c, "a", cases[i].taints, "True");
		lose(&c, "a");
		assert_false(lt_kube_cluster_has(&c, "a"));
		const struct lt_kube_node *const kept = lt_kube_kept_of(&c, "a");
		assert_non_null(kept);
		if (strcmp(kept->taints, cases[i].kept) != 0)
			fail_msg("%s: got %s", cases[i].why, kept->taints);
		assert_true(kept->is_up);
		lt_kube_cluster_free(&c);
	}
}

static void
test_brings(void **state)
{
	const struct lt_batch_named named[] = {
	    {"a", true, 0, 0, 0, 5, "", ""},
	    {"b", false, 0, 0, 0, 5, "", ""}, /* not said to scale */
	    {"c", true, 0, 0, 0, 5, "", ""},  /* never ready */
	    {"d", true, 0, 0, 0, 5, "", ""},  /* never there */
	    {"e", true, 4, 1024, 0, 2, "a/b=c", "k=v:NoSchedule,l:NoExecute"}, /* written */
	};
	struct lt_kube_cluster c = {.now_utc_s = 1};

	(void)state;
	see(&c, "a", "", "True");
	see(&c, "b", "", "True");
	see(&c, "c", "", "False");
	name(&c, named, 5);
	assert_int_equal(lt_kube_pool_brings(&c, "a", 1), 4);
	assert_int_equal(lt_kube_pool_brings(&c, "a", 5), 0);
	assert_int_equal(lt_kube_pool_brings(&c, "a", 6), 0);
	assert_int_equal(lt_kube_pool_brings(&c, "b", 0), 0);
	assert_int_equal(lt_kube_pool_brings(&c, "c", 0), 0);
	assert_int_equal(lt_kube_pool_brings(&c, "d", 0), 0);
	assert_int_equal(lt_kube_pool_brings(&c, "e", 0), 2);
	assert_int_equal(lt_kube_pool_brings(&c, "f", 0), 0);
	lose(&c, "a");
	lose(&c, "b");
	assert_false(lt_kube_pool_is_gone(&c, "a"));
	assert_true(lt_kube_pool_is_gone(&c, "b"));
	const struct lt_kube_node *const written = lt_kube_kept_of(&c, "e");
	assert_non_null(written);
	assert_string_equal(written->pool_key, "lowtide.dev/pool");
	assert_string_equal(written->taints,
	    "[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"},"
	    "{\"key\":\"l\",\"value\":\"\",\"effect\":\"NoExecute\"}]");
	assert_int_equal(written->room.of[LT_KUBE_CPU], 4000);
	assert_int_equal(written->room.of[LT_KUBE_MEMORY], 1024LL << 20);
	/* One that was there counts, and not what is written. */
	see(&c, "e", "", "True");
	name(&c, named, 5);
	assert_int_equal(lt_kube_kept_of(&c, "e")->room.of[LT_KUBE_CPU], 7910);
	/* Named no more. */
	name(&c, named + 1, 1);
	assert_int_equal(lt_kube_pool_brings(&c, "a", 0), 0);
	lt_kube_cluster_free(&c);
}

/* Only what says of which pool it is, and of what part, is one. */
static void
test_written_names(void **state)
{
	static const struct {
		const char *why, *pool, *labels;
		bool has_a, has_other;
		uint32_t brings;
	} cases[] = {
	    {"no label of pools is known", "w", "", false, false, 0},
	    {"it says its own", "w", "karpenter.sh/nodepool=w", false, false, 3},
	    {"it says another's", "w", "karpenter.sh/nodepool=x", false, false, 0},
	    {"by that of all others", "w", "", true, false, 3},
	    {"which differ", "w", "", true, true, 0},
	    {"a part", "w/m5/spot",
		"node.kubernetes.io/instance-type=m5,"
		"karpenter.sh/capacity-type=spot",
		true, false, 3},
	    {"another part", "w/m5/spot", "node.kubernetes.io/instance-type=m5", true, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct lt_batch_named named = {
		    cases[i].pool, true, 4, 1024, 0, 3, cases[i].labels, ""};
		struct lt_kube_cluster c = {.now_utc_s = 1};

		if (cases[i].has_a)
			see(&c, "a", "", "True");
		if (cases[i].has_other)
			tell(&c, LT_KUBE_SEEN,
			    "{\"metadata\":{\"name\":\"o\",\"labels\":{"
			    "\"eks.amazonaws.com/nodegroup\":\"o\"}}}");
		name(&c, &named, 1);
		if (lt_kube_pool_brings(&c, cases[i].pool, 0) != cases[i].brings)
			fail_msg("%s", cases[i].why);
		lt_kube_cluster_free(&c);
	}
}

static void
test_over_a_restart(void **state)
{
	char dir[] = "/tmp/lowtide-kept-XXXXXX", path[64];
	static const char *const files[] = {"kube.db", "kube.db-wal", "kube.db-shm"};
	struct lt_error err = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int run = 0; run < 3; run++) {
		struct lt_kube_cluster c = {.now_utc_s = 400LL * DAY_S * run};

		assert_int_equal(lt_kube_store_open(&c.store, dir, &err), LT_OK);
		assert_int_equal(lt_kube_kept_load(&c, dir, &err), LT_OK);
		assert_int_equal(c.kept_count, run == 0 ? 0 : run == 1 ? 2 : 1);
		if (run == 0) {
			see(&c, "a", TAINT("dedicated"), "True");
			see(&c, "b", "", "True");
			see(&c, "b", "", "True");
			lose(&c, "a");
		}
		if (run == 1) {
			assert_string_equal(
			    lt_kube_kept_of(&c, "a")->taints, "[" TAINT("dedicated") "]");
			/* One that is seen again is kept for as long again. */
			see(&c, "b", "", "True");
			assert_int_equal(lt_kube_store_prune(c.store, DAY_S, &err), LT_OK);
		}
		lt_kube_cluster_free(&c);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_taints_of_the_next),
	    cmocka_unit_test(test_brings),
	    cmocka_unit_test(test_written_names),
	    cmocka_unit_test(test_over_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
