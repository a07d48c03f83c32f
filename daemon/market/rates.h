/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of the rates that held, for charges.
 */
#ifndef LT_RATES_H
#define LT_RATES_H

#include <stdint.h>

#include "policy.h"
#include "tables.h"

struct lt_error;
struct lt_ledger;
struct lt_signals_state;
struct lt_site;

struct lt_owned_seen { /* of what was recorded last; { 0 } = nothing */
	int64_t policy_utc_s, tables_utc_s;
};

struct lt_rates_state {		      /* start as { 0 } */
	struct lt_recorded *recorded; /* what was stored last */
	struct lt_owned_seen owned_seen;
	/* Guesses from then on were put right since runs were priced by them; 0 = none. */
	int64_t righted_utc_s;
};

/* Records what holds now in each managed partition. list: Slurm's jobs, which show whether nodes
 * could be had. */
int lt_rates_record(struct lt_site *site, const struct lt_signals_state *signals,
    struct lt_ledger *ledger, const struct lt_batch_jobs *list, int64_t now_utc_s,
    struct lt_error *err);

#endif
