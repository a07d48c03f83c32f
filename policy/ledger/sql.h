/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All SQL text of the ledger, one named constant each: LT_SQL_<name>, the database it belongs to,
 * the text. Schemas first; migrations only go up. Amounts are NULL where they are not known; u64
 * ids are stored as int64. {columns} and {values} stand for the list of columns with which a
 * statement is put or read: ledger_db.h, columns.h.
 */
#ifndef LT_LEDGER_SQL_H
#define LT_LEDGER_SQL_H

#include "sql_jobs.h"
#include "sql_lengths.h"
#include "sql_periods.h"

#define LT_SQL_PRAGMAS                                                                             \
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"                                        \
	"PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF;"                                      \
	"PRAGMA journal_size_limit=67108864; PRAGMA cache_size=-512;"                              \
	"PRAGMA temp_store=MEMORY;" /* what a savepoint may undo */

/* A reader's: its transaction lasts until it is closed. Runs by their ends lie among those of the
 * hours before, of ten million a year in some 1 MiB. */
#define LT_SQL_READER                                                                              \
	"PRAGMA trusted_schema=OFF; PRAGMA cache_size=-2048;"                                      \
	"PRAGMA temp_store=MEMORY; BEGIN;"                                                         \
	"SELECT 1 FROM sqlite_schema LIMIT 1;"

/*
 * ledger.db, version 1. entries.at_utc_s is the hour whose period is charged, for_utc_s the hour
 * that was used: they differ when that period was closed. days are sums of entries by UTC day
 * (ledger_days.c; up to version 6 the trigger's), so that a month is 30 rows a user and not every
 * hour of every run.
 */
#define LT_SQL_LEDGER_1                                                                            \
	"CREATE TABLE holds (quote_id INTEGER PRIMARY KEY,"                                        \
	" rev INTEGER NOT NULL, flags INTEGER NOT NULL,"                                           \
	" account TEXT NOT NULL, money_micros INTEGER, carbon_mg INTEGER,"                         \
	" tasks INTEGER NOT NULL, start_utc_s INTEGER NOT NULL,"                                   \
	" end_utc_s INTEGER NOT NULL, partition TEXT NOT NULL,"                                    \
	" plan_start_utc_s INTEGER NOT NULL, home TEXT NOT NULL,"                                  \
	" home_start_utc_s INTEGER NOT NULL, plan_micros INTEGER,"                                 \
	" plan_mg INTEGER, home_micros INTEGER, home_mg INTEGER,"                                  \
	" objective INTEGER NOT NULL, mode INTEGER NOT NULL,"                                      \
	" uid INTEGER NOT NULL, sequence INTEGER NOT NULL,"                                        \
	" state INTEGER NOT NULL, live_tasks INTEGER NOT NULL,"                                    \
	" job_id INTEGER NOT NULL, submit_utc_s INTEGER NOT NULL,"                                 \
	" run_start_utc_s INTEGER NOT NULL, made_utc_s INTEGER NOT NULL,"                          \
	" why TEXT NOT NULL);"                                                                     \
	"CREATE INDEX holds_job ON holds (job_id) WHERE job_id != 0;"                              \
	"CREATE INDEX holds_open ON holds (quote_id) WHERE state = 0;"                             \
	"CREATE TABLE runs (job_id INTEGER NOT NULL,"                                              \
	" submit_utc_s INTEGER NOT NULL, array_job_id INTEGER NOT NULL,"                           \
	" array_task INTEGER NOT NULL, uid INTEGER NOT NULL,"                                      \
	" user TEXT NOT NULL, account TEXT NOT NULL,"                                              \
	" partition TEXT NOT NULL, state_text TEXT NOT NULL,"                                      \
	" start_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL,"                               \
	" nodes INTEGER NOT NULL, cpus INTEGER NOT NULL,"                                          \
	" gpus INTEGER NOT NULL, memory_mib INTEGER NOT NULL,"                                     \
	" share_numerator INTEGER NOT NULL,"                                                       \
	" share_denominator INTEGER NOT NULL, quote_id INTEGER NOT NULL,"                          \
	" priced INTEGER NOT NULL, provisional INTEGER NOT NULL,"                                  \
	" has_carbon INTEGER NOT NULL, money_micros INTEGER NOT NULL,"                             \
	" carbon_mg INTEGER NOT NULL, energy_wh INTEGER NOT NULL,"                                 \
	" has_base INTEGER NOT NULL, base_money_micros INTEGER NOT NULL,"                          \
	" base_carbon_mg INTEGER NOT NULL, moved INTEGER NOT NULL,"                                \
	" base_text TEXT NOT NULL, over_reason TEXT NOT NULL,"                                     \
	" worst_quality INTEGER NOT NULL,"                                                         \
	" PRIMARY KEY (job_id, submit_utc_s)) WITHOUT ROWID;"                                      \
	"CREATE INDEX runs_account ON runs"                                                        \
	" (account, end_utc_s, start_utc_s, moved, priced);"                                       \
	"CREATE INDEX runs_end ON runs (end_utc_s, start_utc_s);"                                  \
	"CREATE INDEX runs_array ON runs (array_job_id)"                                           \
	" WHERE array_job_id != 0;"                                                                \
	"CREATE TABLE entries (id INTEGER PRIMARY KEY AUTOINCREMENT,"                              \
	" kind INTEGER NOT NULL, job_id INTEGER NOT NULL,"                                         \
	" submit_utc_s INTEGER NOT NULL, at_utc_s INTEGER NOT NULL,"                               \
	" for_utc_s INTEGER NOT NULL, made_utc_s INTEGER NOT NULL,"                                \
	" account TEXT NOT NULL, uid INTEGER NOT NULL,"                                            \
	" money_micros INTEGER NOT NULL, carbon_mg INTEGER NOT NULL,"                              \
	" energy_wh INTEGER NOT NULL, base_money_micros INTEGER NOT NULL,"                         \
	" base_carbon_mg INTEGER NOT NULL, who TEXT NOT NULL,"                                     \
	" reason TEXT NOT NULL);"                                                                  \
	"CREATE INDEX entries_at ON entries (at_utc_s, account);"                                  \
	"CREATE INDEX entries_run ON entries (job_id, submit_utc_s)"                               \
	" WHERE job_id != 0;"                                                                      \
	"CREATE INDEX entries_special ON entries (account, at_utc_s)"                              \
	" WHERE kind != 0;"                                                                        \
	"CREATE TABLE days (day INTEGER NOT NULL, account TEXT NOT NULL,"                          \
	" uid INTEGER NOT NULL, kind INTEGER NOT NULL,"                                            \
	" money_micros INTEGER NOT NULL"                                                           \
	"  CHECK (typeof(money_micros) = 'integer'),"                                              \
	" carbon_mg INTEGER NOT NULL CHECK (typeof(carbon_mg) = 'integer'),"                       \
	" energy_wh INTEGER NOT NULL CHECK (typeof(energy_wh) = 'integer'),"                       \
	" base_money_micros INTEGER NOT NULL"                                                      \
	"  CHECK (typeof(base_money_micros) = 'integer'),"                                         \
	" base_carbon_mg INTEGER NOT NULL"                                                         \
	"  CHECK (typeof(base_carbon_mg) = 'integer'),"                                            \
	" PRIMARY KEY (account, day, uid, kind)) WITHOUT ROWID;"                                   \
	"CREATE INDEX days_day ON days (day);"                                                     \
	"CREATE TRIGGER entries_to_days AFTER INSERT ON entries BEGIN"                             \
	" INSERT INTO days VALUES (new.at_utc_s / 86400, new.account,"                             \
	"  new.uid, new.kind, new.money_micros, new.carbon_mg,"                                    \
	"  new.energy_wh, new.base_money_micros, new.base_carbon_mg)"                              \
	" ON CONFLICT DO UPDATE SET"                                                               \
	"  money_micros = money_micros + excluded.money_micros,"                                   \
	"  carbon_mg = carbon_mg + excluded.carbon_mg,"                                            \
	"  energy_wh = energy_wh + excluded.energy_wh,"                                            \
	"  base_money_micros = base_money_micros"                                                  \
	"   + excluded.base_money_micros,"                                                         \
	"  base_carbon_mg = base_carbon_mg + excluded.base_carbon_mg; END;"                        \
	"CREATE TABLE carries (partition TEXT NOT NULL,"                                           \
	" carbon INTEGER NOT NULL, carry REAL NOT NULL,"                                           \
	" PRIMARY KEY (partition, carbon)) WITHOUT ROWID;"                                         \
	"CREATE TABLE named (name TEXT PRIMARY KEY, value TEXT NOT NULL)"                          \
	" WITHOUT ROWID;"

/* Version 2: the candidates of the decision, as in the quote's text. */
#define LT_SQL_LEDGER_2 "ALTER TABLE holds ADD COLUMN candidates TEXT NOT NULL DEFAULT '';"

/* Version 3: interruptions of a partition, without reading all runs. */
#define LT_SQL_LEDGER_3                                                                            \
	"CREATE INDEX runs_partition ON runs"                                                      \
	" (partition, end_utc_s, start_utc_s, nodes, state_text);"

/*
 * Version 4: the facts that charges and their reasons rest on. admissions: what a hold's amount was
 * made from (price and carbon per node-hour, margin in them) and what was admitted, before anything
 * was raised because the job runs. accounts, places: the tree and the partitions as they last were;
 * gpus:
 * of runs, by slurmctld, where slurmdbd does not count them.
 */
#define LT_SQL_LEDGER_4                                                                            \
	"ALTER TABLE runs ADD COLUMN suspended_s INTEGER NOT NULL DEFAULT 0;"                      \
	"ALTER TABLE runs ADD COLUMN gpus_from INTEGER NOT NULL DEFAULT 0;"                        \
	"ALTER TABLE runs ADD COLUMN shards INTEGER NOT NULL DEFAULT 0;"                           \
	"ALTER TABLE runs ADD COLUMN held_micros INTEGER;"                                         \
	"ALTER TABLE runs ADD COLUMN held_mg INTEGER;"                                             \
	"CREATE INDEX runs_over ON runs (over_reason)"                                             \
	" WHERE over_reason != '';"                                                                \
	"ALTER TABLE holds ADD COLUMN ended_utc_s INTEGER NOT NULL DEFAULT 0;"                     \
	"CREATE INDEX holds_ended ON holds (ended_utc_s) WHERE state != 0;"                        \
	"CREATE TABLE admissions (quote_id INTEGER PRIMARY KEY,"                                   \
	" money_micros INTEGER, carbon_mg INTEGER,"                                                \
	" admitted_micros INTEGER, admitted_mg INTEGER,"                                           \
	" price REAL NOT NULL, carbon REAL NOT NULL,"                                              \
	" limit_s INTEGER NOT NULL);"                                                              \
	"CREATE TABLE accounts (name TEXT PRIMARY KEY, parent TEXT NOT NULL)"                      \
	" WITHOUT ROWID;"                                                                          \
	"CREATE TABLE places (partition TEXT PRIMARY KEY, facts TEXT NOT "                         \
	"NULL,"                                                                                    \
	" left_utc_s INTEGER NOT NULL) WITHOUT ROWID;"                                             \
	"CREATE TABLE gpus (job_id INTEGER NOT NULL,"                                              \
	" submit_utc_s INTEGER NOT NULL, gpus INTEGER NOT NULL,"                                   \
	" shards INTEGER NOT NULL, seen_utc_s INTEGER NOT NULL,"                                   \
	" PRIMARY KEY (job_id, submit_utc_s)) WITHOUT ROWID;"
/* Version 5: what a report says of few runs, without reading all of them. */
#define LT_SQL_LEDGER_5                                                                            \
	"CREATE INDEX runs_odd ON runs (account, end_utc_s, start_utc_s,"                          \
	" provisional, worst_quality, gpus_from) WHERE " LT_SQL_ODD ";"
/* Version 6: the few runs that may touch a period though they ended long
 * after it, without reading all that did. */
#define LT_SQL_LEDGER_6                                                                            \
	"CREATE INDEX runs_long ON runs"                                                           \
	" (account, end_utc_s, start_utc_s, moved, priced)"                                        \
	" WHERE " LT_SQL_LONG ";"
/* Version 7: the sums of a day are written once for a transaction, not with each entry. */
#define LT_SQL_LEDGER_7 "DROP TRIGGER entries_to_days;"

/* Adjustments belong to no user: those of before belonged to the admin who made them, as if that
 * were their use. */
#define LT_SQL_NOBODY "4294967295" /* LT_NOBODY_UID */
#define LT_SQL_LEDGER_NOBODY                                                                       \
	"UPDATE entries SET uid = " LT_SQL_NOBODY " WHERE kind != 0 AND kind = 2;"                 \
	"DELETE FROM days WHERE kind = 2;"                                                         \
	"INSERT INTO days (day, account, uid, kind, money_micros, carbon_mg,"                      \
	" energy_wh, base_money_micros, base_carbon_mg, " LT_SQL_BY ")"                            \
	" SELECT at_utc_s / 86400, account, uid, kind,"                                            \
	" sum(money_micros), sum(carbon_mg), sum(energy_wh),"                                      \
	" sum(base_money_micros), sum(base_carbon_mg), " LT_SQL_SUM_BY                             \
	" FROM entries WHERE kind != 0 AND kind = 2 GROUP BY 1, 2;"

/* signals.db, version 1. Steps of one partition and rate never overlap. */
#define LT_SQL_SIGNALS_1                                                                           \
	"CREATE TABLE rates (partition TEXT NOT NULL, rate INTEGER NOT NULL,"                      \
	" start_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL,"                               \
	" value REAL NOT NULL, quality INTEGER NOT NULL,"                                          \
	" source TEXT NOT NULL,"                                                                   \
	" PRIMARY KEY (partition, rate, start_utc_s)) WITHOUT ROWID;"                              \
	"CREATE TABLE points (source TEXT NOT NULL,"                                               \
	" start_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL,"                               \
	" value REAL NOT NULL, quality INTEGER NOT NULL,"                                          \
	" PRIMARY KEY (source, start_utc_s)) WITHOUT ROWID;"                                       \
	"CREATE INDEX points_end ON points (end_utc_s);"

/* Version 2: what was forecast and waits for its measured value, and sums of the errors by day.
 * Hours since 1970. */
#define LT_SQL_SIGNALS_2                                                                           \
	"CREATE TABLE forecasts (source TEXT NOT NULL,"                                            \
	" issued_hour INTEGER NOT NULL, target_hour INTEGER NOT NULL,"                             \
	" kind INTEGER NOT NULL, value REAL NOT NULL,"                                             \
	" PRIMARY KEY (source, issued_hour, target_hour, kind))"                                   \
	" WITHOUT ROWID;"                                                                          \
	"CREATE TABLE forecast_errors (source TEXT NOT NULL,"                                      \
	" kind INTEGER NOT NULL, bucket INTEGER NOT NULL,"                                         \
	" day INTEGER NOT NULL, count INTEGER NOT NULL, sum REAL NOT NULL,"                        \
	" sum_abs REAL NOT NULL, PRIMARY KEY (source, kind, bucket, day))"                         \
	" WITHOUT ROWID;"                                                                          \
	"CREATE INDEX forecasts_target ON forecasts (target_hour);"                                \
	"CREATE INDEX forecast_errors_day ON forecast_errors (day);"

/* Version 3: when each was recorded; NULL = before this release. */
#define LT_SQL_SIGNALS_3 "ALTER TABLE rates ADD COLUMN issued_utc_s INTEGER;"

/* True if a run is odd: by a recording, by slurmctld's last record, or with GPUs that slurmdbd does
 * not count: enum lt_quality and enum lt_gpus_from (ledger_sums.c). */
#define LT_SQL_ODD "(provisional != 0 OR worst_quality = 7 OR gpus_from != 0)"
/* A run that ends later than that after a period touches it only if it is long. */
#define LT_SQL_LONG_S "172800"
#define LT_SQL_LONG "end_utc_s > start_utc_s + " LT_SQL_LONG_S
/* A run touches [?2, ?3). One that never started or lasted no second cost nothing: it ended its
 * hold, and is no line of a statement. (slurmdbd does not list it by time either, so a rebuild
 * would not have it.) */
#define LT_SQL_TOUCHES                                                                             \
	"end_utc_s > ?2 AND start_utc_s < ?3"                                                      \
	" AND start_utc_s > 0 AND end_utc_s > start_utc_s"
/* It has entries there: of its start, of each full hour of UTC after it and, since hours are cut,
 * of each midnight of the site amid one. */
#define LT_SQL_NEXT_HOUR "(?2 + 3599) / 3600 * 3600"
#define LT_SQL_STARTED                                                                             \
	"start_utc_s < ?3 AND start_utc_s > 0 AND end_utc_s > start_utc_s"                         \
	" AND (start_utc_s >= ?2 OR end_utc_s > " LT_SQL_NEXT_HOUR                                 \
	" OR (job_id, submit_utc_s) IN (SELECT job_id, submit_utc_s FROM"                          \
	" entries WHERE kind = 0 AND at_utc_s >= ?2"                                               \
	" AND at_utc_s < " LT_SQL_NEXT_HOUR "))"
#define LT_SQL_IS_BOOKED "end_utc_s > ?2 AND " LT_SQL_STARTED
/* The same in two parts, read one after the other. Each is a range of an index, so that neither
 * grows with what ended later. */
#define LT_SQL_NEAR "end_utc_s <= ?3 + " LT_SQL_LONG_S " AND " LT_SQL_STARTED
#define LT_SQL_FAR "end_utc_s > ?3 + " LT_SQL_LONG_S " AND " LT_SQL_LONG " AND " LT_SQL_STARTED
/* The order of runs_account and runs_long. */
#define LT_SQL_RUN_ORDER "end_utc_s, start_utc_s, moved, priced, job_id, submit_utc_s"
#define LT_SQL_BEHIND(part)                                                                        \
	"account = ?1 AND " part " AND (" LT_SQL_RUN_ORDER ")"                                     \
	" > (max(?2, ?4), ?5, ?6, ?7, ?8, ?9)"
#define LT_SQL_RUNS_BEHIND(part)                                                                   \
	"SELECT {columns} FROM runs WHERE " LT_SQL_BEHIND(part) " ORDER BY " LT_SQL_RUN_ORDER
/* Order for all accounts, by their ends: so they lie in the table too, where those of one account
 * are a page each. */
#define LT_SQL_ALL_ORDER "end_utc_s, start_utc_s, job_id, submit_utc_s"
#define LT_SQL_RUNS_OF_ALL(part) "SELECT {columns} FROM runs " part " ORDER BY " LT_SQL_ALL_ORDER
#define LT_SQL_COUNTS(where)                                                                       \
	"SELECT count(*) runs, total(moved) moved,"                                                \
	" total(NOT priced) unpriced FROM runs WHERE account = ?1"                                 \
	" AND end_utc_s > ?2 AND " where
#define LT_SQL_COUNT_RUNS                                                                          \
	"SELECT total(runs), total(moved), total(unpriced)"                                        \
	" FROM (" LT_SQL_COUNTS(LT_SQL_NEAR) " UNION ALL " LT_SQL_COUNTS(LT_SQL_FAR) ")"
/* Whole UTC days [?3, ?4) from days, the edges [?1, ?5) and [?6, ?2) from entries: ?3 * 86400 = ?5
 * and ?4 * 86400 = ?6, or no whole day. */
#define LT_SQL_PERIOD(columns, where)                                                              \
	"SELECT " columns " FROM days WHERE day >= ?3 AND day < ?4" where                          \
	" UNION ALL SELECT " columns " FROM entries"                                               \
	" WHERE at_utc_s >= ?1 AND at_utc_s < ?5" where " UNION ALL SELECT " columns               \
	" FROM entries"                                                                            \
	" WHERE at_utc_s >= ?6 AND at_utc_s < ?2" where

#define LT_SQL_TABLE(X)                                                                            \
	X(BEGIN_LEDGER, LEDGER, "BEGIN IMMEDIATE")                                                 \
	X(COMMIT_LEDGER, LEDGER, "COMMIT")                                                         \
	X(ROLLBACK_LEDGER, LEDGER, "ROLLBACK")                                                     \
	X(BEGIN_SIGNALS, SIGNALS, "BEGIN IMMEDIATE")                                               \
	X(COMMIT_SIGNALS, SIGNALS, "COMMIT")                                                       \
	X(ROLLBACK_SIGNALS, SIGNALS, "ROLLBACK")                                                   \
	X(SAVE_LEDGER, LEDGER, "SAVEPOINT one_call")                                               \
	X(KEEP_LEDGER, LEDGER, "RELEASE one_call")                                                 \
	X(UNDO_LEDGER, LEDGER, "ROLLBACK TO one_call")                                             \
	X(SAVE_SIGNALS, SIGNALS, "SAVEPOINT one_call")                                             \
	X(KEEP_SIGNALS, SIGNALS, "RELEASE one_call")                                               \
	X(UNDO_SIGNALS, SIGNALS, "ROLLBACK TO one_call")                                           \
	X(NAMED_PUT, LEDGER,                                                                       \
	    "INSERT INTO named VALUES (?1, ?2)"                                                    \
	    " ON CONFLICT DO UPDATE SET value = ?2")                                               \
	X(NAMED_GET, LEDGER, "SELECT value FROM named WHERE name = ?1")                            \
	X(HOLD_PUT, LEDGER,                                                                        \
	    "INSERT INTO holds (quote_id, {columns}) VALUES (?1, {values})"                        \
	    " ON CONFLICT DO UPDATE SET ({columns}) = ({values})"                                  \
	    " WHERE rev <= excluded.rev")                                                          \
	X(HOLD_GET, LEDGER, "SELECT {columns} FROM holds WHERE quote_id = ?1")                     \
	X(HOLDS_OF_JOB, LEDGER, "SELECT {columns} FROM holds WHERE job_id = ?1 AND job_id != 0")   \
	X(HOLD_OPEN, LEDGER, "SELECT {columns} FROM holds WHERE state = 0 ORDER BY quote_id")      \
	X(HOLD_END, LEDGER,                                                                        \
	    "UPDATE holds SET state = ?2, live_tasks = 0, why = ?3"                                \
	    " WHERE quote_id = ?1 AND state = 0")                                                  \
	X(HOLDS_MOVE, LEDGER,                                                                      \
	    "UPDATE holds SET made_utc_s = min(made_utc_s + ?1, ?2)"                               \
	    " WHERE state = 0 AND (?1 != 0 OR made_utc_s > ?2)")                                   \
	X(HOLD_SETTLE_SHARE, LEDGER,                                                               \
	    "UPDATE holds SET live_tasks = max(live_tasks - 1, 0),"                                \
	    " state = CASE WHEN live_tasks <= 1 THEN 1 ELSE 0 END"                                 \
	    " WHERE quote_id = ?1 AND state = 0")                                                  \
	X(RUN_PUT, LEDGER, "INSERT OR REPLACE INTO runs ({columns}) VALUES ({values})")            \
	X(RUN_GET, LEDGER,                                                                         \
	    "SELECT {columns} FROM runs"                                                           \
	    " WHERE job_id = ?1 AND submit_utc_s = ?2")                                            \
	X(RUNS_OF_ID, LEDGER,                                                                      \
	    "SELECT {columns} FROM runs WHERE job_id = ?1"                                         \
	    " ORDER BY submit_utc_s")                                                              \
	X(RUNS_OF_JOB, LEDGER,                                                                     \
	    "SELECT {columns} FROM runs WHERE job_id = ?1"                                         \
	    " UNION SELECT {columns} FROM runs"                                                    \
	    " WHERE array_job_id = ?1 AND array_job_id != 0"                                       \
	    " ORDER BY 2, 1")                                                                      \
	X(CHARGED_OF, LEDGER,                                                                      \
	    "SELECT sum(money_micros), sum(carbon_mg) FROM runs"                                   \
	    " WHERE array_job_id = ?1 AND array_job_id != 0"                                       \
	    " AND quote_id = ?2 AND start_utc_s >= ?3")                                            \
	X(RUNS_NEAR, LEDGER, LT_SQL_RUNS_BEHIND(LT_SQL_NEAR))                                      \
	X(RUNS_FAR, LEDGER, LT_SQL_RUNS_BEHIND(LT_SQL_FAR))                                        \
	X(ALL_NEAR, LEDGER, LT_SQL_RUNS_OF_ALL("WHERE end_utc_s > ?2 AND " LT_SQL_NEAR))           \
	X(ALL_FAR, LEDGER, LT_SQL_RUNS_OF_ALL("INDEXED BY runs_long WHERE " LT_SQL_FAR))           \
	X(RUNS_ODD, LEDGER,                                                                        \
	    "SELECT total(worst_quality = 7), total(provisional),"                                 \
	    " total(gpus_from = 1), total(gpus_from = 2) FROM runs"                                \
	    " WHERE account = ?1 AND " LT_SQL_IS_BOOKED " AND " LT_SQL_ODD)                        \
	X(RUN_SUMS, LEDGER,                                                                        \
	    "SELECT {columns} FROM runs"                                                           \
	    " ORDER BY job_id, submit_utc_s")                                                      \
	X(RUN_COUNTS, LEDGER, LT_SQL_COUNT_RUNS)                                                   \
	X(CORRECTED_COUNTS, LEDGER,                                                                \
	    "SELECT count(*), total(moved), total(NOT priced) FROM"                                \
	    " (SELECT DISTINCT job_id, submit_utc_s FROM entries"                                  \
	    "  WHERE kind != 0 AND kind = 1 AND account = ?1"                                      \
	    "  AND at_utc_s >= ?2 AND at_utc_s < ?3)"                                              \
	    " JOIN runs USING (job_id, submit_utc_s)")                                             \
	X(EXPOSURE, LEDGER,                                                                        \
	    "SELECT total(state_text LIKE 'NODE_FAIL%'"                                            \
	    "  OR state_text LIKE 'PREEMPTED%'),"                                                  \
	    " total(nodes * (min(end_utc_s, ?3) - max(start_utc_s, ?2))"                           \
	    "  / 3600.0) FROM runs WHERE partition = ?1 AND " LT_SQL_TOUCHES)                      \
	X(ENTRY_PUT, LEDGER,                                                                       \
	    "INSERT INTO entries (for_utc_s, {columns})"                                           \
	    " VALUES (?1, {values})")                                                              \
	X(DAY_ADD, LEDGER,                                                                         \
	    "INSERT INTO days (day, account, uid, kind" LT_SQL_ENTRY_FIGURES                       \
	    ") VALUES (?1, ?2, ?3, ?4" LT_SQL_FIGURE_VALUES ")" LT_SQL_ADD_FIGURES)                \
	X(ENTRIES_OF_RUN, LEDGER,                                                                  \
	    "SELECT account, uid, for_utc_s" LT_SQL_SUM_FIGURES                                    \
	    " FROM entries WHERE job_id = ?1 AND job_id != 0"                                      \
	    " AND submit_utc_s = ?2 GROUP BY account, uid, for_utc_s")                             \
	X(ADJUSTED, LEDGER,                                                                        \
	    "SELECT coalesce(sum(max(money_micros, 0)), 0),"                                       \
	    " coalesce(sum(min(money_micros, 0)), 0),"                                             \
	    " coalesce(sum(max(carbon_mg, 0)), 0),"                                                \
	    " coalesce(sum(min(carbon_mg, 0)), 0),"                                                \
	    " coalesce(sum(max(energy_wh, 0)), 0),"                                                \
	    " coalesce(sum(min(energy_wh, 0)), 0)"                                                 \
	    " FROM entries WHERE kind != 0 AND kind = 2")                                          \
	X(TOTALS, LEDGER,                                                                          \
	    "SELECT kind" LT_SQL_SUM_FIGURES " FROM (" LT_SQL_PERIOD(                              \
		"kind" LT_SQL_ENTRY_FIGURES, " AND account = ?7") ") GROUP BY kind")               \
	X(SUMS, LEDGER,                                                                            \
	    "SELECT account, uid, sum(money_micros), sum(carbon_mg) FROM "                         \
	    "(" LT_SQL_PERIOD("account, uid, money_micros, carbon_mg",                             \
		"") ") GROUP BY account, uid ORDER BY account, uid")                               \
	X(DATA_VERSION, LEDGER, "PRAGMA data_version")                                             \
	X(CARRY_GET, LEDGER,                                                                       \
	    "SELECT {columns} FROM carries WHERE partition = ?1"                                   \
	    " AND carbon = ?2")                                                                    \
	X(CARRY_PUT, LEDGER,                                                                       \
	    "INSERT INTO carries VALUES (?1, ?2, ?3)"                                              \
	    " ON CONFLICT DO UPDATE SET carry = ?3")                                               \
	X(ADMISSION_PUT, LEDGER,                                                                   \
	    "INSERT OR REPLACE INTO admissions"                                                    \
	    " (quote_id, money_micros, carbon_mg, {columns})"                                      \
	    " VALUES (?1, ?2, ?3, {values})")                                                      \
	X(ADMISSION_GET, LEDGER, "SELECT {columns} FROM admissions WHERE quote_id = ?1")           \
	X(ADMISSION_DUE, LEDGER,                                                                   \
	    "SELECT h.state = 0 AND h.job_id != 0 AND (a.quote_id IS NULL"                         \
	    "  OR a.money_micros IS NOT h.money_micros"                                            \
	    "  OR a.carbon_mg IS NOT h.carbon_mg)"                                                 \
	    " FROM holds h LEFT JOIN admissions a USING (quote_id)"                                \
	    " WHERE h.quote_id = ?1")                                                              \
	X(PLACE_PUT, LEDGER, "INSERT OR REPLACE INTO places VALUES (?1, ?2, ?3)")                  \
	X(PLACE_GET, LEDGER, "SELECT {columns} FROM places WHERE partition = ?1")                  \
	X(PLACES, LEDGER, "SELECT {columns} FROM places WHERE left_utc_s = 0")                     \
	X(GPUS_PUT, LEDGER, "INSERT OR REPLACE INTO gpus VALUES (?1, ?2, ?3, ?4, ?5)")             \
	X(GPUS_GET, LEDGER,                                                                        \
	    "SELECT {columns} FROM gpus WHERE job_id = ?1"                                         \
	    " AND submit_utc_s <= ?2 ORDER BY submit_utc_s DESC LIMIT 1")                          \
	X(GPUS_PRUNE, LEDGER, "DELETE FROM gpus WHERE seen_utc_s < ?1")                            \
	X(HOLDS_STAMP, LEDGER,                                                                     \
	    "UPDATE holds SET ended_utc_s = CASE state WHEN 0 THEN 0"                              \
	    " ELSE ?1 END WHERE (state != 0) != (ended_utc_s != 0)")                               \
	X(HOLDS_PRUNE, LEDGER, "DELETE FROM holds WHERE state = ?1 AND ended_utc_s < ?2")          \
	X(ADMISSIONS_PRUNE, LEDGER,                                                                \
	    "DELETE FROM admissions WHERE quote_id NOT IN"                                         \
	    " (SELECT quote_id FROM holds)")                                                       \
	X(HAS_MONEY, LEDGER,                                                                       \
	    "SELECT EXISTS (SELECT 1 FROM entries WHERE money_micros != 0)"                        \
	    " OR EXISTS (SELECT 1 FROM holds WHERE money_micros != 0)")                            \
	X(OVER_COUNTS, LEDGER,                                                                     \
	    "SELECT over_reason, count(*), max(job_id),"                                           \
	    " total(max(money_micros - held_micros, 0)) FROM runs"                                 \
	    " WHERE over_reason != '' AND end_utc_s >= ?1"                                         \
	    " GROUP BY over_reason")                                                               \
	X(REPAIR_ORPHANS, LEDGER,                                                                  \
	    "DELETE FROM entries WHERE id > ?1 AND id <= ?2 AND kind != 2"                         \
	    " AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.job_id"                                 \
	    " = entries.job_id AND r.submit_utc_s = entries.submit_utc_s)")                        \
	X(LAST_ENTRY, LEDGER, "SELECT coalesce(max(id), 0) FROM entries")                          \
	X(REPAIR_SUMS, LEDGER,                                                                     \
	    "SELECT {columns} FROM (SELECT r.*" LT_SQL_FIGURES_LESS_SUMS                           \
	    "  FROM runs r LEFT JOIN entries x ON x.job_id = r.job_id"                             \
	    "   AND x.job_id != 0 AND x.submit_utc_s = r.submit_utc_s"                             \
	    "  WHERE r.job_id > ?1 AND r.job_id <= ?2"                                             \
	    "  GROUP BY r.job_id, r.submit_utc_s)"                                                 \
	    " WHERE " LT_SQL_ANY_MISSING)                                                          \
	X(REPAIR_NEXT_RUN, LEDGER,                                                                 \
	    "SELECT job_id FROM runs WHERE job_id > ?1 ORDER BY job_id"                            \
	    " LIMIT 1 OFFSET ?2")                                                                  \
	X(REPAIR_ADJUSTMENTS, LEDGER, "DELETE FROM entries WHERE kind != 0 AND kind = 2")          \
	X(REPAIR_ADJUSTED, LEDGER, "DELETE FROM days WHERE kind = 2")                              \
	X(REPAIR_NEXT_DAY, LEDGER,                                                                 \
	    "SELECT min(day) FROM (SELECT min(at_utc_s) / 86400 AS day"                            \
	    " FROM entries WHERE at_utc_s >= ?1 * 86400"                                           \
	    " UNION ALL SELECT min(day) FROM days WHERE day >= ?1)")                               \
	X(REPAIR_DAY, LEDGER, "DELETE FROM days WHERE day = ?1")                                   \
	X(REPAIR_DAY_FILL, LEDGER,                                                                 \
	    "INSERT INTO days (day, account, uid, kind" LT_SQL_ENTRY_FIGURES                       \
	    ") SELECT at_utc_s / 86400, account, uid, kind" LT_SQL_SUM_FIGURES " FROM entries"     \
	    " WHERE at_utc_s >= ?1 * 86400 AND at_utc_s < (?1 + 1) * 86400"                        \
	    " GROUP BY 1, 2, 3, 4")                                                                \
	X(RATES_TOUCHING, SIGNALS,                                                                 \
	    "SELECT {columns} FROM rates WHERE partition = ?1 AND rate = ?2"                       \
	    " AND start_utc_s >= coalesce((SELECT max(start_utc_s)"                                \
	    "  FROM rates WHERE partition = ?1 AND rate = ?2"                                      \
	    "  AND start_utc_s <= ?3), ?3) AND start_utc_s < ?4"                                   \
	    " ORDER BY start_utc_s")                                                               \
	X(RATE_FIRST, SIGNALS,                                                                     \
	    "SELECT {columns} FROM rates WHERE partition = ?1 AND rate = ?2"                       \
	    " ORDER BY start_utc_s LIMIT 1")                                                       \
	X(RATE_UNSURE, SIGNALS,                                                                    \
	    "SELECT min(start_utc_s) FROM rates WHERE partition = ?1"                              \
	    " AND rate = ?2 AND start_utc_s >= ?3 AND start_utc_s < ?4"                            \
	    " AND (quality BETWEEN ?5 AND ?6 OR end_utc_s = ?7)")                                  \
	/* From name to name: the steps between them are not read. */                              \
	X(RATED, SIGNALS,                                                                          \
	    "WITH RECURSIVE p(name) AS (SELECT min(partition) FROM rates"                          \
	    " UNION ALL SELECT (SELECT min(partition) FROM rates"                                  \
	    "  WHERE partition > name) FROM p WHERE name IS NOT NULL)"                             \
	    " SELECT name FROM p WHERE EXISTS"                                                     \
	    " (SELECT 1 FROM rates WHERE partition = name AND rate = ?1)"                          \
	    " ORDER BY name")                                                                      \
	X(RATE_PUT, SIGNALS,                                                                       \
	    "INSERT OR REPLACE INTO rates VALUES (?1, ?2, ?3, ?4, ?5, ?6,"                         \
	    " ?7, ?8)")                                                                            \
	X(RATE_DELETE, SIGNALS,                                                                    \
	    "DELETE FROM rates WHERE partition = ?1 AND rate = ?2"                                 \
	    " AND start_utc_s = ?3")                                                               \
	X(POINT_PUT, SIGNALS,                                                                      \
	    "INSERT INTO points VALUES (?1, ?2, ?3, ?4, ?5)"                                       \
	    " ON CONFLICT DO UPDATE SET end_utc_s = ?3, value = ?4,"                               \
	    " quality = ?5 WHERE NOT (quality = ?6 AND ?7)")                                       \
	X(POINTS_TOUCHING, SIGNALS,                                                                \
	    "SELECT start_utc_s, end_utc_s, value, quality, source, NULL"                          \
	    " FROM points WHERE source = ?1 AND start_utc_s >="                                    \
	    " coalesce((SELECT max(start_utc_s) FROM points"                                       \
	    "  WHERE source = ?1 AND start_utc_s <= ?2), ?2)"                                      \
	    " AND start_utc_s < ?3 AND end_utc_s > ?2 ORDER BY start_utc_s")                       \
	X(POINT_EXTEND, SIGNALS,                                                                   \
	    "UPDATE points SET end_utc_s = max(end_utc_s, ?3)"                                     \
	    " WHERE source = ?1 AND start_utc_s = (SELECT max(start_utc_s)"                        \
	    "  FROM points WHERE source = ?1 AND start_utc_s < ?2)"                                \
	    " AND end_utc_s > ?2 AND value = ?4 AND quality = ?5"                                  \
	    " AND NOT EXISTS (SELECT 1 FROM points WHERE source = ?1"                              \
	    "  AND start_utc_s = ?2)")                                                             \
	X(POINTS_PRUNE, SIGNALS, "DELETE FROM points WHERE end_utc_s <= ?1")                       \
	X(POINTS_BOUND, SIGNALS,                                                                   \
	    "DELETE FROM points WHERE end_utc_s <= (SELECT end_utc_s"                              \
	    "  FROM points ORDER BY end_utc_s DESC LIMIT 1 OFFSET ?1)")                            \
	X(FORECAST_PUT, SIGNALS,                                                                   \
	    "INSERT OR REPLACE INTO forecasts (source, {columns})"                                 \
	    " VALUES (?1, {values})")                                                              \
	X(FORECAST_FORGET, SIGNALS,                                                                \
	    "DELETE FROM forecasts WHERE source = ?1 AND issued_hour = ?2"                         \
	    " AND target_hour = ?3 AND kind = ?4")                                                 \
	X(FORECASTS_DUE, SIGNALS,                                                                  \
	    "SELECT {columns} FROM forecasts"                                                      \
	    " WHERE source = ?1 AND target_hour < ?2"                                              \
	    " ORDER BY issued_hour, target_hour, kind")                                            \
	X(FORECAST_LAST, SIGNALS, "SELECT max(issued_hour) FROM forecasts WHERE source = ?1")      \
	X(FORECASTS_PRUNE, SIGNALS, "DELETE FROM forecasts WHERE target_hour < ?1")                \
	X(ERROR_ADD, SIGNALS,                                                                      \
	    "INSERT INTO forecast_errors (source, day, {columns})"                                 \
	    " VALUES (?1, ?2, {values}) ON CONFLICT DO UPDATE SET"                                 \
	    " count = count + excluded.count, sum = sum + excluded.sum,"                           \
	    " sum_abs = sum_abs + excluded.sum_abs")                                               \
	X(ERROR_SUMS, SIGNALS,                                                                     \
	    "SELECT kind, bucket, sum(count), sum(sum), sum(sum_abs)"                              \
	    " FROM forecast_errors WHERE source = ?1"                                              \
	    " GROUP BY kind, bucket ORDER BY kind, bucket")                                        \
	X(ERRORS_PRUNE, SIGNALS, "DELETE FROM forecast_errors WHERE day < ?1")

/* All statements. */
#define LT_SQL_EACH_TABLE(X)                                                                       \
	LT_SQL_TABLE(X)                                                                            \
	LT_SQL_LENGTHS_TABLE(X)                                                                    \
	LT_SQL_PLANS_TABLE(X)                                                                      \
	LT_SQL_PERIODS_TABLE(X)                                                                    \
	LT_SQL_USERS_TABLE(X)                                                                      \
	LT_SQL_JOBS_TABLE(X)                                                                       \
	LT_SQL_QUOTED_TABLE(X)                                                                     \
	LT_SQL_TOLD_TABLE(X)                                                                       \
	LT_SQL_ACCOUNTS_TABLE(X)

/*
 * SQL of accounts, beside sql.h's and by its rules.
 */

/* Version 28: below whom an account stood until then, for what was booked before; and the few days
 * that have discounts. */
#define LT_SQL_LEDGER_28                                                                           \
	"CREATE TABLE account_moves (name TEXT NOT NULL,"                                          \
	" parent TEXT NOT NULL, until_utc_s INTEGER NOT NULL,"                                     \
	" PRIMARY KEY (name, until_utc_s)) WITHOUT ROWID;"                                         \
	"CREATE INDEX account_moves_until ON account_moves (until_utc_s);"                         \
	"CREATE INDEX account_moves_parent ON account_moves (parent);"                             \
	"CREATE INDEX days_discount ON days (day, account, discount_micros)"                       \
	" WHERE discount_micros != 0;"

#define LT_SQL_ACCOUNTS_TABLE(X)                                                                   \
	X(ACCOUNT_PUT, LEDGER,                                                                     \
	    "INSERT INTO accounts VALUES (?1, ?2)"                                                 \
	    " ON CONFLICT DO UPDATE SET parent = ?2 WHERE parent != ?2")                           \
	X(ACCOUNTS, LEDGER,                                                                        \
	    "SELECT name, parent, EXISTS (SELECT 1 FROM days"                                      \
	    "  WHERE account = name), EXISTS (SELECT 1 FROM account_moves AS"                      \
	    "  m WHERE m.parent = accounts.name) FROM accounts"                                    \
	    " ORDER BY name")                                                                      \
	X(ACCOUNT_MOVE, LEDGER,                                                                    \
	    "INSERT OR IGNORE INTO account_moves SELECT name, parent, ?3"                          \
	    " FROM accounts WHERE name = ?1 AND parent != ?2")                                     \
	X(ACCOUNT_MOVES, LEDGER,                                                                   \
	    "SELECT {columns} FROM account_moves"                                                  \
	    " ORDER BY name, until_utc_s")                                                         \
	X(ACCOUNT_CUTS, LEDGER,                                                                    \
	    "SELECT DISTINCT until_utc_s FROM account_moves"                                       \
	    " WHERE until_utc_s > ?1 AND until_utc_s < ?2"                                         \
	    " ORDER BY until_utc_s")

/*
 * SQL of whose a run was, beside sql.h's and by its rules: figures of one user, and users erased
 * from what is old.
 */

/* Runs that ended in (?1, ?2] and have a user, with their entries e. */
#define LT_SQL_ERASED_RUNS "end_utc_s > ?1 AND end_utc_s <= ?2 AND uid != " LT_SQL_NOBODY
#define LT_SQL_ERASED_ENTRIES                                                                      \
	" FROM runs r INDEXED BY runs_end CROSS JOIN entries e"                                    \
	" ON e.job_id = r.job_id AND e.job_id != 0"                                                \
	" AND e.submit_utc_s = r.submit_utc_s"                                                     \
	" WHERE r.end_utc_s > ?1 AND r.end_utc_s <= ?2"                                            \
	" AND r.uid != " LT_SQL_NOBODY " AND e.uid != " LT_SQL_NOBODY
/* Their part of days goes from one uid to another: add or take, and uid. */
#define LT_SQL_ADD_SUM(column, member) ", sum(e." #column ")"
#define LT_SQL_TAKE_SUM(column, member) ", -sum(e." #column ")"
#define LT_SQL_DAYS_MOVED(SUM, uid)                                                                \
	"INSERT INTO days (day, account, uid, kind" LT_SQL_ENTRY_FIGURES                           \
	") SELECT e.at_utc_s / 86400, e.account, " uid ", e.kind" LT_FIGURES(SUM)                  \
	    LT_SQL_ERASED_ENTRIES " GROUP BY 1, 2, 3, 4" LT_SQL_ADD_FIGURES
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
	X(ERASE_ADD_DAYS, LEDGER, LT_SQL_DAYS_MOVED(LT_SQL_ADD_SUM, LT_SQL_NOBODY))                \
	X(ERASE_TAKE_DAYS, LEDGER, LT_SQL_DAYS_MOVED(LT_SQL_TAKE_SUM, "e.uid"))                    \
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

/*
 * SQL of what is in the money of an entry beside the use of nodes: the charge for carbon, and the
 * discount that was taken off; beside sql.h's and by its rules.
 */

#define LT_SQL_ADD_PARTS(table)                                                                    \
	"ALTER TABLE " table " ADD COLUMN carbon_charge_micros INTEGER"                            \
	" NOT NULL DEFAULT 0;"                                                                     \
	"ALTER TABLE " table " ADD COLUMN discount_micros INTEGER"                                 \
	" NOT NULL DEFAULT 0;"

/* Version 24. */
#define LT_SQL_LEDGER_24                                                                           \
	LT_SQL_ADD_PARTS("entries")                                                                \
	LT_SQL_ADD_PARTS("days")                                                                   \
	LT_SQL_ADD_PARTS("runs")                                                                   \
	LT_SQL_ADD_PARTS("runs_before")                                                            \
	"CREATE INDEX entries_discounted ON entries (account, at_utc_s)"                           \
	" WHERE discount_micros != 0;"

/* All figures of entries, in the order of lt_entry_figures(), each with a comma before it; their
 * sums; and parameters for them. */
#define LT_SQL_FIGURE(column, member) ", " #column
#define LT_SQL_FIGURE_SUM(column, member) ", sum(" #column ")"
#define LT_SQL_FIGURE_VALUE(column, member) ", ?"
#define LT_SQL_ENTRY_FIGURES LT_FIGURES(LT_SQL_FIGURE)
#define LT_SQL_SUM_FIGURES LT_FIGURES(LT_SQL_FIGURE_SUM)
#define LT_SQL_FIGURE_VALUES LT_FIGURES(LT_SQL_FIGURE_VALUE)
/* Into days where the account, user and kind have that day. */
#define LT_SQL_ADDED(column) #column " = " #column " + excluded." #column
#define LT_SQL_FIGURE_ADDED(column, member) ", " LT_SQL_ADDED(column)
#define LT_SQL_ADD_FIGURES                                                                         \
	" ON CONFLICT DO UPDATE SET " LT_SQL_ADDED(money_micros)                                   \
	    LT_MORE_FIGURES(LT_SQL_FIGURE_ADDED)
/* Columns that a run r has beyond its entries x, as missing_<column>. */
#define LT_SQL_LESS_SUM(column, member)                                                            \
	", r." #column " - coalesce(sum(x." #column "), 0) AS missing_" #column
#define LT_SQL_OR_MISSING(column, member) " OR missing_" #column " != 0"
#define LT_SQL_FIGURES_LESS_SUMS LT_FIGURES(LT_SQL_LESS_SUM)
#define LT_SQL_ANY_MISSING "FALSE" LT_FIGURES(LT_SQL_OR_MISSING)

/*
 * SQL of the plans that a job had one after the other, beside sql.h's and by its rules. why: a word
 * of replan.h, "" = of its submission.
 */

/* Version 9. */
#define LT_SQL_LEDGER_9                                                                            \
	"CREATE TABLE plans (quote_id INTEGER NOT NULL,"                                           \
	" made_utc_s INTEGER NOT NULL, partition TEXT NOT NULL,"                                   \
	" start_utc_s INTEGER NOT NULL, money_micros INTEGER,"                                     \
	" carbon_mg INTEGER, why TEXT NOT NULL,"                                                   \
	" PRIMARY KEY (quote_id, made_utc_s)) WITHOUT ROWID;"

/* Version 10: the levers by which a plan differs from home, as in the quote. */
#define LT_SQL_LEDGER_10 "ALTER TABLE holds ADD COLUMN levers TEXT NOT NULL DEFAULT '';"

/* Version 11: what was saved by when a run ran, and by how fast: of entries and runs before it was
 * all by where. */
#define LT_SQL_LEDGER_11                                                                           \
	"ALTER TABLE runs ADD COLUMN by_time_micros INTEGER NOT NULL"                              \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE runs ADD COLUMN by_time_mg INTEGER NOT NULL"                                  \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE runs ADD COLUMN by_gpu_micros INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE runs ADD COLUMN by_gpu_mg INTEGER NOT NULL"                                   \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE entries ADD COLUMN by_time_micros INTEGER NOT NULL"                           \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE entries ADD COLUMN by_time_mg INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE entries ADD COLUMN by_gpu_micros INTEGER NOT NULL"                            \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE entries ADD COLUMN by_gpu_mg INTEGER NOT NULL"                                \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE days ADD COLUMN by_time_micros INTEGER NOT NULL"                              \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE days ADD COLUMN by_time_mg INTEGER NOT NULL"                                  \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE days ADD COLUMN by_gpu_micros INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE days ADD COLUMN by_gpu_mg INTEGER NOT NULL"                                   \
	" DEFAULT 0;"

#define LT_SQL_BY "by_time_micros, by_time_mg, by_gpu_micros, by_gpu_mg"
#define LT_SQL_SUM_BY "sum(by_time_micros), sum(by_time_mg), sum(by_gpu_micros), sum(by_gpu_mg)"

#define LT_SQL_PLANS_TABLE(X)                                                                      \
	X(PLAN_PUT, LEDGER,                                                                        \
	    "INSERT OR REPLACE INTO plans (quote_id, {columns})"                                   \
	    " VALUES (?1, {values})")                                                              \
	X(PLANS_OF, LEDGER,                                                                        \
	    "SELECT {columns} FROM plans WHERE quote_id = ?1"                                      \
	    " ORDER BY made_utc_s")                                                                \
	X(PLANS_PRUNE, LEDGER,                                                                     \
	    "DELETE FROM plans WHERE quote_id NOT IN"                                              \
	    " (SELECT quote_id FROM holds)")

/*
 * SQL of runs beside their quotes, beside sql.h's and by its rules.
 */

/* Version 20: a row a run, written when it is settled, and not any more once
 * its period is closed. compared: enum lt_compared;
 * how_ended: enum lt_quoted_end. NULL: not known. */
#define LT_SQL_LEDGER_20                                                                           \
	"CREATE TABLE quoted (job_id INTEGER NOT NULL,"                                            \
	" submit_utc_s INTEGER NOT NULL, quote_id INTEGER NOT NULL,"                               \
	" account TEXT NOT NULL, compared INTEGER NOT NULL,"                                       \
	" draw INTEGER NOT NULL, plan_micros INTEGER, plan_mg INTEGER,"                            \
	" home_micros INTEGER, home_mg INTEGER, money_micros INTEGER,"                             \
	" carbon_mg INTEGER, base_micros INTEGER, base_mg INTEGER, work_micros INTEGER,"           \
	" work_mg INTEGER,"                                                                        \
	" end_utc_s INTEGER NOT NULL, how_ended INTEGER NOT NULL,"                                 \
	" has_left INTEGER NOT NULL, deadline_utc_s INTEGER NOT NULL,"                             \
	" stated_ppm INTEGER NOT NULL,"                                                            \
	" PRIMARY KEY (job_id, submit_utc_s)) WITHOUT ROWID;"                                      \
	"CREATE INDEX quoted_end ON quoted (end_utc_s);"

/* Version 22: 8192 is LT_QUOTE_NO_SMOKE. */
#define LT_SQL_LEDGER_22                                                                           \
	"CREATE INDEX holds_no_smoke ON holds (made_utc_s)"                                        \
	" WHERE flags & 8192 != 0;"

#define LT_SQL_QUOTED_TABLE(X)                                                                     \
	X(QUOTED_PUT, LEDGER, "INSERT OR REPLACE INTO quoted ({columns}) VALUES ({values})")       \
	X(QUOTED_ENDED, LEDGER,                                                                    \
	    "SELECT {columns},"                                                                    \
	    " (SELECT max(plan_start_utc_s - home_start_utc_s, 0) FROM holds"                      \
	    "  WHERE holds.quote_id = quoted.quote_id) FROM quoted"                                \
	    " WHERE end_utc_s >= ?1 AND end_utc_s < ?2"                                            \
	    " ORDER BY quote_id, job_id, submit_utc_s")                                            \
	X(QUOTED_NO_SMOKE, LEDGER,                                                                 \
	    "SELECT count(*) FROM holds"                                                           \
	    " WHERE flags & 8192 != 0 AND made_utc_s >= ?1")

/*
 * SQL of alerts and mails that are told and due, beside sql.h's and by its rules.
 */

/* Version 23: a row a percentage of a budget that was passed, a run or a day that cost much;
 * told_utc_s 0: it is due. Kinds: message_kinds.h. */
#define LT_SQL_LEDGER_23                                                                           \
	"CREATE TABLE alerts (name TEXT PRIMARY KEY, begins TEXT NOT NULL,"                        \
	" kind INTEGER NOT NULL, team TEXT NOT NULL, uid INTEGER NOT NULL,"                        \
	" job_id INTEGER NOT NULL, quote_id INTEGER NOT NULL,"                                     \
	" percent INTEGER NOT NULL, times INTEGER NOT NULL,"                                       \
	" is_over INTEGER NOT NULL, made_utc_s INTEGER NOT NULL,"                                  \
	" told_utc_s INTEGER NOT NULL, until_utc_s INTEGER NOT NULL,"                              \
	" subject TEXT NOT NULL, text TEXT NOT NULL, mail_to TEXT NOT NULL)"                       \
	" WITHOUT ROWID;"                                                                          \
	"CREATE INDEX alerts_made ON alerts (made_utc_s);"                                         \
	"CREATE INDEX alerts_due ON alerts (name) WHERE told_utc_s = 0;"                           \
	"CREATE INDEX alerts_of_budgets ON alerts (name) WHERE kind = 0;"

/* Version 21: a row a job that asks for mails: the start that its user knows of, and the run up to
 * which interruptions are told. */
#define LT_SQL_LEDGER_21                                                                           \
	"CREATE TABLE mails (job_id INTEGER PRIMARY KEY,"                                          \
	" quote_id INTEGER NOT NULL, start_utc_s INTEGER NOT NULL,"                                \
	" partition TEXT NOT NULL, run_start_utc_s INTEGER NOT NULL);"

/* Version 25: a row a job, or array, whose user asks for a mail at its end. */
#define LT_SQL_LEDGER_25                                                                           \
	"CREATE TABLE end_mails (job_id INTEGER PRIMARY KEY,"                                      \
	" quote_id INTEGER NOT NULL, mail_to TEXT NOT NULL,"                                       \
	" told_utc_s INTEGER NOT NULL);"                                                           \
	"CREATE INDEX end_mails_due ON end_mails (job_id)"                                         \
	" WHERE told_utc_s = 0;"

#define LT_SQL_TOLD_TABLE(X)                                                                       \
	X(ALERT_PUT, LEDGER, "INSERT OR REPLACE INTO alerts ({columns}) VALUES ({values})")        \
	X(ALERT_DROP, LEDGER, "DELETE FROM alerts WHERE name = ?1")                                \
	X(ALERT, LEDGER, "SELECT {columns} FROM alerts WHERE name = ?1")                           \
	X(ALERTS_OF_BUDGETS, LEDGER,                                                               \
	    "SELECT {columns} FROM alerts"                                                         \
	    " WHERE kind = 0 AND until_utc_s > ?1 ORDER BY name")                                  \
	X(ALERTS_DUE, LEDGER, "SELECT {columns} FROM alerts WHERE told_utc_s = 0 ORDER BY name")   \
	X(ALERTS_LAST, LEDGER,                                                                     \
	    "SELECT {columns} FROM alerts"                                                         \
	    " ORDER BY made_utc_s DESC, name LIMIT ?1")                                            \
	X(ALERTS_PRUNE, LEDGER,                                                                    \
	    "DELETE FROM alerts WHERE made_utc_s < ?1 AND until_utc_s < ?1"                        \
	    " AND quote_id NOT IN"                                                                 \
	    " (SELECT quote_id FROM holds WHERE state = 0)")                                       \
	X(MAIL_PUT, LEDGER, "INSERT OR REPLACE INTO mails ({columns}) VALUES ({values})")          \
	X(MAIL, LEDGER, "SELECT {columns} FROM mails WHERE job_id = ?1")                           \
	X(MAILS_PRUNE, LEDGER,                                                                     \
	    "DELETE FROM mails WHERE quote_id NOT IN"                                              \
	    " (SELECT quote_id FROM holds WHERE state = 0)")                                       \
	X(END_MAIL_PUT, LEDGER,                                                                    \
	    "INSERT INTO end_mails VALUES (?1, ?2, ?3, 0)"                                         \
	    " ON CONFLICT DO UPDATE SET quote_id = ?2, mail_to = ?3,"                              \
	    " told_utc_s = CASE quote_id WHEN ?2 THEN told_utc_s ELSE 0 END"                       \
	    " WHERE quote_id != ?2 OR mail_to != ?3")                                              \
	X(END_MAIL_DROP, LEDGER, "DELETE FROM end_mails WHERE job_id = ?1 AND told_utc_s = 0")     \
	X(END_MAILS_DUE, LEDGER,                                                                   \
	    "SELECT {columns} FROM"                                                                \
	    " (SELECT m.job_id, quote_id, mail_to, uid,"                                           \
	    " row_number() OVER (PARTITION BY uid ORDER BY m.job_id) AS place"                     \
	    " FROM end_mails m JOIN holds h USING (quote_id)"                                      \
	    " WHERE h.job_id IN (m.job_id, 0)"                                                     \
	    " AND told_utc_s = 0 AND (state = 1 OR state = 2 AND EXISTS"                           \
	    " (SELECT 1 FROM runs WHERE runs.job_id = m.job_id"                                    \
	    " AND runs.quote_id = m.quote_id AND start_utc_s > 0)))"                               \
	    " WHERE place <= ?1 ORDER BY job_id")                                                  \
	X(END_MAIL_TOLD, LEDGER, "UPDATE end_mails SET told_utc_s = ?2 WHERE job_id = ?1")         \
	X(END_MAILS_PRUNE, LEDGER,                                                                 \
	    "DELETE FROM end_mails WHERE told_utc_s BETWEEN 1 AND ?1"                              \
	    " OR quote_id NOT IN"                                                                  \
	    " (SELECT quote_id FROM holds)")

#endif
