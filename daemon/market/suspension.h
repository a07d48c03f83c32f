/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The growth of a job's hold while it is suspended, and the time that the suspension leaves it.
 */
#ifndef LT_SUSPENSION_H
#define LT_SUSPENSION_H

#include "ledger.h"
#include "batch.h"

/* Returns the seconds for which its run was at work until now. The suspended time comes from its
 * record, which may be older or, by a part of a second, newer than now. */
int64_t lt_suspension_worked_s(const struct lt_batch_job *job, int64_t now_utc_s);

/* Seconds of suspension that are held for: until now, and on to the end of
 * the minute that began, or as long as lowtide lets it stand still. 0 = it
 * never was suspended. */
int64_t lt_suspension_held_s(const struct lt_batch_job *job);

/* Adds to the amount, which is held for length_s of a run, what the job keeps while it is
 * suspended: docs/model.md, (42). False, and nothing written:
 * beyond 64 bits. */
bool lt_suspension_add(struct lt_amount *amount, int64_t length_s, const struct lt_batch_job *job,
    const struct lt_market *market, struct lt_ledger *ledger);

#endif
