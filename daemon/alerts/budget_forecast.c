/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates what budgets will have spent, by one read of the ledger's days for all of them: each
 * account's part of what is to come goes to all budgets that bind it, its own and those of the
 * accounts above it.
 *
 * Writes the forecasts in memory; a budget that can't be estimated is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "alerter.h"
#include "budget_forecast.h"
#include "compile_members.h"
#include "period_end.h"
#include "site.h"
#include "units.h"

enum { EVERY_S = LT_HOUR_S };

struct all {
	const struct lt_alerter *by;
	const struct lt_budget_snapshot *snapshot;
	struct lt_last_days last;
	struct lt_budget_forecast *made; /* by the snapshot's index; malloc'd */
	struct lt_accounts_end *ends;	 /* of each that is wanted; malloc'd */
	struct lt_span period;		 /* that is made now, and its end: */
	struct lt_period_end end;
};

static struct lt_span
span_of(const struct all *all, uint32_t budget)
{
	const struct lt_period *const period = &all->snapshot->budgets[budget].periods[0];

	return (struct lt_span){period->start_utc_s, period->end_utc_s};
}

static bool
is_wanted(const struct all *all, uint32_t budget)
{
	const struct lt_span period = span_of(all, budget);

	return all->by->now_utc_s >= period.from_utc_s && all->by->now_utc_s < period.to_utc_s;
}

/* True if the budget is of the period that is computed now. */
static bool
is_of_period(const struct all *all, uint32_t budget)
{
	const struct lt_span own = span_of(all, budget);

	return is_wanted(all, budget) && own.from_utc_s == all->period.from_utc_s &&
	       own.to_utc_s == all->period.to_utc_s;
}

/* Adds the part of the account `from` to the budgets of that account itself. */
static int
add_to_own(struct all *all, uint32_t from, const struct lt_account *account, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = all->snapshot;
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < account->binding_count; i++) {
		const uint32_t budget = s->bindings[account->first_binding + i];

		if (is_of_period(all, budget) &&
		    strcmp(s->budgets[budget].team, account->name) == 0)
			code = lt_period_end_add(&all->ends[budget], &all->end, from, err);
	}
	return code;
}

/* Days to come count where an account stands now, for all above it. */
static int
add_up(struct all *all, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = all->snapshot;
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < s->account_count; i++) {
		int at = (int)i;

		for (int depth = 0; code == LT_OK && at >= 0 && depth < LT_TREE_DEPTH_MAX;
		     depth++) {
			code = add_to_own(all, i, &s->accounts[at], err);
			at = lt_sheet_parent_then(
			    s, &all->by->site->tables.moves, (uint32_t)at, all->by->now_utc_s);
		}
	}
	return code;
}

/* Estimates all budgets of the period. One that can't be estimated is not known. */
static int
forecast_period(struct all *all, struct lt_error *err)
{
	int code = lt_period_end_make(&all->end, &all->last, all->period, err);

	if (code == LT_OK)
		code = add_up(all, err);
	for (uint32_t i = 0; code == LT_OK && i < all->snapshot->budget_count; i++)
		if (is_of_period(all, i))
			(void)lt_period_end_forecast(&all->made[i].is, &all->end, &all->ends[i],
			    &all->snapshot->budgets[i].periods[0].settled, NULL);
	free(all->end.accounts);
	return code;
}

/* Estimates all budgets. A period that an earlier budget has is computed with that one. */
static int
forecast_all(struct all *all, struct lt_error *err)
{
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < all->snapshot->budget_count; i++) {
		uint32_t first = 0;

		memcpy(
		    all->made[i].team, all->snapshot->budgets[i].team, sizeof(all->made[i].team));
		all->period = all->made[i].period = span_of(all, i);
		if (!is_wanted(all, i))
			continue;
		while (!is_of_period(all, first))
			first++;
		if (first == i)
			code = forecast_period(all, err);
	}
	return code;
}

static int
index_of(const void *context, const char *account)
{
	return lt_sheet_account(context, account);
}

int
lt_budget_forecasts(const struct lt_alerter *by, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = &by->budget->snapshot;
	const size_t count = s->budget_count + (size_t)1;
	struct all all = {.by = by, .snapshot = s};
	const struct lt_last_days_asked asked = {
	    &by->site->offsets, by->now_utc_s, s->account_count, index_of, s};

	if (by->charges->settled_until_utc_s < by->now_utc_s - EVERY_S)
		return LT_OK;
	by->alerts->next.forecasts = by->now_utc_s + EVERY_S;
	int code = lt_last_days_read(&all.last, by->ledger, &asked, err);
	if (code == LT_ENOENT)
		return LT_OK;
	all.made = calloc(count, sizeof(*all.made));
	all.ends = calloc(count, sizeof(*all.ends));
	if (code == LT_OK && (all.made == NULL || all.ends == NULL))
		code = lt_fail(err, LT_ENOMEM, "forecast: out of memory");
	if (code == LT_OK)
		code = forecast_all(&all, err);
	if (code == LT_OK) { /* in place of those before */
		free(by->budget->forecasts);
		by->budget->forecasts = all.made;
		by->budget->forecast_count = s->budget_count;
		all.made = NULL;
	}
	free(all.made);
	free(all.ends);
	lt_last_days_free(&all.last);
	return code;
}

struct lt_period_forecast
lt_budget_forecast_of(const struct lt_budget_state *budget, uint32_t index)
{
	const struct lt_budget *const of = &budget->snapshot.budgets[index];
	const struct lt_period *const period = &of->periods[0];

	if (index < budget->forecast_count) {
		const struct lt_budget_forecast *const known = &budget->forecasts[index];

		if (strcmp(known->team, of->team) == 0 &&
		    known->period.from_utc_s == period->start_utc_s &&
		    known->period.to_utc_s == period->end_utc_s)
			return known->is;
	}
	return (struct lt_period_forecast){0};
}
