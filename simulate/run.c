/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time goes on from event to event: jobs come, wait, start and end. Each is
 * planned when it comes, those of lt_decide() again each hour until they start.
 */
#include <stdlib.h>

#include "internal.h"
#include "units.h"

struct event { /* a job's CPUs become free */
	int64_t at_utc_s;
	uint32_t job;
	bool reserved; /* it ran on such CPUs */
};

struct loop {
	struct lt_sim_run *run;
	struct event *heap;
	uint32_t event_count;
	uint32_t next;		/* of the trace, to come */
	uint32_t *waiting;	/* in the order that they came in */
	int64_t *rank;		/* room for ties.c */
	int64_t *planned_utc_s; /* when it shall start, of each job */
	int64_t at_utc_s;	/* of the last step */
	uint32_t waiting_count;
	int64_t soonest_utc_s; /* of these starts */
};

static void
push(struct loop *loop, const struct event *event)
{
	uint32_t at = loop->event_count++;

	while (at > 0 && loop->heap[(at - 1) / 2].at_utc_s > event->at_utc_s) {
		loop->heap[at] = loop->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	loop->heap[at] = *event;
}

static struct event
pop(struct loop *loop)
{
	const struct event first = loop->heap[0];
	const struct event last = loop->heap[--loop->event_count];
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

/* What is known of its run time. */
static struct lt_sim_ask
ask_of(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const struct lt_sim_options *const options = run->options;
	const int64_t average_s =
	    run->average_s[lt_sim_is_short(options, job) ? 0 : 1];
	const int64_t expected_s = options->length == LT_SIM_EXACT ? job->run_s
				   : options->length == LT_SIM_AVERAGE
				       ? average_s
				   : options->length == LT_SIM_LEARNED
				       ? lt_sim_learned_s(run->lengths, job)
				       : 0;
	struct lt_sim_ask ask = {.cpus = job->cpus,
	    .run_s = expected_s,
	    .limit_s = job->limit_s > 0 ? job->limit_s : job->run_s,
	    .latest_utc_s = job->submit_utc_s + lt_sim_wait_s(options, job)};

	if (ask.limit_s < ask.run_s)
		ask.limit_s = ask.run_s;
	return ask;
}

/* Of a waiting job: when it shall start. */
static int
plan(struct loop *loop, uint32_t slot, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const uint32_t index = loop->waiting[slot];
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	int64_t *const start_s = &loop->planned_utc_s[index];

	*start_s = now_utc_s;
	if (loop->run->rule->decides) {
		const struct lt_sim_ask ask = ask_of(run, job);

		run->result->fates[index].expected_s =
		    ask.run_s > 0 ? ask.run_s : ask.limit_s;
		if (lt_sim_market_decide(
			start_s, run->market, &ask, now_utc_s, err))
			return err->code;
	} else if (loop->run->rule->start != NULL) {
		*start_s = loop->run->rule->start(run, job);
	}
	return LT_OK;
}

static bool
fits_reserved(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	return run->options->reserved > 0 && run->reserved_free >= job->cpus;
}

static int
start(
    struct loop *loop, uint32_t index, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const struct lt_sim_options *const options = run->options;
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	struct lt_sim_fate *const fate = &run->result->fates[index];
	const bool spot =
	    options->spot && job->exact_run_s <= (double)options->short_s;
	const bool reserved = !spot && fits_reserved(run, job);

	fate->start_utc_s = now_utc_s;
	fate->end_utc_s = now_utc_s + job->run_s;
	if (reserved)
		run->reserved_free -= job->cpus;
	else
		run->result->money += job->cpus * (double)job->run_s /
				      LT_HOUR_S *
				      (spot ? options->spot_price_per_cpu_hour
					    : options->price_per_cpu_hour);
	/* What a tick frees, the next one may use. */
	push(loop,
	    &(struct event){fate->end_utc_s + (reserved ? options->tick_s : 0),
		index, reserved});
	return lt_sim_use(run, job, fate->start_utc_s, fate->end_utc_s, err);
}

/* Starts whose time has come, in the order that they came in. */
static int
dispatch(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	uint32_t kept = 0;

	loop->soonest_utc_s = INT64_MAX;
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const struct lt_sim_job *const job =
		    &loop->run->trace->jobs[index];
		const bool early = loop->run->rule->conserving &&
				   fits_reserved(loop->run, job);

		if (loop->planned_utc_s[index] <= now_utc_s || early) {
			if (start(loop, index, now_utc_s, err))
				return err->code;
			continue;
		}
		if (loop->planned_utc_s[index] < loop->soonest_utc_s)
			loop->soonest_utc_s = loop->planned_utc_s[index];
		loop->waiting[kept++] = index;
	}
	loop->waiting_count = kept;
	return LT_OK;
}

/* Those that came in one tick, as GAIA's queue has them now. */
static int
turn_ties(struct loop *loop, int64_t times, struct lt_error *err)
{
	const struct lt_sim_run *const run = loop->run;
	int code;

	if (run->options->reserved == 0)
		return LT_OK;
	for (uint32_t i = 0; i < loop->waiting_count; i++)
		loop->rank[i] = run->trace->jobs[loop->waiting[i]].submit_utc_s;
	code = lt_sim_turn_ties(
	    loop->waiting, loop->rank, loop->waiting_count, times);
	return code == LT_OK ? LT_OK
			     : lt_fail(err, LT_ENOMEM, "queue: no memory");
}

static int
end_all(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;

	while (loop->event_count > 0 && loop->heap[0].at_utc_s <= now_utc_s) {
		const struct event event = pop(loop);
		const struct lt_sim_job *const job =
		    &run->trace->jobs[event.job];

		if (event.reserved)
			run->reserved_free += job->cpus;
		if (run->lengths != NULL &&
		    lt_sim_learn(run->lengths, job) != LT_OK)
			return lt_fail(err, LT_ENOMEM, "run times: no memory");
	}
	return LT_OK;
}

/* What is seen at this time, for all decisions of it. */
static int
see(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const double *values;

	if (!loop->run->rule->decides)
		return LT_OK;
	values = lt_sim_outlook_at(loop->run->outlook, now_utc_s / LT_HOUR_S);
	if (values == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	return lt_sim_market_see(loop->run->market, values, now_utc_s, err);
}

static int
step(struct loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_sim_trace *const trace = loop->run->trace;
	const bool again = loop->run->rule->decides &&
			   !loop->run->options->once &&
			   now_utc_s % LT_HOUR_S == 0;
	const int64_t ticks =
	    (now_utc_s - loop->at_utc_s) / loop->run->options->tick_s;
	uint32_t from = again ? 0 : loop->waiting_count;

	if (end_all(loop, now_utc_s, err) || turn_ties(loop, ticks - 1, err))
		return err->code;
	loop->at_utc_s = now_utc_s;
	while (loop->next < trace->count &&
	       trace->jobs[loop->next].submit_utc_s <= now_utc_s)
		loop->waiting[loop->waiting_count++] = loop->next++;
	if (from < loop->waiting_count && see(loop, now_utc_s, err))
		return err->code;
	for (; from < loop->waiting_count; from++)
		if (plan(loop, from, now_utc_s, err))
			return err->code;
	if (turn_ties(loop, 1, err))
		return err->code;
	return dispatch(loop, now_utc_s, err);
}

/* The next time at which something may happen; false = never. */
static bool
next_time(const struct loop *loop, int64_t *next_utc_s)
{
	const struct lt_sim_trace *const trace = loop->run->trace;
	const int64_t hour_s = (loop->at_utc_s / LT_HOUR_S + 1) * LT_HOUR_S;
	int64_t next_s = INT64_MAX;

	if (loop->next < trace->count)
		next_s = trace->jobs[loop->next].submit_utc_s;
	if (loop->event_count > 0 && loop->heap[0].at_utc_s < next_s)
		next_s = loop->heap[0].at_utc_s;
	if (loop->waiting_count > 0 && loop->soonest_utc_s < next_s)
		next_s = loop->soonest_utc_s;
	if (loop->waiting_count > 0 && loop->run->rule->decides &&
	    hour_s < next_s)
		next_s = hour_s;
	if (next_s == INT64_MAX)
		return false;
	*next_utc_s = next_s;
	return true;
}

int
lt_sim_shift(struct lt_sim_run *run, struct lt_error *err)
{
	const size_t count = run->trace->count;
	struct loop loop = {.run = run};
	int64_t at_s;

	loop.at_utc_s = run->result->from_utc_s;
	loop.waiting = calloc(count, sizeof(*loop.waiting));
	loop.rank = calloc(count, sizeof(*loop.rank));
	loop.planned_utc_s = calloc(count, sizeof(*loop.planned_utc_s));
	loop.heap = calloc(count, sizeof(*loop.heap));
	if (loop.waiting == NULL || loop.rank == NULL ||
	    loop.planned_utc_s == NULL || loop.heap == NULL)
		lt_fail(err, LT_ENOMEM, "simulation: no memory");
	else
		while (
		    next_time(&loop, &at_s) && step(&loop, at_s, err) == LT_OK)
			;
	free(loop.heap);
	free(loop.planned_utc_s);
	free(loop.rank);
	free(loop.waiting);
	return err->code;
}
