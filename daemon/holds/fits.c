/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides whether a hold fits, by the one rule of job_submit, beside all that counts: what the
 * snapshot has and what was admitted since. Also computes the part of a hold that counts in a
 * budget's period.
 *
 * In memory; an admitted hold is counted from then on. An unknown account, or a sum that is too
 * large, is LT_UNKNOWN.
 */
#include <stdlib.h>

#include "fits.h"
#include "units.h"

bool
lt_hold_counts(const struct lt_ledger_hold *hold)
{
	return hold->state == LT_HOLD_OPEN && hold->live_tasks > 0 &&
	       !(hold->quote.flags & (LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN));
}

void
lt_hold_window(
    int64_t *start_utc_s, int64_t *end_utc_s, const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	const int64_t length = hold->quote.end_utc_s - hold->quote.start_utc_s;

	*start_utc_s = hold->quote.start_utc_s;
	*end_utc_s = hold->quote.end_utc_s;
	if (hold->start_utc_s) {
		*start_utc_s = hold->start_utc_s;
		if (*end_utc_s > hold->start_utc_s + length || *end_utc_s <= hold->start_utc_s)
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
	const int64_t low = start > period->start_utc_s ? start : period->start_utc_s;
	const int64_t high = end < period->end_utc_s ? end : period->end_utc_s;
	if (low >= high)
		return false;
	*part = hold->quote.hold_per_task;
	/* A sum that would pass 64 bits is more than any budget has. */
	if (!lt_scale_up(part->money_micros, hold->live_tasks, 1, &part->money_micros))
		part->money_micros = INT64_MAX / 4;
	if (!lt_scale_up(part->carbon_mg, hold->live_tasks, 1, &part->carbon_mg))
		part->carbon_mg = INT64_MAX / 4;
	if (!hold->start_utc_s)
		return true;
	return lt_scale_up(part->money_micros, high - low, end - start, &part->money_micros) &&
	       lt_scale_up(part->carbon_mg, high - low, end - start, &part->carbon_mg);
}

struct lt_recent *
lt_fits_recent(struct lt_budget_state *budget)
{
	if (budget->recent != NULL && budget->recent_generation == budget->snapshot.generation)
		return budget->recent;
	free(budget->recent);
	budget->recent = malloc(lt_recent_size(&budget->snapshot));
	if (budget->recent != NULL)
		lt_recent_init(budget->recent, &budget->snapshot);
	budget->recent_generation = budget->snapshot.generation;
	return budget->recent;
}

bool
lt_fits_asked(struct lt_hold *out, const struct lt_budget_snapshot *snapshot,
    const struct lt_ledger_hold *hold, uint32_t tasks, int64_t now_utc_s)
{
	*out = (struct lt_hold){.uid = hold->uid,
	    .account = lt_sheet_account(snapshot, hold->quote.account),
	    .amount = hold->quote.hold_per_task};
	lt_hold_window(&out->start_utc_s, &out->end_utc_s, hold, now_utc_s);
	return out->account >= 0 &&
	       lt_scale_up(out->amount.money_micros, tasks, 1, &out->amount.money_micros) &&
	       lt_scale_up(out->amount.carbon_mg, tasks, 1, &out->amount.carbon_mg);
}

bool
lt_verdict_fits(const struct lt_verdict *verdict)
{
	return verdict->code == LT_ADMIT ||
	       (verdict->code == LT_OVER && verdict->rule == LT_RULE_WARN) ||
	       (verdict->code == LT_UNKNOWN && verdict->rule == LT_RULE_ALLOW);
}

bool
lt_fits_is_endless(const struct lt_batch_job *job, const struct lt_ledger_hold *hold)
{
	const struct lt_amount *const held = &hold->quote.hold_per_task;

	return job->limit_s == INT64_MAX && !held->has_money && !held->has_carbon;
}

static void
judge(struct lt_verdict *verdict, struct lt_budget_state *budget, const struct lt_hold *asked)
{
	struct lt_recent *const recent = lt_fits_recent(budget);

	*verdict = (struct lt_verdict){.code = LT_UNKNOWN};
	if (recent != NULL)
		lt_admit(verdict, &budget->snapshot, recent, asked);
}

bool
lt_fits(struct lt_budget_state *budget, const struct lt_hold *asked)
{
	struct lt_verdict verdict;

	judge(&verdict, budget, asked);
	return lt_verdict_fits(&verdict);
}

void
lt_fits_judge(struct lt_verdict *verdict, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_hold asked;

	*verdict = (struct lt_verdict){.code = LT_UNKNOWN};
	if (lt_fits_asked(&asked, &budget->snapshot, hold, hold->live_tasks, now_utc_s))
		judge(verdict, budget, &asked);
}

bool
lt_fits_hold(struct lt_budget_state *budget, const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_verdict verdict;

	lt_fits_judge(&verdict, budget, hold, now_utc_s);
	return lt_verdict_fits(&verdict);
}

void
lt_fits_forget(struct lt_budget_state *budget, const struct lt_ledger_hold *hold, int64_t now_utc_s)
{
	struct lt_hold asked;
	struct lt_recent *const recent = lt_fits_recent(budget);

	if (recent != NULL &&
	    lt_fits_asked(&asked, &budget->snapshot, hold, hold->live_tasks, now_utc_s))
		lt_recent_remove(recent, &budget->snapshot, &asked);
}

bool
lt_fits_instead(struct lt_budget_state *budget, const struct lt_ledger_hold *from,
    const struct lt_ledger_hold *to, int64_t now_utc_s)
{
	struct lt_hold old;
	struct lt_recent *const recent = lt_fits_recent(budget);
	const bool counts =
	    recent != NULL && lt_hold_counts(from) &&
	    lt_fits_asked(&old, &budget->snapshot, from, from->live_tasks, now_utc_s);

	if (counts)
		lt_recent_remove(recent, &budget->snapshot, &old);
	struct lt_verdict verdict;

	lt_fits_judge(&verdict, budget, to, now_utc_s);
	/* A hold that does not fit, or whose cost is not known, was not added. */
	if (counts && (verdict.code == LT_UNKNOWN || !lt_verdict_fits(&verdict)))
		lt_recent_add(recent, &budget->snapshot, &old);
	return lt_verdict_fits(&verdict);
}
