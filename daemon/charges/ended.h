/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that ended and wait for slurmdbd's row, over a restart.
 */
#ifndef LT_ENDED_H
#define LT_ENDED_H

#include "budget_state.h"
#include "ledger.h"

/* Before a list is followed: the runs of before by their keys. */
void lt_ended_sort(struct lt_jobs_state *jobs);
/* Remembers a record that slurmctld calls finished, once a list. */
void lt_settle_saw_end(struct lt_jobs_state *jobs, struct lt_ledger *ledger,
    const struct lt_batch_conf *conf, const struct lt_batch_job *job, int64_t now_utc_s);
int lt_ended_save(const struct lt_jobs_state *jobs, struct lt_ledger *ledger, struct lt_error *err);
/* Adds the saved runs to jobs->ended; if none were saved that is no failure. */
void lt_ended_load(struct lt_jobs_state *jobs, struct lt_ledger *ledger);

#endif
