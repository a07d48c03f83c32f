/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that stands still in the queue: asked for a checkpoint, requeued, and once its next run is
 * admitted given its begin time. From then on it waits for its hour like any other job.
 */
#ifndef LT_LIFE_PAUSE_REQUEUE_H
#define LT_LIFE_PAUSE_REQUEUE_H

#include "ledger_jobs.h"
#include "pause_plan.h"

struct lt_books;
struct lt_pauser;
struct lt_proof_state;

/* It is asked for a checkpoint. LT_EDENIED: its budget has no room for another run beside this one,
 * and nothing is done. */
int lt_pausing_ask(const struct lt_books *books, struct lt_proof_state *proof, struct lt_pausing *s,
    struct lt_error *err);
/* Does the steps after that; job: NULL = the list has none. False: its row is finished. */
bool lt_pausing_follow_requeue(const struct lt_pauser *by, const struct lt_batch_job *job,
    struct lt_paused *row, int64_t now_utc_s, struct lt_error *err);

#endif
