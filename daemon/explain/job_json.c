/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the record of a job in GET /v1/jobs: while it waits and runs, from the batch system's
 * record and the hold, and for a while after from its run. Each amount counts all tasks that the
 * record stands for. A value that is not known is null; without memory there is no record.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "baseline.h"
#include "daemon.h"
#include "job_json.h"
#include "jobs.h"
#include "notice.h"
#include "ledger_jobs.h"
#include "quote.h"
#include "replanning.h"
#include "price.h"
#include "standing.h"

struct part { /* tasks of an array */
	uint32_t tasks, of;
};

static struct part
part_of(const struct lt_batch_job *job, const struct lt_quote *quote)
{
	const uint32_t tasks = job->state == LT_JOB_PENDING ? job->array_pending : 1;

	return (struct part){tasks, quote->tasks > tasks ? quote->tasks : tasks};
}

static int64_t
scaled(int64_t value, const struct part *part)
{
	return part->tasks == part->of ? value : llround((double)value * part->tasks / part->of);
}

static json_t *
amount_json(const struct lt_amount *whole, const struct part *part)
{
	const struct lt_amount amount = {.has_money = whole->has_money,
	    .has_carbon = whole->has_carbon,
	    .money_micros = scaled(whole->money_micros, part),
	    .carbon_mg = scaled(whole->carbon_mg, part)};

	return lt_api_amount(&amount);
}

/* a - b; an amount that one of them lacks is not known. */
static struct lt_amount
difference(const struct lt_amount *a, const struct lt_amount *b)
{
	return (struct lt_amount){.has_money = a->has_money && b->has_money,
	    .has_carbon = a->has_carbon && b->has_carbon,
	    .money_micros = a->money_micros - b->money_micros,
	    .carbon_mg = a->carbon_mg - b->carbon_mg};
}

/* All tasks of the record at their most, while they are held for. */
static json_t *
most_json(const struct lt_ledger_hold *hold, const struct part *part)
{
	struct lt_amount most = hold->quote.hold_per_task;

	if (hold->state != LT_HOLD_OPEN)
		return json_null();
	most.has_money &=
	    !__builtin_mul_overflow(most.money_micros, (int64_t)part->tasks, &most.money_micros);
	most.has_carbon &=
	    !__builtin_mul_overflow(most.carbon_mg, (int64_t)part->tasks, &most.carbon_mg);
	return lt_api_amount(&most);
}

struct charged { /* of runs that are settled */
	uint32_t runs;
	struct lt_amount cost, without;
	struct lt_parts parts; /* of the cost */
};

static void
add_run(struct charged *sum, const struct lt_run *run)
{
	const bool compared = lt_baseline_known(run);

	if (sum->runs++ == 0)
		sum->cost = sum->without =
		    (struct lt_amount){.has_money = true, .has_carbon = true};
	sum->cost.has_money &= run->priced;
	sum->cost.has_carbon &= run->has_carbon;
	sum->cost.money_micros += run->money_micros;
	sum->cost.carbon_mg += run->carbon_mg;
	sum->parts.carbon_charge_micros += run->parts.carbon_charge_micros;
	sum->parts.discount_micros += run->parts.discount_micros;
	sum->without.has_money &= run->priced && compared;
	sum->without.has_carbon &= run->has_carbon && compared;
	sum->without.money_micros += run->baseline_money_micros;
	sum->without.carbon_mg += run->baseline_carbon_mg;
}

/* Its own, and not those of a job that had the id before. */
static struct charged
charged_of(struct lt_ledger *ledger, const struct lt_batch_job *job, uint64_t quote_id)
{
	struct charged sum = {0};
	struct lt_run *runs = NULL;
	uint32_t count = 0;

	if (job->state != LT_JOB_FINISHED && !job->requeued)
		return sum;
	if (lt_ledger_runs_of_id(ledger, job->job_id, &runs, &count, NULL) != LT_OK)
		return sum;
	for (uint32_t i = 0; i < count; i++)
		if (runs[i].uid == job->uid &&
		    (runs[i].quote_id == 0 || runs[i].quote_id == quote_id))
			add_run(&sum, &runs[i]);
	free(runs);
	return sum;
}

static json_t *
charged_json(const struct charged *charged)
{
	const bool has_money = charged->cost.has_money;

	if (charged->runs == 0)
		return json_null();
	json_t *const json = lt_api_amount(&charged->cost);
	json_object_set_new(json, "carbon_charge_micros",
	    lt_api_optional(has_money, charged->parts.carbon_charge_micros));
	json_object_set_new(
	    json, "discount_micros", lt_api_optional(has_money, charged->parts.discount_micros));
	return json;
}

static json_t *
saved_json(const struct charged *charged)
{
	struct lt_amount cost = charged->cost;

	cost.money_micros = lt_before_discount(cost.money_micros, &charged->parts);
	const struct lt_amount saved = difference(&charged->without, &cost);
	return lt_api_amount(&saved);
}

/* Expected while nothing is charged, then what the charge says. */
static json_t *
saves_json(const struct lt_quote *quote, const struct part *part, const struct charged *charged)
{
	if (charged->runs > 0)
		return saved_json(charged);
	if (quote->objective == LT_OBJECTIVE_OFF)
		return json_null();
	const struct lt_amount saves = difference(&quote->home_expected, &quote->plan_expected);
	return amount_json(&saves, part);
}

/* "23", "23_1", "23_[1-4]", as squeue has it. */
static void
id_text(char *out, size_t size, const struct lt_batch_job *job)
{
	if (job->array_job_id == 0)
		snprintf(out, size, "%u", job->job_id);
	else if (job->array_task != UINT32_MAX)
		snprintf(out, size, "%u_%u", job->array_job_id, job->array_task);
	else
		snprintf(out, size, "%u_[%s]", job->array_job_id,
		    job->array_tasks != NULL ? job->array_tasks : "...");
}

/* A task may have another planned start than its array. */
static int64_t
plan_start(
    const struct lt_batch_job *job, const struct lt_quote *quote, const struct lt_quote *told)
{
	const bool is_task = job->array_job_id != 0 && job->array_task != UINT32_MAX;

	return is_task && told->id == quote->id ? told->plan_start_utc_s : quote->plan_start_utc_s;
}

/* Slurm has a start of one that was cancelled while it waited, too. */
static json_t *
start_json(int64_t start_utc_s, int64_t ended_utc_s)
{
	const bool never_ran = ended_utc_s != 0 && ended_utc_s <= start_utc_s;

	return never_ran ? json_null() : lt_api_time(start_utc_s);
}

/* How long lowtide lets it stand still, and what that is expected to save. */
static json_t *
pause_json(const struct lt_jobs_state *jobs, const struct lt_batch_job *job)
{
	const struct lt_paused *const paused = lt_jobs_paused(jobs, job);

	return paused == NULL || paused->step == LT_PAUSE_LEFT ||
		       paused->step >= LT_PAUSE_ASKED_AWAY
		   ? json_null()
		   : json_pack("{s:o,s:o}", "until", lt_api_time(paused->until_utc_s), "saves",
			 lt_api_amount(&paused->saves));
}

/* Why a job waits for its budget, and until when at the latest: the next period of the tightest
 * one. */
static json_t *
held_json(const struct lt_daemon *d, const struct lt_batch_job *job, const struct lt_quote *quote)
{
	const struct lt_budget_snapshot *const s = &d->budget.snapshot;
	const int account = d->budget.has_snapshot ? lt_sheet_account(s, quote->account) : -1;
	const struct lt_budget *const budget =
	    account >= 0 ? lt_api_tightest(s, account, LT_RULES_BIND) : NULL;

	if (job->state != LT_JOB_PENDING || !(quote->flags & LT_QUOTE_BUDGET_HOLD))
		return json_null();
	return json_pack("{s:s,s:o}", "by", "budget", "until",
	    budget != NULL ? lt_api_time(budget->periods[0].end_utc_s) : json_null());
}

json_t *
lt_job_json(struct lt_daemon *d, const struct lt_batch_job *job, const struct lt_ledger_hold *hold,
    int64_t now_utc_s)
{
	const struct lt_quote *const quote = &hold->quote;
	const struct part part = part_of(job, quote);
	const struct charged charged = charged_of(d->ledger, job, quote->id);
	const struct lt_amount so_far = lt_so_far(job, &d->site.market, d->ledger, now_utc_s);
	const bool runs = job->state == LT_JOB_RUNNING || job->state == LT_JOB_SUSPENDED;
	const int64_t ended_utc_s = job->state == LT_JOB_FINISHED ? job->end_utc_s : 0;
	struct lt_quote told = {0};
	char id[256];

	if (job->admin_comment != NULL &&
	    lt_quote_unpack(&told, job->admin_comment, strlen(job->admin_comment), NULL) != LT_OK)
		told = (struct lt_quote){0};
	const bool decided =
	    lt_site_may(&d->site, LT_MAY_EDIT) && lt_standing_waits(job, &told, now_utc_s);
	id_text(id, sizeof(id), job);
	json_t *const json =
	    json_pack("{s:o,s:I,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o}", "id",
		lt_api_string(id), "job_id", (json_int_t)job->job_id, "array_job_id",
		lt_api_optional(job->array_job_id != 0, job->array_job_id), "array_task",
		lt_api_optional(job->array_task != UINT32_MAX, job->array_task), "tasks",
		(json_int_t)part.tasks, "name", lt_api_string(job->name), "user",
		lt_api_string(job->user), "account", lt_api_string(job->account), "partition",
		lt_api_string(job->partition), "state", lt_api_string(job->state_text), "reason",
		lt_api_string(job->reason_text), "ended", job->state == LT_JOB_FINISHED, "submit",
		lt_api_time(job->submit_utc_s), "start", start_json(job->start_utc_s, ended_utc_s),
		"end", lt_api_time(ended_utc_s));
	const char *const awaited = lt_notice_awaited(&d->notice, job);
	json_t *const costs = json_pack("{s:s?,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
	    "awaited_node", awaited, "plan",
	    json_pack("{s:o,s:o}", "partition", lt_api_string(quote->partition), "start",
		lt_api_time(plan_start(job, quote, &told))),
	    "home",
	    json_pack("{s:o,s:o}", "partition", lt_api_string(quote->home), "start",
		lt_api_time(quote->home_start_utc_s)),
	    "expected", amount_json(&quote->plan_expected, &part), "most", most_json(hold, &part),
	    "so_far", runs ? lt_api_amount(&so_far) : json_null(), "charged",
	    charged_json(&charged), "saves", saves_json(quote, &part, &charged), "next_decision",
	    lt_api_time(decided ? lt_replan_next(job, now_utc_s) : 0), "pause",
	    pause_json(&d->jobs, job), "held", held_json(d, job, &hold->quote));

	if (json != NULL && costs != NULL)
		json_object_update(json, costs);
	json_decref(costs);
	return json;
}

json_t *
lt_job_json_of_run(const struct lt_run *run)
{
	struct charged charged = {0};
	char id[32];

	add_run(&charged, run);
	snprintf(id, sizeof(id), run->array_job_id != 0 ? "%u_%u" : "%u",
	    run->array_job_id != 0 ? run->array_job_id : run->key.job_id, run->array_task);
	return json_pack("{s:s,s:I,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:n,s:b,"
			 "s:o,s:o,s:o,s:n,s:n,s:n,s:n,s:n,s:o,s:o,s:n}",
	    "id", id, "job_id", (json_int_t)run->key.job_id, "array_job_id",
	    lt_api_optional(run->array_job_id != 0, run->array_job_id), "array_task",
	    lt_api_optional(run->array_job_id != 0, run->array_task), "tasks", (json_int_t)1,
	    "name", lt_api_string(run->name), "user", lt_api_string(run->user), "account",
	    lt_api_string(run->account), "partition", lt_api_string(run->partition), "state",
	    lt_api_string(run->state_text), "reason", "ended", true, "submit",
	    lt_api_time(run->key.submit_utc_s), "start",
	    start_json(run->start_utc_s, run->end_utc_s), "end", lt_api_time(run->end_utc_s),
	    "plan", "home", "expected", "most", "so_far", "charged", charged_json(&charged),
	    "saves", saved_json(&charged), "next_decision");
}
