/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is made of what the watch tells: Jobs, and each pod as a row, once, whatever is told twice,
 * late or never.
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

enum { NOW_UTC_S = 1795665600 }; /* 2026-11-26T04:00:00Z */

static struct lt_kube_cluster cluster;
static char state_dir[64];

static void
tell(enum lt_kube_kind kind, enum lt_kube_event event, const char *text)
{
	struct lt_kube_line line = {kind, event, NULL, ""};

	if (text != NULL) {
		json_error_t why;

		line.object = json_loads(text, 0, &why);
		if (line.object == NULL)
			fail_msg("%s: %s", why.text, text);
	}
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
job_text(const char *uid, int version, const char *spec, const char *status)
{
	static char text[2048];

	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"train\",\"namespace\":\"a\","
	    "\"uid\":\"%s\",\"resourceVersion\":\"%d\","
	    "\"creationTimestamp\":\"2026-11-26T03:59:00Z\"},"
	    "\"spec\":{\"activeDeadlineSeconds\":600,%s\"template\":{\"spec\":"
	    "{\"terminationGracePeriodSeconds\":0,\"containers\":[{}]}}},"
	    "\"status\":{%s}}",
	    uid, version, spec, status);
	return text;
}

static const char *
pod_text(const char *uid, const char *owner, const char *end)
{
	static char text[2][2048];
	static int which;
	char state[256] = "\"running\":{}";

	which = !which;
	if (end != NULL)
		snprintf(state, sizeof(state),
		    "\"terminated\":{\"exitCode\":0,\"finishedAt\":\"%s\"}", end);
	snprintf(text[which], sizeof(text[which]),
	    "{\"metadata\":{\"name\":\"train-%s\",\"namespace\":\"a\","
	    "\"uid\":\"%s\",\"creationTimestamp\":\"2026-11-26T03:59:30Z\","
	    "\"ownerReferences\":[{\"kind\":\"Job\",\"uid\":\"%s\","
	    "\"controller\":true}]},\"spec\":{\"nodeName\":\"spot-1\","
	    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"4\"},"
	    "\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]},\"status\":{"
	    "\"phase\":\"%s\",\"startTime\":\"2026-11-26T04:00:00Z\","
	    "\"containerStatuses\":[{\"state\":{%s}}]}}",
	    uid, uid, owner, end != NULL ? "Succeeded" : "Running", state);
	return text[which];
}

static int
begin(void **state)
{
	static const char *const namespaces[] = {"{\"metadata\":{\"name\":\"a\",\"labels\":"
						 "{\"lowtide.dev/managed\":\"true\"}}}",
	    "{\"metadata\":{\"name\":\"b\"}}", NULL};
	static const char *const nodes[] = {
	    "{\"metadata\":{\"name\":\"spot-1\",\"labels\":"
	    "{\"lowtide.dev/pool\":\"spot\"}},\"status\":{\"allocatable\":"
	    "{\"cpu\":\"64\",\"memory\":\"512Gi\"}}}",
	    NULL};

	(void)state;
	snprintf(state_dir, sizeof(state_dir), "/tmp/lt-kube-XXXXXX");
	assert_non_null(mkdtemp(state_dir));
	cluster = (struct lt_kube_cluster){.now_utc_s = NOW_UTC_S};
	assert_int_equal(lt_kube_store_open(&cluster.store, state_dir, NULL), LT_OK);
	list(LT_KUBE_NAMESPACES, namespaces);
	list(LT_KUBE_NODES, nodes);
	list(LT_KUBE_JOBS, NULL);
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

static void
rows(struct lt_batch_runs *runs, int64_t now_utc_s)
{
	const struct lt_kube_rows_asked asked = {.from_utc_s = NOW_UTC_S - LT_DAY_S,
	    .to_utc_s = NOW_UTC_S + LT_DAY_S,
	    .now_utc_s = now_utc_s,
	    .uid = 7};

	assert_int_equal(lt_kube_store_rows(runs, state_dir, &asked, NULL), LT_OK);
}

static uint32_t
id_of(const char *uid)
{
	uint32_t id = 0;

	assert_int_equal(lt_kube_store_id(cluster.store, uid, false, &id, NULL), LT_OK);
	return id;
}

static const struct lt_batch_run *
row_of(const struct lt_batch_runs *runs, const char *uid)
{
	const uint32_t id = id_of(uid);

	for (uint32_t i = 0; i < runs->count; i++)
		if (runs->runs[i].job_id == id)
			return &runs->runs[i];
	fail_msg("no row of %s", uid);
	return NULL;
}

static void
test_a_pod_is_a_row(void **state)
{
	struct lt_batch_runs runs;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("j1", 1, "", ""));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p1", "j1", NULL));
	rows(&runs, NOW_UTC_S + 5);
	assert_int_equal(runs.count, 1);
	assert_false(runs.runs[0].finished);
	assert_int_equal(runs.runs[0].end_utc_s, 0);
	lt_batch_runs_free(&runs);
	/* Told twice, and late once more that it runs. */
	for (int i = 0; i < 2; i++)
		tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p1", "j1", "2026-11-26T04:01:40Z"));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("p1", "j1", NULL));
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN,
	    job_text("j1", 2, "",
		"\"conditions\":[{\"type\":\"Complete\","
		"\"status\":\"True\"}]"));
	rows(&runs, NOW_UTC_S + 101);
	assert_int_equal(runs.count, 1);
	const struct lt_batch_run *const r = row_of(&runs, "p1");
	assert_true(r->finished && !r->goes_on && !r->is_estimated);
	assert_int_equal(r->array_job_id, id_of("j1"));
	assert_int_equal(r->end_utc_s - r->start_utc_s, 100);
	assert_int_equal(r->cpus, 4);
	assert_int_equal(r->gpus, 2);
	assert_int_equal(r->uid, 7);
	assert_string_equal(r->partition, "spot");
	assert_string_equal(r->account, "a");
	assert_string_equal(r->state_text, "COMPLETED");
	lt_batch_runs_free(&runs);
}

/* Only the last one ends the hold, and none is charged before it is known whether it is the
 * last. */
static void
test_which_pod_is_the_last(void **state)
{
	struct lt_batch_runs runs;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("j2", 1, "\"parallelism\":2,", ""));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("q1", "j2", NULL));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("q2", "j2", NULL));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("q1", "j2", "2026-11-26T04:00:10Z"));
	rows(&runs, NOW_UTC_S + 11);
	assert_true(row_of(&runs, "q1")->finished);
	assert_true(row_of(&runs, "q1")->goes_on);
	lt_batch_runs_free(&runs);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("q2", "j2", "2026-11-26T04:00:20Z"));
	rows(&runs, NOW_UTC_S + 21);
	assert_false(row_of(&runs, "q2")->finished); /* another may come */
	lt_batch_runs_free(&runs);
	rows(&runs, NOW_UTC_S + 60);
	assert_true(row_of(&runs, "q2")->finished); /* none came */
	assert_true(row_of(&runs, "q2")->goes_on);
	lt_batch_runs_free(&runs);
	tell(LT_KUBE_JOBS, LT_KUBE_GONE, job_text("j2", 3, "", ""));
	rows(&runs, NOW_UTC_S + 21);
	assert_true(row_of(&runs, "q2")->finished);
	assert_false(row_of(&runs, "q2")->goes_on);
	assert_true(row_of(&runs, "q1")->goes_on);
	lt_batch_runs_free(&runs);
}

/* It is charged to the first list after the gap, at most as long as its Job may run. */
static void
test_gone_while_nobody_watched(void **state)
{
	static const struct {
		int64_t after_s, charged_s;
	} cases[] = {{120, 120}, {7200, 600}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_batch_runs runs;
		char job[16], pod[16];

		snprintf(job, sizeof(job), "gap-j%zu", i);
		snprintf(pod, sizeof(pod), "gap-p%zu", i);
		cluster.now_utc_s = NOW_UTC_S;
		tell(LT_KUBE_JOBS, LT_KUBE_SEEN,
		    job_text(job, 1, "\"podReplacementPolicy\":\"Failed\",", ""));
		tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text(pod, job, NULL));
		cluster.now_utc_s = NOW_UTC_S + cases[i].after_s;
		list(LT_KUBE_JOBS, NULL);
		list(LT_KUBE_PODS, NULL);
		rows(&runs, cluster.now_utc_s);
		const struct lt_batch_run *const r = row_of(&runs, pod);
		assert_true(r->finished && r->is_estimated && !r->goes_on);
		assert_int_equal(r->end_utc_s - r->start_utc_s, cases[i].charged_s);
		lt_batch_runs_free(&runs);
		/* A word of it that comes after all is better than a guess. */
		tell(LT_KUBE_PODS, LT_KUBE_GONE, pod_text(pod, job, "2026-11-26T04:00:07Z"));
		rows(&runs, cluster.now_utc_s);
		assert_int_equal(row_of(&runs, pod)->end_utc_s, NOW_UTC_S + 7);
		assert_false(row_of(&runs, pod)->is_estimated);
		lt_batch_runs_free(&runs);
	}
}

static void
test_what_is_older_comes_late(void **state)
{
	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("late", 9, "\"suspend\":true,", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("late", 8, "", ""));
	assert_true(lt_kube_cluster_job(&cluster, id_of("late"))->facts.is_waiting);
}

static bool
has_ended(const char *uid)
{
	const struct lt_kube_known_job *const job = lt_kube_cluster_job(&cluster, id_of(uid));

	return job == NULL || job->forget_utc_s != 0;
}

/* A list is of one moment; what a PATCH was answered meanwhile is newer. */
static void
test_a_list_that_is_older_than_an_answer(void **state)
{
	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("told", 7, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("told", 9, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_BEGIN, NULL);
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("told", 7, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_END, NULL);
	assert_false(has_ended("told"));
	assert_int_equal(lt_kube_cluster_job(&cluster, id_of("told"))->facts.version, 9);
	list(LT_KUBE_JOBS, NULL);
	assert_true(has_ended("told"));
}

/* Whatever said that it ended: the Job shows, so it lives, in the store too. */
static void
test_an_end_is_revoked(void **state)
{
	(void)state;
	for (int forgotten = 0; forgotten < 2; forgotten++) {
		struct lt_batch_runs runs;

		tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("back", 1, "", ""));
		tell(
		    LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("back-p", "back", "2026-11-26T04:00:10Z"));
		list(LT_KUBE_JOBS, NULL);
		assert_true(has_ended("back"));
		rows(&runs, NOW_UTC_S + 60);
		assert_false(row_of(&runs, "back-p")->goes_on);
		lt_batch_runs_free(&runs);
		if (forgotten)
			lt_kube_cluster_forget(&cluster, NOW_UTC_S + 3600);
		tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("back", 2, "", ""));
		assert_false(has_ended("back"));
		rows(&runs, NOW_UTC_S + 60);
		assert_true(row_of(&runs, "back-p")->goes_on);
		lt_batch_runs_free(&runs);
	}
}

/* Over a restart, when its pods are gone. */
static void
test_that_it_ran_is_kept(void **state)
{
	(void)state;
	for (int restarts = 0; restarts < 2; restarts++) {
		tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("ran", 1, "\"suspend\":true,", ""));
		assert_int_equal(lt_kube_cluster_job(&cluster, id_of("ran"))->first_utc_s,
		    restarts > 0 ? NOW_UTC_S : 0);
		tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("ran-p", "ran", "2026-11-26T04:00:10Z"));
		lt_kube_cluster_reset(&cluster);
	}
}

static void
test_others_are_left_alone(void **state)
{
	struct lt_batch_runs runs;
	uint32_t id;
	char text[2048];

	(void)state;
	/* A pod in a namespace that did not opt in, and one of a Deployment. */
	snprintf(text, sizeof(text), "%s", pod_text("other", "j1", NULL));
	memcpy(strstr(text, "\"namespace\":\"a\""), "\"namespace\":\"b\"", 15);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, text);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("web", "replicaset", NULL));
	rows(&runs, NOW_UTC_S + 5);
	assert_int_equal(runs.count, 0);
	lt_batch_runs_free(&runs);
	assert_int_equal(lt_kube_store_id(cluster.store, "other", false, &id, NULL), LT_ENOENT);
	assert_int_equal(lt_kube_store_id(cluster.store, "web", false, &id, NULL), LT_ENOENT);
}

/* A pod that is a row is followed to its end, wherever the label went. */
static void
test_the_label_is_taken_off(void **state)
{
	static const char *const namespaces[] = {"{\"metadata\":{\"name\":\"a\"}}", NULL};
	struct lt_batch_runs runs;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("off", 1, "", ""));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("off-p", "off", NULL));
	list(LT_KUBE_NAMESPACES, namespaces);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("off-p", "off", "2026-11-26T04:00:09Z"));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("off-q", "off", NULL));
	rows(&runs, NOW_UTC_S + 60);
	assert_int_equal(runs.count, 1);
	assert_int_equal(row_of(&runs, "off-p")->end_utc_s, NOW_UTC_S + 9);
	lt_batch_runs_free(&runs);
}

/* Three pods in 100 s; one was seen, for 10 s, and nobody watched from 20 on. */
static void
test_what_nobody_saw(void **state)
{
	struct lt_batch_runs runs;
	int64_t ran_s = 0;

	(void)state;
	(void)lt_kube_store_heard(cluster.store, NOW_UTC_S + 20, NULL);
	cluster.now_utc_s = NOW_UTC_S + 500;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN,
	    job_text("early", 1, "",
		"\"startTime\":\"2026-11-26T04:00:00Z\",\"succeeded\":3,"
		"\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\","
		"\"lastTransitionTime\":\"2026-11-26T04:01:40Z\"}]"));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("early-p", "early", "2026-11-26T04:00:10Z"));
	for (int times = 0; times < 2; times++) {
		tell(LT_KUBE_PODS, LT_KUBE_END, NULL);
		(void)lt_kube_cluster_catch_up(&cluster, NULL);
	}
	rows(&runs, NOW_UTC_S + 600);
	assert_int_equal(runs.count, 3);
	for (uint32_t i = 0; i < runs.count; i++)
		ran_s += runs.runs[i].end_utc_s - runs.runs[i].start_utc_s;
	assert_int_equal(ran_s, 10 + 80);
	lt_batch_runs_free(&runs);
}

/* By an autoscaler, while nobody watched: it is where its Job was put. */
static void
test_the_node_is_gone(void **state)
{
	struct lt_batch_runs runs;
	char text[2048];

	(void)state;
	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\",\"uid\":\"put\","
	    "\"annotations\":{\"lowtide.dev/pool\":\"ondemand\"}},\"spec\":{"
	    "\"template\":{\"spec\":{\"containers\":[{}]}}}}");
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, text);
	snprintf(text, sizeof(text), "%s", pod_text("gone-p", "put", "2026-11-26T04:00:09Z"));
	memcpy(strstr(text, "spot-1"), "node-9", 6);
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, text);
	rows(&runs, NOW_UTC_S + 60);
	assert_string_equal(row_of(&runs, "gone-p")->partition, "ondemand");
	lt_batch_runs_free(&runs);
}

static void
test_a_store_that_knows_nothing(void **state)
{
	bool is_empty = false;

	(void)state;
	assert_int_equal(lt_kube_store_is_empty(cluster.store, &is_empty, NULL), LT_OK);
	assert_true(is_empty);
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("any", 1, "", ""));
	assert_int_equal(lt_kube_store_is_empty(cluster.store, &is_empty, NULL), LT_OK);
	assert_false(is_empty);
}

static void
test_erase(void **state)
{
	struct lt_batch_runs runs;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("who", 1, "", ""));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("who-p", "who", "2026-11-26T04:00:10Z"));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("who-q", "who", "2026-11-26T04:00:20Z"));
	assert_int_equal(lt_kube_store_erase(cluster.store, NOW_UTC_S + 15, NULL), LT_OK);
	rows(&runs, NOW_UTC_S + 60);
	assert_string_equal(row_of(&runs, "who-p")->name, "");
	assert_string_equal(row_of(&runs, "who-q")->name, "train");
	lt_batch_runs_free(&runs);
}

/* What no admission policy suspended, doctor tells of. */
static void
test_jobs_that_came_unsuspended(void **state)
{
	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("before", 1, "", ""));
	list(LT_KUBE_JOBS, NULL);
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("observed", 1, "", ""));
	assert_int_equal(cluster.unsuspended, 0);
	cluster.holds_back = true;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("waits", 1, "\"suspend\":true,", ""));
	assert_int_equal(cluster.unsuspended, 0);
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("waits", 2, "", ""));
	assert_int_equal(cluster.unsuspended, 0); /* it was let go */
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("slipped", 1, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("slipped", 2, "", ""));
	assert_int_equal(cluster.unsuspended, 1);
}

/* Whoever says to own a pod: the gate makes it a job by itself. */
static void
test_a_gated_pod_is_nobody_elses(void **state)
{
	char text[2048];

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("victim", 1, "", ""));
	snprintf(text, sizeof(text),
	    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\","
	    "\"uid\":\"forged\",\"ownerReferences\":[{\"kind\":\"Job\","
	    "\"uid\":\"victim\",\"controller\":true}]},\"spec\":{"
	    "\"containers\":[{}],\"schedulingGates\":[{\"name\":"
	    "\"lowtide.dev/hold\"}]},\"status\":{\"phase\":\"Pending\"}}");
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, text);
	const struct lt_kube_known_job *const job = lt_kube_cluster_job(&cluster, id_of("forged"));
	assert_non_null(job);
	assert_true(job->facts.is_pod && job->facts.is_waiting);
}

static void
test_the_newest_of_a_name(void **state)
{
	uint32_t id = 0;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("first", 1, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_GONE, job_text("first", 2, "", ""));
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("second", 3, "", ""));
	assert_int_equal(lt_kube_store_find(state_dir, "a/train", &id, NULL), LT_OK);
	assert_int_equal(id, id_of("second"));
	assert_int_equal(lt_kube_store_find(state_dir, "a/none", &id, NULL), LT_ENOENT);
}

static void
test_prune(void **state)
{
	struct lt_batch_runs runs;
	uint32_t id;

	(void)state;
	tell(LT_KUBE_JOBS, LT_KUBE_SEEN, job_text("old", 1, "", ""));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("old-p", "old", "2026-11-26T04:00:10Z"));
	tell(LT_KUBE_PODS, LT_KUBE_SEEN, pod_text("runs", "old", NULL));
	assert_int_equal(
	    lt_kube_store_prune(cluster.store, NOW_UTC_S + 400 * (int64_t)LT_DAY_S, NULL), LT_OK);
	rows(&runs, NOW_UTC_S + 20);
	assert_int_equal(runs.count, 1); /* what runs is not forgotten */
	assert_int_equal(runs.runs[0].job_id, id_of("runs"));
	lt_batch_runs_free(&runs);
	assert_int_equal(lt_kube_store_id(cluster.store, "old-p", false, &id, NULL), LT_ENOENT);
	assert_true(id_of("old") > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	    TEST(test_a_pod_is_a_row),
	    TEST(test_which_pod_is_the_last),
	    TEST(test_gone_while_nobody_watched),
	    TEST(test_what_is_older_comes_late),
	    TEST(test_a_list_that_is_older_than_an_answer),
	    TEST(test_an_end_is_revoked),
	    TEST(test_that_it_ran_is_kept),
	    TEST(test_others_are_left_alone),
	    TEST(test_a_gated_pod_is_nobody_elses),
	    TEST(test_the_newest_of_a_name),
	    TEST(test_prune),
	    TEST(test_erase),
	    TEST(test_jobs_that_came_unsuspended),
	    TEST(test_what_nobody_saw),
	    TEST(test_the_label_is_taken_off),
	    TEST(test_the_node_is_gone),
	    TEST(test_a_store_that_knows_nothing),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
