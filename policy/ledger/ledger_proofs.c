/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who was seen to resume after an interruption, the lives of jobs that show it,
 * and those that are interrupted to see.
 */
#include "ledger_db.h"
#include "proofs.h"

#define PROOF(column, member) LT_DB_COLUMN(struct lt_proof_row, column, member)
static const struct lt_db_column proof_list[] = {
    {PROOF("proven_utc_s", proven_utc_s)},
    {PROOF("survived", survived)},
    {PROOF("failed", failed)},
    {PROOF("write_s", write_s)},
    {PROOF("restart_s", restart_s)},
    {PROOF("canary_utc_s", canary_utc_s)},
    {PROOF("last_utc_s", last_utc_s)},
};
static const struct lt_db_columns proof_columns = {
    LT_DB_COLUMNS(struct lt_proof_row, proof_list)};

int
lt_ledger_proof(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_proof_row *row, struct lt_error *err)
{
	*row = (struct lt_proof_row){0};
	const int rc = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_PROOF_OF, LT_INT(key->hash), LT_INT(key->uid)),
	    &proof_columns, row, err);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_put_proof(struct lt_ledger *ledger, const struct lt_proof_of *of,
    const struct lt_proof_row *row, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_PROOF_PUT, &proof_columns, row,
		LT_INT(of->key.hash), LT_INT(of->key.uid), LT_TEXT(of->account),
		LT_TEXT(of->name), LT_INT(of->script_hash)),
	    err);
}

int
lt_ledger_prune_proofs(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_PROOFS_PRUNE, LT_INT(before_utc_s)), err);
}

#define LIFE(column, member) LT_DB_COLUMN(struct lt_life, column, member)
static const struct lt_db_column life_list[] = {
    {LIFE("job_id", job_id)},
    {LIFE("uid", uid)},
    {LIFE("restarts", now.restarts)},
    {LIFE("first", now.first.progress)},
    {LIFE("first_after_s", now.first_after_s)},
    {LIFE("newest", now.newest.progress)},
    {LIFE("newest_after_s", now.newest_after_s)},
    {LIFE("asked_utc_s", asked_utc_s)},
    {LIFE("asked", asked_progress)},
    {LIFE("asked_after_s", asked_after_s)},
    {LIFE("write_s", write_s)},
    {LIFE("has_before", has_before)},
    {LIFE("before_was_asked", before_was_asked)},
    {LIFE("before_first", before_first)},
    {LIFE("before", before_progress)},
    {LIFE("before_after_s", before_after_s)},
    {LIFE("outcome", outcome)},
};
static const struct lt_db_columns life_columns = {
    LT_DB_COLUMNS(struct lt_life, life_list)};

int
lt_ledger_put_life(
    struct lt_ledger *ledger, const struct lt_life *life, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_LIFE_PUT, &life_columns, life), err);
}

int
lt_ledger_drop_life(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_LIFE_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_lives(struct lt_ledger *ledger, struct lt_life **lives,
    uint32_t *count, struct lt_error *err)
{
	const int code = lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_LIVES), &life_columns, lives, count, err);

	for (uint32_t i = 0; i < *count; i++)
		(*lives)[i].is_told = true;
	return code;
}

#define CANARY(column, member) LT_DB_COLUMN(struct lt_canary, column, member)
static const struct lt_db_column canary_list[] = {
    {CANARY("job_id", job_id)},
    {CANARY("start_utc_s", start_utc_s)},
    {CANARY("requeue_utc_s", requeue_utc_s)},
};
static const struct lt_db_columns canary_columns = {
    LT_DB_COLUMNS(struct lt_canary, canary_list)};

int
lt_ledger_put_canary(struct lt_ledger *ledger, const struct lt_canary *canary,
    struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_CANARY_PUT, &canary_columns, canary), err);
}

int
lt_ledger_drop_canary(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_CANARY_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_canaries(struct lt_ledger *ledger, struct lt_canary **canaries,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_CANARIES), &canary_columns,
	    canaries, count, err);
}
