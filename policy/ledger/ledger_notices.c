/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that their owner takes back, and how far the jobs there are: each step
 * is written before it is done, so that none is done twice.
 */
#include "ledger_db.h"
#include "notices.h"

int
lt_ledger_put_notice(struct lt_ledger *ledger, const struct lt_notice *notice,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_NOTICE_PUT, LT_TEXT(notice->node),
		LT_INT(notice->told_utc_s), LT_INT(notice->end_utc_s),
		LT_INT(notice->stage)),
	    err);
}

int
lt_ledger_drop_notice(
    struct lt_ledger *ledger, const char *node, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_NOTICE_DROP, LT_TEXT(node)), err);
}

static void
read_notice(struct lt_rows *rows, void *element)
{
	struct lt_notice *const notice = element;

	lt_row_text(rows, notice->node, sizeof(notice->node));
	notice->told_utc_s = lt_row_int(rows);
	notice->end_utc_s = lt_row_int(rows);
	notice->stage = (enum lt_notice_stage)lt_row_int(rows);
}

int
lt_ledger_notices(struct lt_ledger *ledger, struct lt_notice **notices,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_notice, .size = sizeof(**notices)};
	const int code =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_NOTICES), &found, err);

	*notices = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_put_reclaimed(struct lt_ledger *ledger,
    const struct lt_reclaimed *job, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_RECLAIMED_PUT, LT_INT(job->job_id),
		LT_INT(job->start_utc_s), LT_INT(job->step),
		LT_INT(job->at_utc_s)),
	    err);
}

int
lt_ledger_drop_reclaimed(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_RECLAIMED_DROP, LT_INT(job_id)), err);
}

static void
read_reclaimed(struct lt_rows *rows, void *element)
{
	struct lt_reclaimed *const job = element;

	job->job_id = (uint32_t)lt_row_int(rows);
	job->start_utc_s = lt_row_int(rows);
	job->step = (enum lt_notice_step)lt_row_int(rows);
	job->at_utc_s = lt_row_int(rows);
	job->is_leaving = false;
}

int
lt_ledger_reclaimed(struct lt_ledger *ledger, struct lt_reclaimed **jobs,
    uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_reclaimed, .size = sizeof(**jobs)};
	const int code =
	    lt_rows_all(ledger, LT_PLAIN(LT_SQL_RECLAIMED), &found, err);

	*jobs = found.items;
	*count = found.count;
	return code;
}
