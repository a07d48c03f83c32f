/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does it fit beside all that counts?
 */
#ifndef LT_FITS_H
#define LT_FITS_H

#include "batch.h"
#include "budget_state.h"
#include "ledger.h"

/* What was admitted since the snapshot was made; NULL: no memory. */
struct lt_recent *lt_fits_recent(struct lt_budget_state *budget);
/* What so many tasks of a hold ask for; false: nobody knows their account, or
 * it is too much. */
bool lt_fits_asked(struct lt_hold *out,
    const struct lt_budget_snapshot *snapshot,
    const struct lt_ledger_hold *hold, uint32_t tasks, int64_t now_utc_s);
/* It is counted from now on if it does. */
bool lt_fits(struct lt_budget_state *budget, const struct lt_hold *asked);

/* Says what became of it, and counts it from now on if it fits. LT_UNKNOWN,
 * too, of an account that nobody knows, or a sum that is too much. */
void lt_fits_judge(struct lt_verdict *verdict, struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* on_unknown: allow lets go what is not known. */
bool lt_verdict_fits(const struct lt_verdict *verdict);
/* Nobody says for how long it may run, so it was not priced: that is to be
 * said, whatever on_unknown is. */
bool lt_fits_is_endless(
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold);
/* Would the hold fit beside all others that count? Counted then, too. */
bool lt_fits_hold(struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* Of a hold that fitted: it was only a question, and counts no more. */
void lt_fits_forget(struct lt_budget_state *budget,
    const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* Would it fit as `to` instead of what the snapshot counts for it, all of it
 * and not the growth: in another period nothing may be held yet. */
bool lt_fits_instead(struct lt_budget_state *budget,
    const struct lt_ledger_hold *from, const struct lt_ledger_hold *to,
    int64_t now_utc_s);

#endif
