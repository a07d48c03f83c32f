/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market snapshot: made of the policy, Slurm's tables and the signals.
 */
#ifndef LT_COMPILE_MARKET_H
#define LT_COMPILE_MARKET_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

/* d->site.market and the file. */
int lt_compile_market(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
