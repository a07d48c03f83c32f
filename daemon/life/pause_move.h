/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The suspension and the resumption of a job: each step is in the ledger before it is done.
 */
#ifndef LT_LIFE_PAUSE_STEP_H
#define LT_LIFE_PAUSE_STEP_H

#include "ledger_jobs.h"
#include "pause_plan.h"

/* Its hold grows first, by what the pause may cost; LT_EDENIED: its budget does not allow that, and
 * nothing is done. */
int lt_pausing_suspend(const struct lt_books *books, struct lt_pausing *s, struct lt_error *err);
/* Moves the end of the pause: later only as far as its budget allows. */
int lt_pausing_move(const struct lt_books *books, struct lt_pausing *s, struct lt_paused *row,
    struct lt_error *err);
/* Resumes it. step: RESUMING, or RESUMING_FOR_GOOD. why: a word for the log. */
int lt_pausing_go_on(struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    const struct lt_pass_time *pass, const struct lt_batch_job *job, struct lt_paused *row,
    enum lt_pause_step step, const char *why);
/* Does the hold fit so, beside all that was admitted by now? LT_EDENIED. */
int lt_pausing_fit(const struct lt_books *books, const struct lt_standing *at,
    const struct lt_ledger_hold *grown, struct lt_error *err);
struct lt_amount lt_pausing_saves(const struct lt_pause_course *course);
/* Adds it to the rows in memory, by its id. */
int lt_pausing_add(struct lt_jobs_state *jobs, const struct lt_paused *row);
/* Writes only the row. */
int lt_pausing_put(struct lt_ledger *ledger, struct lt_paused *row, enum lt_pause_step step,
    int64_t now_utc_s, struct lt_error *err);

#endif
