/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late": the ticks, as its published simulator has them; policies that need no memory,
 * which are the published baselines and the slack rule; and the least that a job costs for somebody
 * who knows all that comes.
 */
#include <math.h>
#include <stdlib.h>

#include "late.h"
#include "units.h"

static const struct lt_sim_spot_trace *
trace_of(const struct lt_late *late, uint32_t region)
{
	return &late->regions[region];
}

static int
check_regions(const struct lt_late *late, struct lt_error *err)
{
	if (late->region_count == 0 || late->region_count > LT_LATE_REGIONS_MAX)
		return lt_fail(err, LT_EINPUT, "regions: got %u, want 1 to %d", late->region_count,
		    LT_LATE_REGIONS_MAX);
	for (uint32_t i = 0; i < late->region_count; i++) {
		const struct lt_sim_spot_trace *const trace = trace_of(late, i);

		if (trace->tick_s <= 0 || trace->count == 0 ||
		    trace->tick_s != late->regions[0].tick_s ||
		    trace->count != late->regions[0].count)
			return lt_fail(err, LT_EINPUT,
			    "region %u: got %u ticks of %lld s, want as many as of the first, and as long",
			    i, trace->count, (long long)trace->tick_s);
	}
	return LT_OK;
}

/* Whole ticks for the work and one restart more than there are. */
static bool
is_forced(const struct lt_late_now *now, int64_t tick_s)
{
	return now->work_s + now->of->job.restart_s > now->left_s - tick_s;
}

static struct lt_late_choice
choice_of(const struct lt_late_now *now, const struct lt_late_policy *policy, int64_t tick_s)
{
	struct lt_late_choice choice = policy->choose(policy->context, now);

	if (is_forced(now, tick_s))
		choice.place = now->place == LT_LATE_SPOT && now->unpaid_s == 0 ? LT_LATE_SPOT
										: LT_LATE_ON_DEMAND;
	if (choice.place == LT_LATE_SPOT && trace_of(now->of, choice.region)->taken[now->tick])
		choice.place = LT_LATE_IDLE;
	return choice;
}

/* What that tick did. */
static void
count_tick(struct lt_late_now *now, struct lt_late_outcome *outcome, int64_t tick_s)
{
	const int64_t paid_s = now->unpaid_s < tick_s ? now->unpaid_s : tick_s;
	const int64_t done_s = tick_s - paid_s;

	if (now->place == LT_LATE_ON_DEMAND)
		outcome->on_demand_ticks++;
	else
		outcome->spot_ticks[now->region]++;
	if (now->work_s <= done_s)
		outcome->ended_s = now->tick * tick_s + paid_s + now->work_s;
	now->unpaid_s -= paid_s;
	now->work_s = now->work_s > done_s ? now->work_s - done_s : 0;
}

int
lt_late_run(struct lt_late_outcome *outcome, const struct lt_late *late,
    const struct lt_late_policy *policy, struct lt_error *err)
{
	struct lt_late_now now = {.of = late, .work_s = late->job.work_s};

	const int code = check_regions(late, err);

	*outcome = (struct lt_late_outcome){.ended_s = INT64_MAX};
	if (code != LT_OK)
		return code;
	const int64_t tick_s = late->regions[0].tick_s;
	const uint32_t count = late->regions[0].count;

	now.left_s = late->job.deadline_s / tick_s * tick_s;
	for (; now.tick < count && now.work_s > 0; now.tick++) {
		now.there = !trace_of(late, now.region)->taken[now.tick];

		const bool was_taken = now.place == LT_LATE_SPOT && !now.there;
		const struct lt_late_choice to = choice_of(&now, policy, tick_s);

		if (to.place != LT_LATE_IDLE && (to.place != now.place || was_taken)) {
			now.unpaid_s = late->job.restart_s;
			outcome->restarts++;
		}
		now.place = to.place;
		now.region = to.region;
		if (now.place != LT_LATE_IDLE)
			count_tick(&now, outcome, tick_s);
		now.left_s -= tick_s;
	}
	outcome->region = now.region;
	outcome->is_late = outcome->ended_s > late->job.deadline_s;
	return LT_OK;
}

double
lt_late_cost(const struct lt_late_outcome *outcome, const struct lt_late *late)
{
	double money = outcome->on_demand_ticks * late->on_demand_per_hour;

	for (uint32_t i = 0; i < late->region_count; i++)
		money += outcome->spot_ticks[i] * late->spot_per_hour[i];
	return money * (double)late->regions[0].tick_s / LT_HOUR_S;
}

/* ---- policies without memory ---- */

static int64_t
tick_of(const struct lt_late_now *now)
{
	return now->of->regions[0].tick_s;
}

/* Is there so much time beside a tick? */
static bool
has_time(const struct lt_late_now *now, int64_t need_s)
{
	return need_s <= now->left_s - tick_of(now);
}

bool
lt_late_is_safe(const struct lt_late_now *now)
{
	const bool works = now->place == LT_LATE_SPOT && now->there;
	const int64_t restart_s = now->of->job.restart_s;

	return has_time(now, now->work_s + restart_s + (works ? now->unpaid_s : restart_s));
}

bool
lt_late_has_slack(const struct lt_late_now *now)
{
	const int64_t beside_s = now->of->job.restart_s + 3 * tick_of(now);

	return 10 * (now->left_s - beside_s) > 11 * now->work_s;
}

static struct lt_late_choice
place_at(const struct lt_late_now *now, enum lt_late_place place)
{
	return (struct lt_late_choice){place, now->region};
}

static struct lt_late_choice
all_on_demand(void *context, const struct lt_late_now *now)
{
	(void)context;
	return place_at(now, LT_LATE_ON_DEMAND);
}

/* The net below all of the published policies: true where it decides. */
static bool
net(struct lt_late_choice *choice, const struct lt_late_now *now)
{
	const int64_t restart_s = now->of->job.restart_s;

	*choice = place_at(now, LT_LATE_ON_DEMAND);
	if (!has_time(now, now->work_s + restart_s))
		return true;
	if (has_time(now, now->work_s + 2 * restart_s))
		return false;
	if (now->place == LT_LATE_SPOT && now->there)
		choice->place = LT_LATE_SPOT;
	return true;
}

static struct lt_late_choice
greedy(void *context, const struct lt_late_now *now)
{
	struct lt_late_choice choice;

	(void)context;
	return net(&choice, now) ? choice : place_at(now, now->there ? LT_LATE_SPOT : LT_LATE_IDLE);
}

static struct lt_late_choice
spot_else(void *context, const struct lt_late_now *now)
{
	(void)context;
	return place_at(now, now->there ? LT_LATE_SPOT : LT_LATE_ON_DEMAND);
}

/* What is done beyond what is due at that time, times the deadline. */
static int64_t
ahead_of(const struct lt_late_now *now, int64_t at_s)
{
	const struct lt_late_job *const job = &now->of->job;

	return (job->work_s - now->work_s) * job->deadline_s - at_s * job->work_s;
}

static struct lt_late_choice
uniform(void *context, const struct lt_late_now *now)
{
	const int64_t now_s = now->tick * tick_of(now);
	struct lt_late_choice choice;

	(void)context;
	if (net(&choice, now))
		return choice;
	if (now->there)
		return place_at(now, LT_LATE_SPOT);
	/* Who is on demand stays until it is ahead by two restarts. */
	if (now->place == LT_LATE_ON_DEMAND ? ahead_of(now, now_s + 2 * now->of->job.restart_s) <= 0
					    : ahead_of(now, now_s) < 0)
		return place_at(now, LT_LATE_ON_DEMAND);
	return place_at(now, LT_LATE_IDLE);
}

static struct lt_late_choice
slack(void *context, const struct lt_late_now *now)
{
	(void)context;
	if (now->there && lt_late_is_safe(now))
		return place_at(now, LT_LATE_SPOT);
	if (now->place != LT_LATE_ON_DEMAND && !now->there && lt_late_has_slack(now))
		return place_at(now, LT_LATE_IDLE);
	return place_at(now, LT_LATE_ON_DEMAND);
}

/* As slack, but nobody comes back from on demand. */
static struct lt_late_choice
one_way(void *context, const struct lt_late_now *now)
{
	return now->place == LT_LATE_ON_DEMAND ? place_at(now, LT_LATE_ON_DEMAND)
					       : slack(context, now);
}

const struct lt_late_policy lt_late_policies[LT_LATE_POLICY_COUNT] = {
    [LT_LATE_ALL_ON_DEMAND] = {"on-demand", "on demand", all_on_demand, NULL},
    [LT_LATE_GREEDY] = {"greedy", "spot, as long as the deadline allows", greedy, NULL},
    [LT_LATE_SPOT_ELSE] = {"spot-else", "spot, else on demand", spot_else, NULL},
    [LT_LATE_UNIFORM] = {"uniform-progress", "on demand where less is done than is due (NSDI '24)",
	uniform, NULL},
    [LT_LATE_SLACK] = {"slack", "waits while there is a tenth more time than work", slack, NULL},
    [LT_LATE_ONE_WAY] = {"slack-one-way", "the same, and never back to spot", one_way, NULL},
};

/* ---- the optimum ---- */

/* Dynamic programming over ticks and over what it lags behind a job that works all the time: idle
 * ticks and restarts. */
struct optimum {
	const struct lt_late *late;
	int64_t unit_s;			   /* of lags */
	int64_t count;			   /* of lags that are in time */
	int64_t tick, restart, forced;	   /* in units; forced from there on */
	double price[LT_LATE_PLACE_COUNT]; /* of a tick */
	double *now, *next;		   /* least cost by place and lag */
};

static int64_t
common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static double *
cost_at(const struct optimum *o, double *cells, int place, int64_t lag)
{
	return &cells[place * o->count + lag];
}

static void
reach_place(struct optimum *o, int place, int64_t lag, double cost)
{
	if (lag >= o->count)
		return;

	double *const is = cost_at(o, o->next, place, lag);

	*is = fmin(*is, cost + o->price[place]);
}

/* All that may follow, as the protocol allows it. */
static void
follow_choices(struct optimum *o, int from, int64_t lag, bool there)
{
	const double cost = *cost_at(o, o->now, from, lag);
	const bool forced = lag > o->forced;
	const bool stays = forced && from == LT_LATE_SPOT;

	if (there && (!forced || stays))
		reach_place(o, LT_LATE_SPOT, lag + (from == LT_LATE_SPOT ? 0 : o->restart), cost);
	if (!stays)
		reach_place(
		    o, LT_LATE_ON_DEMAND, lag + (from == LT_LATE_ON_DEMAND ? 0 : o->restart), cost);
	if (!forced || (stays && !there))
		reach_place(o, LT_LATE_IDLE, lag + o->tick, cost);
}

static double
least_cost(struct optimum *o)
{
	const struct lt_sim_spot_trace *const trace = o->late->regions;
	const int64_t work = o->late->job.work_s / o->unit_s;
	const int64_t cells = LT_LATE_PLACE_COUNT * o->count;
	double best = INFINITY;

	for (int64_t i = 0; i < cells; i++)
		o->now[i] = INFINITY;
	*cost_at(o, o->now, LT_LATE_IDLE, 0) = 0;
	for (uint32_t t = 0; t <= trace->count; t++) {
		double *const was = o->now;

		for (int64_t i = 0; i < cells; i++)
			o->next[i] = INFINITY;
		for (int64_t i = 0; i < cells; i++) {
			const int64_t lag = i % o->count;

			if (isinf(was[i]))
				continue;
			if (t * o->tick - lag >= work)
				best = fmin(best, was[i]);
			else if (t < trace->count)
				follow_choices(o, (int)(i / o->count), lag, !trace->taken[t]);
		}
		o->now = o->next;
		o->next = was;
	}
	return best;
}

int
lt_late_optimum(double *money, const struct lt_late *late, struct lt_error *err)
{
	const struct lt_late_job *const job = &late->job;
	const int64_t tick_s = late->region_count > 0 ? late->regions[0].tick_s : 0;
	const double hours = (double)tick_s / LT_HOUR_S;
	struct optimum o = {.late = late,
	    .price = {0, late->spot_per_hour[0] * hours, late->on_demand_per_hour * hours}};

	if (late->region_count != 1 || tick_s <= 0 || job->restart_s > tick_s ||
	    job->deadline_s % tick_s != 0 || job->deadline_s < job->work_s)
		return lt_fail(err, LT_EINPUT,
		    "optimum: want one region, a restart within a tick, a deadline of whole ticks after the work");
	o.unit_s = common_divisor(common_divisor(tick_s, job->restart_s), job->work_s);
	o.tick = tick_s / o.unit_s;
	o.restart = job->restart_s / o.unit_s;
	o.count = (job->deadline_s - job->work_s) / o.unit_s + 1;
	o.forced = o.count - 1 - o.restart - o.tick;

	double *const cells = calloc(2 * LT_LATE_PLACE_COUNT * (size_t)o.count, sizeof(*cells));

	if (cells == NULL)
		return lt_fail(err, LT_ENOMEM, "optimum: out of memory");
	o.now = cells;
	o.next = cells + LT_LATE_PLACE_COUNT * o.count;
	*money = least_cost(&o);
	free(cells);
	return LT_OK;
}
