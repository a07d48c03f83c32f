/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_decide() against a brute force that shares nothing with it but the
 * tested leaves (active time, GPU ratio): small random markets, every
 * partition, every second. docs/model.md, eqs. (1) to (24), once more and in
 * the plainest way.
 */
#include "decide_option.h"

enum { WORLDS = 8000 };

struct rules {
	bool money, carbon, fits;
	struct price home;
};

/* What the objective wants least of, and second least. */
static double
score_of(const struct rules *rules, int p, int64_t s, int round)
{
	const struct price price = price_of(p, s);
	const double end = (double)(earliest_s + s + options[p].length_s - NOW);
	const double cheap = rules->money    ? price.money
			     : rules->carbon ? price.carbon
					     : 0;
	const double clean = rules->carbon  ? price.carbon
			     : rules->money ? price.money
					    : 0;

	switch (world.request.objective) {
	case LT_OBJECTIVE_COST:
		return round == 0 ? cheap : clean;
	case LT_OBJECTIVE_CARBON:
		return round == 0 ? clean : cheap;
	case LT_OBJECTIVE_FAST:
		return round == 0 ? end : cheap;
	default:
		return rules->money && rules->carbon
			   ? price.money +
				 price.carbon / 1e9 *
				     (double)world.market
					 .carbon_price_micros_per_tonne
			   : cheap;
	}
}

/* The job may not be moved there. */
static bool
is_bound(int p)
{
	const struct lt_request *request = &world.request;

	return p != request->home &&
	       ((request->named_count > 0 && request->named[0] != p) ||
		   !(world.partitions[p].flags & LT_PARTITION_MANAGED));
}

/* Which currencies count, and where the job goes by itself. */
static struct rules
make_rules(void)
{
	const struct lt_request *request = &world.request;
	const enum lt_objective objective = request->objective;
	const struct option *home = &options[request->home];
	struct rules rules = {.fits = home->fits};

	if (home->fits) {
		rules.home = price_of(request->home, 0);
		rules.money = home->has_money;
		rules.carbon = home->has[2];
		return rules;
	}
	/* Carbon counts where it shuts out nobody, or is what is asked for. */
	for (int pass = 0; pass < 2; pass++) {
		uint32_t with = 0, without = 0;

		for (int p = 0; p < (int)world.market.partition_count; p++) {
			const struct option *option = &options[p];

			if (!option->fits || age_of(p) > 3600 || is_bound(p))
				continue;
			if (pass == 0)
				rules.money |= option->has_money;
			else if (option->has_money == rules.money)
				*(option->has[2] ? &with : &without) += 1;
		}
		rules.carbon =
		    with > 0 &&
		    (without == 0 || objective == LT_OBJECTIVE_CARBON);
	}
	return rules;
}

/* Partitions that may take part. */
static void
open_options(const struct rules *rules)
{
	const struct lt_request *request = &world.request;

	for (int p = 0; p < (int)world.market.partition_count; p++) {
		struct option *option = &options[p];
		const bool is_home = p == request->home;
		const double hold = option->worst_price * option->each *
				    request->array_tasks *
				    (double)request->limit_s / 3600 * 1.1;
		const bool within =
		    is_home || !request->has_available ||
		    (option->has[0] &&
			hold <= (double)request->available_micros);

		option->moves =
		    option->fits && within &&
		    option->has_money == rules->money &&
		    (!rules->carbon || option->has[2]) && age_of(p) <= 3600 &&
		    (!rules->fits || age_of(request->home) <= 3600) &&
		    option->latest_s >= earliest_s && !is_bound(p);
	}
}

static double
noise(double score)
{
	return 1e-9 * fmax(1, fabs(score));
}

/* What a saving must at least be. */
static double
least(const struct rules *rules, int round, double score)
{
	const double price =
	    (double)world.market.carbon_price_micros_per_tonne / 1e9;
	const enum lt_objective objective = world.request.objective;
	const bool fast = objective == LT_OBJECTIVE_FAST;
	const bool is_mg =
	    !rules->money ||
	    (rules->carbon && objective == (round == 0 ? LT_OBJECTIVE_CARBON
						       : LT_OBJECTIVE_COST));
	double value = 5000;

	if (fast && round == 0)
		value = 0;
	else if (is_mg)
		value = 500;
	else if (objective == LT_OBJECTIVE_BALANCED && rules->carbon &&
		 price > 0)
		value = fmin(value, 500 * price);
	return fmax(value, noise(score));
}

/* Room, and the conditions of the objective and of --max-cost; slack < 0 asks
 * for more than that. */
static bool
may_start(const struct rules *rules, int p, int64_t s, int round, double slack)
{
	const struct lt_request *request = &world.request;
	const struct option *option = &options[p];
	const int64_t length = option->length_s;
	const double more = (double)world.market.max_extra_cost_ppm / 1e6;
	const struct price price = price_of(p, s);
	const double was = rules->home.money;

	if (option->full[s + length] > option->full[s])
		return false;
	if (request->objective == LT_OBJECTIVE_CARBON && rules->money &&
	    rules->fits &&
	    price.money > was + fabs(was) * more + (1 + slack) * noise(was))
		return false;
	if (request->max_cost_micros != LT_UNSET_64 && option->has_charged &&
	    price.charged >
		(double)request->max_cost_micros + 0.5 + slack * noise(1e7))
		return false;
	if (round > 0) {
		const double first = score_of(rules, request->home, 0, 0);

		if (score_of(rules, p, s, 0) >
		    first + (1 + slack) * noise(first))
			return false;
	}
	return true;
}

/* A start where a window's end meets a step of what the cost depends on, or
 * room begins or ends. */
static bool
is_candidate(int p, int64_t s)
{
	const struct option *option = &options[p];
	const int64_t last = option->latest_s - earliest_s;
	const int64_t length = option->length_s;

	return s == 0 || s == last || option->step_at[s] ||
	       option->step_at[s + length] ||
	       option->full[s] - option->full[s - 1] > 0 ||
	       option->full[s + length + 1] - option->full[s + length] > 0;
}

struct best {
	bool any;
	int p;
	int64_t s;
	double score;
};

/* Least score; of all seconds, or of candidates only. */
static struct best
find_best(const struct rules *rules, int round, bool all, double slack)
{
	struct best best = {.score = INFINITY};

	for (int p = 0; p < (int)world.market.partition_count; p++) {
		if (!options[p].moves)
			continue;
		for (int64_t s = 0; s <= options[p].latest_s - earliest_s;
		     s++) {
			if ((!all && !is_candidate(p, s)) ||
			    !may_start(rules, p, s, round, slack))
				continue;
			const double score = score_of(rules, p, s, round);
			if (score < best.score)
				best = (struct best){true, p, s, score};
		}
	}
	return best;
}

static uint32_t moves, waits, elsewhere, second_round, unfit, capped;

/* One round of the rule: is the plan what it asks for? Returns false when
 * nothing is to be had in this round, so that the plan is no matter of it. */
static bool
check_round(const struct rules *rules, const struct lt_plan *plan, int round,
    uint64_t number)
{
	const bool has_caps = round > 0 ||
			      world.request.objective == LT_OBJECTIVE_CARBON ||
			      world.request.max_cost_micros != LT_UNSET_64;
	const bool fast = world.request.objective == LT_OBJECTIVE_FAST;
	const struct best best = find_best(rules, round, false, 0);
	const struct best surely = find_best(rules, round, false, -0.5);
	double from, limit;

	if (rules->fits) {
		from = score_of(rules, world.request.home, 0, round);
		if (!best.any || best.score > from - least(rules, round, from) +
						  noise(from) / 2)
			return false;
		if (!plan->moved) {
			/* Only where rounding decides it may stay. */
			if (surely.any &&
			    surely.score < from - least(rules, round, from) -
					       noise(from) / 2 &&
			    round == 0)
				fail_msg("%llu: stays, though %d at %lld "
					 "scores %.9g, not %.9g",
				    (unsigned long long)number, surely.p,
				    (long long)surely.s, surely.score, from);
			return false;
		}
	} else {
		if (!best.any)
			return false;
		from = score_of(rules, best.p, 0, round);
	}
	if (!has_caps && find_best(rules, round, true, 0).score <
			     best.score - noise(best.score))
		fail_msg("%llu: a better start between two steps",
		    (unsigned long long)number);
	limit = best.score;
	if (!fast && from > best.score)
		limit = from - 0.95 * (from - best.score);
	if (!rules->fits && !fast)
		limit = fmax(limit, best.score + least(rules, round, from));

	const int p = plan->chosen.partition;
	const int64_t s = plan->chosen.start_utc_s - earliest_s;
	if (!options[p].moves || s < 0 ||
	    s > options[p].latest_s - earliest_s ||
	    !may_start(rules, p, s, round, 0.5))
		fail_msg("%llu: %d at %lld is not allowed",
		    (unsigned long long)number, p, (long long)s);
	if (score_of(rules, p, s, round) > limit + 3 * noise(limit))
		fail_msg("%llu: %d at %lld scores %.12g, over %.12g",
		    (unsigned long long)number, p, (long long)s,
		    score_of(rules, p, s, round), limit);
	for (int other = 0; other < (int)world.market.partition_count;
	     other++) {
		const int64_t until = s - (other < p ? 0 : 1);

		if (!options[other].moves)
			continue;
		for (int64_t t = 0;
		     t <= until && t <= options[other].latest_s - earliest_s;
		     t++)
			if (is_candidate(other, t) &&
			    score_of(rules, other, t, round) <
				limit - noise(limit) &&
			    may_start(rules, other, t, round, -0.5))
				fail_msg("%llu: %d at %lld, though %d at %lld "
					 "would do",
				    (unsigned long long)number, p, (long long)s,
				    other, (long long)t);
	}
	return true;
}

static void
check_figures(const struct lt_estimate *estimate, uint64_t number)
{
	const struct option *option = &options[estimate->partition];
	const struct price price =
	    price_of(estimate->partition, estimate->start_utc_s - earliest_s);

	if (estimate->has_cost != option->has_charged ||
	    estimate->has_carbon != option->has[2] ||
	    estimate->end_utc_s - estimate->start_utc_s != option->length_s)
		fail_msg("%llu: other terms", (unsigned long long)number);
	if ((estimate->has_cost &&
		fabs((double)estimate->cost_micros - price.charged) >
		    0.5 + noise(price.charged) * 10) ||
	    (estimate->has_carbon &&
		fabs((double)estimate->carbon_mg - price.carbon) >
		    0.5 + noise(price.carbon) * 10))
		fail_msg("%llu: %lld micros, %lld mg, want %.3f, %.3f",
		    (unsigned long long)number,
		    (long long)estimate->cost_micros,
		    (long long)estimate->carbon_mg, price.charged,
		    price.carbon);
}

static void
check_world(uint64_t number)
{
	static struct lt_plan plan;
	struct rules rules;

	make_world(number);
	earliest_s = world.request.earliest_utc_s > NOW
			 ? world.request.earliest_utc_s
			 : NOW;
	for (int p = 0; p < (int)world.market.partition_count; p++)
		if (!make_option(&options[p], p))
			return;
	assert_int_equal(lt_decide(&plan, &world.request, &world.market,
			     world.planned, world.planned_count, NOW, NULL),
	    LT_OK);
	rules = make_rules();
	open_options(&rules);
	if (plan.fits != rules.fits)
		fail_msg("%llu: home fits or not", (unsigned long long)number);
	if (plan.fits)
		check_figures(&plan.home, number);
	if (plan.chosen.partition >= 0 && plan.moved)
		check_figures(&plan.chosen, number);
	if (check_round(&rules, &plan, 0, number)) {
		capped += world.request.max_cost_micros != LT_UNSET_64;
	} else if (rules.fits && check_round(&rules, &plan, 1, number)) {
		second_round++;
	} else if (plan.moved && rules.fits) {
		/* By a hair: rounding may let it go, and no more than that. */
		const double from = score_of(&rules, world.request.home, 0, 0);
		const double to = score_of(&rules, plan.chosen.partition,
		    plan.chosen.start_utc_s - earliest_s, 0);

		if (to > from + 3 * noise(from))
			fail_msg("%llu: moves for nothing",
			    (unsigned long long)number);
	} else if (plan.moved) {
		fail_msg("%llu: moves nowhere", (unsigned long long)number);
	}
	moves += plan.moved;
	unfit += !plan.fits && plan.moved;
	waits += plan.moved && plan.chosen.start_utc_s > earliest_s;
	elsewhere += plan.moved && plan.chosen.partition != plan.home.partition;
}

static void
test_same_as_brute_force(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++)
		check_world(number);
	/* The worlds must be worth it. */
	print_message("# moves %u, waits %u, elsewhere %u, second round %u, "
		      "home can't %u, capped %u\n",
	    moves, waits, elsewhere, second_round, unfit, capped);
	assert_true(moves > 1500 && waits > 800 && elsewhere > 800);
	assert_true(second_round > 10 && unfit > 100 && capped > 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_as_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
