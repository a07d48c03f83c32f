/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tables of a report share: report_tables.c has the sections,
 * report_lists.c the lists and a figure as text.
 */
#ifndef LT_REPORT_TABLES_H
#define LT_REPORT_TABLES_H

#include "cli.h"

enum lt_unit {
	LT_UNIT_MONEY,	/* micros, to the currency's decimals */
	LT_UNIT_CARBON, /* mg, shown as kg to the gram */
	LT_UNIT_ENERGY, /* Wh, shown as kWh */
	LT_UNIT_HOURS,	/* s, shown as hours */
	LT_UNIT_COUNT,
};
enum { LT_FIGURE_SIZE = 48 };
void lt_cell_text(char *out, size_t size, int64_t value, enum lt_unit unit,
    const char *currency);
int64_t lt_smallest_shown(enum lt_unit unit, const char *currency);
/* A figure that is rounded by itself, to what is shown. */
void lt_cell_alone(char out[LT_FIGURE_SIZE], int64_t value, enum lt_unit unit,
    const char *currency);
/* Prints a table as a section of that title, in the currency ("": without
 * money). */
void lt_report_section(FILE *out, struct lt_table *table, const char *title,
    const char *currency, const struct lt_report_look *look);

int lt_report_adjustments(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
int lt_report_corrections(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);
int lt_report_runs(FILE *out, const json_t *report,
    const struct lt_report_look *look, struct lt_error *err);

#endif
