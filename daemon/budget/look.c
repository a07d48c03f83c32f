/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between two lists of all jobs: the ring names those that were changed,
 * slurmdbd's rows those that ended, were cancelled or requeued. What nobody
 * names, or names late, the next list shows.
 */
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "daemon.h"
#include "jobs.h"
#include "look.h"
#include "pace.h"
#include "reconcile.h"
#include "slurm_child.h"

enum {
	ENDED_EVERY_S = 3,
	ENDED_LATE_S = 10,  /* rows may come so late */
	ENDED_AGAIN_S = 60, /* when slurmdbd failed */
};

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
	if (lt_child_ended(&rows,
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

		lt_breath(LT_TURN_COMMITTED);
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
