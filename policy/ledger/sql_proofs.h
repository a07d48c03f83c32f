/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of who was seen to resume, and of the jobs that are watched for it,
 * beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_PROOFS_H
#define LT_LEDGER_SQL_PROOFS_H

/* Version 19. proofs: by lt_history_proof_key(); lives: struct lt_life of jobs
 * that have not ended; canaries: struct lt_canary. */
#define LT_SQL_LEDGER_19                                                       \
	"CREATE TABLE proofs (kind INTEGER NOT NULL, uid INTEGER NOT NULL,"    \
	" account TEXT NOT NULL, name TEXT NOT NULL, script INTEGER NOT NULL," \
	" proven_utc_s INTEGER NOT NULL, survived INTEGER NOT NULL,"           \
	" failed INTEGER NOT NULL, write_s INTEGER NOT NULL,"                  \
	" restart_s INTEGER NOT NULL, canary_utc_s INTEGER NOT NULL,"          \
	" last_utc_s INTEGER NOT NULL, PRIMARY KEY (kind, uid))"               \
	" WITHOUT ROWID;"                                                      \
	"CREATE TABLE lives (job_id INTEGER PRIMARY KEY, uid INTEGER NOT"      \
	" NULL, restarts INTEGER NOT NULL, first REAL NOT NULL,"               \
	" first_after_s INTEGER NOT NULL, newest REAL NOT NULL,"               \
	" newest_after_s INTEGER NOT NULL, asked_utc_s INTEGER NOT NULL,"      \
	" asked REAL NOT NULL, asked_after_s INTEGER NOT NULL,"                \
	" write_s INTEGER NOT NULL, has_before INTEGER NOT NULL,"              \
	" before_was_asked INTEGER NOT NULL, before_first REAL NOT NULL,"      \
	" before REAL NOT NULL, before_after_s INTEGER NOT NULL,"              \
	" outcome INTEGER NOT NULL);"                                          \
	"CREATE TABLE canaries (job_id INTEGER PRIMARY KEY,"                   \
	" start_utc_s INTEGER NOT NULL, requeue_utc_s INTEGER NOT NULL);"

#define LT_SQL_PROOFS_TABLE(X)                                                 \
	X(PROOF_PUT, LEDGER,                                                   \
	    "INSERT OR REPLACE INTO proofs (kind, uid, account, name, script," \
	    " {columns}) VALUES (?1, ?2, ?3, ?4, ?5, {values})")               \
	X(PROOF_OF, LEDGER,                                                    \
	    "SELECT {columns} FROM proofs WHERE kind = ?1 AND uid = ?2")       \
	X(PROOFS_PRUNE, LEDGER, "DELETE FROM proofs WHERE last_utc_s < ?1")    \
	X(FORGET_PROOFS, LEDGER, "DELETE FROM proofs WHERE uid = ?1")          \
	X(LIFE_PUT, LEDGER,                                                    \
	    "INSERT OR REPLACE INTO lives ({columns}) VALUES ({values})")      \
	X(LIFE_DROP, LEDGER, "DELETE FROM lives WHERE job_id = ?1")            \
	X(LIVES, LEDGER, "SELECT {columns} FROM lives ORDER BY job_id")        \
	X(CANARY_PUT, LEDGER,                                                  \
	    "INSERT OR REPLACE INTO canaries ({columns}) VALUES ({values})")   \
	X(CANARY_DROP, LEDGER, "DELETE FROM canaries WHERE job_id = ?1")       \
	X(CANARIES, LEDGER, "SELECT {columns} FROM canaries ORDER BY job_id")

#endif
