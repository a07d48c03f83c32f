/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of a job's story: one of its runs.
 */
#ifndef LT_EXPLAIN_RUN_H
#define LT_EXPLAIN_RUN_H

#include "ledger.h"

struct lt_daemon;
struct lt_text;

/* A paragraph with its end. */
void lt_explain_run(struct lt_text *t, const struct lt_daemon *d,
    const struct lt_run *run, int64_t now_utc_s);

#endif
