/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least that a job of "Can't Be Late" costs for somebody who knows all that
 * comes, by dynamic programming over ticks and over what it lags behind a job
 * that works all the time: idle ticks and restarts.
 */
#include <math.h>
#include <stdlib.h>

#include "late.h"
#include "units.h"

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
cell(const struct optimum *o, double *cells, int place, int64_t lag)
{
	return &cells[place * o->count + lag];
}

static void
reach(struct optimum *o, int place, int64_t lag, double cost)
{
	if (lag >= o->count)
		return;

	double *const is = cell(o, o->next, place, lag);

	*is = fmin(*is, cost + o->price[place]);
}

/* All that may follow, as the protocol allows it. */
static void
follow(struct optimum *o, int from, int64_t lag, bool there)
{
	const double cost = *cell(o, o->now, from, lag);
	const bool forced = lag > o->forced;
	const bool stays = forced && from == LT_LATE_SPOT;

	if (there && (!forced || stays))
		reach(o, LT_LATE_SPOT,
		    lag + (from == LT_LATE_SPOT ? 0 : o->restart), cost);
	if (!stays)
		reach(o, LT_LATE_ON_DEMAND,
		    lag + (from == LT_LATE_ON_DEMAND ? 0 : o->restart), cost);
	if (!forced || (stays && !there))
		reach(o, LT_LATE_IDLE, lag + o->tick, cost);
}

static double
least(struct optimum *o)
{
	const struct lt_sim_spot_trace *const trace = o->late->regions;
	const int64_t work = o->late->job.work_s / o->unit_s;
	const int64_t cells = LT_LATE_PLACE_COUNT * o->count;
	double best = INFINITY;

	for (int64_t i = 0; i < cells; i++)
		o->now[i] = INFINITY;
	*cell(o, o->now, LT_LATE_IDLE, 0) = 0;
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
				follow(o, (int)(i / o->count), lag,
				    !trace->taken[t]);
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
	const int64_t tick_s =
	    late->region_count > 0 ? late->regions[0].tick_s : 0;
	const double hours = (double)tick_s / LT_HOUR_S;
	struct optimum o = {.late = late,
	    .price = {0, late->spot_per_hour[0] * hours,
		late->on_demand_per_hour * hours}};

	if (late->region_count != 1 || tick_s <= 0 || job->restart_s > tick_s ||
	    job->deadline_s % tick_s != 0 || job->deadline_s < job->work_s)
		return lt_fail(err, LT_EINPUT,
		    "optimum: want one region, a restart within a tick, a deadline of whole ticks after the work");
	o.unit_s =
	    common_divisor(common_divisor(tick_s, job->restart_s), job->work_s);
	o.tick = tick_s / o.unit_s;
	o.restart = job->restart_s / o.unit_s;
	o.count = (job->deadline_s - job->work_s) / o.unit_s + 1;
	o.forced = o.count - 1 - o.restart - o.tick;

	double *const cells =
	    calloc(2 * LT_LATE_PLACE_COUNT * (size_t)o.count, sizeof(*cells));

	if (cells == NULL)
		return lt_fail(err, LT_ENOMEM, "optimum: out of memory");
	o.now = cells;
	o.next = cells + LT_LATE_PLACE_COUNT * o.count;
	*money = least(&o);
	free(cells);
	return LT_OK;
}
