/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums what the site pays for nodes of its own over a time, used or not: the nodes that it had
 * times the price that charges are made of. Pure.
 */
#ifndef LT_OWNED_H
#define LT_OWNED_H

#include "error.h"
#include "rate.h"

/* Steps of nodes (LT_RATE_NODES of a partition, as lt_ledger_rates() has them) count while the
 * partition is the site's: not the guess before the first, and not what has ended. */

/* Returns the seconds of the span in which it is the site's. */
int64_t lt_owned_s(const struct lt_rates *nodes, struct lt_span span);

/* Reduces the steps, in place, to the times in which it is the site's, each as one step however
 * often its nodes changed: for lt_owned_s() of many runs. Returns how many. */
uint32_t lt_owned_times(struct lt_rate_step *steps, uint32_t count);

struct lt_owned_paid {
	int64_t from_utc_s, to_utc_s; /* first and last of the span's that is
				       * the site's; equal: none */
	int64_t node_s;
	bool has_micros; /* a price was known by the end of the span */
	int64_t micros;
};
/* price: LT_RATE_PRICE over the same span. The integral is exact as charges are, rounded once, half
 * away from zero. LT_EOVERFLOW. docs/model.md, eq. (55). */
int lt_owned_paid(struct lt_owned_paid *paid, const struct lt_rates *nodes,
    const struct lt_rates *price, struct lt_span span, struct lt_error *err);

#endif
