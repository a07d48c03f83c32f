/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that their owner takes back, and how far the jobs there are: each step
 * is written before it is done, so that none is done twice.
 */
#include "ledger_db.h"
#include "notices.h"

#define NOTICE(column, member) LT_DB_COLUMN(struct lt_notice, column, member)
static const struct lt_db_column notice_list[] = {
    {NOTICE("node", node)},
    {NOTICE("told_utc_s", told_utc_s)},
    {NOTICE("end_utc_s", end_utc_s)},
    {NOTICE("stage", stage)},
};
static const struct lt_db_columns notice_columns = {
    LT_DB_COLUMNS(struct lt_notice, notice_list)};

int
lt_ledger_put_notice(struct lt_ledger *ledger, const struct lt_notice *notice,
    struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_RECORD(LT_SQL_NOTICE_PUT, &notice_columns, notice), err);
}

int
lt_ledger_drop_notice(
    struct lt_ledger *ledger, const char *node, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_NOTICE_DROP, LT_TEXT(node)), err);
}

int
lt_ledger_notices(struct lt_ledger *ledger, struct lt_notice **notices,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_NOTICES), &notice_columns,
	    notices, count, err);
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
lt_ledger_put_reclaimed(struct lt_ledger *ledger,
    const struct lt_reclaimed *job, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_RECORD(LT_SQL_RECLAIMED_PUT, &reclaimed_columns, job), err);
}

int
lt_ledger_drop_reclaimed(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_RECLAIMED_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_reclaimed(struct lt_ledger *ledger, struct lt_reclaimed **jobs,
    uint32_t *count, struct lt_error *err)
{
	return lt_sql_list(ledger, LT_PLAIN(LT_SQL_RECLAIMED),
	    &reclaimed_columns, jobs, count, err);
}
