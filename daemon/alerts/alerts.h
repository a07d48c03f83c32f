/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `alert_at` of a budget: its percentages that are passed in this period, by the spent amount, and
 * by that with the held amount; a row of the ledger each, which alert_send.c sends.
 */
#ifndef LT_ALERTS_H
#define LT_ALERTS_H

#include "budget.h"
#include "policy.h"

struct lt_alerter;

/* A percentage that was sent is sent anew only after the amount came back below this percentage of
 * it: so a release or a correction does not make it flap. */
enum { LT_ALERT_BACK_PERCENT = 95 };

/* Finds the percents of budget->alert_at that the settled amount has reached, by the currency that
 * is nearer to its limit, rising, each once. Returns how many. Pure. */
int lt_alerts_passed(int passed[LT_ALERTS_MAX], const struct lt_policy_budget *budget,
    const struct lt_period *period);

/* True if it is in the memory that releases before ledger.db version 23 kept, "START PERCENT
 * PERCENT...". That of another period does not count. Pure. */
bool lt_alerts_told(const char *remembered, int64_t start_utc_s, int percent);

/* Logs the newly passed percentages, notes them as due, and sends what is due now:
 * lt_alerts_send(). Without notify: the log line is all. */
int lt_alerts_run(const struct lt_alerter *by, struct lt_error *err);

#endif
