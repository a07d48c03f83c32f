/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lt_decide() against a brute force that shares nothing with it but the
 * tested leaves (active time, the last task's, GPU ratio): small random
 * markets, every partition, every second. docs/model.md, eqs. (1) to (24), once
 * more and in the plainest way.
 */
#include "decide_rules.h"

/* Which currencies count, and where the job goes by itself. */
static struct rules
make_rules(void)
{
	const struct lt_request *request = &world.request;
	const enum lt_objective objective = request->objective;
	const struct option *home = &options[request->home];
	struct rules rules = {.fits = home->fits};

	if (home->fits) {
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
		rules.carbon = with > 0 && (without == 0 || objective == LT_OBJECTIVE_CARBON);
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
		const double hours = request->array_tasks * (double)request->limit_s / 3600 * 1.1;
		const double for_carbon =
		    option->worst_mg_per_h / 1e9 * (double)world.market.charge_micros_per_tonne;
		const bool pays = request->available_micros == INT64_MAX ||
				  (option->has_charged &&
				      (option->worst_price * option->each + for_carbon) * hours <=
					  (double)request->available_micros);
		const bool emits = request->available_mg == INT64_MAX ||
				   (option->has[2] && option->worst_mg_per_h * hours <=
							  (double)request->available_mg);
		const bool within = is_home || !request->has_available || (pays && emits);

		option->moves = option->fits && within && option->has_money == rules->money &&
				(!rules->carbon || option->has[2]) && age_of(p) <= 3600 &&
				(!rules->fits || age_of(request->home) <= 3600) &&
				option->latest_s >= earliest_s && !is_bound(p);
	}
}

/* Where it would go by itself. False: later than this test looks. */
static bool
find_home_start(struct rules *rules)
{
	const struct option *const home = &options[world.request.home];

	if (rules->fits && home->moves) {
		while (rules->home_s + home->length_s < SECONDS &&
		       home->full[rules->home_s + home->length_s] > home->full[rules->home_s])
			rules->home_s++;
		if (rules->home_s + home->likely_s[LIKELY - 1] >= SECONDS ||
		    rules->home_s + home->sure_s >= SECONDS)
			return false;
		rules->home_late = rules->home_s > home->latest_s - earliest_s;
	}
	if (rules->fits)
		rules->home = price_of(world.request.home, rules->home_s);
	return true;
}

/* What a saving must at least be: what a figure shows, which is cents, grams below a kilogram, then
 * tenths of it, then hundredths of a tonne. */
static double
least(const struct rules *rules, int round, double score)
{
	const double price = worth() / 1e9;
	double unit = 1, value = 10000;

	if (world.request.objective == LT_OBJECTIVE_FAST && round == FIRST)
		return noise(score);
	if (!is_mg(rules, round)) {
		if (world.request.objective != LT_OBJECTIVE_BALANCED || !rules->carbon ||
		    price == 0)
			return fmax(value, noise(score));
		unit = price;
	}
	const double mg = fabs(score) / unit;
	const double saving = (double)world.market.min_saving_ppm / 1e6;
	const double digit =
	    mg < 1e6 ? 1e3
		     : fmin(mg < 1e9 ? 1e5 : 1e7, saving > 0 ? fmax(1e3, mg * saving) : INFINITY);
	value = is_mg(rules, round) ? digit : fmin(value, digit * unit);
	return fmax(value, noise(score));
}

struct pick { /* a choice; none: any is false */
	bool any;
	int p;
	int64_t s;
};

/* Who moves for carbon is shown no more of it, idle power and all. Waiting is worth some, if it is
 * what is scored. */
static bool
shows_more(const struct rules *rules, const struct pick *at, int round, const struct pick *first,
    double slack)
{
	const bool equal = round == EQUAL;
	const bool fast = world.request.objective == LT_OBJECTIVE_FAST;
	const bool scored = is_mg(rules, round) && !(fast && round == FIRST);
	const double hour = scored && !fast ? (double)world.market.waiting_mg_per_hour : 0;
	double was;

	if (!rules->carbon || !(rules->fits || equal) ||
	    !(scored || world.request.objective == LT_OBJECTIVE_CARBON))
		return false;
	was = (equal ? price_of(first->p, first->s) : rules->home).emitted +
	      hour * (double)(equal ? first->s : rules->home_s) / 3600;
	return price_of(at->p, at->s).emitted + hour * (double)at->s / 3600 >
	       was + (1 + slack) * noise(was);
}

/* Room, and the conditions of the objective and of --max-cost; with slack for rounding. */
static bool
may_start(const struct rules *rules, const struct pick *at, int round, const struct pick *first,
    double slack)
{
	const struct lt_request *request = &world.request;
	const struct option *option = &options[at->p];
	const int64_t length = option->length_s;
	const double more = (double)world.market.max_extra_cost_ppm / 1e6;
	const struct price price = price_of(at->p, at->s);
	const double was = rules->home.money;
	double best;

	if (option->full[at->s + length] > option->full[at->s])
		return false;
	if (request->objective == LT_OBJECTIVE_CARBON && rules->money && rules->fits &&
	    price.money > was + fabs(was) * more + (1 + slack) * noise(was))
		return false;
	if (shows_more(rules, at, round, first, slack))
		return false;
	if (request->max_cost_micros != LT_UNSET_64 && option->has_charged &&
	    price.most > (double)request->max_cost_micros + 0.5 + slack * noise(1e7))
		return false;
	if (round == FIRST)
		return true;
	best = round == SECOND ? score_of(rules, request->home, rules->home_s, FIRST)
			       : score_of(rules, first->p, first->s, FIRST);
	return score_of(rules, at->p, at->s, FIRST) <= best + (1 + slack) * noise(best);
}

/* A start where a window's end meets a step of what the cost depends on, or room begins or ends. */
static bool
is_candidate(int p, int64_t s)
{
	const struct option *option = &options[p];
	const int64_t last = option->latest_s - earliest_s;
	const int64_t length = option->length_s;

	for (int i = 0; i < LIKELY; i++)
		if (option->step_at[s + option->likely_s[i]])
			return true;
	return s == 0 || s == last || option->step_at[s] ||
	       option->full[s] - option->full[s - 1] > 0 ||
	       option->full[s + length + 1] - option->full[s + length] > 0;
}

/* One pass of the decision, as an inspector would do it. */
struct look {
	const struct rules *rules;
	bool only_worth; /* later ones save enough of either */
	double slack;
};

static bool
is_much(const struct look *look, double from, double to)
{
	return from - to >=
	       fabs(from) * world.market.min_saving_ppm / 1e6 - look->slack * noise(from);
}

/* Later than at once, for less than people are to wait for, of either? */
static bool
is_little(const struct look *look, const struct pick *pick)
{
	if (!pick->any || pick->s <= look->rules->home_s ||
	    world.request.objective == LT_OBJECTIVE_FAST)
		return false;
	const struct price is = price_of(pick->p, pick->s);
	const struct price was = look->rules->fits ? look->rules->home : price_of(pick->p, 0);

	return !(look->rules->money && is_much(look, was.money, is.money)) &&
	       !(look->rules->carbon && is_much(look, was.carbon, is.carbon));
}

/* All conditions of a round, and of the look. */
static bool
is_allowed(const struct look *look, const struct pick *at, int round, const struct pick *first)
{
	return may_start(look->rules, at, round, first, look->slack) &&
	       !(look->only_worth && is_little(look, at));
}

/* A second before or after it may not start there: a condition is just met. */
static bool
is_last_or_first(
    const struct look *look, const struct pick *at, int round, const struct pick *first)
{
	const struct pick before = {true, at->p, at->s - 1};
	const struct pick after = {true, at->p, at->s + 1};

	return !is_allowed(look, &before, round, first) || !is_allowed(look, &after, round, first);
}

/* In order of start, then partition, the first that scores at most `limit`; or, where least is
 * given, the least of all. */
static struct pick
first_below(
    const struct look *look, int round, const struct pick *first, double limit, double *least_score)
{
	struct pick found = {.any = false};
	int64_t end = 0;

	for (int p = 0; p < (int)world.market.partition_count; p++)
		if (options[p].moves && options[p].latest_s - earliest_s > end)
			end = options[p].latest_s - earliest_s;
	for (int64_t s = 0; s <= end; s++)
		for (int p = 0; p < (int)world.market.partition_count; p++) {
			const struct pick at = {true, p, s};

			if (!options[p].moves || s > options[p].latest_s - earliest_s ||
			    !is_allowed(look, &at, round, first) ||
			    (!is_candidate(p, s) && !is_last_or_first(look, &at, round, first)))
				continue;
			const double score = aim_of(look->rules, p, s, round);

			if (least_score == NULL && score <= limit)
				return at;
			if (least_score != NULL && score < *least_score) {
				*least_score = score;
				found = at;
			}
		}
	return found;
}

static struct pick
choose(const struct look *look, int round, const struct pick *first)
{
	const struct rules *const rules = look->rules;
	const bool known = rules->fits || round == EQUAL;
	const bool fast = world.request.objective == LT_OBJECTIVE_FAST;
	double score = INFINITY, from, limit;
	const struct pick best = first_below(look, round, first, 0, &score);

	if (!best.any)
		return best;
	from = round == EQUAL ? aim_of(rules, first->p, first->s, round)
	       : rules->fits  ? aim_of(rules, world.request.home, rules->home_s, round)
			      : aim_of(rules, best.p, 0, round);
	if (known && !(score < from - least(rules, round, from) + look->slack * noise(from)))
		return (struct pick){.any = false};
	limit = score;
	if (!fast && from > score)
		limit = from - 0.95 * (from - score);
	if (!known && !fast)
		limit = fmax(limit, score + least(rules, round, from));
	return first_below(look, round, first, limit + (1 + look->slack) * noise(limit), NULL);
}

/* Is there any that is no later than it would be by itself? */
static bool
any_at_once(const struct look *look)
{
	if (look->rules->fits)
		return true;
	for (int p = 0; p < (int)world.market.partition_count; p++) {
		const struct pick at = {true, p, 0};

		if (options[p].moves && may_start(look->rules, &at, FIRST, NULL, look->slack))
			return true;
	}
	return false;
}

static struct pick
choose_worth(struct look *look, int round, const struct pick *first)
{
	struct pick pick;

	look->only_worth = false;
	pick = choose(look, round, first);
	if (is_little(look, &pick) && any_at_once(look)) {
		look->only_worth = true;
		pick = choose(look, round, first);
	}
	return pick;
}

/* The whole decision. */
static struct pick
decide(const struct rules *rules, double slack)
{
	const enum lt_objective objective = world.request.objective;
	struct look look = {rules, false, slack};
	const struct pick pick = choose_worth(&look, FIRST, NULL);

	if (!pick.any)
		return rules->fits ? choose_worth(&look, SECOND, NULL) : pick;
	if (!rules->money || !rules->carbon ||
	    (objective == LT_OBJECTIVE_BALANCED && worth() > 0) ||
	    (objective != LT_OBJECTIVE_BALANCED && objective != LT_OBJECTIVE_COST))
		return pick;
	const struct pick cleaner = choose_worth(&look, EQUAL, &pick);
	return cleaner.any ? cleaner : pick;
}

static uint32_t moves, waits, elsewhere, second_round, unfit, capped, cleaner, little, full, late,
    hairs;

static void
check_figures(const struct lt_estimate *estimate, uint64_t number)
{
	const struct option *option = &options[estimate->partition];
	const struct price price =
	    price_of(estimate->partition, estimate->start_utc_s - earliest_s);

	if (estimate->has_cost != option->has_charged || estimate->has_carbon != option->has[2] ||
	    estimate->free_utc_s - estimate->start_utc_s != option->length_s ||
	    estimate->end_utc_s - estimate->start_utc_s != option->done_s)
		fail_msg("%llu: other terms", (unsigned long long)number);
	if ((estimate->has_cost && fabs((double)estimate->cost_micros - price.charged) >
				       0.5 + noise(price.charged) * 10) ||
	    (estimate->has_carbon && fabs((double)estimate->carbon_mg - price.emitted) >
					 0.5 + noise(price.emitted) * 10))
		fail_msg("%llu: %lld micros, %lld mg, want %.3f, %.3f", (unsigned long long)number,
		    (long long)estimate->cost_micros, (long long)estimate->carbon_mg, price.charged,
		    price.emitted);
}

static bool
is_plan(const struct rules *rules, const struct lt_plan *plan, const struct pick *pick)
{
	if (!pick->any) {
		const int home = world.request.home;
		const int64_t last_s = options[home].latest_s - earliest_s;
		const int64_t stays_s =
		    rules->home_late ? (last_s > 0 ? last_s : 0) : rules->home_s;
		/* In line for nodes that are taken at once. */
		const bool queued = options[home].moves && options[home].full[1] > 0 &&
				    world.partitions[home].flags & LT_PARTITION_QUEUED;

		const bool begins = !queued || line_is_worse(rules, home, plan->moved);

		return plan->moved == (stays_s > 0 && begins) &&
		       plan->home.too_late == rules->home_late &&
		       plan->home.start_utc_s - earliest_s == rules->home_s &&
		       plan->chosen.partition == home &&
		       plan->chosen.start_utc_s - earliest_s == stays_s;
	}
	return plan->chosen.partition == pick->p &&
	       plan->chosen.start_utc_s - earliest_s == pick->s &&
	       plan->moved == (pick->p != world.request.home || pick->s > 0);
}

/* What the worlds came to: they must be worth it. */
static void
count(const struct rules *rules, const struct lt_plan *plan)
{
	struct look look = {rules, false, 0};
	const struct pick first = choose(&look, FIRST, NULL);

	second_round += !first.any && rules->fits && plan->moved;
	little += is_little(&look, &first);
	cleaner +=
	    first.any && plan->moved && !is_plan(rules, plan, &first) && !is_little(&look, &first);
	capped += plan->moved && world.request.max_cost_micros != LT_UNSET_64;
	full += rules->home_s > 0 && !rules->home_late;
	late += rules->home_late;
	moves += plan->moved;
	unfit += !plan->fits && plan->moved;
	waits += plan->moved && plan->chosen.start_utc_s > earliest_s;
	elsewhere += plan->moved && plan->chosen.partition != plan->home.partition;
}

static void
check_world(uint64_t number)
{
	static const double slacks[] = {0, -0.5, 0.5, 2};
	static struct lt_plan plan;
	struct rules rules;
	size_t i = 0;

	make_world(number);
	earliest_s = world.request.earliest_utc_s > NOW ? world.request.earliest_utc_s : NOW;
	for (int p = 0; p < (int)world.market.partition_count; p++)
		if (!make_option(&options[p], p))
			return;
	assert_int_equal(lt_decide(&plan, &world.request, &world.market, world.planned,
			     world.planned_count, NOW, NULL),
	    LT_OK);
	rules = make_rules();
	open_options(&rules);
	if (!find_home_start(&rules))
		return;
	if (plan.fits != rules.fits)
		fail_msg("%llu: home fits or not", (unsigned long long)number);
	if (plan.fits)
		check_figures(&plan.home, number);
	if (plan.chosen.partition >= 0 && plan.moved)
		check_figures(&plan.chosen, number);
	/* By a hair: rounding may let it go, and no more than that. */
	for (; i < sizeof(slacks) / sizeof(*slacks); i++) {
		const struct pick pick = decide(&rules, slacks[i]);

		if (is_plan(&rules, &plan, &pick))
			break;
	}
	if (i == sizeof(slacks) / sizeof(*slacks)) {
		const struct pick pick = decide(&rules, 0);

		fail_msg("%llu: %s%d at %lld, want %s%d at %lld", (unsigned long long)number,
		    plan.moved ? "" : "stays, ", plan.chosen.partition,
		    (long long)(plan.chosen.start_utc_s - earliest_s), pick.any ? "" : "to stay, ",
		    pick.p, (long long)pick.s);
	}
	hairs += i > 0;
	count(&rules, &plan);
}

static void
test_same_as_brute_force(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++)
		check_world(number);
	print_message("# moves %u, waits %u, elsewhere %u, second round %u, "
		      "home can't %u, capped %u, cleaner %u, for little %u, "
		      "home full %u, too late %u, by a hair %u\n",
	    moves, waits, elsewhere, second_round, unfit, capped, cleaner, little, full, late,
	    hairs);
	assert_true(moves > 1500 && waits > 500 && elsewhere > 800);
	assert_true(second_round > 10 && unfit > 100 && capped > 100);
	assert_true(full > 100 && late > 50);
	assert_true(cleaner > 10 && little > 50 && hairs < moves / 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_same_as_brute_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
