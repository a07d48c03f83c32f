/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When those that wait shall start: by the rule of the policy, or by
 * lt_decide() of what is seen at this time, of run times as they are known and
 * of what others have booked.
 */
#include "loop.h"
#include "units.h"

static bool
books(const struct lt_sim_run *run)
{
	return run->rule->decides && run->options->capacity > 0 &&
	       !run->options->herd;
}

/* All that run, and those that wait and were planned before. */
static void
book_all(struct lt_sim_loop *loop, uint32_t planned_count, int64_t now_utc_s)
{
	for (uint32_t i = 0; i < loop->event_count; i++) {
		const uint32_t index = loop->heap[i].job;
		struct lt_planned *const window = &loop->windows[i];

		*window = lt_sim_running(loop, index, now_utc_s);
	}
	for (uint32_t i = 0; i < loop->waiting_count; i++) {
		const uint32_t index = loop->waiting[i];
		const int64_t start_s = loop->planned_utc_s[index];

		loop->windows[loop->event_count + i] =
		    i < planned_count
			? lt_sim_window(loop, index,
			      start_s > now_utc_s ? start_s : now_utc_s)
			: (struct lt_planned){0};
	}
}

/* Of a waiting job: when it shall start. */
static int
plan_one(struct lt_sim_loop *loop, uint32_t slot, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_sim_run *const run = loop->run;
	const uint32_t index = loop->waiting[slot];
	const struct lt_sim_job *const job = &run->trace->jobs[index];
	int64_t *const start_s = &loop->planned_utc_s[index];

	if (loop->run->rule->decides) {
		struct lt_sim_ask ask = lt_sim_ask_of(run, job);

		if (run->options->again == LT_SIM_REPLAN)
			ask.standing_utc_s = *start_s;

		run->result->fates[index].expected_s =
		    ask.run_s > 0 ? ask.run_s : ask.limit_s;
		if (books(run)) {
			const uint32_t at = loop->event_count + slot;

			loop->windows[at] = (struct lt_planned){0};
			ask.planned = loop->windows;
			ask.planned_count =
			    loop->event_count + loop->waiting_count;
		}
		if (lt_sim_market_decide(
			start_s, run->market, &ask, now_utc_s, err))
			return err->code;
		if (books(run))
			loop->windows[loop->event_count + slot] =
			    lt_sim_window(loop, index, *start_s);
	} else if (loop->run->rule->start != NULL) {
		*start_s = loop->run->rule->start(run, job);
	} else {
		*start_s = now_utc_s;
	}
	return LT_OK;
}

/* Is a job's time there, and no room for it? */
static bool
has_queue(
    const struct lt_sim_loop *loop, uint32_t planned_count, int64_t now_utc_s)
{
	for (uint32_t i = 0; i < planned_count; i++)
		if (loop->planned_utc_s[loop->waiting[i]] < now_utc_s)
			return true;
	return false;
}

/* What is seen at this time, for all decisions of it. */
static int
see(struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err)
{
	const double *values;

	if (!loop->run->rule->decides)
		return LT_OK;
	values = lt_sim_outlook_at(loop->run->outlook, now_utc_s / LT_HOUR_S);
	if (values == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	return lt_sim_market_see(loop->run->market, values, now_utc_s, err);
}

int
lt_sim_plan(struct lt_sim_loop *loop, bool again, int64_t now_utc_s,
    struct lt_error *err)
{
	const uint32_t planned_count = loop->planned_count;
	uint32_t from = again ? 0 : planned_count;

	loop->planned_count = loop->waiting_count;
	if (from == loop->waiting_count)
		return LT_OK;
	if (see(loop, now_utc_s, err))
		return err->code;
	if (books(loop->run)) {
		book_all(loop, planned_count, now_utc_s);
		lt_sim_market_queue(loop->run->market,
		    has_queue(loop, planned_count, now_utc_s));
	}
	for (; from < loop->waiting_count; from++)
		if (plan_one(loop, from, now_utc_s, err))
			return err->code;
	if (!again || !books(loop->run) ||
	    loop->run->options->again != LT_SIM_REPLAN)
		return LT_OK;
	return lt_sim_rearrange(loop, now_utc_s, err);
}
