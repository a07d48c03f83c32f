/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan in one line: where, when, at what cost, and what that saves. A
 * submission has room for the most important of it, `plan` for all.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "holdout.h"
#include "lookup.h"
#include "plan_line.h"
#include "plan_words.h"
#include "quote.h"
#include "units.h"

/* What is kept longest comes first. */
enum keep {
	KEEP_PLACE,
	KEEP_START,
	KEEP_COST,
	KEEP_CARBON,
	KEEP_CAVEAT,
	KEEP_TASKS,
	KEEP_WHY, /* what it saves, or why it stays */
	KEEP_LEFT,
	KEEP_NAME,   /* the end of a long one */
	KEEP_DETAIL, /* of why */
	KEEP_END,
	KEEP_TEAM,
	KEEP_RISK,
	KEEP_SOONER,
};

bool
lt_plan_waits_for_room(const struct lt_plan *plan)
{
	return plan->moved && plan->fits &&
	       plan->chosen.partition == plan->home.partition &&
	       (plan->chosen.too_late ||
		   plan->chosen.start_utc_s == plan->home.start_utc_s);
}

const struct lt_estimate *
lt_plan_base(const struct lt_plan *plan)
{
	return plan->fits ? &plan->home : &plan->elsewhere;
}

/* Does Slurm start it when it can, by no begin time of lowtide's? */
static bool
waits_in_line(const struct lt_plan *plan)
{
	return !plan->moved && plan->fits && plan->line.known;
}

static bool
shows_nothing(const struct lt_told *told, int64_t micros, int64_t mg)
{
	const char *const currency = told->market->currency;
	const struct lt_estimate *const chosen = &told->plan->chosen;
	const bool money = lt_plan_shows_money(told->market, chosen);
	char is[64], zero[64];

	return (money || chosen->has_carbon) &&
	       (!money ||
		   strcmp(lt_money_text(is, sizeof(is), micros, currency),
		       lt_money_text(zero, sizeof(zero), 0, currency)) == 0) &&
	       (!chosen->has_carbon ||
		   strcmp(lt_carbon_text(is, sizeof(is), mg),
		       lt_carbon_text(zero, sizeof(zero), 0)) == 0);
}

bool
lt_plan_is_nothing(const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const struct lt_line *const line = &plan->line;

	return !plan->moved && plan->fits &&
	       (waits_in_line(plan)
		       ? shows_nothing(told, line->most_micros, line->most_mg)
		       : shows_nothing(told, plan->chosen.cost_micros,
			     plan->chosen.carbon_mg));
}

/* "$3.00" and "1.5 kg to 5.3 kg CO2e": of all hours in which it may start. */
static void
put_range(struct lt_brief *out, const struct lt_told *told,
    const struct lt_line *range, uint16_t keep)
{
	const struct lt_plan *const plan = told->plan;
	const char *const currency = told->market->currency;
	const bool money = lt_plan_shows_money(told->market, &plan->home);
	char least[64], most[64];

	if (money) {
		lt_money_text(
		    least, sizeof(least), range->least_micros, currency);
		lt_money_text(most, sizeof(most), range->most_micros, currency);
		lt_brief_put(out, keep, ": ",
		    strcmp(least, most) == 0 ? "%s" : "%s to %s", least, most);
	}
	if (plan->home.has_carbon) {
		lt_carbon_text(least, sizeof(least), range->least_mg);
		lt_carbon_text(most, sizeof(most), range->most_mg);
		lt_brief_put(out, keep + 1, money ? ", " : ": ",
		    strcmp(least, most) == 0 ? "%s CO2e" : "%s to %s CO2e",
		    least, most);
	}
	if (!money && !plan->home.has_carbon)
		lt_brief_put(
		    out, keep, ": ", "no price and no carbon intensity known");
}

/* "$41.20" and "3.1 kg CO2e" */
static void
put_figures(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_estimate *const chosen = &told->plan->chosen;
	const bool money = lt_plan_shows_money(told->market, chosen);
	char text[64];

	if (money)
		lt_brief_put(out, KEEP_COST, ": ", "%s",
		    lt_money_text(text, sizeof(text), chosen->cost_micros,
			told->market->currency));
	if (chosen->has_carbon)
		lt_brief_put(out, KEEP_CARBON, money ? ", " : ": ", "%s CO2e",
		    lt_carbon_text(text, sizeof(text), chosen->carbon_mg));
	if (!money && !chosen->has_carbon)
		lt_brief_put(out, KEEP_COST, ": ",
		    "no price and no carbon intensity known");
}

/* "from Sat 02:00 GMT", "done by 09:40" */
static void
put_window(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const struct lt_estimate *const chosen = &plan->chosen;
	const struct lt_zone *const zone = &told->market->zone;
	const int64_t now_utc_s = told->now_utc_s;
	const bool later = chosen->start_utc_s > now_utc_s + LT_SOON_S;
	char text[64];

	if (waits_in_line(plan)) {
		lt_zone_text(text, sizeof(text), zone, plan->home.start_utc_s,
		    now_utc_s);
		lt_brief_put(
		    out, KEEP_START, ", ", "in line, until about %s", text);
		return;
	}
	lt_zone_text(text, sizeof(text), zone, chosen->start_utc_s, now_utc_s);
	lt_brief_put(out, KEEP_START, ", ", later ? "from %s" : "now", text);
	if (later)
		lt_zone_text_short(text, sizeof(text), zone, chosen->end_utc_s,
		    chosen->start_utc_s, now_utc_s);
	else
		lt_zone_text(
		    text, sizeof(text), zone, chosen->end_utc_s, now_utc_s);
	lt_brief_put(out, KEEP_END, ", ", "done by %s", text);
}

/* What one currency saves, into saves, or takes more of, into more: by the
 * figure that is shown. */
static void
put_difference(struct lt_text *saves, struct lt_text *more, const char *text,
    const char *verb)
{
	const bool is_more = text[0] == '-';

	if (strpbrk(text, "123456789") == NULL)
		return;
	if (!is_more)
		lt_text_put(
		    saves, "%s%s", saves->at > 0 ? ", " : "saves ", text);
	else
		lt_text_put(more, "%s%s %s more", more->at > 0 ? ", " : "",
		    verb, text + 1);
}

/* "saves $77.20, 4.8 kg", "saves 4.8 kg, costs $0.10 more": against home, or,
 * where home can't run it, the best start now elsewhere. */
static void
put_saving(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const struct lt_estimate *const chosen = &plan->chosen;
	const struct lt_estimate *const base = lt_plan_base(plan);
	char best[160] = "", worse[160] = "", text[64];
	struct lt_text saves = {.out = best, .size = sizeof(best)};
	struct lt_text more = {.out = worse, .size = sizeof(worse)};
	int64_t difference;

	if (base->partition < 0)
		return;
	if (plan->objective == LT_OBJECTIVE_FAST &&
	    base->end_utc_s >= chosen->end_utc_s + LT_SOON_S)
		lt_text_put(&saves, "saves %s",
		    lt_duration_text(text, sizeof(text),
			base->end_utc_s - chosen->end_utc_s));
	if (lt_plan_shows_money(told->market, chosen) && base->has_cost &&
	    !__builtin_sub_overflow(
		base->cost_micros, chosen->cost_micros, &difference))
		put_difference(&saves, &more,
		    lt_money_text(
			text, sizeof(text), difference, told->market->currency),
		    "costs");
	if (chosen->has_carbon && base->has_carbon &&
	    !__builtin_sub_overflow(
		base->carbon_mg, chosen->carbon_mg, &difference))
		put_difference(&saves, &more,
		    lt_carbon_text(text, sizeof(text), difference), "emits");
	if (saves.at > 0 || more.at > 0)
		lt_brief_put(out, KEEP_WHY, "; ", "%s%s%s", best,
		    saves.at > 0 && more.at > 0 ? ", " : "", worse);
}

/* It may be a share of its user that is the least: what nobody has left, or
 * what is not known, is 0. */
static bool
left_of(int64_t *left, bool is_held, int64_t per_task, int64_t tasks)
{
	int64_t hold;

	return is_held && *left > 0 && *left != INT64_MAX &&
	       !__builtin_mul_overflow(per_task, tasks, &hold) &&
	       !__builtin_sub_overflow(*left, hold, left);
}

struct lt_amount
lt_left_behind(const struct lt_amount *available, const struct lt_quote *quote)
{
	const struct lt_amount *const hold = &quote->hold_per_task;
	struct lt_amount left = *available;

	left.has_money = left_of(&left.money_micros, hold->has_money,
	    hold->money_micros, quote->tasks);
	left.has_carbon = left_of(
	    &left.carbon_mg, hold->has_carbon, hold->carbon_mg, quote->tasks);
	return left;
}

/* What its budgets have left behind its own hold. */
static void
put_left(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const struct lt_amount *const left = &request->left;
	const bool money = left->has_money && told->market->currency[0] != '\0';
	char text[64];

	if (money)
		lt_brief_put(out, KEEP_LEFT, "; ", "leaves %s",
		    lt_money_text(text, sizeof(text), left->money_micros,
			told->market->currency));
	if (left->has_carbon)
		lt_brief_put(out, KEEP_LEFT, money ? ", " : "; ",
		    money ? "%s" : "leaves %s CO2e",
		    lt_carbon_text(text, sizeof(text), left->carbon_mg));
	if ((money || left->has_carbon) && request->account[0] != '\0')
		lt_brief_put(out, KEEP_TEAM, " in ", "%s", request->account);
}

static bool
all_reject(const struct lt_plan *plan, enum lt_reject reject)
{
	bool any = false;

	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		any |= plan->candidates[i].reject == reject;
		if (plan->candidates[i].reject != reject &&
		    plan->candidates[i].reject != LT_REJECT_UNMANAGED)
			return false;
	}
	return any;
}

/* Why a job that asked stays where it is. */
static void
put_stays(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const enum lt_reject reject =
	    plan->candidates[plan->home.partition].reject;
	const uint32_t pins = plan->pins & ~(uint32_t)LT_PIN_INTERACTIVE;
	const char *before = "Bound by ";
	char kept[80];

	if (plan->compared == LT_COMPARED_KEPT) {
		lt_brief_put(out, KEEP_WHY, ". ", "Kept for comparison");
		lt_brief_put(out, KEEP_DETAIL, ", ", "%s",
		    lt_holdout_text(kept, sizeof(kept), plan->holdout_ppm));
		return;
	}
	if (reject == LT_REJECT_STALE || all_reject(plan, LT_REJECT_STALE)) {
		lt_brief_put(
		    out, KEEP_WHY, ". ", "Not moved: the signals are too old");
		return;
	}
	for (uint32_t bit = 1; pins != 0 && bit < LT_PIN_END; bit <<= 1) {
		if (!(pins & bit))
			continue;
		lt_brief_put(out, before[0] == 'B' ? KEEP_WHY : KEEP_DETAIL,
		    before[0] == 'B' ? ". " : "", "%s%s", before,
		    lt_plan_pin(plan, bit));
		before = ", ";
	}
	if (pins == 0)
		lt_brief_put(out, KEEP_WHY, ". ", "%s",
		    reject == LT_REJECT_MAX_PRICE ? "A node-hour is too dear"
		    : plan->home.start_utc_s <= told->now_utc_s + LT_SOON_S
			? "Nothing better was found"
		    : plan->home_was_dear ? "Before, a node-hour is too dear"
					  : "There is no room before");
}

/* Why it waits at home for room, and what it would be in line. */
static void
put_waits(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;

	lt_brief_put(out, KEEP_WHY, ". ", "%s",
	    plan->chosen.too_late ? "There may be no room by then"
	    : plan->home_was_dear ? "Before, a node-hour is too dear"
				  : "There is no room before");
	if (!plan->line.known)
		return;
	lt_brief_put(
	    out, KEEP_RISK, ". ", "In line it could start at any hour");
	put_range(out, told, &plan->line, KEEP_RISK);
}

/* How near a partition came to running it: of all that can't, one whose reason
 * helps its user. 0 = it was none of theirs to say. */
static double
nearness(const struct lt_candidate *candidate)
{
	enum { RULES = 1, SIZE, BEST };
	static const char levels[LT_REJECT_COUNT] = {
	    [LT_REJECT_MAX_TIME] = SIZE,
	    [LT_REJECT_NODES] = SIZE,
	    [LT_REJECT_GPU_COUNT] = RULES,
	    [LT_REJECT_GPU_TYPE] = RULES,
	    [LT_REJECT_GPU_MEMORY] = SIZE,
	    [LT_REJECT_PRECISION] = SIZE,
	    [LT_REJECT_CPUS] = SIZE,
	    [LT_REJECT_MEMORY] = SIZE,
	    [LT_REJECT_ATTRIBUTES] = RULES,
	    [LT_REJECT_DEFAULTS] = RULES,
	    [LT_REJECT_STATE] = RULES,
	    [LT_REJECT_ACCOUNT] = RULES,
	    [LT_REJECT_QOS] = RULES,
	    [LT_REJECT_GROUPS] = RULES,
	    [LT_REJECT_CANCELS] = RULES,
	    [LT_REJECT_NO_PRICE] = BEST,
	    [LT_REJECT_NO_CARBON] = BEST,
	    [LT_REJECT_STALE] = BEST,
	    [LT_REJECT_RISK] = BEST,
	    [LT_REJECT_ON_DEMAND] = BEST,
	    [LT_REJECT_DEADLINE] = BEST,
	    [LT_REJECT_CAPACITY] = BEST,
	    [LT_REJECT_BUDGET] = BEST,
	    [LT_REJECT_MAX_COST] = BEST,
	    [LT_REJECT_MAX_PRICE] = BEST,
	    [LT_REJECT_LIMITS] = SIZE,
	    [LT_REJECT_CANNOT_START] = RULES,
	    [LT_REJECT_NO_NODES] = RULES,
	    [LT_REJECT_NO_LIMIT] = SIZE,
	    [LT_REJECT_NO_PLACE] = RULES,
	};
	const int level = LT_ROW(levels, candidate->reject);
	const bool has_some =
	    candidate->found > 0 && candidate->found < candidate->wanted;

	return level != 0 && has_some
		   ? level + candidate->found / candidate->wanted
		   : level;
}

int
lt_plan_nearest(const struct lt_plan *plan)
{
	int nearest = plan->home.partition;

	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		const double is = nearness(&plan->candidates[i]);
		const double least = nearness(&plan->candidates[nearest]);

		if ((int)i != nearest &&
		    (is > least || (is == least && is > 0 &&
				       nearest == plan->home.partition)))
			nearest = (int)i;
	}
	return nearest;
}

/* False: it can run at home. */
static bool
put_cannot(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const enum lt_reject reject =
	    plan->candidates[plan->home.partition].reject;
	const bool as_it_is =
	    reject == LT_REJECT_NO_NODES || reject == LT_REJECT_NO_LIMIT;
	const int at = as_it_is ? plan->home.partition : lt_plan_nearest(plan);
	char words[96] = "";
	struct lt_text figures = {.out = words, .size = sizeof(words)};

	if (plan->moved || (plan->fits && !as_it_is))
		return false;
	lt_brief_put_name(
	    out, KEEP_PLACE, KEEP_NAME, "", told->market->partitions[at].name);
	if (as_it_is) {
		lt_brief_put(out, KEEP_START, ", ", "left as it is");
		lt_brief_put(out, KEEP_WHY, ": ", "%s",
		    reject == LT_REJECT_NO_NODES
			? "no node is there now, nor was any before"
			: "it has no time limit; say --time");
		return true;
	}
	lt_plan_figures(
	    &figures, &plan->candidates[at], told->market->currency);
	lt_brief_put(out, KEEP_START, ", ", "can't run this job");
	lt_brief_put(
	    out, KEEP_WHY, ": ", "%s", lt_plan_reason(&plan->candidates[at]));
	lt_brief_put(out, KEEP_LEFT, "", "%s", words);
	lt_brief_put(out, KEEP_END, "; ", "nor can another partition");
	return true;
}

void
lt_plan_line(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const struct lt_estimate *const chosen = &plan->chosen;

	assert(plan->candidate_count <= told->market->partition_count);
	out->count = out->used = 0;
	if (plan->home.partition < 0 || plan->objective == LT_OBJECTIVE_OFF ||
	    put_cannot(out, told))
		return;
	lt_brief_put_name(out, KEEP_PLACE, KEEP_NAME, "",
	    told->market->partitions[chosen->partition].name);
	put_window(out, told);
	if (waits_in_line(plan))
		put_range(out, told, &plan->line, KEEP_COST);
	else
		put_figures(out, told);
	if (told->request->array_tasks > 1)
		lt_brief_put(out, KEEP_TASKS, "", " for %u tasks",
		    told->request->array_tasks);
	lt_brief_put(out, KEEP_CAVEAT, "", "%s",
	    lt_plan_caveat(told->market, chosen->partition).brief);
	char risk[96];
	lt_interruptions_text(risk, sizeof(risk),
	    chosen->expected_interruptions, chosen->expected_lost_s);
	if (risk[0] != '\0')
		lt_brief_put(out, KEEP_RISK, ", ", "%s", risk);
	if (plan->moved && !lt_plan_waits_for_room(plan))
		put_saving(out, told);
	put_left(out, told);
	if (!plan->moved)
		put_stays(out, told);
	else if (lt_plan_waits_for_room(plan))
		put_waits(out, told);
	if (told->submits && plan->moved &&
	    chosen->start_utc_s > told->now_utc_s + LT_SOON_S)
		lt_brief_put(
		    out, KEEP_SOONER, ". ", "Sooner: lowtide now <job>");
}
