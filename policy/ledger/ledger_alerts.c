/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts, and mails of jobs: one row each for what owners, users and the site were sent or are to
 * be sent, so that a restart sends nothing twice. alert.h has the interface.
 *
 * Reads and writes the ledger; a failure of SQLite is an error. Rows of periods that ended long ago
 * are pruned.
 */
#include "alert.h"
#include "ledger_db.h"

#define ALERT(column, member) LT_DB_COLUMN(struct lt_alert, column, member)
static const struct lt_db_column alert_list[] = {
    {ALERT("name", name)},
    {ALERT("begins", begins)},
    {ALERT("kind", kind)},
    {ALERT("team", team)},
    {ALERT("uid", uid)},
    {ALERT("job_id", job_id)},
    {ALERT("quote_id", quote_id)},
    {ALERT("percent", percent)},
    {ALERT("times", times)},
    {ALERT("is_over", is_over)},
    {ALERT("made_utc_s", made_utc_s)},
    {ALERT("told_utc_s", told_utc_s)},
    {ALERT("until_utc_s", until_utc_s)},
    {ALERT("subject", subject)},
    {ALERT("text", text)},
    {ALERT("mail_to", to)},
};
static const struct lt_db_columns alert_columns = {LT_DB_COLUMNS(struct lt_alert, alert_list)};

int
lt_ledger_put_alert(struct lt_ledger *ledger, const struct lt_alert *alert, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_ALERT_PUT, &alert_columns, alert), err);
}

int
lt_ledger_drop_alert(struct lt_ledger *ledger, const char *name, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_ALERT_DROP, LT_TEXT(name)), err);
}

int
lt_ledger_alert(
    struct lt_ledger *ledger, const char *name, struct lt_alert *alert, struct lt_error *err)
{
	const int code =
	    lt_sql_get(ledger, LT_BIND(LT_SQL_ALERT, LT_TEXT(name)), &alert_columns, alert, err);

	return code < 0 ? code : code == 0 ? LT_ENOENT : LT_OK;
}

static int
list_alerts(
    struct lt_alerts *alerts, struct lt_ledger *ledger, struct lt_bound bound, struct lt_error *err)
{
	return lt_sql_list(ledger, bound, &alert_columns, &alerts->rows, &alerts->count, err);
}

int
lt_ledger_alerts_of_budgets(
    struct lt_ledger *ledger, int64_t now_utc_s, struct lt_alerts *alerts, struct lt_error *err)
{
	return list_alerts(
	    alerts, ledger, LT_BIND(LT_SQL_ALERTS_OF_BUDGETS, LT_INT(now_utc_s)), err);
}

int
lt_ledger_alerts_due(struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err)
{
	return list_alerts(alerts, ledger, LT_PLAIN(LT_SQL_ALERTS_DUE), err);
}

int
lt_ledger_alerts_last(struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err)
{
	return list_alerts(
	    alerts, ledger, LT_BIND(LT_SQL_ALERTS_LAST, LT_INT(LT_ALERTS_SHOWN_MAX)), err);
}

int
lt_ledger_prune_alerts(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_ALERTS_PRUNE, LT_INT(before_utc_s)), err);
}

#define MAILED(column, member) LT_DB_COLUMN(struct lt_mailed, column, member)
static const struct lt_db_column mailed_list[] = {
    {MAILED("job_id", job_id)},
    {MAILED("quote_id", quote_id)},
    {MAILED("start_utc_s", start_utc_s)},
    {MAILED("partition", partition)},
    {MAILED("run_start_utc_s", run_start_utc_s)},
};
static const struct lt_db_columns mailed_columns = {LT_DB_COLUMNS(struct lt_mailed, mailed_list)};

int
lt_ledger_put_mailed(struct lt_ledger *ledger, const struct lt_mailed *mailed, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_RECORD(LT_SQL_MAIL_PUT, &mailed_columns, mailed), err);
}

int
lt_ledger_mailed(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_mailed *mailed, struct lt_error *err)
{
	const int code =
	    lt_sql_get(ledger, LT_BIND(LT_SQL_MAIL, LT_INT(job_id)), &mailed_columns, mailed, err);

	return code < 0 ? code : code == 0 ? LT_ENOENT : LT_OK;
}

int
lt_ledger_put_end_mail(
    struct lt_ledger *ledger, const struct lt_end_mail *mail, struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_END_MAIL_PUT, LT_INT(mail->job_id), LT_INT(mail->quote_id),
		LT_TEXT(mail->to)),
	    err);
}

int
lt_ledger_drop_end_mail(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err)
{
	return lt_sql_do(ledger, LT_BIND(LT_SQL_END_MAIL_DROP, LT_INT(job_id)), err);
}

int
lt_ledger_end_mails_due(struct lt_ledger *ledger, uint32_t user_max, struct lt_end_mail **mails,
    uint32_t *count, struct lt_error *err)
{
	static const struct lt_db_column list[] = {
	    {LT_DB_COLUMN(struct lt_end_mail, "job_id", job_id)},
	    {LT_DB_COLUMN(struct lt_end_mail, "quote_id", quote_id)},
	    {LT_DB_COLUMN(struct lt_end_mail, "mail_to", to)},
	    {LT_DB_COLUMN(struct lt_end_mail, "uid", uid)},
	};
	static const struct lt_db_columns columns = {LT_DB_COLUMNS(struct lt_end_mail, list)};

	return lt_sql_list(
	    ledger, LT_BIND(LT_SQL_END_MAILS_DUE, LT_INT(user_max)), &columns, mails, count, err);
}

int
lt_ledger_end_mail_told(
    struct lt_ledger *ledger, uint32_t job_id, int64_t now_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_END_MAIL_TOLD, LT_INT(job_id), LT_INT(now_utc_s)), err);
}

int
lt_ledger_prune_mailed(struct lt_ledger *ledger, int64_t told_before_utc_s, struct lt_error *err)
{
	const int code = lt_sql_do(ledger, LT_PLAIN(LT_SQL_MAILS_PRUNE), err);

	return code == LT_OK ? lt_sql_do(ledger,
				   LT_BIND(LT_SQL_END_MAILS_PRUNE, LT_INT(told_before_utc_s)), err)
			     : code;
}
