/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ticks of "Can't Be Late", as its published simulator has them.
 */
#include "late.h"
#include "units.h"

static const struct lt_sim_spot_trace *
trace_of(const struct lt_late *late, uint32_t region)
{
	return &late->regions[region];
}

static int
check(const struct lt_late *late, struct lt_error *err)
{
	if (late->region_count == 0 || late->region_count > LT_LATE_REGIONS_MAX)
		return lt_fail(err, LT_EINPUT, "regions: got %u, want 1 to %d",
		    late->region_count, LT_LATE_REGIONS_MAX);
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
choose(const struct lt_late_now *now, const struct lt_late_policy *policy,
    int64_t tick_s)
{
	struct lt_late_choice choice = policy->choose(policy->context, now);

	if (is_forced(now, tick_s))
		choice.place = now->place == LT_LATE_SPOT && now->unpaid_s == 0
				   ? LT_LATE_SPOT
				   : LT_LATE_ON_DEMAND;
	if (choice.place == LT_LATE_SPOT &&
	    trace_of(now->of, choice.region)->taken[now->tick])
		choice.place = LT_LATE_IDLE;
	return choice;
}

/* What that tick did. */
static void
work(struct lt_late_now *now, struct lt_late_outcome *outcome, int64_t tick_s)
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

	const int code = check(late, err);

	*outcome = (struct lt_late_outcome){.ended_s = INT64_MAX};
	if (code != LT_OK)
		return code;
	const int64_t tick_s = late->regions[0].tick_s;
	const uint32_t count = late->regions[0].count;

	now.left_s = late->job.deadline_s / tick_s * tick_s;
	for (; now.tick < count && now.work_s > 0; now.tick++) {
		now.there = !trace_of(late, now.region)->taken[now.tick];

		const bool was_taken = now.place == LT_LATE_SPOT && !now.there;
		const struct lt_late_choice to = choose(&now, policy, tick_s);

		if (to.place != LT_LATE_IDLE &&
		    (to.place != now.place || was_taken)) {
			now.unpaid_s = late->job.restart_s;
			outcome->restarts++;
		}
		now.place = to.place;
		now.region = to.region;
		if (now.place != LT_LATE_IDLE)
			work(&now, outcome, tick_s);
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
