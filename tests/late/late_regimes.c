/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late" by what was learned: regimes of spot nodes, a mixture whose parts have a chance
 * of a flip by side and age; the least expected cost by these; and a rule for many regions, whose
 * nodes are taken as is usual.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "late_regimes.h"
#include "units.h"

enum { ROUNDS = 60, PRIOR = 20 /* ticks of each bucket, as all have them */ };

struct counts { /* of a segment, or of many */
	double stays[2][LT_LATE_AGES], flips[2][LT_LATE_AGES];
};

int
lt_late_age(uint32_t ticks)
{
	static const uint32_t first[LT_LATE_AGES] = {1, 2, 3, 4, 6, 9, 14, 22, 36, 60};
	int age = LT_LATE_AGES - 1;

	while (age > 0 && ticks < first[age])
		age--;
	return age;
}

static void
count_flips(
    struct counts *counts, const struct lt_sim_spot_trace *trace, uint32_t from, uint32_t to)
{
	uint32_t ticks = 0;

	memset(counts, 0, sizeof(*counts));
	for (uint32_t t = 0; t + 1 < to; t++) {
		const bool there = !trace->taken[t];
		const bool flips = trace->taken[t + 1] == there;

		ticks++;
		if (t >= from) {
			const int age = lt_late_age(ticks);

			if (flips)
				counts->flips[there][age]++;
			else
				counts->stays[there][age]++;
		}
		if (flips)
			ticks = 0;
	}
}

static void
add_counts(struct counts *to, const struct counts *from, double weight)
{
	double *const a = &to->stays[0][0];
	const double *const b = &from->stays[0][0];

	for (size_t i = 0; i < sizeof(*to) / sizeof(double); i++)
		a[i] += weight * b[i];
}

static void
fit_regime(
    struct lt_late_regime *regime, const struct counts *own, const struct lt_late_regime *all)
{
	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++) {
			const double prior = all == NULL ? 0.1 : all->flips[there][age];
			const double flips = own->flips[there][age];
			const double stays = own->stays[there][age];

			regime->flips[there][age] =
			    (flips + PRIOR * prior) / (flips + stays + PRIOR);
		}
}

static double
log_chance(const struct lt_late_regime *regime, const struct counts *counts)
{
	double sum = log(fmax(regime->share, 1e-9));

	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++) {
			const double flips = regime->flips[there][age];

			sum += counts->flips[there][age] * log(flips) +
			       counts->stays[there][age] * log1p(-flips);
		}
	return sum;
}

/* What part of a segment is each regime's. */
static void
share_out(double *parts, const struct lt_late_regimes *regimes, const struct counts *counts)
{
	double most = -INFINITY, sum = 0;

	for (uint32_t k = 0; k < regimes->count; k++) {
		parts[k] = log_chance(&regimes->regimes[k], counts);
		most = fmax(most, parts[k]);
	}
	for (uint32_t k = 0; k < regimes->count; k++)
		sum += parts[k] = exp(parts[k] - most);
	for (uint32_t k = 0; k < regimes->count; k++)
		parts[k] /= sum;
}

static void
improve_regimes(struct lt_late_regimes *regimes, const struct lt_late_regime *all,
    const struct counts *segments, uint32_t segment_count)
{
	struct counts own[LT_LATE_REGIMES_MAX];
	double shares[LT_LATE_REGIMES_MAX] = {0};
	double parts[LT_LATE_REGIMES_MAX];

	memset(own, 0, sizeof(own));
	for (uint32_t i = 0; i < segment_count; i++) {
		share_out(parts, regimes, &segments[i]);
		for (uint32_t k = 0; k < regimes->count; k++) {
			add_counts(&own[k], &segments[i], parts[k]);
			shares[k] += parts[k];
		}
	}
	for (uint32_t k = 0; k < regimes->count; k++) {
		regimes->regimes[k].share = shares[k] / segment_count;
		fit_regime(&regimes->regimes[k], &own[k], all);
	}
}

static double
there_of(const struct counts *counts)
{
	double of[2] = {0};

	for (int there = 0; there < 2; there++)
		for (int age = 0; age < LT_LATE_AGES; age++)
			of[there] += counts->flips[there][age] + counts->stays[there][age];
	return of[1] / (of[0] + of[1]);
}

static int
by_there(const void *a, const void *b)
{
	const double x = there_of(a), y = there_of(b);

	return x < y ? -1 : x > y;
}

/* At first: equal parts, by how much of the time nodes are there. */
static void
begin_regimes(struct lt_late_regimes *regimes, const struct lt_late_regime *all,
    const struct counts *segments, uint32_t segment_count)
{
	for (uint32_t k = 0; k < regimes->count; k++) {
		const uint32_t from = segment_count * k / regimes->count;
		const uint32_t to = segment_count * (k + 1) / regimes->count;
		struct counts own = {0};

		for (uint32_t i = from; i < to; i++)
			add_counts(&own, &segments[i], 1);
		regimes->regimes[k].share = 1.0 / regimes->count;
		fit_regime(&regimes->regimes[k], &own, all);
	}
}

int
lt_late_learn(struct lt_late_regimes *regimes, const struct lt_sim_spot_trace *traces,
    uint32_t trace_count, uint32_t segment_ticks, struct lt_error *err)
{
	struct counts all = {0}, *segments;
	struct lt_late_regime mean = {0};
	uint32_t segment_count = 0;

	for (uint32_t i = 0; i < trace_count; i++)
		segment_count += traces[i].count / segment_ticks;
	if (segment_count == 0 || regimes->count == 0 || regimes->count > LT_LATE_REGIMES_MAX)
		return lt_fail(err, LT_EINPUT,
		    "regimes: got %u of %u segments, want 1 to %d of at least one", regimes->count,
		    segment_count, LT_LATE_REGIMES_MAX);
	segments = calloc(segment_count, sizeof(*segments));
	if (segments == NULL)
		return lt_fail(err, LT_ENOMEM, "regimes: out of memory");
	segment_count = 0;
	for (uint32_t i = 0; i < trace_count; i++)
		for (uint32_t from = 0; from + segment_ticks <= traces[i].count;
		     from += segment_ticks) {
			count_flips(
			    &segments[segment_count], &traces[i], from, from + segment_ticks);
			add_counts(&all, &segments[segment_count++], 1);
		}
	qsort(segments, segment_count, sizeof(*segments), by_there);
	fit_regime(&mean, &all, NULL);
	begin_regimes(regimes, &mean, segments, segment_count);
	for (int i = 0; i < ROUNDS; i++)
		improve_regimes(regimes, &mean, segments, segment_count);
	free(segments);
	return LT_OK;
}

/* ---- least expected cost ---- */

/*
 * By work left, slack, place, and since when nodes are there or not, for each regime: backward over
 * slack and work, for idling takes slack and going on takes work. docs/model.md, eq. (24h).
 */
enum { SIDES = 2 };

static const double never = 1e9; /* money; times a belief of 0 still none */

/* Ticks of a bucket: it is left by chance, as if ages in it were forgotten. */
static const double widths[LT_LATE_AGES] = {1, 1, 1, 2, 3, 5, 8, 14, 24, INFINITY};

struct lt_late_mdp {
	struct lt_late_regimes regimes;
	int64_t tick_s, restart_s;
	int64_t step_s;			   /* of slack */
	int64_t slack_count;		   /* of steps */
	int64_t work_count;		   /* of ticks */
	double price[LT_LATE_PLACE_COUNT]; /* of a tick */
	float *costs;			   /* by regime, work, slack, place, side, age */
	double power;
	/* of the run: */
	double belief[LT_LATE_REGIMES_MAX];
	bool there;
	uint32_t ticks; /* since then */
};

static size_t
first_cost(const struct lt_late_mdp *m, uint32_t regime, int64_t work, int64_t slack)
{
	return (size_t)((regime * m->work_count + work) * m->slack_count + slack) *
	       LT_LATE_PLACE_COUNT * SIDES * LT_LATE_AGES;
}

static int
cost_index(int place, int side, int age)
{
	return (place * SIDES + side) * LT_LATE_AGES + age;
}

struct at { /* a place between two steps of slack */
	const float *low, *high;
	double part; /* of the upper one */
};

static struct at
at_slack(const struct lt_late_mdp *m, uint32_t regime, int64_t work, double slack_s)
{
	const double most = (double)(m->slack_count - 1);
	const double step = fmin(fmax(slack_s / (double)m->step_s, 0), most);
	const int64_t low = (int64_t)step;
	const int64_t high = low + 1 < m->slack_count ? low + 1 : low;

	return (struct at){&m->costs[first_cost(m, regime, work, low)],
	    &m->costs[first_cost(m, regime, work, high)], step - (double)low};
}

static double
cost_between(const struct at *at, int i)
{
	return (double)at->low[i] + at->part * (double)(at->high[i] - at->low[i]);
}

/* Of what comes in the next tick, at that place. */
static double
expected_cost(
    const struct at *at, int place, const struct lt_late_regime *regime, int side, int age)
{
	const double flips = regime->flips[side][age];
	const double ages = 1 / widths[age];
	const double same = cost_between(at, cost_index(place, side, age));
	const double older =
	    age + 1 < LT_LATE_AGES ? cost_between(at, cost_index(place, side, age + 1)) : same;

	return flips * cost_between(at, cost_index(place, 1 - side, 0)) +
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
weigh(double costs[LT_LATE_PLACE_COUNT], const struct lt_late_mdp *m, const struct point *at)
{
	const struct lt_late_regime *const regime = &m->regimes.regimes[at->regime];
	const double d = (double)m->restart_s, g = (double)m->tick_s;

	costs[LT_LATE_IDLE] = never;
	if (at->slack_s - g >= d) {
		const struct at next = at_slack(m, at->regime, at->work, at->slack_s - g);

		costs[LT_LATE_IDLE] = expected_cost(&next, LT_LATE_IDLE, regime, at->side, at->age);
	}
	for (int to = LT_LATE_SPOT; to <= LT_LATE_ON_DEMAND; to++) {
		const double restart = to == at->place ? 0 : d;

		costs[to] = never;
		if (to == LT_LATE_SPOT && (!at->side || at->slack_s < d + g + restart))
			continue;
		const struct at next = at_slack(m, at->regime, at->work - 1, at->slack_s - restart);

		costs[to] = m->price[to] * (1 + restart / g) +
			    expected_cost(&next, to, regime, at->side, at->age);
	}
}

static void
plan_costs(struct lt_late_mdp *m, uint32_t regime, int64_t work, int64_t slack)
{
	const int inners = LT_LATE_PLACE_COUNT * SIDES * LT_LATE_AGES;
	float *const out = &m->costs[first_cost(m, regime, work, slack)];

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
		out[i] = (float)fmin(
		    costs[LT_LATE_IDLE], fmin(costs[LT_LATE_SPOT], costs[LT_LATE_ON_DEMAND]));
	}
}

int
lt_late_mdp_open(struct lt_late_mdp **mdp, const struct lt_late_regimes *regimes,
    const struct lt_late *largest, struct lt_error *err)
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
		return lt_fail(err, LT_EINPUT, "mdp: got a restart of %lld s, want at most a tick",
		    (long long)job->restart_s);
	m->regimes = *regimes;
	m->tick_s = tick_s;
	m->restart_s = job->restart_s;
	m->step_s = tick_s / 2;
	m->slack_count = (job->deadline_s - job->work_s) / m->step_s + 2;
	m->work_count = job->work_s / tick_s + 2;
	m->price[LT_LATE_SPOT] = largest->spot_per_hour[0] * hours;
	m->price[LT_LATE_ON_DEMAND] = largest->on_demand_per_hour * hours;
	m->costs = calloc(first_cost(m, regimes->count, 0, 0), sizeof(*m->costs));
	if (m->costs == NULL)
		return lt_fail(err, LT_ENOMEM, "mdp: out of memory");
	for (uint32_t k = 0; k < regimes->count; k++)
		for (int64_t work = 1; work < m->work_count; work++)
			for (int64_t slack = 0; slack < m->slack_count; slack++)
				plan_costs(m, k, work, slack);
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
		const double chance = m->regimes.regimes[k].flips[m->there][lt_late_age(m->ticks)];

		m->belief[k] *= pow(flips ? chance : 1 - chance, m->power);
		sum += m->belief[k];
	}
	for (uint32_t k = 0; k < m->regimes.count; k++)
		m->belief[k] /= sum;
	m->ticks = flips ? 1 : m->ticks + 1;
	m->there = now->there;
}

static struct lt_late_choice
choose_by_regimes(void *context, const struct lt_late_now *now)
{
	struct lt_late_mdp *const m = context;
	const bool works =
	    now->place == LT_LATE_ON_DEMAND || (now->place == LT_LATE_SPOT && now->there);
	const int64_t slack_s = now->left_s - now->work_s - (works ? now->unpaid_s : 0);
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
	    "mdp", "the least expected cost of regimes", choose_by_regimes, mdp};
}

/* ---- many regions ---- */

/* Where to be, and when to come back. */

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

	return 1 - pow(1 - zones->usual->flips[1][lt_late_age(age)], tick_s / usual_s);
}

/* What the tick shows of it. */
static void
look_at_zone(struct lt_late_zones *zones, const struct lt_late_now *now, uint32_t i)
{
	const struct lt_sim_spot_trace *const trace = &now->of->regions[i];
	const bool there = !trace->taken[now->tick];
	const bool is_first = now->tick == 0;
	const bool was_there = !is_first && !trace->taken[now->tick - 1];

	if (is_first)
		zones->zones[i].taken = zones->zones[i].expected = 0;
	if (was_there) {
		zones->zones[i].expected +=
		    usual_chance(zones, zones->zones[i].ticks, (double)trace->tick_s);
		zones->zones[i].taken += !there;
	}
	zones->zones[i].ticks = is_first || there != was_there ? 1 : zones->zones[i].ticks + 1;
}

static double
taken_chance(const struct lt_late_zones *zones, uint32_t i, double tick_s)
{
	return fmin(chance_most, usual_chance(zones, zones->zones[i].ticks, tick_s) *
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
compare_zone(
    struct best *best, const struct lt_late_zones *zones, const struct lt_late_now *now, uint32_t i)
{
	const double tick_s = (double)now->of->regions[i].tick_s;
	const double taken = taken_chance(zones, i, tick_s);
	const double costs = now->of->spot_per_hour[i] * tick_s +
			     taken * (double)now->of->job.restart_s * now->of->on_demand_per_hour;

	if (now->of->regions[i].taken[now->tick] || (best->is_any && costs >= best->costs))
		return;
	*best = (struct best){true, i, costs, tick_s / taken};
}

static bool
is_worth(const struct best *best, const struct lt_late_now *now)
{
	const double saves = now->of->on_demand_per_hour - now->of->spot_per_hour[best->region];

	return saves * best->spell_s >
	       worth[now->place] * now->of->on_demand_per_hour * (double)now->of->job.restart_s;
}

static struct lt_late_choice
choose_zone(void *context, const struct lt_late_now *now)
{
	struct lt_late_zones *const zones = context;
	const bool works = now->place == LT_LATE_SPOT && now->there;
	struct lt_late_choice choice = {LT_LATE_ON_DEMAND, now->region};
	struct best best = {0};

	for (uint32_t i = 0; i < now->of->region_count; i++) {
		look_at_zone(zones, now, i);
		compare_zone(&best, zones, now, i);
	}
	if (best.is_any && lt_late_is_safe(now) && (works || is_worth(&best, now)))
		choice = (struct lt_late_choice){LT_LATE_SPOT, best.region};
	else if (now->place != LT_LATE_ON_DEMAND && !works && lt_late_has_slack(now))
		choice.place = LT_LATE_IDLE;
	return choice;
}

struct lt_late_policy
lt_late_zones_policy(struct lt_late_zones *zones)
{
	return (struct lt_late_policy){
	    "zones", "the slack rule where a tick costs least", choose_zone, zones};
}
