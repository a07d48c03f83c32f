/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that ended before their work did: how often a job was interrupted, and
 * what it has done.
 */
#include "interruptions.h"
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
lt_ledger_put_interruption(struct lt_ledger *ledger,
    const struct lt_interrupted *run, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_RECORD(LT_SQL_INTERRUPTION_PUT, &interrupted_columns, run), err);
}

int
lt_ledger_losses(struct lt_ledger *ledger, uint32_t job_id, int64_t since_utc_s,
    struct lt_losses *life, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_losses, "counts", interruptions)},
	    {LT_DB_COLUMN(struct lt_losses, "done_s", done_s)},
	};
	static const struct lt_db_columns columns = {
	    LT_DB_COLUMNS(struct lt_losses, list)};

	*life = (struct lt_losses){0};
	const int code = lt_sql_get(ledger,
	    LT_BIND(LT_SQL_LOSSES, LT_INT(job_id), LT_INT(since_utc_s)),
	    &columns, life, err);
	return code < 0 ? code : LT_OK;
}

int
lt_ledger_prune_interruptions(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_INTERRUPTIONS_PRUNE, LT_INT(before_utc_s)), err);
}
