/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when the next list of all jobs is due, and which jobs are looked at before. In memory
 * only; without memory for an id the next look is a list of all.
 */
#include "budget_state.h"
#include "grow.h"
#include "jobs.h"
#include "min_max.h"
#include "poll_schedule.h"

enum {
	LISTS_MANY = 2000,     /* fewer jobs: a list each time */
	LISTS_PART = 50,       /* a list and its pass take one part of so many */
	LISTS_LONGEST_S = 600, /* when nothing asks for one */
	/* In slurmctld a job by its id costs what 70 do in a list. */
	SINGLY_PART = 70,
	SINGLY_LEAST = 16,
	NEAR_MOST_MS = 200,
};

/* Returns the number of jobs that slurmctld has, by which a list's cost goes. */
static uint32_t
size_of(const struct lt_jobs_state *jobs)
{
	return jobs->list.count > jobs->listed_count ? jobs->list.count : jobs->listed_count;
}

void
lt_poll_pace(struct lt_jobs_state *jobs, const struct lt_listed *listed, int64_t now_utc_s)
{
	/* A near batch system is no load for others: the list took as long as the updates made
	 * meanwhile, and one of these may have hung. */
	const int64_t took_ms =
	    lt_batch_is_near() && listed->took_ms > NEAR_MOST_MS ? NEAR_MOST_MS : listed->took_ms;
	/* A fifth of the time of few jobs too: slurmctld may be slow. */
	const int64_t least_s = 5 * took_ms / 1000;
	int64_t every_s = LISTS_PART * took_ms / 1000;

	if (every_s > LISTS_LONGEST_S)
		every_s = LISTS_LONGEST_S;
	if (every_s < LT_JOBS_EVERY_S || size_of(jobs) < LISTS_MANY)
		every_s = LT_JOBS_EVERY_S;
	jobs->every_s = every_s;
	/* Where very many are being cancelled, slurmdbd's rows are late. */
	const bool in_haste =
	    jobs->untold || (lt_poll_singly(jobs) && listed->cancelled > lt_poll_most(jobs));
	jobs->untold = false;
	jobs->next.list_soonest = now_utc_s + least_s;
	jobs->next.list_from = now_utc_s + (in_haste ? least_s : lt_max_i64(every_s, least_s));
	if (jobs->next.list != 0)
		jobs->next.list = lt_poll_singly(jobs) && jobs->rows_tell && !in_haste
				      ? now_utc_s + LISTS_LONGEST_S
				      : jobs->next.list_from;
}

void
lt_poll_list(struct lt_jobs_state *jobs, int64_t at_utc_s)
{
	const int64_t from_utc_s = lt_max_i64(at_utc_s, jobs->next.list_from);

	if (from_utc_s < jobs->next.list)
		jobs->next.list = from_utc_s;
}

void
lt_poll_grown(struct lt_jobs_state *jobs, int64_t now_utc_s)
{
	const int64_t came = (int64_t)jobs->list.count - (int64_t)jobs->listed_count;

	if (came > lt_max_i64(jobs->listed_count / 2, LISTS_MANY))
		lt_poll_list(jobs, now_utc_s);
}

bool
lt_poll_singly(const struct lt_jobs_state *jobs)
{
	return jobs->every_s > LT_JOBS_EVERY_S;
}

uint32_t
lt_poll_most(const struct lt_jobs_state *jobs)
{
	return (uint32_t)lt_max_i64(size_of(jobs) / SINGLY_PART, SINGLY_LEAST);
}

/* Returns the id under which slurmctld gives all records: an array's or het job's first id. */
static uint32_t
asked_by(const struct lt_jobs_state *jobs, uint32_t job_id)
{
	const struct lt_batch_job *const job = lt_jobs_find(&jobs->list, job_id);

	return job != NULL ? lt_first_id(job) : job_id;
}

void
lt_poll_at(struct lt_jobs_state *jobs, uint32_t job_id)
{
	const uint32_t id = job_id != 0 ? asked_by(jobs, job_id) : 0;

	if (jobs->next.list == 0) /* a list is due */
		return;
	for (uint32_t i = 0; i < jobs->look_count; i++)
		if (jobs->looks[i] == id)
			return;
	if (id != 0 && lt_poll_singly(jobs) && jobs->look_count >= lt_poll_most(jobs)) {
		/* slurmctld has other work just now. */
		if (jobs->next.list_soonest < jobs->next.list)
			jobs->next.list = jobs->next.list_soonest;
		return;
	}
	uint32_t *grown = NULL;
	if (id != 0 && lt_poll_singly(jobs))
		grown = lt_items_grow(
		    jobs->looks, &jobs->look_capacity, jobs->look_count, sizeof(*grown));
	if (grown == NULL) {
		jobs->next.list = 0;
		jobs->look_count = 0;
		return;
	}
	jobs->looks = grown;
	jobs->looks[jobs->look_count++] = id;
}

void
lt_poll_again(struct lt_jobs_state *jobs, uint32_t job_id)
{
	if (lt_poll_singly(jobs))
		lt_poll_at(jobs, job_id);
}

static bool
rows_name(const struct lt_jobs_state *jobs)
{
	return lt_poll_singly(jobs) && jobs->rows_tell;
}

void
lt_poll_ahead(struct lt_jobs_state *jobs, uint32_t job_id)
{
	if (!rows_name(jobs))
		lt_poll_at(jobs, job_id);
}

void
lt_poll_running(struct lt_jobs_state *jobs)
{
	if (rows_name(jobs))
		jobs->next.started = jobs->next.ended = 0;
	else
		jobs->next.list = 0;
}
