/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an open period will have cost at its end: the ledger's days of UTC as
 * lt_period_forecast() wants them, for reports and for alerts.
 */
#ifndef LT_PERIOD_END_H
#define LT_PERIOD_END_H

#include <stddef.h>

#include "calendar.h"
#include "ledger.h"
#include "period_forecast.h"
#include "periods.h"

struct lt_period_end { /* begin; add days; free() items */
	struct lt_period_days of;
	struct lt_day_amounts *items;
	size_t capacity;
};

/* now_utc_s: in the period; first_utc_s: as lt_ledger_first_booked(). */
struct lt_period_moment {
	struct lt_span period;
	int64_t now_utc_s, first_utc_s;
};
void lt_period_end_begin(struct lt_period_end *end,
    const struct lt_offsets *offsets, const struct lt_period_moment *moment);

/* The days that are wanted. Pure. */
struct lt_days_asked lt_period_end_days(const struct lt_period_end *end);

/* In order of the days, as lt_ledger_day_sums() has them; several of a day are
 * summed. LT_ENOMEM. */
int lt_period_end_add(struct lt_period_end *end, int64_t day,
    const struct lt_account_sum *sum, struct lt_error *err);

/* spent: in the period till now. As lt_period_forecast(). */
int lt_period_end_forecast(struct lt_period_forecast *out,
    struct lt_period_end *end, const struct lt_amount *spent,
    struct lt_error *err);

#endif
