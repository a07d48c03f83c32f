/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld has a job for minutes after it was cancelled, and every record of
 * it here is half a kilobyte. Nobody asks for these: their holds are void, and
 * they never cost anything.
 */
#include <stddef.h>
#include <stdlib.h>

#include "jobs.h"
#include "keep.h"
#include "layout.h"

enum { MANY = 2000 };

static bool
is_over(const struct lt_batch_jobs *list, uint32_t i)
{
	return i + 1 < list->count && lt_never_ran(&list->jobs[i]);
}

/* Texts that are not its own are in the list's pool, which goes. So may its
 * partition be, if it was moved (lt_jobs_moved()). */
static bool
is_pooled(const struct lt_batch_job *job, const struct lt_part *part)
{
	return job->texts == NULL ||
	       part->at == offsetof(struct lt_batch_job, partition);
}

static bool
take(struct lt_batch_jobs *kept, const struct lt_batch_job *job)
{
	struct lt_batch_job *const to = &kept->jobs[kept->count++];

	*to = *job;
	for (int i = 0; i < lt_layout_of_job.part_count; i++) {
		const struct lt_part *const part = &lt_layout_of_job.parts[i];

		if (!is_pooled(job, part))
			continue;
		const void *const at = lt_part_get(job, part);
		const void *const copy =
		    at != NULL ? lt_part_pool(&kept->pool, part, at) : NULL;

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
		done = is_over(list, i) || take(&kept, &list->jobs[i]);
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
