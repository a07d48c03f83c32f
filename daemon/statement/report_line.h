/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of a statement: what was booked to one account in a period, or the sum
 * of such rows.
 */
#ifndef LT_SERVE_REPORT_LINE_H
#define LT_SERVE_REPORT_LINE_H

#include <jansson.h>

#include "budget.h"
#include "periods.h"

struct lt_report_line {
	struct lt_totals in[3]; /* by enum lt_entry_kind */
};

/* Of the entries of the account itself, not of those below it; or of one user
 * of it. */
int lt_report_line_fill(struct lt_report_line *line, struct lt_ledger *ledger,
    const struct lt_runs_asked *asked, struct lt_error *err);
void lt_report_line_add(
    struct lt_report_line *sum, const struct lt_report_line *line);
bool lt_report_line_is_empty(const struct lt_report_line *line);
/* What it cost: charges, corrections and adjustments. */
struct lt_amount lt_report_line_cost(const struct lt_report_line *line);
/* budget NULL: there is none of just this period. team NULL: the total. */
json_t *lt_report_line_json(const char *team, const struct lt_report_line *line,
    const struct lt_period *budget);

struct lt_text;
/* One line of text, as the statement of a closed period keeps it, and back;
 * false: it is none. */
void lt_report_line_pack(struct lt_text *text,
    const struct lt_report_line *line, const struct lt_period *budget);
bool lt_report_line_unpack(struct lt_report_line *line,
    struct lt_period *budget, bool *has_budget, const char *text);

#endif
