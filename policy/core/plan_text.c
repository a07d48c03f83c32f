/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan as text: one line with where, when, at what cost and what that
 * saves; the table of all candidates that `plan` prints with that line under
 * it; and the notes about what the user would otherwise find out later.
 *
 * A submission has room only for the most important parts of the line, so
 * each part has a rank. Reads a plan with its request and market, writes the
 * caller's buffer; parts that do not fit are left out whole. Nothing fails.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdout.h"
#include "lookup.h"
#include "plan_text.h"
#include "quote.h"
#include "text.h"
#include "units.h"

enum { SOON_S = 60 }; /* a start this close is "now" */

/* A warning about the figures, long for the table and brief for the line. */
struct caveat {
	const char *full, *brief;
};

/* ---- Words of both ---- */

/* True if the estimate's cost is known and money is shown at all. */
static bool
shows_money(const struct lt_market *market, const struct lt_estimate *estimate)
{
	return market->currency[0] != '\0' && estimate->has_cost;
}

/* Returns what the figures rest on if that is less than a measurement or a forecast, else ""; the
 * worst of the partition's signals counts. */
static struct caveat
caveat_of(const struct lt_market *market, int partition)
{
	static const char *const full[LT_QUALITY_COUNT] = {
	    [LT_QUALITY_CLIMATOLOGY] = " (typical values, no forecast)",
	    [LT_QUALITY_LAST_VALUE] = " (last known values)",
	    [LT_QUALITY_REPLAY] = " (replayed signals)",
	};
	static const char *const brief[LT_QUALITY_COUNT] = {
	    [LT_QUALITY_CLIMATOLOGY] = " (typical)",
	    [LT_QUALITY_LAST_VALUE] = " (last known)",
	    [LT_QUALITY_REPLAY] = " (replayed)",
	};
	enum lt_quality worst = LT_QUALITY_NONE;

	if (partition < 0 || (uint32_t)partition >= market->partition_count)
		return (struct caveat){"", ""};
	const struct lt_partition *p = &market->partitions[partition];
	const int series[] = {p->price_series, p->carbon_series, p->tariff_series};
	for (int i = 0; i < 3; i++)
		if (series[i] != LT_NO_SERIES && market->series[series[i]].quality > worst)
			worst = market->series[series[i]].quality;
	return (struct caveat){LT_WORD_OR(full, worst, ""), LT_WORD_OR(brief, worst, "")};
}

/* Returns the name of the option that this pin is. */
static const char *
pin_option(const struct lt_plan *plan, uint32_t bit)
{
	return bit == LT_PIN_OTHER && plan->pinned_by[0] != '\0' ? plan->pinned_by
								 : lt_pin_name((enum lt_pin)bit);
}

/* True if the signals are older than any time: there are none, and no age. */
static bool
has_no_signals(const struct lt_candidate *candidate)
{
	return candidate->reject == LT_REJECT_STALE && candidate->found > 1e15;
}

/* Returns in words why the candidate was left out. */
static const char *
reason_of(const struct lt_candidate *candidate)
{
	return has_no_signals(candidate) ? "no signals" : lt_reject_name(candidate->reject);
}

/* Adds " (16384 MiB, wants 40960 MiB)" where the figures say more than the reason. */
static void
put_amounts(struct lt_text *text, const struct lt_candidate *candidate, const char *currency)
{
	static const char *const units[LT_REJECT_COUNT] = {
	    [LT_REJECT_GPU_MEMORY] = " MiB",
	    [LT_REJECT_MEMORY] = " MiB",
	    [LT_REJECT_CPUS] = "",
	    [LT_REJECT_GPU_COUNT] = "",
	    [LT_REJECT_NODES] = "",
	};
	const char *const unit = LT_WORD_OR(units, candidate->reject, NULL);
	char wanted[48], found[48];

	if (has_no_signals(candidate))
		return;
	if (unit != NULL)
		lt_text_put(text, " (%.0f%s, wants %.0f%s)", candidate->found, unit,
		    candidate->wanted, unit);
	else if (candidate->reject == LT_REJECT_RISK)
		lt_text_put(text, " (%.0f %%, at most %.0f %% where it starts over)",
		    candidate->found / 1e4, candidate->wanted / 1e4);
	else if (candidate->reject == LT_REJECT_MAX_PRICE)
		lt_text_put(text, " (%s at least, at most %s)",
		    lt_money_digits(found, sizeof(found), (int64_t)candidate->found, currency),
		    lt_money_digits(wanted, sizeof(wanted), (int64_t)candidate->wanted, currency));
	else if ((candidate->reject == LT_REJECT_MAX_TIME ||
		     candidate->reject == LT_REJECT_STALE) &&
		 candidate->wanted < 1e15 && candidate->found < 1e15)
		lt_text_put(text, " (%s, %s allowed)",
		    lt_duration_text(found, sizeof(found), (int64_t)candidate->found),
		    lt_duration_text(wanted, sizeof(wanted), (int64_t)candidate->wanted));
}

/* ---- The line ---- */

/* Parts of the line; the first ones are kept longest. */
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
	return plan->moved && plan->fits && plan->chosen.partition == plan->home.partition &&
	       (plan->chosen.too_late || plan->chosen.start_utc_s == plan->home.start_utc_s);
}

const struct lt_estimate *
lt_plan_base(const struct lt_plan *plan)
{
	return plan->fits ? &plan->home : &plan->elsewhere;
}

/* True if Slurm starts it when it can, without a begin time of lowtide's. */
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
	const bool money = shows_money(told->market, chosen);
	char is[64], zero[64];

	return (money || chosen->has_carbon) &&
	       (!money || strcmp(lt_money_text(is, sizeof(is), micros, currency),
			      lt_money_text(zero, sizeof(zero), 0, currency)) == 0) &&
	       (!chosen->has_carbon || strcmp(lt_carbon_text(is, sizeof(is), mg),
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
		       : shows_nothing(told, plan->chosen.cost_micros, plan->chosen.carbon_mg));
}

/* "$3.00" and "1.5 kg to 5.3 kg CO2e": of all hours in which it may start. */
static void
put_range(
    struct lt_brief *out, const struct lt_told *told, const struct lt_line *range, uint16_t keep)
{
	const struct lt_plan *const plan = told->plan;
	const char *const currency = told->market->currency;
	const bool money = shows_money(told->market, &plan->home);
	char least[64], most[64];

	if (money) {
		lt_money_text(least, sizeof(least), range->least_micros, currency);
		lt_money_text(most, sizeof(most), range->most_micros, currency);
		lt_brief_put(
		    out, keep, ": ", strcmp(least, most) == 0 ? "%s" : "%s to %s", least, most);
	}
	if (plan->home.has_carbon) {
		lt_carbon_text(least, sizeof(least), range->least_mg);
		lt_carbon_text(most, sizeof(most), range->most_mg);
		lt_brief_put(out, keep + 1, money ? ", " : ": ",
		    strcmp(least, most) == 0 ? "%s CO2e" : "%s to %s CO2e", least, most);
	}
	if (!money && !plan->home.has_carbon)
		lt_brief_put(out, keep, ": ", "no price and no carbon intensity known");
}

/* "$41.20" and "3.1 kg CO2e" */
static void
put_figures(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_estimate *const chosen = &told->plan->chosen;
	const bool money = shows_money(told->market, chosen);
	char text[64];

	if (money)
		lt_brief_put(out, KEEP_COST, ": ", "%s",
		    lt_money_text(text, sizeof(text), chosen->cost_micros, told->market->currency));
	if (chosen->has_carbon)
		lt_brief_put(out, KEEP_CARBON, money ? ", " : ": ", "%s CO2e",
		    lt_carbon_text(text, sizeof(text), chosen->carbon_mg));
	if (!money && !chosen->has_carbon)
		lt_brief_put(out, KEEP_COST, ": ", "no price and no carbon intensity known");
}

/* "from Sat 02:00 GMT", "done by 09:40" */
static void
put_window(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const struct lt_estimate *const chosen = &plan->chosen;
	const struct lt_zone *const zone = &told->market->zone;
	const int64_t now_utc_s = told->now_utc_s;
	const bool later = chosen->start_utc_s > now_utc_s + SOON_S;
	char text[64];

	if (waits_in_line(plan)) {
		lt_zone_text(text, sizeof(text), zone, plan->home.start_utc_s, now_utc_s);
		lt_brief_put(out, KEEP_START, ", ", "in line, until about %s", text);
		return;
	}
	lt_zone_text(text, sizeof(text), zone, chosen->start_utc_s, now_utc_s);
	lt_brief_put(out, KEEP_START, ", ", later ? "from %s" : "now", text);
	if (later)
		lt_zone_text_short(
		    text, sizeof(text), zone, chosen->end_utc_s, chosen->start_utc_s, now_utc_s);
	else
		lt_zone_text(text, sizeof(text), zone, chosen->end_utc_s, now_utc_s);
	lt_brief_put(out, KEEP_END, ", ", "done by %s", text);
}

/* Writes a currency's saving into saves, or its extra cost into more, by the figure that is
 * shown. */
static void
put_difference(struct lt_text *saves, struct lt_text *more, const char *text, const char *verb)
{
	const bool is_more = text[0] == '-';

	if (strpbrk(text, "123456789") == NULL)
		return;
	if (!is_more)
		lt_text_put(saves, "%s%s", saves->at > 0 ? ", " : "saves ", text);
	else
		lt_text_put(more, "%s%s %s more", more->at > 0 ? ", " : "", verb, text + 1);
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
	if (plan->objective == LT_OBJECTIVE_FAST && base->end_utc_s >= chosen->end_utc_s + SOON_S)
		lt_text_put(&saves, "saves %s",
		    lt_duration_text(text, sizeof(text), base->end_utc_s - chosen->end_utc_s));
	if (shows_money(told->market, chosen) && base->has_cost &&
	    !__builtin_sub_overflow(base->cost_micros, chosen->cost_micros, &difference))
		put_difference(&saves, &more,
		    lt_money_text(text, sizeof(text), difference, told->market->currency), "costs");
	if (chosen->has_carbon && base->has_carbon &&
	    !__builtin_sub_overflow(base->carbon_mg, chosen->carbon_mg, &difference))
		put_difference(
		    &saves, &more, lt_carbon_text(text, sizeof(text), difference), "emits");
	if (saves.at > 0 || more.at > 0)
		lt_brief_put(out, KEEP_WHY, "; ", "%s%s%s", best,
		    saves.at > 0 && more.at > 0 ? ", " : "", worse);
}

/* Takes the hold off what is left. The share of the user may be the least: 0 stands for nothing
 * left, or not known. */
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

	left.has_money =
	    left_of(&left.money_micros, hold->has_money, hold->money_micros, quote->tasks);
	left.has_carbon = left_of(&left.carbon_mg, hold->has_carbon, hold->carbon_mg, quote->tasks);
	return left;
}

/* Adds what its budgets have left behind its own hold. */
static void
put_left(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const struct lt_amount *const left = &request->left;
	const bool money = left->has_money && told->market->currency[0] != '\0';
	char text[64];

	if (money)
		lt_brief_put(out, KEEP_LEFT, "; ", "leaves %s",
		    lt_money_text(text, sizeof(text), left->money_micros, told->market->currency));
	if (left->has_carbon)
		lt_brief_put(out, KEEP_LEFT, money ? ", " : "; ", money ? "%s" : "leaves %s CO2e",
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
	const enum lt_reject reject = plan->candidates[plan->home.partition].reject;
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
		lt_brief_put(out, KEEP_WHY, ". ", "Not moved: the signals are too old");
		return;
	}
	for (uint32_t bit = 1; pins != 0 && bit < LT_PIN_END; bit <<= 1) {
		if (!(pins & bit))
			continue;
		lt_brief_put(out, before[0] == 'B' ? KEEP_WHY : KEEP_DETAIL,
		    before[0] == 'B' ? ". " : "", "%s%s", before, pin_option(plan, bit));
		before = ", ";
	}
	if (pins == 0)
		lt_brief_put(out, KEEP_WHY, ". ", "%s",
		    reject == LT_REJECT_MAX_PRICE ? "A node-hour is too dear"
		    : plan->home.start_utc_s <= told->now_utc_s + SOON_S
			? "Nothing better was found"
		    : plan->home_was_dear ? "Before, a node-hour is too dear"
					  : "There is no room before");
}

/* Writes why it waits at home for room, and its figures in line. */
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
	lt_brief_put(out, KEEP_RISK, ". ", "In line it could start at any hour");
	put_range(out, told, &plan->line, KEEP_RISK);
}

/* Returns how near a partition came to running the job, to choose among all that can't one whose
 * reason helps its user. 0 = a reason that would not help. */
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
	const bool has_some = candidate->found > 0 && candidate->found < candidate->wanted;

	return level != 0 && has_some ? level + candidate->found / candidate->wanted : level;
}

int
lt_plan_nearest(const struct lt_plan *plan)
{
	int nearest = plan->home.partition;

	for (uint32_t i = 0; i < plan->candidate_count; i++) {
		const double is = nearness(&plan->candidates[i]);
		const double least = nearness(&plan->candidates[nearest]);

		if ((int)i != nearest &&
		    (is > least || (is == least && is > 0 && nearest == plan->home.partition)))
			nearest = (int)i;
	}
	return nearest;
}

/* False: it can run at home. */
static bool
put_cannot(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_plan *const plan = told->plan;
	const enum lt_reject reject = plan->candidates[plan->home.partition].reject;
	const bool as_it_is = reject == LT_REJECT_NO_NODES || reject == LT_REJECT_NO_LIMIT;
	const int at = as_it_is ? plan->home.partition : lt_plan_nearest(plan);
	char words[96] = "";
	struct lt_text figures = {.out = words, .size = sizeof(words)};

	if (plan->moved || (plan->fits && !as_it_is))
		return false;
	lt_brief_put_name(out, KEEP_PLACE, KEEP_NAME, "", told->market->partitions[at].name);
	if (as_it_is) {
		lt_brief_put(out, KEEP_START, ", ", "left as it is");
		lt_brief_put(out, KEEP_WHY, ": ", "%s",
		    reject == LT_REJECT_NO_NODES ? "no node is there now, nor was any before"
						 : "it has no time limit; say --time");
		return true;
	}
	put_amounts(&figures, &plan->candidates[at], told->market->currency);
	lt_brief_put(out, KEEP_START, ", ", "can't run this job");
	lt_brief_put(out, KEEP_WHY, ": ", "%s", reason_of(&plan->candidates[at]));
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
	lt_brief_put_name(
	    out, KEEP_PLACE, KEEP_NAME, "", told->market->partitions[chosen->partition].name);
	put_window(out, told);
	if (waits_in_line(plan))
		put_range(out, told, &plan->line, KEEP_COST);
	else
		put_figures(out, told);
	if (told->request->array_tasks > 1)
		lt_brief_put(out, KEEP_TASKS, "", " for %u tasks", told->request->array_tasks);
	lt_brief_put(out, KEEP_CAVEAT, "", "%s", caveat_of(told->market, chosen->partition).brief);
	char risk[96];
	lt_interruptions_text(
	    risk, sizeof(risk), chosen->expected_interruptions, chosen->expected_lost_s);
	if (risk[0] != '\0')
		lt_brief_put(out, KEEP_RISK, ", ", "%s", risk);
	if (plan->moved && !lt_plan_waits_for_room(plan))
		put_saving(out, told);
	put_left(out, told);
	if (!plan->moved)
		put_stays(out, told);
	else if (lt_plan_waits_for_room(plan))
		put_waits(out, told);
	if (told->submits && plan->moved && chosen->start_utc_s > told->now_utc_s + SOON_S)
		lt_brief_put(out, KEEP_SOONER, ". ", "Sooner: lowtide now <job>");
}

/* ---- The table ---- */

/* Writes the options that keep the job in its partition: "--begin, --switches". */
static void
put_pins(struct lt_text *text, const struct lt_plan *plan, uint32_t pins)
{
	const char *before = "bound by ";

	for (uint32_t bit = 1; bit < LT_PIN_END; bit <<= 1) {
		if (!(pins & bit))
			continue;
		lt_text_put(text, "%s%s", before, pin_option(plan, bit));
		before = ", ";
	}
}

static void
put_reason(struct lt_text *text, const struct lt_candidate *candidate, const char *currency)
{
	lt_text_put(text, "%s", reason_of(candidate));
	put_amounts(text, candidate, currency);
}

void
lt_reject_text(char *out, size_t size, const struct lt_candidate *candidate, const char *currency)
{
	struct lt_text text = {.out = out, .size = size};

	assert((unsigned)candidate->reject < LT_REJECT_COUNT);
	if (size > 0)
		out[0] = '\0';
	put_reason(&text, candidate, currency);
}

static void
put_row(struct lt_text *text, const struct lt_plan *plan, const struct lt_market *market,
    uint32_t i, int64_t now_utc_s)
{
	const struct lt_candidate *candidate = &plan->candidates[i];
	const bool chosen = (int)i == plan->chosen.partition;
	const bool home = (int)i == plan->home.partition;
	const bool priced = candidate->reject == LT_REJECT_NONE ||
			    candidate->reject == LT_REJECT_DEARER ||
			    candidate->reject == LT_REJECT_HOLDOUT;
	const struct lt_estimate *at = chosen		    ? &plan->chosen
				       : home && plan->fits ? &plan->home
							    : &candidate->best;
	char start[64] = "-", end[64] = "-", cost[64] = "-", carbon[64] = "-";

	if (priced) {
		if (at->start_utc_s > now_utc_s + SOON_S)
			lt_zone_text(
			    start, sizeof(start), &market->zone, at->start_utc_s, now_utc_s);
		else
			snprintf(start, sizeof(start), "now");
		lt_zone_text(end, sizeof(end), &market->zone, at->end_utc_s, now_utc_s);
		if (shows_money(market, at))
			lt_money_text(cost, sizeof(cost), at->cost_micros, market->currency);
		if (at->has_carbon)
			lt_carbon_text(carbon, sizeof(carbon), at->carbon_mg);
	}
	lt_text_put(text, "%c %-15s %-21s %-21s %12s %9s  ", chosen && priced ? '*' : ' ',
	    market->partitions[i].name, start, end, cost, carbon);
	const uint32_t pins = plan->pins & ~(uint32_t)(LT_PIN_INTERACTIVE | LT_PIN_BEGIN);

	if (candidate->reject == LT_REJECT_PINNED && pins != 0)
		put_pins(text, plan, pins);
	else
		put_reason(text, candidate, market->currency);
	if (home)
		lt_text_put(text, "; where it goes without lowtide");
	lt_text_put(text, "%s\n", priced ? caveat_of(market, (int)i).full : "");
}

static bool
has_preemptible(const struct lt_market *market)
{
	const uint32_t wanted = LT_PARTITION_PREEMPTIBLE | LT_PARTITION_MANAGED;

	for (uint32_t i = 0; i < market->partition_count; i++)
		if ((market->partitions[i].flags & wanted) == wanted)
			return true;
	return false;
}

void
lt_proof_note(
    struct lt_brief *notes, const struct lt_request *request, const struct lt_market *market)
{
	if (!request->checkpoint.enabled || lt_resume_counts(request, market) ||
	    !has_preemptible(market))
		return;
	const struct lt_class *const class = lt_request_class(request, market);

	lt_brief_put(notes, LT_NOTE_PROOF, "; ", "no proof yet that it can resume");
	lt_brief_put(notes, 2 * LT_NOTE_DETAILS + LT_NOTE_PROOF, ": ",
	    "priced as starting over on preemptible nodes");
	if (request->script_hash != 0)
		lt_brief_put(notes, LT_NOTE_DETAILS + LT_NOTE_PROOF, "; ", "%s",
		    class != NULL && class->canary
			? "it will be signalled and requeued once to see"
			: "to prove it while it runs: lowtide canary <job>");
}

/* How often nodes that can be taken were there, where that was seen. */
static void
put_availability(struct lt_text *text, const struct lt_market *market)
{
	for (uint32_t i = 0; i < market->partition_count; i++) {
		const struct lt_partition *const part = &market->partitions[i];
		const struct lt_availability *const seen = &part->availability;
		char age[48];

		if (seen->seen_s >= LT_WAIT_SEEN_S)
			lt_text_put(text,
			    "  %s: nodes there %.0f %% of the %s that lowtided looked; its end has the waits in it\n",
			    part->name, seen->there_ppm / 1e4,
			    lt_duration_text(age, sizeof(age), seen->seen_s));
	}
}

/* How often it writes, by the same rule as the variable on the node. */
static void
put_checkpoints(struct lt_text *text, const struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market)
{
	const struct lt_estimate *const at = plan->moved ? &plan->chosen : &plan->home;
	char every[48], notice[48];

	if (!request->checkpoint.enabled || at->partition < 0 || !plan->fits)
		return;
	const struct lt_partition *const there = &market->partitions[at->partition];
	const struct lt_checkpoint checkpoint =
	    lt_checkpoint_there(&request->checkpoint, there->storage_gib_per_s);
	lt_text_put(text, "  checkpoints: every %s",
	    lt_duration_text(
		every, sizeof(every), (int64_t)round(lt_checkpoint_told_s(at->interval_s))));
	if (there->notice_s > 0)
		lt_text_put(text, "; one %s into the notice of %s",
		    lt_checkpoint_fits(&checkpoint, there->notice_s) ? "fits" : "does not fit",
		    lt_duration_text(notice, sizeof(notice), (int64_t)there->notice_s));
	lt_text_put(text, "\n");
}

static void
put_cap(struct lt_text *text, const struct lt_plan *plan)
{
	char words[160];

	lt_capped_text(words, sizeof(words), &plan->capped);
	if (words[0] != '\0')
		lt_text_put(text, "  capped: %s\n", words);
}

void
lt_plan_table(char *out, size_t size, const struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market, int64_t now_utc_s)
{
	assert(plan->candidate_count <= market->partition_count);

	struct lt_text text = {.out = out, .size = size};
	char line[LT_ERROR_TEXT_SIZE * 4], words[512];
	const struct lt_expected expected = lt_expected_of(request);

	if (size > 0)
		out[0] = '\0';
	lt_text_put(&text, "plan: %s%s\n", lt_objective_name(plan->objective),
	    request->checkpoint.enabled ? ", with checkpoints" : "");
	lt_expected_text(
	    line, sizeof(line), &expected, lt_limit_of(request, market, request->home));
	if (line[0] != '\0')
		lt_text_put(&text, "  %s\n", line);
	lt_class_text(line, sizeof(line), request, market);
	if (line[0] != '\0')
		lt_text_put(&text, "  %s\n", line);
	lt_text_put(&text, "  %-15s %-21s %-21s %12s %9s  %s\n", "PARTITION", "START", "DONE BY",
	    "COST", "CO2e", "WHY");
	for (uint32_t i = 0; i < plan->candidate_count; i++)
		put_row(&text, plan, market, i, now_utc_s);
	put_checkpoints(&text, plan, request, market);
	put_availability(&text, market);
	put_cap(&text, plan);
	const struct lt_told told = {plan, request, market, now_utc_s, false};
	struct lt_brief said = {.count = 0};

	lt_proof_note(&said, request, market);
	lt_brief_text(words, sizeof(words), &said, LT_BRIEF_ALL);
	if (words[0] != '\0')
		lt_text_put(&text, "  %s\n", words);
	lt_plan_line(&said, &told);
	lt_text_put(&text, "%s", lt_brief_text(line, sizeof(line), &said, LT_BRIEF_ALL));
	said.count = said.used = 0;
	lt_plan_notes(&said, &told);
	lt_brief_text(words, sizeof(words), &said, LT_BRIEF_ALL);
	if (words[0] != '\0')
		lt_text_put(&text, "\n%s", words);
	lt_precision_text(words, sizeof(words), request, market,
	    plan->moved ? plan->chosen.partition : plan->home.partition);
	lt_text_put(&text, "%s%s", words[0] != '\0' && line[0] != '\0' ? "\n" : "", words);
}

const char *
lt_amount_text(
    char *out, size_t size, const struct lt_amount *amount, const char *currency, const char *none)
{
	char money[48] = "", carbon[48] = "";

	if (amount->has_money && currency[0] != '\0')
		lt_money_text(money, sizeof(money), amount->money_micros, currency);
	if (amount->has_carbon)
		lt_carbon_text(carbon, sizeof(carbon), amount->carbon_mg);
	snprintf(out, size, "%s%s%s%s", money, money[0] != '\0' && carbon[0] != '\0' ? ", " : "",
	    carbon,
	    carbon[0] != '\0'  ? " CO2e"
	    : money[0] != '\0' ? ""
			       : none);
	return out;
}

/* ---- Notes ---- */

/* Notes that Slurm ends the job at its deadline, where its limit passes that. A job that is moved
 * keeps the limit that home gives it. */
static void
note_deadline(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const int64_t limit_s = lt_limit_of(request, told->market, request->home);
	char when[64], limit[48];

	if (request->deadline_utc_s == LT_UNSET_64 || limit_s <= 0 ||
	    told->plan->chosen.start_utc_s + limit_s <= request->deadline_utc_s)
		return;
	lt_brief_put(out, LT_NOTE_DEADLINE, "; ", "Slurm ends it at its deadline, %s",
	    lt_zone_text(
		when, sizeof(when), &told->market->zone, request->deadline_utc_s, told->now_utc_s));
	lt_brief_put(out, LT_NOTE_DETAILS + LT_NOTE_DEADLINE, ", ", "as its limit of %s ends later",
	    lt_duration_text(limit, sizeof(limit), limit_s));
}

/* Where money is shown. */
static void
note_charge(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_market *const market = told->market;
	char charge[64];

	if (told->submits || market->charge_micros_per_tonne <= 0 || !told->plan->chosen.has_cost)
		return;
	lt_brief_put(out, LT_NOTE_CHARGE, "; ", "costs include %s for each tonne of CO2e",
	    lt_money_text(
		charge, sizeof(charge), market->charge_micros_per_tonne, market->currency));
}

void
lt_plan_notes(struct lt_brief *out, const struct lt_told *told)
{
	const struct lt_request *const request = told->request;
	const int64_t limit_s = lt_limit_of(request, told->market, request->home);
	char expected[48], limit[48];

	if (told->plan->chosen.partition < 0)
		return;
	note_deadline(out, told);
	if (request->expected_run_s != LT_UNSET_64 && limit_s > 0 &&
	    request->expected_run_s > limit_s)
		lt_brief_put(out, LT_NOTE_EXPECTED, "; ",
		    "its expected time of %s is beyond its limit of %s",
		    lt_duration_text(expected, sizeof(expected), request->expected_run_s),
		    lt_duration_text(limit, sizeof(limit), limit_s));
	if (request->pins & LT_PIN_INTERACTIVE)
		lt_brief_put(out, LT_NOTE_INTERACTIVE, "; ", "srun and salloc are never delayed");
	note_charge(out, told);
}

const char *
lt_interruptions_text(char *out, size_t size, double interruptions, double lost_s)
{
	static const double least = 0.05; /* 0.1 as it is shown */
	static const double most_s = 1e12;
	char lost[48];

	if (size > 0)
		out[0] = '\0';
	if (interruptions >= least && lost_s < most_s)
		snprintf(out, size, "about %.1f interruptions expected, %s of work lost",
		    interruptions, lt_hours_text(lost, sizeof(lost), (int64_t)lost_s));
	return out;
}

void
lt_precision_text(char *out, size_t size, const struct lt_request *request,
    const struct lt_market *market, int partition)
{
	const struct lt_gpu *const gpu = lt_market_gpu(market, partition);
	const enum lt_precision wanted = request->precision;

	if (size > 0)
		out[0] = '\0';
	if (gpu == NULL || !lt_request_wants_gpus(request) || !lt_gpu_lacks(gpu, wanted))
		return;
	const struct lt_precision_words *const used =
	    lt_precision_words(lt_precision_used(wanted, lt_gpu_top_precision(gpu)));

	snprintf(out, size, "no %s on %s: %s", lt_precision_words(wanted)->accelerate, gpu->name,
	    used != NULL ? used->accelerate : "single precision");
}
