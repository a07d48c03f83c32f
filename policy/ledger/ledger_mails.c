/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users were told of their jobs, so that none is told twice.
 */
#include "ledger_db.h"
#include "mailed.h"

int
lt_ledger_put_mailed(struct lt_ledger *ledger, const struct lt_mailed *mailed,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_MAIL_PUT, LT_INT(mailed->job_id),
		LT_INT(mailed->quote_id), LT_INT(mailed->start_utc_s),
		LT_TEXT(mailed->partition), LT_INT(mailed->run_start_utc_s)),
	    err);
}

static void
read_mailed(struct lt_rows *rows, void *element)
{
	struct lt_mailed *const mailed = element;

	mailed->job_id = (uint32_t)lt_row_int(rows);
	mailed->quote_id = (uint64_t)lt_row_int(rows);
	mailed->start_utc_s = lt_row_int(rows);
	lt_row_text(rows, mailed->partition, sizeof(mailed->partition));
	mailed->run_start_utc_s = lt_row_int(rows);
}

int
lt_ledger_mailed(struct lt_ledger *ledger, uint32_t job_id,
    struct lt_mailed *mailed, struct lt_error *err)
{
	const int code = lt_row_one(ledger,
	    LT_BIND(LT_SQL_MAIL, LT_INT(job_id)), read_mailed, mailed, err);

	return code < 0 ? code : code == 0 ? LT_ENOENT : LT_OK;
}

int
lt_ledger_put_end_mail(struct lt_ledger *ledger, const struct lt_end_mail *mail,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_END_MAIL_PUT, LT_INT(mail->job_id),
		LT_INT(mail->quote_id), LT_TEXT(mail->to)),
	    err);
}

int
lt_ledger_drop_end_mail(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_END_MAIL_DROP, LT_INT(job_id)), err);
}

static void
read_end_mail(struct lt_rows *rows, void *element)
{
	struct lt_end_mail *const mail = element;

	mail->job_id = (uint32_t)lt_row_int(rows);
	mail->quote_id = (uint64_t)lt_row_int(rows);
	lt_row_text(rows, mail->to, sizeof(mail->to));
	mail->uid = (uint32_t)lt_row_int(rows);
}

int
lt_ledger_end_mails_due(struct lt_ledger *ledger, uint32_t user_max,
    struct lt_end_mail **mails, uint32_t *count, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_end_mail, .size = sizeof(struct lt_end_mail)};
	const int code = lt_rows_all(ledger,
	    LT_BIND(LT_SQL_END_MAILS_DUE, LT_INT(user_max)), &found, err);

	*mails = found.items;
	*count = found.count;
	return code;
}

int
lt_ledger_end_mail_told(struct lt_ledger *ledger, uint32_t job_id,
    int64_t now_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_END_MAIL_TOLD, LT_INT(job_id), LT_INT(now_utc_s)),
	    err);
}

int
lt_ledger_prune_mailed(
    struct lt_ledger *ledger, int64_t told_before_utc_s, struct lt_error *err)
{
	const int code = lt_sql_do(ledger, LT_PLAIN(LT_SQL_MAILS_PRUNE), err);

	return code == LT_OK ? lt_sql_do(ledger,
				   LT_BIND(LT_SQL_END_MAILS_PRUNE,
				       LT_INT(told_before_utc_s)),
				   err)
			     : code;
}
