/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POST /v1/now/JOB: starts a job, or one task of an array, that lowtide delayed, or ends its pause.
 * The hold grows to the price of now first; then the batch system is asked. A start that the user
 * set by hand is not changed. A job that can't start, or whose budget has too little left, is
 * refused with 409.
 */
#include <stdio.h>
#include <string.h>

#include "api_job.h"
#include "compile_budget.h"
#include "daemon.h"
#include "fits.h"
#include "ingest.h"
#include "job_quote.h"
#include "jobs.h"
#include "log.h"
#include "ledger_jobs.h"
#include "pause_jobs.h"
#include "standing.h"

struct starting {
	const struct lt_job_named *asked;
	const struct lt_batch_jobs *records; /* all that the id has */
	const struct lt_batch_job *job;	     /* the first that starts */
	/* "23_1": one of those that wait by this record, and no other. */
	const char *task;
	struct lt_ledger_hold hold;
};

/* A start now may be dearer than the planned one, and in a period where nothing is held for it: all
 * of it must fit from now on. LT_EDENIED: the budget does not allow it; the hold is as it was, as
 * after any failure. */
static int
hold_from_now(struct lt_daemon *d, struct starting *s, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_books books = lt_daemon_books(d);
	const struct lt_batch_job *const job = s->job;
	struct lt_ledger_hold *const hold = &s->hold;
	struct lt_batch_job early = *job;
	struct lt_quote fresh;
	struct lt_ledger_hold moved = *hold;
	struct lt_amount *const held = &moved.quote.hold_per_task;

	early.eligible_utc_s = now_utc_s;
	if (!lt_quote_of_job(&fresh, &early, &d->site, d->ledger, now_utc_s))
		return LT_OK; /* not priced: nothing is limited by it */
	const struct lt_amount *const want = &fresh.hold_per_task;
	if (want->money_micros > held->money_micros)
		held->money_micros = want->money_micros;
	if (want->carbon_mg > held->carbon_mg)
		held->carbon_mg = want->carbon_mg;
	moved.quote.start_utc_s = now_utc_s;
	/* The other tasks of the array wait on. */
	if (s->task == NULL || fresh.end_utc_s > moved.quote.end_utc_s)
		moved.quote.end_utc_s = fresh.end_utc_s;
	if (lt_site_may(&d->site, LT_MAY_REFUSE) &&
	    lt_sheet_budgeted(
		&d->budget.snapshot, lt_sheet_account(&d->budget.snapshot, hold->quote.account))) {
		int code = lt_ingest(&books, now_utc_s, err);

		if (code == LT_OK)
			code = lt_compile_budget(&books, now_utc_s, err);
		if (code == LT_OK && !lt_fits_instead(&d->budget, hold, &moved, now_utc_s))
			code = lt_fail(err, LT_EDENIED,
			    "job %s: a start now may cost more than %s has left", s->asked->text,
			    hold->quote.account);
		if (code != LT_OK)
			return code;
	}
	*hold = moved;
	return LT_OK;
}

/* Gives the job its new start; all records that wait, for an array. */
static int
set_start(const struct starting *s, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_quote *const quote = &s->hold.quote;
	struct lt_quote of_task = *quote;
	int code = LT_OK;

	if (s->task != NULL) {
		of_task.plan_start_utc_s = now_utc_s;
		return lt_quote_publish_task(s->job, s->task, &of_task, now_utc_s, err);
	}
	for (uint32_t i = 0; code == LT_OK && i < s->records->count; i++) {
		const struct lt_batch_job *const job = &s->records->jobs[i];

		if (lt_job_is(s->asked, job) && job->state == LT_JOB_PENDING)
			code = lt_quote_publish(job, quote, LT_LEAVE, now_utc_s, err);
	}
	return code;
}

/* Holds the money first and asks Slurm then: if lowtided is killed between the two, too much is
 * held, never too little. */
static int
start_now(struct lt_daemon *d, struct starting *s, int64_t now_utc_s, json_t **reply)
{
	struct lt_error err = {0};
	const int code = hold_from_now(d, s, now_utc_s, &err);

	if (code != LT_OK)
		return lt_api_error(reply, code == LT_EDENIED ? 409 : 503, "%s", err.text);
	s->hold.quote.rev++;
	if (s->task == NULL)
		lt_standing_starts_now(&d->site.market, d->ledger, s->job, &s->hold, now_utc_s);
	d->budget.dirty = true;
	if (lt_ledger_put_hold(d->ledger, &s->hold, &err) != LT_OK ||
	    set_start(s, now_utc_s, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	return 200;
}

/* True if the start is the user's own --begin, or was set by scontrol since. A system in which only
 * lowtide delays jobs has none. */
static bool
is_own_begin(const struct lt_batch_job *job, int64_t now_utc_s)
{
	struct lt_quote quote;

	if (lt_batch_words.name != NULL || job->eligible_utc_s <= now_utc_s ||
	    job->admin_comment == NULL ||
	    lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK)
		return false;
	return (quote.wish.pins & LT_PIN_BEGIN) || quote.objective == LT_OBJECTIVE_OFF ||
	       quote.plan_start_utc_s != job->eligible_utc_s;
}

/* A pending record of what was asked for, else any. */
static void
find_record(struct starting *s)
{
	s->job = NULL;
	for (uint32_t i = 0; i < s->records->count; i++) {
		const struct lt_batch_job *const job = &s->records->jobs[i];

		if (lt_job_is(s->asked, job) &&
		    (s->job == NULL ||
			(job->state == LT_JOB_PENDING && s->job->state != LT_JOB_PENDING)))
			s->job = job;
	}
	if (s->job != NULL && s->asked->task != UINT32_MAX)
		s->task = s->asked->text;
}

/* 200, or why it can't start now. */
static int
check_startable(
    struct lt_daemon *d, struct starting *s, const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const struct lt_batch_job *const job = s->job;
	const char *const text = s->asked->text;
	const int64_t now_utc_s = request->now_utc_s;
	char begin[64];

	if (!request->is_admin && job->uid != request->uid)
		return lt_job_refuse(&access, s->asked, reply);
	if (job->state != LT_JOB_PENDING)
		return lt_api_error(reply, 409, "job %s is %s: only a pending job can start now",
		    text, job->state_text);
	if (is_own_begin(job, now_utc_s))
		return lt_api_error(reply, 409,
		    "job %s: %s is its user's own begin time, which lowtide does not change; scontrol update JobId=%s StartTime=now does",
		    text,
		    lt_zone_text(
			begin, sizeof(begin), &d->site.market.zone, job->eligible_utc_s, now_utc_s),
		    text);
	/* Not that of the id's former job. */
	const bool has_hold = lt_hold_of_job(d->ledger, job, &s->hold) && s->hold.uid == job->uid;
	if (!has_hold || s->hold.quote.plan_start_utc_s <= now_utc_s ||
	    (s->task != NULL && job->eligible_utc_s <= now_utc_s))
		return lt_api_error(reply, 409,
		    "job %s: lowtide does not delay it%s; lowtide explain %s says more", text,
		    has_hold && s->hold.quote.flags & LT_QUOTE_BUDGET_HOLD
			? ", its team's budget holds it"
			: "",
		    text);
	return 200;
}

/* True if lowtide paused the job, and the user may end the pause. */
static bool
is_paused(struct lt_daemon *d, const struct starting *s, const struct lt_api_request *request)
{
	const struct lt_paused *const paused =
	    s->job != NULL ? lt_jobs_paused(&d->jobs, s->job) : NULL;

	return paused != NULL && paused->step != LT_PAUSE_LEFT &&
	       (request->is_admin || s->job->uid == request->uid);
}

static int
go_on(struct lt_daemon *d, const struct starting *s, const struct lt_api_request *request,
    json_t **reply)
{
	struct lt_error err = {0};
	char text[256];

	if (lt_pausing_end(d->ledger, &d->jobs, &d->pass, s->job, request->now_utc_s, &err) !=
	    LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	snprintf(text, sizeof(text), "job %s goes on, and is not paused again in this run",
	    s->asked->text);
	lt_log("now", "job=%s uid=%u", s->asked->text, request->uid);
	*reply = json_pack(
	    "{s:I,s:n,s:s}", "job_id", (json_int_t)s->asked->job_id, "array_task", "text", text);
	return 200;
}

int
lt_api_now(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_job_named asked;
	struct lt_batch_jobs jobs = {0};
	struct starting s = {.asked = &asked, .records = &jobs};
	struct lt_error err = {0};
	char text[256];
	int status = lt_job_named(&asked, request, reply);

	if (status != 200)
		return status;
	lt_job_catch_up(d, asked.job_id, request->now_utc_s);
	if (lt_batch_jobs(&jobs, asked.job_id, &err) == LT_OK)
		find_record(&s);
	if (is_paused(d, &s, request)) {
		status = go_on(d, &s, request, reply);
		lt_batch_jobs_free(&jobs);
		return status;
	}
	status =
	    s.job != NULL ? check_startable(d, &s, request, reply) : lt_job_unknown(&asked, reply);
	if (status == 200)
		status = start_now(d, &s, request->now_utc_s, reply);
	lt_batch_jobs_free(&jobs);
	if (status != 200)
		return status;
	snprintf(text, sizeof(text), "job %s starts as soon as its partition %s has room",
	    asked.text, s.hold.quote.partition);
	lt_log("now", "job=%s uid=%u", asked.text, request->uid);
	*reply = json_pack("{s:I,s:o,s:s}", "job_id", (json_int_t)asked.job_id, "array_task",
	    lt_api_optional(asked.task != UINT32_MAX, asked.task), "text", text);
	return 200;
}
