/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that ever had a node, in <state>/kube.db (SQLite, 0600): what slurmdbd is to Slurm. One
 * writer; store_rows.c reads rows of it.
 *
 * Statements are prepared once, but those of resizes, which are seldom. A stretch of a Job's pod
 * that is resized is what Slurm has of a job that is resized: a row "RESIZING" of the same run,
 * which continues in another. A stretch of a pod without a Job is a part of its owner's, like those
 * of an hour.
 *
 * A failure is LT_EIO with SQLite's words; the caller rolls its transaction back and takes all in
 * anew.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "object.h"
#include "store.h"
#include "min_max.h"

enum {
	PATH_BYTES = 4096,
	BUSY_MS = 10000,
};

/* Pods that are charged in parts and run; of namespace ?2, or "". */
#define UNHELD                                                                                     \
	"r.parts = 1 AND r.end = 0 AND (?2 = '' OR r.job_id IN (SELECT id"                         \
	" FROM ids WHERE name > ?2 || '/' AND name < ?2 || '0'))"
/* Those of one owner that are alike, together, and the number of their row. */
#define PARTS_OF                                                                                   \
	" FROM (SELECT r.*, min(r.id) AS first, count(*) AS many FROM runs r"                      \
	" WHERE r.start < ?1 AND " UNHELD " GROUP BY job_id, pool, team,"                          \
	" user, name, qos, start, cpus, gpus, memory_mib, cpu_milli,"                              \
	" memory_kib, node_cpu_milli, node_memory_kib, node_gpus,"                                 \
	" gpu_micro, node_gpu_micro) g"
#define PART_UID "'part/' || g.first || '/' || ?1"

/* Each statement, once. */
#define STATEMENTS(S)                                                                              \
	S(BEGIN, "BEGIN IMMEDIATE")                                                                \
	S(COMMIT, "COMMIT")                                                                        \
	S(ROLLBACK, "ROLLBACK")                                                                    \
	S(ANY, "SELECT id FROM ids LIMIT 1")                                                       \
	S(FIND_ID, "SELECT id FROM ids WHERE uid = ?1")                                            \
	S(ADD_ID, "INSERT INTO ids (uid, made) VALUES (?1, unixepoch())")                          \
	S(NAME, "UPDATE ids SET name = ?2 || '/' || ?3 WHERE id = ?1"                              \
		" AND name IS NOT ?2 || '/' || ?3")                                                \
	S(SET_ENDED, "UPDATE ids SET ended = ?2 WHERE id = ?1 AND ended != ?2")                    \
	S(IS_OPEN, "SELECT 1 FROM runs WHERE job_id = ?1 AND end = 0 LIMIT 1")                     \
	S(FIRST_START, "SELECT min(start) FROM runs WHERE job_id = ?1"                             \
		       " HAVING min(start) IS NOT NULL")                                           \
	S(PUT, "INSERT INTO runs (id, job_id, task, created, start, end, state,"                   \
	       " exit_code, node, pool, team, user, name, qos, quote, cpus,"                       \
	       " gpus, memory_mib, limit_s, seen, estimated, cpu_milli,"                           \
	       " memory_kib, node_cpu_milli, node_memory_kib, node_gpus,"                          \
	       " gpu_micro, node_gpu_micro, parts)"                                                \
	       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"                  \
	       " ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25,"                      \
	       " ?26, ?27, ?28, ?29)"                                                              \
	       " ON CONFLICT (id) DO UPDATE SET"                                                   \
	       " start = CASE WHEN parts = 0 AND resized = 0 THEN excluded.start"                  \
	       " ELSE start END,"                                                                  \
	       " end = CASE WHEN (parts != 0 OR resized != 0)"                                     \
	       " AND excluded.end != 0"                                                            \
	       " THEN max(start, excluded.end) ELSE excluded.end END,"                             \
	       " team = CASE parts WHEN 0 THEN team ELSE excluded.team END,"                       \
	       " state = excluded.state,"                                                          \
	       " exit_code = excluded.exit_code, seen = excluded.seen,"                            \
	       " quote = CASE excluded.quote WHEN '' THEN quote"                                   \
	       " ELSE excluded.quote END, estimated = excluded.estimated,"                         \
	       " gpu_micro = min(gpu_micro, excluded.gpu_micro),"                                  \
	       " node_gpu_micro = max(node_gpu_micro, excluded.node_gpu_micro),"                   \
	       " node_gpus = max(node_gpus, excluded.node_gpus)"                                   \
	       " WHERE end = 0 OR estimated = 1 AND excluded.end != 0")                            \
	/* 0: of before there were exact sizes. */                                                 \
	S(OTHER_SIZE, "SELECT 1 FROM runs WHERE id = ?1 AND end = 0"                               \
		      " AND cpu_milli != 0"                                                        \
		      " AND (cpu_milli != ?2 OR memory_kib != ?3)")                                \
	S(PRUNE_RUNS, "DELETE FROM runs WHERE end != 0 AND end < ?1")                              \
	S(ERASE, "UPDATE runs SET user = '', name = '' WHERE end != 0 AND end < ?1"                \
		 " AND (user != '' OR name != '')")                                                \
	S(PRUNE_IDS, "DELETE FROM ids WHERE made < ?1 AND NOT EXISTS"                              \
		     " (SELECT 1 FROM runs WHERE runs.id = ids.id"                                 \
		     " OR runs.job_id = ids.id)")                                                  \
	S(END_UNSEEN, "UPDATE runs SET estimated = 1, state = 'CANCELLED',"                        \
		      " end = max(start, min(?2, CASE WHEN parts != 0"                             \
		      " THEN coalesce((SELECT utc_s FROM heard), ?2)"                              \
		      " WHEN limit_s = 0 THEN ?2"                                                  \
		      " ELSE coalesce((SELECT min(p.start) FROM runs p WHERE"                      \
		      " p.part_of = runs.id AND p.part_of != 0), start) + limit_s END))"           \
		      " WHERE end = 0 AND seen < ?1")                                              \
	S(PART_IDS, "INSERT INTO ids (uid, made)"                                                  \
		    " SELECT " PART_UID ", unixepoch()" PARTS_OF)                                  \
	S(PARTS, "INSERT INTO runs (id, job_id, task, created, start, end, state,"                 \
		 " exit_code, node, pool, team, user, name, qos, quote, cpus,"                     \
		 " gpus, memory_mib, limit_s, seen, estimated, cpu_milli,"                         \
		 " memory_kib, node_cpu_milli, node_memory_kib, node_gpus,"                        \
		 " gpu_micro, node_gpu_micro, pods,"                                               \
		 " parts) SELECT i.id, g.job_id, 0, g.start, g.start, ?1,"                         \
		 " 'RUNNING', 0, g.node, g.pool, g.team, g.user, g.name, g.qos,"                   \
		 " '', g.cpus * many, g.gpus * many, g.memory_mib * many, 0, ?3,"                  \
		 " 0, g.cpu_milli * many, g.memory_kib * many, g.node_cpu_milli,"                  \
		 " g.node_memory_kib, g.node_gpus, g.gpu_micro * many,"                            \
		 " g.node_gpu_micro, many, 2" PARTS_OF " JOIN ids i ON i.uid = " PART_UID)         \
	S(NEXT_PARTS, "UPDATE runs AS r SET start = ?1, created = ?1"                              \
		      " WHERE r.start < ?1 AND " UNHELD)                                           \
	S(LEAVE, "DELETE FROM runs AS r WHERE " UNHELD)                                            \
	S(MOVE, "UPDATE runs SET pool = ?2 WHERE node = ?1 AND parts = 1"                          \
		" AND end = 0 AND pool != ?2")                                                     \
	S(COUNT_UNHELD, "SELECT count(*) FROM runs WHERE parts = 1 AND end = 0")                   \
	S(END_BY, "UPDATE runs SET end = max(start, ?2) WHERE job_id = ?1"                         \
		  " AND estimated = 1 AND end > ?2 AND start < end")                               \
	S(ENDED, "SELECT count(*) FROM runs WHERE job_id = ?1 AND end != 0"                        \
		 " AND part_of = 0")                                                               \
	S(SECONDS, "SELECT coalesce(sum(max(0, min(CASE end WHEN 0 THEN ?3"                        \
		   " ELSE end END, ?3) - max(start, ?2))), 0) FROM runs"                           \
		   " WHERE job_id = ?1")                                                           \
	S(HEARD, "INSERT INTO heard (one, utc_s) VALUES (1, ?1)"                                   \
		 " ON CONFLICT (one) DO UPDATE SET utc_s = excluded.utc_s")                        \
	S(LAST_HEARD, "SELECT utc_s FROM heard")                                                   \
	S(AWAY, "INSERT OR REPLACE INTO aways (start, end) VALUES (?1, ?2)")                       \
	S(PRUNE_AWAYS, "DELETE FROM aways WHERE end < ?1")                                         \
	S(KEEP_NODE, "INSERT OR REPLACE INTO nodes (kind, node, seen) VALUES (?1, ?2,"             \
		     " ?3)")                                                                       \
	S(PRUNE_NODES, "DELETE FROM nodes WHERE seen < ?1")

enum statement {
#define NAME(id, text) S_##id,
	STATEMENTS(NAME)
#undef NAME
	    STATEMENT_COUNT
};

static const char *const texts[] = {
#define TEXT(id, text) text,
    STATEMENTS(TEXT)
#undef TEXT
};

struct lt_kube_store {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENT_COUNT];
};

static const char schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "CREATE TABLE IF NOT EXISTS ids (id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " uid TEXT NOT NULL UNIQUE, name TEXT, made INTEGER NOT NULL,"
    " ended INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX IF NOT EXISTS ids_name ON ids (name);"
    "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY,"
    " job_id INTEGER NOT NULL, task INTEGER NOT NULL,"
    " created INTEGER NOT NULL, start INTEGER NOT NULL,"
    " end INTEGER NOT NULL, state TEXT NOT NULL, exit_code INTEGER NOT NULL,"
    " node TEXT NOT NULL, pool TEXT NOT NULL, team TEXT NOT NULL,"
    " user TEXT NOT NULL, name TEXT NOT NULL, qos TEXT NOT NULL,"
    " quote TEXT NOT NULL, cpus INTEGER NOT NULL, gpus INTEGER NOT NULL,"
    " memory_mib INTEGER NOT NULL, limit_s INTEGER NOT NULL,"
    " seen INTEGER NOT NULL, estimated INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS heard (one INTEGER PRIMARY KEY,"
    " utc_s INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS aways (start INTEGER PRIMARY KEY,"
    " end INTEGER NOT NULL);"
    "CREATE TABLE IF NOT EXISTS nodes (kind TEXT PRIMARY KEY,"
    " node TEXT NOT NULL, seen INTEGER NOT NULL);"
    "CREATE INDEX IF NOT EXISTS runs_end ON runs (end);"
    "CREATE INDEX IF NOT EXISTS runs_job ON runs (job_id);";

/* Columns that runs have since; 0 in those before. */
static const char sizes[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE runs ADD COLUMN cpu_milli INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN memory_kib INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN node_cpu_milli INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN node_memory_kib INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN node_gpus INTEGER NOT NULL DEFAULT 0;"
    "COMMIT;";
/* parts: 1 = a pod that is charged in parts, 2 = such a part, of `pods`. */
static const char parts[] = "BEGIN IMMEDIATE;"
			    "ALTER TABLE runs ADD COLUMN pods INTEGER NOT NULL DEFAULT 1;"
			    "ALTER TABLE runs ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;"
			    "CREATE INDEX runs_unheld ON runs (node) WHERE parts = 1 AND end = 0;"
			    "CREATE INDEX runs_seen ON runs (seen);"
			    "COMMIT;";
static const char parts_of_gpus[] =
    "BEGIN IMMEDIATE;"
    "ALTER TABLE runs ADD COLUMN gpu_micro INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN node_gpu_micro INTEGER NOT NULL DEFAULT 0;"
    "COMMIT;";
/* part_of: the pod of a Job that had another size before this row's end. resized: since then it has
 * this row's; 0 = from its start. */
static const char resizes[] = "BEGIN IMMEDIATE;"
			      "ALTER TABLE runs ADD COLUMN part_of INTEGER NOT NULL DEFAULT 0;"
			      "ALTER TABLE runs ADD COLUMN resized INTEGER NOT NULL DEFAULT 0;"
			      "CREATE INDEX runs_part_of ON runs (part_of) WHERE part_of != 0;"
			      "COMMIT;";
static const struct {
	const char *column, *text;
} more[] = {
    {"node_gpus", sizes}, {"parts", parts}, {"gpu_micro", parts_of_gpus}, {"resized", resizes}};

static int
fail_db(sqlite3 *db, struct lt_error *err)
{
	return lt_fail(err, LT_EIO, "kube.db: %s", sqlite3_errmsg(db));
}

static void
path_of(char out[PATH_BYTES], const char *state_dir)
{
	snprintf(out, PATH_BYTES, "%s/kube.db", state_dir);
}

int
lt_kube_store_open(struct lt_kube_store **store, const char *state_dir, struct lt_error *err)
{
	struct lt_kube_store *const s = calloc(1, sizeof(*s));
	char path[PATH_BYTES];
	int code = LT_OK;

	if (s == NULL)
		return lt_fail(err, LT_ENOMEM, "kube.db: out of memory");
	path_of(path, state_dir);
	const mode_t before = umask(0077);
	if (sqlite3_open(path, &s->db) != SQLITE_OK ||
	    sqlite3_busy_timeout(s->db, BUSY_MS) != SQLITE_OK ||
	    sqlite3_exec(s->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		code = fail_db(s->db, err);
	umask(before);
	for (size_t i = 0; code == LT_OK && i < sizeof(more) / sizeof(more[0]); i++)
		if (sqlite3_table_column_metadata(s->db, NULL, "runs", more[i].column, NULL, NULL,
			NULL, NULL, NULL) != SQLITE_OK &&
		    sqlite3_exec(s->db, more[i].text, NULL, NULL, NULL) != SQLITE_OK)
			code = fail_db(s->db, err);
	for (int i = 0; code == LT_OK && i < STATEMENT_COUNT; i++)
		if (sqlite3_prepare_v3(s->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
			&s->statements[i], NULL) != SQLITE_OK)
			code = fail_db(s->db, err);
	if (code == LT_OK)
		*store = s;
	else
		lt_kube_store_close(s);
	return code;
}

void
lt_kube_store_close(struct lt_kube_store *store)
{
	if (store == NULL)
		return;
	for (int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	free(store);
}

/* Runs it; *number: of its one row, where one is asked for. */
static int
run_statement(
    struct lt_kube_store *store, enum statement which, int64_t *number, struct lt_error *err)
{
	sqlite3_stmt *const s = store->statements[which];
	const int rc = sqlite3_step(s);
	int code = LT_OK;

	if (rc == SQLITE_ROW && number != NULL)
		*number = sqlite3_column_int64(s, 0);
	else if (rc == SQLITE_DONE && number != NULL)
		code = LT_ENOENT;
	else if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		code = fail_db(store->db, err);
	sqlite3_reset(s);
	return code;
}

static void
bind_text(struct lt_kube_store *store, enum statement which, int at, const char *text)
{
	sqlite3_bind_text(store->statements[which], at, text, -1, SQLITE_TRANSIENT);
}

static void
bind_number(struct lt_kube_store *store, enum statement which, int at, int64_t number)
{
	sqlite3_bind_int64(store->statements[which], at, number);
}

int
lt_kube_store_begin(struct lt_kube_store *store, struct lt_error *err)
{
	return run_statement(store, S_BEGIN, NULL, err);
}

int
lt_kube_store_commit(struct lt_kube_store *store, struct lt_error *err)
{
	return run_statement(store, S_COMMIT, NULL, err);
}

void
lt_kube_store_rollback(struct lt_kube_store *store)
{
	(void)run_statement(store, S_ROLLBACK, NULL, NULL);
}

int
lt_kube_store_is_empty(struct lt_kube_store *store, bool *is_empty, struct lt_error *err)
{
	int64_t id;
	const int code = run_statement(store, S_ANY, &id, err);

	*is_empty = code == LT_ENOENT;
	return code == LT_ENOENT ? LT_OK : code;
}

int
lt_kube_store_id(
    struct lt_kube_store *store, const char *uid, bool is_made, uint32_t *id, struct lt_error *err)
{
	int64_t number = 0;

	bind_text(store, S_FIND_ID, 1, uid);
	int code = run_statement(store, S_FIND_ID, &number, err);
	if (code == LT_ENOENT && is_made) {
		bind_text(store, S_ADD_ID, 1, uid);
		code = run_statement(store, S_ADD_ID, NULL, err);
		number = sqlite3_last_insert_rowid(store->db);
	}
	if (code == LT_OK && number > INT32_MAX)
		return lt_fail(err, LT_ELIMIT, "kube.db: no number is left");
	*id = (uint32_t)number;
	return code;
}

int
lt_kube_store_name(struct lt_kube_store *store, uint32_t id, const char *namespace,
    const char *name, struct lt_error *err)
{
	bind_number(store, S_NAME, 1, id);
	bind_text(store, S_NAME, 2, namespace);
	bind_text(store, S_NAME, 3, name);
	return run_statement(store, S_NAME, NULL, err);
}

int
lt_kube_store_set_ended(
    struct lt_kube_store *store, uint32_t job_id, bool has_ended, struct lt_error *err)
{
	bind_number(store, S_SET_ENDED, 1, job_id);
	bind_number(store, S_SET_ENDED, 2, has_ended);
	return run_statement(store, S_SET_ENDED, NULL, err);
}

int
lt_kube_store_first_start(
    struct lt_kube_store *store, uint32_t job_id, int64_t *start_utc_s, struct lt_error *err)
{
	bind_number(store, S_FIRST_START, 1, job_id);
	return run_statement(store, S_FIRST_START, start_utc_s, err);
}

bool
lt_kube_store_is_open(struct lt_kube_store *store, uint32_t job_id)
{
	int64_t one;

	bind_number(store, S_IS_OPEN, 1, job_id);
	return run_statement(store, S_IS_OPEN, &one, NULL) == LT_OK;
}

/* Ends the time with the size that is known, if it has another now. */
static int
follow_size(struct lt_kube_store *store, const struct lt_kube_run *run,
    const struct lt_kube_need *need, struct lt_error *err)
{
	int64_t one;

	bind_number(store, S_OTHER_SIZE, 1, run->id);
	bind_number(store, S_OTHER_SIZE, 2, (int64_t)need->exact.cpu_milli);
	bind_number(store, S_OTHER_SIZE, 3, (int64_t)need->exact.memory_kib);
	const int code = run_statement(store, S_OTHER_SIZE, &one, err);
	if (code == LT_OK)
		return lt_kube_resize(store->db, run, err);
	return code == LT_ENOENT ? LT_OK : code;
}

int
lt_kube_store_most(
    struct lt_kube_store *store, uint32_t job_id, struct lt_exact *most, struct lt_error *err)
{
	return lt_kube_resize_most(store->db, job_id, most, err);
}

int
lt_kube_store_put(struct lt_kube_store *store, const struct lt_kube_run *run, struct lt_error *err)
{
	const struct lt_kube_pod *const pod = run->pod;
	const struct lt_kube_node none = {.gpus = 0};
	const struct lt_kube_node node = run->node != NULL ? *run->node : none;
	struct lt_kube_need need = pod->need;

	lt_kube_need_on(&need, run->node != NULL ? &node.gpu_kinds : NULL);
	/* All of its node: more GPUs than that has. */
	if (need.is_unsized)
		need.exact.gpu_micro = node.exact.gpu_micro + LT_KUBE_WHOLE_GPU;
	/* In the order of the statement; NULL: the number counts. */
	const struct {
		const char *text;
		int64_t number;
	} values[] = {
	    {NULL, run->id},
	    {NULL, run->job_id},
	    {NULL, pod->index},
	    {NULL, pod->created_utc_s},
	    {NULL, pod->start_utc_s},
	    {NULL, pod->end_utc_s},
	    {pod->state, 0},
	    {NULL, pod->exit_code},
	    {pod->node, 0},
	    {run->pool, 0},
	    {run->team, 0},
	    {run->user, 0},
	    {run->name, 0},
	    {run->qos, 0},
	    {run->quote, 0},
	    {NULL, need.cpus},
	    {NULL, need.gpus},
	    {NULL, (int64_t)need.memory_mib},
	    {NULL, run->limit_s},
	    {NULL, run->seen_utc_s},
	    {NULL, run->is_estimated},
	    {NULL, (int64_t)need.exact.cpu_milli},
	    {NULL, (int64_t)need.exact.memory_kib},
	    {NULL, (int64_t)node.exact.cpu_milli},
	    {NULL, (int64_t)node.exact.memory_kib},
	    {NULL, node.gpus},
	    {NULL, (int64_t)need.exact.gpu_micro},
	    {NULL, (int64_t)node.exact.gpu_micro},
	    {NULL, run->is_unheld},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].text != NULL)
			bind_text(store, S_PUT, (int)i + 1, values[i].text);
		else
			bind_number(store, S_PUT, (int)i + 1, values[i].number);
	}
	const int code = follow_size(store, run, &need, err);
	return code == LT_OK ? run_statement(store, S_PUT, NULL, err) : code;
}

int
lt_kube_store_end_unseen(
    struct lt_kube_store *store, int64_t since_utc_s, int64_t now_utc_s, struct lt_error *err)
{
	bind_number(store, S_END_UNSEEN, 1, since_utc_s);
	bind_number(store, S_END_UNSEEN, 2, now_utc_s);
	return run_statement(store, S_END_UNSEEN, NULL, err);
}

int
lt_kube_store_part(
    struct lt_kube_store *store, const struct lt_kube_part *part, struct lt_error *err)
{
	static const enum statement all[] = {S_PART_IDS, S_PARTS, S_NEXT_PARTS};
	static const enum statement last[] = {S_PART_IDS, S_PARTS, S_LEAVE};
	int code = LT_OK;

	for (size_t i = 0; code == LT_OK && i < sizeof(all) / sizeof(all[0]); i++) {
		const enum statement which = part->is_last ? last[i] : all[i];

		bind_number(store, which, 1, part->to_utc_s);
		bind_text(store, which, 2, part->namespace);
		if (which == S_PARTS)
			bind_number(store, which, 3, part->now_utc_s);
		code = run_statement(store, which, NULL, err);
	}
	return code;
}

int
lt_kube_store_move(
    struct lt_kube_store *store, const char *node, const char *pool, struct lt_error *err)
{
	bind_text(store, S_MOVE, 1, node);
	bind_text(store, S_MOVE, 2, pool);
	return run_statement(store, S_MOVE, NULL, err);
}

int
lt_kube_store_unheld(struct lt_kube_store *store, int64_t *count, struct lt_error *err)
{
	return run_statement(store, S_COUNT_UNHELD, count, err);
}

int
lt_kube_store_end_by(
    struct lt_kube_store *store, uint32_t job_id, int64_t end_utc_s, struct lt_error *err)
{
	bind_number(store, S_END_BY, 1, job_id);
	bind_number(store, S_END_BY, 2, end_utc_s);
	return run_statement(store, S_END_BY, NULL, err);
}

int
lt_kube_store_known(struct lt_kube_store *store, uint32_t job_id, const struct lt_kube_known *asked,
    struct lt_error *err)
{
	bind_number(store, S_ENDED, 1, job_id);
	const int code = run_statement(store, S_ENDED, asked->ended, err);
	if (code != LT_OK)
		return code;
	bind_number(store, S_SECONDS, 1, job_id);
	bind_number(store, S_SECONDS, 2, asked->from_utc_s);
	bind_number(store, S_SECONDS, 3, asked->to_utc_s);
	return run_statement(store, S_SECONDS, asked->seconds, err);
}

int
lt_kube_store_heard(struct lt_kube_store *store, int64_t utc_s, struct lt_error *err)
{
	bind_number(store, S_HEARD, 1, utc_s);
	return run_statement(store, S_HEARD, NULL, err);
}

int
lt_kube_store_last_heard(struct lt_kube_store *store, int64_t *utc_s, struct lt_error *err)
{
	return run_statement(store, S_LAST_HEARD, utc_s, err);
}

int
lt_kube_store_away(
    struct lt_kube_store *store, const struct lt_batch_away *away, struct lt_error *err)
{
	bind_number(store, S_AWAY, 1, away->from_utc_s);
	bind_number(store, S_AWAY, 2, away->to_utc_s);
	return run_statement(store, S_AWAY, NULL, err);
}

int
lt_kube_store_prune(struct lt_kube_store *store, int64_t before_utc_s, struct lt_error *err)
{
	static const enum statement all[] = {
	    S_PRUNE_RUNS, S_PRUNE_IDS, S_PRUNE_AWAYS, S_PRUNE_NODES};
	int code = LT_OK;

	for (size_t i = 0; code == LT_OK && i < sizeof(all) / sizeof(all[0]); i++) {
		bind_number(store, all[i], 1, before_utc_s);
		code = run_statement(store, all[i], NULL, err);
	}
	return code;
}

int
lt_kube_store_erase(struct lt_kube_store *store, int64_t before_utc_s, struct lt_error *err)
{
	bind_number(store, S_ERASE, 1, before_utc_s);
	return run_statement(store, S_ERASE, NULL, err);
}

int
lt_kube_store_keep_node(struct lt_kube_store *store, const char *kind, const char *node,
    int64_t now_utc_s, struct lt_error *err)
{
	bind_text(store, S_KEEP_NODE, 1, kind);
	bind_text(store, S_KEEP_NODE, 2, node);
	bind_number(store, S_KEEP_NODE, 3, now_utc_s);
	return run_statement(store, S_KEEP_NODE, NULL, err);
}

/* ---- pods that are resized while they run ---- */

enum { WATCHED_S = 30 }; /* that it watches is written down more often */

struct known { /* of the row */
	struct lt_kube_need size;
	int64_t start_utc_s, resized_utc_s, seen_utc_s;
	int64_t heard_utc_s; /* the cluster was watched last; 0 = never */
	int64_t cut_utc_s;   /* not of the row: when it ends */
};

static const char get_known[] =
    "SELECT start, resized, cpus, memory_mib, cpu_milli, memory_kib,"
    " seen, coalesce((SELECT utc_s FROM heard), 0) FROM runs WHERE id = ?1";
static const char name_part[] = "INSERT INTO ids (uid, made) VALUES ('size/' || ?1 || '/' || ?2,"
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
static const char most_of[] = "SELECT coalesce(max(cpu_milli), 0), coalesce(max(memory_kib), 0)"
			      " FROM runs WHERE job_id = ?1";

struct change {			/* a statement: its numbers from ?1 on, and ?4 as a text */
	const char *sql, *text; /* text NULL: a number, or none */
	int64_t numbers[6];
	int count;
};

static int
run_change(sqlite3 *db, const struct change *change, struct lt_error *err)
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
	return rc == SQLITE_DONE ? LT_OK : fail_db(db, err);
}

static int
read_known(sqlite3 *db, uint32_t id, struct known *known, struct lt_error *err)
{
	sqlite3_stmt *s = NULL;
	int code = LT_OK;

	if (sqlite3_prepare_v2(db, get_known, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(s, 1, id) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
		code = fail_db(db, err);
	else
		*known = (struct known){.start_utc_s = sqlite3_column_int64(s, 0),
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

/* Gives it this size from known->cut_utc_s on. */
static int
cut_stretch(sqlite3 *db, const struct lt_kube_run *run, struct known *known,
    const struct lt_kube_need *size, struct lt_error *err)
{
	const int64_t at_utc_s = known->cut_utc_s;
	const struct change changes[] = {
	    {name_part, NULL, {run->id, at_utc_s}, 2},
	    {put_part, run->quote, {run->id, at_utc_s, run->seen_utc_s}, 3},
	    {go_on, NULL,
		{run->id, at_utc_s, size->cpus, (int64_t)size->memory_mib,
		    (int64_t)size->exact.cpu_milli, (int64_t)size->exact.memory_kib},
		6},
	};
	int code = LT_OK;

	/* Within its first second nothing is before. */
	for (size_t i = at_utc_s > known->start_utc_s ? 0 : 2;
	     code == LT_OK && i < sizeof(changes) / sizeof(changes[0]); i++)
		code = run_change(db, &changes[i], err);
	known->start_utc_s = at_utc_s;
	return code;
}

/* Returns the time since which it has more. */
static int64_t
grew_at(const struct lt_kube_run *run, const struct known *known)
{
	const int64_t now_utc_s = run->seen_utc_s;
	const int64_t told_utc_s = run->pod->sized.resizing_utc_s;
	const bool was_away = known->heard_utc_s != 0 &&
			      (run->is_listed || now_utc_s - known->heard_utc_s > WATCHED_S);
	/* A resize while another is at work has that one's time. */
	const bool is_told = told_utc_s > known->resized_utc_s && told_utc_s <= now_utc_s;

	if (!was_away)
		return is_told ? told_utc_s : now_utc_s;
	return lt_max_i64(known->heard_utc_s, known->seen_utc_s);
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
		code = cut_stretch(db, run, &known, &most, err);
	if (code != LT_OK || is_size(&most, &pod->need) || !pod->sized.is_told ||
	    pod->end_utc_s != 0)
		return code;
	known.cut_utc_s = lt_max_i64(run->seen_utc_s, known.start_utc_s);
	return cut_stretch(db, run, &known, &pod->need, err);
}

int
lt_kube_resize_most(sqlite3 *db, uint32_t job_id, struct lt_exact *most, struct lt_error *err)
{
	sqlite3_stmt *s = NULL;
	int code = LT_OK;

	if (sqlite3_prepare_v2(db, most_of, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_bind_int64(s, 1, job_id) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
		code = fail_db(db, err);
	else
		*most = (struct lt_exact){.cpu_milli = (uint64_t)sqlite3_column_int64(s, 0),
		    .memory_kib = (uint64_t)sqlite3_column_int64(s, 1)};
	sqlite3_finalize(s);
	return code;
}
