/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policies, a row of lt_sim_rules[] each, and the words that options have for all choices.
 *
 * Those of others are by their own definitions. GAIA (Hanafy et al., ASPLOS
 * 2024) knows the signal as it will be, looks each whole hour after the
 * submission, and knows of a run time the average of all short, or of all long jobs. Ecovisor's
 * threshold and Wait Awhile suspend jobs where the signal is high, as GAIA defines them. To suspend
 * costs nothing, as in the papers.
 *
 * Ours: the hours expected cleanest, decided anew each hour, and what lowtided does by
 * lt_pause_plan(), with the idle power of what a job keeps. What lt_decide() says of a start is in
 * run.c.
 */
#include <stdlib.h>

#include "forecast.h"
#include "internal.h"
#include "min_max.h"
#include "lookup.h"
#include "pause.h"
#include "units.h"

/* ---- when a job shall start ---- */

/* The cleanest moment, wherever in its hour it begins. */
static int64_t
start_in_lowest_slot(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t latest_s = job->submit_utc_s + lt_sim_wait_s(run->options, job);
	int64_t best_s = job->submit_utc_s;
	double least = lt_sim_signal_at(run->signal, best_s / LT_HOUR_S);

	for (int64_t at_s = lt_sim_next_hour_s(best_s); at_s <= latest_s; at_s += LT_HOUR_S) {
		const double value = lt_sim_signal_at(run->signal, at_s / LT_HOUR_S);

		if (value < least) {
			least = value;
			best_s = at_s;
		}
	}
	return best_s;
}

static int64_t
start_in_lowest_window(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t wait_s = lt_sim_wait_s(run->options, job);
	const int64_t length_s = lt_sim_average_s(run, job);
	int64_t best_s = job->submit_utc_s;
	double least = 0;

	for (int64_t after_s = 0; after_s <= wait_s; after_s += LT_HOUR_S) {
		const int64_t at_s = job->submit_utc_s + after_s;
		const double sum = lt_sim_signal_integral(run->signal, at_s, at_s + length_s);

		if (after_s == 0 || sum < least) {
			least = sum;
			best_s = at_s;
		}
	}
	return best_s;
}

/* Where most is saved for each hour until the end. */
static int64_t
start_by_carbon_time(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t wait_s = lt_sim_wait_s(run->options, job);
	const int64_t length_s = lt_sim_average_s(run, job);
	const double now =
	    lt_sim_signal_integral(run->signal, job->submit_utc_s, job->submit_utc_s + length_s);
	int64_t best_s = job->submit_utc_s;
	double most = 0;

	for (int64_t after_s = LT_HOUR_S; after_s <= wait_s; after_s += LT_HOUR_S) {
		const int64_t at_s = job->submit_utc_s + after_s;
		const double saved =
		    (now - lt_sim_signal_integral(run->signal, at_s, at_s + length_s)) /
		    (double)(after_s + length_s);

		if (saved > most) {
			most = saved;
			best_s = at_s;
		}
	}
	return best_s;
}

/* Not of others: the least there is for its real run, if it may not be suspended and there is room.
 * The integral is piecewise linear in the start:
 * its least value is where the start or the end meets an hour, or at an end of what is allowed. */
static int64_t
start_at_optimum(const struct lt_sim_run *run, const struct lt_sim_job *job)
{
	const int64_t latest_s = job->submit_utc_s + lt_sim_wait_s(run->options, job);
	int64_t best_s = job->submit_utc_s;
	double least = lt_sim_signal_integral(run->signal, best_s, best_s + job->run_s);

	for (int64_t at_s = best_s; at_s < latest_s;) {
		const int64_t start_s = lt_sim_next_hour_s(at_s);
		const int64_t end_s = lt_sim_next_hour_s(at_s + job->run_s) - job->run_s;
		double sum;

		at_s = start_s < end_s ? start_s : end_s;
		if (at_s > latest_s)
			at_s = latest_s;
		sum = lt_sim_signal_integral(run->signal, at_s, at_s + job->run_s);
		if (sum < least) {
			least = sum;
			best_s = at_s;
		}
	}
	return best_s;
}

/* ---- suspended where the signal is high ---- */

enum {
	PIECES_MAX = 1024, /* 42 days; beyond: one piece, as its first hour */
};

/* A stretch of time within one hour. */
struct piece {
	double value;
	int64_t from_utc_s, to_utc_s;
};

static int
by_value(const void *a, const void *b)
{
	const struct piece *const x = a, *const y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->from_utc_s < y->from_utc_s ? -1 : 1;
}

/* [from, to) by the hour; expected NULL: as the signal will be. */
static int
pieces_of(struct piece pieces[PIECES_MAX], const struct lt_sim_signal *signal,
    const double *expected, int64_t from_utc_s, int64_t to_utc_s)
{
	const int64_t first_hour = from_utc_s / LT_HOUR_S;
	int count = 0;

	for (int64_t at_s = from_utc_s; at_s < to_utc_s && count < PIECES_MAX; count++) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s = lt_sim_next_hour_s(at_s);

		pieces[count] = (struct piece){.from_utc_s = at_s,
		    .to_utc_s = next_s < to_utc_s && count + 1 < PIECES_MAX ? next_s : to_utc_s,
		    .value = expected == NULL ? lt_sim_signal_at(signal, hour)
					      : expected[hour - first_hour < LT_FORECAST_HOURS
							     ? hour - first_hour
							     : LT_FORECAST_HOURS - 1]};
		at_s = pieces[count].to_utc_s;
	}
	return count;
}

/* It works on [from, to): what it pays and emits, and its start and end. */
static int
use_span(struct lt_sim_run *run, const struct lt_sim_job *job, struct lt_sim_fate *fate,
    int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err)
{
	if (fate->start_utc_s == 0 || from_utc_s < fate->start_utc_s)
		fate->start_utc_s = from_utc_s;
	if (to_utc_s > fate->end_utc_s)
		fate->end_utc_s = to_utc_s;
	run->result->money += lt_sim_cost(run, job, from_utc_s, to_utc_s);
	return lt_sim_use(run, job, from_utc_s, to_utc_s, err);
}

/* The value that three tenths of the next day's ticks are below; between two of them by a straight
 * line. */
static double
ecovisor_threshold(const struct lt_sim_run *run, int64_t from_utc_s)
{
	const int64_t tick_s = run->options->tick_s;
	const int64_t ticks = LT_DAY_S / tick_s;
	const double place = 0.3 * (double)(ticks - 1);
	const int64_t whole = (int64_t)place;
	struct piece pieces[PIECES_MAX];
	const int count = pieces_of(pieces, run->signal, NULL, from_utc_s, from_utc_s + LT_DAY_S);
	int64_t before = 0;
	int i = 0;

	qsort(pieces, (size_t)count, sizeof(pieces[0]), by_value);
	for (; i + 1 < count; i++) {
		const int64_t until = before + (pieces[i].to_utc_s - pieces[i].from_utc_s) / tick_s;

		if (whole < until) {
			before = until;
			break;
		}
		before = until;
	}
	if (whole + 1 < before || i + 1 >= count)
		return pieces[i].value;
	return pieces[i].value + (place - (double)whole) * (pieces[i + 1].value - pieces[i].value);
}

static int
run_by_ecovisor(struct lt_sim_run *run, const struct lt_sim_job *job, struct lt_sim_fate *fate,
    struct lt_error *err)
{
	const double limit = ecovisor_threshold(run, job->submit_utc_s);
	int64_t wait_s = lt_sim_wait_s(run->options, job);
	int64_t left_s = job->run_s;
	int64_t at_s = job->submit_utc_s;

	while (left_s > 0) {
		const int64_t hour = at_s / LT_HOUR_S;
		const int64_t next_s = lt_sim_next_hour_s(at_s);
		struct piece piece = {.from_utc_s = at_s, .to_utc_s = next_s};

		if (!(lt_sim_signal_at(run->signal, hour) < limit)) {
			const int64_t idle_s = next_s - at_s < wait_s ? next_s - at_s : wait_s;

			wait_s -= idle_s;
			piece.from_utc_s += idle_s;
		}
		if (piece.to_utc_s - piece.from_utc_s > left_s)
			piece.to_utc_s = piece.from_utc_s + left_s;
		at_s = piece.to_utc_s;
		if (piece.from_utc_s >= piece.to_utc_s)
			continue;
		left_s -= piece.to_utc_s - piece.from_utc_s;
		if (use_span(run, job, fate, piece.from_utc_s, piece.to_utc_s, err))
			return err->code;
	}
	return LT_OK;
}

static int
run_by_wait_awhile(struct lt_sim_run *run, const struct lt_sim_job *job, struct lt_sim_fate *fate,
    struct lt_error *err)
{
	int64_t left_s = job->run_s;
	struct piece pieces[PIECES_MAX];
	const int count = pieces_of(pieces, run->signal, NULL, job->submit_utc_s,
	    job->submit_utc_s + job->run_s + lt_sim_wait_s(run->options, job));

	qsort(pieces, (size_t)count, sizeof(pieces[0]), by_value);
	for (int i = 0; i < count && left_s > 0; i++) {
		struct piece *const piece = &pieces[i];

		if (piece->to_utc_s - piece->from_utc_s > left_s)
			piece->to_utc_s = piece->from_utc_s + left_s;
		left_s -= piece->to_utc_s - piece->from_utc_s;
		if (use_span(run, job, fate, piece->from_utc_s, piece->to_utc_s, err))
			return err->code;
	}
	return LT_OK;
}

/* As much of this hour's rest as belongs to the cleanest left_s until end. */
static int64_t
run_now_s(const struct piece *pieces, int count, int64_t left_s)
{
	const struct piece *const now = &pieces[0];

	for (int i = 1; i < count; i++)
		if (pieces[i].value < now->value)
			left_s -= pieces[i].to_utc_s - pieces[i].from_utc_s;
	if (left_s <= 0)
		return 0;
	return left_s < now->to_utc_s - now->from_utc_s ? left_s : now->to_utc_s - now->from_utc_s;
}

static int
run_in_cleanest_hours(struct lt_sim_run *run, const struct lt_sim_job *job,
    struct lt_sim_fate *fate, struct lt_error *err)
{
	const int64_t end_s = job->submit_utc_s + job->run_s + lt_sim_wait_s(run->options, job);
	int64_t left_s = job->run_s;
	int64_t at_s = job->submit_utc_s;
	struct piece pieces[PIECES_MAX];

	while (left_s > 0) {
		const double *const expected = lt_sim_outlook_at(run->outlook, at_s / LT_HOUR_S);
		int64_t now_s;

		if (expected == NULL)
			return lt_fail(err, LT_ENOMEM, "forecasts: no memory");
		const int count = pieces_of(pieces, run->signal, expected, at_s, end_s);

		now_s = run_now_s(pieces, count, left_s);
		if (now_s > 0) {
			if (use_span(run, job, fate, at_s, at_s + now_s, err))
				return err->code;
		}
		left_s -= now_s;
		at_s = pieces[0].to_utc_s;
	}
	return LT_OK;
}

/* ---- as lowtided suspends ---- */

struct course { /* of one job */
	struct lt_sim_run *run;
	const struct lt_sim_job *job;
	struct lt_sim_fate *fate;
	struct lt_sim_ask ask;
	int64_t at_utc_s, left_s; /* of its work */
	int64_t still_s;	  /* that it stood still */
	int64_t paused_utc_s;	  /* since then; 0 = it works */
};

/* The rest of its expected run time; past that, of its limit. */
static int64_t
expected_left_s(const struct course *c)
{
	const int64_t worked_s = c->job->run_s - c->left_s;

	return c->ask.run_s > worked_s	   ? c->ask.run_s - worked_s
	       : c->ask.limit_s > worked_s ? c->ask.limit_s - worked_s
					   : LT_HOUR_S;
}

static int
ask_course(struct lt_pause_course *plan, const struct course *c, struct lt_error *err)
{
	struct lt_sim_run *const run = c->run;
	struct lt_request request;

	if (lt_sim_market_see(run->market, run->outlook, c->at_utc_s, err) != LT_OK)
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
stand_still(struct course *c, int64_t until_utc_s)
{
	if (c->paused_utc_s == 0)
		c->paused_utc_s = c->at_utc_s;
	lt_sim_emit(c->run, c->job, c->run->options->idle_watts_per_cpu, c->at_utc_s, until_utc_s);
	c->still_s += until_utc_s - c->at_utc_s;
	c->at_utc_s = until_utc_s;
}

static void
go_on(struct course *c)
{
	const struct lt_sim_input *const input = c->run->input;

	if (c->paused_utc_s != 0 && input->paused != NULL)
		input->paused(input->context, c->job->number, c->paused_utc_s, c->at_utc_s);
	c->paused_utc_s = 0;
}

static int
work_until(struct course *c, int64_t until_utc_s, struct lt_error *err)
{
	go_on(c);

	const int code = use_span(c->run, c->job, c->fate, c->at_utc_s, until_utc_s, err);

	c->left_s -= until_utc_s - c->at_utc_s;
	c->at_utc_s = until_utc_s;
	return code;
}

/* As it is, until then or its end. */
static int
stay_until(struct course *c, int64_t until_utc_s, struct lt_error *err)
{
	if (until_utc_s <= c->at_utc_s)
		return LT_OK;
	if (c->paused_utc_s != 0) {
		stand_still(c, until_utc_s);
		return LT_OK;
	}
	return work_until(c, lt_min_i64(until_utc_s, c->at_utc_s + c->left_s), err);
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
	int64_t until_utc_s = 0; /* has to stand still until then */

	for (uint32_t i = first_look(input, c->at_utc_s); i < input->look_count && c->left_s > 0;
	     i++) {
		const struct lt_sim_look *const look = &input->looks[i];
		struct lt_pause_course plan = {0};

		if (look->at_utc_s < c->at_utc_s)
			continue;
		if (stay_until(c, look->at_utc_s, err) != LT_OK)
			return err->code;
		/* lowtided resumes jobs that are due, and asks nobody. */
		if ((until_utc_s == 0 || look->at_utc_s < until_utc_s) && c->left_s > 0 &&
		    ask_course(&plan, c, err) != LT_OK)
			return err->code;
		until_utc_s = plan.until_utc_s;
		if (stay_until(c, look->done_utc_s, err) != LT_OK)
			return err->code;
		if (until_utc_s == 0)
			go_on(c);
		else if (c->paused_utc_s == 0 && c->left_s > 0)
			c->paused_utc_s = c->at_utc_s;
	}
	if (stay_until(c, until_utc_s, err) != LT_OK)
		return err->code;
	go_on(c);
	return stay_until(c, c->at_utc_s + c->left_s, err);
}

static int
look_each_hour(struct course *c, struct lt_error *err)
{
	while (c->left_s > 0) {
		const int64_t next_utc_s = lt_sim_next_hour_s(c->at_utc_s);
		struct lt_pause_course plan;

		if (ask_course(&plan, c, err) != LT_OK)
			return err->code;
		if (plan.until_utc_s > c->at_utc_s) {
			stand_still(c, lt_min_i64(plan.until_utc_s, next_utc_s));
			continue;
		}
		const int64_t until_utc_s =
		    lt_min_i64(c->at_utc_s + c->left_s, lt_min_i64(next_utc_s, plan.again_utc_s));
		if (work_until(c, until_utc_s, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

static int
run_as_lowtided(struct lt_sim_run *run, const struct lt_sim_job *job, struct lt_sim_fate *fate,
    struct lt_error *err)
{
	struct course c = {.run = run,
	    .job = job,
	    .fate = fate,
	    .ask = lt_sim_ask_of(run, job),
	    .at_utc_s = job->submit_utc_s,
	    .left_s = job->run_s};

	return run->input->looks != NULL ? follow_looks(&c, err) : look_each_hour(&c, err);
}

/* ---- the table, and words ---- */

const struct lt_sim_rule lt_sim_rules[LT_SIM_POLICY_COUNT] = {
    /* Each job starts when it comes. */
    [LT_SIM_NOWAIT] = {.name = "nowait"},
    /* GAIA: at the cleanest hour; at the cleanest span of an average run; where most is saved for
     * each hour until the end. */
    [LT_SIM_LOWEST_SLOT] = {.name = "lowest-slot", .start = start_in_lowest_slot},
    [LT_SIM_LOWEST_WINDOW] = {.name = "lowest-window", .start = start_in_lowest_window},
    [LT_SIM_CARBON_TIME] = {.name = "carbon-time", .start = start_by_carbon_time},
    /* Suspended over the 30th percentile of a day. */
    [LT_SIM_ECOVISOR] = {.name = "ecovisor", .pause = run_by_ecovisor},
    /* Suspended but in the cleanest hours. */
    [LT_SIM_WAIT_AWHILE] = {.name = "wait-awhile", .pause = run_by_wait_awhile},
    /* GAIA: carbon-time, and at once on free reserved CPUs. */
    [LT_SIM_RES_FIRST] = {.name = "res-first", .conserving = true, .start = start_by_carbon_time},
    /* The cleanest start there is, all known. */
    [LT_SIM_OPTIMUM] = {.name = "optimum", .start = start_at_optimum},
    /* lt_decide(), and lt_replan() each hour until the start. */
    [LT_SIM_LOWTIDE] = {.name = "lowtide", .decides = true},
    /* Suspended but in the hours expected cleanest, anew each hour. */
    [LT_SIM_LOWTIDE_PAUSE] = {.name = "lowtide-pause", .pause = run_in_cleanest_hours},
    /* Suspended and let go on as lowtided does it, by lt_pause_plan(). */
    [LT_SIM_LOWTIDE_SUSPEND] = {.name = "lowtide-suspend", .pause = run_as_lowtided},
};

static const char *const forecast_names[LT_SIM_FORECAST_COUNT] = {
    [LT_SIM_PERFECT] = "perfect",
    [LT_SIM_OWN] = "own",
    [LT_SIM_OWN_WEEKS] = "own-weeks",
    [LT_SIM_YESTERDAY] = "yesterday",
    [LT_SIM_WEEK] = "hour-of-week",
};

static const char *const length_names[LT_SIM_LENGTH_COUNT] = {
    [LT_SIM_EXACT] = "exact",
    [LT_SIM_AVERAGE] = "average",
    [LT_SIM_LIMIT] = "limit",
    [LT_SIM_LEARNED] = "learned",
};

const char *
lt_sim_policy_name(int policy)
{
	return policy >= 0 && policy < LT_SIM_POLICY_COUNT ? LT_ROW(lt_sim_rules, policy).name
							   : NULL;
}

const char *
lt_sim_forecast_name(int forecast)
{
	return LT_WORD_OR(forecast_names, forecast, NULL);
}

const char *
lt_sim_length_name(int length)
{
	return LT_WORD_OR(length_names, length, NULL);
}

static const char *const again_names[LT_SIM_AGAIN_COUNT] = {
    [LT_SIM_REPLAN] = "replan",
    [LT_SIM_DECIDE] = "decide",
    [LT_SIM_NEVER] = "never",
};

const char *
lt_sim_again_name(int again)
{
	return LT_WORD_OR(again_names, again, NULL);
}
