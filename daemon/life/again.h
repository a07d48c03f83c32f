/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide put on preemptible nodes, decided again when they lost
 * those, and before they have waited too long for some.
 */
#ifndef LT_LIFE_AGAIN_H
#define LT_LIFE_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

struct lt_batch_job;
struct lt_daemon;

struct lt_again_state {	      /* start as { 0 } */
	int64_t looked_utc_s; /* who was due until then was decided */
};

/* Where it goes on: *moved if it is told to start somewhere else, or later. It
 * never goes where its team's budget has no room for it. job: of the list. */
int lt_again(struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s, bool *moved, struct lt_error *err);
/* Slurm lets what was requeued wait for two minutes, and so is held for it: it
 * is told to start now, where that fits too. */
int lt_again_now(struct lt_daemon *d, const struct lt_batch_job *job,
    int64_t now_utc_s, struct lt_error *err);
/* Who is due. */
int lt_again_run(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
