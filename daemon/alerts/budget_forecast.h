/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected spending of budgets at the end of their period, with the accounts below their team:
 * for alerts and for the report.
 */
#ifndef LT_BUDGET_FORECAST_H
#define LT_BUDGET_FORECAST_H

#include "ledger.h"
#include "period_forecast.h"

struct lt_budget_state;
struct lt_alerter;

struct lt_budget_forecast { /* of a team and a period, whatever its limit */
	char team[LT_ACCOUNT_SIZE];
	struct lt_span period;
	struct lt_period_forecast is;
};

/* Makes them anew, hourly, by the snapshot that is just compiled. They stay as they were while
 * slurmdbd's rows are more than an hour late, for what is missing would look saved; and when the
 * ledger can't be read. */
int lt_budget_forecasts(const struct lt_alerter *by, struct lt_error *err);

/* Returns the forecast for the current period of that budget of the snapshot; not known: { 0 }. */
struct lt_period_forecast lt_budget_forecast_of(
    const struct lt_budget_state *budget, uint32_t index);

#endif
