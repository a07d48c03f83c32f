/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of how long jobs ran, beside sql.h's and by its rules. lengths: a row a run that says
 * something; kinds: the groups that they are in, with the figures that were made of them last.
 * Figures as of history.h; uids of groups as of its keys.
 */
#ifndef LT_LEDGER_SQL_LENGTHS_H
#define LT_LEDGER_SQL_LENGTHS_H

/* Version 8. */
#define LT_SQL_LEDGER_8                                                                            \
	"ALTER TABLE holds ADD COLUMN run TEXT NOT NULL DEFAULT '';"                               \
	"CREATE TABLE lengths (job_id INTEGER NOT NULL,"                                           \
	" submit_utc_s INTEGER NOT NULL, kind INTEGER NOT NULL,"                                   \
	" uid INTEGER NOT NULL, account TEXT NOT NULL,"                                            \
	" end_utc_s INTEGER NOT NULL, length_s INTEGER NOT NULL,"                                  \
	" limit_s INTEGER NOT NULL, at_least INTEGER NOT NULL,"                                    \
	" PRIMARY KEY (job_id, submit_utc_s)) WITHOUT ROWID;"                                      \
	"CREATE INDEX lengths_kind ON lengths (kind, uid, end_utc_s);"                             \
	"CREATE INDEX lengths_user ON lengths (account, uid, end_utc_s);"                          \
	"CREATE INDEX lengths_account ON lengths (account, end_utc_s);"                            \
	"CREATE INDEX lengths_end ON lengths (end_utc_s);"                                         \
	"CREATE TABLE kinds (kind INTEGER NOT NULL, uid INTEGER NOT NULL,"                         \
	" wide INTEGER NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL,"                       \
	" nodes INTEGER NOT NULL, cpus INTEGER NOT NULL,"                                          \
	" gpus INTEGER NOT NULL, last_utc_s INTEGER NOT NULL,"                                     \
	" stale INTEGER NOT NULL, runs INTEGER NOT NULL,"                                          \
	" median INTEGER NOT NULL, upper INTEGER NOT NULL,"                                        \
	" is_longest INTEGER NOT NULL, ratio INTEGER NOT NULL,"                                    \
	" PRIMARY KEY (kind, uid)) WITHOUT ROWID;"                                                 \
	"CREATE INDEX kinds_stale ON kinds (kind, uid) WHERE stale != 0;"                          \
	"CREATE INDEX kinds_uid ON kinds (uid, wide, last_utc_s);"                                 \
	"CREATE TABLE forgotten (uid INTEGER PRIMARY KEY,"                                         \
	" until_utc_s INTEGER NOT NULL);"

/* Version 12. */
#define LT_SQL_LEDGER_12                                                                           \
	"ALTER TABLE kinds ADD COLUMN low INTEGER NOT NULL DEFAULT 0;"                             \
	"ALTER TABLE kinds ADD COLUMN high INTEGER NOT NULL DEFAULT 0;"                            \
	"UPDATE kinds SET stale = 1;"

/* Version 13. speeds: of a name and shape, where they tell two GPUs apart. */
#define LT_SQL_LEDGER_13                                                                           \
	"ALTER TABLE lengths ADD COLUMN gpu TEXT NOT NULL DEFAULT '';"                             \
	"ALTER TABLE lengths ADD COLUMN gpu_length_s INTEGER NOT NULL"                             \
	" DEFAULT 0;"                                                                              \
	"CREATE TABLE speeds (kind INTEGER NOT NULL, uid INTEGER NOT NULL,"                        \
	" gpu TEXT NOT NULL, gpu_kind INTEGER NOT NULL,"                                           \
	" runs INTEGER NOT NULL, median INTEGER NOT NULL,"                                         \
	" PRIMARY KEY (kind, uid, gpu)) WITHOUT ROWID;"

/* Version 26. What was learned without bands is not known to be of one, nor to be of batch jobs: it
 * is learned anew, by a rebuild at once. */
#define LT_SQL_LEDGER_26                                                                           \
	"DELETE FROM lengths; DELETE FROM kinds; DELETE FROM speeds;"                              \
	"ALTER TABLE lengths ADD COLUMN band INTEGER NOT NULL DEFAULT 0;"                          \
	"ALTER TABLE kinds ADD COLUMN band INTEGER NOT NULL DEFAULT 0;"                            \
	"DROP INDEX lengths_user; DROP INDEX lengths_account;"                                     \
	"CREATE INDEX lengths_user ON lengths (account, uid, band,"                                \
	" end_utc_s);"                                                                             \
	"CREATE INDEX lengths_account ON lengths (account, band, end_utc_s);"

/* The newest of a wider group, one of each name and shape: its newest. */
#define LT_SQL_LENGTHS_WIDE(whose)                                                                 \
	"SELECT length_s, limit_s, at_least FROM (SELECT length_s, limit_s,"                       \
	" at_least, end_utc_s, row_number() OVER (PARTITION BY uid, kind"                          \
	"  ORDER BY end_utc_s DESC, job_id DESC, submit_utc_s DESC) AS at"                         \
	" FROM (SELECT * FROM lengths WHERE account = ?3" whose                                    \
	"  AND band = ?4 ORDER BY end_utc_s DESC LIMIT ?5))"                                       \
	" WHERE at = 1 ORDER BY end_utc_s DESC"

#define LT_SQL_LENGTHS_TABLE(X)                                                                    \
	X(LENGTH_PUT, LEDGER, /* ?4: uid, ?6: end_utc_s */                                         \
	    "INSERT INTO lengths (job_id, submit_utc_s, {columns})"                                \
	    " SELECT ?1, ?2, {values}"                                                             \
	    " WHERE NOT EXISTS (SELECT 1 FROM forgotten"                                           \
	    "  WHERE uid = ?4 AND until_utc_s >= ?6)"                                              \
	    " ON CONFLICT DO UPDATE SET ({columns}) = ({values})"                                  \
	    " WHERE ({columns}) != ({values}) RETURNING 1")                                        \
	X(LENGTH_DROP, LEDGER,                                                                     \
	    "DELETE FROM lengths WHERE job_id = ?1 AND submit_utc_s = ?2"                          \
	    " RETURNING 1")                                                                        \
	X(LENGTHS_TRIM, LEDGER,                                                                    \
	    "DELETE FROM lengths WHERE (job_id, submit_utc_s) IN"                                  \
	    " (SELECT job_id, submit_utc_s FROM lengths"                                           \
	    "  WHERE kind = ?1 AND uid = ?2"                                                       \
	    "  ORDER BY end_utc_s DESC LIMIT -1 OFFSET ?3)")                                       \
	X(PARTS_BEFORE, LEDGER,                                                                    \
	    "SELECT state_text, end_utc_s - start_utc_s - suspended_s"                             \
	    " FROM runs WHERE job_id = ?1 AND submit_utc_s < ?2 AND uid = ?3"                      \
	    " AND start_utc_s > 0 ORDER BY submit_utc_s DESC LIMIT ?4")                            \
	X(KIND_PUT, LEDGER,                                                                        \
	    "INSERT INTO kinds VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"                        \
	    " 1, 0, 0, 0, 0, 0, 0, 0, ?10)"                                                        \
	    " ON CONFLICT DO UPDATE SET stale = 1,"                                                \
	    " name = CASE WHEN ?9 >= last_utc_s THEN ?5 ELSE name END,"                            \
	    " nodes = CASE WHEN ?9 >= last_utc_s THEN ?6 ELSE nodes END,"                          \
	    " cpus = CASE WHEN ?9 >= last_utc_s THEN ?7 ELSE cpus END,"                            \
	    " gpus = CASE WHEN ?9 >= last_utc_s THEN ?8 ELSE gpus END,"                            \
	    " last_utc_s = max(last_utc_s, ?9)")                                                   \
	X(KINDS_STALE, LEDGER,                                                                     \
	    "SELECT {columns} FROM kinds WHERE stale != 0"                                         \
	    " ORDER BY kind, uid LIMIT ?1")                                                        \
	X(KINDS_ALL_STALE, LEDGER, "UPDATE kinds SET stale = 1")                                   \
	X(LENGTHS_OF_NAME, LEDGER,                                                                 \
	    "SELECT length_s, limit_s, at_least FROM lengths"                                      \
	    " WHERE kind = ?1 AND uid = ?2 ORDER BY end_utc_s DESC LIMIT ?5")                      \
	X(LENGTHS_OF_USER, LEDGER, LT_SQL_LENGTHS_WIDE(" AND uid = ?2"))                           \
	X(LENGTHS_OF_ACCOUNT, LEDGER, LT_SQL_LENGTHS_WIDE(""))                                     \
	X(KIND_FIGURES, LEDGER,                                                                    \
	    "UPDATE kinds SET stale = 0, ({columns}) = ({values})"                                 \
	    " WHERE kind = ?1 AND uid = ?2")                                                       \
	X(KIND_DROP, LEDGER, "DELETE FROM kinds WHERE kind = ?1 AND uid = ?2")                     \
	X(KINDS_TOLD, LEDGER,                                                                      \
	    "SELECT * FROM (SELECT {columns} FROM kinds"                                           \
	    "  WHERE runs > 0 AND (wide != 0 OR name != '')"                                       \
	    "  ORDER BY last_utc_s DESC)"                                                          \
	    " UNION ALL SELECT kind, uid, survived, write_s, restart_s,"                           \
	    " 0, 0, 0 FROM proofs WHERE survived > 0"                                              \
	    " UNION ALL SELECT gpu_kind, uid, runs, median, 0, 0, 0, 0"                            \
	    " FROM speeds LIMIT ?1")                                                               \
	X(SMOKE_RUNS, LEDGER,                                                                      \
	    "SELECT uid, account, name, COUNT(*), MAX(end_utc_s) FROM runs"                        \
	    " WHERE state_text = 'COMPLETED' AND nodes BETWEEN 1 AND ?2"                           \
	    " AND end_utc_s >= ?1 AND name != ''"                                                  \
	    " GROUP BY uid, account, name ORDER BY 5 DESC LIMIT ?3")                               \
	X(LENGTHS_BY_GPU, LEDGER,                                                                  \
	    "SELECT gpu, gpu_length_s FROM lengths WHERE kind = ?1"                                \
	    " AND uid = ?2 AND gpu != '' ORDER BY gpu, gpu_length_s")                              \
	X(SPEEDS_DROP, LEDGER, "DELETE FROM speeds WHERE kind = ?1 AND uid = ?2")                  \
	X(SPEED_PUT, LEDGER,                                                                       \
	    "INSERT INTO speeds (kind, uid, gpu_kind, {columns})"                                  \
	    " VALUES (?1, ?2, ?3, {values})")                                                      \
	X(SPEEDS_OF, LEDGER,                                                                       \
	    "SELECT {columns} FROM speeds WHERE kind = ?1"                                         \
	    " AND uid = ?2 ORDER BY gpu")                                                          \
	X(FIGURES_OF, LEDGER,                                                                      \
	    "SELECT {columns} FROM kinds"                                                          \
	    " WHERE kind = ?1 AND uid = ?2")                                                       \
	X(KINDS_OF_USER, LEDGER,                                                                   \
	    "SELECT {columns} FROM kinds WHERE uid = ?1"                                           \
	    " AND wide = 0 AND runs > 0 AND name != ''"                                            \
	    " AND (?2 = '' OR name = ?2)"                                                          \
	    " ORDER BY last_utc_s DESC, kind LIMIT ?3")                                            \
	X(LENGTHS_OLD, LEDGER,                                                                     \
	    "UPDATE kinds SET stale = 1 WHERE (kind, uid) IN"                                      \
	    " (SELECT kind, uid FROM lengths WHERE end_utc_s < ?1)"                                \
	    " OR (wide = 1 AND (account, uid) IN"                                                  \
	    "  (SELECT account, uid FROM lengths WHERE end_utc_s < ?1))"                           \
	    " OR (wide = 2 AND account IN"                                                         \
	    "  (SELECT account FROM lengths WHERE end_utc_s < ?1))")                               \
	X(LENGTHS_PRUNE, LEDGER, "DELETE FROM lengths WHERE end_utc_s < ?1")                       \
	X(FORGET, LEDGER, "INSERT OR REPLACE INTO forgotten VALUES (?1, ?2)")                      \
	X(FORGET_ACCOUNTS, LEDGER,                                                                 \
	    "UPDATE kinds SET stale = 1 WHERE wide = 2 AND account IN"                             \
	    " (SELECT account FROM lengths WHERE uid = ?1)")                                       \
	X(FORGET_LENGTHS, LEDGER, "DELETE FROM lengths WHERE uid = ?1 RETURNING 1")                \
	X(FORGET_KINDS, LEDGER, "DELETE FROM kinds WHERE uid = ?1")                                \
	X(FORGET_SPEEDS, LEDGER, "DELETE FROM speeds WHERE uid = ?1")

#endif
