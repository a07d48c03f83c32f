/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges held jobs, and frees those that fit.
 */
#ifndef LT_RELEASE_H
#define LT_RELEASE_H

#include <stdint.h>

#include "budget_state.h"
#include "ledger.h"

struct lt_daemon;

/* True if lt_release() has something to look at in it. This chooses its jobs (at_release). */
bool lt_release_concerns(
    struct lt_jobs_state *jobs, const struct lt_batch_job *job, const struct lt_ledger_hold *hold);
int lt_release(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
