/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A rate or a signal as it was and will be: steps in order, maybe with holes; what was forecast of
 * it, and how far that was off.
 */
#ifndef LT_RATE_H
#define LT_RATE_H

#include "series.h"

/* In signals.db by their numbers: new ones go to the end. */
enum lt_rate {
	LT_RATE_PRICE,
	LT_RATE_CARBON,
	LT_RATE_TARIFF,
	LT_RATE_PUE,
	LT_RATE_EMBODIED,      /* g CO2e a node-hour; 0 = none is said */
	LT_RATE_MARKET_BASED,  /* g/kWh of the contract that the step's source
				* names; LT_RATE_ENDED = none any more */
	LT_RATE_NODES,	       /* that the site pays for; LT_RATE_ENDED = the partition
				* is not its own any more */
	LT_RATE_THERE,	       /* nodes of a preemptible partition that take jobs;
				* LT_RATE_ENDED = it is not preemptible any more */
	LT_RATE_CHARGE,	       /* micros a tonne of CO2e is charged with */
	LT_RATE_DISCOUNT,      /* ppm of what waiting saves */
	LT_RATE_DISCOUNT_MOST, /* micros, of an account and month */
	LT_RATE_COUNT
};
#define LT_RATE_ENDED (-1.0)

struct lt_rate_step {
	int64_t start_utc_s, end_utc_s; /* INT64_MAX = until changed */
	double value;			/* micros/node-h, g/kWh, micros/kWh */
	enum lt_quality quality;
	char source[LT_NAME_SIZE];
	int64_t issued_utc_s; /* of a rate: since when the ledger has that it
			       * holds then; 0 = not known */
};

struct lt_span { /* half-open */
	int64_t from_utc_s, to_utc_s;
};

struct lt_rates { /* of one kind over the run; count 0 = never known */
	uint32_t count;
	const struct lt_rate_step *steps; /* rising, as lt_ledger_rates() */
};

/* Hours are since 1970. */
struct lt_issued {
	int64_t issued_hour, target_hour;
	int kind; /* enum lt_forecast_kind */
	double value;
};

struct lt_due { /* what was issued and is over */
	struct lt_issued *issued;
	uint32_t count;
};

struct lt_error_sum {
	int kind, bucket;
	uint32_t count;
	double sum, sum_abs; /* of forecast minus measured */
};

/* ---- rate.c: holes in what a source gave, for the market's steps. Pure. ---- */

enum { LT_BRIDGE_S = 2 * 3600 }; /* longer holes are not guessed at */

/*
 * Appends the steps of known[0 .. count) to out (at most room): a hole of at most LT_BRIDGE_S
 * between two of them becomes a step of their mean, ESTIMATED; in a longer one the step before
 * continues, as LAST_VALUE. known is in order, without overlaps. Returns how many were written.
 */
uint32_t lt_bridge(
    struct lt_rate_step *out, uint32_t room, const struct lt_rate_step *known, uint32_t count);

#endif
