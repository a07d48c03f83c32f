/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long jobs ran: runs that say something, and the groups that they are in.
 * Apart from what was charged, so that a user can have it erased.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger_db.h"
#include "lookup.h"
#include "smoke.h"

int
lt_ledger_put_length(struct lt_ledger *ledger, const struct lt_length *length,
    struct lt_error *err)
{
	if (ledger->in_transaction)
		return lt_lengths_keep(ledger, length, err);
	const int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	return lt_call_end(
	    ledger, LT_DB_LEDGER, lt_lengths_put(ledger, length, 1, err), err);
}

int
lt_ledger_parts_before(struct lt_ledger *ledger, const struct lt_run *run,
    struct lt_run_part *parts, uint32_t room, struct lt_error *err)
{
	struct lt_rows rows;
	uint32_t used = 0;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_PARTS_BEFORE, LT_INT(run->key.job_id),
		LT_INT(run->key.submit_utc_s), LT_INT(run->uid), LT_INT(room)),
	    err);

	while (rc == LT_OK && used < room &&
	       (rc = lt_rows_next(&rows, err)) == 1) {
		lt_row_text(&rows, parts[used].state_text,
		    sizeof(parts[used].state_text));
		parts[used].length_s = lt_row_int(&rows);
		used++;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : (int)used;
}

static void
read_figures(struct lt_rows *rows, struct lt_history_figures *figures)
{
	figures->runs = (uint32_t)lt_row_int(rows);
	figures->median = (uint32_t)lt_row_int(rows);
	figures->upper = (uint32_t)lt_row_int(rows);
	figures->upper_is_longest = lt_row_int(rows) != 0;
	figures->low = (uint32_t)lt_row_int(rows);
	figures->high = (uint32_t)lt_row_int(rows);
}

static void
read_key(struct lt_rows *rows, struct lt_history_key *key)
{
	key->hash = (uint64_t)lt_row_int(rows);
	key->uid = (uint32_t)lt_row_int(rows);
}

/* In the order of LT_SQL_KIND_COLUMNS. */
static void
read_kind(struct lt_rows *rows, void *element)
{
	struct lt_kind *const kind = element;

	memset(kind, 0, sizeof(*kind));
	read_key(rows, &kind->key);
	kind->group = (enum lt_history_group)lt_row_int(rows);
	lt_row_text(rows, kind->account, sizeof(kind->account));
	lt_row_text(rows, kind->name, sizeof(kind->name));
	kind->nodes = (uint32_t)lt_row_int(rows);
	kind->cpus = (uint32_t)lt_row_int(rows);
	kind->gpus = (uint32_t)lt_row_int(rows);
	kind->last_utc_s = lt_row_int(rows);
	read_figures(rows, &kind->figures);
	kind->ratio_ppm = (uint32_t)lt_row_int(rows);
	kind->band = (uint32_t)lt_row_int(rows);
}

static int
all_kinds(struct lt_ledger *ledger, struct lt_bound bound,
    struct lt_kind **kinds, uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_kind, .size = sizeof(**kinds)};
	const int rc = lt_rows_all(ledger, bound, &found, err);

	*kinds = found.items;
	*count = found.count;
	return rc;
}

int
lt_ledger_stale_kinds(struct lt_ledger *ledger, uint32_t most,
    struct lt_kind **kinds, uint32_t *count, struct lt_error *err)
{
	return all_kinds(ledger, LT_BIND(LT_SQL_KINDS_STALE, LT_INT(most)),
	    kinds, count, err);
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
	    [LT_HISTORY_ACCOUNT] = {
		LT_SQL_LENGTHS_OF_ACCOUNT, LT_RUNS_OF_ACCOUNT}};
	const uint32_t room = LT_ROW(groups, kind->group).room;
	struct lt_rows rows;
	uint32_t used = 0;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_ROW(groups, kind->group).sql, LT_INT(kind->key.hash),
		LT_INT(kind->key.uid), LT_TEXT(kind->account),
		LT_INT(kind->band), LT_INT(room)),
	    err);

	while (rc == LT_OK && used < room &&
	       (rc = lt_rows_next(&rows, err)) == 1) {
		runs[used].length_s = lt_row_int(&rows);
		runs[used].limit_s = lt_row_int(&rows);
		runs[used].at_least = lt_row_int(&rows) != 0;
		used++;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : (int)used;
}

int
lt_ledger_put_figures(
    struct lt_ledger *ledger, const struct lt_kind *kind, struct lt_error *err)
{
	const struct lt_history_figures *const f = &kind->figures;

	if (f->runs == 0)
		return lt_sql_do(ledger,
		    LT_BIND(LT_SQL_KIND_DROP, LT_INT(kind->key.hash),
			LT_INT(kind->key.uid)),
		    err);
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_KIND_FIGURES, LT_INT(kind->key.hash),
		LT_INT(kind->key.uid), LT_INT(f->runs), LT_INT(f->median),
		LT_INT(f->upper), LT_INT(f->upper_is_longest), LT_INT(f->low),
		LT_INT(f->high), LT_INT(kind->ratio_ppm)),
	    err);
}

/* Of LENGTHS_BY_GPU, whose rows are sorted. */
static int
medians(struct lt_speed speeds[LT_SPEEDS_MAX], struct lt_rows *rows,
    struct lt_error *err)
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

			if (now.runs >= LT_HISTORY_RUNS_LEAST &&
			    used < LT_SPEEDS_MAX) {
				now.median_s =
				    (uint32_t)((lengths_s[half] +
						   lengths_s[(now.runs - 1) /
							     2] +
						   1) /
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
lt_ledger_make_speeds(struct lt_ledger *ledger,
    const struct lt_history_key *name, struct lt_error *err)
{
	struct lt_speed speeds[LT_SPEEDS_MAX];
	struct lt_rows rows;
	int count = lt_sql_start(&rows, ledger,
	    LT_BIND(
		LT_SQL_LENGTHS_BY_GPU, LT_INT(name->hash), LT_INT(name->uid)),
	    err);

	if (count == LT_OK)
		count = medians(speeds, &rows, err);
	lt_rows_end(&rows);
	if (count < 0)
		return count;
	int rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_SPEEDS_DROP, LT_INT(name->hash), LT_INT(name->uid)),
	    err);
	for (int i = 0; rc == LT_OK && count > 1 && i < count; i++) {
		const struct lt_history_key key =
		    lt_history_gpu_key(*name, speeds[i].gpu);

		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_SPEED_PUT, LT_INT(name->hash),
			LT_INT(name->uid), LT_TEXT(speeds[i].gpu),
			LT_INT(key.hash), LT_INT(speeds[i].runs),
			LT_INT(speeds[i].median_s)),
		    err);
	}
	return rc;
}

int
lt_ledger_speeds(struct lt_ledger *ledger, const struct lt_history_key *name,
    struct lt_speed speeds[LT_SPEEDS_MAX], struct lt_error *err)
{
	struct lt_rows rows;
	int used = 0;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_SPEEDS_OF, LT_INT(name->hash), LT_INT(name->uid)),
	    err);

	while (rc == LT_OK && used < LT_SPEEDS_MAX &&
	       (rc = lt_rows_next(&rows, err)) == 1) {
		struct lt_speed *const speed = &speeds[used++];

		lt_row_text(&rows, speed->gpu, sizeof(speed->gpu));
		speed->runs = (uint32_t)lt_row_int(&rows);
		speed->median_s = (uint32_t)lt_row_int(&rows);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc < 0 ? rc : used;
}

int
lt_ledger_figures(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_history_figures *figures, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(LT_SQL_FIGURES_OF, LT_INT((int64_t)key->hash),
		LT_INT(key->uid)),
	    err);

	*figures = (struct lt_history_figures){0};
	if (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		read_figures(&rows, figures);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc;
}

static void
read_record(struct lt_rows *rows, void *element)
{
	struct lt_history_record *const record = element;

	read_key(rows, &record->key);
	read_figures(rows, &record->figures);
}

int
lt_ledger_history(struct lt_ledger *ledger, uint32_t most,
    struct lt_history_record **records, uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_record, .size = sizeof(**records)};
	const int rc = lt_rows_all(
	    ledger, LT_BIND(LT_SQL_KINDS_TOLD, LT_INT(most)), &found, err);

	*records = found.items;
	*count = found.count;
	return rc;
}

static void
read_smoke(struct lt_rows *rows, void *element)
{
	struct lt_history_record *const record = element;
	char account[LT_ACCOUNT_SIZE], name[LT_NAME_SIZE];
	const uint32_t uid = (uint32_t)lt_row_int(rows);

	lt_row_text(rows, account, sizeof(account));
	lt_row_text(rows, name, sizeof(name));
	*record = (struct lt_history_record){
	    .key = lt_smoke_key(uid, account, lt_smoke_name_hash(name))};
	record->figures.runs = (uint32_t)lt_row_int(rows);
	record->figures.median = (uint32_t)lt_row_int(rows);
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
	return (p->figures.median < q->figures.median) -
	       (p->figures.median > q->figures.median);
}

/* Names that differ in digits are one. */
static uint32_t
merge(struct lt_history_record *records, uint32_t count)
{
	uint32_t kept = 0;

	if (count > 1)
		qsort(records, count, sizeof(*records), by_key);
	for (uint32_t i = 0; i < count; i++)
		if (kept > 0 &&
		    records[kept - 1].key.hash == records[i].key.hash &&
		    records[kept - 1].key.uid == records[i].key.uid)
			records[kept - 1].figures.runs +=
			    records[i].figures.runs;
		else
			records[kept++] = records[i];
	return kept;
}

int
lt_ledger_smokes(struct lt_ledger *ledger, int64_t since_utc_s,
    struct lt_history_record **records, uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_smoke, .size = sizeof(**records)};
	const int rc = lt_rows_all(ledger,
	    LT_BIND(LT_SQL_SMOKE_RUNS, LT_INT(since_utc_s),
		LT_INT(LT_SMOKE_NODES_MAX), LT_INT(LT_SMOKES_MAX)),
	    &found, err);

	*records = found.items;
	*count = merge(found.items, found.count);
	return rc;
}

int
lt_ledger_kinds_of(struct lt_ledger *ledger, const struct lt_kinds_asked *asked,
    struct lt_kind **kinds, uint32_t *count, struct lt_error *err)
{
	return all_kinds(ledger,
	    LT_BIND(LT_SQL_KINDS_OF_USER, LT_INT(asked->uid),
		LT_TEXT(asked->name), LT_INT(asked->most)),
	    kinds, count, err);
}

static int
forget_lengths(struct lt_ledger *ledger, uint32_t uid, uint32_t *count,
    struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(
	    &rows, ledger, LT_BIND(LT_SQL_FORGET_LENGTHS, LT_INT(uid)), err);

	*count = 0;
	while (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		++*count;
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_forget(struct lt_ledger *ledger, uint32_t uid, int64_t now_utc_s,
    uint32_t *count, struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(ledger,
	    LT_BIND(LT_SQL_FORGET, LT_INT(uid), LT_INT(now_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_FORGET_ACCOUNTS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = forget_lengths(ledger, uid, count, err);
	if (rc == LT_OK)
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_FORGET_KINDS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_FORGET_SPEEDS, LT_INT(uid)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(
		    ledger, LT_BIND(LT_SQL_FORGET_PROOFS, LT_INT(uid)), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}

int
lt_ledger_prune_lengths(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	int rc = lt_call_begin(ledger, LT_DB_LEDGER, err);

	if (rc != LT_OK)
		return rc;
	rc = lt_sql_do(
	    ledger, LT_BIND(LT_SQL_LENGTHS_OLD, LT_INT(before_utc_s)), err);
	if (rc == LT_OK)
		rc = lt_sql_do(ledger,
		    LT_BIND(LT_SQL_LENGTHS_PRUNE, LT_INT(before_utc_s)), err);
	return lt_call_end(ledger, LT_DB_LEDGER, rc, err);
}
