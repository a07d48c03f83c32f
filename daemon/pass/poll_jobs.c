/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at single jobs between two lists of all. The ring names those that were changed, slurmdbd's
 * rows those that started, ended, were cancelled or requeued; new ones have the next ids, which
 * Slurm counts up; arrays, whose waiting tasks leave no row, are looked at in turn. The next list
 * shows all others.
 *
 * Reads slurmctld by a child; writes the list of jobs by reconcile.c. On failure the next list is
 * soon.
 */
#include <stdlib.h>
#include <string.h>

#include "breath.h"
#include "daemon.h"
#include "grow.h"
#include "http.h"
#include "jobs.h"
#include "poll_jobs.h"
#include "poll_schedule.h"
#include "reconcile.h"
#include "batch_child.h"
#include "expire.h"

enum {
	ENDED_EVERY_S = 1,
	ENDED_PART = 10,    /* of the time, where slurmdbd is slow */
	ENDED_LATE_S = 10,  /* rows may come so late */
	ENDED_AGAIN_S = 60, /* when slurmdbd failed */
	STARTED_PART = 30,  /* of the time: each has all rows that run */
	SUSPENDED_S = 30,   /* what it keeps meanwhile is held a minute ahead */
	NEW_PASSES = 10,    /* that found none: then a list shows them */
	ARRAYS_A_PASS = 10,
	SCANNED_A_PASS = 20000, /* for arrays */
};

struct asked {
	struct lt_job_lookup of;
	uint32_t named_count; /* of its ids: the rest are arrays in turn */
};

/* ---- jobs that are named ---- */

/* True if this row is not known yet, or its job costs while it is suspended. */
static bool
is_news(const struct lt_batch_job *job, const struct lt_batch_run *row, int64_t now_utc_s)
{
	if (row->end_utc_s != 0)
		return job->state != LT_JOB_FINISHED && row->end_utc_s >= job->seen_utc_s;
	if (job->state == LT_JOB_PENDING)
		return row->start_utc_s >= job->seen_utc_s;
	return (job->state == LT_JOB_SUSPENDED || strcmp(row->state_text, "SUSPENDED") == 0) &&
	       now_utc_s - job->seen_utc_s >= SUSPENDED_S;
}

/* Names the jobs of the list that have started or ended since. settle.c reports a failing slurmdbd;
 * lists show them until it answers. */
static void
name_rows(struct lt_daemon *d, int64_t now_utc_s)
{
	struct lt_batch_runs rows;
	const int64_t until_utc_s = d->jobs.ended_until_utc_s;
	const int64_t from_utc_s =
	    (until_utc_s < now_utc_s ? until_utc_s : now_utc_s) - ENDED_LATE_S;
	const bool started = now_utc_s >= d->jobs.next.started;
	const int64_t began_ms = lt_monotonic_ms();

	if (now_utc_s < d->jobs.next.ended || !lt_batch_has_dbd(&d->site.tables.conf))
		return;
	d->jobs.next.ended = now_utc_s + ENDED_EVERY_S;
	if (lt_child_rows(&rows, started ? lt_batch_runs : lt_batch_ended, from_utc_s,
		now_utc_s + 1, NULL) != LT_OK) {
		d->jobs.next.ended = now_utc_s + ENDED_AGAIN_S;
		d->jobs.rows_tell = false;
		lt_poll_list(&d->jobs, now_utc_s);
		return;
	}
	d->jobs.rows_tell = true;
	const int64_t took_ms = lt_monotonic_ms() - began_ms;
	if (started)
		d->jobs.next.started = now_utc_s + STARTED_PART * took_ms / 1000;
	d->jobs.next.ended += ENDED_PART * took_ms / 1000;
	d->jobs.ended_until_utc_s = now_utc_s;
	for (uint32_t i = 0; i < rows.count; i++) {
		const struct lt_batch_run *const row = &rows.runs[i];
		const struct lt_batch_job *job = lt_jobs_find(&d->jobs.list, row->job_id);

		lt_breath(LT_TURN_COMMITTED);
		if (job == NULL) /* of a task that waited with its array */
			job = lt_jobs_find(&d->jobs.list, row->array_job_id);
		if (job != NULL && is_news(job, row, now_utc_s))
			lt_poll_at(&d->jobs, job->job_id);
	}
	lt_batch_runs_free(&rows);
}

/* Arrays with waiting tasks, from where the pass before stopped; behind the `count` ids that are
 * there. */
static uint32_t
name_arrays(struct lt_jobs_state *s, uint32_t *ids, uint32_t count)
{
	const uint32_t most = s->list.count < SCANNED_A_PASS ? s->list.count : SCANNED_A_PASS;
	uint32_t named = 0;

	for (uint32_t i = 0; i < most && named < ARRAYS_A_PASS; i++) {
		bool is_named = false;

		s->array_at = (s->array_at + 1) % s->list.count;
		const struct lt_batch_job *const job = &s->list.jobs[s->array_at];
		if (job->state != LT_JOB_PENDING || job->array_job_id == 0 ||
		    job->array_job_id != job->job_id)
			continue;
		for (uint32_t k = 0; k < count && !is_named; k++)
			is_named = ids[k] == job->job_id;
		if (!is_named)
			ids[count + named++] = job->job_id;
	}
	return named;
}

/* ---- what was found ---- */

/* True if all of it is as the list has it, and the list is not so old that the proof that these are
 * all (expire.c) wants them seen again. */
static bool
is_known(const struct lt_batch_jobs *list, const struct lt_batch_jobs *found, uint32_t first_id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < found->count; i++) {
		const struct lt_batch_job *const now = &found->jobs[i];
		const struct lt_batch_job *const was = lt_jobs_find(list, now->job_id);

		if (lt_first_id(now) != first_id)
			continue;
		if (was == NULL || was->state != now->state ||
		    was->array_pending != now->array_pending ||
		    was->submit_utc_s != now->submit_utc_s || was->held != now->held ||
		    was->asked_hash != now->asked_hash ||
		    now->seen_utc_s - was->seen_utc_s >= LT_VOID_AFTER_S)
			return false;
		count++;
	}
	return count > 0;
}

static void
drop_known(struct lt_batch_jobs *found, uint32_t first_id)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < found->count; i++) {
		if (lt_first_id(&found->jobs[i]) == first_id)
			free(found->jobs[i].texts);
		else
			found->jobs[kept++] = found->jobs[i];
	}
	found->count = kept;
}

/* Counts the holds of jobs that came since; jobs without a trace are in a list that begins late
 * enough to prove it. */
static void
count_seen(struct lt_daemon *d, uint32_t seen, int64_t now_utc_s)
{
	struct lt_jobs_state *const s = &d->jobs;

	s->unseen -= seen < s->unseen ? seen : s->unseen;
	if (seen > 0) {
		s->unseen_passes = 0;
	} else if (++s->unseen_passes == NEW_PASSES) {
		s->unseen = s->unseen_passes = 0;
		lt_poll_list(&d->jobs, now_utc_s + LT_VOID_UNSEEN_S + 1);
	}
}

/* Takes the records; what was not asked for is named again. */
static int
follow_found(struct lt_daemon *d, struct lt_job_lookup_found *found, const struct asked *asked,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_batch_jobs *const jobs = &found->jobs;
	uint32_t *const ids =
	    reallocarray(NULL, (size_t)asked->of.count + jobs->count + 1, sizeof(*ids));
	uint32_t count = 0;

	if (ids == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (uint32_t i = 0; i < asked->of.count; i++) {
		const uint32_t id = asked->of.ids[i];
		const bool in_turn = i >= asked->named_count;

		if (i < found->asked && !(in_turn && is_known(&d->jobs.list, jobs, id)))
			ids[count++] = id;
		else if (in_turn)
			drop_known(jobs, id);
		else
			lt_poll_at(&d->jobs, id);
	}
	/* New ones, and arrays with a named task. */
	for (uint32_t i = 0; i < jobs->count; i++)
		ids[count++] = lt_first_id(&jobs->jobs[i]);
	const int code =
	    count > 0 ? lt_reconcile_some(d, jobs, (struct lt_ids){ids, count}, now_utc_s, err)
		      : LT_OK;
	if (code == LT_OK)
		lt_poll_grown(&d->jobs, now_utc_s);
	free(ids);
	return code;
}

/* Names the jobs whose holds came since: they have the next ids. */
static void
name_new(struct lt_daemon *d, struct lt_job_lookup *of, int64_t now_utc_s)
{
	struct lt_jobs_state *const s = &d->jobs;

	if (s->unseen == 0 || s->list.count == 0)
		return;
	if (s->unseen > lt_poll_most(s)) {
		s->unseen = s->unseen_passes = 0;
		lt_poll_list(&d->jobs, now_utc_s);
		return;
	}
	of->after = s->list.jobs[s->list.count - 1].job_id;
	of->unseen = s->unseen;
}

int
lt_poll(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const s = &d->jobs;
	struct lt_job_lookup_found found = {0};

	name_rows(d, now_utc_s);
	/* Those that are named meanwhile are next. */
	uint32_t *const ids =
	    reallocarray(s->looks, (size_t)s->look_count + ARRAYS_A_PASS, sizeof(*ids));
	if (ids == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	struct asked asked = {.named_count = s->look_count};
	s->looks = NULL;
	s->look_count = 0;
	s->look_capacity = 0;
	asked.of.ids = ids;
	asked.of.count = asked.named_count + name_arrays(s, ids, asked.named_count);
	name_new(d, &asked.of, now_utc_s);
	int code = LT_OK;
	if (asked.of.count > 0 || asked.of.unseen > 0)
		code = lt_child_named(&found, &asked.of, err);
	if (code == LT_OK && asked.of.unseen > 0)
		count_seen(d, found.seen, now_utc_s);
	if (code == LT_OK)
		code = follow_found(d, &found, &asked, now_utc_s, err);
	if (code != LT_OK)
		d->jobs.next.list = 0; /* a list shows all of it */
	lt_batch_jobs_free(&found.jobs);
	free(ids);
	return code;
}
