/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run at the ledger's rates.
 */
#ifndef LT_PRICE_H
#define LT_PRICE_H

#include "charge.h"
#include "ledger.h"

struct lt_market;

/* Share, watts and rates of the run's partition, then lt_charge_run(). Sets
 * the run's share, priced, has_carbon and quality. */
struct lt_priced_by {
	const struct lt_market *market;
	struct lt_ledger *ledger;
	const struct lt_offsets *offsets; /* as in lt_charge_input */
};
int lt_price_run(struct lt_charge *charge, struct lt_run *run,
    const struct lt_priced_by *by, struct lt_error *err);

struct lt_elsewhere { /* other times or another partition */
	const char *partition;
	struct lt_span span;
	/* A task's nodes x share and power there over here; 0: by the
	 * resources that it has. */
	uint32_t size_ppm, power_ppm;
};
/* The same there, never suspended; nothing set in run. */
int lt_price_undisturbed(struct lt_charge *charge, const struct lt_run *run,
    const struct lt_elsewhere *there, const struct lt_market *market,
    struct lt_ledger *ledger, struct lt_error *err);

/* The share of its nodes that a run kept while it was suspended: of memory and
 * GPUs. */
struct lt_fraction lt_suspended_share(const struct lt_run *run,
    const struct lt_market *market, struct lt_ledger *ledger);

#endif
