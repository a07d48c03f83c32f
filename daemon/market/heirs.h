/*
 * Accounts that Slurm no longer has and that were charged: they stay in the
 * tree, so that what they spent stays with their parents. And which accounts
 * were moved, for what was booked before.
 */
#ifndef LT_HEIRS_H
#define LT_HEIRS_H

#include "accounts.h"
#include "batch.h"

struct lt_account_tree;

struct lt_accounts_seen { /* lt_ledger_accounts() */
	struct lt_account_seen *list;
	uint32_t count;
};

/* NULL: never seen. */
const struct lt_account_seen *lt_seen_find(
    const struct lt_accounts_seen *seen, const char *name);
/* The nearest account above it, as it was seen, that is still there; "":
 * none. */
const char *lt_heir_of(const struct lt_account_seen *gone,
    const struct lt_accounts_seen *seen, const struct lt_account_tree *tree);

/*
 * Remember Slurm's accounts in the ledger, and append to them those that are
 * gone and were charged, or had one below them that was moved, each below the
 * nearest account above it that is left. All are by name then. On failure there
 * are the same ones as before.
 */
int lt_heirs_add(struct lt_batch_associations *all, struct lt_ledger *ledger,
    const struct lt_accounts_seen *seen, int64_t now_utc_s,
    struct lt_error *err);

#endif
