/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of a statement: all that was booked to one account in a period, or the sum of such rows.
 */
#ifndef LT_SERVE_REPORT_LINE_H
#define LT_SERVE_REPORT_LINE_H

#include <jansson.h>

#include "budget.h"
#include "periods.h"

struct lt_report_line {
	struct lt_totals in[3]; /* by enum lt_entry_kind */
};

/* Fills the line from the entries of the account itself, without those below it; or from those of
 * one user. */
int lt_report_line_fill(struct lt_report_line *line, struct lt_ledger *ledger,
    const struct lt_runs_asked *asked, struct lt_error *err);
void lt_report_line_add(struct lt_report_line *sum, const struct lt_report_line *line);
bool lt_report_line_is_empty(const struct lt_report_line *line);
/* The cost: charges, corrections and adjustments. */
struct lt_amount lt_report_line_cost(const struct lt_report_line *line);
/* budget NULL: no budget has just this period. team NULL: the total. */
json_t *lt_report_line_json(
    const char *team, const struct lt_report_line *line, const struct lt_period *budget);

struct lt_text;
/* Packs one line of text, as the statement of a closed period keeps it, and back; false if it is
 * malformed. */
void lt_report_line_pack(
    struct lt_text *text, const struct lt_report_line *line, const struct lt_period *budget);
bool lt_report_line_unpack(
    struct lt_report_line *line, struct lt_period *budget, bool *has_budget, const char *text);

#endif
