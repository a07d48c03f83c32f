/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a suspension adds to the hold of a job that has nodes, and what it
 * leaves of its time.
 */
#ifndef LT_SUSPENSION_H
#define LT_SUSPENSION_H

#include "ledger.h"
#include "batch.h"

/* Seconds that its run was at work until now. What is suspended is by its
 * record, which may be older or, by a part of a second, newer than now. */
int64_t lt_suspension_worked_s(
    const struct lt_batch_job *job, int64_t now_utc_s);

/* Seconds of suspension that are held for: until now, and on to the end of
 * the minute that began, or as long as lowtide lets it stand still. 0 = it
 * never was suspended. */
int64_t lt_suspension_held_s(const struct lt_batch_job *job);

/*
 * Add to the amount, which is held for length_s of a run, what the job keeps
 * while it is suspended: docs/model.md, (42). False, and nothing written:
 * beyond 64 bits.
 */
bool lt_suspension_add(struct lt_amount *amount, int64_t length_s,
    const struct lt_batch_job *job, const struct lt_market *market,
    struct lt_ledger *ledger);

#endif
