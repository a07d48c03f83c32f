/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time goes on from event to event: jobs come, wait, start and end. Each is
 * planned when it comes, those of lt_decide() again each hour until they start.
 */
#include <stdlib.h>

#include "loop.h"
#include "units.h"

/* Those that came in one tick, as GAIA's queue has them now. */
static int
turn_ties(struct lt_sim_loop *loop, int64_t times, struct lt_error *err)
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
step(struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_sim_trace *const trace = loop->run->trace;
	const bool again = loop->run->rule->decides &&
			   loop->run->options->again != LT_SIM_NEVER &&
			   now_utc_s % LT_HOUR_S == 0;
	const int64_t ticks =
	    (now_utc_s - loop->at_utc_s) / loop->run->options->tick_s;

	if (lt_sim_end_all(loop, now_utc_s, err) ||
	    turn_ties(loop, ticks - 1, err))
		return err->code;
	loop->at_utc_s = now_utc_s;
	lt_sim_tell(loop->run, loop->next);
	while (loop->next < trace->count &&
	       trace->jobs[loop->next].submit_utc_s <= now_utc_s)
		loop->waiting[loop->waiting_count++] = loop->next++;
	if (lt_sim_plan(loop, again, now_utc_s, err) || turn_ties(loop, 1, err))
		return err->code;
	return lt_sim_dispatch(loop, now_utc_s, err);
}

/* The next time at which something may happen; false = never. */
static bool
next_time(const struct lt_sim_loop *loop, int64_t *next_utc_s)
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
	    loop->run->options->again != LT_SIM_NEVER && hour_s < next_s)
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
	struct lt_sim_loop loop = {.run = run};
	int64_t at_s;

	loop.at_utc_s = run->result->from_utc_s;
	loop.waiting = calloc(count, sizeof(*loop.waiting));
	loop.rank = calloc(count, sizeof(*loop.rank));
	loop.planned_utc_s = calloc(count, sizeof(*loop.planned_utc_s));
	loop.heap = calloc(count, sizeof(*loop.heap));
	loop.windows = calloc(count, sizeof(*loop.windows));
	loop.cpus_free = run->options->capacity;
	if (loop.waiting == NULL || loop.rank == NULL ||
	    loop.planned_utc_s == NULL || loop.heap == NULL ||
	    loop.windows == NULL)
		lt_fail(err, LT_ENOMEM, "simulation: no memory");
	else
		while (
		    next_time(&loop, &at_s) && step(&loop, at_s, err) == LT_OK)
			;
	free(loop.windows);
	free(loop.heap);
	free(loop.planned_utc_s);
	free(loop.rank);
	free(loop.waiting);
	return err->code;
}
