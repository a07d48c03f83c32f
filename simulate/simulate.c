/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of the simulator, from options to sums.
 */
#include <math.h>
#include <stdlib.h>

#include "internal.h"
#include "lookup.h"
#include "units.h"

static const uint32_t confidence_ppm = 950000;

const struct lt_sim_options lt_sim_defaults = {
    .short_s = 2 * LT_HOUR_S,
    .short_wait_s = 6 * LT_HOUR_S,
    .long_wait_s = LT_DAY_S,
    .tick_s = 5,
    .watts_per_cpu = 1000,
    .price_per_cpu_hour = 0.0624,
    .spot_price_per_cpu_hour = 0.01248,
    .reserved_part = 0.4,
};

/* The means of short and of long jobs; one of just the limit is both, as GAIA has it. */
static void
find_averages(struct lt_sim_run *run)
{
	double sum[2] = {0, 0}, count[2] = {0, 0};

	for (uint32_t i = 0; i < run->trace->count; i++) {
		const double run_s = run->trace->jobs[i].exact_run_s;

		for (int k = 0; k < 2; k++)
			if (k == 0 ? run_s <= (double)run->options->short_s
				   : run_s >= (double)run->options->short_s) {
				sum[k] += run_s;
				count[k]++;
			}
	}
	for (int k = 0; k < 2; k++)
		run->average_s[k] =
		    count[k] > 0 ? (int64_t)(sum[k] / count[k] / (double)run->options->tick_s) *
				       run->options->tick_s
				 : run->options->short_s;
}

static int
pause_all(struct lt_sim_run *run, struct lt_error *err)
{
	for (uint32_t i = 0; i < run->trace->count; i++) {
		const struct lt_sim_job *const job = &run->trace->jobs[i];

		lt_sim_tell(run, i);
		if (run->rule->pause(run, job, &run->result->fates[i], err))
			return err->code;
	}
	return LT_OK;
}

static void
sum_up(const struct lt_sim_run *run)
{
	const struct lt_sim_options *const options = run->options;
	struct lt_sim_result *const result = run->result;
	int64_t last_start_s = result->from_utc_s;

	for (uint32_t i = 0; i < run->trace->count; i++) {
		const struct lt_sim_job *const job = &run->trace->jobs[i];
		struct lt_sim_fate *const fate = &result->fates[i];

		fate->late =
		    fate->end_utc_s - job->run_s > job->submit_utc_s + lt_sim_wait_s(options, job);
		result->late += fate->late;
		result->wait_s +=
		    (double)(fate->end_utc_s - job->run_s - job->submit_utc_s) / run->trace->count;
		if (fate->start_utc_s > last_start_s)
			last_start_s = fate->start_utc_s;
	}
	/* Reserved CPUs are paid for until the last job starts, as GAIA has it. */
	result->money += options->reserved * options->reserved_part * options->price_per_cpu_hour *
			 (double)(last_start_s - result->from_utc_s) / LT_HOUR_S;
}

int
lt_simulate(struct lt_sim_result *result, const struct lt_sim_input *input,
    const struct lt_sim_options *options, struct lt_error *err)
{
	const struct lt_sim_trace *const trace = input->trace;
	struct lt_sim_run run = {.input = input,
	    .trace = trace,
	    .signal = input->signal,
	    .outlook = input->outlook,
	    .price = input->price,
	    .options = options,
	    .rule = &LT_ROW(lt_sim_rules, options->policy),
	    .result = result,
	    .reserved_free = options->reserved};
	struct lt_error own = {0};

	err = err != NULL ? err : &own;
	*result = (struct lt_sim_result){0};
	if (trace->count == 0)
		return lt_fail(err, LT_EINPUT, "trace: no job is in it");
	for (uint32_t i = 0; options->capacity > 0 && i < trace->count; i++)
		if (trace->jobs[i].cpus > options->capacity)
			return lt_fail(err, LT_EINPUT,
			    "capacity: a job of %u CPUs, and there are %u", trace->jobs[i].cpus,
			    options->capacity);
	result->from_utc_s = result->to_utc_s = trace->jobs[0].submit_utc_s / LT_HOUR_S * LT_HOUR_S;
	result->fates = calloc(trace->count, sizeof(*result->fates));
	if (result->fates == NULL)
		return lt_fail(err, LT_ENOMEM, "jobs: no memory");
	if (lt_sim_market_open(&run.market, options, err))
		return err->code;
	if (options->length == LT_SIM_LEARNED) {
		run.lengths = lt_lengths_new(confidence_ppm);
		if (run.lengths == NULL)
			lt_fail(err, LT_ENOMEM, "run times: no memory");
	}
	find_averages(&run);
	if (err->code == LT_OK)
		(void)(run.rule->pause != NULL ? pause_all(&run, err) : lt_sim_shift(&run, err));
	lt_lengths_free(run.lengths);
	lt_sim_market_close(run.market);
	if (err->code == LT_OK)
		sum_up(&run);
	return err->code;
}

void
lt_sim_result_free(struct lt_sim_result *result)
{
	free(result->fates);
	free(result->load);
	*result = (struct lt_sim_result){0};
}
