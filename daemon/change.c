/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two records of one job, priced at the same market: the ratio is what the
 * change did, and the hold changes by it. A hold keeps its upper bound where
 * the record does not say all (node ranges), until the job runs.
 */
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "confirm.h"

static int
compare_jobs(const void *a, const void *b)
{
	const struct lt_slurm_job *const *const x = a;
	const struct lt_slurm_job *const *const y = b;
	return (*x)->job_id < (*y)->job_id ? -1 : (*x)->job_id > (*y)->job_id;
}

int
lt_jobs_index(struct lt_jobs_index *index, const struct lt_slurm_jobs *jobs,
    struct lt_error *err)
{
	index->count = jobs->count;
	index->jobs = calloc((size_t)jobs->count + 1, sizeof(*index->jobs));
	if (!index->jobs)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (uint32_t i = 0; i < jobs->count; i++)
		index->jobs[i] = &jobs->jobs[i];
	if (jobs->count > 1)
		qsort(index->jobs, jobs->count, sizeof(*index->jobs),
		    compare_jobs);
	return LT_OK;
}

const struct lt_slurm_job *
lt_jobs_find(const struct lt_jobs_index *index, uint32_t job_id)
{
	const struct lt_slurm_job key = {.job_id = job_id};
	const struct lt_slurm_job *const wanted = &key;
	if (index->count == 0)
		return NULL;
	const struct lt_slurm_job *const *const found = bsearch(&wanted,
	    index->jobs, index->count, sizeof(*index->jobs), compare_jobs);
	return found ? *found : NULL;
}

static bool
same_size(const struct lt_slurm_job *a, const struct lt_slurm_job *b)
{
	return a->nodes == b->nodes && a->cpus == b->cpus &&
	       a->gpus == b->gpus && a->memory_mib == b->memory_mib &&
	       a->limit_s == b->limit_s && a->exclusive == b->exclusive &&
	       !strcmp(a->partition, b->partition);
}

/* One currency: follow the ratio down, the new bound up. */
static void
follow(bool *has, int64_t *held, bool has_old, int64_t old, bool has_new,
    int64_t fresh, bool runs)
{
	int64_t scaled;
	if (!has_new)
		return;
	if (!*has || fresh > *held) {
		*held = fresh;
		*has = true;
	} else if (runs) {
		*held = fresh; /* all is known now */
	} else if (has_old && old > fresh && old > 0 &&
		   lt_scale_up(*held, fresh, old, &scaled)) {
		*held = scaled > fresh ? scaled : fresh;
	}
}

static bool
follow_size(struct lt_daemon *d, const struct lt_slurm_job *job,
    const struct lt_slurm_job *before, struct lt_amount *held,
    int64_t now_utc_s)
{
	struct lt_quote fresh, old = {0};
	const struct lt_amount was = *held;
	const bool runs = job->state != LT_JOB_PENDING;
	if (!before || (same_size(job, before) && job->state == before->state))
		return false;
	if (!lt_quote_of_job(&fresh, job, d, now_utc_s))
		return false;
	if (!runs && !lt_quote_of_job(&old, before, d, now_utc_s))
		return false;
	follow(&held->has_money, &held->money_micros,
	    old.hold_per_task.has_money, old.hold_per_task.money_micros,
	    fresh.hold_per_task.has_money, fresh.hold_per_task.money_micros,
	    runs);
	follow(&held->has_carbon, &held->carbon_mg,
	    old.hold_per_task.has_carbon, old.hold_per_task.carbon_mg,
	    fresh.hold_per_task.has_carbon, fresh.hold_per_task.carbon_mg,
	    runs);
	return memcmp(&was, held, sizeof(was)) != 0;
}

/* What grew must still fit; the sheet has the old amount already. */
static bool
growth_fits(struct lt_daemon *d, const struct lt_ledger_hold *hold,
    const struct lt_amount *was, int64_t now_utc_s)
{
	struct lt_ledger_hold growth = *hold;
	struct lt_amount *const by = &growth.quote.hold_per_task;
	by->money_micros -= was->has_money ? was->money_micros : 0;
	by->carbon_mg -= was->has_carbon ? was->carbon_mg : 0;
	if (by->money_micros <= 0 && by->carbon_mg <= 0)
		return true;
	return lt_release_fits(d, &growth, now_utc_s);
}

int
lt_change_follow(struct lt_daemon *d, const struct lt_slurm_job *job,
    const struct lt_slurm_job *before, struct lt_ledger_hold *hold,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_amount was = hold->quote.hold_per_task;
	const bool single = hold->quote.tasks == 1;
	bool changed = false, moved = false;
	if (hold->state != LT_HOLD_OPEN || job->state == LT_JOB_FINISHED)
		return LT_OK;
	if (strcasecmp(job->account, hold->quote.account) != 0) {
		lt_log("account_changed", "job=%u from=%s to=%s", job->job_id,
		    hold->quote.account, job->account);
		memcpy(hold->quote.account, job->account,
		    sizeof(hold->quote.account));
		changed = moved = true;
	}
	/* Tasks of an array share one amount: only up, for all. */
	struct lt_amount amount = was;
	if (follow_size(d, job, before, &amount, now_utc_s) &&
	    (single || job->array_pending == hold->live_tasks ||
		amount.money_micros > was.money_micros ||
		amount.carbon_mg > was.carbon_mg)) {
		hold->quote.hold_per_task = amount;
		changed = true;
	}
	if (!changed)
		return LT_OK;
	const struct lt_amount none = {0};
	if (job->state == LT_JOB_PENDING &&
	    d->policy->mode == LT_MODE_ENFORCE &&
	    !(hold->quote.flags & LT_QUOTE_BUDGET_HOLD) &&
	    !growth_fits(d, hold, moved ? &none : &was, now_utc_s))
		hold->quote.flags |= LT_QUOTE_BUDGET_HOLD;
	hold->quote.rev++;
	d->sheet_dirty = true;
	lt_log("hold_follows", "job=%u money_micros=%lld was=%lld", job->job_id,
	    (long long)hold->quote.hold_per_task.money_micros,
	    (long long)was.money_micros);
	return lt_ledger_put_hold(d->ledger, hold, err);
}
