/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bookings that only together could be better: some are taken out and put back in another order.
 * Pure, but for its own memory; docs/model.md, eq. (24b).
 */
#ifndef LT_REARRANGE_H
#define LT_REARRANGE_H

#include "decide.h"

enum { LT_REARRANGE_GROUP = 8 }; /* at most so many at once */

struct lt_booking {
	/* As for lt_replan(); lent. */
	const struct lt_request *request;
	int partition; /* in and out: where it stands, */
	int64_t start_utc_s;
	struct lt_planned window; /* and what it takes there */
	bool changed;		  /* out: its plan is another one */
};

struct lt_rearrange {
	const struct lt_market *market;
	/* Windows of others, and behind them room for one a booking. Both together at most
	 * LT_PLANNED_MAX. */
	struct lt_planned *planned;
	uint32_t planned_count;
	struct lt_booking *bookings;
	uint32_t booking_count;
	uint32_t rounds; /* groups that are tried */
	uint64_t seed;	 /* the same one, the same outcome */
	int64_t now_utc_s;
};

/*
 * Each round draws a booking. Stands it where it would without the others, the round is over; else
 * up to seven others of the same objective that may run at the same time are drawn, all are taken
 * out, and lt_decide() decides for them anew in a random order. It stays so where fewer are without
 * room, or as many and the sum of their scores is less by more than a tenth of what is saved and
 * than what a figure shows of each that is put elsewhere; else all is as before. LT_OK or an error
 * of lt_decide(); then all bookings stand somewhere.
 */
int lt_rearrange(const struct lt_rearrange *of, struct lt_error *err);

#endif
