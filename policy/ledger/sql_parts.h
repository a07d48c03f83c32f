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

#define LT_SQL_PARTS "carbon_charge_micros, discount_micros"

/* All figures of entries, in the order of lt_entry_figures(). */
#define LT_SQL_SUM_COLUMNS                                                     \
	"money_micros, carbon_mg, energy_wh, base_money_micros,"               \
	" base_carbon_mg, " LT_SQL_BY ", " LT_SQL_PARTS
#define LT_SQL_SUM_FIGURES                                                     \
	"sum(money_micros), sum(carbon_mg), sum(energy_wh),"                   \
	" sum(base_money_micros), sum(base_carbon_mg), " LT_SQL_SUM_BY         \
	", sum(carbon_charge_micros), sum(discount_micros)"

#endif
