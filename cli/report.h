/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as CSV: one row per team and a total, or one row per run.
 */
#ifndef LT_REPORT_H
#define LT_REPORT_H

#include <stdio.h>

#include <jansson.h>

void lt_report_csv(FILE *out, const json_t *report, bool runs);

#endif
