/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job's record shows of its pause. Pure.
 */
#ifndef LT_LIFE_PAUSE_SEEN_H
#define LT_LIFE_PAUSE_SEEN_H

#include "batch.h"
#include "ledger_jobs.h"

/* Is the record of a time when the row's step had shown? */
bool lt_pausing_is_newer(
    const struct lt_batch_job *job, const struct lt_paused *row);

/*
 * The step that the record shows its run to be at; the row's own: nothing new,
 * or not seen yet. Whoever lets it go on, or suspends it again, has it: LEFT.
 */
enum lt_pause_step lt_pausing_seen(
    const struct lt_batch_job *job, const struct lt_paused *row);

/* It goes on, and nothing that was asked can come any more. */
bool lt_pausing_is_over(
    const struct lt_batch_job *job, const struct lt_paused *row);

#endif
