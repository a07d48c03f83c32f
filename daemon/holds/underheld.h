/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that started on more than was held for it.
 */
#ifndef LT_UNDERHELD_H
#define LT_UNDERHELD_H

#include "ledger.h"
#include "batch.h"

struct lt_books;

/* At its start the hold was raised from `was` to what the job was allocated:
 * log it, with the cause that the facts prove. */
void lt_underheld_log(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold,
    const struct lt_amount *was);

/*
 * `on_underheld: requeue`: a batch job that may be requeued and runs on more
 * than was admitted goes back to the queue, held, in the first minute of its
 * run and once, in mode enforce. *hold and the ledger get the flag by which
 * explain tells why. What slurmctld refuses is tried again by the next pass.
 */
int lt_underheld_follow(const struct lt_books *books,
    const struct lt_batch_job *job, struct lt_ledger_hold *hold,
    int64_t now_utc_s, struct lt_error *err);

#endif
