/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of alerts that are told and due, beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_ALERTS_H
#define LT_LEDGER_SQL_ALERTS_H

/* Version 23: a row a percentage of a budget that was passed, a run or a day
 * that cost much; told_utc_s 0: it is due. Kinds: message_kinds.h. */
#define LT_SQL_LEDGER_23                                                       \
	"CREATE TABLE alerts (name TEXT PRIMARY KEY, begins TEXT NOT NULL,"    \
	" kind INTEGER NOT NULL, team TEXT NOT NULL, uid INTEGER NOT NULL,"    \
	" job_id INTEGER NOT NULL, quote_id INTEGER NOT NULL,"                 \
	" percent INTEGER NOT NULL, times INTEGER NOT NULL,"                   \
	" is_over INTEGER NOT NULL, made_utc_s INTEGER NOT NULL,"              \
	" told_utc_s INTEGER NOT NULL, until_utc_s INTEGER NOT NULL,"          \
	" subject TEXT NOT NULL, text TEXT NOT NULL, mail_to TEXT NOT NULL)"   \
	" WITHOUT ROWID;"                                                      \
	"CREATE INDEX alerts_made ON alerts (made_utc_s);"                     \
	"CREATE INDEX alerts_due ON alerts (name) WHERE told_utc_s = 0;"       \
	"CREATE INDEX alerts_of_budgets ON alerts (name) WHERE kind = 0;"

#define LT_SQL_ALERT_COLUMNS                                                   \
	"SELECT name, begins, kind, team, uid, job_id, quote_id, percent,"     \
	" times, is_over, made_utc_s, told_utc_s, until_utc_s, subject, text," \
	" mail_to FROM alerts"

#define LT_SQL_ALERTS_TABLE(X)                                                 \
	X(ALERT_PUT, LEDGER,                                                   \
	    "INSERT OR REPLACE INTO alerts VALUES (?1, ?2, ?3, ?4, ?5, ?6,"    \
	    " ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)")                 \
	X(ALERT_DROP, LEDGER, "DELETE FROM alerts WHERE name = ?1")            \
	X(ALERT, LEDGER, LT_SQL_ALERT_COLUMNS " WHERE name = ?1")              \
	X(ALERTS_OF_BUDGETS, LEDGER,                                           \
	    LT_SQL_ALERT_COLUMNS                                               \
	    " WHERE kind = 0 AND until_utc_s > ?1 ORDER BY name")              \
	X(ALERTS_DUE, LEDGER,                                                  \
	    LT_SQL_ALERT_COLUMNS " WHERE told_utc_s = 0 ORDER BY name")        \
	X(ALERTS_LAST, LEDGER,                                                 \
	    LT_SQL_ALERT_COLUMNS " ORDER BY made_utc_s DESC, name LIMIT ?1")   \
	X(ALERTS_PRUNE, LEDGER,                                                \
	    "DELETE FROM alerts WHERE made_utc_s < ?1 AND until_utc_s < ?1"    \
	    " AND quote_id NOT IN"                                             \
	    " (SELECT quote_id FROM holds WHERE state = 0)")

#endif
