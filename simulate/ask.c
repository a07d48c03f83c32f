/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job asks for as it is seen at a time, and what it takes of the room.
 */
#include "loop.h"
#include "units.h"

struct lt_sim_ask
lt_sim_ask_of(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const struct lt_sim_options *const options = run->options;
	const int64_t average_s =
	    run->average_s[lt_sim_is_short(options, job) ? 0 : 1];
	const struct lt_expected learned =
	    options->length == LT_SIM_LEARNED
		? lt_sim_learned(run->lengths, job)
		: (struct lt_expected){0};
	struct lt_sim_ask ask = {.cpus = job->cpus,
	    .run_s = options->length == LT_SIM_EXACT	 ? job->run_s
		     : options->length == LT_SIM_AVERAGE ? average_s
							 : learned.expected_s,
	    .low_s = learned.low_s,
	    .high_s = learned.high_s,
	    .limit_s = job->limit_s > 0 ? job->limit_s : job->run_s,
	    .latest_utc_s = job->submit_utc_s + lt_sim_wait_s(options, job)};

	if (ask.limit_s < ask.run_s)
		ask.limit_s = ask.run_s;
	return ask;
}

struct lt_planned
lt_sim_window(
    const struct lt_sim_loop *loop, uint32_t index, int64_t start_utc_s)
{
	return (struct lt_planned){
	    .nodes = (float)loop->run->trace->jobs[index].cpus,
	    .start_utc_s = start_utc_s,
	    .end_utc_s =
		start_utc_s + loop->run->result->fates[index].expected_s};
}

struct lt_planned
lt_sim_running(
    const struct lt_sim_loop *loop, uint32_t index, int64_t now_utc_s)
{
	struct lt_planned window = lt_sim_window(
	    loop, index, loop->run->result->fates[index].start_utc_s);

	/* It runs longer than was thought: who knows until when. */
	if (window.end_utc_s <= now_utc_s)
		window.end_utc_s = now_utc_s + LT_HOUR_S;
	return window;
}
