/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kube.db of a release that kept no sizes in millicores: it is opened, its runs are rows without
 * them, and new ones have them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

static const char before[] =
    "CREATE TABLE ids (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " uid TEXT NOT NULL UNIQUE, name TEXT, made INTEGER NOT NULL,"
    " ended INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE runs (id INTEGER PRIMARY KEY,"
    " job_id INTEGER NOT NULL, task INTEGER NOT NULL,"
    " created INTEGER NOT NULL, start INTEGER NOT NULL,"
    " end INTEGER NOT NULL, state TEXT NOT NULL, exit_code INTEGER NOT NULL,"
    " node TEXT NOT NULL, pool TEXT NOT NULL, team TEXT NOT NULL,"
    " user TEXT NOT NULL, name TEXT NOT NULL, qos TEXT NOT NULL,"
    " quote TEXT NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL,"
    " memory_mib INTEGER NOT NULL, limit_s INTEGER NOT NULL,"
    " seen INTEGER NOT NULL, estimated INTEGER NOT NULL);"
    "INSERT INTO ids VALUES (1, 'u1', 'a/one', 1, 1);"
    "INSERT INTO runs VALUES (1, 1, 0, 10, 10, 90, 'COMPLETED', 0, 'n', 'p',"
    " 't', 'u', 'one', '', '', 2, 0, 1024, 0, 90, 0);";

static void
opened(void **state)
{
	char dir[] = "/tmp/lowtide-store-XXXXXX", path[64];
	struct lt_kube_store *store = NULL;
	struct lt_batch_runs runs;
	struct lt_error err = {0};
	sqlite3 *db = NULL;
	uint32_t id = 0;
	const struct lt_kube_pod pod = {.uid = "u2",
	    .node = "n",
	    .state = "COMPLETED",
	    .need = {.cpus = 1, .memory_mib = 64, .exact = {100, 65536, 0}},
	    .start_utc_s = 20,
	    .end_utc_s = 80};
	struct lt_kube_pod running = pod;
	const struct lt_kube_node node = {.gpus = 4, .exact = {7910, 29123456, 0}};
	struct lt_kube_run run = {.pod = &pod,
	    .pool = "p",
	    .team = "t",
	    .user = "u",
	    .name = "two",
	    .qos = "",
	    .quote = "",
	    .node = &node,
	    .seen_utc_s = 90};

	(void)state;
	running.end_utc_s = 0;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kube.db", dir);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, before, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	for (int twice = 0; twice < 2; twice++) {
		assert_int_equal(lt_kube_store_open(&store, dir, &err), LT_OK);
		assert_int_equal(lt_kube_store_id(store, "u2", true, &id, &err), LT_OK);
		run.id = run.job_id = id;
		if (twice == 0) {
			run.pod = &running;
			assert_int_equal(lt_kube_store_put(store, &run, &err), LT_OK);
			assert_true(lt_kube_store_is_open(store, id));
			run.pod = &pod;
		}
		assert_int_equal(lt_kube_store_put(store, &run, &err), LT_OK);
		assert_false(lt_kube_store_is_open(store, id));
		assert_false(lt_kube_store_is_open(store, id + 1000));
		lt_kube_store_close(store);
	}
	const struct lt_kube_rows_asked asked = {
	    .from_utc_s = 1, .to_utc_s = 100, .now_utc_s = 1000};
	assert_int_equal(lt_kube_store_rows(&runs, dir, &asked, &err), LT_OK);
	assert_int_equal(runs.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct lt_batch_run *const row = &runs.runs[i];
		const bool is_new = row->job_id == id;

		assert_int_equal(row->size.pod.cpu_milli, is_new ? 100 : 0);
		assert_int_equal(row->size.pod.memory_kib, is_new ? 65536 : 0);
		assert_int_equal(row->size.node.cpu_milli, is_new ? 7910 : 0);
		assert_int_equal(row->size.node.memory_kib, is_new ? 29123456 : 0);
		assert_int_equal(row->size.node_gpus, is_new ? 4 : 0);
		assert_int_equal(row->cpus, is_new ? 1 : 2);
	}
	lt_batch_runs_free(&runs);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kube.db-wal", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kube.db-shm", dir);
	unlink(path);
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(opened)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
