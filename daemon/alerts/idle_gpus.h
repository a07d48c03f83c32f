/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run whose GPUs did nothing, where Slurm's accounting says so: its user is
 * told once, with what to leave out next time.
 */
#ifndef LT_IDLE_GPUS_H
#define LT_IDLE_GPUS_H

#include "ledger.h"

struct lt_daemon;

/* Of all its GPUs, at most: gauges that tell whole percents call it none. */
enum { LT_IDLE_GPUS_PPM = 10000 };

/* Did it have GPUs for least_s or longer, that did nothing? False where nobody
 * says. Pure. */
bool lt_idle_gpus_are(const struct lt_run *run, int64_t least_s);

/* Where the policy has idle_gpus: a row of the ledger that is due, of a run
 * that ended not long ago; alert_send.c tells it. Within a transaction. */
int lt_idle_gpus_look(struct lt_daemon *d, const struct lt_run *run,
    int64_t now_utc_s, struct lt_error *err);

#endif
