/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts other currencies to the site's by the policy's dated rates.
 */
#ifndef LT_EXCHANGE_RATES_H
#define LT_EXCHANGE_RATES_H

#include "points.h"
#include "policy.h"

/* Points of days before the first rate are dropped. LT_EINPUT: no rate at all, or no site
 * currency. */
int lt_points_convert(
    struct lt_points *points, const struct lt_policy *policy, struct lt_error *err);
/* True if a rate of the currency begins in (after, until]. */
bool lt_exchange_begins(
    const struct lt_policy *policy, const char *currency, int64_t after_utc_s, int64_t until_utc_s);

#endif
