/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run that has cost several times what its quote expected of it: told once,
 * while there is something to be done about it.
 */
#ifndef LT_RUN_COSTS_H
#define LT_RUN_COSTS_H

#include "batch.h"
#include "quote.h"

struct lt_daemon;

/* Of one task; has_x false: not known, or nothing. Pure. */
struct lt_amount lt_run_cost_expected(const struct lt_quote *quote);

/* Is it above so many times of what was expected: in money, and where nothing
 * is expected in money in carbon? Pure. */
bool lt_run_cost_is_above(const struct lt_amount *cost,
    const struct lt_amount *expected, double times);

/* Looks at all that run, where the policy has run_above: of one that is above
 * it, a row of the ledger that is due; alert_send.c tells it. */
int lt_run_costs(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
