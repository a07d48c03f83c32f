/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `alert_at` of a budget: which of its percentages are passed in this period,
 * by what is spent, and by that with what is held; a row of the ledger each,
 * that alert_send.c tells.
 */
#ifndef LT_ALERTS_H
#define LT_ALERTS_H

#include "budget.h"
#include "policy.h"

struct lt_daemon;

/* A percentage that was told is told anew only after it came back below this
 * percentage of itself: a release or a correction makes nothing flap. */
enum { LT_ALERT_BACK_PERCENT = 95 };

/* The percents of budget->alert_at that what is settled has reached, by the
 * currency that is nearer to its limit, rising, each once. Returns how many.
 * Pure. */
int lt_alerts_passed(int passed[LT_ALERTS_MAX],
    const struct lt_policy_budget *budget, const struct lt_period *period);

/* Is it in what releases before ledger.db version 23 remembered, "START PERCENT
 * PERCENT..."? That of another period is no memory of this one. Pure. */
bool lt_alerts_told(const char *remembered, int64_t start_utc_s, int percent);

/* Log what is passed and not yet known, write it down as due, and send what is
 * due now: lt_alerts_send(). Without notify: it is told by its log line. */
int lt_alerts_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
