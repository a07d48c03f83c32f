/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of alerts and mails that are told and due, beside sql.h's and by its
 * rules.
 */
#ifndef LT_LEDGER_SQL_TOLD_H
#define LT_LEDGER_SQL_TOLD_H

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

/* Version 21: a row a job that asks for mails: the start that its user knows
 * of, and the run up to which interruptions are told. */
#define LT_SQL_LEDGER_21                                                       \
	"CREATE TABLE mails (job_id INTEGER PRIMARY KEY,"                      \
	" quote_id INTEGER NOT NULL, start_utc_s INTEGER NOT NULL,"            \
	" partition TEXT NOT NULL, run_start_utc_s INTEGER NOT NULL);"

/* Version 25: a row a job, or array, whose user asks for a mail at its end. */
#define LT_SQL_LEDGER_25                                                       \
	"CREATE TABLE end_mails (job_id INTEGER PRIMARY KEY,"                  \
	" quote_id INTEGER NOT NULL, mail_to TEXT NOT NULL,"                   \
	" told_utc_s INTEGER NOT NULL);"                                       \
	"CREATE INDEX end_mails_due ON end_mails (job_id)"                     \
	" WHERE told_utc_s = 0;"

#define LT_SQL_TOLD_TABLE(X)                                                   \
	X(ALERT_PUT, LEDGER,                                                   \
	    "INSERT OR REPLACE INTO alerts ({columns}) VALUES ({values})")     \
	X(ALERT_DROP, LEDGER, "DELETE FROM alerts WHERE name = ?1")            \
	X(ALERT, LEDGER, "SELECT {columns} FROM alerts WHERE name = ?1")       \
	X(ALERTS_OF_BUDGETS, LEDGER,                                           \
	    "SELECT {columns} FROM alerts"                                     \
	    " WHERE kind = 0 AND until_utc_s > ?1 ORDER BY name")              \
	X(ALERTS_DUE, LEDGER,                                                  \
	    "SELECT {columns} FROM alerts WHERE told_utc_s = 0 ORDER BY name") \
	X(ALERTS_LAST, LEDGER,                                                 \
	    "SELECT {columns} FROM alerts"                                     \
	    " ORDER BY made_utc_s DESC, name LIMIT ?1")                        \
	X(ALERTS_PRUNE, LEDGER,                                                \
	    "DELETE FROM alerts WHERE made_utc_s < ?1 AND until_utc_s < ?1"    \
	    " AND quote_id NOT IN"                                             \
	    " (SELECT quote_id FROM holds WHERE state = 0)")                   \
	X(MAIL_PUT, LEDGER,                                                    \
	    "INSERT OR REPLACE INTO mails ({columns}) VALUES ({values})")      \
	X(MAIL, LEDGER, "SELECT {columns} FROM mails WHERE job_id = ?1")       \
	X(MAILS_PRUNE, LEDGER,                                                 \
	    "DELETE FROM mails WHERE quote_id NOT IN"                          \
	    " (SELECT quote_id FROM holds WHERE state = 0)")                   \
	X(END_MAIL_PUT, LEDGER,                                                \
	    "INSERT INTO end_mails VALUES (?1, ?2, ?3, 0)"                     \
	    " ON CONFLICT DO UPDATE SET quote_id = ?2, mail_to = ?3,"          \
	    " told_utc_s = CASE quote_id WHEN ?2 THEN told_utc_s ELSE 0 END"   \
	    " WHERE quote_id != ?2 OR mail_to != ?3")                          \
	X(END_MAIL_DROP, LEDGER,                                               \
	    "DELETE FROM end_mails WHERE job_id = ?1 AND told_utc_s = 0")      \
	X(END_MAILS_DUE, LEDGER,                                               \
	    "SELECT {columns} FROM"                                            \
	    " (SELECT m.job_id, quote_id, mail_to, uid,"                       \
	    " row_number() OVER (PARTITION BY uid ORDER BY m.job_id) AS place" \
	    " FROM end_mails m JOIN holds h USING (quote_id)"                  \
	    " WHERE h.job_id IN (m.job_id, 0)"                                 \
	    " AND told_utc_s = 0 AND (state = 1 OR state = 2 AND EXISTS"       \
	    " (SELECT 1 FROM runs WHERE runs.job_id = m.job_id"                \
	    " AND runs.quote_id = m.quote_id AND start_utc_s > 0)))"           \
	    " WHERE place <= ?1 ORDER BY job_id")                              \
	X(END_MAIL_TOLD, LEDGER,                                               \
	    "UPDATE end_mails SET told_utc_s = ?2 WHERE job_id = ?1")          \
	X(END_MAILS_PRUNE, LEDGER,                                             \
	    "DELETE FROM end_mails WHERE told_utc_s BETWEEN 1 AND ?1"          \
	    " OR quote_id NOT IN"                                              \
	    " (SELECT quote_id FROM holds)")

#endif
