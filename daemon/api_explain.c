/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/explain/JOBID, POST /v1/now/JOBID: one job's story, and its start
 * at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "confirm.h"
#include "explain.h"

static const struct lt_slurm_job *
job_of(const struct lt_daemon *d, uint32_t job_id)
{
	for (uint32_t i = 0; i < d->jobs.count; i++)
		if (d->jobs.jobs[i].job_id == job_id)
			return &d->jobs.jobs[i];
	return NULL;
}

static json_t *
amount_json(const struct lt_amount *amount)
{
	return json_pack("{s:o,s:o}", "money_micros",
	    lt_api_optional(amount->has_money, amount->money_micros),
	    "carbon_mg",
	    lt_api_optional(amount->has_carbon, amount->carbon_mg));
}

static json_t *
quote_json(const struct lt_quote *q)
{
	char id[24];
	snprintf(id, sizeof(id), "%016llx", (unsigned long long)q->id);
	return json_pack("{s:s,s:I,s:s,s:I,s:s,s:o,s:s,s:o,s:s,s:s,s:o,s:o,"
			 "s:o,s:o,s:o}",
	    "id", id, "rev", (json_int_t)q->rev, "account", q->account, "tasks",
	    (json_int_t)q->tasks, "partition", q->partition, "plan_start",
	    lt_api_time(q->plan_start_utc_s), "home", q->home, "home_start",
	    lt_api_time(q->home_start_utc_s), "objective",
	    lt_objective_name(q->objective), "mode", lt_mode_name(q->mode),
	    "hold_per_task", amount_json(&q->hold_per_task), "plan_expected",
	    amount_json(&q->plan_expected), "home_expected",
	    amount_json(&q->home_expected), "window_start",
	    lt_api_time(q->start_utc_s), "window_end",
	    lt_api_time(q->end_utc_s));
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

static bool
parse_job(const struct lt_api_request *request, uint32_t *job_id)
{
	int64_t value;
	if (lt_int64_parse(request->rest, 1, UINT32_MAX - 16, &value, NULL) !=
	    LT_OK)
		return false;
	*job_id = (uint32_t)value;
	return true;
}

/* A job just submitted is not in our list yet: if slurmctld has it, look
 * again, unless a list takes long there. */
static void
catch_up(struct lt_daemon *d, uint32_t job_id, int64_t now_utc_s)
{
	struct lt_slurm_jobs one = {0};
	if (job_of(d, job_id) || d->next_jobs > now_utc_s + LT_JOBS_EVERY_S)
		return;
	if (lt_slurm_jobs(&one, job_id, NULL) == LT_OK && one.count > 0) {
		d->next_jobs = now_utc_s;
		lt_cycle(d, now_utc_s);
	}
	lt_slurm_jobs_free(&one);
}

int
lt_api_explain(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	uint32_t job_id, count = 0;
	struct lt_run *runs = NULL;
	struct lt_ledger_hold hold;
	struct lt_error err = {0};
	if (!parse_job(request, &job_id))
		return lt_api_error(reply, 400,
		    "job: got \"%.40s\", want a "
		    "number",
		    request->rest);
	catch_up(d, job_id, request->now_utc_s);
	const struct lt_slurm_job *const job = job_of(d, job_id);
	bool has_hold = job && lt_terms_hold_of(d, job, &hold);
	if (!has_hold)
		has_hold = lt_ledger_hold_of_job(
			       d->ledger, job_id, &hold, NULL) == LT_OK;
	if (lt_ledger_runs_of_job(d->ledger, job_id, &runs, &count, &err) !=
	    LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	if (count > 0 && !has_hold && runs[0].quote_id)
		has_hold = lt_ledger_hold(d->ledger, runs[0].quote_id, &hold,
			       NULL) == LT_OK;
	if (!job && !has_hold && count == 0) {
		free(runs);
		return lt_api_error(
		    reply, 404, "job %u: not known here", job_id);
	}
	const uint32_t owner = job	  ? job->uid
			       : has_hold ? hold.uid
					  : runs[0].uid;
	if (!request->is_admin && owner != request->uid) {
		free(runs);
		return lt_api_error(reply, 403, "job %u is not yours", job_id);
	}
	char *const text = malloc(LT_MESSAGE_SIZE);
	if (text)
		lt_explain_text(text, LT_MESSAGE_SIZE, d, job_id, job,
		    has_hold ? &hold : NULL, runs, count, request->now_utc_s);
	*reply = json_pack("{s:I,s:s,s:o,s:o,s:o,s:o}", "job_id",
	    (json_int_t)job_id, "text", text ? text : "", "quote",
	    has_hold ? quote_json(&hold.quote) : json_null(), "candidates",
	    has_hold ? candidates_json(&hold.quote) : json_array(), "hold",
	    has_hold ? hold_json(&hold) : json_null(), "runs",
	    runs_json(runs, count));
	free(text);
	free(runs);
	return *reply ? 200 : lt_api_error(reply, 503, "out of memory");
}

/* A start now may be dearer than the planned one: hold what it may cost from
 * now on. False, and the hold as it was: the budget does not allow it. */
static bool
hold_from_now(struct lt_daemon *d, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_slurm_job early = *job;
	struct lt_quote fresh;
	struct lt_ledger_hold growth = *hold;
	struct lt_amount *const by = &growth.quote.hold_per_task;
	struct lt_amount *const held = &hold->quote.hold_per_task;
	early.eligible_utc_s = now_utc_s;
	if (!lt_quote_of_job(&fresh, &early, d, now_utc_s))
		return true; /* not priced: nothing is limited by it */
	const struct lt_amount *const want = &fresh.hold_per_task;
	by->money_micros = want->money_micros - held->money_micros;
	by->carbon_mg = want->carbon_mg - held->carbon_mg;
	if (by->money_micros < 0)
		by->money_micros = 0;
	if (by->carbon_mg < 0)
		by->carbon_mg = 0;
	growth.quote.start_utc_s = now_utc_s;
	growth.quote.end_utc_s = fresh.end_utc_s;
	if (d->policy->mode == LT_MODE_ENFORCE &&
	    lt_sheet_budgeted(
		&d->sheet, lt_sheet_account(&d->sheet, hold->quote.account)) &&
	    !lt_release_fits(d, &growth, now_utc_s))
		return false;
	held->money_micros += by->money_micros;
	held->carbon_mg += by->carbon_mg;
	hold->quote.start_utc_s = now_utc_s;
	return true;
}

/* Held for first, then told to Slurm: killed between the two, too much is
 * held, never too little. */
static int
start_now(struct lt_daemon *d, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, json_t **reply)
{
	char ours[LT_QUOTE_TEXT_SIZE], merged[8192];
	struct lt_slurm_update update;
	struct lt_error err = {0};
	if (!hold_from_now(d, job, hold, now_utc_s))
		return lt_api_error(reply, 409,
		    "job %u: a start now may cost "
		    "more than %s has left",
		    job->job_id, hold->quote.account);
	hold->quote.rev++;
	hold->quote.plan_start_utc_s = now_utc_s;
	d->sheet_dirty = true;
	if (lt_ledger_put_hold(d->ledger, hold, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	lt_slurm_update_init(&update, job->job_id);
	update.begin_utc_s = now_utc_s;
	if (lt_quote_pack(ours, sizeof(ours), &hold->quote) == LT_OK &&
	    lt_quote_merge(merged, sizeof(merged), job->admin_comment, ours) ==
		LT_OK)
		update.admin_comment = merged;
	if (lt_slurm_update_job(&update, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	return 200;
}

int
lt_api_now(
    struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	uint32_t job_id;
	struct lt_slurm_jobs jobs = {0};
	struct lt_ledger_hold hold;
	struct lt_error err = {0};
	char text[256];
	if (!parse_job(request, &job_id))
		return lt_api_error(reply, 400,
		    "job: got \"%.40s\", want a "
		    "number",
		    request->rest);
	catch_up(d, job_id, request->now_utc_s);
	if (lt_slurm_jobs(&jobs, job_id, &err) != LT_OK || jobs.count == 0) {
		lt_slurm_jobs_free(&jobs);
		return lt_api_error(
		    reply, 404, "job %u: not in slurmctld", job_id);
	}
	const struct lt_slurm_job *const job = &jobs.jobs[0];
	int status = 200;
	if (!request->is_admin && job->uid != request->uid)
		status =
		    lt_api_error(reply, 403, "job %u is not yours", job_id);
	else if (job->state != LT_JOB_PENDING)
		status = lt_api_error(reply, 409,
		    "job %u is %s: only a "
		    "pending job can start now",
		    job_id, job->state_text);
	else if (!lt_terms_hold_of(d, job, &hold) ||
		 hold.quote.plan_start_utc_s <= request->now_utc_s)
		status = lt_api_error(reply, 409,
		    "job %u: lowtide does not "
		    "delay it",
		    job_id);
	if (status == 200)
		status = start_now(d, job, &hold, request->now_utc_s, reply);
	lt_slurm_jobs_free(&jobs);
	if (status != 200)
		return status;
	snprintf(text, sizeof(text),
	    "job %u starts as soon as its partition "
	    "%s has room",
	    job_id, hold.quote.partition);
	lt_log("now", "job=%u uid=%u", job_id, request->uid);
	*reply =
	    json_pack("{s:I,s:s}", "job_id", (json_int_t)job_id, "text", text);
	return 200;
}
