/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seldom run, so its statements are made anew each time. A stretch of a Job's
 * pod is what Slurm has of a job that is resized: a row "RESIZING" of the same
 * run, which goes on in another (store_rows.c). One of a pod of no Job is a
 * part of its owner's, like those of an hour.
 */
#include <sqlite3.h>

#include "object.h"
#include "store_resize.h"

enum { WATCHED_S = 30 }; /* that it watches is written down more often */

struct known { /* of the row */
	struct lt_kube_need size;
	int64_t start_utc_s, resized_utc_s, seen_utc_s;
	int64_t heard_utc_s; /* the cluster was watched last; 0 = never */
	int64_t cut_utc_s;   /* not of the row: when it ends */
};

static const char get[] =
    "SELECT start, resized, cpus, memory_mib, cpu_milli, memory_kib,"
    " seen, coalesce((SELECT utc_s FROM heard), 0) FROM runs WHERE id = ?1";
static const char name_part[] =
    "INSERT INTO ids (uid, made) VALUES ('size/' || ?1 || '/' || ?2,"
    " unixepoch())";
static const char put_part[] =
    "INSERT INTO runs (id, job_id, task, created, start, end, state,"
    " exit_code, node, pool, team, user, name, qos, quote, cpus, gpus,"
    " memory_mib, limit_s, seen, estimated, cpu_milli, memory_kib,"
    " node_cpu_milli, node_memory_kib, node_gpus, gpu_micro, node_gpu_micro,"
    " parts, part_of, resized)"
    " SELECT last_insert_rowid(), job_id, task, created, start, ?2,"
    " CASE parts WHEN 0 THEN 'RESIZING' ELSE 'RUNNING' END,"
    " 0, node, pool, team, user, name, qos,"
    " CASE ?4 WHEN '' THEN quote ELSE ?4 END, cpus, gpus,"
    " memory_mib, limit_s, ?3, 0, cpu_milli, memory_kib, node_cpu_milli,"
    " node_memory_kib, node_gpus, gpu_micro, node_gpu_micro, parts * 2,"
    " CASE parts WHEN 0 THEN id ELSE 0 END, resized FROM runs WHERE id = ?1";
static const char go_on[] =
    "UPDATE runs SET created = CASE WHEN ?2 > start THEN ?2 ELSE created END,"
    " start = ?2, resized = ?2, cpus = ?3, memory_mib = ?4, cpu_milli = ?5,"
    " memory_kib = ?6 WHERE id = ?1";
static const char most_of[] =
    "SELECT coalesce(max(cpu_milli), 0), coalesce(max(memory_kib), 0)"
    " FROM runs WHERE job_id = ?1";

static int
fail(sqlite3 *db, struct lt_error *err)
{
	return lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
}

struct change { /* a statement: its numbers from ?1 on, and ?4 as a text */
	const char *sql, *text; /* text NULL: a number, or none */
	int64_t numbers[6];
	int count;
};

static int
make(sqlite3 *db, const struct change *change, struct lt_error *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, change->sql, -1, &s, NULL);

	for (int i = 0; rc == SQLITE_OK && i < change->count; i++)
		rc = sqlite3_bind_int64(s, i + 1, change->numbers[i]);
	if (rc == SQLITE_OK && change->text != NULL)
		rc = sqlite3_bind_text(s, 4, change->text, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? LT_OK : fail(db, err);
}

static int
read_known(sqlite3 *db, uint32_t id, struct known *known, struct lt_error *err)
{
	sqlite3_stmt *s = NULL;
	int code = LT_OK;

	if (sqlite3_prepare_v2(db, get, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(s, 1, id) != SQLITE_OK ||
	    sqlite3_step(s) != SQLITE_ROW)
		code = fail(db, err);
	else
		*known =
		    (struct known){.start_utc_s = sqlite3_column_int64(s, 0),
			.resized_utc_s = sqlite3_column_int64(s, 1),
			.size = {.cpus = (uint32_t)sqlite3_column_int64(s, 2),
			    .memory_mib = (uint64_t)sqlite3_column_int64(s, 3),
			    .exact = {(uint64_t)sqlite3_column_int64(s, 4),
				(uint64_t)sqlite3_column_int64(s, 5), 0}},
			.seen_utc_s = sqlite3_column_int64(s, 6),
			.heard_utc_s = sqlite3_column_int64(s, 7)};
	sqlite3_finalize(s);
	return code;
}

/* At this time it gets this size. */
static int
cut(sqlite3 *db, const struct lt_kube_run *run, struct known *known,
    const struct lt_kube_need *size, struct lt_error *err)
{
	const int64_t at_utc_s = known->cut_utc_s;
	const struct change changes[] = {
	    {name_part, NULL, {run->id, at_utc_s}, 2},
	    {put_part, run->quote, {run->id, at_utc_s, run->seen_utc_s}, 3},
	    {go_on, NULL,
		{run->id, at_utc_s, size->cpus, (int64_t)size->memory_mib,
		    (int64_t)size->exact.cpu_milli,
		    (int64_t)size->exact.memory_kib},
		6},
	};
	int code = LT_OK;

	/* Within its first second nothing is before. */
	for (size_t i = at_utc_s > known->start_utc_s ? 0 : 2;
	     code == LT_OK && i < sizeof(changes) / sizeof(changes[0]); i++)
		code = make(db, &changes[i], err);
	known->start_utc_s = at_utc_s;
	return code;
}

/* Since when it has more. */
static int64_t
grew_at(const struct lt_kube_run *run, const struct known *known)
{
	const int64_t now_utc_s = run->seen_utc_s;
	const int64_t told_utc_s = run->pod->sized.resizing_utc_s;
	const bool was_away =
	    known->heard_utc_s != 0 &&
	    (run->is_listed || now_utc_s - known->heard_utc_s > WATCHED_S);
	/* A resize while another is at work has that one's time. */
	const bool is_told =
	    told_utc_s > known->resized_utc_s && told_utc_s <= now_utc_s;

	if (!was_away)
		return is_told ? told_utc_s : now_utc_s;
	return known->heard_utc_s > known->seen_utc_s ? known->heard_utc_s
						      : known->seen_utc_s;
}

static bool
is_size(const struct lt_kube_need *a, const struct lt_kube_need *b)
{
	return a->exact.cpu_milli == b->exact.cpu_milli &&
	       a->exact.memory_kib == b->exact.memory_kib;
}

int
lt_kube_resize(sqlite3 *db, const struct lt_kube_run *run, struct lt_error *err)
{
	const struct lt_kube_pod *const pod = run->pod;
	struct known known = {.start_utc_s = 0};
	int code = read_known(db, run->id, &known, err);

	if (code != LT_OK || (pod->sized.is_pending && !pod->sized.is_told))
		return code;
	struct lt_kube_need most = known.size;
	(void)lt_kube_need_raise(&most, &pod->need);
	known.cut_utc_s = grew_at(run, &known);
	if (known.cut_utc_s < known.start_utc_s)
		known.cut_utc_s = known.start_utc_s;
	if (!is_size(&most, &known.size) &&
	    (pod->end_utc_s == 0 || known.cut_utc_s < pod->end_utc_s))
		code = cut(db, run, &known, &most, err);
	if (code != LT_OK || is_size(&most, &pod->need) ||
	    !pod->sized.is_told || pod->end_utc_s != 0)
		return code;
	known.cut_utc_s = run->seen_utc_s > known.start_utc_s
			      ? run->seen_utc_s
			      : known.start_utc_s;
	return cut(db, run, &known, &pod->need, err);
}

int
lt_kube_resize_most(
    sqlite3 *db, uint32_t job_id, struct lt_exact *most, struct lt_error *err)
{
	sqlite3_stmt *s = NULL;
	int code = LT_OK;

	if (sqlite3_prepare_v2(db, most_of, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(s, 1, job_id) != SQLITE_OK ||
	    sqlite3_step(s) != SQLITE_ROW)
		code = fail(db, err);
	else
		*most = (struct lt_exact){
		    .cpu_milli = (uint64_t)sqlite3_column_int64(s, 0),
		    .memory_kib = (uint64_t)sqlite3_column_int64(s, 1)};
	sqlite3_finalize(s);
	return code;
}
