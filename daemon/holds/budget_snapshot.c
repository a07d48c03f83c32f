/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds against periods, for the budget snapshot and for releases.
 */
#include "budget_snapshot.h"
#include "units.h"

bool
lt_hold_counts(const struct lt_ledger_hold *hold)
{
	return hold->state == LT_HOLD_OPEN && hold->live_tasks > 0 &&
	       !(hold->quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN));
}

void
lt_hold_window(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	const int64_t length = hold->quote.end_utc_s - hold->quote.start_utc_s;

	*start_utc_s = hold->quote.start_utc_s;
	*end_utc_s = hold->quote.end_utc_s;
	if (hold->start_utc_s) {
		*start_utc_s = hold->start_utc_s;
		if (*end_utc_s > hold->start_utc_s + length ||
		    *end_utc_s <= hold->start_utc_s)
			*end_utc_s = hold->start_utc_s + length;
	} else if (*start_utc_s < now_utc_s) {
		*start_utc_s = now_utc_s;
		*end_utc_s = now_utc_s + length;
	}
}

bool
lt_hold_part(struct lt_amount *part, const struct lt_ledger_hold *hold,
    const struct lt_period *period, int64_t now_utc_s)
{
	int64_t start, end;

	lt_hold_window(&start, &end, hold, now_utc_s);
	const int64_t low =
	    start > period->start_utc_s ? start : period->start_utc_s;
	const int64_t high = end < period->end_utc_s ? end : period->end_utc_s;
	if (low >= high)
		return false;
	*part = hold->quote.hold_per_task;
	/* A sum that would pass 64 bits is more than any budget has. */
	if (!lt_scale_up(
		part->money_micros, hold->live_tasks, 1, &part->money_micros))
		part->money_micros = INT64_MAX / 4;
	if (!lt_scale_up(
		part->carbon_mg, hold->live_tasks, 1, &part->carbon_mg))
		part->carbon_mg = INT64_MAX / 4;
	if (!hold->start_utc_s)
		return true;
	return lt_scale_up(part->money_micros, high - low, end - start,
		   &part->money_micros) &&
	       lt_scale_up(
		   part->carbon_mg, high - low, end - start, &part->carbon_mg);
}
