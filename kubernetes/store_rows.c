/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads rows of kube.db as slurmdbd would give them. Children read, too: each call has a connection
 * of its own, which may only read. A failure is LT_EIO with SQLite's words, and the list is empty
 * then.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "store.h"

enum {
	PATH_BYTES = 4096,
	BUSY_MS = 10000,
	GOES_ON_S = 15, /* after a pod's end its Job makes another, or ends */
};

/* others: pods of its Job that run; later: those that ended after it. A stretch
 * of a pod that was resized continues in others, and has the pod's own
 * number. */
#define COLUMNS                                                                                             \
	"SELECT iif(r.part_of = 0, r.id, r.part_of), r.job_id, r.task, r.created, r.start, r.end, r.state," \
	" r.exit_code, r.node, r.pool, r.team, r.user, r.name, r.qos,"                                      \
	" r.quote, r.cpus, r.gpus, r.memory_mib, r.limit_s, r.estimated,"                                   \
	" i.ended, r.parts = 0 AND EXISTS (SELECT 1 FROM runs o WHERE"                                      \
	" o.job_id = r.job_id AND o.end = 0), r.parts != 0 OR r.part_of != 0"                               \
	" OR EXISTS (SELECT 1 FROM runs o WHERE o.job_id = r.job_id"                                        \
	" AND o.id != r.id AND o.part_of = 0"                                                               \
	" AND (o.end, o.id) > (r.end, r.id)), r.cpu_milli, r.memory_kib,"                                   \
	" r.node_cpu_milli, r.node_memory_kib, r.node_gpus, r.gpu_micro,"                                   \
	" r.node_gpu_micro, r.pods, r.parts, r.resized"                                                     \
	" FROM runs r JOIN ids i ON i.id = r.job_id WHERE "

/* Rows that ended, or are known then to have ended before. */
#define ENDED                                                                                      \
	"(r.end BETWEEN ?1 AND ?2 OR r.seen BETWEEN ?1 AND ?2"                                     \
	" AND r.end BETWEEN 1 AND ?1)"

static const char by_end[] = COLUMNS ENDED;
static const char by_time[] = COLUMNS ENDED " OR r.end = 0 AND r.start <= ?2 AND r.parts = 0"
					    " OR r.end > ?2 AND r.start <= ?2";
static const char by_job[] = COLUMNS "r.job_id = ?1 OR r.id = ?1"
				     " OR r.part_of = ?1 AND r.part_of != 0";

static sqlite3 *
open_reader(const char *state_dir, struct lt_error *err)
{
	char path[PATH_BYTES];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/kube.db", state_dir);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_busy_timeout(db, BUSY_MS) == SQLITE_OK)
		return db;
	lt_fail(err, LT_EIO, "%s: %s", path, sqlite3_errmsg(db));
	sqlite3_close(db);
	return NULL;
}

static void
text_of(char *out, size_t size, sqlite3_stmt *s, int column)
{
	const unsigned char *const text = sqlite3_column_text(s, column);

	snprintf(out, size, "%s", text != NULL ? (const char *)text : "");
}

/* Decides whether its Job continues: that is known when another of its pods runs, or the Job has
 * ended, or nothing came for long enough. */
static void
judge_run(struct lt_batch_run *run, sqlite3_stmt *s, int64_t now_utc_s)
{
	const bool job_ended = sqlite3_column_int(s, 20) != 0;
	const bool others_run = sqlite3_column_int(s, 21) != 0;
	const bool is_last = sqlite3_column_int(s, 22) == 0;

	run->finished = run->end_utc_s != 0 &&
			(job_ended || others_run || now_utc_s - run->end_utc_s >= GOES_ON_S);
	run->goes_on = !(job_ended && !others_run && is_last);
}

static struct lt_pod_size
size_of(sqlite3_stmt *s)
{
	return (struct lt_pod_size){
	    .pod = {(uint64_t)sqlite3_column_int64(s, 23), (uint64_t)sqlite3_column_int64(s, 24),
		(uint64_t)sqlite3_column_int64(s, 28)},
	    .node = {(uint64_t)sqlite3_column_int64(s, 25), (uint64_t)sqlite3_column_int64(s, 26),
		(uint64_t)sqlite3_column_int64(s, 29)},
	    .node_gpus = (uint32_t)sqlite3_column_int64(s, 27)};
}

static int
take_row(struct lt_batch_run *run, sqlite3_stmt *s, const struct lt_kube_rows_asked *asked,
    struct lt_error *err)
{
	const int64_t limit_s = sqlite3_column_int64(s, 18);

	*run = (struct lt_batch_run){.job_id = (uint32_t)sqlite3_column_int64(s, 0),
	    .array_job_id = (uint32_t)sqlite3_column_int64(s, 1),
	    .array_task = (uint32_t)sqlite3_column_int64(s, 2),
	    .uid = asked->uid,
	    .submit_utc_s = sqlite3_column_int64(s, 3),
	    .eligible_utc_s = sqlite3_column_int64(s, 3),
	    .start_utc_s = sqlite3_column_int64(s, 4),
	    .end_utc_s = sqlite3_column_int64(s, 5),
	    .exit_code = (uint32_t)sqlite3_column_int64(s, 7),
	    .cpus = (uint32_t)sqlite3_column_int64(s, 15),
	    .gpus = (uint32_t)sqlite3_column_int64(s, 16),
	    .memory_mib = (uint64_t)sqlite3_column_int64(s, 17),
	    .size = size_of(s),
	    .limit_s = limit_s > 0 ? limit_s : INT64_MAX,
	    .is_estimated = sqlite3_column_int(s, 19) != 0,
	    .is_part = sqlite3_column_int(s, 31) != 0,
	    .resized = sqlite3_column_int64(s, 32) != 0,
	    .pod_resized = sqlite3_column_int64(s, 32) != 0,
	    .nodes = (uint32_t)sqlite3_column_int64(s, 30),
	    .has_gpus = true,
	    .energy_joules = -1};
	text_of(run->state_text, sizeof(run->state_text), s, 6);
	text_of(run->first_node, sizeof(run->first_node), s, 8);
	text_of(run->partition, sizeof(run->partition), s, 9);
	text_of(run->account, sizeof(run->account), s, 10);
	text_of(run->user, sizeof(run->user), s, 11);
	text_of(run->name, sizeof(run->name), s, 12);
	text_of(run->qos, sizeof(run->qos), s, 13);
	judge_run(run, s, asked->now_utc_s);
	if (sqlite3_column_bytes(s, 14) == 0)
		return LT_OK;
	run->admin_comment = strdup((const char *)sqlite3_column_text(s, 14));
	return run->admin_comment != NULL ? LT_OK : lt_fail(err, LT_ENOMEM, "rows: out of memory");
}

static int
take_all(struct lt_batch_runs *runs, size_t *capacity, sqlite3_stmt *s,
    const struct lt_kube_rows_asked *asked, struct lt_error *err)
{
	int code = LT_OK, rc = SQLITE_DONE;

	while (code == LT_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct lt_batch_run *const grown =
		    lt_items_grow(runs->runs, capacity, runs->count, sizeof(*grown));

		if (grown == NULL)
			return lt_fail(err, LT_ENOMEM, "rows: out of memory");
		runs->runs = grown;
		code = take_row(&grown[runs->count++], s, asked, err);
	}
	if (code == LT_OK && rc != SQLITE_DONE)
		code = lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(sqlite3_db_handle(s)));
	return code;
}

int
lt_kube_store_rows(struct lt_batch_runs *runs, const char *state_dir,
    const struct lt_kube_rows_asked *asked, struct lt_error *err)
{
	const char *const text = asked->job_ids != NULL ? by_job
				 : asked->ended_only	? by_end
							: by_time;
	const uint32_t times = asked->job_ids != NULL ? asked->count : 1;
	sqlite3 *const db = open_reader(state_dir, err);
	sqlite3_stmt *s = NULL;
	size_t capacity = 0;
	int code = LT_OK;

	*runs = (struct lt_batch_runs){0};
	if (db == NULL)
		return LT_EIO;
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
		code = lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
	for (uint32_t i = 0; code == LT_OK && i < times; i++) {
		sqlite3_reset(s);
		sqlite3_bind_int64(
		    s, 1, asked->job_ids != NULL ? asked->job_ids[i] : asked->from_utc_s);
		if (asked->job_ids == NULL)
			sqlite3_bind_int64(s, 2, asked->to_utc_s);
		code = take_all(runs, &capacity, s, asked, err);
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	if (code != LT_OK)
		lt_batch_runs_free(runs);
	return code;
}

int
lt_kube_store_find(const char *state_dir, const char *name, uint32_t *id, struct lt_error *err)
{
	/* Matches an owner that is no Job without its kind, too: "a/web" finds
	 * "a/deployment/web". */
	static const char text[] =
	    "SELECT id FROM ids WHERE name = ?1 OR (name > ?2 AND name < ?2 || '~'"
	    " AND name LIKE '%/%/%' AND substr(name, -length(?3)) = ?3)"
	    " ORDER BY name != ?1, id DESC LIMIT 1";
	const char *const slash = strchr(name, '/');
	char within[LT_NAME_SIZE] = "";

	if (slash == NULL)
		return lt_fail(err, LT_ENOENT, "no Job or pod %s is known", name);
	snprintf(within, sizeof(within), "%.*s", (int)(slash + 1 - name), name);
	sqlite3 *const db = open_reader(state_dir, err);
	sqlite3_stmt *s = NULL;
	int code = LT_ENOENT;

	if (db == NULL)
		return LT_EIO;
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) == SQLITE_OK) {
		sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, within, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 3, slash, -1, SQLITE_STATIC);
		if (sqlite3_step(s) == SQLITE_ROW) {
			*id = (uint32_t)sqlite3_column_int64(s, 0);
			code = LT_OK;
		}
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return code == LT_OK ? code : lt_fail(err, LT_ENOENT, "no Job or pod %s is known", name);
}

int
lt_kube_store_nodes(
    const struct lt_kube_nodes_reader *reader, const char *state_dir, struct lt_error *err)
{
	static const char text[] = "SELECT node, seen FROM nodes ORDER BY kind";
	sqlite3 *const db = open_reader(state_dir, err);
	sqlite3_stmt *s = NULL;
	int rc = SQLITE_ERROR;

	if (db == NULL)
		return LT_EIO;
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) == SQLITE_OK)
		while ((rc = sqlite3_step(s)) == SQLITE_ROW)
			reader->take(reader->context, (const char *)sqlite3_column_text(s, 0),
			    sqlite3_column_int64(s, 1));
	const int code =
	    rc == SQLITE_DONE ? LT_OK : lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
	sqlite3_finalize(s);
	sqlite3_close(db);
	return code;
}

int
lt_kube_store_aways(struct lt_batch_away *aways, int most, const char *state_dir,
    const struct lt_batch_away *within)
{
	static const char text[] = "SELECT start, end FROM (SELECT start, end FROM aways WHERE"
				   " start < ?2 AND end > ?1 ORDER BY start DESC LIMIT ?3)"
				   " ORDER BY start";
	struct lt_error err = {0};
	sqlite3 *const db = open_reader(state_dir, &err);
	sqlite3_stmt *s = NULL;
	int count = 0;

	if (db != NULL && sqlite3_prepare_v2(db, text, -1, &s, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(s, 1, within->from_utc_s);
		sqlite3_bind_int64(s, 2, within->to_utc_s);
		sqlite3_bind_int(s, 3, most);
		while (count < most && sqlite3_step(s) == SQLITE_ROW)
			aways[count++] = (struct lt_batch_away){
			    sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1)};
	}
	sqlite3_finalize(s);
	sqlite3_close(db);
	return count;
}

int
lt_kube_store_owners(
    struct lt_batch_unheld **all, uint32_t *count, const char *state_dir, struct lt_error *err)
{
	static const char text[] = "SELECT i.name, r.team, group_concat(DISTINCT r.pool), r.job_id,"
				   " count(*) FROM runs r JOIN ids i ON i.id = r.job_id"
				   " WHERE r.parts = 1 AND r.end = 0 GROUP BY r.job_id ORDER BY 1";
	sqlite3 *const db = open_reader(state_dir, err);
	sqlite3_stmt *s = NULL;
	size_t capacity = 0;
	int code = LT_OK, rc = SQLITE_DONE;

	*all = NULL;
	*count = 0;
	if (db == NULL)
		return LT_EIO;
	if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
		code = lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
	while (code == LT_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		struct lt_batch_unheld *const grown =
		    lt_items_grow(*all, &capacity, *count, sizeof(*grown));

		if (grown == NULL) {
			code = lt_fail(err, LT_ENOMEM, "owners: out of memory");
			break;
		}
		*all = grown;
		struct lt_batch_unheld *const one = &grown[(*count)++];
		*one = (struct lt_batch_unheld){.id = (uint32_t)sqlite3_column_int64(s, 3),
		    .pods = (uint32_t)sqlite3_column_int64(s, 4)};
		text_of(one->name, sizeof(one->name), s, 0);
		text_of(one->account, sizeof(one->account), s, 1);
		text_of(one->partitions, sizeof(one->partitions), s, 2);
	}
	if (code == LT_OK && rc != SQLITE_DONE)
		code = lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
	sqlite3_finalize(s);
	sqlite3_close(db);
	if (code == LT_OK)
		return code;
	free(*all);
	*all = NULL;
	*count = 0;
	return code;
}
