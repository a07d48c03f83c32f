/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds back the next run of a requeued job until it is admitted (release.c). Slurm judges no
 * requeue: users, nodes and preemption cause them. It then makes the job wait for two minutes,
 * which job_modify lets nobody shorten; within them the new run becomes an admin hold here.
 *
 * A job that still runs is left alone: if it is held, Slurm takes back its eligible time, and sacct
 * and sreport no longer find the run.
 *
 * Writes the hold in the ledger and the job by one update; what slurmctld refuses is tried again by
 * the next pass.
 */
#include <stdlib.h>
#include <string.h>

#include "books.h"
#include "budget_state.h"
#include "grow.h"
#include "job_quote.h"
#include "jobs.h"
#include "ledger.h"
#include "log.h"
#include "poll_schedule.h"
#include "requeue_gate.h"
#include "settle.h"
#include "site.h"

enum { ROW_WITHIN_S = 300 };

struct lt_admitted *
lt_gate_admitted(struct lt_jobs_state *jobs, const struct lt_batch_job *job)
{
	for (uint32_t i = 0; i < jobs->admitted_count; i++)
		if (jobs->admitted[i].job_id == job->job_id &&
		    jobs->admitted[i].submit_utc_s == job->submit_utc_s)
			return &jobs->admitted[i];
	return NULL;
}

void
lt_gate_sweep(struct lt_jobs_state *jobs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < jobs->admitted_count; i++) {
		if (!jobs->admitted[i].seen)
			continue;
		jobs->admitted[kept] = jobs->admitted[i];
		jobs->admitted[kept++].seen = false;
	}
	jobs->admitted_count = kept;
}

bool
lt_gate_waits(
    struct lt_jobs_state *jobs, const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	if (job->state != LT_JOB_PENDING || job->completing)
		return false;
	struct lt_admitted *const admitted = lt_gate_admitted(jobs, job);
	if (admitted != NULL) {
		admitted->seen = true;
		return false;
	}
	/* Tasks of an array share one hold, which does not show whose the newest run is. Slurm
	 * counts no restarts of a het job's components. */
	if (hold->quote.tasks != 1 || hold->submit_utc_s == 0)
		return job->requeued;
	return hold->submit_utc_s < job->submit_utc_s;
}

bool
lt_gate_is_left(const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	static const uint32_t back = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;

	return hold->quote.tasks == 1 && hold->state == LT_HOLD_OPEN &&
	       (hold->quote.flags & (LT_QUOTE_LOCK | back)) == LT_QUOTE_LOCK &&
	       hold->submit_utc_s == job->submit_utc_s;
}

bool
lt_gate_holds_back(
    struct lt_ledger *ledger, struct lt_jobs_state *jobs, const struct lt_batch_job *job)
{
	struct lt_ledger_hold hold;

	return lt_hold_of_job(ledger, job, &hold) && hold.uid == job->uid &&
	       (lt_gate_waits(jobs, job, &hold) || lt_gate_is_left(job, &hold));
}

/* True if requeues of such jobs are judged at all. */
static bool
is_judged(const struct lt_budget_state *budget, const struct lt_policy *policy,
    const struct lt_batch_job *job)
{
	return budget->has_snapshot && policy->on_unknown != LT_RULE_ALLOW && job->is_batch &&
	       !job->is_cron && job->requeue_allowed &&
	       lt_sheet_budgeted(
		   &budget->snapshot, lt_sheet_account(&budget->snapshot, job->account));
}

static int
put_flags(struct lt_budget_state *budget, struct lt_ledger *ledger, struct lt_ledger_hold *hold,
    uint32_t flags, struct lt_error *err)
{
	hold->quote.flags = flags;
	hold->quote.rev++;
	budget->dirty = true; /* terms are written with it */
	return lt_ledger_put_hold(ledger, hold, err);
}

static int
lock(struct lt_ledger *ledger, struct lt_jobs_state *jobs, struct lt_budget_state *budget,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold, struct lt_error *err)
{
	lt_poll_again(jobs, job->job_id);
	if (jobs->locks_left == 0)
		return LT_OK;
	jobs->locks_left--;
	/* A user's hold of now is kept for later; one of its submission is over, as it ran. */
	uint32_t flags = hold->quote.flags & ~(uint32_t)LT_QUOTE_USER_HOLD;
	flags |= LT_QUOTE_LOCK;
	if (job->user_held)
		flags |= LT_QUOTE_USER_HOLD;
	const int code = put_flags(budget, ledger, hold, flags, err);
	if (code != LT_OK)
		return code;
	if (lt_quote_publish(job, &hold->quote, LT_HOLD, 0, NULL) == LT_OK)
		lt_log("locked", "job=%u account=%s", job->job_id, job->account);
	return LT_OK;
}

int
lt_gate_follow(const struct lt_books *books, const struct lt_batch_job *job,
    struct lt_ledger_hold *hold, int64_t now_utc_s, struct lt_error *err)
{
	const bool by_admin = job->held && !job->user_held;

	if (!lt_gate_waits(books->jobs, job, hold))
		return LT_OK;
	/* The row of the run that ended comes soon, or as others do. It ended before it was
	 * submitted again: nodes complete meanwhile. */
	if (now_utc_s - job->submit_utc_s < ROW_WITHIN_S)
		lt_settle_await(books->jobs, job->submit_utc_s - ROW_WITHIN_S);
	return lt_site_may(books->site, LT_MAY_HOLD) &&
		       is_judged(books->budget, books->site->policy, job) && !by_admin
		   ? lock(books->ledger, books->jobs, books->budget, job, hold, err)
		   : LT_OK;
}

int
lt_gate_admit(struct lt_ledger *ledger, struct lt_jobs_state *jobs, struct lt_budget_state *budget,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_admitted *const grown = lt_items_grow(
	    jobs->admitted, &jobs->admitted_capacity, jobs->admitted_count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "lock: out of memory");
	jobs->admitted = grown;
	const int64_t length = hold->quote.end_utc_s - hold->quote.start_utc_s;
	/* The run that ended keeps its own share until it is settled. */
	hold->live_tasks = (hold->state == LT_HOLD_OPEN ? hold->live_tasks : 0) + 1;
	hold->state = LT_HOLD_OPEN;
	hold->why[0] = '\0';
	hold->start_utc_s = 0;
	hold->quote.start_utc_s = job->eligible_utc_s > now_utc_s ? job->eligible_utc_s : now_utc_s;
	hold->quote.end_utc_s = hold->quote.start_utc_s + length;
	if (job->submit_utc_s > hold->submit_utc_s)
		hold->submit_utc_s = job->submit_utc_s;
	const int code = put_flags(budget, ledger, hold, hold->quote.flags, err);
	if (code != LT_OK)
		return code;
	jobs->admitted[jobs->admitted_count++] = (struct lt_admitted){
	    .seen = true, .job_id = job->job_id, .submit_utc_s = job->submit_utc_s};
	lt_log("run_admitted", "job=%u account=%s submit=%lld", job->job_id, hold->quote.account,
	    (long long)job->submit_utc_s);
	return LT_OK;
}

int
lt_gate_deny(struct lt_ledger *ledger, struct lt_jobs_state *jobs, struct lt_budget_state *budget,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold, struct lt_error *err)
{
	struct lt_admitted *const admitted = lt_gate_admitted(jobs, job);

	if (admitted != NULL)
		*admitted = jobs->admitted[--jobs->admitted_count];
	if (hold->live_tasks > 0)
		hold->live_tasks--;
	if (hold->live_tasks == 0)
		hold->state = LT_HOLD_SETTLED;
	if (hold->quote.tasks == 1)
		hold->submit_utc_s = job->submit_utc_s - 1;
	return put_flags(budget, ledger, hold, hold->quote.flags, err);
}
