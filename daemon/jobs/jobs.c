/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups by binary search: a job in a list, what is live of a quote, the hold of a job. Reads
 * memory and the ledger, and writes only lt_jobs_moved().
 */
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "ledger_jobs.h"
#include "pool.h"

static int
by_id(const void *a, const void *b)
{
	const struct lt_batch_job *const x = a, *const y = b;

	return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

/* Most lists are: a child sorts them. */
static bool
is_sorted(const struct lt_batch_jobs *jobs)
{
	for (uint32_t i = 1; i < jobs->count; i++)
		if (jobs->jobs[i - 1].job_id > jobs->jobs[i].job_id)
			return false;
	return true;
}

void
lt_jobs_sort(struct lt_batch_jobs *jobs)
{
	if (!is_sorted(jobs))
		qsort(jobs->jobs, jobs->count, sizeof(*jobs->jobs), by_id);
}

static struct lt_batch_job *
find_first(const struct lt_batch_jobs *jobs, uint32_t job_id)
{
	const struct lt_batch_job key = {.job_id = job_id};

	return jobs->count == 0 ? NULL : bsearch(&key, jobs->jobs, jobs->count, sizeof(key), by_id);
}

const struct lt_batch_job *
lt_jobs_find(const struct lt_batch_jobs *jobs, uint32_t job_id)
{
	return find_first(jobs, job_id);
}

static int
by_paused_id(const void *a, const void *b)
{
	const struct lt_paused *const x = a, *const y = b;

	return x->job_id < y->job_id ? -1 : x->job_id > y->job_id;
}

static struct lt_paused *
find_paused(const struct lt_jobs_state *jobs, uint32_t job_id)
{
	const struct lt_paused key = {.job_id = job_id};

	return jobs->paused_count == 0
		   ? NULL
		   : bsearch(&key, jobs->paused, jobs->paused_count, sizeof(key), by_paused_id);
}

bool
lt_jobs_requeued(const struct lt_jobs_state *jobs, uint32_t job_id)
{
	const struct lt_paused *const found = find_paused(jobs, job_id);

	return found != NULL &&
	       (found->step == LT_PAUSE_REQUEUED || found->step == LT_PAUSE_REQUEUED_AWAY);
}

struct lt_paused *
lt_jobs_paused(const struct lt_jobs_state *jobs, const struct lt_batch_job *job)
{
	struct lt_paused *const found = find_paused(jobs, job->job_id);

	return found != NULL && found->start_utc_s == job->start_utc_s ? found : NULL;
}

int64_t
lt_jobs_pause_s(const struct lt_jobs_state *jobs, const struct lt_batch_job *job)
{
	const struct lt_paused *const paused = lt_jobs_paused(jobs, job);

	return paused != NULL ? paused->held_s : 0;
}

uint32_t
lt_jobs_after(const struct lt_batch_jobs *jobs, uint32_t job_id)
{
	uint32_t low = 0, high = jobs->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (jobs->jobs[middle].job_id <= job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
lt_jobs_moved(
    struct lt_batch_jobs *jobs, uint32_t job_id, const char *partition, int64_t begin_utc_s)
{
	struct lt_batch_job *const job = find_first(jobs, job_id);
	const char *const name = lt_pool_add(&jobs->pool, partition, strlen(partition) + 1);

	if (job == NULL || name == NULL)
		return;
	job->partition = name;
	job->eligible_utc_s = begin_utc_s;
}

uint32_t
lt_first_id(const struct lt_batch_job *job)
{
	if (job->array_job_id != 0)
		return job->array_job_id;
	return job->het_job_id != 0 ? job->het_job_id : job->job_id;
}

static int
by_quote(const void *a, const void *b)
{
	const struct lt_live *const x = a, *const y = b;

	return x->quote_id < y->quote_id ? -1 : x->quote_id > y->quote_id;
}

const struct lt_live *
lt_live_find(const struct lt_jobs_state *jobs, uint64_t quote_id)
{
	const struct lt_live key = {.quote_id = quote_id};

	return jobs->live_count == 0
		   ? NULL
		   : bsearch(&key, jobs->live, jobs->live_count, sizeof(key), by_quote);
}

bool
lt_never_ran(const struct lt_batch_job *job)
{
	return job->state == LT_JOB_FINISHED && !job->completing && !job->requeued &&
	       !job->is_cron && job->array_job_id == 0 && job->het_job_id == 0 &&
	       (job->start_utc_s == 0 || job->end_utc_s <= job->start_utc_s);
}

bool
lt_hold_by_id(struct lt_ledger *ledger, uint32_t array_job_id, uint32_t job_id, uint32_t uid,
    struct lt_ledger_hold *hold)
{
	const uint32_t ids[] = {array_job_id, job_id};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i] != 0 && lt_ledger_hold_of_job(ledger, ids[i], hold, NULL) == LT_OK &&
		    hold->uid == uid)
			return true;
	return false;
}

/* Finds the hold by the quote in the job's text, else by job id. */
bool
lt_hold_of_job(
    struct lt_ledger *ledger, const struct lt_batch_job *job, struct lt_ledger_hold *hold)
{
	struct lt_quote quote;

	if (job->admin_comment != NULL &&
	    lt_quote_unpack(&quote, job->admin_comment, strlen(job->admin_comment), NULL) ==
		LT_OK &&
	    lt_ledger_hold(ledger, quote.id, hold, NULL) == LT_OK)
		return true;
	return lt_hold_by_id(ledger, job->array_job_id, job->job_id, job->uid, hold);
}

int
lt_jobs_keep_counted(
    struct lt_jobs_state *jobs, const struct lt_planned *windows, struct lt_error *err)
{
	const struct lt_batch_jobs *const list = &jobs->list;
	struct lt_counted *const counted = calloc((size_t)list->count + 1, sizeof(*counted));
	uint32_t count = 0;

	if (counted == NULL)
		return lt_fail(err, LT_ENOMEM, "market: out of memory");
	for (uint32_t i = 0; i < list->count; i++)
		if (windows[i].end_utc_s > windows[i].start_utc_s)
			counted[count++] = (struct lt_counted){
			    .job_id = list->jobs[i].job_id, .window = windows[i]};
	free(jobs->counted);
	jobs->counted = counted;
	jobs->counted_count = count;
	jobs->market_id = list->count > 0 ? list->jobs[list->count - 1].job_id : 0;
	return LT_OK;
}
