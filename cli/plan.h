/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sbatch --carbon-aware=plan says on standard error, and the table in it;
 * the plan of a manifest.
 */
#ifndef LT_PLAN_H
#define LT_PLAN_H

#include "cli.h"

/* The table's first line begins with it. */
#define LT_PLAN_MARK "plan: "

/* Print the table without prefixes; false: there is none. text is cut up. */
bool lt_plan_extract(FILE *out, char *text);

/* ---- plan_table.c ---- */
/* For the rows of a plan, or of several, each by its objective; NULL when there
 * is no memory. */
struct lt_table *lt_plan_new_table(bool compares);
/* A row of the plugin's text, without its mark; false: it is none. */
bool lt_plan_put_row(
    struct lt_table *table, const char *first, const char *row);
/* Print what the plugin said; text is cut up. */
void lt_plan_print(char *text);

/* ---- plan_manifest.c: of Kubernetes ---- */
/* Are the arguments those of a manifest, and not sbatch's? */
bool lt_plan_has_manifest(const struct lt_cli *cli);
int lt_plan_manifest(const struct lt_cli *cli); /* exit status */

#endif
