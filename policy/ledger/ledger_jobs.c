/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs while they run: how often one was interrupted, and what it has done; nodes that their owner
 * takes back, and how far the jobs there are; jobs that lowtide lets stand still; who was seen to
 * resume after an interruption, the lives of jobs that show it, and those that are interrupted to
 * see. Each step is written before it is done, so that none is done twice.
 */
#include "ledger_jobs.h"
#include "ledger_db.h"

#define RUN(column, member) LT_DB_COLUMN(struct lt_interrupted, column, member)
static const struct lt_db_column interrupted_list[] = {
    {RUN("job_id", job_id)},
    {RUN("start_utc_s", start_utc_s)},
    {RUN("at_utc_s", at_utc_s)},
    {RUN("counts", counts)},
    {RUN("done_s", done_s)},
};
static const struct lt_db_columns interrupted_columns = {
    LT_DB_COLUMNS(struct lt_interrupted, interrupted_list)};

int
lt_ledger_put_interruption(
    struct lt_ledger *ledger, const struct lt_interrupted *run, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_INTERRUPTION_PUT, &interrupted_columns, run), err);
}

int
lt_ledger_losses(struct lt_ledger *ledger, uint32_t job_id, int64_t since_utc_s,
    struct lt_losses *life, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_losses, "counts", interruptions)},
	    {LT_DB_COLUMN(struct lt_losses, "done_s", done_s)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_losses, list)};

	*life = (struct lt_losses){0};
	const int code = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_LOSSES, LT_INT(job_id), LT_INT(since_utc_s)), &columns, life, err);
	return code < 0 ? code : LT_OK;
}

int
lt_ledger_prune_interruptions(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_INTERRUPTIONS_PRUNE, LT_INT(before_utc_s)), err);
}

#define NOTICE(column, member) LT_DB_COLUMN(struct lt_notice, column, member)
static const struct lt_db_column notice_list[] = {
    {NOTICE("node", node)},
    {NOTICE("told_utc_s", told_utc_s)},
    {NOTICE("end_utc_s", end_utc_s)},
    {NOTICE("stage", stage)},
};
static const struct lt_db_columns notice_columns = {LT_DB_COLUMNS(struct lt_notice, notice_list)};

int
lt_ledger_put_notice(struct lt_ledger *ledger, const struct lt_notice *notice, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_NOTICE_PUT, &notice_columns, notice), err);
}

int
lt_ledger_drop_notice(struct lt_ledger *ledger, const char *node, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_NOTICE_DROP, LT_TEXT(node)), err);
}

int
lt_ledger_notices(
    struct lt_ledger *ledger, struct lt_notice **notices, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_NOTICES), &notice_columns, notices, count, err);
}

#define JOB(column, member) LT_DB_COLUMN(struct lt_reclaimed, column, member)
static const struct lt_db_column reclaimed_list[] = {
    {JOB("job_id", job_id)},
    {JOB("start_utc_s", start_utc_s)},
    {JOB("step", step)},
    {JOB("at_utc_s", at_utc_s)},
};
static const struct lt_db_columns reclaimed_columns = {
    LT_DB_COLUMNS(struct lt_reclaimed, reclaimed_list)};

int
lt_ledger_put_reclaimed(
    struct lt_ledger *ledger, const struct lt_reclaimed *job, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_RECLAIMED_PUT, &reclaimed_columns, job), err);
}

int
lt_ledger_drop_reclaimed(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_RECLAIMED_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_reclaimed(
    struct lt_ledger *ledger, struct lt_reclaimed **jobs, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_RECLAIMED), &reclaimed_columns, jobs, count, err);
}

#define PAUSED(column, member) LT_DB_COLUMN(struct lt_paused, column, member)
static const struct lt_db_column paused_list[] = {
    {PAUSED("job_id", job_id)},
    {PAUSED("start_utc_s", start_utc_s)},
    {PAUSED("step", step)},
    {PAUSED("at_utc_s", at_utc_s)},
    {PAUSED("until_utc_s", until_utc_s)},
    {PAUSED("held_s", held_s)},
    {PAUSED("changed_utc_s", changed_utc_s)},
    {PAUSED("saves_micros", saves.money_micros),
	LT_DB_COLUMN_HAS(struct lt_paused, saves.has_money)},
    {PAUSED("saves_mg", saves.carbon_mg), LT_DB_COLUMN_HAS(struct lt_paused, saves.has_carbon)},
};
static const struct lt_db_columns paused_columns = {LT_DB_COLUMNS(struct lt_paused, paused_list)};

int
lt_ledger_put_paused(struct lt_ledger *ledger, const struct lt_paused *paused, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_PAUSED_PUT, &paused_columns, paused), err);
}

int
lt_ledger_drop_paused(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_PAUSED_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_paused(
    struct lt_ledger *ledger, struct lt_paused **paused, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_PAUSED), &paused_columns, paused, count, err);
}

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
static const struct lt_db_columns proof_columns = {LT_DB_COLUMNS(struct lt_proof_row, proof_list)};

int
lt_ledger_proof(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_proof_row *row, struct lt_error *err)
{
	*row = (struct lt_proof_row){0};
	const int rc =
	    lt_sql_get(ledger, LT_BIND(LT_SQL_PROOF_OF, LT_INT(key->hash), LT_INT(key->uid)),
		&proof_columns, row, err);
	return rc < 0 ? rc : LT_OK;
}

int
lt_ledger_put_proof(struct lt_ledger *ledger, const struct lt_proof_of *of,
    const struct lt_proof_row *row, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND_RECORD(LT_SQL_PROOF_PUT, &proof_columns, row, LT_INT(of->key.hash),
		LT_INT(of->key.uid), LT_TEXT(of->account), LT_TEXT(of->name),
		LT_INT(of->script_hash)),
	    err);
}

int
lt_ledger_prune_proofs(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_PROOFS_PRUNE, LT_INT(before_utc_s)), err);
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
static const struct lt_db_columns life_columns = {LT_DB_COLUMNS(struct lt_life, life_list)};

int
lt_ledger_put_life(struct lt_ledger *ledger, const struct lt_life *life, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_LIFE_PUT, &life_columns, life), err);
}

int
lt_ledger_drop_life(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_LIFE_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_lives(
    struct lt_ledger *ledger, struct lt_life **lives, uint32_t *count, struct lt_error *err)
{
	const int code =
	    lt_sql_list(ledger, LT_PLAIN(LT_SQL_LIVES), &life_columns, lives, count, err);

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
static const struct lt_db_columns canary_columns = {LT_DB_COLUMNS(struct lt_canary, canary_list)};

int
lt_ledger_put_canary(struct lt_ledger *ledger, const struct lt_canary *canary, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_CANARY_PUT, &canary_columns, canary), err);
}

int
lt_ledger_drop_canary(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_CANARY_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_canaries(
    struct lt_ledger *ledger, struct lt_canary **canaries, uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(
	    ledger, LT_PLAIN(LT_SQL_CANARIES), &canary_columns, canaries, count, err);
}
