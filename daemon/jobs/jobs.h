/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups: a job in a list, what is live of a quote, the hold of a job.
 */
#ifndef LT_JOBS_H
#define LT_JOBS_H

#include "budget_state.h"
#include "ledger.h"

/* By job id, as all lists in struct lt_jobs_state are. */
void lt_jobs_sort(struct lt_batch_jobs *jobs);
/* In a sorted list; NULL = it has none. */
const struct lt_batch_job *lt_jobs_find(
    const struct lt_batch_jobs *jobs, uint32_t job_id);

/* In a sorted list, the index of the first one with a greater id; its count
 * where there is none. */
uint32_t lt_jobs_after(const struct lt_batch_jobs *jobs, uint32_t job_id);

/* slurmctld was told so since the list was read. Without memory the list stays
 * as it was. */
void lt_jobs_moved(struct lt_batch_jobs *jobs, uint32_t job_id,
    const char *partition, int64_t begin_utc_s);

/* The id by which slurmctld gives all records of its array or het job. */
uint32_t lt_first_id(const struct lt_batch_job *job);

/* How lowtide lets this run stand still; NULL: it does not. */
struct lt_paused *lt_jobs_paused(
    const struct lt_jobs_state *jobs, const struct lt_batch_job *job);
/* Did lowtide requeue it to pause it, and has not seen yet that it was told
 * when it goes on? Until then pause_requeue.c alone plans it: another plan
 * would start it in the hours that it was to miss. */
bool lt_jobs_requeued(const struct lt_jobs_state *jobs, uint32_t job_id);
/* As many seconds of suspension are held for it; 0: it was not paused. */
int64_t lt_jobs_pause_s(
    const struct lt_jobs_state *jobs, const struct lt_batch_job *job);

/* What the list of this pass says about a quote; NULL = nothing. */
const struct lt_live *lt_live_find(
    const struct lt_jobs_state *jobs, uint64_t quote_id);

/* Is it a single job that was cancelled before any run? Slurm's record says
 * so itself: slurmdbd need not be asked. Not so of arrays, whose tasks have
 * records of their own, nor of het and cron jobs, of which it counts no
 * restarts. */
bool lt_never_ran(const struct lt_batch_job *job);

/* The hold of a job by its array's id, else its own; never a stranger's, for
 * Slurm gives ids again. */
bool lt_hold_by_id(struct lt_ledger *ledger, uint32_t array_job_id,
    uint32_t job_id, uint32_t uid, struct lt_ledger_hold *hold);
/* The hold of a job, by its quote's text or its id. */
bool lt_hold_of_job(struct lt_ledger *ledger, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold);

/* Keeps what the market has of each job of the list: windows has one of each.
 */
int lt_jobs_keep_counted(struct lt_jobs_state *jobs,
    const struct lt_planned *windows, struct lt_error *err);

#endif
