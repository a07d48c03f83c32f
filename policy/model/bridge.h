/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holes in what a source gave, for the steps that the market uses. Pure.
 */
#ifndef LT_BRIDGE_H
#define LT_BRIDGE_H

#include "rate.h"

enum { LT_BRIDGE_S = 2 * 3600 }; /* longer holes are not guessed at */

/*
 * Append the steps of known[0 .. count) to out (at most room): a hole of at
 * most LT_BRIDGE_S between two of them becomes a step of their mean,
 * ESTIMATED; in a longer one the step before goes on, as LAST_VALUE. known is
 * in order, without overlaps. Returns how many were written.
 */
uint32_t lt_bridge(struct lt_rate_step *out, uint32_t room,
    const struct lt_rate_step *known, uint32_t count);

#endif
