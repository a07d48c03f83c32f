/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job starts and ends: what it pays, which CPUs it has, and what its end
 * teaches.
 */
#include "loop.h"
#include "units.h"

/* A heap by time. */
static void
push(struct lt_sim_loop *loop, const struct lt_sim_event *event)
{
	uint32_t at = loop->event_count++;

	while (at > 0 && loop->heap[(at - 1) / 2].at_utc_s > event->at_utc_s) {
		loop->heap[at] = loop->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	loop->heap[at] = *event;
}

static struct lt_sim_event
pop(struct lt_sim_loop *loop)
{
	const struct lt_sim_event first = loop->heap[0];
	const struct lt_sim_event last = loop->heap[--loop->event_count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= loop->event_count)
			break;
		if (child + 1 < loop->event_count &&
		    loop->heap[child + 1].at_utc_s < loop->heap[child].at_utc_s)
			child++;
		if (loop->heap[child].at_utc_s >= last.at_utc_s)
			break;
		loop->heap[at] = loop->heap[child];
		at = child;
	}
	loop->heap[at] = last;
	return first;
}

bool
lt_sim_fits_reserved(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	return run->options->reserved > 0 && run->reserved_free >= job->cpus;
}

int
lt_sim_start(struct lt_sim_loop *loop, uint32_t index, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const struct lt_sim_options *const options = run->options;
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	struct lt_sim_fate *const fate = &run->result->fates[index];
	const bool spot =
	    options->spot && job->exact_run_s <= (double)options->short_s;
	const bool reserved = !spot && lt_sim_fits_reserved(run, job);

	if (options->capacity > 0)
		loop->cpus_free -= job->cpus;
	fate->start_utc_s = now_utc_s;
	fate->end_utc_s = now_utc_s + job->run_s;
	if (reserved)
		run->reserved_free -= job->cpus;
	else if (spot)
		run->result->money += job->cpus * (double)job->run_s /
				      LT_HOUR_S *
				      options->spot_price_per_cpu_hour;
	else
		run->result->money +=
		    lt_sim_cost(run, job, fate->start_utc_s, fate->end_utc_s);
	/* What a tick frees, the next one may use. */
	push(loop, &(struct lt_sim_event){
		       fate->end_utc_s + (reserved ? options->tick_s : 0),
		       index, reserved});
	return lt_sim_use(run, job, fate->start_utc_s, fate->end_utc_s, err);
}

int
lt_sim_end_all(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;

	while (loop->event_count > 0 && loop->heap[0].at_utc_s <= now_utc_s) {
		const struct lt_sim_event event = pop(loop);
		const struct lt_sim_job *const job =
		    &run->trace->jobs[event.job];

		if (run->options->capacity > 0)
			loop->cpus_free += job->cpus;
		if (event.reserved)
			run->reserved_free += job->cpus;
		if (run->lengths != NULL &&
		    lt_sim_learn(run->lengths, job) != LT_OK)
			return lt_fail(err, LT_ENOMEM, "run times: no memory");
	}
	return LT_OK;
}
