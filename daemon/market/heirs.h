/*
 * Accounts that Slurm no longer has and that were charged: they stay in the
 * tree, so that what they spent stays with their parents.
 */
#ifndef LT_HEIRS_H
#define LT_HEIRS_H

#include "ledger.h"
#include "batch.h"

/*
 * Remember Slurm's accounts in the ledger, and append to them (malloc'd, grown)
 * the charged ones that are gone, each below the nearest account above it that
 * is left. On failure *accounts is as it was.
 */
int lt_heirs_add(struct lt_batch_account **accounts, uint32_t *count,
    struct lt_ledger *ledger, struct lt_error *err);

#endif
