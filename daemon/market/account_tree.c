/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups by name in Slurm's tree of accounts, and in the moves that the
 * ledger keeps.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "account_tree.h"

static int
compare(const void *a, const void *b)
{
	const struct lt_batch_account *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

static int
by_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_batch_account *)account)->name);
}

void
lt_accounts_sort(struct lt_batch_account *accounts, uint32_t count)
{
	if (count > 1)
		qsort(accounts, count, sizeof(*accounts), compare);
}

struct lt_batch_account *
lt_account_find(const struct lt_account_tree *tree, const char *name)
{
	return tree->count == 0 ? NULL
				: bsearch(name, tree->accounts, tree->count,
				      sizeof(*tree->accounts), by_name);
}

const char *
lt_account_parent(
    const struct lt_account_tree *tree, const char *name, int64_t at_utc_s)
{
	const char *const then =
	    lt_account_parent_then(&tree->moves, name, at_utc_s);
	const struct lt_batch_account *const now =
	    then == NULL ? lt_account_find(tree, name) : NULL;

	return then != NULL ? then : now != NULL ? now->parent : "";
}

bool
lt_account_is_below(const struct lt_account_tree *tree, const char *name,
    const char *team, int64_t at_utc_s)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX && name[0]; depth++) {
		if (strcasecmp(name, team) == 0)
			return true;
		name = lt_account_parent(tree, name, at_utc_s);
	}
	return false;
}
