/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "jobs.h"
#include "merge.h"

static int
compare_ids(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static bool
is_among(uint32_t id, struct lt_ids ids)
{
	return bsearch(&id, ids.ids, ids.count, sizeof(id), compare_ids) !=
	       NULL;
}

void
lt_merge_sort(struct lt_ids ids)
{
	qsort(ids.ids, ids.count, sizeof(*ids.ids), compare_ids);
}

/* What was there of these ids goes, or becomes what was found of it. Returns
 * how many are left; taken[i]: found->jobs[i] has its place. */
static uint32_t
replace(struct lt_batch_jobs *list, const struct lt_batch_jobs *found,
    bool *taken, struct lt_ids ids)
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
		const struct lt_batch_job *const now =
		    lt_jobs_find(found, job->job_id);
		free(job->texts);
		if (now != NULL) {
			taken[now - found->jobs] = true;
			list->jobs[kept++] = *now;
		}
	}
	return kept;
}

int
lt_merge_list(struct lt_batch_jobs *list, struct lt_batch_jobs *found,
    struct lt_ids ids, struct lt_error *err)
{
	bool *const taken = calloc((size_t)found->count + 1, sizeof(*taken));
	struct lt_batch_job *const grown = reallocarray(
	    list->jobs, (size_t)list->count + found->count + 1, sizeof(*grown));
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
		while (left > 0 &&
		       list->jobs[left - 1].job_id > found->jobs[i].job_id)
			list->jobs[--to] = list->jobs[--left];
		list->jobs[--to] = found->jobs[i];
	}
	free(taken);
	free(found->jobs);
	*found = (struct lt_batch_jobs){0};
	return LT_OK;
}

int
lt_merge_live(struct lt_jobs_state *jobs, const struct lt_live *before,
    uint32_t before_count, struct lt_ids ids, struct lt_error *err)
{
	const struct lt_live *const fresh = jobs->live;
	const size_t capacity = (size_t)before_count + jobs->live_count + 1;
	struct lt_live *const all = reallocarray(NULL, capacity, sizeof(*all));
	uint32_t n = 0, k = 0;

	if (all == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	for (uint32_t i = 0; i < before_count; i++) {
		const struct lt_live *const was = &before[i];

		while (
		    k < jobs->live_count && fresh[k].quote_id < was->quote_id)
			all[n++] = fresh[k++];
		if (is_among(was->job_id, ids) ||
		    (k < jobs->live_count &&
			fresh[k].quote_id == was->quote_id))
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
		qsort(jobs->live, jobs->live_count, sizeof(*jobs->live),
		    compare_live);
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
		if (from->start_utc_s &&
		    (!to->start_utc_s || from->start_utc_s < to->start_utc_s))
			to->start_utc_s = from->start_utc_s;
		if (from->end_utc_s > to->end_utc_s)
			to->end_utc_s = from->end_utc_s;
	}
	jobs->live_count = n;
}
