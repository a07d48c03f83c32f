/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "jobs.h"
#include "job_lookup.h"

enum {
	LONGEST_MS = 1000,
	NEW_A_PASS = 50, /* where very many come, a list is cheaper */
	NEW_GAP = 8,	 /* ids that no job got */
};

/* None of an id that slurmctld has no more. */
static int
load(struct lt_batch_jobs *jobs, uint32_t id, struct lt_error *err)
{
	struct lt_error why = {0};
	const int code = lt_batch_jobs(jobs, id, &why);

	if (code == LT_OK || code == LT_ENOENT)
		return LT_OK;
	return lt_fail(err, (enum lt_code)code, "%s", why.text);
}

/* Takes the jobs; on failure they are freed. */
static int
add(struct lt_batch_jobs *found, struct lt_batch_jobs *jobs,
    struct lt_error *err)
{
	struct lt_batch_job *const all = reallocarray(
	    found->jobs, (size_t)found->count + jobs->count + 1, sizeof(*all));

	if (all == NULL) {
		lt_batch_jobs_free(jobs);
		return lt_fail(err, LT_ENOMEM, "jobs: out of memory");
	}
	found->jobs = all;
	if (jobs->count > 0)
		memcpy(
		    all + found->count, jobs->jobs, jobs->count * sizeof(*all));
	found->count += jobs->count;
	free(jobs->jobs);
	return LT_OK;
}

static bool
was_found(const struct lt_batch_jobs *found, uint32_t id)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (found->jobs[i].job_id == id ||
		    lt_first_id(&found->jobs[i]) == id)
			return true;
	return false;
}

/* By a task's own id slurmctld gives the task alone: then its array is asked
 * for. */
static int
ask(struct lt_batch_jobs *found, uint32_t id, bool *is_there,
    struct lt_error *err)
{
	struct lt_batch_jobs jobs = {0};
	int code = load(&jobs, id, err);

	*is_there = code == LT_OK && jobs.count > 0;
	if (*is_there && lt_first_id(&jobs.jobs[0]) != id) {
		const uint32_t first = lt_first_id(&jobs.jobs[0]);

		lt_batch_jobs_free(&jobs);
		if (was_found(found, first))
			return LT_OK;
		code = load(&jobs, first, err);
	}
	return code == LT_OK ? add(found, &jobs, err) : code;
}

static uint32_t
highest_id(const struct lt_batch_jobs *jobs)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < jobs->count; i++)
		if (jobs->jobs[i].job_id > highest)
			highest = jobs->jobs[i].job_id;
	return highest;
}

static int
ask_new(struct lt_job_lookup_found *found, const struct lt_job_lookup *named,
    int64_t until_ms, struct lt_error *err)
{
	uint32_t id = named->after, misses = 0;
	int code = LT_OK;

	for (int i = 0;
	     code == LT_OK && found->seen < named->unseen && misses < NEW_GAP &&
	     i < NEW_A_PASS && lt_monotonic_ms() < until_ms;
	     i++) {
		bool is_there;

		code = ask(&found->jobs, ++id, &is_there, err);
		misses = is_there ? 0 : misses + 1;
		found->seen += is_there;
		const uint32_t highest = highest_id(&found->jobs);
		if (highest > id) /* tasks of an array that is new */
			id = highest;
	}
	return code;
}

int
lt_job_lookup_find(struct lt_job_lookup_found *found,
    const struct lt_job_lookup *named, struct lt_error *err)
{
	const int64_t until_ms = lt_monotonic_ms() + LONGEST_MS;
	bool is_there;

	*found = (struct lt_job_lookup_found){0};
	int code = ask_new(found, named, until_ms, err);
	for (uint32_t i = 0; code == LT_OK && i < named->count &&
			     (i == 0 || lt_monotonic_ms() < until_ms);
	     i++) {
		if (!was_found(&found->jobs, named->ids[i]))
			code = ask(&found->jobs, named->ids[i], &is_there, err);
		found->asked = i + 1;
	}
	if (code != LT_OK)
		lt_batch_jobs_free(&found->jobs);
	return code;
}
