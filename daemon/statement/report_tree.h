/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The accounts of a report with all that is below them: a row for each that has one in the
 * statement and for each above it, from the top down.
 */
#ifndef LT_SERVE_REPORT_TREE_H
#define LT_SERVE_REPORT_TREE_H

#include "report.h"

struct lt_report_tree; /* opaque */
/* NULL: no memory. The view is lent until it is freed. */
struct lt_report_tree *lt_report_tree_new(const struct lt_report_view *view);
void lt_report_tree_add(struct lt_report_tree *tree, const struct lt_report_row *row);
/* ,"tree":[...] of what was added. An account that was moved in the period has a row below each of
 * the two, with what was booked then. */
int lt_report_tree_put(struct lt_out *out, struct lt_report_tree *tree, struct lt_error *err);
void lt_report_tree_free(struct lt_report_tree *tree);

#endif
