/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups: a job in a list, what is live of a quote, the hold of a job.
 */
#ifndef LT_JOBS_H
#define LT_JOBS_H

#include "budget_state.h"
#include "ledger.h"

/* An index of a job list by id, for looking up what a job was before. */
struct lt_jobs_index {
	uint32_t count;
	const struct lt_slurm_job **jobs;
};
int lt_jobs_index(struct lt_jobs_index *index, const struct lt_slurm_jobs *jobs,
    struct lt_error *err);
const struct lt_slurm_job *lt_jobs_find(
    const struct lt_jobs_index *index, uint32_t job_id);

/* What the list of this pass says about a quote; NULL = nothing. */
const struct lt_live *lt_live_find(
    const struct lt_jobs_state *jobs, uint64_t quote_id);

/* Is it a single job that was cancelled before any run? Slurm's record says
 * so itself: slurmdbd need not be asked. Not so of arrays, whose tasks have
 * records of their own, nor of het and cron jobs, of which it counts no
 * restarts. */
bool lt_never_ran(const struct lt_slurm_job *job);

/* The hold of a job by its array's id, else its own; never a stranger's, for
 * Slurm gives ids again. */
bool lt_hold_by_id(struct lt_ledger *ledger, uint32_t array_job_id,
    uint32_t job_id, uint32_t uid, struct lt_ledger_hold *hold);
/* The hold of a job, by its quote's text or its id. */
bool lt_hold_of_job(struct lt_ledger *ledger, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold);

#endif
