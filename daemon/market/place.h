/*
 * Where a run was: a partition's nodes and power, as the policy and Slurm have
 * them now, or as they last were when the policy had the partition.
 */
#ifndef LT_PLACE_H
#define LT_PLACE_H

#include "ledger.h"
#include "policy.h"
#include "charge.h"

/* Of the market, else of the ledger; else not known. */
void lt_place_of(struct lt_place *place, const struct lt_market *market,
    struct lt_ledger *ledger, const char *partition);

/* Is a run there charged? Where the policy has the partition no more: what had
 * begun, or was promised, by then. */
bool lt_place_charges(const struct lt_place *place, const struct lt_run *run,
    struct lt_ledger *ledger);

/* Keep in the ledger what the market says of each partition of the policy, and
 * since when one has left it. Writes only what changed. */
int lt_places_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s, struct lt_error *err);

/* The facts as text, and back; false: not as written. */
void lt_place_pack(char *out, size_t size, const struct lt_place *place);
bool lt_place_unpack(struct lt_place *place, const char *text);

#endif
