/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a job on spot nodes: it waits for one, works, loses it, and is
 * looked at when lowtided would (again.c), until it ends or goes on demand.
 */
#include <string.h>

#include "lookup.h"
#include "spot_market.h"
#include "units.h"

enum { GIVES_UP = 10 }; /* times the deadline */

const struct lt_sim_spot_options lt_sim_spot_defaults = {
    .work_s = 4 * LT_HOUR_S,
    .limit_factor = 1.25,
    .deadline_factor = 2,
    .every_s = 600,
    .write_s = 60,
    .restart_s = 120,
    .slack_s = 1800,
    .spot_per_hour = 0.918,
    .on_demand_per_hour = 3.06,
    .jobs = 100,
    .seed = 1,
    .comes_s = -1,
};

const char *
lt_sim_spot_word(enum lt_sim_spot_what what)
{
	static const char *const words[LT_SIM_SPOT_WHAT_COUNT] = {
	    [LT_SIM_SPOT_SUBMITTED] = "submitted",
	    [LT_SIM_SPOT_STARTED] = "started",
	    [LT_SIM_SPOT_TAKEN] = "taken",
	    [LT_SIM_SPOT_DECIDED] = "decided",
	    [LT_SIM_SPOT_RETURNS] = "returns",
	    [LT_SIM_SPOT_ENDED] = "ended",
	    [LT_SIM_SPOT_TIMED_OUT] = "timed_out",
	    [LT_SIM_SPOT_GAVE_UP] = "gave_up",
	};

	return LT_WORD(words, what);
}

struct life {
	const struct lt_sim_spot *spot;
	struct lt_sim_spot_market *market;
	struct lt_sim_spot_fate *fate;
	uint32_t number;
	int64_t now_s;
	int64_t left_s; /* of the work, really */
	int64_t done_s; /* as lowtided counts it */
	int64_t limit_s;
	int64_t eligible_s; /* Slurm starts it from then on */
	int64_t look_s;	    /* lowtided looks at it next */
	uint32_t runs;
	bool is_spot, is_over;
};

static void
tell(const struct life *life, enum lt_sim_spot_what what, const char *why)
{
	const struct lt_sim_spot_watch *const watch = &life->spot->watch;

	if (watch->event != NULL)
		watch->event(watch->context,
		    &(struct lt_sim_spot_event){.job = life->number,
			.at_s = life->now_s,
			.what = what,
			.is_spot = life->is_spot,
			.why = why,
			.done_s = life->done_s,
			.interruptions = life->fate->interruptions});
}

static bool
is_taken(const struct lt_sim_spot_trace *trace, int64_t at_s)
{
	return trace->taken[at_s / trace->tick_s % trace->count];
}

static int64_t
next_tick_s(const struct lt_sim_spot_trace *trace, int64_t at_s)
{
	return (at_s / trace->tick_s + 1) * trace->tick_s;
}

/* INT64_MAX: never. */
static int64_t
next_taken_s(const struct lt_sim_spot_trace *trace, int64_t at_s)
{
	for (uint32_t i = 0; i < trace->count; i++) {
		at_s = next_tick_s(trace, at_s);
		if (is_taken(trace, at_s))
			return at_s;
	}
	return INT64_MAX;
}

/* Each half minute, each job at its own second. */
static int64_t
next_look_s(const struct life *life, int64_t from_s)
{
	const int64_t phase = life->number % LT_WAITING_EVERY_S;
	const int64_t since_s =
	    (from_s + LT_WAITING_EVERY_S - phase) % LT_WAITING_EVERY_S;

	return since_s == 0 ? from_s : from_s + LT_WAITING_EVERY_S - since_s;
}

static void
end(struct life *life, enum lt_sim_spot_what what)
{
	life->is_over = true;
	life->fate->ended_s = life->now_s;
	life->fate->done = what == LT_SIM_SPOT_ENDED;
	life->fate->timed_out = what == LT_SIM_SPOT_TIMED_OUT;
	life->fate->left = !life->is_spot;
	tell(life, what, "");
}

static void
go(struct life *life, const struct lt_sim_spot_answer *answer)
{
	life->is_spot = answer->is_spot;
	life->eligible_s = answer->start_s;
	life->limit_s = answer->limit_s;
}

static struct lt_sim_spot_ask
ask_of(const struct life *life)
{
	return (struct lt_sim_spot_ask){.now_s = life->now_s,
	    .came_s = life->fate->came_s,
	    .is_spot = life->is_spot,
	    .waits_since_s =
		life->eligible_s < life->now_s ? life->eligible_s : life->now_s,
	    .limit_s = life->limit_s,
	    .done_s = life->done_s,
	    .interruptions = life->fate->interruptions};
}

static int
look(struct life *life, struct lt_error *err)
{
	const struct lt_sim_spot_ask ask = ask_of(life);
	struct lt_sim_spot_answer answer;

	if (lt_sim_spot_again(&answer, life->market, &ask, err) != LT_OK)
		return err->code;
	if (answer.why != LT_REPLAN_KEEP) {
		go(life, &answer);
		tell(life, LT_SIM_SPOT_DECIDED, lt_replan_word(answer.why));
	} else if (life->now_s < life->eligible_s) {
		life->eligible_s = life->now_s; /* it needn't wait for that */
	}
	life->look_s = next_look_s(life, life->now_s + 1 > life->eligible_s
					     ? life->now_s + 1
					     : life->eligible_s);
	return LT_OK;
}

/* Until it may start: Slurm starts it as soon as it can, and who is started is
 * looked at no more. */
static int
wait_for_node(struct life *life, int64_t until_s, struct lt_error *err)
{
	const struct lt_sim_spot_trace *const trace = &life->spot->trace;

	while (life->is_spot && (life->now_s < life->eligible_s ||
				    is_taken(trace, life->now_s))) {
		const int64_t node_s = life->now_s < life->eligible_s
					   ? life->eligible_s
					   : next_tick_s(trace, life->now_s);

		life->now_s = node_s < life->look_s ? node_s : life->look_s;
		if (life->now_s >= until_s) {
			end(life, LT_SIM_SPOT_GAVE_UP);
			return LT_OK;
		}
		if (life->now_s < life->look_s ||
		    (life->now_s >= life->eligible_s &&
			!is_taken(trace, life->now_s)))
			continue;
		if (look(life, err) != LT_OK)
			return err->code;
	}
	if (life->now_s < life->eligible_s)
		life->now_s = life->eligible_s;
	return LT_OK;
}

static int64_t
checkpoints_of(const struct lt_sim_spot_options *options, int64_t work_s)
{
	return (work_s - 1) / options->every_s;
}

/* What is really kept, and what lowtided takes for kept. */
static void
lose(struct life *life, int64_t ran_s, int64_t restart_s)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const struct lt_checkpoint checkpoint = lt_sim_spot_checkpoint(options);
	const int64_t worked_s = ran_s > restart_s ? ran_s - restart_s : 0;
	const int64_t written =
	    worked_s / (options->every_s + options->write_s);
	const int64_t most = checkpoints_of(options, life->left_s);

	life->left_s -= (written < most ? written : most) * options->every_s;
	life->done_s += lt_checkpoint_kept_s(
	    &checkpoint, 0, (double)options->restart_s, ran_s);
	life->fate->interruptions++;
	life->eligible_s = life->now_s + LT_REQUEUE_WAIT_S;
	life->look_s = lt_replan_back_utc_s(life->now_s, life->eligible_s);
	tell(life, LT_SIM_SPOT_TAKEN, "");
}

/* The first second of on-demand work at which it is asked for a checkpoint to
 * go back; until_s: it works through. lowtided looks with each market, here
 * when a tick begins. */
static int
find_return(int64_t *at_s, const struct life *life, int64_t until_s,
    struct lt_error *err)
{
	const struct lt_sim_spot_trace *const trace = &life->spot->trace;
	struct lt_sim_spot_ask ask = ask_of(life);
	bool returns = false;

	*at_s = life->now_s;
	ask.waits_since_s = life->now_s;
	while (!returns) {
		*at_s = next_tick_s(trace, *at_s);
		if (*at_s + life->spot->options->write_s >= until_s) {
			*at_s = until_s;
			return LT_OK;
		}
		ask.now_s = *at_s;
		if (!is_taken(trace, *at_s) &&
		    lt_sim_spot_back(&returns, life->market, &ask, err))
			return err->code;
	}
	return LT_OK;
}

/* It wrote what it had done when it was asked, and is decided again at once. */
static int
go_back(struct life *life, int64_t from_s, int64_t asked_s, int64_t restart_s,
    struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const int64_t worked_s =
	    asked_s > from_s + restart_s ? asked_s - from_s - restart_s : 0;
	const int64_t each_s = options->every_s + options->write_s;
	const int64_t since_s = worked_s % each_s;

	life->left_s -=
	    worked_s / each_s * options->every_s +
	    (since_s < options->every_s ? since_s : options->every_s);
	if (asked_s - from_s > options->restart_s)
		life->done_s += asked_s - from_s - options->restart_s;
	life->fate->returns++;
	life->eligible_s = life->now_s + LT_REQUEUE_WAIT_S;
	tell(life, LT_SIM_SPOT_RETURNS, "");
	return look(life, err);
}

static int
work(struct life *life, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const int64_t restart_s = life->runs++ > 0 ? options->restart_s : 0;
	const int64_t need_s =
	    restart_s + life->left_s +
	    checkpoints_of(options, life->left_s) * options->write_s;
	const int64_t may_s = need_s < life->limit_s ? need_s : life->limit_s;
	const int64_t from_s = life->now_s, end_s = from_s + may_s;
	int64_t until_s = end_s;
	int code = LT_OK;

	tell(life, LT_SIM_SPOT_STARTED, "");
	if (life->is_spot)
		until_s = next_taken_s(&life->spot->trace, from_s);
	else if (options->returns)
		code = find_return(&until_s, life, end_s, err);
	if (code != LT_OK)
		return code;
	const bool ends = end_s <= until_s;
	life->now_s = ends	      ? end_s
		      : life->is_spot ? until_s
				      : until_s + options->write_s;
	life->fate->money += (double)(life->now_s - from_s) / LT_HOUR_S *
			     (life->is_spot ? options->spot_per_hour
					    : options->on_demand_per_hour);
	if (ends)
		end(life, need_s <= life->limit_s ? LT_SIM_SPOT_ENDED
						  : LT_SIM_SPOT_TIMED_OUT);
	else if (life->is_spot)
		lose(life, until_s - from_s, restart_s);
	else
		code = go_back(life, from_s, until_s, restart_s, err);
	return code;
}

static int
live(struct life *life, struct lt_error *err)
{
	struct lt_sim_spot_fate *const fate = life->fate;
	const int64_t until_s =
	    fate->came_s + GIVES_UP * (fate->deadline_s - fate->came_s);
	const struct lt_sim_spot_ask ask = ask_of(life);
	struct lt_sim_spot_answer first;

	if (lt_sim_spot_first(&first, life->market, &ask, err) != LT_OK)
		return err->code;
	go(life, &first);
	tell(life, LT_SIM_SPOT_SUBMITTED, "");
	while (!life->is_over) {
		if (wait_for_node(life, until_s, err) != LT_OK)
			return err->code;
		if (!life->is_over && work(life, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

static int
live_on(struct lt_sim_spot_fate *fate, const struct lt_sim_spot *spot,
    struct lt_sim_spot_market *market, uint32_t number, struct lt_error *err)
{
	struct life life = {.spot = spot,
	    .market = market,
	    .fate = fate,
	    .number = number,
	    .now_s = fate->came_s,
	    .eligible_s = fate->came_s,
	    .left_s = spot->options->work_s,
	    .limit_s = lt_sim_spot_limit_s(spot->options)};

	fate->deadline_s = lt_sim_spot_deadline_s(spot->options, fate->came_s);
	life.look_s = next_look_s(&life, fate->came_s + 1);
	return live(&life, err);
}

int
lt_sim_spot_check(const struct lt_sim_spot *spot, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = spot->options;
	const int64_t limit_s = lt_sim_spot_limit_s(options);
	const int64_t most_s = lt_sim_spot_deadline_s(options, 0);
	const int64_t least_s =
	    options->work_s +
	    checkpoints_of(options, options->work_s) * options->write_s;

	if (spot->trace.count == 0 || spot->trace.tick_s <= 0)
		return lt_fail(err, LT_EINPUT, "trace: has no ticks");
	if (limit_s < least_s)
		return lt_fail(err, LT_EINPUT,
		    "limit: got %lld s, want the work and its checkpoints, %lld s",
		    (long long)limit_s, (long long)least_s);
	if (most_s < limit_s)
		return lt_fail(err, LT_EINPUT,
		    "deadline: got %lld s, want the time limit at least, %lld s",
		    (long long)most_s, (long long)limit_s);
	return LT_OK;
}

int
lt_sim_spot_job(struct lt_sim_spot_fate *fate, const struct lt_sim_spot *spot,
    uint32_t number, int64_t came_s, struct lt_error *err)
{
	struct lt_sim_spot_market *market;
	int code = lt_sim_spot_check(spot, err);

	*fate = (struct lt_sim_spot_fate){.came_s = came_s};
	if (code != LT_OK)
		return code;
	code = lt_sim_spot_market_open(&market, spot, err);
	if (code == LT_OK)
		code = live_on(fate, spot, market, number, err);
	lt_sim_spot_market_close(market);
	return code;
}

static void
count(struct lt_sim_spot_result *result, const struct lt_sim_spot *spot,
    const struct lt_sim_spot_fate *fate)
{
	const struct lt_sim_spot_options *const options = spot->options;
	const int64_t alone_s =
	    options->work_s +
	    checkpoints_of(options, options->work_s) * options->write_s;

	result->in_time += fate->done && fate->ended_s <= fate->deadline_s;
	result->timed_out += fate->timed_out;
	result->left += fate->left;
	result->interruptions += fate->interruptions;
	result->returns += fate->returns;
	result->money += fate->money;
	result->on_demand_money +=
	    (double)alone_s / LT_HOUR_S * options->on_demand_per_hour;
}

/* What the trace itself shows. */
static void
look_at(
    struct lt_sim_spot_result *result, const struct lt_sim_spot_trace *trace)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < trace->count; i++) {
		there += !trace->taken[i];
		result->taken +=
		    i > 0 && !trace->taken[i - 1] && trace->taken[i];
	}
	result->there = (double)there / trace->count;
}

int
lt_simulate_spot(struct lt_sim_spot_result *result,
    const struct lt_sim_spot *spot, struct lt_error *err)
{
	const int64_t length_s = spot->trace.tick_s * spot->trace.count;
	uint64_t seed = spot->options->seed;
	struct lt_sim_spot_market *market;
	int code = lt_sim_spot_check(spot, err);

	*result = (struct lt_sim_spot_result){0};
	if (code != LT_OK)
		return code;
	look_at(result, &spot->trace);
	code = lt_sim_spot_market_open(&market, spot, err);
	for (uint32_t i = 0; i < spot->options->jobs && code == LT_OK; i++) {
		const int64_t drawn_s =
		    (int64_t)(lt_random(&seed) % (uint64_t)length_s);
		struct lt_sim_spot_fate fate = {
		    .came_s = spot->options->comes_s >= 0
				  ? spot->options->comes_s
				  : drawn_s};

		code = live_on(&fate, spot, market, i, err);
		if (code == LT_OK)
			count(result, spot, &fate);
	}
	lt_sim_spot_market_close(market);
	return code;
}
