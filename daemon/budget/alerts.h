/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `alert_at` of a budget: which of its percentages are spent in this period,
 * and telling each once.
 */
#ifndef LT_ALERTS_H
#define LT_ALERTS_H

#include "budget.h"
#include "policy.h"

struct lt_daemon;

/* The percents of budget->alert_at that what is settled has reached, by the
 * currency that is nearer to its limit, rising, each once. Returns how many.
 * Pure. */
int lt_alerts_passed(int passed[LT_ALERTS_MAX],
    const struct lt_policy_budget *budget, const struct lt_period *period);

/* Is it in a remembered "START PERCENT PERCENT..."? That of another period is
 * no memory of this one. Pure. */
bool lt_alerts_told(const char *remembered, int64_t start_utc_s, int percent);

/* Log what is passed and not yet told, leave a message of it where the policy
 * has notify:, and remember it. */
int lt_alerts_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
