/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of accounts, beside sql.h's and by its rules.
 */
#ifndef LT_LEDGER_SQL_ACCOUNTS_H
#define LT_LEDGER_SQL_ACCOUNTS_H

/* Version 28: below whom an account stood until then, for what was booked
 * before; and the few days that have discounts. */
#define LT_SQL_LEDGER_28                                                       \
	"CREATE TABLE account_moves (name TEXT NOT NULL,"                      \
	" parent TEXT NOT NULL, until_utc_s INTEGER NOT NULL,"                 \
	" PRIMARY KEY (name, until_utc_s)) WITHOUT ROWID;"                     \
	"CREATE INDEX account_moves_until ON account_moves (until_utc_s);"     \
	"CREATE INDEX account_moves_parent ON account_moves (parent);"         \
	"CREATE INDEX days_discount ON days (day, account, discount_micros)"   \
	" WHERE discount_micros != 0;"

#define LT_SQL_ACCOUNTS_TABLE(X)                                               \
	X(ACCOUNT_PUT, LEDGER,                                                 \
	    "INSERT INTO accounts VALUES (?1, ?2)"                             \
	    " ON CONFLICT DO UPDATE SET parent = ?2 WHERE parent != ?2")       \
	X(ACCOUNTS, LEDGER,                                                    \
	    "SELECT name, parent, EXISTS (SELECT 1 FROM days"                  \
	    "  WHERE account = name), EXISTS (SELECT 1 FROM account_moves AS"  \
	    "  m WHERE m.parent = accounts.name) FROM accounts"                \
	    " ORDER BY name")                                                  \
	X(ACCOUNT_MOVE, LEDGER,                                                \
	    "INSERT OR IGNORE INTO account_moves SELECT name, parent, ?3"      \
	    " FROM accounts WHERE name = ?1 AND parent != ?2")                 \
	X(ACCOUNT_MOVES, LEDGER,                                               \
	    "SELECT {columns} FROM account_moves"                              \
	    " ORDER BY name, until_utc_s")                                     \
	X(ACCOUNT_CUTS, LEDGER,                                                \
	    "SELECT DISTINCT until_utc_s FROM account_moves"                   \
	    " WHERE until_utc_s > ?1 AND until_utc_s < ?2"                     \
	    " ORDER BY until_utc_s")

#endif
