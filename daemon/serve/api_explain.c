/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/explain/JOB, POST /v1/now/JOB: one job's story, and its start at
 * once. A job is its number, or the name that its system has for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "ingest.h"
#include "compile_budget.h"
#include "reconcile.h"
#include "daemon.h"
#include "explain.h"
#include "run_json.h"
#include "fits.h"
#include "job_quote.h"
#include "jobs.h"
#include "levers.h"
#include "log.h"
#include "pace.h"
#include "standing.h"
#include "units.h"

/* How long it was expected to run; null: nothing was known. */
static json_t *
expected_json(const struct lt_quote *q)
{
	struct lt_quote_run run;
	const struct lt_expected *const e = &run.expected;
	char text[160];

	if (lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK ||
	    e->expected_s == 0)
		return json_null();
	return json_pack("{s:I,s:o,s:s,s:I,s:o,s:s}", "expected_s",
	    (json_int_t)e->expected_s, "upper_s",
	    lt_api_optional(e->upper_s > 0, e->upper_s), "from",
	    lt_history_word(e->from), "runs", (json_int_t)e->runs, "limit_s",
	    lt_api_optional(run.limit_s > 0, run.limit_s), "text",
	    lt_expected_text(text, sizeof(text), e, run.limit_s));
}

/* Of the plan, all tasks; null: none. */
static json_t *
interruptions_json(const struct lt_quote *q)
{
	struct lt_quote_run run;

	if (lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK ||
	    run.interruptions_ppm == 0)
		return json_null();
	return json_pack("{s:f,s:I}", "expected",
	    (double)run.interruptions_ppm / LT_MICROS, "lost_s",
	    (json_int_t)run.lost_s);
}

static json_t *
quote_json(const struct lt_quote *q)
{
	char id[24];

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)q->id);
	return json_pack("{s:s,s:I,s:s,s:I,s:s,s:o,s:s,s:o,s:s,s:s,s:o,s:o,"
			 "s:o,s:o,s:o,s:o,s:o,s:o}",
	    "id", id, "rev", (json_int_t)q->rev, "account", q->account, "tasks",
	    (json_int_t)q->tasks, "partition", q->partition, "plan_start",
	    lt_api_time(q->plan_start_utc_s), "home", q->home, "home_start",
	    lt_api_time(q->home_start_utc_s), "objective",
	    lt_objective_name(q->objective), "mode", lt_mode_name(q->mode),
	    "hold_per_task", lt_api_amount(&q->hold_per_task), "plan_expected",
	    lt_api_amount(&q->plan_expected), "home_expected",
	    lt_api_amount(&q->home_expected), "window_start",
	    lt_api_time(q->start_utc_s), "window_end",
	    lt_api_time(q->end_utc_s), "run_time", expected_json(q),
	    "interruptions", interruptions_json(q), "saves_by",
	    lt_levers_json(q));
}

/* Empty: it asked for nothing, or what it carried was damaged. */
static json_t *
candidates_json(const struct lt_quote *q)
{
	struct lt_whys whys;
	json_t *const list = json_array();

	if (lt_why_unpack(&whys, q->why, strlen(q->why), NULL) != LT_OK)
		return list;
	for (uint32_t i = 0; i < whys.count; i++) {
		const struct lt_why *const why = &whys.entries[i];
		const bool says = why->wanted != 0 || why->found != 0;

		json_array_append_new(
		    list, json_pack("{s:s,s:s,s:o,s:o,s:o,"
				    "s:o}",
			      "partition", why->partition, "reject",
			      lt_reject_word(why->reject), "cost_micros",
			      lt_api_optional(
				  why->best.has_money, why->best.money_micros),
			      "carbon_mg",
			      lt_api_optional(
				  why->best.has_carbon, why->best.carbon_mg),
			      "wanted", lt_api_optional(says, why->wanted),
			      "found", lt_api_optional(says, why->found)));
	}
	return list;
}

static json_t *
hold_json(const struct lt_ledger_hold *h)
{
	static const char *const states[] = {[LT_HOLD_OPEN] = "open",
	    [LT_HOLD_SETTLED] = "settled",
	    [LT_HOLD_VOID] = "void"};

	return json_pack("{s:s,s:I,s:o,s:o,s:o,s:s}", "state", states[h->state],
	    "live_tasks", (json_int_t)h->live_tasks, "made",
	    lt_api_time(h->made_utc_s), "running_since",
	    lt_api_time(h->start_utc_s), "counts",
	    json_boolean(
		!(h->quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN))),
	    "why", h->why);
}

static json_t *
runs_json(const struct lt_run *runs, uint32_t count)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, lt_run_json(&runs[i]));
	return list;
}

static json_t *
plans_json(const struct lt_story *s)
{
	json_t *const list = json_array();

	for (uint32_t i = 0; i < s->plan_count; i++) {
		const struct lt_plan_made *const plan = &s->plans[i];

		json_array_append_new(
		    list, json_pack("{s:o,s:s,s:o,s:o,s:s}", "made",
			      lt_api_time(plan->made_utc_s), "partition",
			      plan->partition, "start",
			      lt_api_time(plan->start_utc_s), "expected",
			      lt_api_amount(&plan->expected), "why",
			      plan->why[0] ? plan->why : "submitted"));
	}
	return list;
}

static void
free_story(struct lt_story *s)
{
	free(s->runs);
	free(s->plans);
}

static bool
is_name(const char *job)
{
	return strchr(job, '/') != NULL;
}

/* Status 200, or the error in *reply. */
static int
parse_job(
    const struct lt_api_request *request, uint32_t *job_id, json_t **reply)
{
	const char *const job = request->rest;
	struct lt_error err = {0};
	int64_t value;

	if (is_name(job)) {
		const int code = lt_batch_find(job, job_id, &err);

		return code == LT_OK
			   ? 200
			   : lt_api_error(reply, code == LT_ENOENT ? 404 : 503,
				 "job: %s", err.text);
	}
	if (lt_int64_parse(job, 1, UINT32_MAX - 16, &value, NULL) != LT_OK)
		return lt_api_error(reply, 400,
		    "job: got \"%.40s\", want a number%s%s", job,
		    lt_batch_words.name != NULL ? " or " : "",
		    lt_batch_words.name != NULL ? lt_batch_words.name : "");
	*job_id = (uint32_t)value;
	return 200;
}

/* A job just submitted is not in our list yet, or it is not as it was: if
 * slurmctld has it, look again. */
static void
catch_up(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s)
{
	struct lt_batch_jobs one = {0};

	if (lt_jobs_find(&d->jobs.list, job_id) != NULL &&
	    !lt_look_singly(&d->jobs))
		return;
	if (lt_batch_jobs(&one, job_id, NULL) == LT_OK && one.count > 0) {
		lt_look_at(d, job_id);
		d->cycle(d, now_utc_s);
	}
	lt_batch_jobs_free(&one);
}

/* Another's. Where Slurm hides jobs, it is none that there is. */
static int
refuse_job(const struct lt_access *access, uint32_t job_id, json_t **reply)
{
	return lt_access_knows_jobs(access)
		   ? lt_api_error(reply, 403, "job %u is not yours", job_id)
		   : lt_api_error(reply, 404, "job %u: not known here", job_id);
}

/* Another's job, hold and runs of the same id are not this user's story. */
static void
keep_own(struct lt_story *s, const struct lt_access *access)
{
	uint32_t kept = 0;

	if (s->job != NULL &&
	    !lt_access_job(access, s->job->uid, s->job->account))
		s->job = NULL;
	if (s->has_hold &&
	    !lt_access_job(access, s->hold.uid, s->hold.quote.account))
		s->has_hold = false;
	for (uint32_t i = 0; i < s->count; i++)
		if (lt_access_job(access, s->runs[i].uid, s->runs[i].account))
			s->runs[kept++] = s->runs[i];
	s->count = kept;
}

static bool
is_empty(const struct lt_story *s)
{
	return s->job == NULL && !s->has_hold && s->count == 0;
}

/* Of whom may ask; status 200, or the error in *reply. */
static int
find_story(struct lt_story *s, struct lt_daemon *d,
    const struct lt_api_request *request, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const uint32_t job_id = s->job_id;
	struct lt_error err = {0};

	s->job = lt_jobs_find(&d->jobs.list, job_id);
	s->has_hold =
	    s->job != NULL && lt_hold_of_job(d->ledger, s->job, &s->hold);
	if (!s->has_hold)
		s->has_hold = lt_ledger_hold_of_job(
				  d->ledger, job_id, &s->hold, NULL) == LT_OK;
	if (lt_ledger_runs_of_job(
		d->ledger, job_id, &s->runs, &s->count, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	if (is_empty(s))
		return lt_api_error(
		    reply, 404, "job %u: not known here", job_id);
	keep_own(s, &access);
	if (is_empty(s))
		return refuse_job(&access, job_id, reply);
	if (!s->has_hold && s->count > 0 && s->runs[0].quote_id)
		s->has_hold = lt_ledger_hold(d->ledger, s->runs[0].quote_id,
				  &s->hold, NULL) == LT_OK;
	return 200;
}

int
lt_api_explain(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_story s = {
	    .name = is_name(request->rest) ? request->rest : ""};
	int status = parse_job(request, &s.job_id, reply);

	if (status != 200)
		return status;
	catch_up(d, s.job_id, request->now_utc_s);
	status = find_story(&s, d, request, reply);
	if (status != 200) {
		free_story(&s);
		return status;
	}
	if (s.has_hold)
		(void)lt_ledger_plans(
		    d->ledger, s.hold.quote.id, &s.plans, &s.plan_count, NULL);
	char *const text = malloc(LT_MESSAGE_SIZE);
	if (text != NULL)
		lt_explain_text(
		    text, LT_MESSAGE_SIZE, d, &s, request->now_utc_s);
	*reply = json_pack("{s:I,s:s,s:o,s:o,s:o,s:o,s:o}", "job_id",
	    (json_int_t)s.job_id, "text", text != NULL ? text : "", "quote",
	    s.has_hold ? quote_json(&s.hold.quote) : json_null(), "candidates",
	    s.has_hold ? candidates_json(&s.hold.quote) : json_array(), "hold",
	    s.has_hold ? hold_json(&s.hold) : json_null(), "plans",
	    plans_json(&s), "runs", runs_json(s.runs, s.count));
	free(text);
	free_story(&s);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}

/* A start now may be dearer than the planned one, and in a period where nothing
 * is held for it: all of it must fit from now on. LT_EDENIED: the budget does
 * not allow it; the hold is as it was, as after any failure. */
static int
hold_from_now(struct lt_daemon *d, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_batch_job early = *job;
	struct lt_quote fresh;
	struct lt_ledger_hold moved = *hold;
	struct lt_amount *const held = &moved.quote.hold_per_task;

	early.eligible_utc_s = now_utc_s;
	if (!lt_quote_of_job(&fresh, &early, d, now_utc_s))
		return LT_OK; /* not priced: nothing is limited by it */
	const struct lt_amount *const want = &fresh.hold_per_task;
	if (want->money_micros > held->money_micros)
		held->money_micros = want->money_micros;
	if (want->carbon_mg > held->carbon_mg)
		held->carbon_mg = want->carbon_mg;
	moved.quote.start_utc_s = now_utc_s;
	moved.quote.end_utc_s = fresh.end_utc_s;
	if (lt_mode_may(d->policy->mode, LT_MAY_REFUSE) &&
	    lt_sheet_budgeted(&d->budget.snapshot,
		lt_sheet_account(&d->budget.snapshot, hold->quote.account))) {
		int code = lt_ingest(d, now_utc_s, err);

		if (code == LT_OK)
			code = lt_compile_budget(d, now_utc_s, err);
		if (code == LT_OK &&
		    !lt_fits_instead(&d->budget, hold, &moved, now_utc_s))
			code = lt_fail(err, LT_EDENIED,
			    "job %u: a start now may cost more than %s has left",
			    job->job_id, hold->quote.account);
		if (code != LT_OK)
			return code;
	}
	*hold = moved;
	return LT_OK;
}

/* Held for first, then told to Slurm: killed between the two, too much is
 * held, never too little. */
static int
start_now(struct lt_daemon *d, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, json_t **reply)
{
	struct lt_error err = {0};
	const int code = hold_from_now(d, job, hold, now_utc_s, &err);

	if (code != LT_OK)
		return lt_api_error(
		    reply, code == LT_EDENIED ? 409 : 503, "%s", err.text);
	hold->quote.rev++;
	lt_standing_starts_now(d, job, hold, now_utc_s);
	d->budget.dirty = true;
	if (lt_ledger_put_hold(d->ledger, hold, &err) != LT_OK ||
	    lt_quote_publish(job, &hold->quote, LT_LEAVE, now_utc_s, &err) !=
		LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	return 200;
}

int
lt_api_now(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	uint32_t job_id;
	struct lt_batch_jobs jobs = {0};
	struct lt_ledger_hold hold;
	struct lt_error err = {0};
	char text[256];
	int status = parse_job(request, &job_id, reply);

	if (status != 200)
		return status;
	catch_up(d, job_id, request->now_utc_s);
	if (lt_batch_jobs(&jobs, job_id, &err) != LT_OK || jobs.count == 0) {
		lt_batch_jobs_free(&jobs);
		return lt_api_error(
		    reply, 404, "job %u: not known here", job_id);
	}
	const struct lt_batch_job *const job = &jobs.jobs[0];
	const struct lt_access access = lt_access_of(d, request);
	if (!request->is_admin && job->uid != request->uid)
		status = refuse_job(&access, job_id, reply);
	else if (job->state != LT_JOB_PENDING)
		status = lt_api_error(reply, 409,
		    "job %u is %s: only a pending job can start now", job_id,
		    job->state_text);
	else if (!lt_hold_of_job(d->ledger, job, &hold) ||
		 hold.uid != job->uid /* of the id's former job */ ||
		 hold.quote.plan_start_utc_s <= request->now_utc_s)
		status = lt_api_error(
		    reply, 409, "job %u: lowtide does not delay it", job_id);
	if (status == 200)
		status = start_now(d, job, &hold, request->now_utc_s, reply);
	lt_batch_jobs_free(&jobs);
	if (status != 200)
		return status;
	snprintf(text, sizeof(text),
	    "job %u starts as soon as its partition %s has room", job_id,
	    hold.quote.partition);
	lt_log("now", "job=%u uid=%u", job_id, request->uid);
	*reply =
	    json_pack("{s:I,s:s}", "job_id", (json_int_t)job_id, "text", text);
	return 200;
}
