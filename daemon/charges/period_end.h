/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expected cost of an open period at its end, for reports and for alerts:
 * the site's by the last days of all accounts, and a whole part of it for each account, so that
 * teams add up to the site. docs/model.md, eqs. (47), (47a).
 */
#ifndef LT_PERIOD_END_H
#define LT_PERIOD_END_H

#include "calendar.h"
#include "ledger.h"
#include "period_forecast.h"

struct lt_use { /* of today and the days before it, those of UTC */
	bool is_any;
	struct lt_day_amounts days[LT_PERIOD_FORECAST_DAYS + 1];
};
struct lt_last_days {			  /* lt_last_days_free() */
	const struct lt_offsets *offsets; /* lent */
	int64_t now_utc_s, first_utc_s;
	uint32_t count;	     /* of accounts */
	struct lt_use *uses; /* each account's; malloc'd */
	struct lt_use all;
};
struct lt_last_days_asked {
	const struct lt_offsets *offsets;
	int64_t now_utc_s;
	uint32_t count;
	/* Returns an account's index, below count; -1: it has none. */
	int (*index_of)(const void *context, const char *account);
	const void *context;
};
/* LT_ENOENT: nothing is booked. */
int lt_last_days_read(struct lt_last_days *last, struct lt_ledger *ledger,
    const struct lt_last_days_asked *asked, struct lt_error *err);
void lt_last_days_free(struct lt_last_days *last);

struct lt_to_come {
	int64_t money_micros, carbon_mg;
};
struct lt_period_end {
	const struct lt_last_days *last; /* lent */
	struct lt_period_days of;	 /* without days */
	struct lt_to_come *accounts;	 /* each one's part; malloc'd */
};
/* Prepares the estimate; now is in the period. free() accounts, on failure too. Errors as of
 * lt_period_forecast(). */
int lt_period_end_make(struct lt_period_end *end, const struct lt_last_days *last,
    struct lt_span period, struct lt_error *err);

struct lt_accounts_end { /* of some accounts; { 0 }, then add them */
	struct lt_use use;
	struct lt_to_come to_come;
};
int lt_period_end_add(struct lt_accounts_end *some, const struct lt_period_end *end,
    uint32_t account, struct lt_error *err);
/* Estimates a period. spent: by these accounts, in the period till now. */
int lt_period_end_forecast(struct lt_period_forecast *out, const struct lt_period_end *end,
    const struct lt_accounts_end *some, const struct lt_amount *spent, struct lt_error *err);

#endif
