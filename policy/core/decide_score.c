/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a start scores, and the conditions that it must meet, in each round of
 * a decision: docs/model.md, eqs. (21) to (23).
 */
#include <math.h>

#include "decide_internal.h"

static const double rounding = 1e-9; /* of a score: noise, no saving */
/* A cent: what no figure shows is no saving. */
static const double least_micros = 10000;

static const struct linear nothing;

/* What a lane's score is: first what the objective wants least of, then (the
 * second round) what it wants least of among equals. */
struct linear
lt_score_of(const struct decision *decision, const struct lane *lane, int round)
{
	const struct linear end = {
	    .per_s = 1, .constant = (double)(lane->done_s - lane->length_s)};
	const bool money = decision->use_money, carbon = decision->use_carbon;
	const struct linear *cheap = money    ? &lane->money
				     : carbon ? &lane->carbon
					      : &nothing;
	const struct linear *clean = carbon  ? &lane->carbon
				     : money ? &lane->money
					     : &nothing;

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
		return lt_linear_sum(&lane->money, &lane->carbon,
		    lt_worth_per_mg(decision->job.market));
	}
}

/* Is the round's score in milligrams? Else it is micros, or seconds. */
static bool
scores_carbon(const struct decision *decision, int round)
{
	const enum lt_objective objective = decision->plan->objective;

	if (!decision->use_carbon)
		return !decision->use_money;
	return !decision->use_money ||
	       (round == ROUND_FIRST ? objective == LT_OBJECTIVE_CARBON
				     : objective == LT_OBJECTIVE_COST ||
					   objective == LT_OBJECTIVE_BALANCED);
}

double
lt_score_waiting_per_s(const struct decision *decision, int round)
{
	const struct lt_market *const market = decision->job.market;

	if (decision->plan->objective == LT_OBJECTIVE_FAST)
		return 0;
	return (double)(scores_carbon(decision, round)
			    ? market->waiting_mg_per_hour
			    : market->waiting_micros_per_hour) /
	       LT_HOUR_S;
}

/* With what waiting is worth in the round's score, from the earliest start on;
 * eq. (21a). */
static struct linear
with_waiting(const struct decision *decision, const struct lane *lane,
    int round, struct linear score)
{
	const double per_s = lt_score_waiting_per_s(decision, round);

	score.per_s += per_s;
	score.constant -=
	    per_s * (double)(decision->job.earliest_utc_s + lane->length_s -
			     decision->job.now_utc_s);
	return score;
}

struct linear
lt_score_with_waiting(
    const struct decision *decision, const struct lane *lane, int round)
{
	return with_waiting(
	    decision, lane, round, lt_score_of(decision, lane, round));
}

double
lt_score_value(const struct decision *decision, const struct lane *lane,
    const struct linear *linear, int64_t start_utc_s)
{
	double integral[TERM_COUNT];

	lt_lane_integrals(integral, lane, start_utc_s);
	return lt_linear_value(linear, integral,
	    (double)(start_utc_s + lane->length_s - decision->job.now_utc_s));
}

double
lt_score_at(const struct decision *decision, const struct lane *lane,
    int64_t start_utc_s)
{
	const struct linear score =
	    lt_score_with_waiting(decision, lane, ROUND_FIRST);

	return lt_score_value(decision, lane, &score, start_utc_s);
}

double
lt_score_tolerance(double score)
{
	return rounding * fmax(1, fabs(score));
}

/* The last digit of a carbon figure, as lt_carbon_text() has it; but where
 * digits become coarse, no more than a start must save to be waited for: or a
 * job just above a kilogram would give up what one just below it takes. */
static double
shown_mg(double mg, const struct lt_market *market)
{
	static const double kg = 1e6, t = 1e9;
	const double size = fabs(mg), g = kg / 1000;
	const double digit = size < kg ? g : size < t ? kg / 10 : t / 100;

	return market->min_saving_ppm == 0
		   ? digit
		   : fmin(digit,
			 fmax(g, size * market->min_saving_ppm / LT_MICROS));
}

/* The least that a move must save, in units of the round's score; eq. (23).
 * The fastest is fastest by any second. */
double
lt_score_least_saving(const struct decision *decision, int round, double score)
{
	const struct lt_market *const market = decision->job.market;
	const double micros_per_mg = lt_worth_per_mg(market);
	double least = least_micros;

	if (decision->plan->objective == LT_OBJECTIVE_FAST &&
	    round == ROUND_FIRST)
		least = 0;
	else if (scores_carbon(decision, round))
		least = shown_mg(score, market);
	else if (decision->plan->objective == LT_OBJECTIVE_BALANCED &&
		 decision->use_carbon && micros_per_mg > 0)
		least = fmin(least,
		    shown_mg(score / micros_per_mg, market) * micros_per_mg);
	return fmax(least, lt_score_tolerance(score));
}

/* Where idle power is left out, less carbon may decide than is shown. Who moves
 * for carbon is not to be shown more of it than home's, or than that of the
 * choice to be bettered: what is shown is held to what decides is. */
static bool
emitted_cap(struct cap *cap, const struct decision *decision,
    const struct lane *lane, int round)
{
	const enum lt_objective objective = decision->plan->objective;
	const bool fast =
	    objective == LT_OBJECTIVE_FAST && round == ROUND_FIRST;
	const bool is_score = scores_carbon(decision, round) && !fast;
	const bool equal = round == ROUND_EQUAL;
	const struct lane *const than =
	    equal ? decision->first.lane : &decision->home;
	struct linear is = lane->emitted, was;

	if (!decision->rests || !decision->use_carbon ||
	    !(equal || decision->has_baseline) ||
	    !(is_score || objective == LT_OBJECTIVE_CARBON))
		return false;
	was = than->emitted;
	if (is_score) {
		is = with_waiting(decision, lane, round, is);
		was = with_waiting(decision, than, round, was);
	}
	const double limit = lt_score_value(decision, than, &was,
	    equal ? decision->first.start_utc_s : decision->home_utc_s);

	*cap = (struct cap){
	    is, limit + lt_score_tolerance(limit), LT_REJECT_DEARER};
	return true;
}

/* That much less than home, or, where home can't run it, than the lane itself
 * at once. A limit below all values: it can't be met. */
static struct cap
worth_cap(
    const struct decision *decision, const struct lane *lane, enum worth worth)
{
	const struct lane *const than =
	    decision->has_baseline ? &decision->home : lane;
	const bool is_money = worth == WORTH_MONEY;
	struct cap cap = {.limit = -INFINITY, .reject = LT_REJECT_DEARER};

	if (worth == WORTH_IN_TIME) {
		cap.value.per_s = 1;
		cap.limit = (double)(decision->home_utc_s + lane->length_s -
				     decision->job.now_utc_s);
	} else if (is_money ? decision->use_money : decision->use_carbon) {
		const double from = lt_score_value(decision, than,
		    is_money ? &than->money : &than->carbon,
		    decision->home_utc_s);

		cap.value = is_money ? lane->money : lane->carbon;
		cap.limit = from - fabs(from) *
				       decision->job.market->min_saving_ppm /
				       LT_MICROS;
	}
	return cap;
}

bool
lt_is_worth(const struct decision *decision, const struct lane *lane,
    int64_t start_utc_s, enum worth worth)
{
	const struct cap cap = worth_cap(decision, lane, worth);

	return lt_score_value(decision, lane, &cap.value, start_utc_s) <=
	       cap.limit;
}

/* Score and caps of one lane in this round. */
struct aim
lt_aim_of(const struct decision *decision, const struct lane *lane, int round,
    enum worth worth)
{
	const int64_t now_at = decision->home_utc_s;
	struct aim aim = {
	    .score = lt_score_with_waiting(decision, lane, round)};

	if (decision->plan->objective == LT_OBJECTIVE_CARBON &&
	    decision->use_money && decision->has_baseline) {
		const double home = lt_score_value(
		    decision, &decision->home, &decision->home.money, now_at);

		aim.caps[aim.cap_count++] = (struct cap){lane->money,
		    home +
			fabs(home) * decision->job.market->max_extra_cost_ppm /
			    LT_MICROS +
			lt_score_tolerance(home),
		    LT_REJECT_DEARER};
	}
	aim.cap_count +=
	    emitted_cap(&aim.caps[aim.cap_count], decision, lane, round);
	if (worth != WORTH_ANY)
		aim.caps[aim.cap_count++] = worth_cap(decision, lane, worth);
	if (round == ROUND_SECOND) {
		const struct linear first =
		    lt_score_of(decision, &decision->home, ROUND_FIRST);
		const double home =
		    lt_score_value(decision, &decision->home, &first, now_at);

		aim.caps[aim.cap_count++] =
		    (struct cap){lt_score_of(decision, lane, ROUND_FIRST),
			home + lt_score_tolerance(home), LT_REJECT_DEARER};
	} else if (round == ROUND_EQUAL) {
		const double first = decision->first.score;

		aim.caps[aim.cap_count++] =
		    (struct cap){lt_score_of(decision, lane, ROUND_FIRST),
			first + lt_score_tolerance(first), LT_REJECT_DEARER};
	}
	return aim;
}

bool
lt_lane_over_budget(const struct decision *decision, const struct lane *lane)
{
	const struct lt_request *request = decision->job.request;
	const struct lt_market *market = decision->job.market;
	const double margin = 1 + (double)market->hold_margin_ppm / LT_MICROS;
	const double hours =
	    (double)(decision->job.limit_s > 0 ? decision->job.limit_s : 0) /
	    LT_HOUR_S;
	const double tasks =
	    request->array_tasks > 0 ? request->array_tasks : 1;
	const double over_all = margin * hours * tasks / lane->task_factor;
	const struct lt_series *const price = lane->series[TERM_PRICE];
	const struct lt_series *const carbon = lane->series[TERM_CARBON];
	const double per_mg = lt_charge_per_mg(market);

	if (!request->has_available)
		return false;
	const double mg = carbon == NULL ? INFINITY
					 : lane->emitted.weight[TERM_CARBON] *
					       over_all * carbon->max_value;
	const double micros = price == NULL
				  ? INFINITY
				  : lane->charged.weight[TERM_PRICE] *
					    over_all * price->max_value +
					(per_mg > 0 ? per_mg * mg : 0);

	return (request->available_micros != INT64_MAX &&
		   micros > (double)request->available_micros) ||
	       (request->available_mg != INT64_MAX &&
		   mg > (double)request->available_mg);
}
