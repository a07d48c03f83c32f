/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admin holds, and what is freed.
 */
#ifndef LT_RELEASE_H
#define LT_RELEASE_H

#include <stdint.h>

#include "budget_state.h"
#include "ledger.h"

struct lt_daemon;

/* Is there anything for lt_release() to look at? By this its jobs are chosen
 * (at_release). */
bool lt_release_concerns(struct lt_jobs_state *jobs,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold);
int lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
