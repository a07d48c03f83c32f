/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many regions whose spot nodes all see: where to be, and when to come back.
 */
#include <math.h>

#include "late_regimes.h"

/* Ticks' worth of what is usual, before a region's own losses count. */
static const double usual_weight = 3;
/* Restarts that a spell has to be worth, for who idles and who is on demand:
 * chosen by windows 8 to 99, of which docs/quality.md shows none. */
static const double worth[LT_LATE_PLACE_COUNT] = {1, 1, 5};
static const double chance_most = 0.95;

/* That a node is taken in the next tick, as is usual at its age. */
static double
usual_chance(const struct lt_late_zones *zones, uint32_t ticks, double tick_s)
{
	const double usual_s = (double)zones->usual_tick_s;
	const uint32_t age = (uint32_t)ceil(ticks * tick_s / usual_s);

	return 1 - pow(1 - zones->usual->flips[1][lt_late_age(age)],
		       tick_s / usual_s);
}

/* What the tick shows of it. */
static void
look(struct lt_late_zones *zones, const struct lt_late_now *now, uint32_t i)
{
	const struct lt_sim_spot_trace *const trace = &now->of->regions[i];
	const bool there = !trace->taken[now->tick];
	const bool is_first = now->tick == 0;
	const bool was_there = !is_first && !trace->taken[now->tick - 1];

	if (is_first)
		zones->zones[i].taken = zones->zones[i].expected = 0;
	if (was_there) {
		zones->zones[i].expected += usual_chance(
		    zones, zones->zones[i].ticks, (double)trace->tick_s);
		zones->zones[i].taken += !there;
	}
	zones->zones[i].ticks =
	    is_first || there != was_there ? 1 : zones->zones[i].ticks + 1;
}

static double
chance(const struct lt_late_zones *zones, uint32_t i, double tick_s)
{
	return fmin(
	    chance_most, usual_chance(zones, zones->zones[i].ticks, tick_s) *
			     (zones->zones[i].taken + usual_weight) /
			     (zones->zones[i].expected + usual_weight));
}

struct best {
	bool is_any;
	uint32_t region;
	double costs;	/* of a tick, a loss's share in it */
	double spell_s; /* for so long, on average */
};

/* A loss takes a restart of the slack, which on demand pays for. */
static void
compare(struct best *best, const struct lt_late_zones *zones,
    const struct lt_late_now *now, uint32_t i)
{
	const double tick_s = (double)now->of->regions[i].tick_s;
	const double taken = chance(zones, i, tick_s);
	const double costs = now->of->spot_per_hour[i] * tick_s +
			     taken * (double)now->of->job.restart_s *
				 now->of->on_demand_per_hour;

	if (now->of->regions[i].taken[now->tick] ||
	    (best->is_any && costs >= best->costs))
		return;
	*best = (struct best){true, i, costs, tick_s / taken};
}

static bool
is_worth(const struct best *best, const struct lt_late_now *now)
{
	const double saves =
	    now->of->on_demand_per_hour - now->of->spot_per_hour[best->region];

	return saves * best->spell_s > worth[now->place] *
					   now->of->on_demand_per_hour *
					   (double)now->of->job.restart_s;
}

static struct lt_late_choice
choose(void *context, const struct lt_late_now *now)
{
	struct lt_late_zones *const zones = context;
	const bool works = now->place == LT_LATE_SPOT && now->there;
	struct lt_late_choice choice = {LT_LATE_ON_DEMAND, now->region};
	struct best best = {0};

	for (uint32_t i = 0; i < now->of->region_count; i++) {
		look(zones, now, i);
		compare(&best, zones, now, i);
	}
	if (best.is_any && lt_late_is_safe(now) &&
	    (works || is_worth(&best, now)))
		choice = (struct lt_late_choice){LT_LATE_SPOT, best.region};
	else if (now->place != LT_LATE_ON_DEMAND && !works &&
		 lt_late_has_slack(now))
		choice.place = LT_LATE_IDLE;
	return choice;
}

struct lt_late_policy
lt_late_zones_policy(struct lt_late_zones *zones)
{
	return (struct lt_late_policy){
	    "zones", "the slack rule where a tick costs least", choose, zones};
}
