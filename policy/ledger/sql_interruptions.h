/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of runs that ended before their work did, beside sql.h's and by its
 * rules.
 */
#ifndef LT_LEDGER_SQL_INTERRUPTIONS_H
#define LT_LEDGER_SQL_INTERRUPTIONS_H

/* Version 17: a row a run. counts: its node was taken, and not lowtide took
 * it from there. done_s: of its work, kept. */
#define LT_SQL_LEDGER_17                                                       \
	"CREATE TABLE interruptions (job_id INTEGER NOT NULL,"                 \
	" start_utc_s INTEGER NOT NULL, at_utc_s INTEGER NOT NULL,"            \
	" counts INTEGER NOT NULL, done_s INTEGER NOT NULL,"                   \
	" PRIMARY KEY (job_id, start_utc_s)) WITHOUT ROWID;"

/* Told by who ended it and by slurmdbd: the first knows more. */
#define LT_SQL_INTERRUPTIONS_TABLE(X)                                          \
	X(INTERRUPTION_PUT, LEDGER,                                            \
	    "INSERT OR IGNORE INTO interruptions ({columns})"                  \
	    " VALUES ({values})")                                              \
	X(LOSSES, LEDGER,                                                      \
	    "SELECT total(counts), total(done_s) FROM interruptions"           \
	    " WHERE job_id = ?1 AND start_utc_s >= ?2")                        \
	X(INTERRUPTIONS_PRUNE, LEDGER,                                         \
	    "DELETE FROM interruptions WHERE at_utc_s < ?1")

#endif
