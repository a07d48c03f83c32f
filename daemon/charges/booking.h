/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run's charge as it is booked: whole micros, by the hour, less the discount for having waited.
 */
#ifndef LT_BOOKING_H
#define LT_BOOKING_H

#include "charge.h"
#include "ledger.h"

struct lt_site;

/* The run's figures, rounded with its partition's carry, and an entry for each hour of the charge,
 * which add up to them; malloc'd, one at least. */
int lt_booking_make(struct lt_entry **entries, struct lt_run *run, const struct lt_charge *charge,
    struct lt_ledger *ledger, struct lt_error *err);

/*
 * Takes the discount off the run and its entries, by the rates at its end: a share of what its wait
 * saved (lt_wait_saved()), spread as its cost is; never more than that, and never more than what is
 * left of its account's most for a month. What the ledger has of the run itself does not count; a
 * run that began in a closed period keeps what it has. docs/model.md, eq. (30c).
 */
struct lt_discount_of {
	struct lt_run *run;
	const struct lt_quote *quote;
	const struct lt_run *known; /* as the ledger has it; NULL = not */
	struct lt_entry *entries;
	uint32_t count;
	int64_t hour_utc_s, open_since_utc_s; /* as of struct lt_settlement */
};
int lt_discount_take(const struct lt_discount_of *of, const struct lt_site *site,
    struct lt_ledger *ledger, struct lt_error *err);

#endif
