/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report must have, and its formats that are not its JSON.
 */
#ifndef LT_REPORT_H
#define LT_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "error.h"

/* A row per team, and a total. */
void lt_report_csv(FILE *out, const json_t *report);
/* LT_EINPUT where a figure is no integer and not null. */
int lt_report_check(const json_t *report, struct lt_error *err);
/* runs: each run, too. */
int lt_report_tables(FILE *out, const json_t *report, bool runs, bool color,
    struct lt_error *err);

#endif
