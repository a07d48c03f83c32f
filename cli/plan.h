/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of a plan in the output of sbatch --carbon-plan; declared for tests.
 */
#ifndef LT_PLAN_H
#define LT_PLAN_H

#include "cli.h"

/* The first line of the table begins with this. */
#define LT_PLAN_MARK "plan: "

/* Prints the table without prefixes; false if there is none. text is cut up. */
bool lt_plan_extract(FILE *out, char *text);

#endif
