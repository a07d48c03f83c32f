/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that are resized while they run: what of an object is their size, and the rows of their
 * times, each second once by the size of then.
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
#include <sqlite3.h>

#include "object.h"
#include "store.h"

/* ---- what a pod has ---- */

#define WANTS(cpu, memory)                                                                         \
	"\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{"                             \
	"\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory "\"}}}]}"
#define ALLOCATED(cpu, memory)                                                                     \
	"\"allocatedResources\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory "\"}"
#define ACTUAL(cpu, memory)                                                                        \
	"\"resources\":{\"requests\":{\"cpu\":\"" cpu "\",\"memory\":\"" memory "\"}}"
#define STATUS(conditions, of_container)                                                           \
	"\"status\":{\"conditions\":[" conditions                                                  \
	"],\"containerStatuses\":[{\"name\":\"main\"," of_container "}]}"
#define PENDING(reason)                                                                            \
	"{\"type\":\"PodResizePending\",\"status\":\"True\",\"reason\":\"" reason "\"}"
#define RESIZING                                                                                   \
	"{\"type\":\"PodResizeInProgress\",\"status\":\"True\","                                   \
	"\"lastTransitionTime\":\"2026-11-26T04:00:10Z\"}"

static const struct {
	const char *why, *pod;
	uint64_t cpu_milli, memory_mib;
	bool is_told, is_pending;
} sizes[] = {
    {"an old kubelet says nothing", WANTS("2", "4Gi") "," STATUS("", "\"ready\":true"), 2000, 4096,
	false, false},
    {"one without a status", WANTS("2", "4Gi"), 2000, 4096, false, false},
    {"as it is wanted", WANTS("2", "4Gi") "," STATUS("", ALLOCATED("2", "4Gi")), 2000, 4096, true,
	false},
    {"its node has not looked at it yet",
	WANTS("8", "4Gi") "," STATUS("", ALLOCATED("2", "4Gi") "," ACTUAL("2", "4Gi")), 2000, 4096,
	true, false},
    {"it can never be",
	WANTS("999", "4Gi") "," STATUS(PENDING("Infeasible"), ALLOCATED("2", "4Gi")), 2000, 4096,
	true, true},
    {"it waits for room", WANTS("9", "1Gi") "," STATUS(PENDING("Deferred"), ALLOCATED("2", "4Gi")),
	2000, 4096, true, true},
    {"its node is at work: what it will have more, it has",
	WANTS("8", "8Gi") "," STATUS(RESIZING, ALLOCATED("8", "8Gi") "," ACTUAL("2", "4Gi")), 8000,
	8192, true, false},
    {"what it will have less, not yet",
	WANTS("1", "1Gi") "," STATUS(RESIZING, ALLOCATED("1", "1Gi") "," ACTUAL("2", "4Gi")), 2000,
	4096, true, false},
    {"both at once",
	WANTS("8", "1Gi") "," STATUS(RESIZING, ALLOCATED("8", "1Gi") "," ACTUAL("2", "4Gi")), 8000,
	4096, true, false},
    {"that is over: what the runtime rounds is not looked at",
	WANTS("700m", "1Gi") "," STATUS("", ALLOCATED("700m", "1Gi") "," ACTUAL("699m", "1Gi")),
	700, 1024, true, false},
    {"what it is to request for the first time, it has not",
	WANTS("2", "4Gi") "," STATUS("", "\"allocatedResources\":{\"cpu\":\"2\"}"), 2000, 200, true,
	false},
    {"what is no quantity is not less",
	WANTS("2", "4Gi") "," STATUS(RESIZING, ALLOCATED("2", "4Gi") "," ACTUAL("two", "4Gi")),
	2000, 4096, true, false},
    {"all of the pod together",
	"\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"9\"}},"
	"\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{"
	"\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]},\"status\":{"
	"\"allocatedResources\":{\"cpu\":\"4\"},\"containerStatuses\":[{"
	"\"name\":\"main\"," ALLOCATED("1", "1Gi") "}]}",
	4000, 1024, true, false},
    {"a container of which nothing is said has what it wants",
	"\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":{"
	"\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}},{\"name\":"
	"\"other\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
	"\"status\":{\"containerStatuses\":[{\"name\":\"other\"},{\"name\":"
	"\"main\"," ALLOCATED("3", "1Gi") "}]}",
	4000, 1024, true, false},
};

static void
its_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char text[2048];
		struct lt_kube_sized sized;
		struct lt_kube_need need;
		struct lt_error err = {0};

		print_message("%s\n", sizes[i].why);
		snprintf(text, sizeof(text), "{%s}", sizes[i].pod);
		json_t *const pod = json_loads(text, 0, NULL);
		assert_non_null(pod);
		json_t *const before = json_deep_copy(pod);
		json_t *const spec = lt_kube_sized_spec(&sized, pod);
		assert_int_equal(json_equal(pod, before), 1);
		assert_int_equal(lt_kube_need_read(&need, spec, &err), LT_OK);
		assert_int_equal(need.exact.cpu_milli, sizes[i].cpu_milli);
		assert_int_equal(need.exact.memory_kib, sizes[i].memory_mib * 1024);
		assert_int_equal(sized.is_told, sizes[i].is_told);
		assert_int_equal(sized.is_pending, sizes[i].is_pending);
		assert_int_equal(
		    sized.resizing_utc_s, strstr(text, "InProgress") != NULL ? 1795665610 : 0);
		json_decref(spec);
		json_decref(before);
		json_decref(pod);
	}
}

/* ---- its times ---- */

enum { POD = 1, OWN = 2 };

struct step { /* what is told of the pod, and when */
	int64_t seen_utc_s, resizing_utc_s, end_utc_s;
	uint64_t cpu_milli, memory_kib;
	bool is_silent, is_pending, is_listed; /* silent: not told */
	int64_t heard_utc_s;		       /* it was watched before; 0 */
};
enum { STEPS = 6, ROWS = 6 };
#define TOLD(seen, resizing, end, cpu, memory)                                                     \
	.seen_utc_s = seen, .resizing_utc_s = resizing, .end_utc_s = end, .cpu_milli = cpu,        \
	.memory_kib = memory

static const struct {
	const char *why;
	struct step steps[STEPS];
	struct {
		int64_t start_utc_s, end_utc_s;
		uint64_t cpu_milli, memory_kib;
	} rows[ROWS];
} stories[] = {
    {"up, from when its node says, and down, from when that is told",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(205, 200, 0, 2000, 64)}, {TOLD(305, 0, 0, 500, 64)},
	    {TOLD(400, 0, 400, 500, 64)}},
	{{100, 200, 1000, 64}, {200, 305, 2000, 64}, {305, 400, 500, 64}}},
    {"told twice: once",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(205, 200, 0, 2000, 64)}, {TOLD(206, 200, 0, 2000, 64)},
	    {TOLD(400, 0, 400, 2000, 64)}, {TOLD(410, 0, 400, 2000, 64)}},
	{{100, 200, 1000, 64}, {200, 400, 2000, 64}}},
    {"once more while its node is at work on the first",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(205, 200, 0, 2000, 64)}, {TOLD(210, 200, 0, 3000, 64)},
	    {TOLD(400, 0, 400, 3000, 64)}},
	{{100, 200, 1000, 64}, {200, 210, 2000, 64}, {210, 400, 3000, 64}}},
    {"twice within a second",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(200, 0, 0, 2000, 64)}, {TOLD(200, 0, 0, 3000, 64)},
	    {TOLD(400, 0, 400, 3000, 64)}},
	{{100, 200, 1000, 64}, {200, 400, 3000, 64}}},
    {"in its first second",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(100, 100, 0, 2000, 64)}, {TOLD(400, 0, 400, 2000, 64)}},
	{{100, 400, 2000, 64}}},
    {"before its start, by a clock that is wrong",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(200, 50, 0, 2000, 64)}, {TOLD(400, 0, 400, 2000, 64)}},
	{{100, 400, 2000, 64}}},
    {"in hours to come, likewise",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(200, 900, 0, 2000, 64)}, {TOLD(400, 0, 400, 2000, 64)}},
	{{100, 200, 1000, 64}, {200, 400, 2000, 64}}},
    {"more of one and less of the other while nobody watched",
	{{TOLD(100, 0, 0, 1000, 64)},
	    {TOLD(500, 480, 0, 2000, 32), .is_listed = true, .heard_utc_s = 300},
	    {TOLD(600, 0, 600, 2000, 32)}},
	{{100, 300, 1000, 64}, {300, 500, 2000, 64}, {500, 600, 2000, 32}}},
    {"not before it was seen last",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(310, 0, 0, 1000, 64)},
	    {TOLD(500, 0, 0, 2000, 64), .is_listed = true, .heard_utc_s = 300},
	    {TOLD(600, 0, 600, 2000, 64)}},
	{{100, 310, 1000, 64}, {310, 600, 2000, 64}}},
    {"a stream that goes on after a while is no list",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(500, 0, 0, 2000, 64), .heard_utc_s = 300},
	    {TOLD(600, 0, 600, 2000, 64)}},
	{{100, 300, 1000, 64}, {300, 600, 2000, 64}}},
    {"it ended while nobody watched, and had more",
	{{TOLD(100, 0, 0, 1000, 64)},
	    {TOLD(500, 0, 400, 2000, 64), .is_listed = true, .heard_utc_s = 300}},
	{{100, 300, 1000, 64}, {300, 400, 2000, 64}}},
    {"at its end it gets nothing more, nor less",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(400, 0, 400, 2000, 32)}}, {{100, 400, 1000, 64}}},
    {"told after its end",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(400, 0, 0, 2000, 64)}, {TOLD(401, 0, 399, 2000, 64)}},
	{{100, 400, 1000, 64}, {400, 400, 2000, 64}}},
    {"pending, and nothing said of what it has",
	{{TOLD(100, 0, 0, 1000, 64)},
	    {TOLD(200, 0, 0, 9000, 64), .is_silent = true, .is_pending = true},
	    {TOLD(300, 0, 0, 100, 64), .is_silent = true, .is_pending = true},
	    {TOLD(400, 0, 400, 100, 64), .is_silent = true, .is_pending = true}},
	{{100, 400, 1000, 64}}},
    {"nothing said: the larger counts",
	{{TOLD(100, 0, 0, 1000, 64)}, {TOLD(200, 0, 0, 500, 128), .is_silent = true},
	    {TOLD(300, 0, 0, 500, 128)}, {TOLD(400, 0, 400, 500, 128)}},
	{{100, 200, 1000, 64}, {200, 300, 1000, 128}, {300, 400, 500, 128}}},
};

struct lab {
	char dir[64];
	struct lt_kube_store *store;
};

static void
lab_open(struct lab *lab)
{
	uint32_t id;
	struct lt_error err = {0};

	snprintf(lab->dir, sizeof(lab->dir), "/tmp/lowtide-resize-XXXXXX");
	assert_non_null(mkdtemp(lab->dir));
	assert_int_equal(lt_kube_store_open(&lab->store, lab->dir, &err), LT_OK);
	assert_int_equal(lt_kube_store_id(lab->store, "p", true, &id, &err), LT_OK);
	assert_int_equal(id, POD);
	assert_int_equal(lt_kube_store_id(lab->store, "j", true, &id, &err), LT_OK);
	assert_int_equal(id, OWN);
}

static void
lab_close(struct lab *lab)
{
	static const char *const files[] = {"kube.db", "kube.db-wal", "kube.db-shm"};
	char path[128];

	lt_kube_store_close(lab->store);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", lab->dir, files[i]);
		unlink(path);
	}
	rmdir(lab->dir);
}

static void
put(struct lab *lab, const struct step *step, bool is_unheld)
{
	struct lt_kube_pod pod = {.node = "n",
	    .created_utc_s = is_unheld ? 100 : 90,
	    .start_utc_s = 100,
	    .end_utc_s = step->end_utc_s,
	    .need = {.cpus = 1, .memory_mib = 1, .exact = {step->cpu_milli, step->memory_kib, 0}},
	    .sized = {.is_told = !step->is_silent,
		.is_pending = step->is_pending,
		.resizing_utc_s = step->resizing_utc_s}};
	const struct lt_kube_run run = {.pod = &pod,
	    .id = POD,
	    .job_id = OWN,
	    .pool = "p",
	    .team = "t",
	    .user = "u",
	    .name = "one",
	    .qos = "",
	    .quote = is_unheld ? "" : "lowtide:1 q",
	    .limit_s = 1000,
	    .seen_utc_s = step->seen_utc_s,
	    .is_unheld = is_unheld,
	    .is_listed = step->is_listed};
	struct lt_error err = {0};

	snprintf(
	    pod.state, sizeof(pod.state), "%s", step->end_utc_s != 0 ? "COMPLETED" : "RUNNING");
	if (step->heard_utc_s != 0)
		assert_int_equal(lt_kube_store_heard(lab->store, step->heard_utc_s, &err), LT_OK);
	assert_int_equal(lt_kube_store_put(lab->store, &run, &err), LT_OK);
}

static int
by_start(const void *a, const void *b)
{
	const struct lt_batch_run *const x = a, *const y = b;

	return x->start_utc_s < y->start_utc_s ? -1 : 1;
}

static struct lt_batch_runs
rows_of(const struct lab *lab, uint32_t id, int64_t now_utc_s)
{
	struct lt_batch_runs runs;
	const struct lt_kube_rows_asked asked = {
	    .job_ids = &id, .count = 1, .now_utc_s = now_utc_s};

	assert_int_equal(lt_kube_store_rows(&runs, lab->dir, &asked, NULL), LT_OK);
	qsort(runs.runs, runs.count, sizeof(*runs.runs), by_start);
	return runs;
}

/* A Job's pod is one run in rows, as Slurm has it; another's is in rows of its owner. */
static void
check_row(const struct lt_batch_run *row, uint32_t i, bool is_last, bool is_unheld)
{
	assert_int_equal(row->array_job_id, OWN);
	assert_true(row->finished);
	assert_int_equal(row->submit_utc_s, i == 0 && !is_unheld ? 90 : row->start_utc_s);
	assert_int_equal(row->nodes, 1);
	assert_int_equal(row->is_part, is_unheld);
	if (is_unheld) {
		assert_true(row->goes_on);
		assert_string_equal(row->state_text, is_last ? "COMPLETED" : "RUNNING");
		assert_int_equal(row->job_id == POD, is_last);
		return;
	}
	assert_int_equal(row->job_id, POD);
	assert_int_equal(row->goes_on, !is_last);
	assert_string_equal(row->state_text, is_last ? "COMPLETED" : "RESIZING");
	assert_string_equal(row->admin_comment, "lowtide:1 q");
	assert_int_equal(row->limit_s, 1000);
}

static void
tell_story(size_t which, bool is_unheld)
{
	struct lab lab;
	uint32_t wanted = 0;

	lab_open(&lab);
	for (int i = 0; i < STEPS && stories[which].steps[i].seen_utc_s != 0; i++)
		put(&lab, &stories[which].steps[i], is_unheld);
	lt_kube_store_set_ended(lab.store, OWN, true, NULL);
	struct lt_batch_runs runs = rows_of(&lab, OWN, 1000);
	while (wanted < ROWS && stories[which].rows[wanted].end_utc_s != 0)
		wanted++;
	assert_int_equal(runs.count, wanted);
	for (uint32_t i = 0; i < wanted; i++) {
		const struct lt_batch_run *const row = &runs.runs[i];

		assert_int_equal(row->start_utc_s, stories[which].rows[i].start_utc_s);
		assert_int_equal(row->end_utc_s, stories[which].rows[i].end_utc_s);
		assert_int_equal(row->size.pod.cpu_milli, stories[which].rows[i].cpu_milli);
		assert_int_equal(row->size.pod.memory_kib, stories[which].rows[i].memory_kib);
		check_row(row, i, i + 1 == wanted, is_unheld);
	}
	lt_batch_runs_free(&runs);
	/* By the pod's own number, too. */
	runs = rows_of(&lab, POD, 1000);
	assert_int_equal(runs.count, is_unheld ? 1 : wanted);
	lt_batch_runs_free(&runs);
	lab_close(&lab);
}

static void
its_times(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		print_message("%s\n", stories[i].why);
		tell_story(i, false);
		tell_story(i, true);
	}
}

/* A stretch is finished at once; it is no pod that ended, and its time is of the Job's limit. */
static void
its_job(void **state)
{
	const struct step first = {TOLD(100, 0, 0, 1000, 64)};
	const struct step more = {TOLD(200, 0, 0, 2000, 64)};
	struct lab lab;
	struct lt_exact most;
	int64_t ended = -1, seconds = -1, start = 0;

	(void)state;
	lab_open(&lab);
	put(&lab, &first, false);
	put(&lab, &more, false);
	struct lt_batch_runs runs = rows_of(&lab, OWN, 200);
	assert_int_equal(runs.count, 2);
	assert_true(runs.runs[0].finished && runs.runs[0].goes_on);
	assert_false(runs.runs[0].resized);
	assert_false(runs.runs[1].finished);
	assert_true(runs.runs[1].resized && runs.runs[1].pod_resized);
	lt_batch_runs_free(&runs);
	const struct lt_kube_known known = {0, 300, &ended, &seconds};
	assert_int_equal(lt_kube_store_known(lab.store, OWN, &known, NULL), LT_OK);
	assert_int_equal(ended, 0);
	assert_int_equal(seconds, 200);
	assert_int_equal(lt_kube_store_first_start(lab.store, OWN, &start, NULL), LT_OK);
	assert_int_equal(start, 100);
	assert_int_equal(lt_kube_store_most(lab.store, OWN, &most, NULL), LT_OK);
	assert_int_equal(most.cpu_milli, 2000);
	assert_int_equal(most.memory_kib, 64);
	/* Gone while nobody watched: until its limit, from its first start. */
	assert_int_equal(lt_kube_store_end_unseen(lab.store, 5000, 5000, NULL), LT_OK);
	runs = rows_of(&lab, OWN, 6000);
	assert_int_equal(runs.count, 2);
	assert_int_equal(runs.runs[1].end_utc_s, 1100);
	assert_true(runs.runs[1].is_estimated);
	lt_batch_runs_free(&runs);
	lab_close(&lab);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(its_size),
	    cmocka_unit_test(its_times),
	    cmocka_unit_test(its_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
