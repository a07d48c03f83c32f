/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mails to users who asked Slurm for one at the end (--mail-type=END): what the
 * job, or all of an array, cost and saved, once that is settled.
 */
#ifndef LT_LIFE_END_MAILS_H
#define LT_LIFE_END_MAILS_H

#include <stdint.h>

#include "error.h"
#include "ledger.h"
#include "message.h"

struct lt_daemon;

/* Notes who asks, while slurmctld has the job; and leaves a message of each
 * that is over and settled in the spool, then notes that. By the same id, who
 * is killed in between. */
int lt_end_mails_run(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* Subject and text: of runs of one job or array, one at least. */
void lt_end_mail_text(struct lt_message *message, uint32_t job_id,
    const struct lt_run *runs, uint32_t count, const char *currency);

#endif
