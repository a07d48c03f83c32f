/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reason why a job is refused, in the words of all front-ends, and what would fit. Reads a plan
 * or a verdict of the budgets, writes text into the caller's buffer; text that does not fit is cut.
 */
#include "refusal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "plan_text.h"
#include "quote.h"
#include "text.h"
#include "units.h"

/* Hold of one task with another limit; false when unknown. */
static bool
hold_at(struct lt_quote *quote, const struct lt_over *over, int partition, int64_t limit_s)
{
	struct lt_request request = *over->request;

	request.limit_s = limit_s;
	return lt_quote_hold(quote, &request, over->market, &partition, 1, request.earliest_utc_s,
		   NULL) == LT_OK;
}

static bool
fits(const struct lt_quote *quote, const struct lt_amount *available)
{
	const int64_t tasks = quote->tasks;

	return (!quote->hold_per_task.has_money ||
		   quote->hold_per_task.money_micros <= available->money_micros / tasks) &&
	       (!quote->hold_per_task.has_carbon ||
		   quote->hold_per_task.carbon_mg <= available->carbon_mg / tasks);
}

/* Longest limit in whole minutes that fits, 0 = none. */
static int64_t
longest_limit(const struct lt_over *over, int partition, int64_t most_s)
{
	int64_t low = 0, high = most_s / 60;
	struct lt_quote quote = {0};

	while (low < high) {
		const int64_t middle = low + (high - low + 1) / 2;

		if (hold_at(&quote, over, partition, middle * 60) && quote.tasks > 0 &&
		    fits(&quote, &over->available))
			low = middle;
		else
			high = middle - 1;
	}
	return low * 60;
}

/* The cheapest other partition that could run it, -1 = none. */
static int
cheapest_other(const struct lt_over *over, int64_t limit_s)
{
	struct lt_quote quote = {0};
	int64_t least_micros = 0;
	int found = -1;

	if (over->request->pins & ~(uint32_t)LT_PIN_BEGIN)
		return -1;
	for (uint32_t i = 0; i < over->plan->candidate_count; i++) {
		const enum lt_reject reject = over->plan->candidates[i].reject;

		if ((int)i == over->request->home ||
		    (reject != LT_REJECT_NONE && reject != LT_REJECT_DEARER &&
			reject != LT_REJECT_BUDGET) ||
		    !hold_at(&quote, over, (int)i, limit_s) || !quote.hold_per_task.has_money)
			continue;
		if (found < 0 || quote.hold_per_task.money_micros < least_micros) {
			least_micros = quote.hold_per_task.money_micros;
			found = (int)i;
		}
	}
	return found;
}

/* " It would fit at --time=2:23:00, or on spot with --carbon-aware at
 * --time=8:10:00", "" when nothing fits. */
static void
suggest(char *out, size_t size, const struct lt_over *over)
{
	const struct lt_market *const market = over->market;
	const int home = over->request->home;
	const int64_t limit_s = lt_limit_of(over->request, market, home);
	int64_t here_s, there_s = 0;
	char text[64];

	out[0] = '\0';
	if (limit_s <= 0)
		return;
	here_s = longest_limit(over, home, limit_s);
	const int other = cheapest_other(over, limit_s);

	if (other >= 0)
		there_s = longest_limit(over, other, limit_s);
	if (here_s > 0)
		snprintf(out, size, " It would fit at --time=%s",
		    lt_slurm_time_text(text, sizeof(text), here_s));
	if (there_s > here_s) {
		const size_t used = strlen(out);

		snprintf(out + used, size - used, "%s on %s%s at --time=%s",
		    here_s > 0 ? ", or" : " It would fit", market->partitions[other].name,
		    over->asked ? "" : " with --carbon-aware",
		    lt_slurm_time_text(text, sizeof(text), there_s));
	}
}

void
lt_verdict_text(char *out, size_t size, const struct lt_verdict *verdict, const char *currency)
{
	if (verdict->code != LT_OVER) {
		snprintf(out, size, "%s", verdict->why != NULL ? verdict->why : "");
		return;
	}
	const int64_t amounts[] = {
	    verdict->available, verdict->limit, verdict->settled, verdict->held, verdict->asked};
	char texts[5][48];
	for (size_t i = 0; i < 5; i++) {
		if (verdict->is_carbon)
			lt_carbon_text(texts[i], sizeof(texts[i]), amounts[i]);
		else
			lt_money_text(texts[i], sizeof(texts[i]), amounts[i], currency);
	}
	const char *const unit = verdict->is_carbon ? " CO2e" : "";
	if (verdict->is_unseen)
		snprintf(out, size,
		    "%s has %s%s left for %s; jobs of yours that lowtide has not seen yet hold %s,\n"
		    "and with %s for this one that is more than one part in %d.",
		    verdict->team, texts[0], unit, verdict->label, texts[3], texts[4],
		    LT_UNSEEN_PART);
	else if (verdict->limit < 0)
		snprintf(out, size, "%s has %s%s left%s for %s;\nthis job may %s %s%s.",
		    verdict->team, texts[0], unit, verdict->is_user_cap ? " for you" : "",
		    verdict->label, verdict->is_carbon ? "emit" : "cost", texts[4], unit);
	else
		snprintf(out, size,
		    "%s has %s of %s%s left%s for %s (%s spent, %s held);\n"
		    "this job may %s %s%s.",
		    verdict->team, texts[0], texts[1], unit, verdict->is_user_cap ? " for you" : "",
		    verdict->label, texts[2], texts[3], verdict->is_carbon ? "emit" : "cost",
		    texts[4], unit);
}

void
lt_over_text(char *out, size_t size, const struct lt_over *over)
{
	assert(size > 0);
	assert(over->verdict != NULL && over->request != NULL && over->market != NULL);

	size_t used;

	lt_verdict_text(out, size, over->verdict, over->market->currency);
	used = strlen(out);
	if (over->plan != NULL)
		suggest(out + used, size - used, over);
	lt_text_wrap(out, LT_ERROR_COLUMNS);
}

void
lt_over_note(struct lt_brief *notes, const char *what, const struct lt_verdict *verdict,
    const char *currency)
{
	const bool is_carbon = verdict->is_carbon;
	const int64_t amounts[] = {verdict->available, verdict->limit, verdict->asked};
	char texts[3][48];

	for (size_t i = 0; i < 3; i++)
		if (is_carbon)
			lt_carbon_text(texts[i], sizeof(texts[i]), amounts[i]);
		else
			lt_money_text(texts[i], sizeof(texts[i]), amounts[i], currency);
	lt_brief_put(notes, LT_NOTE_BUDGET, "; ", "%s", what);
	lt_brief_put(notes, LT_NOTE_LEFT, ": ", "%s left%s", texts[0],
	    verdict->is_user_cap ? " for you" : "");
	if (verdict->limit >= 0)
		lt_brief_put(notes, LT_NOTE_DETAILS + LT_NOTE_BUDGET, " ", "of %s", texts[1]);
	lt_brief_put(notes, 2 * LT_NOTE_DETAILS + LT_NOTE_BUDGET, " ", "in %s", verdict->team);
	lt_brief_put(notes, 3 * LT_NOTE_DETAILS + LT_NOTE_BUDGET, " ", "for %s", verdict->label);
	lt_brief_put(notes, LT_NOTE_COST, ", ", "it may %s %s%s", is_carbon ? "emit" : "cost",
	    texts[2], is_carbon ? " CO2e" : "");
}

static void
note_price(struct lt_brief *why, const struct lt_candidate *at, const struct lt_request *request,
    const struct lt_market *market)
{
	const struct lt_class *const class = lt_request_class(request, market);
	const bool is_own = request->max_price_micros == (int64_t)at->wanted || class == NULL;
	char is[48], most[48];

	lt_money_text(is, sizeof(is), (int64_t)at->found, market->currency);
	lt_money_text(most, sizeof(most), (int64_t)at->wanted, market->currency);
	lt_brief_put(why, LT_NOTE_BUDGET, "; ", "%s%s: %s a node-hour is the most",
	    is_own ? "--max-price" : "max_price of class ", is_own ? "" : class->name, most);
	lt_brief_put(why, LT_NOTE_LEFT, ", ", "and on %s it is %s%s",
	    market->partitions[request->home].name, is,
	    request->objective == LT_OBJECTIVE_OFF
		? "; --carbon-aware looks for another partition or hour"
		: " at least, and no other partition will do");
}

static void
note_gpu_memory(struct lt_brief *why, const struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market)
{
	const int nearest = lt_plan_nearest(plan);
	const int named = plan->candidates[nearest].reject == LT_REJECT_GPU_MEMORY
			      ? nearest
			      : plan->chosen.partition;
	const struct lt_candidate *const at = &plan->candidates[named];
	char found[64] = "of a size not known to lowtide";

	if (at->found > 0)
		snprintf(found, sizeof(found), "of %.0f MiB", at->found);
	lt_brief_put(
	    why, LT_NOTE_BUDGET, "; ", "--gpu-memory: %u MiB are wanted", request->gpu_memory_mib);
	lt_brief_put(why, LT_NOTE_LEFT, ", ", "%s has GPUs %s%s", market->partitions[named].name,
	    found,
	    request->objective == LT_OBJECTIVE_OFF ? "; --carbon-aware looks for another partition"
						   : ", and no other partition will do");
}

bool
lt_plan_refusal(struct lt_brief *why, const struct lt_plan *plan, const struct lt_request *request,
    const struct lt_market *market)
{
	assert(plan->candidate_count <= market->partition_count);

	const struct lt_estimate *const chosen = &plan->chosen;
	char cost[48], most[48];

	if (chosen->partition < 0 || (uint32_t)chosen->partition >= market->partition_count)
		return false;
	const struct lt_candidate *const at = &plan->candidates[chosen->partition];
	if (request->gpu_memory_mib > 0 && !plan->moved && at->reject == LT_REJECT_GPU_MEMORY) {
		note_gpu_memory(why, plan, request, market);
		return true;
	}
	if (at->reject == LT_REJECT_MAX_PRICE) {
		note_price(why, at, request, market);
		return true;
	}
	if (request->max_cost_micros == LT_UNSET_64 || !chosen->has_cost ||
	    chosen->most_micros <= request->max_cost_micros)
		return false;
	lt_brief_put(why, LT_NOTE_BUDGET, "; ", "--max-cost: %s is the most",
	    lt_money_text(most, sizeof(most), request->max_cost_micros, market->currency));
	lt_brief_put(why, LT_NOTE_LEFT, ", ", "and on %s it %s be %s",
	    market->partitions[chosen->partition].name,
	    chosen->most_micros == chosen->cost_micros ? "would" : "may",
	    lt_money_text(cost, sizeof(cost), chosen->most_micros, market->currency));
	return true;
}
