/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A running job is interrupted to see whether it resumes: asked for by its
 * user, or once by its class. What follows is as when its node is taken back.
 */
#ifndef LT_LIFE_CANARY_H
#define LT_LIFE_CANARY_H

#include "batch.h"

struct lt_daemon;

/* Refused with LT_EDENIED, and why; else *requeue_in_s from now it is requeued
 * at the latest. */
int lt_canary_begin(struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s, int64_t *requeue_in_s, struct lt_error *err);
/* Jobs whose class has one, where it is time. */
int lt_canary_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
