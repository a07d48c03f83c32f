/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Alerts that are told and due, so that none is told twice.
 */
#include "alert.h"
#include "ledger_db.h"

int
lt_ledger_put_alert(struct lt_ledger *ledger, const struct lt_alert *alert,
    struct lt_error *err)
{
	return lt_sql_do(ledger,
	    LT_BIND(LT_SQL_ALERT_PUT, LT_TEXT(alert->name),
		LT_TEXT(alert->begins), LT_INT(alert->kind),
		LT_TEXT(alert->team), LT_INT(alert->uid), LT_INT(alert->job_id),
		LT_INT(alert->quote_id), LT_INT(alert->percent),
		LT_INT(alert->times), LT_INT(alert->is_over),
		LT_INT(alert->made_utc_s), LT_INT(alert->told_utc_s),
		LT_INT(alert->until_utc_s), LT_TEXT(alert->subject),
		LT_TEXT(alert->text), LT_TEXT(alert->to)),
	    err);
}

int
lt_ledger_drop_alert(
    struct lt_ledger *ledger, const char *name, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_ALERT_DROP, LT_TEXT(name)), err);
}

static void
read_alert(struct lt_rows *rows, void *element)
{
	struct lt_alert *const alert = element;

	lt_row_text(rows, alert->name, sizeof(alert->name));
	lt_row_text(rows, alert->begins, sizeof(alert->begins));
	alert->kind = (enum lt_message_kind)lt_row_int(rows);
	lt_row_text(rows, alert->team, sizeof(alert->team));
	alert->uid = (uint32_t)lt_row_int(rows);
	alert->job_id = (uint32_t)lt_row_int(rows);
	alert->quote_id = (uint64_t)lt_row_int(rows);
	alert->percent = (int)lt_row_int(rows);
	alert->times = (uint32_t)lt_row_int(rows);
	alert->is_over = lt_row_int(rows) != 0;
	alert->made_utc_s = lt_row_int(rows);
	alert->told_utc_s = lt_row_int(rows);
	alert->until_utc_s = lt_row_int(rows);
	lt_row_text(rows, alert->subject, sizeof(alert->subject));
	lt_row_text(rows, alert->text, sizeof(alert->text));
	lt_row_text(rows, alert->to, sizeof(alert->to));
}

int
lt_ledger_alert(struct lt_ledger *ledger, const char *name,
    struct lt_alert *alert, struct lt_error *err)
{
	const int code = lt_row_one(ledger,
	    LT_BIND(LT_SQL_ALERT, LT_TEXT(name)), read_alert, alert, err);

	return code < 0 ? code : code == 0 ? LT_ENOENT : LT_OK;
}

static int
read_all(struct lt_alerts *alerts, struct lt_ledger *ledger,
    struct lt_bound bound, struct lt_error *err)
{
	struct lt_array found = {
	    .read = read_alert, .size = sizeof(*alerts->rows)};
	const int code = lt_rows_all(ledger, bound, &found, err);

	alerts->rows = found.items;
	alerts->count = found.count;
	return code;
}

int
lt_ledger_alerts_of_budgets(struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_alerts *alerts, struct lt_error *err)
{
	return read_all(alerts, ledger,
	    LT_BIND(LT_SQL_ALERTS_OF_BUDGETS, LT_INT(now_utc_s)), err);
}

int
lt_ledger_alerts_due(
    struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err)
{
	return read_all(alerts, ledger, LT_PLAIN(LT_SQL_ALERTS_DUE), err);
}

int
lt_ledger_alerts_last(
    struct lt_ledger *ledger, struct lt_alerts *alerts, struct lt_error *err)
{
	return read_all(alerts, ledger,
	    LT_BIND(LT_SQL_ALERTS_LAST, LT_INT(LT_ALERTS_SHOWN_MAX)), err);
}

int
lt_ledger_prune_alerts(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err)
{
	return lt_sql_do(
	    ledger, LT_BIND(LT_SQL_ALERTS_PRUNE, LT_INT(before_utc_s)), err);
}
