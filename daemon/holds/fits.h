/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds against budgets: the part of an open hold that counts in a period, and whether a hold fits
 * beside all others.
 */
#ifndef LT_FITS_H
#define LT_FITS_H

#include "batch.h"
#include "budget.h"
#include "budget_state.h"
#include "ledger.h"

/* Open, live, and admitted: what lowtide itself holds back is not counted. */
bool lt_hold_counts(const struct lt_ledger_hold *hold);

/* Computes the hold's window now: a pending job that still waits after its earliest start ends
 * later by as much. Running: from its start. */
void lt_hold_window(
    int64_t *start_utc_s, int64_t *end_utc_s, const struct lt_ledger_hold *hold, int64_t now_utc_s);

/* Computes the part that counts in [period->start, end): pending, all of it; running, by the
 * seconds that fall there, rounded up. False when nothing does. */
bool lt_hold_part(struct lt_amount *part, const struct lt_ledger_hold *hold,
    const struct lt_period *period, int64_t now_utc_s);

/* Returns what was admitted since the snapshot was made; NULL: no memory. */
struct lt_recent *lt_fits_recent(struct lt_budget_state *budget);
/* Fills in what so many tasks of a hold ask for; false: their account is not known, or it is too
 * much. */
bool lt_fits_asked(struct lt_hold *out, const struct lt_budget_snapshot *snapshot,
    const struct lt_ledger_hold *hold, uint32_t tasks, int64_t now_utc_s);
/* True if it fits; it is counted from now on then. */
bool lt_fits(struct lt_budget_state *budget, const struct lt_hold *asked);

/* Says what became of it, and counts it from now on if it fits. LT_UNKNOWN, too, of an account that
 * nobody knows, or a sum that is too much. */
void lt_fits_judge(struct lt_verdict *verdict, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* True if it may go: on_unknown: allow lets pass what is not known. */
bool lt_verdict_fits(const struct lt_verdict *verdict);
/* True if its run time has no limit, so that it was not priced: the user must hear that, whatever
 * on_unknown is. */
bool lt_fits_is_endless(const struct lt_batch_job *job, const struct lt_ledger_hold *hold);
/* True if the hold fits beside all others that count; it is counted then, too. */
bool lt_fits_hold(
    struct lt_budget_state *budget, const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* Takes back a hold that fitted but was only a question. */
void lt_fits_forget(
    struct lt_budget_state *budget, const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* True if it fits as `to` instead of what the snapshot counts for it: all of it, not the growth, as
 * in another period nothing may be held yet. */
bool lt_fits_instead(struct lt_budget_state *budget, const struct lt_ledger_hold *from,
    const struct lt_ledger_hold *to, int64_t now_utc_s);

#endif
