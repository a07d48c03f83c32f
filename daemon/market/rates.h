/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rates that held, for charges.
 */
#ifndef LT_RATES_H
#define LT_RATES_H

#include <stdint.h>

#include "owned_nodes.h"

struct lt_daemon;
struct lt_error;

struct lt_rates_state {		      /* start as { 0 } */
	struct lt_recorded *recorded; /* what was stored last */
	struct lt_owned_seen owned_seen;
	/* Guesses from then on were put right since runs were priced by them;
	 * 0 = none. */
	int64_t righted_utc_s;
};

/* Record what holds now in each managed partition. */
int lt_rates_record(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

#endif
