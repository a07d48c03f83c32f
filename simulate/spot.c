/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a job on spot nodes: it waits for one, works, loses it, and is looked at when
 * lowtided would, until it ends or goes on demand. It reads the ticks of the trace and tells each
 * event to the watch.
 *
 * Its market is two partitions of one node each, whose prices do not change:
 * what is left to decide is where, and when to leave.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interruption.h"
#include "lookup.h"
#include "pause.h"
#include "replan.h"
#include "spot.h"
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

/* ---- the market ---- */

enum { ON_DEMAND, SPOT, PLACES };

/* Second 0 of the trace: any will do from which a series may begin. */
static const int64_t begin_utc_s = LT_DAY_S;

struct spot_market {
	const struct lt_sim_spot_options *options;
	struct lt_market market;
	struct lt_partition partitions[PLACES];
	struct lt_shape shape;
	struct lt_series prices[PLACES];
	int64_t starts[2];
	double values[PLACES], integrals[PLACES][2];
	struct lt_class class;
	struct lt_request request;
	struct lt_plan plan;
	struct lt_replanned again;
};

static int64_t
limit_asked_s(const struct lt_sim_spot_options *options)
{
	return (int64_t)ceil(options->limit_factor * (double)options->work_s / 60) * 60;
}

static int64_t
deadline_of(const struct lt_sim_spot_options *options, int64_t came_s)
{
	return came_s + llround(options->deadline_factor * (double)options->work_s);
}

static struct lt_checkpoint
checkpoint_of(const struct lt_sim_spot_options *options)
{
	return (struct lt_checkpoint){.enabled = true,
	    .signal = 10, /* any will do */
	    .every_s = (double)options->every_s,
	    .write_s = (double)options->write_s};
}

/* The hazard of a node that is there, by the trace itself. */
static double
hazard_per_hour(const struct lt_sim_spot_trace *trace)
{
	uint32_t there = 0, taken = 0;

	for (uint32_t i = 0; i < trace->count; i++) {
		if (trace->taken[i])
			continue;
		there++;
		taken += trace->taken[(i + 1) % trace->count];
	}
	return there > 0 ? (double)taken * LT_HOUR_S / ((double)there * (double)trace->tick_s) : 0;
}

static int
make_price(struct spot_market *made, int place, double per_hour, struct lt_error *err)
{
	struct lt_series *const price = &made->prices[place];

	made->starts[0] = 0;
	made->starts[1] = begin_utc_s;
	made->values[place] = per_hour * LT_MICROS;
	*price = (struct lt_series){.count = 1,
	    .quality = LT_QUALITY_CONSTANT,
	    .start_utc_s = made->starts,
	    .value = &made->values[place],
	    .integral = made->integrals[place]};
	return lt_series_prepare(price, err);
}

static void
make_partitions(struct spot_market *made, const struct lt_sim_spot_trace *trace)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} places[PLACES] = {
	    [ON_DEMAND] = {"ondemand", LT_PARTITION_DEFAULT},
	    [SPOT] = {"spot", LT_PARTITION_PREEMPTIBLE},
	};

	for (int i = 0; i < PLACES; i++) {
		struct lt_partition *const part = &made->partitions[i];

		*part = (struct lt_partition){
		    .flags = places[i].flags | LT_PARTITION_UP | LT_PARTITION_MANAGED,
		    .max_time_s = INT64_MAX,
		    .max_nodes = UINT32_MAX,
		    .allow_accounts = "",
		    .deny_accounts = "",
		    .allow_qos = "",
		    .deny_qos = "",
		    .node_count = 1,
		    .shape_count = 1,
		    .price_series = i,
		    .carbon_series = LT_NO_SERIES,
		    .tariff_series = LT_NO_SERIES,
		    .occupancy_series = LT_NO_SERIES,
		    .pue = 1,
		    .restart_s = (double)made->options->restart_s};
		(void)snprintf(part->name, sizeof(part->name), "%s", places[i].name);
	}
	made->partitions[SPOT].hazard_per_node_hour = hazard_per_hour(trace);
}

static int
open_market(struct spot_market **market, const struct lt_sim_spot *spot, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = spot->options;
	struct spot_market *const made = calloc(1, sizeof(*made));

	*market = made;
	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "market: no memory");
	made->options = options;
	made->shape =
	    (struct lt_shape){.node_count = 1, .cpus = 1, .memory_mib = 1024, .gpu_index = -1};
	make_partitions(made, &spot->trace);
	made->market = (struct lt_market){.currency = "USD",
	    .mode = LT_MODE_ENFORCE,
	    .stale_after_s = LT_DAY_S,
	    .deadline_slack_s = options->slack_s,
	    .deadline_confidence_ppm = 950000,
	    .max_restart_risk_ppm = 100000,
	    .memory_ignored = true,
	    .partition_count = PLACES,
	    .shape_count = 1,
	    .series_count = PLACES,
	    .partitions = made->partitions,
	    .shapes = &made->shape,
	    .series = made->prices};
	if (options->returns) {
		made->class = (struct lt_class){.name = "returns",
		    .max_interruptions = LT_INTERRUPTIONS_ANY,
		    .pause = LT_PAUSE_REQUEUE};
		memcpy(made->class.partition, made->partitions[ON_DEMAND].name,
		    sizeof(made->class.partition));
		made->market.classes = &made->class;
		made->market.class_count = 1;
	}
	made->request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .cpus = 1,
	    .array_tasks = 1,
	    .expected_run_s = LT_UNSET_64,
	    .home = ON_DEMAND,
	    .objective = LT_OBJECTIVE_COST,
	    .checkpoint = checkpoint_of(options),
	    .max_interruptions = options->max_interruptions,
	    .max_cost_micros = LT_UNSET_64};
	if (make_price(made, ON_DEMAND, options->on_demand_per_hour, err))
		return err->code;
	return make_price(made, SPOT, options->spot_per_hour, err);
}

/* ---- a life ---- */

struct life {
	const struct lt_sim_spot *spot;
	struct spot_market *market;
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
tell_watch(const struct life *life, enum lt_sim_spot_what what, const char *why)
{
	const struct lt_sim_spot_watch *const watch = &life->spot->watch;

	if (watch->event != NULL)
		watch->event(watch->context, &(struct lt_sim_spot_event){.job = life->number,
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
	const int64_t since_s = (from_s + LT_WAITING_EVERY_S - phase) % LT_WAITING_EVERY_S;

	return since_s == 0 ? from_s : from_s + LT_WAITING_EVERY_S - since_s;
}

static void
end_life(struct life *life, enum lt_sim_spot_what what)
{
	life->is_over = true;
	life->fate->ended_s = life->now_s;
	life->fate->done = what == LT_SIM_SPOT_ENDED;
	life->fate->timed_out = what == LT_SIM_SPOT_TIMED_OUT;
	life->fate->left = !life->is_spot;
	tell_watch(life, what, "");
}

/* The request as lowtided lays it, again and again: interrupted.c, standing.c. */
static const struct lt_request *
request_at(const struct life *life, int64_t now_s)
{
	struct lt_request *const request = &life->market->request;

	request->earliest_utc_s = begin_utc_s + now_s;
	request->deadline_utc_s = begin_utc_s + life->fate->deadline_s;
	request->limit_s = life->limit_s;
	request->cut_s = limit_asked_s(life->spot->options) - life->limit_s;
	request->done_s = life->done_s;
	request->interruptions = life->fate->interruptions;
	return request;
}

static void
follow_plan(struct life *life, const struct lt_plan *plan)
{
	const struct spot_market *const market = life->market;

	life->is_spot = plan->chosen.partition == SPOT;
	life->eligible_s = plan->moved ? plan->chosen.start_utc_s - begin_utc_s : life->now_s;
	life->limit_s = lt_limit_of(&market->request, &market->market, ON_DEMAND);
}

/* Decides a waiting job again, by lt_replan(). */
static int
look_again(struct life *life, struct lt_error *err)
{
	struct spot_market *const market = life->market;
	const int64_t since_s = life->eligible_s < life->now_s ? life->eligible_s : life->now_s;
	const struct lt_replan of = {.request = request_at(life, life->now_s),
	    .market = &market->market,
	    .partition = life->is_spot ? SPOT : ON_DEMAND,
	    .start_utc_s = begin_utc_s + since_s,
	    .now_utc_s = begin_utc_s + life->now_s};

	if (lt_replan(&market->again, &of, err) != LT_OK)
		return err->code;
	if (market->again.why != LT_REPLAN_KEEP) {
		follow_plan(life, &market->again.plan);
		tell_watch(life, LT_SIM_SPOT_DECIDED, lt_replan_word(market->again.why));
	} else if (life->now_s < life->eligible_s) {
		life->eligible_s = life->now_s; /* it needn't wait for that */
	}
	life->look_s = next_look_s(
	    life, life->now_s + 1 > life->eligible_s ? life->now_s + 1 : life->eligible_s);
	return LT_OK;
}

/* Sets *returns: is one that works on demand since now_s to be requeued at that second? By
 * lt_replan_return(). */
static int
ask_return(bool *returns, const struct life *life, int64_t at_s, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const struct lt_request *const request = request_at(life, at_s);
	const struct lt_pause_promise promise = {.deadline_utc_s = request->deadline_utc_s,
	    .start_utc_s = begin_utc_s + life->now_s,
	    .limit_s = life->limit_s,
	    .now_utc_s = begin_utc_s + at_s};
	const struct lt_return_of of = {.request = request,
	    .market = &life->market->market,
	    .worked_s = at_s - life->now_s,
	    .requeue_s = options->write_s + options->restart_s,
	    .most_s = lt_pause_most_s(&promise, &life->market->market),
	    .now_utc_s = promise.now_utc_s};
	struct lt_return back;

	if (lt_replan_return(&back, &of, err) != LT_OK)
		return err->code;
	*returns = back.partition == SPOT;
	return LT_OK;
}

/* Until it may start: Slurm starts it as soon as it can, and who is started is looked at no
 * more. */
static int
wait_for_node(struct life *life, int64_t until_s, struct lt_error *err)
{
	const struct lt_sim_spot_trace *const trace = &life->spot->trace;

	while (life->is_spot && (life->now_s < life->eligible_s || is_taken(trace, life->now_s))) {
		const int64_t node_s = life->now_s < life->eligible_s
					   ? life->eligible_s
					   : next_tick_s(trace, life->now_s);

		life->now_s = node_s < life->look_s ? node_s : life->look_s;
		if (life->now_s >= until_s) {
			end_life(life, LT_SIM_SPOT_GAVE_UP);
			return LT_OK;
		}
		if (life->now_s < life->look_s ||
		    (life->now_s >= life->eligible_s && !is_taken(trace, life->now_s)))
			continue;
		if (look_again(life, err) != LT_OK)
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

/* Counts the work that is really kept, and the work that lowtided assumes kept. */
static void
lose_node(struct life *life, int64_t ran_s, int64_t restart_s)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const struct lt_checkpoint checkpoint = checkpoint_of(options);
	const int64_t worked_s = ran_s > restart_s ? ran_s - restart_s : 0;
	const int64_t written = worked_s / (options->every_s + options->write_s);
	const int64_t most = checkpoints_of(options, life->left_s);

	life->left_s -= (written < most ? written : most) * options->every_s;
	life->done_s += lt_checkpoint_kept_s(&checkpoint, 0, (double)options->restart_s, ran_s);
	life->fate->interruptions++;
	life->eligible_s = life->now_s + LT_REQUEUE_WAIT_S;
	life->look_s = lt_replan_back_utc_s(life->now_s, life->eligible_s);
	tell_watch(life, LT_SIM_SPOT_TAKEN, "");
}

/* The first second of on-demand work at which it is asked for a checkpoint to go back; until_s: it
 * works through. lowtided looks with each market, here when a tick begins. */
static int
find_return(int64_t *at_s, const struct life *life, int64_t until_s, struct lt_error *err)
{
	const struct lt_sim_spot_trace *const trace = &life->spot->trace;
	bool returns = false;

	*at_s = life->now_s;
	while (!returns) {
		*at_s = next_tick_s(trace, *at_s);
		if (*at_s + life->spot->options->write_s >= until_s) {
			*at_s = until_s;
			return LT_OK;
		}
		if (!is_taken(trace, *at_s) && ask_return(&returns, life, *at_s, err))
			return err->code;
	}
	return LT_OK;
}

/* It wrote what it had done when it was asked, and is decided again at once. */
static int
go_back(struct life *life, int64_t from_s, int64_t asked_s, int64_t restart_s, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const int64_t worked_s = asked_s > from_s + restart_s ? asked_s - from_s - restart_s : 0;
	const int64_t each_s = options->every_s + options->write_s;
	const int64_t since_s = worked_s % each_s;

	life->left_s -= worked_s / each_s * options->every_s +
			(since_s < options->every_s ? since_s : options->every_s);
	if (asked_s - from_s > options->restart_s)
		life->done_s += asked_s - from_s - options->restart_s;
	life->fate->returns++;
	life->eligible_s = life->now_s + LT_REQUEUE_WAIT_S;
	tell_watch(life, LT_SIM_SPOT_RETURNS, "");
	return look_again(life, err);
}

static int
work_on(struct life *life, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = life->spot->options;
	const int64_t restart_s = life->runs++ > 0 ? options->restart_s : 0;
	const int64_t need_s =
	    restart_s + life->left_s + checkpoints_of(options, life->left_s) * options->write_s;
	const int64_t may_s = need_s < life->limit_s ? need_s : life->limit_s;
	const int64_t from_s = life->now_s, end_s = from_s + may_s;
	int64_t until_s = end_s;
	int code = LT_OK;

	tell_watch(life, LT_SIM_SPOT_STARTED, "");
	if (life->is_spot)
		until_s = next_taken_s(&life->spot->trace, from_s);
	else if (options->returns)
		code = find_return(&until_s, life, end_s, err);
	if (code != LT_OK)
		return code;
	const bool ends = end_s <= until_s;
	life->now_s = ends ? end_s : life->is_spot ? until_s : until_s + options->write_s;
	life->fate->money += (double)(life->now_s - from_s) / LT_HOUR_S *
			     (life->is_spot ? options->spot_per_hour : options->on_demand_per_hour);
	if (ends)
		end_life(life, need_s <= life->limit_s ? LT_SIM_SPOT_ENDED : LT_SIM_SPOT_TIMED_OUT);
	else if (life->is_spot)
		lose_node(life, until_s - from_s, restart_s);
	else
		code = go_back(life, from_s, until_s, restart_s, err);
	return code;
}

static int
live(struct lt_sim_spot_fate *fate, const struct lt_sim_spot *spot, struct spot_market *market,
    uint32_t number, struct lt_error *err)
{
	struct life life = {.spot = spot,
	    .market = market,
	    .fate = fate,
	    .number = number,
	    .now_s = fate->came_s,
	    .eligible_s = fate->came_s,
	    .left_s = spot->options->work_s,
	    .limit_s = limit_asked_s(spot->options)};

	fate->deadline_s = deadline_of(spot->options, fate->came_s);
	life.look_s = next_look_s(&life, fate->came_s + 1);

	const int64_t until_s = fate->came_s + GIVES_UP * (fate->deadline_s - fate->came_s);

	if (lt_decide(&market->plan, request_at(&life, life.now_s), &market->market, NULL, 0,
		begin_utc_s + life.now_s, err) != LT_OK)
		return err->code;
	follow_plan(&life, &market->plan);
	tell_watch(&life, LT_SIM_SPOT_SUBMITTED, "");
	while (!life.is_over) {
		if (wait_for_node(&life, until_s, err) != LT_OK)
			return err->code;
		if (!life.is_over && work_on(&life, err) != LT_OK)
			return err->code;
	}
	return LT_OK;
}

int
lt_sim_spot_check(const struct lt_sim_spot *spot, struct lt_error *err)
{
	const struct lt_sim_spot_options *const options = spot->options;
	const int64_t limit_s = limit_asked_s(options);
	const int64_t most_s = deadline_of(options, 0);
	const int64_t least_s =
	    options->work_s + checkpoints_of(options, options->work_s) * options->write_s;

	if (spot->trace.count == 0 || spot->trace.tick_s <= 0)
		return lt_fail(err, LT_EINPUT, "trace: has no ticks");
	if (limit_s < least_s)
		return lt_fail(err, LT_EINPUT,
		    "limit: got %lld s, want the work and its checkpoints, %lld s",
		    (long long)limit_s, (long long)least_s);
	if (most_s < limit_s)
		return lt_fail(err, LT_EINPUT,
		    "deadline: got %lld s, want the time limit at least, %lld s", (long long)most_s,
		    (long long)limit_s);
	return LT_OK;
}

int
lt_sim_spot_job(struct lt_sim_spot_fate *fate, const struct lt_sim_spot *spot, uint32_t number,
    int64_t came_s, struct lt_error *err)
{
	struct spot_market *market = NULL;
	int code = lt_sim_spot_check(spot, err);

	*fate = (struct lt_sim_spot_fate){.came_s = came_s};
	if (code != LT_OK)
		return code;
	code = open_market(&market, spot, err);
	if (code == LT_OK)
		code = live(fate, spot, market, number, err);
	free(market);
	return code;
}

static void
count_fate(struct lt_sim_spot_result *result, const struct lt_sim_spot *spot,
    const struct lt_sim_spot_fate *fate)
{
	const struct lt_sim_spot_options *const options = spot->options;
	const int64_t alone_s =
	    options->work_s + checkpoints_of(options, options->work_s) * options->write_s;

	result->in_time += fate->done && fate->ended_s <= fate->deadline_s;
	result->timed_out += fate->timed_out;
	result->left += fate->left;
	result->interruptions += fate->interruptions;
	result->returns += fate->returns;
	result->money += fate->money;
	result->on_demand_money += (double)alone_s / LT_HOUR_S * options->on_demand_per_hour;
}

/* Counts what the trace itself shows. */
static void
look_at_trace(struct lt_sim_spot_result *result, const struct lt_sim_spot_trace *trace)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < trace->count; i++) {
		there += !trace->taken[i];
		result->taken += i > 0 && !trace->taken[i - 1] && trace->taken[i];
	}
	result->there = (double)there / trace->count;
}

int
lt_simulate_spot(
    struct lt_sim_spot_result *result, const struct lt_sim_spot *spot, struct lt_error *err)
{
	const int64_t length_s = spot->trace.tick_s * spot->trace.count;
	uint64_t seed = spot->options->seed;
	struct spot_market *market = NULL;
	int code = lt_sim_spot_check(spot, err);

	*result = (struct lt_sim_spot_result){0};
	if (code != LT_OK)
		return code;
	look_at_trace(result, &spot->trace);
	code = open_market(&market, spot, err);
	for (uint32_t i = 0; i < spot->options->jobs && code == LT_OK; i++) {
		const int64_t drawn_s = (int64_t)(lt_random(&seed) % (uint64_t)length_s);
		struct lt_sim_spot_fate fate = {
		    .came_s = spot->options->comes_s >= 0 ? spot->options->comes_s : drawn_s};

		code = live(&fate, spot, market, i, err);
		if (code == LT_OK)
			count_fate(result, spot, &fate);
	}
	free(market);
	return code;
}
