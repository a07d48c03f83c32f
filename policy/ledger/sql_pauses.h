/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of jobs that stand still, beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_PAUSES_H
#define LT_LEDGER_SQL_PAUSES_H

/* Version 18. step: enum lt_pause_step. NULL: not known. */
#define LT_SQL_LEDGER_18                                                       \
	"CREATE TABLE pauses (job_id INTEGER PRIMARY KEY,"                     \
	" start_utc_s INTEGER NOT NULL, step INTEGER NOT NULL,"                \
	" at_utc_s INTEGER NOT NULL, until_utc_s INTEGER NOT NULL,"            \
	" held_s INTEGER NOT NULL, changed_utc_s INTEGER NOT NULL,"            \
	" saves_micros INTEGER, saves_mg INTEGER);"

#define LT_SQL_PAUSES_TABLE(X)                                                 \
	X(PAUSED_PUT, LEDGER,                                                  \
	    "INSERT OR REPLACE INTO pauses ({columns}) VALUES ({values})")     \
	X(PAUSED_DROP, LEDGER, "DELETE FROM pauses WHERE job_id = ?1")         \
	X(PAUSED, LEDGER, "SELECT {columns} FROM pauses ORDER BY job_id")

#endif
