/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's accounts by name, and what is above an account now or was then.
 */
#ifndef LT_ACCOUNT_TREE_H
#define LT_ACCOUNT_TREE_H

#include "batch.h"
#include "accounts.h"

struct lt_account_tree { /* lent */
	struct lt_batch_account
	    *accounts; /* as lt_accounts_sort() leaves them */
	uint32_t count;
	struct lt_account_moves moves; /* none: only what is above it now */
};

enum { LT_TREE_DEPTH_MAX = 64 }; /* a loop ends here */

void lt_accounts_sort(struct lt_batch_account *accounts, uint32_t count);
/* NULL: it is not among them. */
struct lt_batch_account *lt_account_find(
    const struct lt_account_tree *tree, const char *name);
/* "": nothing is above it. */
const char *lt_account_parent(
    const struct lt_account_tree *tree, const char *name, int64_t at_utc_s);
/* Is the account that team, or was it below it then? */
bool lt_account_is_below(const struct lt_account_tree *tree, const char *name,
    const char *team, int64_t at_utc_s);

#endif
