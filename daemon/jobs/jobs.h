/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups: a job in a list, what is live of a quote, the hold of a job.
 */
#ifndef LT_JOBS_H
#define LT_JOBS_H

#include "budget_state.h"
#include "ledger.h"

/* Sorts by job id, as all lists in struct lt_jobs_state are. */
void lt_jobs_sort(struct lt_batch_jobs *jobs);
/* Finds a job in a sorted list; NULL: not there. */
const struct lt_batch_job *lt_jobs_find(const struct lt_batch_jobs *jobs, uint32_t job_id);

/* Returns, for a sorted list, the index of the first job with a greater id; its count if there is
 * none. */
uint32_t lt_jobs_after(const struct lt_batch_jobs *jobs, uint32_t job_id);

/* Notes a move that slurmctld has made since the list was read. Without memory the list stays as it
 * was. */
void lt_jobs_moved(
    struct lt_batch_jobs *jobs, uint32_t job_id, const char *partition, int64_t begin_utc_s);

/* Returns the id under which slurmctld gives all records of its array or het job. */
uint32_t lt_first_id(const struct lt_batch_job *job);

/* Returns how lowtide lets this run stand still; NULL: it does not. */
struct lt_paused *lt_jobs_paused(const struct lt_jobs_state *jobs, const struct lt_batch_job *job);
/* True if lowtide requeued it to pause it, and has not yet seen its new begin time in a record.
 * Until then pause_requeue.c alone plans it: another plan would start it in the hours that it was
 * to miss. */
bool lt_jobs_requeued(const struct lt_jobs_state *jobs, uint32_t job_id);
/* Returns the seconds of suspension that are held for it; 0: it was not paused. */
int64_t lt_jobs_pause_s(const struct lt_jobs_state *jobs, const struct lt_batch_job *job);

/* Returns what the list of this pass says about a quote; NULL: nothing. */
const struct lt_live *lt_live_find(const struct lt_jobs_state *jobs, uint64_t quote_id);

/*
 * True if it is a single job that was cancelled before any run. Slurm's record says so itself:
 * slurmdbd need not be asked. False for arrays, whose tasks have records of their own, and for het
 * and cron jobs, whose restarts Slurm does not count.
 */
bool lt_never_ran(const struct lt_batch_job *job);

/* Finds the hold of a job by its array's id, else its own; never another user's, as Slurm reuses
 * ids. */
bool lt_hold_by_id(struct lt_ledger *ledger, uint32_t array_job_id, uint32_t job_id, uint32_t uid,
    struct lt_ledger_hold *hold);
/* Finds the hold of a job, by its quote's text or its id. */
bool lt_hold_of_job(
    struct lt_ledger *ledger, const struct lt_batch_job *job, struct lt_ledger_hold *hold);

/* Keeps what the market has of each job of the list: windows has one of each. */
int lt_jobs_keep_counted(
    struct lt_jobs_state *jobs, const struct lt_planned *windows, struct lt_error *err);

#endif
