/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds of waiting jobs at the prices of the hours that they may start in.
 */
#ifndef LT_REPRICE_H
#define LT_REPRICE_H

#include <stdint.h>

struct lt_budget_state;
struct lt_jobs_state;
struct lt_ledger;
struct lt_site;
struct lt_error;

/* A hold is made for the hours from its submission on; this is how long before a dearer hour it
 * covers that one: a market compiled each minute, a long pass, and slurmctld's own 30 s. */
enum { LT_REPRICE_AHEAD_S = 120 };

/*
 * Raises, once for each market, the open hold of each waiting job to what it may cost if it starts
 * by then, and lowers it when a dear hour is over. A hold that grew past what is left counts, with
 * LT_QUOTE_RAISED, until lt_release() has held its job back.
 */
int lt_reprice(const struct lt_site *site, struct lt_ledger *ledger, struct lt_jobs_state *jobs,
    struct lt_budget_state *budget, int64_t now_utc_s, struct lt_error *err);

#endif
