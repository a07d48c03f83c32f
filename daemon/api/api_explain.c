/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GET /v1/explain/JOB: the story of one job, as text and as JSON, from the batch system, the ledger
 * and the market. It may make a pass first, to see a job that just came. A job that is unknown gets
 * 404, one that the user may not see 403 or 404.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_job.h"
#include "daemon.h"
#include "explain.h"
#include "explain_facts.h"
#include "jobs.h"
#include "lookup.h"
#include "run_json.h"
#include "units.h"

/* The run time that was expected; null: nothing was known. */
static json_t *
expected_json(const struct lt_quote *q)
{
	struct lt_quote_run run;
	const struct lt_expected *const e = &run.expected;
	char text[160];

	if (lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK || e->expected_s == 0)
		return json_null();
	return json_pack("{s:I,s:o,s:s,s:I,s:o,s:s}", "expected_s", (json_int_t)e->expected_s,
	    "upper_s", lt_api_optional(e->upper_s > 0, e->upper_s), "from",
	    lt_history_word(e->from), "runs", (json_int_t)e->runs, "limit_s",
	    lt_api_optional(run.limit_s > 0, run.limit_s), "text",
	    lt_expected_text(text, sizeof(text), e, run.limit_s));
}

/* Interruptions expected by the plan, of all tasks; null: no plan has any. */
static json_t *
interruptions_json(const struct lt_quote *q)
{
	struct lt_quote_run run;

	if (lt_quote_run_unpack(&run, q->run, strlen(q->run), NULL) != LT_OK ||
	    run.interruptions_ppm == 0)
		return json_null();
	return json_pack("{s:f,s:I}", "expected", (double)run.interruptions_ppm / LT_MICROS,
	    "lost_s", (json_int_t)run.lost_s);
}

static json_t *
quote_json(const struct lt_quote *q)
{
	char id[24];

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)q->id);
	return json_pack("{s:s,s:I,s:s,s:I,s:s,s:o,s:s,s:o,s:s,s:s,s:o,s:o,"
			 "s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s?}",
	    "id", id, "rev", (json_int_t)q->rev, "account", q->account, "tasks",
	    (json_int_t)q->tasks, "partition", q->partition, "plan_start",
	    lt_api_time(q->plan_start_utc_s), "home", q->home, "home_start",
	    lt_api_time(q->home_start_utc_s), "objective", lt_objective_name(q->objective), "mode",
	    lt_mode_name(q->mode), "hold_per_task", lt_api_amount(&q->hold_per_task),
	    "plan_expected", lt_api_amount(&q->plan_expected), "home_expected",
	    lt_api_amount(&q->home_expected), "window_start", lt_api_time(q->start_utc_s),
	    "window_end", lt_api_time(q->end_utc_s), "run_time", expected_json(q), "interruptions",
	    interruptions_json(q), "saves_by", lt_levers_json(q), "capped", lt_capped_json(q),
	    "compared",
	    q->flags & LT_QUOTE_HELD_OUT   ? "kept"
	    : q->flags & LT_QUOTE_COMPARED ? "moved"
					   : NULL);
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

		json_array_append_new(list,
		    json_pack("{s:s,s:s,s:o,s:o,s:o,"
			      "s:o}",
			"partition", why->partition, "reject", lt_reject_word(why->reject),
			"cost_micros", lt_api_optional(why->best.has_money, why->best.money_micros),
			"carbon_mg", lt_api_optional(why->best.has_carbon, why->best.carbon_mg),
			"wanted", lt_api_optional(says, why->wanted), "found",
			lt_api_optional(says, why->found)));
	}
	return list;
}

static json_t *
hold_json(const struct lt_ledger_hold *h)
{
	static const char *const states[LT_HOLDS] = {
	    [LT_HOLD_OPEN] = "open", [LT_HOLD_SETTLED] = "settled", [LT_HOLD_VOID] = "void"};

	return json_pack("{s:s,s:I,s:o,s:o,s:o,s:s}", "state", LT_WORD(states, h->state),
	    "live_tasks", (json_int_t)h->live_tasks, "made", lt_api_time(h->made_utc_s),
	    "running_since", lt_api_time(h->start_utc_s), "counts",
	    json_boolean(!(h->quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN))), "why",
	    h->why);
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
		    list, json_pack("{s:o,s:s,s:o,s:o,s:s}", "made", lt_api_time(plan->made_utc_s),
			      "partition", plan->partition, "start", lt_api_time(plan->start_utc_s),
			      "expected", lt_api_amount(&plan->expected), "why",
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

/* Another's job, hold and runs of the same id are not this user's story. */
static void
keep_own(struct lt_story *s, const struct lt_access *access)
{
	uint32_t kept = 0;

	if (s->job != NULL && !lt_access_job(access, s->job->uid, s->job->account))
		s->job = NULL;
	if (s->has_hold && !lt_access_job(access, s->hold.uid, s->hold.quote.account))
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

/* Finds the story if the user may see the job: status 200, or the error in
 * *reply. */
static int
find_story(struct lt_story *s, struct lt_daemon *d, const struct lt_api_request *request,
    const struct lt_job_named *named, json_t **reply)
{
	const struct lt_access access = lt_access_of(d, request);
	const uint32_t job_id = s->job_id;
	struct lt_error err = {0};

	s->job = lt_jobs_find(&d->jobs.list, job_id);
	s->has_hold = s->job != NULL && lt_hold_of_job(d->ledger, s->job, &s->hold);
	if (!s->has_hold)
		s->has_hold = lt_ledger_hold_of_job(d->ledger, job_id, &s->hold, NULL) == LT_OK;
	if (lt_ledger_runs_of_job(d->ledger, job_id, &s->runs, &s->count, &err) != LT_OK)
		return lt_api_error(reply, 503, "%s", err.text);
	if (is_empty(s))
		return lt_job_unknown(named, reply);
	keep_own(s, &access);
	if (is_empty(s))
		return lt_job_refuse(&access, named, reply);
	if (!s->has_hold && s->count > 0 && s->runs[0].quote_id)
		s->has_hold =
		    lt_ledger_hold(d->ledger, s->runs[0].quote_id, &s->hold, NULL) == LT_OK;
	return 200;
}

int
lt_api_explain(struct lt_daemon *d, const struct lt_api_request *request, json_t **reply)
{
	struct lt_job_named named;
	int status = lt_job_named(&named, request, reply);

	if (status != 200)
		return status;
	lt_job_catch_up(d, named.job_id, request->now_utc_s);
	struct lt_story s = {.name = named.name,
	    .job_id = lt_job_record(&d->jobs.list, &named),
	    .formulas = lt_api_value(request, "formulas") != NULL};
	status = find_story(&s, d, request, &named, reply);
	if (status != 200) {
		free_story(&s);
		return status;
	}
	if (s.has_hold)
		(void)lt_ledger_plans(d->ledger, s.hold.quote.id, &s.plans, &s.plan_count, NULL);
	char *const text = malloc(LT_MESSAGE_SIZE);
	if (text != NULL)
		lt_explain_text(text, LT_MESSAGE_SIZE, d, &s, request->now_utc_s);
	*reply = json_pack("{s:I,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "job_id", (json_int_t)s.job_id,
	    "text", text != NULL ? text : "", "quote",
	    s.has_hold ? quote_json(&s.hold.quote) : json_null(), "candidates",
	    s.has_hold ? candidates_json(&s.hold.quote) : json_array(), "hold",
	    s.has_hold ? hold_json(&s.hold) : json_null(), "plans", plans_json(&s), "proof",
	    lt_explain_proof_json(d, s.job), "runs", runs_json(s.runs, s.count));
	free(text);
	free_story(&s);
	return *reply != NULL ? 200 : lt_api_error(reply, 503, "out of memory");
}
