/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of all jobs, by what they cost: where slurmctld has very many, a list is rare, and between
 * two lists single jobs are looked up that something happened to (poll_jobs.c).
 */
#ifndef LT_POLL_SCHEDULE_H
#define LT_POLL_SCHEDULE_H

#include "budget_state.h"

enum { LT_JOBS_EVERY_S = 2 }; /* poll of slurmctld while jobs live */

struct lt_listed {
	int64_t took_ms;    /* with what followed from it */
	uint32_t cancelled; /* since the last one: holds that it ends */
};

/* When the next list of jobs is due, by what this one cost and found. */
void lt_poll_pace(struct lt_jobs_state *jobs, const struct lt_listed *listed, int64_t now_utc_s);

/* True if lists are rarer than passes. */
bool lt_poll_singly(const struct lt_jobs_state *jobs);

/* Returns how many jobs are looked up singly before a list of all is cheaper. */
uint32_t lt_poll_most(const struct lt_jobs_state *jobs);

/* Asks for a list, which alone shows what is wanted: one that begins at that time or later, as soon
 * as its cost allows. */
void lt_poll_list(struct lt_jobs_state *jobs, int64_t at_utc_s);

/* Notes that some came between two lists. Jobs that slurmctld no longer has are here until the next
 * list: it is due before these are many. */
void lt_poll_grown(struct lt_jobs_state *jobs, int64_t now_utc_s);

/* Notes that something happened to this job, or to a task of its array: the next pass looks at it,
 * by a list where these are cheap. 0: it is not known to which. */
void lt_poll_at(struct lt_jobs_state *jobs, uint32_t job_id);

/* Makes the next pass look again, also where lists are rare: lowtide just updated the job, or it is
 * not decided yet. */
void lt_poll_again(struct lt_jobs_state *jobs, uint32_t job_id);

/* Notes a job that may change by itself: the next pass looks, unless slurmdbd's rows will name it
 * when it does. */
void lt_poll_ahead(struct lt_jobs_state *jobs, uint32_t job_id);

/* Asks for the jobs that run just now: by slurmdbd's rows if these show them, else by a list of
 * all. */
void lt_poll_running(struct lt_jobs_state *jobs);

#endif
