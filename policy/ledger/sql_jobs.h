/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of jobs while they run, beside sql.h's and by its rules: interruptions, nodes that are taken
 * back, pauses, and who was seen to resume.
 */
#ifndef LT_LEDGER_SQL_JOBS_H
#define LT_LEDGER_SQL_JOBS_H

/* Version 17: a row a run. counts: its node was taken, and not lowtide took
 * it from there. done_s: of its work, kept. Who ended it says so, and then
 * slurmdbd: the first stays, it knows more. */
#define LT_SQL_LEDGER_17                                                                           \
	"CREATE TABLE interruptions (job_id INTEGER NOT NULL,"                                     \
	" start_utc_s INTEGER NOT NULL, at_utc_s INTEGER NOT NULL,"                                \
	" counts INTEGER NOT NULL, done_s INTEGER NOT NULL,"                                       \
	" PRIMARY KEY (job_id, start_utc_s)) WITHOUT ROWID;"

/* Version 16. step: enum lt_notice_step. A job's row is of the run that began then. */
#define LT_SQL_LEDGER_16                                                                           \
	"CREATE TABLE notices (node TEXT PRIMARY KEY,"                                             \
	" told_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL)"                                \
	" WITHOUT ROWID;"                                                                          \
	"CREATE TABLE reclaimed (job_id INTEGER PRIMARY KEY,"                                      \
	" start_utc_s INTEGER NOT NULL, step INTEGER NOT NULL,"                                    \
	" at_utc_s INTEGER NOT NULL);"

/* Version 27. stage: enum lt_notice_stage. */
#define LT_SQL_LEDGER_27 "ALTER TABLE notices ADD COLUMN stage INTEGER NOT NULL DEFAULT 0;"

/* Version 18. step: enum lt_pause_step. NULL: not known. */
#define LT_SQL_LEDGER_18                                                                           \
	"CREATE TABLE pauses (job_id INTEGER PRIMARY KEY,"                                         \
	" start_utc_s INTEGER NOT NULL, step INTEGER NOT NULL,"                                    \
	" at_utc_s INTEGER NOT NULL, until_utc_s INTEGER NOT NULL,"                                \
	" held_s INTEGER NOT NULL, changed_utc_s INTEGER NOT NULL,"                                \
	" saves_micros INTEGER, saves_mg INTEGER);"

/* Version 19. proofs: by lt_history_proof_key(); lives: struct lt_life of jobs that have not ended;
 * canaries: struct lt_canary. */
#define LT_SQL_LEDGER_19                                                                           \
	"CREATE TABLE proofs (kind INTEGER NOT NULL, uid INTEGER NOT NULL,"                        \
	" account TEXT NOT NULL, name TEXT NOT NULL, script INTEGER NOT NULL,"                     \
	" proven_utc_s INTEGER NOT NULL, survived INTEGER NOT NULL,"                               \
	" failed INTEGER NOT NULL, write_s INTEGER NOT NULL,"                                      \
	" restart_s INTEGER NOT NULL, canary_utc_s INTEGER NOT NULL,"                              \
	" last_utc_s INTEGER NOT NULL, PRIMARY KEY (kind, uid))"                                   \
	" WITHOUT ROWID;"                                                                          \
	"CREATE TABLE lives (job_id INTEGER PRIMARY KEY, uid INTEGER NOT"                          \
	" NULL, restarts INTEGER NOT NULL, first REAL NOT NULL,"                                   \
	" first_after_s INTEGER NOT NULL, newest REAL NOT NULL,"                                   \
	" newest_after_s INTEGER NOT NULL, asked_utc_s INTEGER NOT NULL,"                          \
	" asked REAL NOT NULL, asked_after_s INTEGER NOT NULL,"                                    \
	" write_s INTEGER NOT NULL, has_before INTEGER NOT NULL,"                                  \
	" before_was_asked INTEGER NOT NULL, before_first REAL NOT NULL,"                          \
	" before REAL NOT NULL, before_after_s INTEGER NOT NULL,"                                  \
	" outcome INTEGER NOT NULL);"                                                              \
	"CREATE TABLE canaries (job_id INTEGER PRIMARY KEY,"                                       \
	" start_utc_s INTEGER NOT NULL, requeue_utc_s INTEGER NOT NULL);"

#define LT_SQL_JOBS_TABLE(X)                                                                       \
	X(INTERRUPTION_PUT, LEDGER,                                                                \
	    "INSERT OR IGNORE INTO interruptions ({columns})"                                      \
	    " VALUES ({values})")                                                                  \
	X(LOSSES, LEDGER,                                                                          \
	    "SELECT total(counts), total(done_s) FROM interruptions"                               \
	    " WHERE job_id = ?1 AND start_utc_s >= ?2")                                            \
	X(INTERRUPTIONS_PRUNE, LEDGER, "DELETE FROM interruptions WHERE at_utc_s < ?1")            \
	X(NOTICE_PUT, LEDGER,                                                                      \
	    "INSERT INTO notices ({columns}) VALUES ({values})"                                    \
	    " ON CONFLICT DO UPDATE SET told_utc_s ="                                              \
	    " CASE stage WHEN 0 THEN told_utc_s ELSE excluded.told_utc_s END,"                     \
	    " end_utc_s = excluded.end_utc_s, stage = excluded.stage")                             \
	X(NOTICE_DROP, LEDGER, "DELETE FROM notices WHERE node = ?1")                              \
	X(NOTICES, LEDGER, "SELECT {columns} FROM notices ORDER BY node")                          \
	X(RECLAIMED_PUT, LEDGER, "INSERT OR REPLACE INTO reclaimed ({columns}) VALUES ({values})") \
	X(RECLAIMED_DROP, LEDGER, "DELETE FROM reclaimed WHERE job_id = ?1")                       \
	X(RECLAIMED, LEDGER, "SELECT {columns} FROM reclaimed ORDER BY job_id")                    \
	X(PAUSED_PUT, LEDGER, "INSERT OR REPLACE INTO pauses ({columns}) VALUES ({values})")       \
	X(PAUSED_DROP, LEDGER, "DELETE FROM pauses WHERE job_id = ?1")                             \
	X(PAUSED, LEDGER, "SELECT {columns} FROM pauses ORDER BY job_id")                          \
	X(PROOF_PUT, LEDGER,                                                                       \
	    "INSERT OR REPLACE INTO proofs (kind, uid, account, name, script,"                     \
	    " {columns}) VALUES (?1, ?2, ?3, ?4, ?5, {values})")                                   \
	X(PROOF_OF, LEDGER, "SELECT {columns} FROM proofs WHERE kind = ?1 AND uid = ?2")           \
	X(PROOFS_PRUNE, LEDGER, "DELETE FROM proofs WHERE last_utc_s < ?1")                        \
	X(FORGET_PROOFS, LEDGER, "DELETE FROM proofs WHERE uid = ?1")                              \
	X(LIFE_PUT, LEDGER, "INSERT OR REPLACE INTO lives ({columns}) VALUES ({values})")          \
	X(LIFE_DROP, LEDGER, "DELETE FROM lives WHERE job_id = ?1")                                \
	X(LIVES, LEDGER, "SELECT {columns} FROM lives ORDER BY job_id")                            \
	X(CANARY_PUT, LEDGER, "INSERT OR REPLACE INTO canaries ({columns}) VALUES ({values})")     \
	X(CANARY_DROP, LEDGER, "DELETE FROM canaries WHERE job_id = ?1")                           \
	X(CANARIES, LEDGER, "SELECT {columns} FROM canaries ORDER BY job_id")

#endif
