/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost that a run would have had without lowtide.
 */
#ifndef LT_BASELINE_H
#define LT_BASELINE_H

#include "ledger.h"

struct lt_market;

/*
 * Fills run->has_baseline, base_*, moved and baseline_text: this run's part of one undisturbed run
 * in the quote's home partition, at the prices that really held. Work that the job lost by
 * interruptions is not included. A job that was not moved has no base of its own: its base is its
 * cost.
 */
void lt_baseline_of_run(struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger);

/* Prices the run's work at home from the start that was planned there at the submission: the same
 * for a run that was moved and one that was not, however long it waited. Interruptions are not
 * included. False: not known. */
bool lt_work_at_home(struct lt_amount *cost, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger);

/*
 * Computes how much less a deferred run cost than the same run from its earliest possible start, at
 * the rates that really held; no more than its planned start saved so, never below 0. It is 0 for a
 * run after another of its job, for a job that its user submitted held, and where a price is not
 * known. run: as it is charged, before a discount. docs/model.md, eq. (30b).
 */
int lt_wait_saved(double *micros, const struct lt_run *run, const struct lt_quote *quote,
    const struct lt_market *market, struct lt_ledger *ledger, struct lt_error *err);

/* False: moved, and the plan without lowtide has no price. The ledger then
 * has the run's own charge as base, so that nothing counts as saved. */
bool lt_baseline_known(const struct lt_run *run);

#endif
