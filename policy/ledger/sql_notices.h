/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of nodes that their owner takes back, and of the jobs there, beside
 * sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_NOTICES_H
#define LT_LEDGER_SQL_NOTICES_H

/* Version 16. step: enum lt_notice_step. A job's row is of the run that began
 * then. */
#define LT_SQL_LEDGER_16                                                       \
	"CREATE TABLE notices (node TEXT PRIMARY KEY,"                         \
	" told_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL)"            \
	" WITHOUT ROWID;"                                                      \
	"CREATE TABLE reclaimed (job_id INTEGER PRIMARY KEY,"                  \
	" start_utc_s INTEGER NOT NULL, step INTEGER NOT NULL,"                \
	" at_utc_s INTEGER NOT NULL);"

/* Version 27. stage: enum lt_notice_stage. */
#define LT_SQL_LEDGER_27                                                       \
	"ALTER TABLE notices ADD COLUMN stage INTEGER NOT NULL DEFAULT 0;"

#define LT_SQL_NOTICES_TABLE(X)                                                \
	X(NOTICE_PUT, LEDGER,                                                  \
	    "INSERT INTO notices ({columns}) VALUES ({values})"                \
	    " ON CONFLICT DO UPDATE SET told_utc_s ="                          \
	    " CASE stage WHEN 0 THEN told_utc_s ELSE excluded.told_utc_s END," \
	    " end_utc_s = excluded.end_utc_s, stage = excluded.stage")         \
	X(NOTICE_DROP, LEDGER, "DELETE FROM notices WHERE node = ?1")          \
	X(NOTICES, LEDGER, "SELECT {columns} FROM notices ORDER BY node")      \
	X(RECLAIMED_PUT, LEDGER,                                               \
	    "INSERT OR REPLACE INTO reclaimed ({columns}) VALUES ({values})")  \
	X(RECLAIMED_DROP, LEDGER, "DELETE FROM reclaimed WHERE job_id = ?1")   \
	X(RECLAIMED, LEDGER, "SELECT {columns} FROM reclaimed ORDER BY job_id")

#endif
