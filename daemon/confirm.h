/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps on quotes that confirm.c, release.c and the API share.
 */
#ifndef LT_CONFIRM_H
#define LT_CONFIRM_H

#include "daemon.h"

/* Random, never 0. */
uint64_t lt_quote_new_id(void);
/* Put the quote's text into the job's admin_comment, and hold or release
 * it, or neither. Failures are logged. */
void lt_quote_publish(struct lt_daemon *d, const struct lt_slurm_job *job,
    const struct lt_quote *quote, bool hold, bool release);
/* A fresh quote at the job's limit; false: it can't be priced. */
bool lt_quote_of_job(struct lt_quote *quote, const struct lt_slurm_job *job,
    const struct lt_daemon *d, int64_t now_utc_s);
/* Would the hold fit beside all others that count? (release.c) */
bool lt_release_fits(
    struct lt_daemon *d, const struct lt_ledger_hold *hold, int64_t now_utc_s);
/* The hold of a job, by its quote's text or its id (terms.c). */
bool lt_terms_hold_of(struct lt_daemon *d, const struct lt_slurm_job *job,
    struct lt_ledger_hold *hold);

#endif
