/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an open hold takes from a budget's period. Pure.
 */
#ifndef LT_BUDGET_SNAPSHOT_H
#define LT_BUDGET_SNAPSHOT_H

#include "budget.h"
#include "ledger.h"

/* Open, live, and admitted: what lowtide itself holds back is not counted. */
bool lt_hold_counts(const struct lt_ledger_hold *hold);

/*
 * The hold's window now: a pending job that still waits after its earliest
 * start ends later by as much. Running: from its start.
 */
void lt_hold_window(int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);

/*
 * The part that counts in [period->start, end): pending, all of it; running,
 * by the seconds that fall there, rounded up. False when nothing does.
 */
bool lt_hold_part(struct lt_amount *part, const struct lt_ledger_hold *hold,
    const struct lt_period *period, int64_t now_utc_s);

#endif
