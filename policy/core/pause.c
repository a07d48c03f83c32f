/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_pause_plan(): what a second of work and one of standing still cost, by the job's objective,
 * hour by hour; course.c finds the course; and is its first pause worth it?
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "course.h"
#include "decide_internal.h"
#include "min_max.h"
#include "pause.h"

struct pausing {
	struct decision decision; /* for lt_score_of() */
	struct lt_plan plan;
	struct lane runs, rests; /* weights by the hour at work, standing still
				  */
	uint32_t count;
	int64_t through_utc_s; /* the end of one that runs on */
	struct lt_stretch stretches[LT_STRETCHES_MAX];
	uint16_t order[LT_STRETCHES_MAX];
};

/* Prices rests of a job that keeps its nodes: the kept share stays paid, on its owner's nodes too,
 * because its account is charged for it. */
static void
rest_weights(
    struct lane *rests, const struct lane *runs, const struct lt_pause_of *of, double idle_kw)
{
	static const double mg_per_g = 1000;
	const struct lt_partition *const part = &of->market->partitions[of->partition];
	const double nodes = runs->share.nodes * runs->task_factor;
	/* Idle power is drawn in any case, and so is no part of the work's either. */
	const double drawn_kw =
	    (part->flags & LT_PARTITION_OWNED) && (part->flags & LT_PARTITION_STAYS_ON) ? 0
											: idle_kw;

	*rests = *runs;
	rests->money = rests->carbon = (struct linear){.constant = 0};
	if (of->requeue_s > 0)
		return; /* others have them */
	if (runs->series[TERM_PRICE] != NULL)
		rests->money.weight[TERM_PRICE] = nodes * of->kept_share;
	if (runs->money.weight[TERM_TARIFF] != 0)
		rests->money.weight[TERM_TARIFF] = drawn_kw;
	rests->carbon.weight[TERM_CARBON] = drawn_kw * mg_per_g;
	rests->carbon.per_s =
	    part->embodied_g_per_node_hour * nodes * of->kept_share * mg_per_g / LT_HOUR_S;
	/* It is charged with what its nodes draw all the same. */
	struct linear emitted = rests->carbon;
	emitted.weight[TERM_CARBON] = idle_kw * mg_per_g;
	rests->money = lt_linear_sum(&rests->money, &emitted, lt_charge_per_mg(of->market));
}

static double
idle_kw_of(const struct lane *runs, const struct lt_pause_of *of)
{
	const struct lt_partition *const part = &of->market->partitions[of->partition];

	return runs->share.nodes * runs->task_factor * part->node_idle_w *
	       (double)runs->share.numerator / (double)runs->share.denominator * part->pue / 1000;
}

/* False: it is not to be paused, whatever the hours are like. */
static bool
weigh(struct pausing *p, const struct lt_pause_of *of)
{
	struct decision *const decision = &p->decision;
	const struct lt_market *const market = of->market;
	double wanted, found;

	if ((of->request->objective != LT_OBJECTIVE_BALANCED &&
		of->request->objective != LT_OBJECTIVE_COST &&
		of->request->objective != LT_OBJECTIVE_CARBON) ||
	    of->left_s <= 0 ||
	    lt_market_signal_age_s(market, of->partition, of->now_utc_s) > market->stale_after_s)
		return false;
	decision->plan = &p->plan;
	p->plan.objective = of->request->objective;
	lt_job_resolve(&decision->job, of->request, market, of->now_utc_s);
	if (lt_lane_build(&p->runs, &decision->job, of->partition, &wanted, &found) !=
	    LT_REJECT_NONE)
		return false;
	decision->use_money = p->runs.has_money;
	decision->use_carbon = p->runs.has_carbon;
	const double idle_kw = idle_kw_of(&p->runs, of);
	rest_weights(&p->rests, &p->runs, of, idle_kw);
	return (of->requeue_s > 0 || 2 * idle_kw < p->runs.power_kw) &&
	       (decision->use_money || decision->use_carbon);
}

/* When the next step of any signal begins. */
static int64_t
next_step(const struct lane *lane, int64_t at_utc_s, int64_t end_utc_s)
{
	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *const series = lane->series[t];

		if (series == NULL)
			continue;
		const uint32_t i = lt_series_index(series, at_utc_s);
		if (series->start_utc_s[0] > at_utc_s)
			end_utc_s = lt_min_i64(end_utc_s, series->start_utc_s[0]);
		else if (i + 1 < series->count)
			end_utc_s = lt_min_i64(end_utc_s, series->start_utc_s[i + 1]);
	}
	return end_utc_s;
}

/* Returns the cost of so many seconds of one stretch, which has one value of each signal. */
static double
value_of(const struct lane *lane, const struct linear *linear, int64_t at_utc_s, int64_t for_s)
{
	double sum = linear->per_s * (double)for_s;

	for (int t = 0; t < TERM_COUNT; t++)
		if (lane->series[t] != NULL && linear->weight[t] != 0)
			sum += linear->weight[t] * lt_series_at(lane->series[t], at_utc_s) *
			       (double)for_s / LT_HOUR_S;
	return sum;
}

/* The last hour that is known of each signal that is no constant. */
static int64_t
known_until(const struct lane *lane, int64_t end_utc_s)
{
	for (int t = 0; t < TERM_COUNT; t++) {
		const struct lt_series *const series = lane->series[t];

		if (series != NULL && series->quality != LT_QUALITY_CONSTANT)
			end_utc_s = lt_min_i64(end_utc_s, series->start_utc_s[series->count]);
	}
	return end_utc_s;
}

/* Fills the stretches by the first score, with the worth of waiting. */
static void
fill_stretches(struct pausing *p, const struct lt_pause_of *of)
{
	struct linear runs = lt_score_of(&p->decision, &p->runs, ROUND_FIRST);
	struct linear rests = lt_score_of(&p->decision, &p->rests, ROUND_FIRST);
	const double waiting_per_s = lt_score_waiting_per_s(&p->decision, ROUND_FIRST);
	const int64_t end_utc_s = known_until(&p->runs, of->now_utc_s + of->left_s + of->most_s);

	runs.per_s += waiting_per_s;
	rests.per_s += waiting_per_s;
	p->count = 0;
	for (int64_t at = of->now_utc_s; at < end_utc_s && p->count < LT_STRETCHES_MAX;) {
		const int64_t next = next_step(&p->runs, at, end_utc_s);

		p->stretches[p->count++] = (struct lt_stretch){.from_utc_s = at,
		    .to_utc_s = next,
		    .runs = value_of(&p->runs, &runs, at, 1),
		    .rests = value_of(&p->rests, &rests, at, 1)};
		at = next;
	}
}

/* The cost of the course in one currency, and the cost of running on. */
struct both {
	double course, through;
};

static struct both
both_of(const struct pausing *p, const struct linear *runs, const struct linear *rests,
    int64_t end_utc_s)
{
	struct both sum = {0, 0};

	for (uint32_t i = 0; i < p->count; i++) {
		const struct lt_stretch *const in = &p->stretches[i];
		const int64_t until = lt_min_i64(in->to_utc_s, end_utc_s);
		const int64_t through = lt_min_i64(in->to_utc_s, p->through_utc_s) - in->from_utc_s;

		if (through > 0)
			sum.through += value_of(&p->runs, runs, in->from_utc_s, through);
		if (until <= in->from_utc_s)
			continue;
		sum.course +=
		    value_of(&p->runs, runs, in->from_utc_s, in->run_s) +
		    value_of(&p->rests, rests, in->from_utc_s, until - in->from_utc_s - in->run_s);
	}
	return sum;
}

/* When it ends, by run_s. */
static int64_t
end_of(const struct pausing *p)
{
	for (uint32_t i = p->count; i-- > 0;)
		if (p->stretches[i].run_s > 0)
			return p->stretches[i].from_utc_s + p->stretches[i].run_s;
	return p->through_utc_s;
}

/* Returns, for a stretch that is worked in part, the start of the part beside the next worked
 * stretch: so there is one pause and not two. */
static int64_t
first_work(const struct pausing *p)
{
	uint32_t i = 0;

	while (p->stretches[i].run_s == 0)
		i++;
	const struct lt_stretch *const in = &p->stretches[i];
	return i + 1 < p->count && p->stretches[i + 1].run_s > 0 ? in->to_utc_s - in->run_s
								 : in->from_utc_s;
}

/* Returns when the first pause of a job that works now begins. */
static int64_t
first_rest(const struct pausing *p, int64_t end_utc_s)
{
	for (uint32_t i = 0; i < p->count; i++) {
		const struct lt_stretch *const in = &p->stretches[i];

		if (in->from_utc_s + in->run_s < in->to_utc_s)
			return in->from_utc_s + in->run_s < end_utc_s ? in->from_utc_s + in->run_s
								      : INT64_MAX;
	}
	return INT64_MAX;
}

/* As (23): enough of money or of carbon. */
static bool
is_enough(const struct both *sum, const struct lt_market *market)
{
	return sum->through - sum->course >=
	       fabs(sum->through) * market->min_saving_ppm / LT_MICROS;
}

static bool
is_within(const struct pausing *p, const struct both *money, const struct lt_pause_of *of)
{
	const double least = money->through;

	if (!p->decision.use_money)
		return true;
	if ((of->request->max_cost_micros != LT_UNSET_64 || p->decision.job.max_price_micros > 0) &&
	    money->course > least + lt_score_tolerance(least))
		return false;
	return of->request->objective != LT_OBJECTIVE_CARBON ||
	       money->course <= least + fabs(least) * of->market->max_extra_cost_ppm / LT_MICROS +
				    lt_score_tolerance(least);
}

/* Returns the cost of working through the present stretch, and then taking the best course. */
static double
run_first(struct pausing *p, int64_t left_s)
{
	struct lt_stretch *const now = &p->stretches[0];
	const int64_t length_s = now->to_utc_s - now->from_utc_s;

	if (length_s >= left_s)
		return now->runs * (double)left_s;
	return now->runs * (double)length_s +
	       lt_course_least(&p->stretches[1], p->count - 1, left_s - length_s, p->order);
}

/* Returns the least of all courses that stand still from the stretch `first` on, until another one
 * begins, and then work through; INFINITY without one. Writes run_s of those from there on. */
static double
back_once(struct pausing *p, uint32_t first, const struct lt_pause_of *of, int64_t left_s)
{
	const int64_t last_utc_s = of->now_utc_s + of->most_s - of->requeue_s;
	int64_t work_s = left_s + of->requeue_s;
	double rests = 0, least = INFINITY;
	uint32_t chosen = p->count;

	for (uint32_t i = first; i + 1 < p->count; i++) {
		const struct lt_stretch *const in = &p->stretches[i];

		rests += in->rests * (double)(in->to_utc_s - in->from_utc_s);
		if (in->to_utc_s > last_utc_s)
			break;
		const double cost =
		    rests + lt_course_through(&p->stretches[i + 1], p->count - i - 1, work_s);
		if (cost < least) {
			least = cost;
			chosen = i + 1;
		}
	}
	for (uint32_t i = first; i < p->count; i++) {
		struct lt_stretch *const in = &p->stretches[i];

		in->run_s = i < chosen ? 0 : lt_min_i64(work_s, in->to_utc_s - in->from_utc_s);
		work_s -= in->run_s;
	}
	return least;
}

/* Returns the cost of not going back to the queue now: of working through the present stretch, and
 * going back after it if that costs less than working on. */
static double
back_later(struct pausing *p, const struct lt_pause_of *of, double through)
{
	const struct lt_stretch now = p->stretches[0];
	const int64_t length_s = now.to_utc_s - now.from_utc_s;

	return length_s >= of->left_s
		   ? through
		   : fmin(through,
			 now.runs * (double)length_s + back_once(p, 1, of, of->left_s - length_s));
}

static void
judge(struct lt_pause_course *out, struct pausing *p, const struct lt_pause_of *of)
{
	const double through = lt_course_through(p->stretches, p->count, of->left_s);

	if (!isfinite(through))
		return; /* nobody knows the hours until its end */
	const double least = of->is_paused
				 ? lt_score_tolerance(through)
				 : lt_score_least_saving(&p->decision, ROUND_FIRST, through);
	const bool is_back = of->requeue_s > 0;
	/* The pause that would begin now is worth it alone. */
	const double runs_now = is_back ? back_later(p, of, through) : run_first(p, of->left_s);
	const double cost = is_back ? back_once(p, 0, of, of->left_s)
				    : lt_course_least(p->stretches, p->count, of->left_s, p->order);

	if (is_back)
		out->again_utc_s = p->stretches[0].to_utc_s;
	if (!isfinite(cost))
		return; /* no hour that is known is left for it */
	const int64_t end_utc_s = end_of(p);
	const struct both money = both_of(p, &p->runs.money, &p->rests.money, end_utc_s);
	const struct both carbon = both_of(p, &p->runs.carbon, &p->rests.carbon, end_utc_s);

	if (through - cost <= least || !is_within(p, &money, of) ||
	    (!of->is_paused && !(p->decision.use_money && is_enough(&money, of->market)) &&
		!(p->decision.use_carbon && is_enough(&carbon, of->market))))
		return;
	out->end_utc_s = end_utc_s;
	out->has_cost = p->decision.use_money;
	out->has_carbon = p->decision.use_carbon;
	out->saved_micros = out->has_cost ? money.through - money.course : 0;
	out->saved_mg = out->has_carbon ? carbon.through - carbon.course : 0;
	const int64_t work_utc_s = first_work(p);
	if (work_utc_s > of->now_utc_s && runs_now - cost > least)
		out->until_utc_s = out->again_utc_s = work_utc_s;
	else if (work_utc_s > of->now_utc_s)
		out->again_utc_s = p->stretches[0].to_utc_s;
	else
		out->again_utc_s = first_rest(p, end_utc_s);
}

int
lt_pause_plan(struct lt_pause_course *out, const struct lt_pause_of *of, struct lt_error *err)
{
	*out = (struct lt_pause_course){
	    .again_utc_s = INT64_MAX, .end_utc_s = of->now_utc_s + of->left_s};
	if (of->partition < 0 || (uint32_t)of->partition >= of->market->partition_count)
		return lt_fail(err, LT_EINPUT, "the job's partition is not known to lowtide");
	if (of->most_s <= 0)
		return LT_OK;
	struct pausing *const p = malloc(sizeof(*p));
	if (p == NULL)
		return lt_fail(err, LT_ENOMEM, "pause: out of memory");
	p->through_utc_s = out->end_utc_s;
	if (weigh(p, of)) {
		fill_stretches(p, of);
		judge(out, p, of);
	}
	free(p);
	return LT_OK;
}

int64_t
lt_pause_most_s(const struct lt_pause_promise *of, const struct lt_market *market)
{
	/* Its limit stands still with it, and the rest of the limit is the most that it may
	 * take. */
	const int64_t run_s = of->now_utc_s - of->start_utc_s - of->suspended_s;
	const int64_t most_s = of->deadline_utc_s != LT_UNSET_64
				   ? of->deadline_utc_s - market->deadline_slack_s - of->now_utc_s -
					 (of->limit_s - run_s)
				   : of->latest_utc_s - of->start_utc_s - of->suspended_s;

	return most_s > 0 ? most_s : 0;
}
