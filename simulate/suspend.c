/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that start when they come and stand still as lowtided lets them: by
 * lt_pause_plan(), asked at each hour and where it says, and with the idle
 * power of what they keep.
 */
#include "internal.h"
#include "loop.h"
#include "pause.h"
#include "units.h"

static int64_t
smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

struct course { /* of one job */
	struct lt_sim_run *run;
	const struct lt_sim_job *job;
	struct lt_sim_fate *fate;
	struct lt_sim_ask ask;
	int64_t at_utc_s, left_s; /* of its work */
	int64_t still_s;	  /* that it stood still */
	int64_t paused_utc_s;	  /* since then; 0 = it works */
};

/* What is expected of it, past that its limit. */
static int64_t
expected_left_s(const struct course *c)
{
	const int64_t worked_s = c->job->run_s - c->left_s;

	return c->ask.run_s > worked_s	   ? c->ask.run_s - worked_s
	       : c->ask.limit_s > worked_s ? c->ask.limit_s - worked_s
					   : LT_HOUR_S;
}

static int
ask(struct lt_pause_course *plan, const struct course *c, struct lt_error *err)
{
	struct lt_sim_run *const run = c->run;
	const double *const expected =
	    lt_sim_outlook_at(run->outlook, c->at_utc_s / LT_HOUR_S);
	struct lt_request request;

	if (expected == NULL)
		return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
	if (lt_sim_market_see(run->market, expected, c->at_utc_s, err) != LT_OK)
		return err->code;
	lt_sim_market_request(&request, run->market, &c->ask, c->at_utc_s);
	return lt_pause_plan(plan,
	    &(struct lt_pause_of){.request = &request,
		.market = lt_sim_market_of(run->market),
		.left_s = expected_left_s(c),
		.most_s = lt_sim_wait_s(run->options, c->job) - c->still_s,
		.is_paused = c->paused_utc_s != 0,
		.now_utc_s = c->at_utc_s},
	    err);
}

static void
rest(struct course *c, int64_t until_utc_s)
{
	static const double w_per_kw = 1000, g_per_kg = 1000;

	if (c->paused_utc_s == 0)
		c->paused_utc_s = c->at_utc_s;
	c->run->result->carbon_kg +=
	    c->job->cpus * c->run->options->idle_watts_per_cpu / w_per_kw /
	    g_per_kg *
	    lt_sim_signal_integral(c->run->signal, c->at_utc_s, until_utc_s);
	c->still_s += until_utc_s - c->at_utc_s;
	c->at_utc_s = until_utc_s;
}

static int
work(struct course *c, int64_t until_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = c->run;
	const struct lt_sim_input *const input = run->input;

	if (c->paused_utc_s != 0 && input->paused != NULL)
		input->paused(input->context, c->job->number, c->paused_utc_s,
		    c->at_utc_s);
	c->paused_utc_s = 0;
	if (c->fate->start_utc_s == 0)
		c->fate->start_utc_s = c->at_utc_s;
	run->result->money +=
	    lt_sim_cost(run, c->job, c->at_utc_s, until_utc_s);
	const int code = lt_sim_use(run, c->job, c->at_utc_s, until_utc_s, err);
	c->left_s -= until_utc_s - c->at_utc_s;
	c->at_utc_s = c->fate->end_utc_s = until_utc_s;
	return code;
}

int
lt_sim_suspend(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err)
{
	struct course c = {.run = run,
	    .job = job,
	    .fate = fate,
	    .ask = lt_sim_ask_of(run, job),
	    .at_utc_s = job->submit_utc_s,
	    .left_s = job->run_s};

	while (c.left_s > 0) {
		const int64_t next_utc_s =
		    (c.at_utc_s / LT_HOUR_S + 1) * LT_HOUR_S;
		struct lt_pause_course plan;

		if (ask(&plan, &c, err) != LT_OK)
			return err->code;
		if (plan.until_utc_s > c.at_utc_s) {
			rest(&c, smaller(plan.until_utc_s, next_utc_s));
			continue;
		}
		const int64_t until_utc_s = smaller(c.at_utc_s + c.left_s,
		    smaller(next_utc_s, plan.again_utc_s));
		if (work(&c, until_utc_s, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}
