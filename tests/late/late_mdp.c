/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The least expected cost by work left, slack, place, and since when nodes are
 * there or not, for each regime: backward over slack and work, for idling takes
 * slack and going on takes work. docs/model.md, eq. (24h).
 */
#include <math.h>
#include <stdlib.h>

#include "late_regimes.h"
#include "units.h"

enum { SIDES = 2 };

static const double never = 1e9; /* money; times a belief of 0 still none */

/* Ticks of a bucket: it is left by chance, as if ages in it were forgotten. */
static const double widths[LT_LATE_AGES] = {
    1, 1, 1, 2, 3, 5, 8, 14, 24, INFINITY};

struct lt_late_mdp {
	struct lt_late_regimes regimes;
	int64_t tick_s, restart_s;
	int64_t step_s;			   /* of slack */
	int64_t slack_count;		   /* of steps */
	int64_t work_count;		   /* of ticks */
	double price[LT_LATE_PLACE_COUNT]; /* of a tick */
	float *costs; /* by regime, work, slack, place, side, age */
	double power;
	/* of the run: */
	double belief[LT_LATE_REGIMES_MAX];
	bool there;
	uint32_t ticks; /* since then */
};

static size_t
cell(const struct lt_late_mdp *m, uint32_t regime, int64_t work, int64_t slack)
{
	return (size_t)((regime * m->work_count + work) * m->slack_count +
			slack) *
	       LT_LATE_PLACE_COUNT * SIDES * LT_LATE_AGES;
}

static int
inner(int place, int side, int age)
{
	return (place * SIDES + side) * LT_LATE_AGES + age;
}

struct at { /* a place between two steps of slack */
	const float *low, *high;
	double part; /* of the upper one */
};

static struct at
at_slack(
    const struct lt_late_mdp *m, uint32_t regime, int64_t work, double slack_s)
{
	const double most = (double)(m->slack_count - 1);
	const double step = fmin(fmax(slack_s / (double)m->step_s, 0), most);
	const int64_t low = (int64_t)step;
	const int64_t high = low + 1 < m->slack_count ? low + 1 : low;

	return (struct at){&m->costs[cell(m, regime, work, low)],
	    &m->costs[cell(m, regime, work, high)], step - (double)low};
}

static double
value(const struct at *at, int i)
{
	return (double)at->low[i] +
	       at->part * (double)(at->high[i] - at->low[i]);
}

/* Of what comes in the next tick, at that place. */
static double
expected(const struct at *at, int place, const struct lt_late_regime *regime,
    int side, int age)
{
	const double flips = regime->flips[side][age];
	const double ages = 1 / widths[age];
	const double same = value(at, inner(place, side, age));
	const double older = age + 1 < LT_LATE_AGES
				 ? value(at, inner(place, side, age + 1))
				 : same;

	return flips * value(at, inner(place, 1 - side, 0)) +
	       (1 - flips) * (ages * older + (1 - ages) * same);
}

struct point { /* what is known when a tick begins */
	uint32_t regime;
	int64_t work; /* ticks */
	double slack_s;
	int place, side, age;
};

/* What each choice costs from here on; never: it is none. */
static void
weigh(double costs[LT_LATE_PLACE_COUNT], const struct lt_late_mdp *m,
    const struct point *at)
{
	const struct lt_late_regime *const regime =
	    &m->regimes.regimes[at->regime];
	const double d = (double)m->restart_s, g = (double)m->tick_s;

	costs[LT_LATE_IDLE] = never;
	if (at->slack_s - g >= d) {
		const struct at next =
		    at_slack(m, at->regime, at->work, at->slack_s - g);

		costs[LT_LATE_IDLE] =
		    expected(&next, LT_LATE_IDLE, regime, at->side, at->age);
	}
	for (int to = LT_LATE_SPOT; to <= LT_LATE_ON_DEMAND; to++) {
		const double restart = to == at->place ? 0 : d;

		costs[to] = never;
		if (to == LT_LATE_SPOT &&
		    (!at->side || at->slack_s < d + g + restart))
			continue;
		const struct at next = at_slack(
		    m, at->regime, at->work - 1, at->slack_s - restart);

		costs[to] = m->price[to] * (1 + restart / g) +
			    expected(&next, to, regime, at->side, at->age);
	}
}

static void
plan(struct lt_late_mdp *m, uint32_t regime, int64_t work, int64_t slack)
{
	const int inners = LT_LATE_PLACE_COUNT * SIDES * LT_LATE_AGES;
	float *const out = &m->costs[cell(m, regime, work, slack)];

	for (int i = 0; i < inners; i++) {
		struct point at = {.regime = regime,
		    .work = work,
		    .slack_s = (double)(slack * m->step_s),
		    .place = i / LT_LATE_AGES / SIDES,
		    .side = i / LT_LATE_AGES % SIDES,
		    .age = i % LT_LATE_AGES};
		double costs[LT_LATE_PLACE_COUNT];

		if (at.place == LT_LATE_SPOT && !at.side)
			at.place = LT_LATE_IDLE; /* it was taken */
		weigh(costs, m, &at);
		out[i] = (float)fmin(costs[LT_LATE_IDLE],
		    fmin(costs[LT_LATE_SPOT], costs[LT_LATE_ON_DEMAND]));
	}
}

int
lt_late_mdp_open(struct lt_late_mdp **mdp,
    const struct lt_late_regimes *regimes, const struct lt_late *largest,
    struct lt_error *err)
{
	const struct lt_late_job *const job = &largest->job;
	const int64_t tick_s = largest->regions[0].tick_s;
	const double hours = (double)tick_s / LT_HOUR_S;
	struct lt_late_mdp *const m = calloc(1, sizeof(*m));

	*mdp = m;
	if (m == NULL)
		return lt_fail(err, LT_ENOMEM, "mdp: out of memory");
	if (tick_s < 2)
		return lt_fail(err, LT_EINPUT, "mdp: want ticks from 2 s");
	if (job->restart_s > tick_s)
		return lt_fail(err, LT_EINPUT,
		    "mdp: got a restart of %lld s, want at most a tick",
		    (long long)job->restart_s);
	m->regimes = *regimes;
	m->tick_s = tick_s;
	m->restart_s = job->restart_s;
	m->step_s = tick_s / 2;
	m->slack_count = (job->deadline_s - job->work_s) / m->step_s + 2;
	m->work_count = job->work_s / tick_s + 2;
	m->price[LT_LATE_SPOT] = largest->spot_per_hour[0] * hours;
	m->price[LT_LATE_ON_DEMAND] = largest->on_demand_per_hour * hours;
	m->costs = calloc(cell(m, regimes->count, 0, 0), sizeof(*m->costs));
	if (m->costs == NULL)
		return lt_fail(err, LT_ENOMEM, "mdp: out of memory");
	for (uint32_t k = 0; k < regimes->count; k++)
		for (int64_t work = 1; work < m->work_count; work++)
			for (int64_t slack = 0; slack < m->slack_count; slack++)
				plan(m, k, work, slack);
	return LT_OK;
}

void
lt_late_mdp_close(struct lt_late_mdp *m)
{
	if (m != NULL)
		free(m->costs);
	free(m);
}

static void
believe(struct lt_late_mdp *m, const struct lt_late_now *now)
{
	const bool flips = now->there != m->there;
	double sum = 0;

	if (now->tick == 0) {
		for (uint32_t k = 0; k < m->regimes.count; k++)
			m->belief[k] = m->regimes.regimes[k].share;
		m->ticks = 1;
		m->there = now->there;
		return;
	}
	for (uint32_t k = 0; k < m->regimes.count; k++) {
		const double chance =
		    m->regimes.regimes[k]
			.flips[m->there][lt_late_age(m->ticks)];

		m->belief[k] *= pow(flips ? chance : 1 - chance, m->power);
		sum += m->belief[k];
	}
	for (uint32_t k = 0; k < m->regimes.count; k++)
		m->belief[k] /= sum;
	m->ticks = flips ? 1 : m->ticks + 1;
	m->there = now->there;
}

static struct lt_late_choice
choose(void *context, const struct lt_late_now *now)
{
	struct lt_late_mdp *const m = context;
	const bool works = now->place == LT_LATE_ON_DEMAND ||
			   (now->place == LT_LATE_SPOT && now->there);
	const int64_t slack_s =
	    now->left_s - now->work_s - (works ? now->unpaid_s : 0);
	double sums[LT_LATE_PLACE_COUNT] = {0};
	int best = LT_LATE_ON_DEMAND;

	believe(m, now);
	struct point at = {.work = (now->work_s + m->tick_s - 1) / m->tick_s,
	    .slack_s = (double)slack_s,
	    .place = works ? (int)now->place : LT_LATE_IDLE,
	    .side = now->there,
	    .age = lt_late_age(m->ticks)};

	for (at.regime = 0; at.regime < m->regimes.count; at.regime++) {
		double costs[LT_LATE_PLACE_COUNT];

		weigh(costs, m, &at);
		for (int to = 0; to < LT_LATE_PLACE_COUNT; to++)
			sums[to] += m->belief[at.regime] * costs[to];
	}
	if (lt_late_is_safe(now) && sums[LT_LATE_SPOT] <= sums[best])
		best = LT_LATE_SPOT;
	if (sums[LT_LATE_IDLE] < sums[best])
		best = LT_LATE_IDLE;
	return (struct lt_late_choice){(enum lt_late_place)best, now->region};
}

struct lt_late_policy
lt_late_mdp_policy(struct lt_late_mdp *mdp, double power)
{
	mdp->power = power;
	return (struct lt_late_policy){
	    "mdp", "the least expected cost of regimes", choose, mdp};
}
