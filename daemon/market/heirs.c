/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of accounts as it was: between slurmdbd's associations, which
 * forget a deleted account at once, and budgets and reports, which must not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_tree.h"
#include "heirs.h"

static int
by_name(const void *name, const void *seen)
{
	return strcmp(name, ((const struct lt_account_seen *)seen)->name);
}

const struct lt_account_seen *
lt_seen_find(const struct lt_accounts_seen *seen, const char *name)
{
	return seen->count == 0 ? NULL
				: bsearch(name, seen->list, seen->count,
				      sizeof(*seen->list), by_name);
}

/* Keeps what is new or moved: 1; 0: there was none. */
static int
remember(struct lt_ledger *ledger, const struct lt_account_tree *tree,
    const struct lt_accounts_seen *seen, int64_t now_utc_s,
    struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);
	bool any = false;

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < tree->count; i++) {
		const struct lt_batch_account *const now = &tree->accounts[i];
		const struct lt_account_seen *const was =
		    lt_seen_find(seen, now->name);

		if (was != NULL && strcmp(was->parent, now->parent) == 0)
			continue;
		any = true;
		code = lt_ledger_put_account(
		    ledger, now->name, now->parent, now_utc_s, err);
	}
	if (code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(ledger);
	return code == LT_OK ? any : code;
}

const char *
lt_heir_of(const struct lt_account_seen *gone,
    const struct lt_accounts_seen *seen, const struct lt_account_tree *tree)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX && gone != NULL;
	     depth++) {
		if (lt_account_find(tree, gone->parent) != NULL)
			return gone->parent;
		gone = lt_seen_find(seen, gone->parent);
	}
	return "";
}

/* Adds the accounts that Slurm has no more, behind the others. */
static int
add_gone(struct lt_batch_associations *all, const struct lt_accounts_seen *seen,
    struct lt_error *err)
{
	struct lt_batch_account *const grown = reallocarray(all->accounts,
	    (size_t)all->account_count + seen->count + 1, sizeof(*grown));
	const struct lt_account_tree tree = {
	    .accounts = grown, .count = all->account_count};

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "accounts: out of memory");
	all->accounts = grown;
	for (uint32_t i = 0; i < seen->count; i++) {
		const struct lt_account_seen *const gone = &seen->list[i];

		if ((!gone->charged && !gone->was_parent) ||
		    lt_account_find(&tree, gone->name) != NULL)
			continue;
		struct lt_batch_account *const to =
		    &grown[all->account_count++];
		memcpy(to->name, gone->name, sizeof(to->name));
		snprintf(to->parent, sizeof(to->parent), "%s",
		    lt_heir_of(gone, seen, &tree));
	}
	lt_accounts_sort(grown, all->account_count);
	return LT_OK;
}

int
lt_heirs_add(struct lt_batch_associations *all, struct lt_ledger *ledger,
    const struct lt_accounts_seen *seen, int64_t now_utc_s,
    struct lt_error *err)
{
	struct lt_accounts_seen fresh = {0};

	lt_accounts_sort(all->accounts, all->account_count);
	const struct lt_account_tree tree = {
	    .accounts = all->accounts, .count = all->account_count};
	const int any = remember(ledger, &tree, seen, now_utc_s, err);
	int code = any < 0 ? any : LT_OK;

	/* A move has made its former parent one that is asked for. */
	if (any == 1)
		code =
		    lt_ledger_accounts(ledger, &fresh.list, &fresh.count, err);
	if (code == LT_OK)
		code = add_gone(all, any == 1 ? &fresh : seen, err);
	free(fresh.list);
	return code;
}
