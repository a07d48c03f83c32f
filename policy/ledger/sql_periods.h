/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of periods and what was booked in them, beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_PERIODS_H
#define LT_LEDGER_SQL_PERIODS_H

/*
 * Version 14. What a statement says of a run. corrected: not all of its entries are charges of
 * their own hours; settled_utc_s: since when the ledger has it; changed_utc_s: since when it is
 * another than a closed period has. runs_before: as it was until then. limits: of each budget and
 * period; closed:
 * periods that nothing is booked in any more, with a row an account.
 */
#define LT_SQL_LEDGER_14                                                                           \
	"ALTER TABLE runs ADD COLUMN name TEXT NOT NULL DEFAULT '';"                               \
	"ALTER TABLE runs ADD COLUMN qos TEXT NOT NULL DEFAULT '';"                                \
	"ALTER TABLE runs ADD COLUMN wckey TEXT NOT NULL DEFAULT '';"                              \
	"ALTER TABLE runs ADD COLUMN gpu TEXT NOT NULL DEFAULT '';"                                \
	"ALTER TABLE runs ADD COLUMN exit_code INTEGER NOT NULL DEFAULT 0;"                        \
	"ALTER TABLE runs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;"                         \
	"ALTER TABLE runs ADD COLUMN corrected INTEGER NOT NULL DEFAULT 0;"                        \
	"ALTER TABLE runs ADD COLUMN settled_utc_s INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"ALTER TABLE runs ADD COLUMN changed_utc_s INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"UPDATE runs SET corrected = 1 FROM (SELECT DISTINCT job_id,"                              \
	"  submit_utc_s FROM entries WHERE kind != 0 AND kind = 1) AS e"                           \
	" WHERE runs.job_id = e.job_id"                                                            \
	"  AND runs.submit_utc_s = e.submit_utc_s;"                                                \
	"CREATE TABLE runs_before AS SELECT *, 0 AS until_utc_s FROM runs"                         \
	" WHERE 0;"                                                                                \
	"CREATE UNIQUE INDEX runs_before_run ON runs_before"                                       \
	" (job_id, submit_utc_s, until_utc_s);"                                                    \
	"CREATE TABLE limits (team TEXT NOT NULL,"                                                 \
	" start_utc_s INTEGER NOT NULL, end_utc_s INTEGER NOT NULL,"                               \
	" limit_micros INTEGER, limit_mg INTEGER,"                                                 \
	" PRIMARY KEY (team, start_utc_s, end_utc_s)) WITHOUT ROWID;"                              \
	"CREATE TABLE closed (start_utc_s INTEGER NOT NULL,"                                       \
	" end_utc_s INTEGER NOT NULL, label TEXT NOT NULL,"                                        \
	" closed_utc_s INTEGER NOT NULL, who TEXT NOT NULL,"                                       \
	" checksum TEXT NOT NULL, head TEXT NOT NULL,"                                             \
	" PRIMARY KEY (start_utc_s, end_utc_s)) WITHOUT ROWID;"                                    \
	"CREATE TABLE closed_rows (start_utc_s INTEGER NOT NULL,"                                  \
	" end_utc_s INTEGER NOT NULL, account TEXT NOT NULL,"                                      \
	" figures TEXT NOT NULL, labels TEXT NOT NULL,"                                            \
	" PRIMARY KEY (start_utc_s, end_utc_s, account)) WITHOUT ROWID;"

/* Version 15: what runs used of what they had. NULL: not known. */
#define LT_SQL_LEDGER_15                                                                           \
	"ALTER TABLE runs ADD COLUMN cpu_used_ms INTEGER;"                                         \
	"ALTER TABLE runs ADD COLUMN gpu_used_ppm INTEGER;"                                        \
	"ALTER TABLE runs_before ADD COLUMN cpu_used_ms INTEGER;"                                  \
	"ALTER TABLE runs_before ADD COLUMN gpu_used_ppm INTEGER;"

/* Version 29: periods that were closed when no hour was cut at a midnight. */
#define LT_SQL_LEDGER_29                                                                           \
	"ALTER TABLE closed ADD COLUMN whole_hours INTEGER NOT NULL"                               \
	" DEFAULT 0;"                                                                              \
	"UPDATE closed SET whole_hours = 1;"

/* Version 30: closings that were undone, what each had come to, and why; jobs that were refused, by
 * account and hour. */
#define LT_SQL_LEDGER_30                                                                           \
	"CREATE TABLE reopened (start_utc_s INTEGER NOT NULL,"                                     \
	" end_utc_s INTEGER NOT NULL, label TEXT NOT NULL,"                                        \
	" closed_utc_s INTEGER NOT NULL, closed_by TEXT NOT NULL,"                                 \
	" checksum TEXT NOT NULL, money_micros INTEGER NOT NULL,"                                  \
	" carbon_mg INTEGER NOT NULL, reopened_utc_s INTEGER NOT NULL,"                            \
	" reopened_by TEXT NOT NULL, reason TEXT NOT NULL);"                                       \
	"CREATE TABLE refused (account TEXT NOT NULL,"                                             \
	" at_utc_s INTEGER NOT NULL, jobs INTEGER NOT NULL,"                                       \
	" PRIMARY KEY (at_utc_s, account)) WITHOUT ROWID;"

#define LT_SQL_BOOKED                                                                              \
	" FROM entries WHERE job_id = ?1 AND job_id != 0"                                          \
	" AND submit_utc_s = ?2 AND at_utc_s >= ?3 AND at_utc_s < ?4"
/* Runs as they were at ?10: the rows that have not changed since, and of the others what was kept
 * first after it. */
#define LT_SQL_UNCHANGED "changed_utc_s <= ?10"
#define LT_SQL_KEPT                                                                                \
	"until_utc_s > ?10 AND NOT EXISTS (SELECT 1 FROM runs_before AS b"                         \
	" WHERE b.job_id = runs_before.job_id"                                                     \
	" AND b.submit_utc_s = runs_before.submit_utc_s"                                           \
	" AND b.until_utc_s > ?10"                                                                 \
	" AND b.until_utc_s < runs_before.until_utc_s)"
#define LT_SQL_RUNS_THEN(which, where, order)                                                      \
	"SELECT {columns} FROM runs " which " WHERE " where " AND " LT_SQL_UNCHANGED               \
	" UNION ALL SELECT {columns} FROM runs_before WHERE " where " AND " LT_SQL_KEPT            \
	" ORDER BY " order
#define LT_SQL_RUNS_BEHIND_THEN(part) LT_SQL_RUNS_THEN("", LT_SQL_BEHIND(part), LT_SQL_RUN_ORDER)
#define LT_SQL_RUNS_OF_ALL_THEN(which, part) LT_SQL_RUNS_THEN(which, part, LT_SQL_ALL_ORDER)

/* Runs that corrections name, but for those that are listed anyhow. Not by the time of all entries:
 * few of them are corrections. */
#define LT_SQL_CORRECTED(where)                                                                    \
	"(SELECT DISTINCT job_id, submit_utc_s FROM entries"                                       \
	" INDEXED BY entries_special WHERE kind != 0"                                              \
	" AND kind = 1 AND at_utc_s >= ?2 " where ")"
#define LT_SQL_NAMED(where, runs, more)                                                            \
	"SELECT {columns} FROM " LT_SQL_CORRECTED(                                                 \
	    where) " JOIN " runs " USING (job_id, submit_utc_s) WHERE " more
#define LT_SQL_NAMED_NOW(where, more)                                                              \
	LT_SQL_NAMED(where, "runs", more) " ORDER BY job_id, submit_utc_s"
#define LT_SQL_NAMED_THEN(where, more)                                                             \
	LT_SQL_NAMED(where, "runs", more)                                                          \
	" AND " LT_SQL_UNCHANGED " UNION ALL " LT_SQL_NAMED(                                       \
	    where, "runs_before", more) " AND " LT_SQL_KEPT " ORDER BY job_id, submit_utc_s"
#define LT_SQL_NOT_LISTED                                                                          \
	"NOT (account = ?1 AND " LT_SQL_IS_BOOKED ") AND (job_id, submit_utc_s) > (?4, ?5)"

/* Corrections of what has been opened again, hours from ?1 on, that are booked later; and is one of
 * them of the run's first charges? */
#define LT_SQL_OF_OPENED                                                                           \
	" FROM entries AS e INDEXED BY entries_special WHERE kind != 0"                            \
	" AND kind = 1 AND for_utc_s >= ?1 AND at_utc_s != for_utc_s"
#define LT_SQL_IS_FIRST                                                                            \
	"NOT EXISTS (SELECT 1 FROM entries AS f WHERE f.job_id = e.job_id"                         \
	" AND f.job_id != 0 AND f.submit_utc_s = e.submit_utc_s"                                   \
	" AND (f.made_utc_s < e.made_utc_s"                                                        \
	" OR (f.for_utc_s = e.for_utc_s AND f.id < e.id)))"

#define LT_SQL_CHARGES LT_SQL_PERIOD("account, money_micros, carbon_mg", " AND kind = 0")
#define LT_SQL_PERIODS_TABLE(X)                                                                    \
	X(RUN_KEEP, LEDGER,                                                                        \
	    "INSERT OR IGNORE INTO runs_before ({columns}, until_utc_s)"                           \
	    " SELECT {columns}, ?3 FROM runs"                                                      \
	    " WHERE job_id = ?1 AND submit_utc_s = ?2")                                            \
	X(RUN_DESCRIBE, LEDGER,                                                                    \
	    "UPDATE runs SET changed_utc_s = ?3, ({columns}) = ({values})"                         \
	    " WHERE job_id = ?1 AND submit_utc_s = ?2")                                            \
	X(RUN_CORRECTED, LEDGER,                                                                   \
	    "UPDATE runs SET corrected = 1"                                                        \
	    " WHERE job_id = ?1 AND submit_utc_s = ?2")                                            \
	X(BOOKED_OF_RUN, LEDGER,                                                                   \
	    "SELECT account, kind, for_utc_s < ?3 AS earlier,"                                     \
	    " min(for_utc_s), max(for_utc_s)" LT_SQL_SUM_FIGURES LT_SQL_BOOKED                     \
	    " GROUP BY account, kind, earlier"                                                     \
	    " ORDER BY account")                                                                   \
	X(LATE_OF_RUN, LEDGER,                                                                     \
	    "SELECT coalesce(sum(min(?6, hour + 3600) - max(?5, hour)), 0)"                        \
	    " FROM (SELECT for_utc_s / 3600 * 3600 AS hour, for_utc_s,"                            \
	    " at_utc_s, account, min(id) FROM entries WHERE job_id = ?1"                           \
	    " AND job_id != 0 AND submit_utc_s = ?2 GROUP BY hour)"                                \
	    " WHERE at_utc_s >= ?3 AND at_utc_s < ?4 AND for_utc_s < ?3"                           \
	    " AND hour < ?6 AND hour + 3600 > ?5 AND account = ?7")                                \
	X(HOURS_OF_RUN, LEDGER,                                                                    \
	    "SELECT at_utc_s, account" LT_SQL_ENTRY_FIGURES LT_SQL_BOOKED " ORDER BY at_utc_s")    \
	X(USED_OF_RUN, LEDGER,                                                                     \
	    "SELECT for_utc_s, account, min(kind), max(made_utc_s),"                               \
	    " sum(money_micros), sum(carbon_mg), sum(energy_wh), next"                             \
	    " FROM (SELECT *, min(CASE WHEN kind = 0 OR made_utc_s = first"                        \
	    "   THEN for_utc_s END) OVER (ORDER BY for_utc_s"                                      \
	    "   RANGE BETWEEN 1 FOLLOWING AND 3600 FOLLOWING) AS next"                             \
	    "  FROM (SELECT *, min(made_utc_s) OVER () AS first"                                   \
	    "   FROM entries WHERE job_id = ?1 AND job_id != 0"                                    \
	    "   AND submit_utc_s = ?2))"                                                           \
	    " WHERE at_utc_s >= ?3 AND at_utc_s < ?4"                                              \
	    " GROUP BY for_utc_s, account"                                                         \
	    " ORDER BY for_utc_s / 3600, account, for_utc_s")                                      \
	X(ALL_CORRECTED, LEDGER,                                                                   \
	    LT_SQL_NAMED_NOW("AND at_utc_s < ?3", "NOT (" LT_SQL_IS_BOOKED ")"))                   \
	X(ALL_CORRECTED_THEN, LEDGER,                                                              \
	    LT_SQL_NAMED_THEN("AND at_utc_s < ?3", "NOT (" LT_SQL_IS_BOOKED ")"))                  \
	X(CORRECTED_OF, LEDGER, LT_SQL_NAMED_NOW("AND account = ?1", LT_SQL_NOT_LISTED))           \
	X(CORRECTED_OF_THEN, LEDGER, LT_SQL_NAMED_THEN("AND account = ?1", LT_SQL_NOT_LISTED))     \
	X(RUNS_NEAR_THEN, LEDGER, LT_SQL_RUNS_BEHIND_THEN(LT_SQL_NEAR))                            \
	X(RUNS_FAR_THEN, LEDGER, LT_SQL_RUNS_BEHIND_THEN(LT_SQL_FAR))                              \
	X(ALL_NEAR_THEN, LEDGER, LT_SQL_RUNS_OF_ALL_THEN("", "end_utc_s > ?2 AND " LT_SQL_NEAR))   \
	X(ALL_FAR_THEN, LEDGER, LT_SQL_RUNS_OF_ALL_THEN("INDEXED BY runs_long", LT_SQL_FAR))       \
	X(ADJUSTMENTS, LEDGER,                                                                     \
	    "SELECT at_utc_s, made_utc_s, account, money_micros, carbon_mg,"                       \
	    " who, reason FROM entries INDEXED BY entries_special"                                 \
	    " WHERE kind != 0 AND kind = 2"                                                        \
	    " AND at_utc_s >= ?1 AND at_utc_s < ?2 ORDER BY at_utc_s, id")                         \
	X(INCURRED, LEDGER,                                                                        \
	    "SELECT partition, sum(part * money), sum(part * charge),"                             \
	    " sum(part * discount) FROM (SELECT job_id, submit_utc_s,"                             \
	    " (for_utc_s >= ?1 AND for_utc_s < ?2) -"                                              \
	    " (at_utc_s >= ?1 AND at_utc_s < ?2) AS part,"                                         \
	    " money_micros AS money, carbon_charge_micros AS charge,"                              \
	    " discount_micros AS discount"                                                         \
	    " FROM entries INDEXED BY entries_special"                                             \
	    " WHERE kind != 0 AND kind = 1)"                                                       \
	    " JOIN runs USING (job_id, submit_utc_s) WHERE part != 0"                              \
	    " GROUP BY partition ORDER BY partition")                                              \
	X(CORRECTIONS, LEDGER,                                                                     \
	    "SELECT job_id, submit_utc_s, uid, account, for_utc_s,"                                \
	    " sum(money_micros), sum(carbon_mg), max(made_utc_s),"                                 \
	    " EXISTS (SELECT 1 FROM entries AS c WHERE c.job_id = e.job_id"                        \
	    "  AND c.submit_utc_s = e.submit_utc_s AND c.job_id != 0"                              \
	    "  AND c.kind = 0 AND c.made_utc_s < e.made_utc_s)"                                    \
	    " FROM entries AS e INDEXED BY entries_special"                                        \
	    " WHERE kind != 0 AND kind = 1"                                                        \
	    " AND at_utc_s >= ?1 AND at_utc_s < ?2"                                                \
	    " GROUP BY job_id, submit_utc_s, account, for_utc_s"                                   \
	    " ORDER BY job_id, submit_utc_s, account, for_utc_s")                                  \
	X(DAY_SUMS, LEDGER,                                                                        \
	    "SELECT day, account, sum(money_micros), sum(carbon_mg) FROM days"                     \
	    " WHERE day >= ?1 AND day <= ?2 AND kind = 0"                                          \
	    " GROUP BY day, account ORDER BY day")                                                 \
	X(USED, LEDGER,                                                                            \
	    "SELECT account, 0, sum(money_micros), sum(carbon_mg)"                                 \
	    " FROM (" LT_SQL_CHARGES ") GROUP BY account ORDER BY account")                        \
	X(DISCOUNTS, LEDGER,                                                                       \
	    "SELECT account, 0, sum(discount_micros), 0 FROM (" LT_SQL_PERIOD(                     \
		"account, discount_micros", " AND discount_micros != 0") ") GROUP BY account"      \
									 " ORDER BY account")      \
	X(LIMIT_PUT, LEDGER,                                                                       \
	    "INSERT INTO limits (team, start_utc_s, end_utc_s, {columns})"                         \
	    " VALUES (?1, ?2, ?3, {values})"                                                       \
	    " ON CONFLICT DO UPDATE SET ({columns}) = ({values})")                                 \
	X(LIMIT_GET, LEDGER,                                                                       \
	    "SELECT {columns} FROM limits WHERE team = ?1"                                         \
	    " AND start_utc_s = ?2 AND end_utc_s = ?3")                                            \
	X(CLOSED_PUT, LEDGER, "INSERT INTO closed ({columns}) VALUES ({values})")                  \
	X(CLOSED_GET, LEDGER,                                                                      \
	    "SELECT {columns} FROM closed WHERE start_utc_s = ?1"                                  \
	    " AND end_utc_s = ?2")                                                                 \
	X(CLOSED_AROUND, LEDGER,                                                                   \
	    "SELECT {columns} FROM closed WHERE start_utc_s <= ?1"                                 \
	    " AND end_utc_s >= ?2 ORDER BY closed_utc_s LIMIT 1")                                  \
	X(CLOSED_ALL, LEDGER, "SELECT {columns} FROM closed ORDER BY end_utc_s, start_utc_s")      \
	X(CLOSED_LAST, LEDGER,                                                                     \
	    "SELECT max((SELECT coalesce(max(closed_utc_s), 0) FROM closed),"                      \
	    " (SELECT coalesce(max(closed_utc_s), 0) FROM reopened))")                             \
	X(CLOSED_END, LEDGER, "SELECT coalesce(max(end_utc_s), 0) FROM closed")                    \
	X(CLOSED_DROP, LEDGER, "DELETE FROM closed WHERE start_utc_s = ?1 AND end_utc_s = ?2")     \
	X(CLOSED_ROWS_DROP, LEDGER,                                                                \
	    "DELETE FROM closed_rows WHERE start_utc_s = ?1"                                       \
	    " AND end_utc_s = ?2")                                                                 \
	X(REOPENED_PUT, LEDGER, "INSERT INTO reopened ({columns}) VALUES ({values})")              \
	X(REOPENED_ALL, LEDGER, "SELECT {columns} FROM reopened ORDER BY rowid")                   \
	X(REFUSED_ADD, LEDGER,                                                                     \
	    "INSERT INTO refused VALUES (?1, ?2, 1)"                                               \
	    " ON CONFLICT DO UPDATE SET jobs = jobs + 1")                                          \
	X(REFUSED_OF_SPAN, LEDGER,                                                                 \
	    "SELECT account, at_utc_s, jobs FROM refused"                                          \
	    " WHERE at_utc_s >= ?1 AND at_utc_s < ?2"                                              \
	    " ORDER BY account, at_utc_s")                                                         \
	X(BOOKED_LATER, LEDGER,                                                                    \
	    "SELECT NOT (" LT_SQL_IS_FIRST "), at_utc_s, for_utc_s, account,"                      \
	    " uid" LT_SQL_ENTRY_FIGURES LT_SQL_OF_OPENED)                                          \
	X(BOOKED_LATER_BACK, LEDGER,                                                               \
	    "UPDATE entries AS e SET at_utc_s = for_utc_s,"                                        \
	    " kind = NOT (" LT_SQL_IS_FIRST ") WHERE id IN (SELECT id" LT_SQL_OF_OPENED ")")       \
	X(BOOKED_LATER_DAYS, LEDGER,                                                               \
	    "DELETE FROM days WHERE day >= ?1 / 86400 AND kind = 1"                                \
	    " AND money_micros = 0 AND carbon_mg = 0 AND NOT EXISTS"                               \
	    " (SELECT 1 FROM entries AS e WHERE kind != 0 AND kind = 1"                            \
	    " AND e.account = days.account AND e.uid = days.uid"                                   \
	    " AND at_utc_s >= day * 86400 AND at_utc_s < (day + 1) * 86400)")                      \
	X(FIRST_BOOKED, LEDGER, "SELECT min(at_utc_s) FROM entries")                               \
	X(CLOSED_ROW_PUT, LEDGER, "INSERT INTO closed_rows VALUES (?1, ?2, ?3, ?4, ?5)")           \
	X(CLOSED_ROWS, LEDGER,                                                                     \
	    "SELECT account, figures, labels FROM closed_rows"                                     \
	    " WHERE start_utc_s = ?1 AND end_utc_s = ?2 ORDER BY account")

#endif
