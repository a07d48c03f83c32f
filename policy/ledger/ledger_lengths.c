/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lengths of runs, and the groups of similar jobs that they teach. They are kept apart from
 * charges, so that a user can have them erased. Reads and writes ledger.db; ledger_new_lengths.c
 * collects what one transaction adds. A failure of SQLite is an error.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger_db.h"
#include "lookup.h"
#include "smoke.h"

/* Figures of a group; the part that is made anew of its runs. */
enum { MADE = 1 };
/* A table: clang-format would make paragraphs of it. */
/* clang-format off */
#define FIGURES(record)                                                        \
	{LT_DB_COLUMN(record, "runs", figures.runs), .parts = MADE},           \
	{LT_DB_COLUMN(record, "median", figures.median), .parts = MADE},       \
	{LT_DB_COLUMN(record, "upper", figures.upper), .parts = MADE},         \
	{LT_DB_COLUMN(record, "is_longest", figures.upper_is_longest),         \
	    .parts = MADE},                                                    \
	{LT_DB_COLUMN(record, "low", figures.low), .parts = MADE},             \
	{LT_DB_COLUMN(record, "high", figures.high), .parts = MADE}
/* clang-format on */

#define KIND(column, member) LT_DB_COLUMN(struct lt_kind, column, member)
static const struct lt_db_column kind_list[] = {
    {KIND("kind", key.hash)},
    {KIND("uid", key.uid)},
    {KIND("wide", group)},
    {KIND("account", account)},
    {KIND("name", name)},
    {KIND("nodes", nodes)},
    {KIND("cpus", cpus)},
    {KIND("gpus", gpus)},
    {KIND("last_utc_s", last_utc_s)},
    FIGURES(struct lt_kind),
    {KIND("ratio", ratio_ppm), .parts = MADE},
    {KIND("band", band)},
};
static const struct lt_db_columns kind_columns = {LT_DB_COLUMNS(struct lt_kind, kind_list)};
static const struct lt_db_columns made_columns = {
    LT_DB_COLUMNS(struct lt_kind, kind_list), .parts = MADE};

#define RECORD(column, member) LT_DB_COLUMN(struct lt_history_record, column, member)
static const struct lt_db_column record_list[] = {
    {RECORD("kind", key.hash)},
    {RECORD("uid", key.uid)},
    FIGURES(struct lt_history_record),
};
static const struct lt_db_columns record_columns = {
    LT_DB_COLUMNS(struct lt_history_record, record_list)};

int
lt_ledger_put_length(struct lt_ledger *ledger, const struct lt_length *length, struct lt_error *err)
{
	if (ledger->in_transaction)
		return lt_lengths_keep(ledger, length, err);
	const int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	return lt_call_end(ledger, LT_DB_LEDGER, lt_lengths_put(ledger, length, 1, err), err);
}

int
lt_ledger_parts_before(struct lt_ledger *ledger, const struct lt_run *run,
    struct lt_run_part *parts, uint32_t room, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_run_part, "state_text", state_text)},
	    {LT_DB_COLUMN(struct lt_run_part, "length_s", length_s)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_run_part, list)};

	return lt_sql_some(ledger,
	    LT_BIND(LT_SQL_PARTS_BEFORE, LT_INT(run->key.job_id), LT_INT(run->key.submit_utc_s),
		LT_INT(run->uid), LT_INT(room)),
	    &columns, parts, room, err);
}

int
lt_ledger_stale_kinds(struct lt_ledger *ledger, uint32_t most, struct lt_kind **kinds,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_KINDS_STALE, LT_INT(most)), &kind_columns, kinds, count, err);
}

int
lt_ledger_stale_all(struct lt_ledger *ledger, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_PLAIN(LT_SQL_KINDS_ALL_STALE), err);
}

int
lt_ledger_lengths(struct lt_ledger *ledger, const struct lt_kind *kind,
    struct lt_run_length runs[LT_RUNS_MOST], struct lt_error *err)
{
	static const struct {
		enum lt_sql sql;
		uint32_t room;
	} groups[LT_HISTORY_GROUPS] = {
	    [LT_HISTORY_NAME] = {LT_SQL_LENGTHS_OF_NAME, LT_RUNS_OF_NAME},
	    [LT_HISTORY_USER] = {LT_SQL_LENGTHS_OF_USER, LT_RUNS_OF_USER},
	    [LT_HISTORY_ACCOUNT] = {LT_SQL_LENGTHS_OF_ACCOUNT, LT_RUNS_OF_ACCOUNT}};
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_run_length, "length_s", length_s)},
	    {LT_DB_COLUMN(struct lt_run_length, "limit_s", limit_s)},
	    {LT_DB_COLUMN(struct lt_run_length, "at_least", at_least)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_run_length, list)};
	const uint32_t room = LT_ROW(groups, kind->group).room;

	return lt_sql_some(ledger,
	    LT_BIND(LT_ROW(groups, kind->group).sql, LT_INT(kind->key.hash), LT_INT(kind->key.uid),
		LT_TEXT(kind->account), LT_INT(kind->band), LT_INT(room)),
	    &columns, runs, room, err);
}

int
lt_ledger_put_figures(struct lt_ledger *ledger, const struct lt_kind *kind, struct lt_error *err)
{
	if (kind->figures.runs == 0)
		return lt_sql_do(ledger,
		    LT_BIND(LT_SQL_KIND_DROP, LT_INT(kind->key.hash), LT_INT(kind->key.uid)), err);
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_KIND_FIGURES, &made_columns, kind, LT_INT(kind->key.hash),
		LT_INT(kind->key.uid)),
	    err);
}

#define SPEED(column, member) LT_DB_COLUMN(struct lt_speed, column, member)
static const struct lt_db_column speed_list[] = {
    {SPEED("gpu", gpu)},
    {SPEED("runs", runs)},
    {SPEED("median", median_s)},
};
static const struct lt_db_columns speed_columns = {LT_DB_COLUMNS(struct lt_speed, speed_list)};

/* Reads the medians from the rows of LENGTHS_BY_GPU, which are sorted. */
static int
medians(struct lt_speed speeds[LT_SPEEDS_MAX], struct lt_rows *rows, struct lt_error *err)
{
	int64_t lengths_s[LT_RUNS_OF_NAME];
	char gpu[LT_GPU_NAME_SIZE];
	struct lt_speed now = {.gpu = ""};
	uint32_t used = 0;
	int rc;

	for (;;) {
		rc = lt_rows_next(rows, err);
		if (rc == 1)
			lt_row_text(rows, gpu, sizeof(gpu));
		if (rc != 1 || strcmp(gpu, now.gpu) != 0) {
			const uint32_t half = now.runs / 2;

			if (now.runs >= LT_HISTORY_RUNS_LEAST && used < LT_SPEEDS_MAX) {
				now.median_s = (uint32_t)((lengths_s[half] +
							      lengths_s[(now.runs - 1) / 2] + 1) /
							  2);
				speeds[used++] = now;
			}
			now.runs = 0;
		}
		if (rc != 1)
			return rc < 0 ? rc : (int)used;
		memcpy(now.gpu, gpu, sizeof(gpu));
		if (now.runs < LT_RUNS_OF_NAME)
			lengths_s[now.runs++] = lt_row_int(rows);
	}
}

int
lt_ledger_make_speeds(
    struct lt_ledger *ledger, const struct lt_history_key *name, struct lt_error *err)
{
	struct lt_speed speeds[LT_SPEEDS_MAX];
	struct lt_rows rows;
	int count = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_LENGTHS_BY_GPU, LT_INT(name->hash), LT_INT(name->uid)), NULL, err);

	if (count == LT_OK)
		count = medians(speeds, &rows, err);
	lt_rows_end(&rows);
	if (count < 0)
		return count;
	int rc = lt_sql_do(
	    ledger, LT_BIND(LT_SQL_SPEEDS_DROP, LT_INT(name->hash), LT_INT(name->uid)), err);
	for (int i = 0; rc == LT_OK && count > 1 && i < count; i++) {
		const struct lt_history_key key = lt_history_gpu_key(*name, speeds[i].gpu);

		rc = lt_sql_do(ledger,
		    LT_BIND_RECORD(LT_SQL_SPEED_PUT, &speed_columns, &speeds[i], LT_INT(name->hash),
			LT_INT(name->uid), LT_INT(key.hash)),
		    err);
	}
	return rc;
}

int
lt_ledger_speeds(struct lt_ledger *ledger, const struct lt_history_key *name,
    struct lt_speed speeds[LT_SPEEDS_MAX], struct lt_error *err)
{
	return lt_sql_some(ledger, LT_BIND(LT_SQL_SPEEDS_OF, LT_INT(name->hash), LT_INT(name->uid)),
	    &speed_columns, speeds, LT_SPEEDS_MAX, err);
}

int
lt_ledger_figures(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_history_figures *figures, struct lt_error *err)
{
	struct lt_history_record found = {.figures = {0}};
	const int rc =
	    lt_sql_get(ledger, LT_BIND(LT_SQL_FIGURES_OF, LT_INT(key->hash), LT_INT(key->uid)),
		&record_columns, &found, err);

	*figures = found.figures;
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_history(struct lt_ledger *ledger, uint32_t most, struct lt_history_record **records,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_KINDS_TOLD, LT_INT(most)), &record_columns, records, count, err);
}

static int
by_key(const void *a, const void *b)
{
	const struct lt_history_record *const p = a, *const q = b;

	if (p->key.hash != q->key.hash)
		return p->key.hash < q->key.hash ? -1 : 1;
	if (p->key.uid != q->key.uid)
		return p->key.uid < q->key.uid ? -1 : 1;
	/* The last run first. */
	return (p->figures.median < q->figures.median) - (p->figures.median > q->figures.median);
}

/* Names that differ in digits are one. */
static uint32_t
merge(struct lt_history_record *records, uint32_t count)
{
	uint32_t kept = 0;

	if (count > 1)
		qsort(records, count, sizeof(*records), by_key);
	for (uint32_t i = 0; i < count; i++)
		if (kept > 0 && records[kept - 1].key.hash == records[i].key.hash &&
		    records[kept - 1].key.uid == records[i].key.uid)
			records[kept - 1].figures.runs += records[i].figures.runs;
		else
			records[kept++] = records[i];
	return kept;
}

struct smoke { /* runs of a name */
	uint32_t uid, runs, last_utc_s;
	char account[LT_ACCOUNT_SIZE], name[LT_NAME_SIZE];
};
#define SMOKE(column, member) LT_DB_COLUMN(struct smoke, column, member)
static const struct lt_db_column smoke_list[] = {
    {SMOKE("uid", uid)},
    {SMOKE("account", account)},
    {SMOKE("name", name)},
    {SMOKE("runs", runs)},
    {SMOKE("last_utc_s", last_utc_s)},
};
static const struct lt_db_columns smoke_columns = {LT_DB_COLUMNS(struct smoke, smoke_list)};

int
lt_ledger_smokes(struct lt_ledger *ledger, int64_t since_utc_s, struct lt_history_record **records,
    uint32_t *count, struct lt_error *err)
{
	struct smoke *smokes;
	const int rc = lt_sql_list(ledger,
	    LT_BIND(LT_SQL_SMOKE_RUNS, LT_INT(since_utc_s), LT_INT(LT_SMOKE_NODES_MAX),
		LT_INT(LT_SMOKES_MAX)),
	    &smoke_columns, &smokes, count, err);
	struct lt_history_record *const made = *count > 0 ? calloc(*count, sizeof(*made)) : NULL;

	if (made == NULL && *count > 0) {
		free(smokes);
		*count = 0;
		return lt_fail(err, LT_ENOMEM, "ledger: no memory for rows");
	}
	for (uint32_t i = 0; i < *count; i++) {
		const struct smoke *const smoke = &smokes[i];

		made[i].key =
		    lt_smoke_key(smoke->uid, smoke->account, lt_smoke_name_hash(smoke->name));
		made[i].figures.runs = smoke->runs;
		made[i].figures.median = smoke->last_utc_s;
	}
	free(smokes);
	*records = made;
	*count = merge(made, *count);
	return rc;
}

int
lt_ledger_kinds_of(struct lt_ledger *ledger, const struct lt_kinds_asked *asked,
    struct lt_kind **kinds, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger,
	    LT_BIND(LT_SQL_KINDS_OF_USER, LT_INT(asked->uid), LT_TEXT(asked->name),
		LT_INT(asked->most)),
	    &kind_columns, kinds, count, err);
}

static int
forget_lengths(struct lt_ledger *ledger, uint32_t uid, uint32_t *count, struct lt_error *err)
{
	struct lt_rows rows;
	int rc =
	    lt_sql_start(&rows, ledger, LT_BIND(LT_SQL_FORGET_LENGTHS, LT_INT(uid)), NULL, err);

	*count = 0;
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		++*count;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_forget(struct lt_ledger *ledger, uint32_t uid, int64_t now_utc_s, uint32_t *count,
    struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_BIND(LT_SQL_FORGET, LT_INT(uid), LT_INT(now_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_FORGET_ACCOUNTS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = forget_lengths(ledger, uid, count, err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_FORGET_KINDS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_FORGET_SPEEDS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_FORGET_PROOFS, LT_INT(uid)), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_prune_lengths(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger, LT_BIND(LT_SQL_LENGTHS_OLD, LT_INT(before_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger, LT_BIND(LT_SQL_LENGTHS_PRUNE, LT_INT(before_utc_s)), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}
