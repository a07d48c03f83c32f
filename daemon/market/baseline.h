/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run would have cost without lowtide.
 */
#ifndef LT_BASELINE_H
#define LT_BASELINE_H

#include "ledger.h"

struct lt_market;

/*
 * Fill run->has_baseline, base_*, moved and baseline_text: this run's part of
 * one undisturbed run in the quote's home partition, at the prices that really
 * held. What the job lost by interruptions is in none. A job that was not moved
 * has no base of its own: what it cost is it.
 */
void lt_baseline_of_run(struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger);

/* What the run's work costs at home from the start on that was planned there
 * when it was submitted: the same for a run that was moved and one that was
 * not, whatever it waited. Interruptions are in none. False: not known. */
bool lt_work_at_home(struct lt_amount *cost, const struct lt_run *run,
    const struct lt_quote *quote, const struct lt_market *market,
    struct lt_ledger *ledger);

/*
 * What a run that lowtide deferred cost less than it would have from the
 * earliest start on that was possible there, as long, at the rates that really
 * held; no more than its planned start saved so, never below 0. 0 of a run
 * after another of its job, of a job that its user submitted held, and where a
 * price is not known. run: as it is charged, before a discount. docs/model.md,
 * eq. (30b).
 */
int lt_wait_saved(double *micros, const struct lt_run *run,
    const struct lt_quote *quote, const struct lt_market *market,
    struct lt_ledger *ledger, struct lt_error *err);

/* False: moved, and the plan without lowtide has no price. The ledger then
 * has the run's own charge as base, so that nothing counts as saved. */
bool lt_baseline_known(const struct lt_run *run);

#endif
