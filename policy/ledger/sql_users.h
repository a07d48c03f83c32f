/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of whose a run was, beside sql.h's and by its rules: figures of one user,
 * and users erased from what is old.
 */
#ifndef LT_LEDGER_SQL_USERS_H
#define LT_LEDGER_SQL_USERS_H

/* Runs that ended in (?1, ?2] and have a user, with their entries e. */
#define LT_SQL_ERASED_RUNS                                                     \
	"end_utc_s > ?1 AND end_utc_s <= ?2 AND uid != " LT_SQL_NOBODY
#define LT_SQL_ERASED_ENTRIES                                                  \
	" FROM runs r INDEXED BY runs_end CROSS JOIN entries e"                \
	" ON e.job_id = r.job_id AND e.job_id != 0"                            \
	" AND e.submit_utc_s = r.submit_utc_s"                                 \
	" WHERE r.end_utc_s > ?1 AND r.end_utc_s <= ?2"                        \
	" AND r.uid != " LT_SQL_NOBODY " AND e.uid != " LT_SQL_NOBODY
/* Their part of days goes from one uid to another: add or take, and uid. */
#define LT_SQL_ADD_SUM(column, member) ", sum(e." #column ")"
#define LT_SQL_TAKE_SUM(column, member) ", -sum(e." #column ")"
#define LT_SQL_DAYS_MOVED(SUM, uid)                                            \
	"INSERT INTO days (day, account, uid, kind" LT_SQL_ENTRY_FIGURES       \
	") SELECT e.at_utc_s / 86400, e.account, " uid                         \
	", e.kind" LT_FIGURES(SUM) LT_SQL_ERASED_ENTRIES                       \
	    " GROUP BY 1, 2, 3, 4" LT_SQL_ADD_FIGURES
#define LT_SQL_AND_NONE(column, member) " AND " #column " = 0"

#define LT_SQL_USERS_TABLE(X)                                                                      \
	X(TOTALS_OF_USER, LEDGER,                                                                  \
	    "SELECT kind" LT_SQL_SUM_FIGURES " FROM entries"                                       \
	    " WHERE account = ?1 AND at_utc_s >= ?2 AND at_utc_s < ?3"                             \
	    " AND uid = ?4 GROUP BY kind")                                                         \
	X(COUNTS_OF_USER, LEDGER,                                                                  \
	    "SELECT count(*), total(moved), total(NOT priced),"                                    \
	    " total(worst_quality = 7), total(provisional),"                                       \
	    " total(gpus_from = 1), total(gpus_from = 2) FROM runs"                                \
	    " WHERE account = ?1 AND " LT_SQL_IS_BOOKED " AND uid = ?4")                           \
	X(ERASE_UNTIL, LEDGER,                                                                     \
	    "SELECT end_utc_s FROM runs WHERE " LT_SQL_ERASED_RUNS                                 \
	    " ORDER BY end_utc_s LIMIT 1 OFFSET ?3")                                               \
	X(ERASE_ADD_DAYS, LEDGER,                                                                  \
	    LT_SQL_DAYS_MOVED(LT_SQL_ADD_SUM, LT_SQL_NOBODY))                                      \
	X(ERASE_TAKE_DAYS, LEDGER,                                                                 \
	    LT_SQL_DAYS_MOVED(LT_SQL_TAKE_SUM, "e.uid"))                                           \
	X(ERASE_DROP_DAYS, LEDGER,                                                                 \
	    "DELETE FROM days WHERE (account, day, uid, kind) IN"                                  \
	    " (SELECT DISTINCT e.account, e.at_utc_s / 86400, e.uid, e.kind" LT_SQL_ERASED_ENTRIES \
	    ")" LT_FIGURES(LT_SQL_AND_NONE))                                                       \
	X(ERASE_ENTRIES, LEDGER,                                                                   \
	    "UPDATE entries SET uid = " LT_SQL_NOBODY " WHERE id IN"                               \
	    " (SELECT e.id" LT_SQL_ERASED_ENTRIES ")")                                             \
	X(ERASE_RUNS, LEDGER,                                                                      \
	    "UPDATE runs SET user = '', name = '', uid = " LT_SQL_NOBODY                           \
	    " WHERE " LT_SQL_ERASED_RUNS)                                                          \
	X(ERASE_KEPT_RUNS, LEDGER,                                                                 \
	    "UPDATE runs_before SET user = '', name = '', uid = " LT_SQL_NOBODY                    \
	    " WHERE " LT_SQL_ERASED_RUNS)                                                          \
	X(ERASE_HOLDS, LEDGER,                                                                     \
	    "UPDATE holds SET uid = " LT_SQL_NOBODY " WHERE state != 0"                            \
	    " AND ended_utc_s > max(?1, 0) AND ended_utc_s <= ?2"                                  \
	    " AND uid != " LT_SQL_NOBODY)

#endif
