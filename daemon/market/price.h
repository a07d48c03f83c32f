/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The price of a run at the ledger's rates, and the place where it ran: a partition's nodes and
 * power, as the policy and Slurm have them now, or as they last were while the policy had the
 * partition.
 */
#ifndef LT_PRICE_H
#define LT_PRICE_H

#include "batch.h"
#include "charge.h"
#include "ledger.h"
#include "policy.h"
#include "quote.h"

struct lt_market;

/* Reads a partition's facts from the market, else from the ledger, else they are not known. */
void lt_place_of(struct lt_place *place, const struct lt_market *market, struct lt_ledger *ledger,
    const char *partition);

/* True if a run there is charged. After the policy has dropped the partition:
 * if it had begun, or was promised, by then. */
bool lt_place_charges(
    const struct lt_place *place, const struct lt_run *run, struct lt_ledger *ledger);

/* Keeps in the ledger what the market says about each partition of the policy, and since when one
 * has left it. Writes only what changed. */
int lt_places_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s, struct lt_error *err);

/* Packs the facts as text, and unpacks them; false: not as written. */
void lt_place_pack(char *out, size_t size, const struct lt_place *place);
bool lt_place_unpack(struct lt_place *place, const char *text);

/* Prices a run: finds share, watts and rates of its partition, then calls lt_charge_run(). Sets the
 * run's share, priced, has_carbon and quality. */
struct lt_priced_by {
	const struct lt_market *market;
	struct lt_ledger *ledger;
	const struct lt_offsets *offsets; /* as in lt_charge_input */
};
int lt_price_run(struct lt_charge *charge, struct lt_run *run, const struct lt_priced_by *by,
    struct lt_error *err);

struct lt_elsewhere { /* other times or another partition */
	const char *partition;
	struct lt_span span;
	/* A task's nodes x share and power there over here; 0: by the resources that it has. */
	uint32_t size_ppm, power_ppm;
};
/* Prices the same there, never suspended; sets nothing in run. */
int lt_price_undisturbed(struct lt_charge *charge, const struct lt_run *run,
    const struct lt_elsewhere *there, const struct lt_market *market, struct lt_ledger *ledger,
    struct lt_error *err);

/* Returns the share of its nodes that a run kept while it was suspended: of memory and GPUs. */
struct lt_fraction lt_suspended_share(
    const struct lt_run *run, const struct lt_market *market, struct lt_ledger *ledger);

/*
 * Returns what a running job has cost, as if it ended now: by the rates that held since its start,
 * (27) and (29) of docs/model.md, without the fractions of a micro that settling carries. has_x
 * false: no price or intensity is known, or it does not run.
 */
struct lt_amount lt_so_far(const struct lt_batch_job *job, const struct lt_market *market,
    struct lt_ledger *ledger, int64_t now_utc_s);

#endif
