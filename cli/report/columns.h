/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of figures.h as texts: cells of tables and of CSV. A figure that a row of lowtided's
 * JSON lacks, or has as null, is never 0 in either.
 */
#ifndef LT_COLUMNS_H
#define LT_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli.h"
#include "figures.h"

enum { LT_FIGURE_SIZE = 64 };

/* True if a site with that currency shows the unit: without one, no money. */
bool lt_unit_is_shown(enum lt_unit unit, const char *currency);
/* Fails with LT_EINPUT if a figure with a title is neither an integer nor null:
 * a fraction would be a rounding that was not ours, a text a lie. whose: for the message. */
int lt_figures_check(const json_t *row, const struct lt_figure_kind *figures, int count,
    const char *whose, struct lt_error *err);

/* ---- tables: each amount is rounded by itself ---- */
/* Write a value, or a figure of a row, as a cell. */
const char *lt_cell_alone(
    char out[LT_FIGURE_SIZE], int64_t value, enum lt_unit unit, const char *currency);
const char *lt_cell_of(char out[LT_FIGURE_SIZE], const json_t *row,
    const struct lt_figure_kind *figure, const char *currency);
/* Fills heads from heads[from] on with the figures that have a title and are shown; returns how
 * many. */
int lt_figure_heads(struct lt_table_column *heads, int from, const struct lt_figure_kind *figures,
    int count, const char *currency);
/* Prints a table as a section of that title, in the currency ("": without money). */
void lt_report_section(FILE *out, struct lt_table *table, const char *title, const char *currency,
    const struct lt_report_look *look);

/* ---- CSV: exact decimals ---- */
/* Prints a comma and a header, or a cell, for each figure that CSV has. */
void lt_csv_headers(FILE *out, const struct lt_figure_kind *figures, int count);
void lt_csv_figures(FILE *out, const json_t *report, const json_t *row,
    const struct lt_figure_kind *figures, int count);
/* Prints one cell, without the comma. */
void lt_csv_figure(
    FILE *out, const json_t *report, const json_t *row, const struct lt_figure_kind *figure);
/* Prints micros and mg as exact decimals of the currency and of kg CO2e, Wh as kWh. */
void lt_csv_amount(FILE *out, enum lt_unit unit, int64_t value);

#endif
