/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes how long work waits for a partition's nodes, from when they were there. docs/model.md,
 * eq. (15c). Pure.
 */
#ifndef LT_WAITS_H
#define LT_WAITS_H

#include "availability.h"
#include "error.h"

struct lt_spell {		      /* as many nodes were there all that time */
	int64_t from_utc_s, to_utc_s; /* from < to */
	uint32_t there, nodes;	      /* of the partition; nodes >= 1 */
};

enum {
	LT_SPELLS_MAX = 65536
}; /* 90 days, one a pass of two minutes; more:
    * the newest count */

/*
 * Reads spells in order of time. Between one's end and a later one's begin nothing is known, nor of
 * what waits then. LT_ENOMEM.
 */
int lt_waits_learn(struct lt_availability *availability, const struct lt_spell *spells,
    uint32_t count, struct lt_error *err);

#endif
