/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of all jobs in memory: what a record points to, as a table for whoever copies or moves
 * it; which records are kept; and jobs that were asked for singly, merged into the list and into
 * the live quotes.
 *
 * slurmctld has a job for minutes after it was cancelled, and every record of it here is half a
 * kilobyte. Nobody asks for these: their holds are void, and they never cost anything.
 *
 * Without memory the list is as it was.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "job_list.h"
#include "jobs.h"

/* Or the pool would not align it. */
_Static_assert(sizeof(struct lt_batch_asked) % 8 == 0, "of whole words");
#define TEXT(member)                                                                               \
	{                                                                                          \
		.at = offsetof(struct lt_batch_job, member)                                        \
	}
/* The part that is not a text comes first: there it is aligned. */
const struct lt_layout lt_layout_of_job = {sizeof(struct lt_batch_job), 15,
    {{.at = offsetof(struct lt_batch_job, asked), .size = sizeof(struct lt_batch_asked)},
	TEXT(user), TEXT(account), TEXT(qos), TEXT(partition), TEXT(name), TEXT(state_text),
	TEXT(reason_text), TEXT(node_list), TEXT(comment_head), TEXT(array_tasks), TEXT(wishes),
	TEXT(req_nodes), TEXT(mail_to),
	{.at = offsetof(struct lt_batch_job, admin_comment), .is_own = true}}};
const struct lt_layout lt_layout_of_run = {sizeof(struct lt_batch_run), 1,
    {{.at = offsetof(struct lt_batch_run, admin_comment), .is_own = true}}};

const void *
lt_part_get(const void *record, const struct lt_part *part)
{
	const void *at;

	memcpy(&at, (const char *)record + part->at, sizeof(at));
	return at;
}

void
lt_part_set(void *record, const struct lt_part *part, const void *at)
{
	memcpy((char *)record + part->at, &at, sizeof(at));
}

size_t
lt_part_length(const void *at, const struct lt_part *part)
{
	if (at == NULL)
		return 0;
	return part->size > 0 ? part->size : strlen(at) + 1;
}

const void *
lt_part_pool(struct lt_pool **pool, const struct lt_part *part, const void *at)
{
	const size_t length = lt_part_length(at, part);

	return part->is_own ? lt_pool_add(pool, at, length) : lt_pool_share(pool, at, length);
}

enum { MANY = 2000 };

static bool
is_over(const struct lt_batch_jobs *list, uint32_t i)
{
	return i + 1 < list->count && lt_never_ran(&list->jobs[i]);
}

/* Texts that are not its own are in the list's pool, which goes. So may its partition be, if it was
 * moved (lt_jobs_moved()). */
static bool
is_pooled(const struct lt_batch_job *job, const struct lt_part *part)
{
	return job->texts == NULL || part->at == offsetof(struct lt_batch_job, partition);
}

static bool
copy_job(struct lt_batch_jobs *kept, const struct lt_batch_job *job)
{
	struct lt_batch_job *const to = &kept->jobs[kept->count++];

	*to = *job;
	for (int i = 0; i < lt_layout_of_job.part_count; i++) {
		const struct lt_part *const part = &lt_layout_of_job.parts[i];

		if (!is_pooled(job, part))
			continue;
		const void *const at = lt_part_get(job, part);
		const void *const copy = at != NULL ? lt_part_pool(&kept->pool, part, at) : NULL;

		if (at != NULL && copy == NULL)
			return false;
		lt_part_set(to, part, copy);
	}
	return true;
}

void
lt_keep_jobs(struct lt_batch_jobs *list)
{
	struct lt_batch_jobs kept = {.begun_utc_s = list->begun_utc_s};
	uint32_t over = 0;
	bool done = true;

	for (uint32_t i = 0; i < list->count; i++)
		over += is_over(list, i);
	if (over < MANY || over < list->count - over)
		return;
	kept.jobs = calloc(list->count - over, sizeof(*kept.jobs));
	if (kept.jobs == NULL)
		return;
	for (uint32_t i = 0; done && i < list->count; i++)
		done = is_over(list, i) || copy_job(&kept, &list->jobs[i]);
	if (!done) {
		lt_pool_free(kept.pool);
		free(kept.jobs);
		return;
	}
	for (uint32_t i = 0; i < list->count; i++)
		if (is_over(list, i))
			free(list->jobs[i].texts);
	lt_pool_close(kept.pool);
	lt_pool_free(list->pool);
	free(list->jobs);
	*list = kept;
}

static int
compare_ids(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool
is_among(uint32_t id, struct lt_ids ids)
{
	return bsearch(&id, ids.ids, ids.count, sizeof(id), compare_ids) != NULL;
}

void
lt_merge_sort(struct lt_ids ids)
{
	qsort(ids.ids, ids.count, sizeof(*ids.ids), compare_ids);
}

/* Replaces the records of these ids by those that were found, or drops them. Returns how many are
 * left; taken[i]: found->jobs[i] has its place. */
static uint32_t
replace(
    struct lt_batch_jobs *list, const struct lt_batch_jobs *found, bool *taken, struct lt_ids ids)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		struct lt_batch_job *const job = &list->jobs[i];

		if (!is_among(lt_first_id(job), ids)) {
			if (kept != i)
				list->jobs[kept] = *job;
			kept++;
			continue;
		}
		const struct lt_batch_job *const now = lt_jobs_find(found, job->job_id);
		free(job->texts);
		if (now != NULL) {
			taken[now - found->jobs] = true;
			list->jobs[kept++] = *now;
		}
	}
	return kept;
}

int
lt_merge_list(struct lt_batch_jobs *list, struct lt_batch_jobs *found, struct lt_ids ids,
    struct lt_error *err)
{
	bool *const taken = calloc((size_t)found->count + 1, sizeof(*taken));
	struct lt_batch_job *const grown =
	    reallocarray(list->jobs, (size_t)list->count + found->count + 1, sizeof(*grown));
	uint32_t added = 0;

	if (grown != NULL)
		list->jobs = grown;
	if (grown == NULL || taken == NULL) {
		free(taken);
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	}
	uint32_t left = replace(list, found, taken, ids);
	for (uint32_t i = 0; i < found->count; i++)
		added += !taken[i];
	list->count = left + added;
	for (uint32_t to = list->count, i = found->count; i-- > 0;) {
		if (taken[i])
			continue;
		while (left > 0 && list->jobs[left - 1].job_id > found->jobs[i].job_id)
			list->jobs[--to] = list->jobs[--left];
		list->jobs[--to] = found->jobs[i];
	}
	free(taken);
	free(found->jobs);
	*found = (struct lt_batch_jobs){0};
	return LT_OK;
}

int
lt_merge_live(struct lt_jobs_state *jobs, const struct lt_live *before, uint32_t before_count,
    struct lt_ids ids, struct lt_error *err)
{
	const struct lt_live *const fresh = jobs->live;
	const size_t capacity = (size_t)before_count + jobs->live_count + 1;
	struct lt_live *const all = reallocarray(NULL, capacity, sizeof(*all));
	uint32_t n = 0, k = 0;

	if (all == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (uint32_t i = 0; i < before_count; i++) {
		const struct lt_live *const was = &before[i];

		while (k < jobs->live_count && fresh[k].quote_id < was->quote_id)
			all[n++] = fresh[k++];
		if (is_among(was->job_id, ids) ||
		    (k < jobs->live_count && fresh[k].quote_id == was->quote_id))
			continue;
		all[n++] = *was;
	}
	while (k < jobs->live_count)
		all[n++] = fresh[k++];
	free(jobs->live);
	jobs->live = all;
	jobs->live_count = n;
	jobs->live_capacity = capacity;
	return LT_OK;
}

static int
compare_live(const void *a, const void *b)
{
	const struct lt_live *const x = a, *const y = b;

	return x->quote_id < y->quote_id ? -1 : x->quote_id > y->quote_id;
}

void
lt_merge_shares(struct lt_jobs_state *jobs)
{
	uint32_t n = 0;

	if (jobs->live_count > 1)
		qsort(jobs->live, jobs->live_count, sizeof(*jobs->live), compare_live);
	for (uint32_t i = 0; i < jobs->live_count; i++) {
		const struct lt_live *const from = &jobs->live[i];
		struct lt_live *const to = n > 0 ? &jobs->live[n - 1] : NULL;

		if (to == NULL || to->quote_id != from->quote_id) {
			jobs->live[n++] = *from;
			continue;
		}
		to->live += from->live;
		to->pending += from->pending;
		to->never_ran &= from->never_ran;
		if (from->seen_utc_s < to->seen_utc_s)
			to->seen_utc_s = from->seen_utc_s;
		if (from->submit_utc_s > to->submit_utc_s)
			to->submit_utc_s = from->submit_utc_s;
		if (from->start_utc_s && (!to->start_utc_s || from->start_utc_s < to->start_utc_s))
			to->start_utc_s = from->start_utc_s;
		if (from->end_utc_s > to->end_utc_s)
			to->end_utc_s = from->end_utc_s;
	}
	jobs->live_count = n;
}
