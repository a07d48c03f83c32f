/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sbatch --carbon-aware=plan says on standard error, and the table in it.
 */
#ifndef LT_PLAN_H
#define LT_PLAN_H

#include <stdbool.h>
#include <stdio.h>

/* The table's first line begins with it. */
#define LT_PLAN_MARK "plan: "

/* Print the table without prefixes; false: there is none. text is cut up. */
bool lt_plan_extract(FILE *out, char *text);

#endif
