/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The market snapshot: made of the policy, Slurm's tables and the signals.
 */
#ifndef LT_COMPILE_MARKET_H
#define LT_COMPILE_MARKET_H

#include <stdint.h>

#include "market.h"
#include "policy.h"

struct lt_batch_jobs;
struct lt_error;
struct lt_ledger;
struct lt_planned;
struct lt_signals_state;
struct lt_site;

/* Makes site->market; windows has one of each job of the list, and gets what it takes. On failure
 * the market is as before. */
int lt_compile_market(struct lt_site *site, struct lt_signals_state *signals,
    struct lt_ledger *ledger, const struct lt_batch_jobs *list, struct lt_planned *windows,
    int64_t now_utc_s, struct lt_error *err);

#endif
