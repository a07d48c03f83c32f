/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between two lists of all jobs: the ring names those that were changed,
 * slurmdbd's rows those that ended, were cancelled or requeued. What nobody
 * names, or names late, the next list shows.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon.h"
#include "grow.h"
#include "jobs.h"
#include "look.h"
#include "reconcile.h"

enum {
	LISTS_MANY = 2000, /* fewer jobs: a list each time */
	LISTS_PART = 30,   /* a list and its pass take one part of so many */
	LISTS_LONGEST_S = 600,
	/* In slurmctld a job by its id costs what 70 do in a list. */
	SINGLY_PART = 70,
	SINGLY_LEAST = 16,
	ENDED_EVERY_S = 3,
	ENDED_LATE_S = 10,  /* rows may come so late */
	ENDED_AGAIN_S = 60, /* when slurmdbd failed */
};

static int64_t
larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void
lt_look_pace(struct lt_daemon *d, int64_t pass_ms, int64_t now_utc_s)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	int64_t every_s = LISTS_PART * pass_ms / 1000;

	if (every_s > LISTS_LONGEST_S)
		every_s = LISTS_LONGEST_S;
	if (every_s < LT_JOBS_EVERY_S || jobs->list.count < LISTS_MANY)
		every_s = LT_JOBS_EVERY_S;
	jobs->every_s = every_s;
	/* A fifth of the time of few jobs too: slurmctld may be slow. */
	if (d->next.jobs != 0)
		d->next.jobs = now_utc_s + larger(every_s, 5 * pass_ms / 1000);
}

bool
lt_look_singly(const struct lt_jobs_state *jobs)
{
	return jobs->every_s > LT_JOBS_EVERY_S;
}

static uint32_t
most_singly(const struct lt_jobs_state *jobs)
{
	return (uint32_t)larger(jobs->list.count / SINGLY_PART, SINGLY_LEAST);
}

/* By what slurmctld gives all records of: an array's or het job's first id. */
static uint32_t
asked_by(const struct lt_jobs_state *jobs, uint32_t job_id)
{
	const struct lt_slurm_job *const job =
	    lt_jobs_find(&jobs->list, job_id);

	return job != NULL ? lt_first_id(job) : job_id;
}

void
lt_look_at(struct lt_daemon *d, uint32_t job_id)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	const uint32_t id = job_id != 0 ? asked_by(jobs, job_id) : 0;

	if (d->next.jobs == 0) /* a list is due */
		return;
	for (uint32_t i = 0; i < jobs->look_count; i++)
		if (jobs->looks[i] == id)
			return;
	uint32_t *grown = NULL;
	if (id != 0 && lt_look_singly(jobs) &&
	    jobs->look_count < most_singly(jobs))
		grown = lt_items_grow(jobs->looks, &jobs->look_capacity,
		    jobs->look_count, sizeof(*grown));
	if (grown == NULL) {
		d->next.jobs = 0;
		jobs->look_count = 0;
		return;
	}
	jobs->looks = grown;
	jobs->looks[jobs->look_count++] = id;
}

void
lt_look_again(struct lt_daemon *d, uint32_t job_id)
{
	if (lt_look_singly(&d->jobs))
		lt_look_at(d, job_id);
}

static int
compare_rows(const void *a, const void *b)
{
	const struct lt_slurm_run *const x = a, *const y = b;

	return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

/* Names the jobs of the list that have ended since. A slurmdbd that fails is
 * settle.c's to tell. */
static void
name_ended(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_slurm_runs rows;
	const int64_t from_utc_s = d->jobs.ended_until_utc_s;

	if (now_utc_s < d->next.ended ||
	    strstr(d->tables.conf.accounting_storage, "slurmdbd") == NULL)
		return;
	d->next.ended = now_utc_s + ENDED_EVERY_S;
	if (lt_slurmdbd_ended(&rows,
		(from_utc_s < now_utc_s ? from_utc_s : now_utc_s) -
		    ENDED_LATE_S,
		now_utc_s + 1, NULL) != LT_OK) {
		d->next.ended = now_utc_s + ENDED_AGAIN_S;
		return;
	}
	d->jobs.ended_until_utc_s = now_utc_s;
	for (uint32_t i = 0; rows.count > 0 && i < d->jobs.list.count; i++) {
		const struct lt_slurm_job *const job = &d->jobs.list.jobs[i];
		const struct lt_slurm_run key = {.job_id = job->job_id};
		const struct lt_slurm_run *const row = bsearch(
		    &key, rows.runs, rows.count, sizeof(key), compare_rows);

		if (row != NULL && job->state != LT_JOB_FINISHED &&
		    row->end_utc_s >= job->seen_utc_s)
			lt_look_at(d, job->job_id);
	}
	lt_slurm_runs_free(&rows);
}

/* All records of the jobs that were named; one that slurmctld has no more has
 * none. */
static int
ask_singly(struct lt_slurm_jobs *found, const uint32_t *ids, uint32_t count,
    struct lt_error *err)
{
	*found = (struct lt_slurm_jobs){0};
	for (uint32_t i = 0; i < count; i++) {
		struct lt_slurm_jobs one;
		struct lt_error why = {0};
		const int code = lt_slurm_jobs(&one, ids[i], &why);

		if (code == LT_ENOENT)
			continue;
		if (code != LT_OK)
			return lt_fail(err, (enum lt_code)code, "%s", why.text);
		struct lt_slurm_job *const grown = reallocarray(found->jobs,
		    (size_t)found->count + one.count + 1, sizeof(*grown));
		if (grown == NULL) {
			lt_slurm_jobs_free(&one);
			return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
		}
		found->jobs = grown;
		memcpy(
		    grown + found->count, one.jobs, one.count * sizeof(*grown));
		found->count += one.count;
		free(one.jobs);
	}
	return LT_OK;
}

int
lt_look(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	struct lt_slurm_jobs found;

	name_ended(d, now_utc_s);
	if (jobs->look_count == 0)
		return LT_OK;
	/* Those that are named meanwhile are next. */
	uint32_t *const ids = jobs->looks;
	const uint32_t count = jobs->look_count;
	jobs->looks = NULL;
	jobs->look_count = 0;
	jobs->look_capacity = 0;
	int code = ask_singly(&found, ids, count, err);
	if (code == LT_OK)
		code = lt_reconcile_some(d, &found, ids, count, now_utc_s, err);
	if (code != LT_OK) {
		lt_slurm_jobs_free(&found);
		d->next.jobs = 0; /* a list shows all of it */
	}
	free(ids);
	return code;
}
