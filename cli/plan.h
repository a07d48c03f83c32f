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

/* ---- plan_manifest.c: of Kubernetes ---- */
/* Are the arguments those of a manifest, and not sbatch's? */
bool lt_plan_has_manifest(const struct lt_cli *cli);
int lt_plan_manifest(const struct lt_cli *cli); /* exit status */

#endif
