/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's accounts by name, and what is above an account now or was at another time. Accounts that
 * Slurm no longer has and that were charged stay in the tree, so that their costs stay with their
 * parents.
 *
 * An account that was moved in Slurm so that other budgets would bind it stays where it was until
 * an admin accepts it: a coordinator can move an account, but must not move it out of its team's
 * budget.
 */
#ifndef LT_ACCOUNT_TREE_H
#define LT_ACCOUNT_TREE_H

#include "accounts.h"
#include "batch.h"
#include "policy.h"

struct lt_account_tree {		   /* lent */
	struct lt_batch_account *accounts; /* as lt_accounts_sort() leaves them */
	uint32_t count;
	struct lt_account_moves moves; /* none: only what is above it now */
};

enum { LT_TREE_DEPTH_MAX = 64 }; /* a loop ends here */

void lt_accounts_sort(struct lt_batch_account *accounts, uint32_t count);
/* NULL: it is not among them. */
struct lt_batch_account *lt_account_find(const struct lt_account_tree *tree, const char *name);
/* "": nothing is above it. */
const char *lt_account_parent(
    const struct lt_account_tree *tree, const char *name, int64_t at_utc_s);
/* True if the account is that team, or was below it at that time. */
bool lt_account_is_below(
    const struct lt_account_tree *tree, const char *name, const char *team, int64_t at_utc_s);

struct lt_accounts_seen { /* lt_ledger_accounts() */
	struct lt_account_seen *list;
	uint32_t count;
};

/* NULL: never seen. */
const struct lt_account_seen *lt_seen_find(const struct lt_accounts_seen *seen, const char *name);

/*
 * Remembers Slurm's accounts in the ledger, and appends to them those that are gone and were
 * charged, or had one below them that was moved, each below the nearest account above it that is
 * left. All are sorted by name then. On failure there are the same ones as before.
 */
int lt_heirs_add(struct lt_batch_associations *all, struct lt_ledger *ledger,
    const struct lt_accounts_seen *seen, int64_t now_utc_s, struct lt_error *err);

struct lt_moved_account { /* not accepted */
	char name[LT_ACCOUNT_SIZE], from[LT_ACCOUNT_SIZE], to[LT_ACCOUNT_SIZE];
};
struct lt_moved_accounts { /* by name */
	uint32_t count;
	struct lt_moved_account *list; /* malloc'd */
};

/*
 * Puts the parent that was seen, or the nearest account above it that is left, in place of Slurm's
 * for each such account, and lists them in *moved (what was in it is freed). An account that was
 * never seen is where Slurm has it. LT_ENOMEM: nothing was changed. The accounts are by name then.
 */
int lt_moved_keep(struct lt_moved_accounts *moved, struct lt_batch_account *accounts,
    uint32_t count, const struct lt_accounts_seen *seen, const struct lt_policy *policy);

/* Accepts a move: from the next reading of Slurm's tables on the account is where Slurm has it;
 * what was booked until now stays where it was. */
int lt_moved_accept(struct lt_ledger *ledger, const struct lt_moved_account *moved,
    int64_t now_utc_s, struct lt_error *err);

#endif
