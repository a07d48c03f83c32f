/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report must have, and its formats that are not its JSON.
 */
#ifndef LT_REPORT_H
#define LT_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "error.h"

/* ---- CSV: a column is a member of lowtided's JSON ---- */
enum lt_column_kind { LT_COLUMN_ANY, LT_COLUMN_MONEY, LT_COLUMN_CARBON };
struct lt_column {
	const char *header, *key;
	enum lt_column_kind kind;
};
/* Micros or mg as exact decimals, of the currency or kg CO2e. */
void lt_csv_amount(FILE *out, enum lt_column_kind kind, int64_t value);

/* A row per team, and a total. */
void lt_report_csv(FILE *out, const json_t *report);
/* LT_EINPUT where a figure is no integer and not null. */
int lt_report_check(const json_t *report, struct lt_error *err);
/* runs: each run, too. */
int lt_report_tables(FILE *out, const json_t *report, bool runs, bool color,
    struct lt_error *err);

/* ---- report_tcto.c: the total cost to outcome of an answer that has it ----
 */
/* LT_EVERSION without one, LT_EINPUT where a figure of it is no integer. */
int lt_report_tcto_check(const json_t *report, struct lt_error *err);
/* A section behind the others. */
int lt_report_tcto_table(
    FILE *out, const json_t *report, bool color, struct lt_error *err);
/* Instead of the teams: a row per part, the total, and what is per unit. */
void lt_report_tcto_csv(FILE *out, const json_t *report);

#endif
