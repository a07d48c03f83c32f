/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the jobs whose time has come start now. Without a capacity all of
 * them; with one, in the order that they came in, by EASY backfill (Lifka,
 * JSSPP 1995): the first that does not fit is promised the earliest time at
 * which it will by the limits of those that run, and others go before it where
 * that does not put it off.
 */
#include <stdlib.h>

#include "loop.h"
#include "units.h"

/* Starts whose time has come, in the order that they came in. */
static int
dispatch_all(struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t kept = 0;

	loop->soonest_utc_s = INT64_MAX;
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const struct lt_sim_job *const job =
		    &loop->run->trace->jobs[index];
		const bool early = loop->run->rule->conserving &&
				   lt_sim_fits_reserved(loop->run, job);

		if (loop->planned_utc_s[index] <= now_utc_s || early) {
			if (lt_sim_start(loop, index, now_utc_s, err))
				return err->code;
			continue;
		}
		if (loop->planned_utc_s[index] < loop->soonest_utc_s)
			loop->soonest_utc_s = loop->planned_utc_s[index];
		loop->waiting[kept++] = index;
	}
	loop->waiting_count = loop->planned_count = kept;
	return LT_OK;
}

struct promise { /* to the first that does not fit */
	bool made;
	int64_t at_utc_s;
	uint32_t spare; /* CPUs that are free then beside its own */
};

static int64_t
latest_end(const struct lt_sim_loop *loop, uint32_t index)
{
	const struct lt_sim_job *const job = &loop->run->trace->jobs[index];

	return loop->run->result->fates[index].start_utc_s +
	       (job->limit_s > job->run_s ? job->limit_s : job->run_s);
}

struct release {
	int64_t at_utc_s;
	uint32_t cpus;
};

static int
by_time(const void *a, const void *b)
{
	const struct release *const x = a, *const y = b;

	return (x->at_utc_s > y->at_utc_s) - (x->at_utc_s < y->at_utc_s);
}

static int
make_promise(struct promise *promise, const struct lt_sim_loop *loop,
    const struct lt_sim_job *job, struct lt_error *err)
{
	const uint32_t count = loop->event_count;
	struct release *const releases =
	    malloc((count + 1) * sizeof(*releases));
	uint32_t cpus_free = loop->cpus_free;

	if (releases == NULL)
		return lt_fail(err, LT_ENOMEM, "queue: no memory");
	for (uint32_t i = 0; i < count; i++)
		releases[i] =
		    (struct release){latest_end(loop, loop->heap[i].job),
			loop->run->trace->jobs[loop->heap[i].job].cpus};
	qsort(releases, count, sizeof(*releases), by_time);
	*promise = (struct promise){.made = true, .at_utc_s = INT64_MAX};
	for (uint32_t i = 0; i < count && cpus_free < job->cpus; i++) {
		cpus_free += releases[i].cpus;
		promise->at_utc_s = releases[i].at_utc_s;
	}
	promise->spare = cpus_free > job->cpus ? cpus_free - job->cpus : 0;
	free(releases);
	return LT_OK;
}

/* May it start though another was promised a time? */
static bool
goes_before(
    struct promise *promise, const struct lt_sim_job *job, int64_t now_utc_s)
{
	const int64_t longest_s =
	    job->limit_s > job->run_s ? job->limit_s : job->run_s;

	if (!promise->made || now_utc_s + longest_s <= promise->at_utc_s)
		return true;
	if (job->cpus > promise->spare)
		return false;
	promise->spare -= job->cpus;
	return true;
}

static int
dispatch_easy(struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct promise promise = {0};
	uint32_t kept = 0;

	loop->soonest_utc_s = INT64_MAX;
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const struct lt_sim_job *const job =
		    &loop->run->trace->jobs[index];
		const bool due = loop->planned_utc_s[index] <= now_utc_s;
		const bool fits = job->cpus <= loop->cpus_free;

		if (due && fits && goes_before(&promise, job, now_utc_s)) {
			if (lt_sim_start(loop, index, now_utc_s, err))
				return err->code;
			continue;
		}
		if (due && !promise.made &&
		    make_promise(&promise, loop, job, err))
			return err->code;
		if (!due && loop->planned_utc_s[index] < loop->soonest_utc_s)
			loop->soonest_utc_s = loop->planned_utc_s[index];
		loop->waiting[kept++] = index;
	}
	loop->waiting_count = loop->planned_count = kept;
	return LT_OK;
}

int
lt_sim_dispatch(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	return loop->run->options->capacity > 0
		   ? dispatch_easy(loop, now_utc_s, err)
		   : dispatch_all(loop, now_utc_s, err);
}
