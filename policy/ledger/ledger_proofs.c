/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who was seen to resume after an interruption, the lives of jobs that show it,
 * and those that are interrupted to see.
 */
#include "ledger_db.h"
#include "proofs.h"

static void
read_proof(struct lt_rows *rows, void *element)
{
	struct lt_proof_row *const row = element;

	row->proven_utc_s = lt_row_int(rows);
	row->survived = (uint32_t)lt_row_int(rows);
	row->failed = (uint32_t)lt_row_int(rows);
	row->write_s = lt_row_int(rows);
	row->restart_s = lt_row_int(rows);
	row->canary_utc_s = lt_row_int(rows);
	row->last_utc_s = lt_row_int(rows);
}

int
lt_ledger_proof(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_proof_row *row, struct lt_error *err)
{
	struct lt_rows rows;
	int rc = lt_sql_start(&rows, ledger,
	    LT_BIND(
		LT_SQL_PROOF_OF, LT_INT((int64_t)key->hash), LT_INT(key->uid)),
	    err);

	*row = (struct lt_proof_row){0};
	if (rc == LT_OK && (rc = lt_rows_next(&rows, err)) == 1) {
		read_proof(&rows, row);
		rc = LT_OK;
	}
	lt_rows_end(&rows);
	return rc;
}

int
lt_ledger_put_proof(struct lt_ledger *ledger, const struct lt_proof_of *of,
    const struct lt_proof_row *row, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_PROOF_PUT, LT_INT((int64_t)of->key.hash),
		LT_INT(of->key.uid), LT_TEXT(of->account), LT_TEXT(of->name),
		LT_INT((int64_t)of->script_hash), LT_INT(row->proven_utc_s),
		LT_INT(row->survived), LT_INT(row->failed),
		LT_INT(row->write_s), LT_INT(row->restart_s),
		LT_INT(row->canary_utc_s), LT_INT(row->last_utc_s)),
	    err);
}

int
lt_ledger_prune_proofs(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_PROOFS_PRUNE, LT_INT(before_utc_s)), err);
}

int
lt_ledger_put_life(
    struct lt_ledger *ledger, const struct lt_life *life, struct lt_error *err)
{
	const struct lt_progress *const now = &life->now;

	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_LIFE_PUT, LT_INT(life->job_id), LT_INT(life->uid),
		LT_INT(now->restarts), LT_REAL(now->first.progress),
		LT_INT(now->first_after_s), LT_REAL(now->newest.progress),
		LT_INT(now->newest_after_s), LT_INT(life->asked_utc_s),
		LT_REAL(life->asked_progress), LT_INT(life->asked_after_s),
		LT_INT(life->write_s), LT_INT(life->has_before),
		LT_INT(life->before_was_asked), LT_REAL(life->before_first),
		LT_REAL(life->before_progress), LT_INT(life->before_after_s),
		LT_INT(life->outcome)),
	    err);
}

int
lt_ledger_drop_life(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_LIFE_DROP, LT_INT(job_id)), err);
}

static void
read_life(struct lt_rows *rows, void *element)
{
	struct lt_life *const life = element;
	struct lt_progress *const now = &life->now;

	*life = (struct lt_life){.is_told = true};
	life->job_id = (uint32_t)lt_row_int(rows);
	life->uid = (uint32_t)lt_row_int(rows);
	now->restarts = (uint32_t)lt_row_int(rows);
	now->first.progress = lt_row_real(rows);
	now->first_after_s = lt_row_int(rows);
	now->newest.progress = lt_row_real(rows);
	now->newest_after_s = lt_row_int(rows);
	life->asked_utc_s = lt_row_int(rows);
	life->asked_progress = lt_row_real(rows);
	life->asked_after_s = lt_row_int(rows);
	life->write_s = lt_row_int(rows);
	life->has_before = lt_row_int(rows) != 0;
	life->before_was_asked = lt_row_int(rows) != 0;
	life->before_first = lt_row_real(rows);
	life->before_progress = lt_row_real(rows);
	life->before_after_s = lt_row_int(rows);
	life->outcome = (enum lt_outcome)lt_row_int(rows);
}

int
lt_ledger_lives(struct lt_ledger *ledger, struct lt_life **lives,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {.read = read_life, .size = sizeof(**lives)};
	const int code =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_LIVES), &found, err);

	*lives = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_put_canary(struct lt_ledger *ledger, const struct lt_canary *canary,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_CANARY_PUT, LT_INT(canary->job_id),
		LT_INT(canary->start_utc_s), LT_INT(canary->requeue_utc_s)),
	    err);
}

int
lt_ledger_drop_canary(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_CANARY_DROP, LT_INT(job_id)), err);
}

static void
read_canary(struct lt_rows *rows, void *element)
{
	struct lt_canary *const canary = element;

	canary->job_id = (uint32_t)lt_row_int(rows);
	canary->start_utc_s = lt_row_int(rows);
	canary->requeue_utc_s = lt_row_int(rows);
}

int
lt_ledger_canaries(struct lt_ledger *ledger, struct lt_canary **canaries,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_canary, .size = sizeof(**canaries)};
	const int code =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_CANARIES), &found, err);

	*canaries = found.items;
	*count = found.count;
	return code;
}
