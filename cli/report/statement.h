/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statement of a closed period as files.
 */
#ifndef LT_STATEMENT_H
#define LT_STATEMENT_H

#include "error.h"

struct lt_cli;
struct lt_report_query;
/*
 * Into the folder around/PERIOD, which is made with the group of around: the
 * statement in each format. A file that is there and says the same stays; one
 * that does not is LT_EINPUT, named, and stays too. LT_EIO, or what the report
 * fails with. query->period is a label: "2026-10". Of a period that was closed
 * again the folder is that of its closing: "2026-10.2".
 */
int lt_statement_write(const struct lt_cli *cli, const char *around,
    const struct lt_report_query *query, int closing, struct lt_error *err);

#endif
