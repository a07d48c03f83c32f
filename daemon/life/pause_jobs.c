/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at the running jobs that may be paused, and at the paused ones that are due: which is
 * suspended, moved, resumed, or sent back to the queue.
 *
 * Reads the job list, the market and the ledger's rows of pauses; acts by
 * pause_move.c and pause_requeue.c, which write each step into the ledger
 * first. A failure is logged, and the job is looked at again.
 */
#include <stdlib.h>

#include "batch.h"
#include "books.h"
#include "breath.h"
#include "budget_state.h"
#include "jobs.h"
#include "log.h"
#include "notice.h"
#include "pass_time.h"
#include "pause_jobs.h"
#include "pause_move.h"
#include "pause_requeue.h"
#include "pause_plan.h"
#include "poll_schedule.h"
#include "proof.h"
#include "site.h"
#include "suspension.h"

enum {
	EARLY_S = 5,	    /* before what is held for is used up */
	LOOKS_A_PASS = 500, /* some 50 ms */
	ASKED_A_PASS = 20,  /* each may compile the budgets */
};

int
lt_pausing_read(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_pausing_state *still, int64_t now_utc_s, struct lt_error *err)
{

	(void)now_utc_s;
	free(jobs->paused);
	jobs->paused = NULL;
	const int code = lt_ledger_paused(ledger, &jobs->paused, &jobs->paused_count, err);
	jobs->paused_capacity = jobs->paused_count;
	still->is_read = code == LT_OK;
	return code;
}

/* ---- each job that stands still ---- */

/* Returns why it resumes; NULL: it stands still. */
static const char *
reason(const struct lt_site *site, const struct lt_batch_job *job, const struct lt_paused *row,
    int64_t now_utc_s)
{
	const int64_t still_s =
	    now_utc_s - job->start_utc_s - lt_suspension_worked_s(job, now_utc_s);

	if (now_utc_s >= row->until_utc_s)
		return "due";
	if (still_s + EARLY_S >= row->held_s)
		return "held";
	if (!lt_site_may(site, LT_MAY_EDIT))
		return "mode";
	return lt_pausing_any_class(&site->market) ? NULL : "conditions";
}

/* False: its row is done with. */
static bool
follow_row(
    const struct lt_pauser *by, struct lt_paused *row, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_batch_job *const job = lt_jobs_find(&by->books->jobs->list, row->job_id);

	if (row->step >= LT_PAUSE_ASKED)
		return lt_pausing_follow_requeue(by, job, row, now_utc_s, err);
	if (job == NULL || job->start_utc_s != row->start_utc_s ||
	    (job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED))
		return false;
	const enum lt_pause_step seen = lt_pausing_seen(job, row);
	if (seen != row->step) {
		if (seen == LT_PAUSE_PAUSED)
			row->changed_utc_s = job->changed_utc_s;
		if (seen == LT_PAUSE_LEFT)
			row->held_s = 0;
		if (lt_pausing_put(by->books->ledger, row, seen, now_utc_s, err) != LT_OK)
			return true;
	}
	if (row->step == LT_PAUSE_LEFT)
		return true;
	if (lt_pausing_is_over(job, row))
		return false;
	lt_poll_at(by->books->jobs, row->job_id);
	const char *const why = reason(by->books->site, job, row, now_utc_s);
	if (row->step == LT_PAUSE_PAUSED && why != NULL)
		(void)lt_pausing_go_on(
		    by->books->ledger, by->books->jobs, by->pass, job, row, LT_PAUSE_RESUMING, why);
	else if ((row->step == LT_PAUSE_RESUMING || row->step == LT_PAUSE_RESUMING_FOR_GOOD) &&
		 job->state == LT_JOB_SUSPENDED && lt_pausing_is_newer(job, row))
		(void)lt_pausing_go_on(
		    by->books->ledger, by->books->jobs, by->pass, job, row, row->step, "again");
	return true;
}

static void
follow_all(const struct lt_pauser *by, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_jobs_state *const jobs = by->books->jobs;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < jobs->paused_count; i++) {
		struct lt_paused row = jobs->paused[i];

		if (follow_row(by, &row, now_utc_s, err) ||
		    lt_ledger_drop_paused(by->books->ledger, row.job_id, err) != LT_OK)
			jobs->paused[kept++] = row; /* or tried again */
		else
			by->still->next_utc_s = now_utc_s; /* when it is next */
	}
	jobs->paused_count = kept;
}

/* ---- who should ---- */

/* Plans its pause again by today's figures: to end sooner, later, or at once. */
static void
again(const struct lt_books *books, const struct lt_pass_time *pass, struct lt_pausing *s,
    struct lt_paused *row, bool is_planned)
{
	struct lt_error err = {0};

	if (row->step != LT_PAUSE_PAUSED)
		return;
	if (!is_planned || s->course.until_utc_s == 0)
		(void)lt_pausing_go_on(books->ledger, books->jobs, pass, s->standing.job, row,
		    LT_PAUSE_RESUMING, is_planned ? "better" : "conditions");
	else if (s->course.until_utc_s != row->until_utc_s)
		(void)lt_pausing_move(books, s, row, &err);
}

static void
look_at_job(const struct lt_pauser *by, struct lt_pausing *s, const struct lt_batch_job *job,
    const struct lt_pausing_lines *lines, int64_t now_utc_s)
{
	struct lt_paused *const row = lt_jobs_paused(by->books->jobs, job);
	struct lt_error err = {0};

	if ((row == NULL && job->state != LT_JOB_RUNNING) ||
	    (row != NULL && row->step != LT_PAUSE_PAUSED))
		return;
	const bool is_planned =
	    lt_pausing_plan(s, by->books, by->replan, by->notices, job, lines, now_utc_s);
	s->standing.job = job;
	if (is_planned && s->course.again_utc_s < by->still->next_utc_s)
		by->still->next_utc_s = s->course.again_utc_s;
	if (row != NULL) {
		again(by->books, by->pass, s, row, is_planned);
	} else if (is_planned && s->course.until_utc_s > now_utc_s) {
		by->still->asked++;
		const int code = s->requeues ? lt_pausing_ask(by->books, by->proof, s, &err)
					     : lt_pausing_suspend(by->books, s, &err);

		if (code == LT_EDENIED && by->still->refused++ == 0 && by->still->were_refused == 0)
			lt_log("pause_unaffordable", "error=\"%s\"", err.text);
		else if (code != LT_OK && code != LT_EDENIED)
			lt_log("pause_failed", "job=%u error=\"%s\"", job->job_id, err.text);
	}
}

/* Looks at up to so many, from the place where the last pass ended. */
static void
look_at_all(const struct lt_pauser *by, struct lt_pausing *s, const struct lt_pausing_lines *lines,
    int64_t now_utc_s)
{
	struct lt_pausing_state *const state = by->still;
	const struct lt_batch_jobs *const list = &by->books->jobs->list;
	uint32_t i = lt_jobs_after(list, state->after);

	if (state->after == 0) {
		state->next_utc_s = INT64_MAX;
		state->were_refused = state->refused;
		state->refused = 0;
	}
	for (uint32_t looks = 0;
	     i < list->count && looks < LOOKS_A_PASS && state->asked < ASKED_A_PASS; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		lt_breath(LT_TURN_READ);
		if (job->state != LT_JOB_RUNNING && job->state != LT_JOB_SUSPENDED)
			continue;
		looks++;
		look_at_job(by, s, job, lines, now_utc_s);
		state->after = job->job_id;
	}
	if (i >= list->count) {
		state->after = 0;
		state->looked_generation = by->books->site->market.generation;
	}
}

/* Looks at the new ones; more than so many wait for the next market. */
static void
look_at_new(const struct lt_pauser *by, struct lt_pausing *s, const struct lt_pausing_lines *lines,
    int64_t now_utc_s)
{
	const struct lt_batch_jobs *const list = &by->books->jobs->list;
	uint32_t looks = 0;

	for (uint32_t i = 0;
	     i < list->count && looks < LOOKS_A_PASS && by->still->asked < ASKED_A_PASS; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];

		if (job->state != LT_JOB_RUNNING ||
		    job->start_utc_s < by->still->started_from_utc_s)
			continue;
		looks++;
		look_at_job(by, s, job, lines, now_utc_s);
	}
}

/* Resumes some that stand still for jobs that came since and want their nodes. */
static void
make_way(const struct lt_tables *tables, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_pausing_lines *lines)
{

	for (uint32_t i = 0; i < jobs->paused_count; i++) {
		struct lt_paused *const row = &jobs->paused[i];
		const struct lt_batch_job *const job = lt_jobs_find(&jobs->list, row->job_id);

		if (row->step == LT_PAUSE_PAUSED && job != NULL &&
		    lt_pausing_is_waited_for(lines, tables, job))
			(void)lt_pausing_go_on(
			    ledger, jobs, pass, job, row, LT_PAUSE_RESUMING, "waited_for");
	}
}

static bool
is_due(const struct lt_market *market, const struct lt_pausing_state *still, int64_t now_utc_s)
{
	return still->after != 0 || still->looked_generation != market->generation ||
	       now_utc_s >= still->next_utc_s;
}

static bool
is_new(const struct lt_batch_jobs *list, const struct lt_pausing_state *still)
{
	return list->begun_utc_s > still->started_from_utc_s;
}

static bool
is_to_look(const struct lt_site *site, const struct lt_batch_jobs *list,
    const struct lt_pausing_state *still, int64_t now_utc_s)
{
	return site->has_market && lt_site_may(site, LT_MAY_EDIT) &&
	       lt_pausing_any_class(&site->market) &&
	       (is_due(&site->market, still, now_utc_s) || is_new(list, still));
}

static int
look_at_jobs(const struct lt_pauser *by, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_pausing *const s = malloc(sizeof(*s));
	struct lt_pausing_lines lines;

	if (s == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	by->still->asked = 0;
	lt_pausing_lines(&lines, &by->books->site->tables, &by->books->jobs->list, now_utc_s);
	if (is_due(&by->books->site->market, by->still, now_utc_s))
		look_at_all(by, s, &lines, now_utc_s);
	if (is_new(&by->books->jobs->list, by->still)) {
		make_way(
		    &by->books->site->tables, by->books->ledger, by->books->jobs, by->pass, &lines);
		look_at_new(by, s, &lines, now_utc_s);
		by->still->started_from_utc_s = by->books->jobs->list.begun_utc_s;
	}
	free(s);
	return LT_OK;
}

bool
lt_pausing_is_due(const struct lt_site *site, const struct lt_jobs_state *jobs,
    const struct lt_pausing_state *still, int64_t now_utc_s)
{
	return jobs->paused_count > 0 || is_to_look(site, &jobs->list, still, now_utc_s);
}

int
lt_pausing_run(const struct lt_pauser *by, int64_t now_utc_s, struct lt_error *err)
{
	follow_all(by, now_utc_s, err);
	if (err->code == LT_OK &&
	    is_to_look(by->books->site, &by->books->jobs->list, by->still, now_utc_s))
		return look_at_jobs(by, now_utc_s, err);
	return err->code;
}

int
lt_pausing_end(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_batch_job *job, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_paused *const row = lt_jobs_paused(jobs, job);

	if (row != NULL && row->step >= LT_PAUSE_ASKED)
		return lt_pausing_put(ledger, row, LT_PAUSE_LEFT, now_utc_s, err);
	if (row == NULL || row->step == LT_PAUSE_LEFT)
		return lt_fail(
		    err, LT_ENOENT, "job %u: lowtide does not let it stand still", job->job_id);
	return lt_pausing_go_on(
	    ledger, jobs, pass, job, row, LT_PAUSE_RESUMING_FOR_GOOD, "its_user");
}
