/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's story as text.
 */
#ifndef LT_EXPLAIN_H
#define LT_EXPLAIN_H

#include "ledger.h"
#include "slurm.h"

struct lt_daemon;

/* job, hold: NULL = none. */
void lt_explain_text(char *out, size_t size, struct lt_daemon *d,
    uint32_t job_id, const struct lt_slurm_job *job,
    const struct lt_ledger_hold *hold, const struct lt_run *runs,
    uint32_t count, int64_t now_utc_s);

#endif
