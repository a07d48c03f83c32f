/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between two lists of all jobs. The ring names those that were changed,
 * slurmdbd's rows those that started, ended, were cancelled or requeued; of
 * those that came Slurm counted the ids up; arrays, whose waiting tasks leave
 * no row, are looked at in turn. What nobody names, or names late, the next
 * list shows.
 */
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "daemon.h"
#include "grow.h"
#include "http.h"
#include "jobs.h"
#include "look.h"
#include "pace.h"
#include "reconcile.h"
#include "slurm_child.h"
#include "void.h"

enum {
	ENDED_EVERY_S = 1,
	ENDED_PART = 10,    /* of the time, where slurmdbd is slow */
	ENDED_LATE_S = 10,  /* rows may come so late */
	ENDED_AGAIN_S = 60, /* when slurmdbd failed */
	STARTED_PART = 30,  /* of the time: each has all rows that run */
	SUSPENDED_S = 30,   /* what it keeps meanwhile is held a minute ahead */
	NEW_A_PASS = 50,    /* where very many come, a list is cheaper */
	NEW_GAP = 8,	    /* ids that no job got */
	NEW_PASSES = 10,    /* then a list shows them */
	ARRAYS_A_PASS = 10,
	SCANNED_A_PASS = 20000, /* for arrays */
};

struct looked {
	struct lt_slurm_jobs found;
	uint32_t *ids; /* malloc'd: lt_first_id(); found or not */
	uint32_t count;
	size_t capacity;
};

/* ---- who is named ---- */

/* Is this row not known yet, or of a job that costs while it is suspended? */
static bool
is_news(const struct lt_slurm_job *job, const struct lt_slurm_run *row,
    int64_t now_utc_s)
{
	if (row->end_utc_s != 0)
		return job->state != LT_JOB_FINISHED &&
		       row->end_utc_s >= job->seen_utc_s;
	if (job->state == LT_JOB_PENDING)
		return row->start_utc_s >= job->seen_utc_s;
	return (job->state == LT_JOB_SUSPENDED ||
		   strcmp(row->state_text, "SUSPENDED") == 0) &&
	       now_utc_s - job->seen_utc_s >= SUSPENDED_S;
}

/* Names the jobs of the list that have started or ended since. A slurmdbd that
 * fails is settle.c's to tell; lists show them until it answers. */
static void
name_rows(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_slurm_runs rows;
	const int64_t until_utc_s = d->jobs.ended_until_utc_s;
	const int64_t from_utc_s =
	    (until_utc_s < now_utc_s ? until_utc_s : now_utc_s) - ENDED_LATE_S;
	const bool started = now_utc_s >= d->next.started;
	const int64_t began_ms = lt_monotonic_ms();

	if (now_utc_s < d->next.ended || !lt_slurm_has_dbd(&d->tables.conf))
		return;
	d->next.ended = now_utc_s + ENDED_EVERY_S;
	if ((started ? lt_child_runs : lt_child_ended)(
		&rows, from_utc_s, now_utc_s + 1, NULL) != LT_OK) {
		d->next.ended = now_utc_s + ENDED_AGAIN_S;
		d->jobs.rows_tell = false;
		lt_look_list(d, now_utc_s);
		return;
	}
	d->jobs.rows_tell = true;
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (started)
		d->next.started = now_utc_s + STARTED_PART * took_ms / 1000;
	d->next.ended += ENDED_PART * took_ms / 1000;
	d->jobs.ended_until_utc_s = now_utc_s;
	for (uint32_t i = 0; i < rows.count; i++) {
		const struct lt_slurm_run *const row = &rows.runs[i];
		const struct lt_slurm_job *job =
		    lt_jobs_find(&d->jobs.list, row->job_id);

		lt_breath(LT_TURN_COMMITTED);
		if (job == NULL) /* of a task that waited with its array */
			job = lt_jobs_find(&d->jobs.list, row->array_job_id);
		if (job != NULL && is_news(job, row, now_utc_s))
			lt_look_at(d, job->job_id);
	}
	lt_slurm_runs_free(&rows);
}

/* ---- asking ---- */

/* All records of the id; none of one that slurmctld has no more. */
static int
ask(struct lt_slurm_jobs *jobs, uint32_t id, struct lt_error *err)
{
	struct lt_error why = {0};

	lt_breath(LT_TURN_COMMITTED);
	const int code = lt_slurm_jobs(jobs, id, &why);

	if (code == LT_OK || code == LT_ENOENT)
		return LT_OK;
	return lt_fail(err, (enum lt_code)code, "%s", why.text);
}

/* Takes the jobs; on failure they are freed. */
static int
add(struct looked *l, uint32_t id, struct lt_slurm_jobs *jobs,
    struct lt_error *err)
{
	uint32_t *const ids =
	    lt_items_grow(l->ids, &l->capacity, l->count, sizeof(*ids));
	struct lt_slurm_job *const all = reallocarray(l->found.jobs,
	    (size_t)l->found.count + jobs->count + 1, sizeof(*all));

	if (ids != NULL)
		l->ids = ids;
	if (all != NULL)
		l->found.jobs = all;
	if (ids == NULL || all == NULL) {
		lt_slurm_jobs_free(jobs);
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	}
	l->ids[l->count++] = id;
	if (jobs->count > 0)
		memcpy(all + l->found.count, jobs->jobs,
		    jobs->count * sizeof(*all));
	l->found.count += jobs->count;
	free(jobs->jobs);
	return LT_OK;
}

static bool
was_asked(const struct looked *l, uint32_t id)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (l->ids[i] == id)
			return true;
	return false;
}

/* By a task's own id slurmctld gives the task alone. It is let go, and the next
 * pass asks for all of its array: here each record is found once, with all of
 * its kind. */
static bool
is_part(struct lt_daemon *d, uint32_t id, struct lt_slurm_jobs *jobs)
{
	if (jobs->count == 0 || lt_first_id(&jobs->jobs[0]) == id)
		return false;
	lt_look_at(d, lt_first_id(&jobs->jobs[0]));
	lt_slurm_jobs_free(jobs);
	return true;
}

static int
ask_named(struct lt_daemon *d, struct looked *l, const uint32_t *ids,
    uint32_t count, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		struct lt_slurm_jobs jobs;

		if (was_asked(l, ids[i])) /* a new one, changed at once */
			continue;
		code = ask(&jobs, ids[i], err);
		if (code == LT_OK && !is_part(d, ids[i], &jobs))
			code = add(l, ids[i], &jobs, err);
	}
	return code;
}

static uint32_t
highest_id(const struct lt_slurm_jobs *jobs)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].job_id > highest)
			highest = jobs->jobs[i].job_id;
	return highest;
}

/* Those whose holds came since: from the last id that is known upward. */
static int
ask_new(struct lt_daemon *d, struct looked *l, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_jobs_state *const s = &d->jobs;
	const uint32_t before = s->unseen;
	uint32_t id = s->list.jobs[s->list.count - 1].job_id, misses = 0;
	int code = LT_OK;

	if (s->unseen > lt_look_most(s)) {
		s->unseen = s->unseen_passes = 0;
		lt_look_list(d, now_utc_s);
		return LT_OK;
	}
	for (int i = 0; code == LT_OK && s->unseen > 0 && misses < NEW_GAP &&
			i < NEW_A_PASS;
	     i++) {
		struct lt_slurm_jobs jobs;

		code = ask(&jobs, ++id, err);
		if (code != LT_OK || jobs.count == 0) {
			misses++;
			continue;
		}
		misses = 0;
		s->unseen--;
		if (is_part(d, id, &jobs))
			continue;
		const uint32_t highest = highest_id(&jobs);
		code = add(l, id, &jobs, err);
		id = highest;
	}
	if (s->unseen < before)
		s->unseen_passes = 0;
	else if (++s->unseen_passes == NEW_PASSES) {
		s->unseen = s->unseen_passes = 0;
		lt_look_list(d, now_utc_s + LT_VOID_AFTER_S);
	}
	return code;
}

/* As the list has them, which is not so old that the proof that they are all
 * (void.c) wants them seen again. */
static bool
is_known(const struct lt_slurm_jobs *list, const struct lt_slurm_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_slurm_job *const now = &jobs->jobs[i];
		const struct lt_slurm_job *const was =
		    lt_jobs_find(list, now->job_id);

		if (was == NULL || was->state != now->state ||
		    was->array_pending != now->array_pending ||
		    was->submit_utc_s != now->submit_utc_s ||
		    was->held != now->held ||
		    was->asked_hash != now->asked_hash ||
		    now->seen_utc_s - was->seen_utc_s >= LT_VOID_AFTER_S)
			return false;
	}
	return jobs->count > 0;
}

static int
ask_arrays(struct lt_jobs_state *s, struct looked *l, struct lt_error *err)
{
	const uint32_t most =
	    s->list.count < SCANNED_A_PASS ? s->list.count : SCANNED_A_PASS;
	int code = LT_OK, asked = 0;

	for (uint32_t i = 0; code == LT_OK && i < most && asked < ARRAYS_A_PASS;
	     i++) {
		struct lt_slurm_jobs jobs;

		s->array_at = (s->array_at + 1) % s->list.count;
		const struct lt_slurm_job *const job =
		    &s->list.jobs[s->array_at];
		if (job->state != LT_JOB_PENDING || job->array_job_id == 0 ||
		    job->array_job_id != job->job_id ||
		    was_asked(l, job->job_id))
			continue;
		asked++;
		code = ask(&jobs, job->job_id, err);
		if (code == LT_OK && is_known(&s->list, &jobs))
			lt_slurm_jobs_free(&jobs);
		else if (code == LT_OK)
			code = add(l, job->job_id, &jobs, err);
	}
	return code;
}

int
lt_look(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const s = &d->jobs;
	struct looked l = {0};

	name_rows(d, now_utc_s);
	/* Those that are named meanwhile are next. */
	uint32_t *const ids = s->looks;
	const uint32_t count = s->look_count;
	s->looks = NULL;
	s->look_count = 0;
	s->look_capacity = 0;
	int code = LT_OK;
	if (s->unseen > 0 && s->list.count > 0)
		code = ask_new(d, &l, now_utc_s, err);
	if (code == LT_OK)
		code = ask_named(d, &l, ids, count, err);
	if (code == LT_OK && s->list.count > 0)
		code = ask_arrays(s, &l, err);
	if (code == LT_OK && l.count > 0)
		code = lt_reconcile_some(d, &l.found,
		    (struct lt_ids){l.ids, l.count}, now_utc_s, err);
	if (code != LT_OK) {
		lt_slurm_jobs_free(&l.found);
		d->next.jobs = 0; /* a list shows all of it */
	}
	free(l.ids);
	free(ids);
	return code;
}
