/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL of what is in the money of an entry beside the use of nodes: the charge
 * for carbon, and the discount that was taken off; beside sql.h's and by its
 * rules.
 */
#ifndef LT_LEDGER_SQL_PARTS_H
#define LT_LEDGER_SQL_PARTS_H

#define LT_SQL_ADD_PARTS(table)                                                \
	"ALTER TABLE " table " ADD COLUMN carbon_charge_micros INTEGER"        \
	" NOT NULL DEFAULT 0;"                                                 \
	"ALTER TABLE " table " ADD COLUMN discount_micros INTEGER"             \
	" NOT NULL DEFAULT 0;"

/* Version 24. */
#define LT_SQL_LEDGER_24                                                       \
	LT_SQL_ADD_PARTS("entries")                                            \
	LT_SQL_ADD_PARTS("days")                                               \
	LT_SQL_ADD_PARTS("runs")                                               \
	LT_SQL_ADD_PARTS("runs_before")                                        \
	"CREATE INDEX entries_discounted ON entries (account, at_utc_s)"       \
	" WHERE discount_micros != 0;"

/* All figures of entries, in the order of lt_entry_figures(), each with a comma
 * before it; their sums; and parameters for them. */
#define LT_SQL_FIGURE(column, member) ", " #column
#define LT_SQL_FIGURE_SUM(column, member) ", sum(" #column ")"
#define LT_SQL_FIGURE_VALUE(column, member) ", ?"
#define LT_SQL_ENTRY_FIGURES LT_FIGURES(LT_SQL_FIGURE)
#define LT_SQL_SUM_FIGURES LT_FIGURES(LT_SQL_FIGURE_SUM)
#define LT_SQL_FIGURE_VALUES LT_FIGURES(LT_SQL_FIGURE_VALUE)
/* Into days where the account, user and kind have that day. */
#define LT_SQL_ADDED(column) #column " = " #column " + excluded." #column
#define LT_SQL_FIGURE_ADDED(column, member) ", " LT_SQL_ADDED(column)
#define LT_SQL_ADD_FIGURES                                                     \
	" ON CONFLICT DO UPDATE SET " LT_SQL_ADDED(money_micros)               \
	    LT_MORE_FIGURES(LT_SQL_FIGURE_ADDED)
/* Of a run r what its entries x have not, as missing_<column>. */
#define LT_SQL_LESS_SUM(column, member)                                        \
	", r." #column " - coalesce(sum(x." #column "), 0) AS missing_" #column
#define LT_SQL_OR_MISSING(column, member) " OR missing_" #column " != 0"
#define LT_SQL_FIGURES_LESS_SUMS LT_FIGURES(LT_SQL_LESS_SUM)
#define LT_SQL_ANY_MISSING "FALSE" LT_FIGURES(LT_SQL_OR_MISSING)

#endif
