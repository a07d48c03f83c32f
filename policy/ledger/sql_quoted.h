/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of runs beside their quotes, beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_QUOTED_H
#define LT_LEDGER_SQL_QUOTED_H

/* Version 20: a row a run, written when it is settled, and not any more once
 * its period is closed. compared: enum lt_compared;
 * how_ended: enum lt_quoted_end. NULL: not known. */
#define LT_SQL_LEDGER_20                                                                 \
	"CREATE TABLE quoted (job_id INTEGER NOT NULL,"                                  \
	" submit_utc_s INTEGER NOT NULL, quote_id INTEGER NOT NULL,"                     \
	" account TEXT NOT NULL, compared INTEGER NOT NULL,"                             \
	" draw INTEGER NOT NULL, plan_micros INTEGER, plan_mg INTEGER,"                  \
	" home_micros INTEGER, home_mg INTEGER, money_micros INTEGER,"                   \
	" carbon_mg INTEGER, base_micros INTEGER, base_mg INTEGER, work_micros INTEGER," \
	" work_mg INTEGER,"                                                              \
	" end_utc_s INTEGER NOT NULL, how_ended INTEGER NOT NULL,"                       \
	" has_left INTEGER NOT NULL, deadline_utc_s INTEGER NOT NULL,"                   \
	" stated_ppm INTEGER NOT NULL,"                                                  \
	" PRIMARY KEY (job_id, submit_utc_s)) WITHOUT ROWID;"                            \
	"CREATE INDEX quoted_end ON quoted (end_utc_s);"

/* Version 22: 8192 is LT_QUOTE_NO_SMOKE. */
#define LT_SQL_LEDGER_22                                                       \
	"CREATE INDEX holds_no_smoke ON holds (made_utc_s)"                    \
	" WHERE flags & 8192 != 0;"

#define LT_SQL_QUOTED_TABLE(X)                                                 \
	X(QUOTED_PUT, LEDGER,                                                  \
	    "INSERT OR REPLACE INTO quoted ({columns}) VALUES ({values})")     \
	X(QUOTED_ENDED, LEDGER,                                                \
	    "SELECT {columns},"                                                \
	    " (SELECT max(plan_start_utc_s - home_start_utc_s, 0) FROM holds"  \
	    "  WHERE holds.quote_id = quoted.quote_id) FROM quoted"            \
	    " WHERE end_utc_s >= ?1 AND end_utc_s < ?2"                        \
	    " ORDER BY quote_id, job_id, submit_utc_s")                        \
	X(QUOTED_NO_SMOKE, LEDGER,                                             \
	    "SELECT count(*) FROM holds"                                       \
	    " WHERE flags & 8192 != 0 AND made_utc_s >= ?1")

#endif
