/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps on quotes that confirm.c, release.c and the API share.
 */
#ifndef LT_CONFIRM_H
#define LT_CONFIRM_H

#include "daemon.h"

/* Random, never 0. */
uint64_t lt_quote_new_id(void);
/*
 * Tell slurmctld, by one update: the quote's text in the job's admin_comment
 * (left as it is where it has no room), action, and a begin time, 0 = as it is.
 * LT_OK: told, or there was nothing to tell. What fails is logged.
 */
int lt_quote_publish(const struct lt_slurm_job *job,
    const struct lt_quote *quote, enum lt_slurm_hold action,
    int64_t begin_utc_s, struct lt_error *err);
/* A fresh quote at the job's limit; false: it can't be priced. */
bool lt_quote_of_job(struct lt_quote *quote, const struct lt_slurm_job *job,
    const struct lt_daemon *d, int64_t now_utc_s);
/* Would the hold fit beside all others that count? (release.c) */
bool lt_release_fits(
    struct lt_daemon *d, const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* Would it fit as `to` instead of what the sheet counts for it, all of it and
 * not the growth: in another period nothing may be held yet. (release.c) */
bool lt_release_moves(struct lt_daemon *d, const struct lt_ledger_hold *from,
    const struct lt_ledger_hold *to, int64_t now_utc_s);
/* The hold of a job by its array's id, else its own; never a stranger's, for
 * Slurm gives ids again (terms.c). */
bool lt_terms_hold_by_id(const struct lt_daemon *d, uint32_t array_job_id,
    uint32_t job_id, uint32_t uid, struct lt_ledger_hold *hold);
/* The hold of a job, by its quote's text or its id (terms.c). */
bool lt_terms_hold_of(struct lt_daemon *d, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold);

#endif
