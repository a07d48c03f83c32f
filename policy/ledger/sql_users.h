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
/* Their part of days goes from one uid to another: sign and uid. */
#define LT_SQL_DAYS_MOVED(sign, uid)                                           \
	"INSERT INTO days SELECT e.at_utc_s / 86400, e.account, " uid          \
	", e.kind, " sign "sum(e.money_micros), " sign "sum(e.carbon_mg),"     \
	" " sign "sum(e.energy_wh), " sign "sum(e.base_money_micros),"         \
	" " sign "sum(e.base_carbon_mg), " sign "sum(e.by_time_micros),"       \
	" " sign "sum(e.by_time_mg), " sign "sum(e.by_gpu_micros),"            \
	" " sign "sum(e.by_gpu_mg), " sign "sum(e.carbon_charge_micros),"      \
	" " sign "sum(e.discount_micros)" LT_SQL_ERASED_ENTRIES                \
	" GROUP BY 1, 2, 3, 4 ON CONFLICT DO UPDATE SET"                       \
	" money_micros = money_micros + excluded.money_micros,"                \
	" carbon_mg = carbon_mg + excluded.carbon_mg,"                         \
	" energy_wh = energy_wh + excluded.energy_wh,"                         \
	" base_money_micros = base_money_micros"                               \
	"  + excluded.base_money_micros,"                                      \
	" base_carbon_mg = base_carbon_mg + excluded.base_carbon_mg,"          \
	" by_time_micros = by_time_micros + excluded.by_time_micros,"          \
	" by_time_mg = by_time_mg + excluded.by_time_mg,"                      \
	" by_gpu_micros = by_gpu_micros + excluded.by_gpu_micros,"             \
	" by_gpu_mg = by_gpu_mg + excluded.by_gpu_mg,"                         \
	" carbon_charge_micros = carbon_charge_micros"                         \
	"  + excluded.carbon_charge_micros,"                                   \
	" discount_micros = discount_micros + excluded.discount_micros"

#define LT_SQL_USERS_TABLE(X)                                                                      \
	X(TOTALS_OF_USER, LEDGER,                                                                  \
	    "SELECT kind, " LT_SQL_SUM_FIGURES " FROM entries"                                     \
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
	X(ERASE_ADD_DAYS, LEDGER, LT_SQL_DAYS_MOVED("", LT_SQL_NOBODY))                            \
	X(ERASE_TAKE_DAYS, LEDGER, LT_SQL_DAYS_MOVED("-", "e.uid"))                                \
	X(ERASE_DROP_DAYS, LEDGER,                                                                 \
	    "DELETE FROM days WHERE (account, day, uid, kind) IN"                                  \
	    " (SELECT DISTINCT e.account, e.at_utc_s / 86400, e.uid, e.kind" LT_SQL_ERASED_ENTRIES \
	    ") AND money_micros = 0 AND carbon_mg = 0"                                             \
	    " AND energy_wh = 0 AND base_money_micros = 0"                                         \
	    " AND base_carbon_mg = 0 AND by_time_micros = 0"                                       \
	    " AND by_time_mg = 0 AND by_gpu_micros = 0 AND by_gpu_mg = 0"                          \
	    " AND carbon_charge_micros = 0 AND discount_micros = 0")                               \
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
