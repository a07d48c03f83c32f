/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts what happens to jobs, for metrics. In memory only: the counters start at 0 with lowtided,
 * and nothing here fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "jobs.h"
#include "counters.h"
#include "units.h"

enum { BROKEN_S = LT_HOUR_S };

/* NULL = no memory: it is not counted then. */
static struct lt_refused *
row_of(struct lt_counters *tally, const char *account)
{
	for (uint32_t i = 0; i < tally->refused_count; i++)
		if (strcmp(tally->refused[i].account, account) == 0)
			return &tally->refused[i];
	struct lt_refused *const grown = lt_items_grow(
	    tally->refused, &tally->refused_capacity, tally->refused_count, sizeof(*grown));
	if (grown == NULL)
		return NULL;
	tally->refused = grown;
	struct lt_refused *const row = &grown[tally->refused_count++];
	*row = (struct lt_refused){0};
	snprintf(row->account, sizeof(row->account), "%s", account);
	return row;
}

void
lt_counters_account(struct lt_counters *tally, const char *account)
{
	(void)row_of(tally, account);
}

void
lt_counters_refused(
    struct lt_counters *tally, const char *account, enum lt_refusal refusal, uint32_t flags)
{
	if (flags & LT_QUOTE_UNKNOWN) {
		tally->unknown[refusal]++;
		return;
	}
	struct lt_refused *const row = row_of(tally, account);
	if (row != NULL)
		row->jobs[refusal]++;
}

static void
count_new(struct lt_counters *tally, const struct lt_quote *quote)
{
	static const uint32_t held = LT_QUOTE_BUDGET_HOLD | LT_QUOTE_UNKNOWN;
	const int64_t delay_s = quote->plan_start_utc_s - quote->home_start_utc_s;
	const bool elsewhere = strcmp(quote->partition, quote->home) != 0;

	if (quote->flags & held)
		lt_counters_refused(tally, quote->account, LT_REFUSAL_HELD, quote->flags);
	if (quote->objective == LT_OBJECTIVE_OFF)
		return;
	const enum lt_decided outcome = delay_s > 0
					    ? (elsewhere ? LT_DECIDED_BOTH : LT_DECIDED_LATER)
					    : (elsewhere ? LT_DECIDED_ELSEWHERE : LT_DECIDED_KEPT);
	tally->decided[quote->mode][quote->objective][outcome]++;
	if (delay_s > 0)
		tally->delay_s[quote->mode] += delay_s;
}

/* A job that its user, a dependency or a hold kept back beyond its planned start broke no plan: it
 * waits for nodes only from then on. */
bool
lt_counters_breaks_plan(const struct lt_live *live, const struct lt_ledger_hold *hold,
    const struct lt_ledger_hold *before)
{
	const struct lt_quote *const quote = &hold->quote;
	const int64_t from_utc_s = live->eligible_utc_s > quote->plan_start_utc_s
				       ? live->eligible_utc_s
				       : quote->plan_start_utc_s;

	return before->start_utc_s == 0 && hold->start_utc_s != 0 && !live->requeued &&
	       quote->tasks == 1 && quote->objective != LT_OBJECTIVE_OFF &&
	       lt_mode_may(quote->mode, LT_MAY_EDIT) && hold->start_utc_s - from_utc_s > BROKEN_S;
}

void
lt_counters_followed(struct lt_counters *tally, struct lt_ledger *ledger,
    const struct lt_batch_jobs *followed, const struct lt_jobs_state *jobs)
{
	struct lt_ledger_hold hold;

	for (uint32_t i = 0; i < followed->count; i++)
		if (followed->jobs[i].is_new && lt_hold_of_job(ledger, &followed->jobs[i], &hold))
			count_new(tally, &hold.quote);
	for (uint32_t i = 0; i < jobs->live_count; i++)
		tally->broken += jobs->live[i].is_late;
}

void
lt_counters_replan(struct lt_counters *tally, const char *why)
{
	const int index = lt_replan_find(why);

	if (index >= 0)
		tally->replans[index]++;
}

void
lt_counters_free(struct lt_counters *tally)
{
	free(tally->refused);
	*tally = (struct lt_counters){0};
}
