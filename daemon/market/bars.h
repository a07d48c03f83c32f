/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that Slurm could not start where lowtide had moved them: no decision tries that again
 * until Slurm's tables are others. In memory alone: after a restart each is tried once more, and
 * found out as before.
 */
#ifndef LT_BARS_H
#define LT_BARS_H

#include "market.h"

struct lt_tables;

enum {
	/* Tables that flap, as those of a cloud do, take nothing back at once; and what they do not
	 * show, as a limit, may have changed in a day. */
	LT_BAR_LEAST_S = 600,
	LT_BAR_MOST_S = 86400,
};

struct lt_barred {
	uint64_t asked, tables; /* as they were */
	char partition[LT_NAME_SIZE];
	int64_t made_utc_s;
};

struct lt_bars_state {		 /* start as { 0 } */
	struct lt_barred *items; /* malloc'd */
	uint32_t count;
	size_t capacity;
};

/* Hashes all that Slurm's tables say about partitions, nodes and associations, but not which nodes
 * are up. */
uint64_t lt_tables_hash(const struct lt_tables *tables);

/* Bars the move from now on; above LT_BARS_MAX the oldest is forgotten. LT_ENOMEM. */
int lt_bars_put(struct lt_bars_state *state, const struct lt_barred *barred, struct lt_error *err);
/* Puts the bars that hold into bars[LT_BARS_MAX], as a market has them, and forgets the others.
 * Returns how many. */
uint32_t lt_bars_of_market(struct lt_bar *bars, struct lt_bars_state *state,
    const struct lt_market *market, uint64_t tables, int64_t now_utc_s);

#endif
