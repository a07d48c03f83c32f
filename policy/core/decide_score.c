/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates and scores of a start. The estimate is for the expected run time, for the longest run
 * time, and for nodes no faster than home's; the score, and the conditions that a start must meet,
 * are those of a round of the decision: docs/model.md, eqs. (21) to (23).
 *
 * Reads lanes that decide_cost.c priced; pure, and nothing fails.
 */
#include <assert.h>
#include <math.h>

#include "currency.h"
#include "decide_internal.h"

/* ---- Figures of a start ---- */

double
lt_linear_value(
    const struct linear *linear, const double integral[TERM_COUNT], double end_after_now_s)
{
	double sum = linear->constant + linear->per_s * end_after_now_s;

	for (int i = 0; i < TERM_COUNT; i++)
		sum += linear->weight[i] * integral[i];
	return sum;
}

struct linear
lt_linear_sum(const struct linear *a, const struct linear *b, double factor)
{
	struct linear sum = *a;

	for (int i = 0; i < TERM_COUNT; i++)
		sum.weight[i] += b->weight[i] * factor;
	sum.constant += b->constant * factor;
	sum.per_s += b->per_s * factor;
	return sum;
}

void
lt_lane_integrals(double integral[TERM_COUNT], const struct lane *lane, int64_t start_utc_s)
{
	for (int i = 0; i < TERM_COUNT; i++) {
		integral[i] = 0;
		if (lane->series[i] == NULL)
			continue;
		for (uint32_t e = 0; e < lane->length_count; e++)
			integral[i] += lt_series_integral(
			    lane->series[i], start_utc_s, start_utc_s + lane->lengths_s[e]);
		integral[i] *= lane->length_part;
	}
}

void
lt_lane_mean(struct lane *lane)
{
	double sum_s = 0;

	for (uint32_t i = 0; i < lane->length_count; i++)
		sum_s += (double)lane->lengths_s[i];
	lane->mean_h = sum_s * lane->length_part / LT_HOUR_S;
}

/* Half away from zero, held within int64_t. */
static int64_t
whole(double value)
{
	if (value >= 9.2e18)
		return INT64_MAX;
	if (value <= -9.2e18)
		return INT64_MIN;
	return llround(value);
}

void
lt_lane_estimate(struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s)
{
	assert(lane->partition >= 0 && lane->length_s >= 0);

	const double hours = lane->mean_h;
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, lane, start_utc_s);
	*estimate = (struct lt_estimate){
	    .partition = lane->partition,
	    .start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + lane->done_s,
	    .free_utc_s = start_utc_s + lane->length_s,
	    .expected_active_s = lane->active.active_s,
	    .expected_interruptions = lane->active.expected_interruptions * (double)lane->length_s /
				      lane->active.active_s * lane->task_factor,
	    .expected_lost_s = lane->active.lost_s * (double)lane->length_s /
			       lane->active.active_s * lane->task_factor,
	    .restart_chance = lane->active.restart_chance,
	    .interval_s = lane->active.interval_s,
	    .time_ratio = lane->time_ratio,
	    .time_ratio_known = lane->time_ratio_known,
	    .node_equivalents = lane->node_equivalents,
	    .task_nodes = (double)lane->share.nodes * (double)lane->share.numerator /
			  (double)lane->share.denominator,
	    .task_w = lane->power_kw * 1000 / lane->task_factor,
	    .has_cost = lane->has_charged,
	    .has_carbon = lane->has_carbon,
	    .expected_compute_micros = lane->charged.weight[TERM_PRICE] * integral[TERM_PRICE],
	    .expected_energy_micros = lane->power_kw * integral[TERM_TARIFF],
	    .expected_storage_micros = lane->storage_micros,
	    .expected_failure_micros = lane->failure_micros,
	    .energy_wh = lane->power_kw * 1000 * hours,
	};
	if (lane->has_carbon)
		estimate->carbon_mg = whole(lt_linear_value(&lane->emitted, integral, 0));
	if (!lane->has_charged)
		return;
	estimate->cost_micros = estimate->most_micros =
	    whole(lt_linear_value(&lane->charged, integral, 0));
	if (lane->length_count > 1 || lane->lengths_s[0] != lane->sure_s) {
		struct lane sure;

		lt_lane_sure(&sure, lane);
		lt_lane_integrals(integral, &sure, start_utc_s);
		estimate->most_micros = whole(lt_linear_value(&sure.charged, integral, 0));
	}
}

/* All that depends on the length of its windows, were these that many times as long. */
static void
stretch(struct lane *lane, double times)
{
	lane->charged.constant *= times;
	lane->emitted.constant *= times;
}

void
lt_lane_sure(struct lane *sure, const struct lane *lane)
{
	*sure = *lane;
	sure->lengths_s[0] = lane->sure_s;
	sure->length_count = 1;
	sure->length_part = 1;
	lt_lane_mean(sure);
	stretch(sure, sure->mean_h / lane->mean_h);
}

void
lt_lane_estimate_slow(struct lt_estimate *estimate, const struct lane *lane, int64_t start_utc_s)
{
	const double ratio = lane->time_ratio;
	struct lane slow = *lane;

	slow.length_s = llround((double)lane->length_s / ratio);
	for (uint32_t i = 0; i < lane->length_count; i++)
		slow.lengths_s[i] = llround((double)lane->lengths_s[i] / ratio);
	lt_lane_mean(&slow);
	stretch(&slow, 1 / ratio);
	lt_lane_estimate(estimate, &slow, start_utc_s);
}

/* ---- Scores and conditions ---- */

static const double rounding = 1e-9; /* of a score: noise, no saving */

static const struct linear nothing;

/* Returns a lane's score: in the first round what the objective wants least of, in the second what
 * it wants least of among equals. */
struct linear
lt_score_of(const struct decision *decision, const struct lane *lane, int round)
{
	const struct linear end = {.per_s = 1, .constant = (double)(lane->done_s - lane->length_s)};
	const bool money = decision->use_money, carbon = decision->use_carbon;
	const struct linear *cheap = money ? &lane->money : carbon ? &lane->carbon : &nothing;
	const struct linear *clean = carbon ? &lane->carbon : money ? &lane->money : &nothing;

	switch (decision->plan->objective) {
	case LT_OBJECTIVE_COST:
		return round == ROUND_FIRST ? *cheap : *clean;
	case LT_OBJECTIVE_CARBON:
		return round == ROUND_FIRST ? *clean : *cheap;
	case LT_OBJECTIVE_FAST:
		return round == ROUND_FIRST ? end : *cheap;
	default:
		if (round != ROUND_FIRST)
			return *clean;
		if (!money || !carbon)
			return *cheap;
		return lt_linear_sum(
		    &lane->money, &lane->carbon, lt_worth_per_mg(decision->job.market));
	}
}

/* True if the round's score is in milligrams, else it is in micros or seconds. */
static bool
scores_carbon(const struct decision *decision, int round)
{
	const enum lt_objective objective = decision->plan->objective;

	if (!decision->use_carbon)
		return !decision->use_money;
	return !decision->use_money ||
	       (round == ROUND_FIRST
		       ? objective == LT_OBJECTIVE_CARBON
		       : objective == LT_OBJECTIVE_COST || objective == LT_OBJECTIVE_BALANCED);
}

double
lt_score_waiting_per_s(const struct decision *decision, int round)
{
	const struct lt_market *const market = decision->job.market;

	if (decision->plan->objective == LT_OBJECTIVE_FAST)
		return 0;
	return (double)(scores_carbon(decision, round) ? market->waiting_mg_per_hour
						       : market->waiting_micros_per_hour) /
	       LT_HOUR_S;
}

/* Adds what waiting is worth in the round's score, from the earliest start on; eq. (21a). */
static struct linear
with_waiting(
    const struct decision *decision, const struct lane *lane, int round, struct linear score)
{
	const double per_s = lt_score_waiting_per_s(decision, round);

	score.per_s += per_s;
	score.constant -= per_s * (double)(decision->job.earliest_utc_s + lane->length_s -
					   decision->job.now_utc_s);
	return score;
}

struct linear
lt_score_with_waiting(const struct decision *decision, const struct lane *lane, int round)
{
	return with_waiting(decision, lane, round, lt_score_of(decision, lane, round));
}

double
lt_score_value(const struct decision *decision, const struct lane *lane,
    const struct linear *linear, int64_t start_utc_s)
{
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, lane, start_utc_s);
	return lt_linear_value(
	    linear, integral, (double)(start_utc_s + lane->length_s - decision->job.now_utc_s));
}

double
lt_score_at(const struct decision *decision, const struct lane *lane, int64_t start_utc_s)
{
	const struct linear score = lt_score_with_waiting(decision, lane, ROUND_FIRST);

	return lt_score_value(decision, lane, &score, start_utc_s);
}

double
lt_score_tolerance(double score)
{
	return rounding * fmax(1, fabs(score));
}

/* The last digit of a carbon figure, as lt_carbon_text() has it; but where digits become coarse, no
 * more than a start must save to be waited for: or a job just above a kilogram would give up what
 * one just below it takes. */
static double
shown_mg(double mg, const struct lt_market *market)
{
	static const double kg = 1e6, t = 1e9;
	const double size = fabs(mg), g = kg / 1000;
	const double digit = size < kg ? g : size < t ? kg / 10 : t / 100;

	return market->min_saving_ppm == 0
		   ? digit
		   : fmin(digit, fmax(g, size * market->min_saving_ppm / LT_MICROS));
}

/* The least that a move must save, in units of the round's score; eq. (23). The fastest is fastest
 * by any second. */
double
lt_score_least_saving(const struct decision *decision, int round, double score)
{
	const struct lt_market *const market = decision->job.market;
	const double micros_per_mg = lt_worth_per_mg(market);
	/* A saving too small to be shown does not count. */
	double least = (double)lt_currency_cent(market->currency);

	if (decision->plan->objective == LT_OBJECTIVE_FAST && round == ROUND_FIRST)
		least = 0;
	else if (scores_carbon(decision, round))
		least = shown_mg(score, market);
	else if (decision->plan->objective == LT_OBJECTIVE_BALANCED && decision->use_carbon &&
		 micros_per_mg > 0)
		least = fmin(least, shown_mg(score / micros_per_mg, market) * micros_per_mg);
	return fmax(least, lt_score_tolerance(score));
}

/* True if the carbon that is shown must be kept, too. Where idle power is left out, less carbon may
 * decide than is shown. A job that moves for carbon should not be shown more of it than home's, or
 * than that of the choice to be bettered: what is shown is held to what decides. */
static bool
caps_emitted(const struct decision *decision, int round)
{
	const enum lt_objective objective = decision->plan->objective;
	const bool fast = objective == LT_OBJECTIVE_FAST && round == ROUND_FIRST;

	return decision->rests && decision->use_carbon &&
	       (round == ROUND_EQUAL || decision->has_baseline) &&
	       ((scores_carbon(decision, round) && !fast) || objective == LT_OBJECTIVE_CARBON);
}

/* Returns what a lane is shown to emit; with waiting, where waiting is part of its score. */
static struct linear
emitted_of(const struct decision *decision, const struct lane *lane, int round)
{
	const bool fast = decision->plan->objective == LT_OBJECTIVE_FAST && round == ROUND_FIRST;

	return scores_carbon(decision, round) && !fast
		   ? with_waiting(decision, lane, round, lane->emitted)
		   : lane->emitted;
}

static double
emitted_limit(const struct decision *decision, int round)
{
	const bool equal = round == ROUND_EQUAL;
	const struct lane *const than = equal ? decision->first.lane : &decision->home;
	const struct linear was = emitted_of(decision, than, round);
	const double limit = lt_score_value(
	    decision, than, &was, equal ? decision->first.start_utc_s : decision->home_utc_s);

	return limit + lt_score_tolerance(limit);
}

/* Returns the money or the carbon of this lane at home's first start with room. */
static double
worth_from(const struct decision *decision, const struct lane *lane, enum worth worth)
{
	return lt_score_value(decision, lane, worth == WORTH_MONEY ? &lane->money : &lane->carbon,
	    decision->home_utc_s);
}

static bool
counts(const struct decision *decision, enum worth worth)
{
	return worth == WORTH_MONEY ? decision->use_money
				    : worth == WORTH_CARBON && decision->use_carbon;
}

/* 0 where home is nothing to measure a choice against. */
static double
home_worth(const struct decision *decision, enum worth worth)
{
	return decision->has_baseline && counts(decision, worth)
		   ? worth_from(decision, &decision->home, worth)
		   : 0;
}

/* Returns the cap of that much less than home, or, where home can't run it, than the lane itself at
 * once. A limit below all values: it can't be met. */
static struct cap
worth_cap(const struct decision *decision, const struct lane *lane, const struct rival *rival)
{
	const enum worth worth = rival->worth;
	struct cap cap = {.limit = -INFINITY, .reject = LT_REJECT_DEARER};

	if (worth == WORTH_IN_TIME) {
		cap.value.per_s = 1;
		cap.limit =
		    (double)(decision->home_utc_s + lane->length_s - decision->job.now_utc_s);
	} else if (counts(decision, worth)) {
		const double from =
		    decision->has_baseline ? rival->worth_from : worth_from(decision, lane, worth);

		cap.value = worth == WORTH_MONEY ? lane->money : lane->carbon;
		cap.limit = from - fabs(from) * decision->job.market->min_saving_ppm / LT_MICROS;
	}
	return cap;
}

bool
lt_is_worth(
    const struct decision *decision, const struct lane *lane, int64_t start_utc_s, enum worth worth)
{
	const struct rival rival = {.worth = worth, .worth_from = home_worth(decision, worth)};
	const struct cap cap = worth_cap(decision, lane, &rival);

	return lt_score_value(decision, lane, &cap.value, start_utc_s) <= cap.limit;
}

struct rival
lt_rival_of(const struct decision *decision, int round, enum worth worth)
{
	const struct lane *const home = &decision->home;
	const int64_t now_at = decision->home_utc_s;
	struct rival rival = {.round = round,
	    .worth = worth,
	    .caps_money = decision->plan->objective == LT_OBJECTIVE_CARBON && decision->use_money &&
			  decision->has_baseline,
	    .caps_emitted = caps_emitted(decision, round),
	    .caps_first = round != ROUND_FIRST,
	    .worth_from = home_worth(decision, worth)};

	if (rival.caps_money)
		rival.money = lt_score_value(decision, home, &home->money, now_at);
	if (rival.caps_emitted)
		rival.emitted_limit = emitted_limit(decision, round);
	if (round == ROUND_EQUAL) {
		rival.first_limit = decision->first.score;
	} else if (round == ROUND_SECOND) {
		const struct linear score = lt_score_of(decision, home, ROUND_FIRST);

		rival.first_limit = lt_score_value(decision, home, &score, now_at);
	}
	rival.first_limit += lt_score_tolerance(rival.first_limit);
	return rival;
}

void
lt_aim_make(struct aim *aim, const struct decision *decision, const struct lane *lane,
    const struct rival *rival)
{
	const int round = rival->round;

	aim->score = lt_score_with_waiting(decision, lane, round);
	aim->cap_count = 0;
	if (rival->caps_money)
		aim->caps[aim->cap_count++] = (struct cap){lane->money,
		    rival->money +
			fabs(rival->money) * decision->job.market->max_extra_cost_ppm / LT_MICROS +
			lt_score_tolerance(rival->money),
		    LT_REJECT_DEARER};
	if (rival->caps_emitted)
		aim->caps[aim->cap_count++] = (struct cap){
		    emitted_of(decision, lane, round), rival->emitted_limit, LT_REJECT_DEARER};
	if (rival->worth != WORTH_ANY)
		aim->caps[aim->cap_count++] = worth_cap(decision, lane, rival);
	if (rival->caps_first)
		aim->caps[aim->cap_count++] = (struct cap){
		    lt_score_of(decision, lane, ROUND_FIRST), rival->first_limit, LT_REJECT_DEARER};
}

void
lt_aims_make(struct decision *decision, int round, enum worth worth)
{
	const struct rival rival = lt_rival_of(decision, round, worth);

	for (uint32_t i = 0; i < decision->lane_count; i++)
		lt_aim_make(&decision->aims[i], decision, &decision->lanes[i], &rival);
}

bool
lt_lane_over_budget(const struct decision *decision, const struct lane *lane)
{
	const struct lt_request *request = decision->job.request;
	const struct lt_market *market = decision->job.market;
	const double margin = 1 + (double)market->hold_margin_ppm / LT_MICROS;
	const double hours =
	    (double)(decision->job.limit_s > 0 ? decision->job.limit_s : 0) / LT_HOUR_S;
	const double tasks = request->array_tasks > 0 ? request->array_tasks : 1;
	const double over_all = margin * hours * tasks / lane->task_factor;
	const struct lt_series *const price = lane->series[TERM_PRICE];
	const struct lt_series *const carbon = lane->series[TERM_CARBON];
	const double per_mg = lt_charge_per_mg(market);

	if (!request->has_available)
		return false;
	const double mg = carbon == NULL
			      ? INFINITY
			      : lane->emitted.weight[TERM_CARBON] * over_all * carbon->max_value;
	const double micros = price == NULL
				  ? INFINITY
				  : lane->charged.weight[TERM_PRICE] * over_all * price->max_value +
					(per_mg > 0 ? per_mg * mg : 0);

	return (request->available_micros != INT64_MAX &&
		   micros > (double)request->available_micros) ||
	       (request->available_mg != INT64_MAX && mg > (double)request->available_mg);
}
