/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts that were moved below another one in Slurm: where that would change
 * which budgets bind them, they stay where they were until an admin accepts it.
 * A coordinator can move an account; out of its team's budget he must not.
 */
#ifndef LT_MOVED_ACCOUNTS_H
#define LT_MOVED_ACCOUNTS_H

#include "batch.h"
#include "heirs.h"
#include "policy.h"

struct lt_moved_account { /* not accepted */
	char name[LT_ACCOUNT_SIZE], from[LT_ACCOUNT_SIZE], to[LT_ACCOUNT_SIZE];
};
struct lt_moved_accounts { /* by name */
	uint32_t count;
	struct lt_moved_account *list; /* malloc'd */
};

/*
 * Puts the parent that was seen, or the nearest account above it that is left,
 * in place of Slurm's for each such account, and lists them in *moved (what was
 * in it is freed). An account that was never seen is where Slurm has it.
 * LT_ENOMEM: nothing was changed. The accounts are by name then.
 */
int lt_moved_keep(struct lt_moved_accounts *moved,
    struct lt_batch_account *accounts, uint32_t count,
    const struct lt_accounts_seen *seen, const struct lt_policy *policy);

/* From the next reading of Slurm's tables on it is where Slurm has it; what was
 * booked until now stays where it was. */
int lt_moved_accept(struct lt_ledger *ledger,
    const struct lt_moved_account *moved, int64_t now_utc_s,
    struct lt_error *err);

#endif
