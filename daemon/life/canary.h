/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts a running job to see whether it resumes: asked for by its user, or once by its class.
 * The rest is as when its node is taken back.
 */
#ifndef LT_LIFE_CANARY_H
#define LT_LIFE_CANARY_H

#include "batch.h"

struct lt_books;
struct lt_ledger;
struct lt_notice_state;
struct lt_proof_state;
struct lt_site;

/* Refused with LT_EDENIED, and why; else *requeue_in_s from now it is requeued at the latest. */
int lt_canary_begin(const struct lt_books *books, struct lt_notice_state *notices,
    struct lt_proof_state *proof, const struct lt_batch_job *job, int64_t now_utc_s,
    int64_t *requeue_in_s, struct lt_error *err);
/* Jobs whose class has one, where it is time. */
int lt_canary_run(const struct lt_site *site, struct lt_ledger *ledger,
    const struct lt_batch_jobs *list, struct lt_notice_state *notices, struct lt_proof_state *proof,
    int64_t now_utc_s, struct lt_error *err);

#endif
