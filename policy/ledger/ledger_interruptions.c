/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that ended before their work did: how often a job was interrupted, and
 * what it has done.
 */
#include "interruptions.h"
#include "ledger_db.h"

int
lt_ledger_put_interruption(struct lt_ledger *ledger,
    const struct lt_interrupted *run, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_INTERRUPTION_PUT, LT_INT(run->job_id),
		LT_INT(run->start_utc_s), LT_INT(run->at_utc_s),
		LT_INT(run->counts), LT_INT(run->done_s)),
	    err);
}

static void
read_life(struct lt_rows *rows, void *element)
{
	struct lt_losses *const life = element;

	life->interruptions = (uint32_t)lt_row_int(rows);
	life->done_s = lt_row_int(rows);
}

int
lt_ledger_losses(struct lt_ledger *ledger, uint32_t job_id, int64_t since_utc_s,
    struct lt_losses *life, struct lt_error *err)
{
	*life = (struct lt_losses){0};
	const int code = lt_row_one(ledger,
	    LT_BIND(LT_SQL_LOSSES, LT_INT(job_id), LT_INT(since_utc_s)),
	    read_life, life, err);

	return code < 0 ? code : LT_OK;
}

int
lt_ledger_prune_interruptions(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_INTERRUPTIONS_PRUNE, LT_INT(before_utc_s)), err);
}
