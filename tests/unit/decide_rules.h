/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scores of test_decide_brute.c, by the formulas of docs/model.md.
 */
#ifndef LT_DECIDE_RULES_H
#define LT_DECIDE_RULES_H

#include "decide_option.h"

enum { WORLDS = 12000 };

struct rules {
	bool money, carbon, fits;
	int64_t home_s; /* home's first start with room */
	bool home_late; /* after its window */
	struct price home;
};

/* What the objective wants least of, then the second least of what is no worse than home, or than a
 * choice, by the first. */
enum { FIRST, SECOND, EQUAL };

static double
score_of(const struct rules *rules, int p, int64_t s, int round)
{
	const struct price price = price_of(p, s);
	const double end = (double)(earliest_s + s + options[p].done_s - NOW);
	const double cheap = rules->money ? price.money : rules->carbon ? price.carbon : 0;
	const double clean = rules->carbon ? price.carbon : rules->money ? price.money : 0;

	switch (world.request.objective) {
	case LT_OBJECTIVE_COST:
		return round == FIRST ? cheap : clean;
	case LT_OBJECTIVE_CARBON:
		return round == FIRST ? clean : cheap;
	case LT_OBJECTIVE_FAST:
		return round == FIRST ? end : cheap;
	default:
		if (round != FIRST)
			return clean;
		return rules->money && rules->carbon ? price.money + price.carbon / 1e9 * worth()
						     : cheap;
	}
}

/* Is that in milligrams? */
static bool
is_mg(const struct rules *rules, int round)
{
	switch (world.request.objective) {
	case LT_OBJECTIVE_FAST:
		return !rules->money;
	case LT_OBJECTIVE_CARBON:
		return round == FIRST ? rules->carbon || !rules->money : !rules->money;
	default:
		return round == FIRST ? !rules->money : rules->carbon || !rules->money;
	}
}

/* With what waiting s seconds is worth. */
static double
aim_of(const struct rules *rules, int p, int64_t s, int round)
{
	const double score = score_of(rules, p, s, round);
	const double hour = is_mg(rules, round) ? (double)world.market.waiting_mg_per_hour
						: (double)world.market.waiting_micros_per_hour;

	return world.request.objective == LT_OBJECTIVE_FAST ? score
							    : score + hour * (double)s / 3600;
}

static double
noise(double score)
{
	return 1e-9 * fmax(1, fabs(score));
}

/* In line at home until home_s: is some start before then worse by what a job waits for at least?
 * By a hair either may be. */
static bool
line_is_worse(const struct rules *rules, int home, bool by_a_hair)
{
	const double told = aim_of(rules, home, rules->home_s, FIRST);
	double worst = told;

	for (int64_t i = 0; i <= 96; i++)
		worst = fmax(worst, aim_of(rules, home, rules->home_s * i / 96, FIRST));
	const double wanted = fmax(fabs(worst) * world.market.min_saving_ppm / 1e6, noise(worst));

	return worst - told > wanted + (by_a_hair ? -1 : 1) * noise(worst) * 10;
}

#endif
