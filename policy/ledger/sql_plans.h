/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of the plans that a job had one after the other, beside sql.h's and by
 * its rules. why: a word of replan.h, "" = of its submission.
 */
#ifndef LT_LEDGER_SQL_PLANS_H
#define LT_LEDGER_SQL_PLANS_H

/* Version 9. */
#define LT_SQL_LEDGER_9                                                        \
	"CREATE TABLE plans (quote_id INTEGER NOT NULL,"                       \
	" made_utc_s INTEGER NOT NULL, partition TEXT NOT NULL,"               \
	" start_utc_s INTEGER NOT NULL, money_micros INTEGER,"                 \
	" carbon_mg INTEGER, why TEXT NOT NULL,"                               \
	" PRIMARY KEY (quote_id, made_utc_s)) WITHOUT ROWID;"

/* Version 10: by which levers a plan differs from home, as in the quote. */
#define LT_SQL_LEDGER_10                                                       \
	"ALTER TABLE holds ADD COLUMN levers TEXT NOT NULL DEFAULT '';"

/* Version 11: what was saved by when a run ran, and by how fast: of entries and
 * runs before it was all by where. */
#define LT_SQL_LEDGER_11                                                       \
	"ALTER TABLE runs ADD COLUMN by_time_micros INTEGER NOT NULL"          \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE runs ADD COLUMN by_time_mg INTEGER NOT NULL"              \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE runs ADD COLUMN by_gpu_micros INTEGER NOT NULL"           \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE runs ADD COLUMN by_gpu_mg INTEGER NOT NULL"               \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE entries ADD COLUMN by_time_micros INTEGER NOT NULL"       \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE entries ADD COLUMN by_time_mg INTEGER NOT NULL"           \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE entries ADD COLUMN by_gpu_micros INTEGER NOT NULL"        \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE entries ADD COLUMN by_gpu_mg INTEGER NOT NULL"            \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE days ADD COLUMN by_time_micros INTEGER NOT NULL"          \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE days ADD COLUMN by_time_mg INTEGER NOT NULL"              \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE days ADD COLUMN by_gpu_micros INTEGER NOT NULL"           \
	" DEFAULT 0;"                                                          \
	"ALTER TABLE days ADD COLUMN by_gpu_mg INTEGER NOT NULL"               \
	" DEFAULT 0;"

#define LT_SQL_BY "by_time_micros, by_time_mg, by_gpu_micros, by_gpu_mg"
#define LT_SQL_SUM_BY                                                          \
	"sum(by_time_micros), sum(by_time_mg), sum(by_gpu_micros), sum(by_gpu_mg)"

#define LT_SQL_PLANS_TABLE(X)                                                  \
	X(PLAN_PUT, LEDGER,                                                    \
	    "INSERT OR REPLACE INTO plans (quote_id, {columns})"               \
	    " VALUES (?1, {values})")                                          \
	X(PLANS_OF, LEDGER,                                                    \
	    "SELECT {columns} FROM plans WHERE quote_id = ?1"                  \
	    " ORDER BY made_utc_s")                                            \
	X(PLANS_PRUNE, LEDGER,                                                 \
	    "DELETE FROM plans WHERE quote_id NOT IN"                          \
	    " (SELECT quote_id FROM holds)")

#endif
