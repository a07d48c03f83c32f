/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One read of the ledger's days for all budgets: each account's go to all that
 * bind it, its own and those of the accounts above it.
 */
#include <stdlib.h>
#include <string.h>

#include "budget_forecast.h"
#include "compile_members.h"
#include "daemon.h"
#include "period_end.h"
#include "units.h"

enum { EVERY_S = LT_HOUR_S };

struct one {
	bool is_wanted;
	struct lt_period_end end;
};
struct all {
	const struct lt_budget_snapshot *snapshot;
	const struct lt_account_moves *moves;
	struct one *budgets; /* by the snapshot's index; malloc'd */
	struct lt_days_asked days;
};

static void
free_all(struct all *all)
{
	for (uint32_t i = 0; i < all->snapshot->budget_count; i++)
		free(all->budgets[i].end.items);
	free(all->budgets);
}

static bool
is_wanted(const struct lt_period *period, int64_t now_utc_s)
{
	return now_utc_s >= period->start_utc_s &&
	       now_utc_s < period->end_utc_s;
}

static void
begin(struct all *all, const struct lt_daemon *d, int64_t now_utc_s,
    int64_t first_utc_s)
{
	all->days = (struct lt_days_asked){.first = INT64_MAX}; /* none */
	for (uint32_t i = 0; i < all->snapshot->budget_count; i++) {
		struct one *const one = &all->budgets[i];
		const struct lt_period *const period =
		    &all->snapshot->budgets[i].periods[0];

		one->is_wanted = is_wanted(period, now_utc_s);
		if (!one->is_wanted)
			continue;
		lt_period_end_begin(&one->end, &d->offsets,
		    &(struct lt_period_moment){
			{period->start_utc_s, period->end_utc_s}, now_utc_s,
			first_utc_s});
		const struct lt_days_asked asked =
		    lt_period_end_days(&one->end);
		if (asked.first < all->days.first)
			all->days.first = asked.first;
		all->days.last = asked.last;
	}
}

/* A day for the budgets of the account itself. */
static int
add_day(const struct all *all, const struct lt_account *account, int64_t day,
    const struct lt_account_sum *sum, struct lt_error *err)
{
	const struct lt_budget_snapshot *const s = all->snapshot;
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < account->binding_count; i++) {
		const uint32_t budget = s->bindings[account->first_binding + i];
		struct one *const one = &all->budgets[budget];

		/* Days of a longer period are of no use to it. */
		if (one->is_wanted &&
		    strcmp(s->budgets[budget].team, account->name) == 0 &&
		    day >= lt_period_end_days(&one->end).first)
			code = lt_period_end_add(&one->end, day, sum, err);
	}
	return code;
}

/* An lt_day_function. A day counts where its account stood when it began. */
static int
take_day(void *context, int64_t day, const struct lt_account_sum *sum,
    struct lt_error *err)
{
	const struct all *const all = context;
	const struct lt_budget_snapshot *const s = all->snapshot;
	int at = lt_sheet_account(s, sum->account);
	int code = LT_OK;

	for (int depth = 0;
	     code == LT_OK && at >= 0 && depth < LT_TREE_DEPTH_MAX; depth++) {
		code = add_day(all, &s->accounts[at], day, sum, err);
		at = lt_sheet_parent_then(
		    s, all->moves, (uint32_t)at, day * LT_DAY_S);
	}
	return code;
}

/* In place of those before. One that can't be told is not known. */
static int
keep(struct lt_budget_state *budget, struct all *all, struct lt_error *err)
{
	struct lt_budget_forecast *const made =
	    calloc(all->snapshot->budget_count + 1u, sizeof(*made));

	if (made == NULL)
		return lt_fail(err, LT_ENOMEM, "forecast: out of memory");
	for (uint32_t i = 0; i < all->snapshot->budget_count; i++) {
		const struct lt_budget *const of = &all->snapshot->budgets[i];
		const struct lt_period *const period = &of->periods[0];

		memcpy(made[i].team, of->team, sizeof(made[i].team));
		made[i].period =
		    (struct lt_span){period->start_utc_s, period->end_utc_s};
		if (all->budgets[i].is_wanted)
			(void)lt_period_end_forecast(&made[i].is,
			    &all->budgets[i].end, &period->settled, NULL);
	}
	free(budget->forecasts);
	budget->forecasts = made;
	budget->forecast_count = all->snapshot->budget_count;
	return LT_OK;
}

int
lt_budget_forecasts(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err)
{
	struct all all = {
	    .snapshot = &d->budget.snapshot, .moves = &d->tables.moves};
	int64_t first_utc_s = 0;
	bool has = false;

	if (d->budget.settled_until_utc_s < now_utc_s - EVERY_S)
		return LT_OK;
	d->next.forecasts = now_utc_s + EVERY_S;
	int code = lt_ledger_first_booked(d->ledger, &first_utc_s, &has, err);
	if (code != LT_OK || !has)
		return code;
	all.budgets =
	    calloc(all.snapshot->budget_count + 1u, sizeof(*all.budgets));
	if (all.budgets == NULL)
		return lt_fail(err, LT_ENOMEM, "forecast: out of memory");
	begin(&all, d, now_utc_s, first_utc_s);
	code = lt_ledger_day_sums(d->ledger, all.days, take_day, &all, err);
	if (code == LT_OK)
		code = keep(&d->budget, &all, err);
	free_all(&all);
	return code;
}

struct lt_period_forecast
lt_budget_forecast_of(const struct lt_budget_state *budget, uint32_t index)
{
	const struct lt_budget *const of = &budget->snapshot.budgets[index];
	const struct lt_period *const period = &of->periods[0];

	if (index < budget->forecast_count) {
		const struct lt_budget_forecast *const known =
		    &budget->forecasts[index];

		if (strcmp(known->team, of->team) == 0 &&
		    known->period.from_utc_s == period->start_utc_s &&
		    known->period.to_utc_s == period->end_utc_s)
			return known->is;
	}
	return (struct lt_period_forecast){0};
}
