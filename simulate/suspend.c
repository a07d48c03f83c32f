/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that start when they come and stand still as lowtided lets them: by
 * lt_pause_plan(), asked at each hour and where it says, or when lowtided
 * looked, and with the idle power of what they keep.
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

static void
go_on(struct course *c)
{
	const struct lt_sim_input *const input = c->run->input;

	if (c->paused_utc_s != 0 && input->paused != NULL)
		input->paused(input->context, c->job->number, c->paused_utc_s,
		    c->at_utc_s);
	c->paused_utc_s = 0;
}

static int
work(struct course *c, int64_t until_utc_s, struct lt_error *err)
{
	struct lt_sim_run *const run = c->run;

	go_on(c);
	if (c->fate->start_utc_s == 0)
		c->fate->start_utc_s = c->at_utc_s;
	run->result->money +=
	    lt_sim_cost(run, c->job, c->at_utc_s, until_utc_s);
	const int code = lt_sim_use(run, c->job, c->at_utc_s, until_utc_s, err);
	c->left_s -= until_utc_s - c->at_utc_s;
	c->at_utc_s = c->fate->end_utc_s = until_utc_s;
	return code;
}

/* As it is, until then or its end. */
static int
stay(struct course *c, int64_t until_utc_s, struct lt_error *err)
{
	if (until_utc_s <= c->at_utc_s)
		return LT_OK;
	if (c->paused_utc_s != 0) {
		rest(c, until_utc_s);
		return LT_OK;
	}
	return work(c, smaller(until_utc_s, c->at_utc_s + c->left_s), err);
}

/* The first that is not before it; they are in order. */
static uint32_t
first_look(const struct lt_sim_input *input, int64_t at_utc_s)
{
	uint32_t low = 0, high = input->look_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (input->looks[middle].at_utc_s < at_utc_s)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Decided at each look, and so from when that was done. */
static int
follow_looks(struct course *c, struct lt_error *err)
{
	const struct lt_sim_input *const input = c->run->input;
	int64_t until_utc_s = 0; /* told to stand still until then */

	for (uint32_t i = first_look(input, c->at_utc_s);
	     i < input->look_count && c->left_s > 0; i++) {
		const struct lt_sim_look *const look = &input->looks[i];
		struct lt_pause_course plan = {0};

		if (look->at_utc_s < c->at_utc_s)
			continue;
		if (stay(c, look->at_utc_s, err) != LT_OK)
			return err->code;
		/* lowtided lets go on what is due, and asks nobody. */
		if ((until_utc_s == 0 || look->at_utc_s < until_utc_s) &&
		    c->left_s > 0 && ask(&plan, c, err) != LT_OK)
			return err->code;
		until_utc_s = plan.until_utc_s;
		if (stay(c, look->done_utc_s, err) != LT_OK)
			return err->code;
		if (until_utc_s == 0)
			go_on(c);
		else if (c->paused_utc_s == 0 && c->left_s > 0)
			c->paused_utc_s = c->at_utc_s;
	}
	if (stay(c, until_utc_s, err) != LT_OK)
		return err->code;
	go_on(c);
	return stay(c, c->at_utc_s + c->left_s, err);
}

static int
look_each_hour(struct course *c, struct lt_error *err)
{
	while (c->left_s > 0) {
		const int64_t next_utc_s =
		    (c->at_utc_s / LT_HOUR_S + 1) * LT_HOUR_S;
		struct lt_pause_course plan;

		if (ask(&plan, c, err) != LT_OK)
			return err->code;
		if (plan.until_utc_s > c->at_utc_s) {
			rest(c, smaller(plan.until_utc_s, next_utc_s));
			continue;
		}
		const int64_t until_utc_s = smaller(c->at_utc_s + c->left_s,
		    smaller(next_utc_s, plan.again_utc_s));
		if (work(c, until_utc_s, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
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

	return run->input->looks != NULL ? follow_looks(&c, err)
					 : look_each_hour(&c, err);
}
