/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words that the line of a plan and its table have in common.
 */
#include "plan_words.h"

#include <string.h>

#include "lookup.h"
#include "units.h"

bool
lt_plan_shows_money(
    const struct lt_market *market, const struct lt_estimate *estimate)
{
	return market->currency[0] != '\0' && estimate->has_cost;
}

struct lt_caveat
lt_plan_caveat(const struct lt_market *market, int partition)
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
		return (struct lt_caveat){"", ""};
	const struct lt_partition *p = &market->partitions[partition];
	const int series[] = {
	    p->price_series, p->carbon_series, p->tariff_series};
	for (int i = 0; i < 3; i++)
		if (series[i] != LT_NO_SERIES &&
		    market->series[series[i]].quality > worst)
			worst = market->series[series[i]].quality;
	return (struct lt_caveat){
	    LT_WORD_OR(full, worst, ""), LT_WORD_OR(brief, worst, "")};
}

const char *
lt_plan_pin(const struct lt_plan *plan, uint32_t bit)
{
	return bit == LT_PIN_OTHER && plan->pinned_by[0] != '\0'
		   ? plan->pinned_by
		   : lt_pin_name((enum lt_pin)bit);
}

/* Older than any time: there are none, and no age to tell. */
static bool
has_no_signals(const struct lt_candidate *candidate)
{
	return candidate->reject == LT_REJECT_STALE && candidate->found > 1e15;
}

const char *
lt_plan_reason(const struct lt_candidate *candidate)
{
	return has_no_signals(candidate) ? "no signals"
					 : lt_reject_name(candidate->reject);
}

void
lt_plan_figures(struct lt_text *text, const struct lt_candidate *candidate,
    const char *currency)
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
		lt_text_put(text, " (%.0f%s, wants %.0f%s)", candidate->found,
		    unit, candidate->wanted, unit);
	else if (candidate->reject == LT_REJECT_RISK)
		lt_text_put(text,
		    " (%.0f %%, at most %.0f %% where it starts over)",
		    candidate->found / 1e4, candidate->wanted / 1e4);
	else if (candidate->reject == LT_REJECT_MAX_PRICE)
		lt_text_put(text, " (%s at least, at most %s)",
		    lt_money_digits(found, sizeof(found),
			(int64_t)candidate->found, currency),
		    lt_money_digits(wanted, sizeof(wanted),
			(int64_t)candidate->wanted, currency));
	else if ((candidate->reject == LT_REJECT_MAX_TIME ||
		     candidate->reject == LT_REJECT_STALE) &&
		 candidate->wanted < 1e15 && candidate->found < 1e15)
		lt_text_put(text, " (%s, %s allowed)",
		    lt_duration_text(
			found, sizeof(found), (int64_t)candidate->found),
		    lt_duration_text(
			wanted, sizeof(wanted), (int64_t)candidate->wanted));
}
