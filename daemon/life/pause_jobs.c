/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "batch.h"
#include "breath.h"
#include "daemon.h"
#include "jobs.h"
#include "log.h"
#include "poll_schedule.h"
#include "pause_jobs.h"
#include "pause_requeue.h"
#include "pause_seen.h"
#include "pause_move.h"
#include "suspension.h"

enum {
	EARLY_S = 5,	    /* before what is held for is used up */
	LOOKS_A_PASS = 500, /* some 50 ms */
	ASKED_A_PASS = 20,  /* each may compile the budgets */
};

int
lt_pausing_read(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;

	(void)now_utc_s;
	free(jobs->paused);
	jobs->paused = NULL;
	const int code = lt_ledger_paused(
	    d->ledger, &jobs->paused, &jobs->paused_count, err);
	jobs->paused_capacity = jobs->paused_count;
	d->still.is_read = code == LT_OK;
	return code;
}

/* ---- each job that stands still ---- */

/* Why it goes on; NULL: it stands still. */
static const char *
reason(const struct lt_daemon *d, const struct lt_batch_job *job,
    const struct lt_paused *row, int64_t now_utc_s)
{
	const int64_t still_s = now_utc_s - job->start_utc_s -
				lt_suspension_worked_s(job, now_utc_s);

	if (now_utc_s >= row->until_utc_s)
		return "due";
	if (still_s + EARLY_S >= row->held_s)
		return "held";
	if (!lt_site_may(&d->site, LT_MAY_EDIT))
		return "mode";
	return lt_pausing_any_class(&d->site.market) ? NULL : "conditions";
}

/* False: its row is done with. */
static bool
follow(struct lt_daemon *d, struct lt_paused *row, int64_t now_utc_s,
    struct lt_error *err)
{
	const struct lt_batch_job *const job =
	    lt_jobs_find(&d->jobs.list, row->job_id);

	if (row->step >= LT_PAUSE_ASKED)
		return lt_pausing_follow_requeue(d, job, row, now_utc_s, err);
	if (job == NULL || job->start_utc_s != row->start_utc_s ||
	    (job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED))
		return false;
	const enum lt_pause_step seen = lt_pausing_seen(job, row);
	if (seen != row->step) {
		if (seen == LT_PAUSE_PAUSED)
			row->changed_utc_s = job->changed_utc_s;
		if (seen == LT_PAUSE_LEFT)
			row->held_s = 0;
		if (lt_pausing_put(d, row, seen, now_utc_s, err) != LT_OK)
			return true;
	}
	if (row->step == LT_PAUSE_LEFT)
		return true;
	if (lt_pausing_is_over(job, row))
		return false;
	lt_poll_at(&d->jobs, row->job_id);
	const char *const why = reason(d, job, row, now_utc_s);
	if (row->step == LT_PAUSE_PAUSED && why != NULL)
		(void)lt_pausing_go_on(d, job, row, LT_PAUSE_RESUMING, why);
	else if ((row->step == LT_PAUSE_RESUMING ||
		     row->step == LT_PAUSE_RESUMING_FOR_GOOD) &&
		 job->state == LT_JOB_SUSPENDED &&
		 lt_pausing_is_newer(job, row))
		(void)lt_pausing_go_on(d, job, row, row->step, "again");
	return true;
}

static void
follow_all(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = &d->jobs;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < jobs->paused_count; i++) {
		struct lt_paused row = jobs->paused[i];

		if (follow(d, &row, now_utc_s, err) ||
		    lt_ledger_drop_paused(d->ledger, row.job_id, err) != LT_OK)
			jobs->paused[kept++] = row; /* or tried again */
		else
			d->still.next_utc_s = now_utc_s; /* when it is next */
	}
	jobs->paused_count = kept;
}

/* ---- who should ---- */

/* By today's figures: sooner, later, or at once. */
static void
again(struct lt_daemon *d, struct lt_pausing *s, struct lt_paused *row,
    bool is_planned)
{
	struct lt_error err = {0};

	if (row->step != LT_PAUSE_PAUSED)
		return;
	if (!is_planned || s->course.until_utc_s == 0)
		(void)lt_pausing_go_on(d, s->standing.job, row,
		    LT_PAUSE_RESUMING, is_planned ? "better" : "conditions");
	else if (s->course.until_utc_s != row->until_utc_s)
		(void)lt_pausing_move(d, s, row, &err);
}

static void
look(struct lt_daemon *d, struct lt_pausing *s, const struct lt_batch_job *job,
    const struct lt_pausing_lines *lines, int64_t now_utc_s)
{
	const struct lt_books books = lt_daemon_books(d);
	struct lt_paused *const row = lt_jobs_paused(&d->jobs, job);
	struct lt_error err = {0};

	if ((row == NULL && job->state != LT_JOB_RUNNING) ||
	    (row != NULL && row->step != LT_PAUSE_PAUSED))
		return;
	const bool is_planned = lt_pausing_plan(
	    s, &books, &d->replan, &d->notice, job, lines, now_utc_s);
	s->standing.job = job;
	if (is_planned && s->course.again_utc_s < d->still.next_utc_s)
		d->still.next_utc_s = s->course.again_utc_s;
	if (row != NULL) {
		again(d, s, row, is_planned);
	} else if (is_planned && s->course.until_utc_s > now_utc_s) {
		d->still.asked++;
		const int code = s->requeues ? lt_pausing_ask(d, s, &err)
					     : lt_pausing_suspend(d, s, &err);

		if (code == LT_EDENIED && d->still.refused++ == 0 &&
		    d->still.were_refused == 0)
			lt_log("pause_unaffordable", "error=\"%s\"", err.text);
		else if (code != LT_OK && code != LT_EDENIED)
			lt_log("pause_failed", "job=%u error=\"%s\"",
			    job->job_id, err.text);
	}
}

/* Up to so many, from the place where the last pass ended. */
static void
look_at_all(struct lt_daemon *d, struct lt_pausing *s,
    const struct lt_pausing_lines *lines, int64_t now_utc_s)
{
	struct lt_pausing_state *const state = &d->still;
	const struct lt_batch_jobs *const list = &d->jobs.list;
	uint32_t i = lt_jobs_after(list, state->after);

	if (state->after == 0) {
		state->next_utc_s = INT64_MAX;
		state->were_refused = state->refused;
		state->refused = 0;
	}
	for (uint32_t looks = 0; i < list->count && looks < LOOKS_A_PASS &&
				 state->asked < ASKED_A_PASS;
	     i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		lt_breath(LT_TURN_READ);
		if (job->state != LT_JOB_RUNNING &&
		    job->state != LT_JOB_SUSPENDED)
			continue;
		looks++;
		look(d, s, job, lines, now_utc_s);
		state->after = job->job_id;
	}
	if (i >= list->count) {
		state->after = 0;
		state->looked_generation = d->site.market.generation;
	}
}

/* More than so many wait for the next market. */
static void
look_at_new(struct lt_daemon *d, struct lt_pausing *s,
    const struct lt_pausing_lines *lines, int64_t now_utc_s)
{
	const struct lt_batch_jobs *const list = &d->jobs.list;
	uint32_t looks = 0;

	for (uint32_t i = 0; i < list->count && looks < LOOKS_A_PASS &&
			     d->still.asked < ASKED_A_PASS;
	     i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		if (job->state != LT_JOB_RUNNING ||
		    job->start_utc_s < d->still.started_from_utc_s)
			continue;
		looks++;
		look(d, s, job, lines, now_utc_s);
	}
}

/* Who came since wants the nodes of some that stand still. */
static void
make_way(struct lt_daemon *d, const struct lt_pausing_lines *lines)
{
	struct lt_jobs_state *const jobs = &d->jobs;

	for (uint32_t i = 0; i < jobs->paused_count; i++) {
		struct lt_paused *const row = &jobs->paused[i];
		const struct lt_batch_job *const job =
		    lt_jobs_find(&jobs->list, row->job_id);

		if (row->step == LT_PAUSE_PAUSED && job != NULL &&
		    lt_pausing_is_waited_for(lines, &d->site.tables, job))
			(void)lt_pausing_go_on(
			    d, job, row, LT_PAUSE_RESUMING, "waited_for");
	}
}

static bool
is_due(const struct lt_daemon *d, int64_t now_utc_s)
{
	const struct lt_pausing_state *const state = &d->still;

	return state->after != 0 ||
	       state->looked_generation != d->site.market.generation ||
	       now_utc_s >= state->next_utc_s;
}

static bool
is_new(const struct lt_daemon *d)
{
	return d->jobs.list.begun_utc_s > d->still.started_from_utc_s;
}

static bool
is_to_look(const struct lt_daemon *d, int64_t now_utc_s)
{
	return d->site.has_market && lt_site_may(&d->site, LT_MAY_EDIT) &&
	       lt_pausing_any_class(&d->site.market) &&
	       (is_due(d, now_utc_s) || is_new(d));
}

static int
look_at_jobs(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_pausing *const s = malloc(sizeof(*s));
	struct lt_pausing_lines lines;

	if (s == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	d->still.asked = 0;
	lt_pausing_lines(&lines, &d->site.tables, &d->jobs.list, now_utc_s);
	if (is_due(d, now_utc_s))
		look_at_all(d, s, &lines, now_utc_s);
	if (is_new(d)) {
		make_way(d, &lines);
		look_at_new(d, s, &lines, now_utc_s);
		d->still.started_from_utc_s = d->jobs.list.begun_utc_s;
	}
	free(s);
	return LT_OK;
}

bool
lt_pausing_is_due(const struct lt_daemon *d, int64_t now_utc_s)
{
	return d->jobs.paused_count > 0 || is_to_look(d, now_utc_s);
}

int
lt_pausing_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	follow_all(d, now_utc_s, err);
	if (err->code == LT_OK && is_to_look(d, now_utc_s))
		return look_at_jobs(d, now_utc_s, err);
	return err->code;
}

int
lt_pausing_end(struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s, struct lt_error *err)
{
	struct lt_paused *const row = lt_jobs_paused(&d->jobs, job);

	if (row != NULL && row->step >= LT_PAUSE_ASKED)
		return lt_pausing_put(d, row, LT_PAUSE_LEFT, now_utc_s, err);
	if (row == NULL || row->step == LT_PAUSE_LEFT)
		return lt_fail(err, LT_ENOENT,
		    "job %u: lowtide does not let it stand still", job->job_id);
	return lt_pausing_go_on(
	    d, job, row, LT_PAUSE_RESUMING_FOR_GOOD, "its_user");
}
