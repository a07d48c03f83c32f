/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's tree of accounts against the one that the ledger saw last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account_tree.h"
#include "log.h"
#include "moved_accounts.h"
#include "text.h"

enum { PASSES_MAX = 64 }; /* what is left over stays until the next reading */

struct tree {
	struct lt_account_tree is;
	bool *is_team; /* of the accounts: it has a budget */
};

static bool
is_below(const struct tree *tree, const char *name, const char *above)
{
	return lt_account_is_below(&tree->is, name, above, INT64_MAX);
}

static void
mark_teams(struct tree *tree, const struct lt_policy *policy)
{
	for (int i = 0; i < policy->budget_count; i++) {
		char team[LT_ACCOUNT_SIZE];

		lt_copy_lower(team, sizeof(team), policy->budgets[i].team);
		const struct lt_batch_account *const at =
		    lt_account_find(&tree->is, team);
		if (at != NULL)
			tree->is_team[at - tree->is.accounts] = true;
	}
}

/* Does a budget bind below the one that does not bind below the other? */
static bool
binds_more(const struct tree *tree, const char *name, const char *other)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX; depth++) {
		const struct lt_batch_account *const at =
		    lt_account_find(&tree->is, name);

		if (at == NULL)
			break;
		if (tree->is_team[at - tree->is.accounts] &&
		    !is_below(tree, other, name))
			return true;
		name = at->parent;
	}
	return false;
}

static int
compare_moves(const void *a, const void *b)
{
	const struct lt_moved_account *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

static bool
was_known(
    const struct lt_moved_accounts *known, const struct lt_moved_account *move)
{
	const struct lt_moved_account *const same =
	    known->count == 0 ? NULL
			      : bsearch(move, known->list, known->count,
				    sizeof(*move), compare_moves);

	return same != NULL && memcmp(same, move, sizeof(*move)) == 0;
}

/* Puts every account back where it was, and lists those. */
static void
put_back(struct lt_moved_accounts *fresh, const struct tree *tree,
    const struct lt_accounts_seen *seen)
{
	for (uint32_t i = 0; i < tree->is.count; i++) {
		struct lt_batch_account *const now = &tree->is.accounts[i];
		const struct lt_account_seen *const was =
		    lt_seen_find(seen, now->name);

		if (was == NULL || strcmp(was->parent, now->parent) == 0)
			continue;
		const char *const from = lt_heir_of(was, seen, &tree->is);
		struct lt_moved_account *const move =
		    &fresh->list[fresh->count];

		if (!from[0] || strcmp(from, now->parent) == 0)
			continue;
		snprintf(move->name, sizeof(move->name), "%s", now->name);
		snprintf(move->from, sizeof(move->from), "%s", from);
		snprintf(move->to, sizeof(move->to), "%s", now->parent);
		snprintf(now->parent, sizeof(now->parent), "%s", from);
		fresh->count++;
	}
}

/* Lets go each that the same budgets bind there, below none of its own: one by
 * one, as one move may make room for another. False: none. */
static bool
let_go(struct lt_moved_accounts *fresh, const struct tree *tree)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fresh->count; i++) {
		const struct lt_moved_account move = fresh->list[i];
		struct lt_batch_account *const at =
		    lt_account_find(&tree->is, move.name);

		if (is_below(tree, move.to, move.name) ||
		    binds_more(tree, move.from, move.to) ||
		    binds_more(tree, move.to, move.from))
			fresh->list[kept++] = move;
		else
			memcpy(at->parent, move.to, sizeof(at->parent));
	}
	const bool any = kept < fresh->count;
	fresh->count = kept;
	return any;
}

static void
tell_new(const struct lt_moved_accounts *fresh,
    const struct lt_moved_accounts *known)
{
	for (uint32_t i = 0; i < fresh->count; i++) {
		const struct lt_moved_account *const move = &fresh->list[i];

		if (!was_known(known, move))
			lt_log("account_moved",
			    "account=%s from=%s to=%s why=\"other budgets would bind it: lowtide budget moved %s --accept\"",
			    move->name, move->from, move->to, move->name);
	}
}

int
lt_moved_keep(struct lt_moved_accounts *moved,
    struct lt_batch_account *accounts, uint32_t count,
    const struct lt_accounts_seen *seen, const struct lt_policy *policy)
{
	struct tree tree = {.is = {.accounts = accounts, .count = count}};
	struct lt_moved_accounts fresh = {0};

	fresh.list = calloc((size_t)count + 1, sizeof(*fresh.list));
	tree.is_team = calloc((size_t)count + 1, sizeof(*tree.is_team));
	if (fresh.list == NULL || tree.is_team == NULL) {
		free(fresh.list);
		free(tree.is_team);
		return LT_ENOMEM;
	}
	lt_accounts_sort(accounts, count);
	mark_teams(&tree, policy);
	if (policy->budget_count > 0)
		put_back(&fresh, &tree, seen);
	for (int i = 0; i < PASSES_MAX && let_go(&fresh, &tree); i++)
		;
	tell_new(&fresh, moved);
	free(tree.is_team);
	free(moved->list);
	*moved = fresh;
	return LT_OK;
}

int
lt_moved_accept(struct lt_ledger *ledger, const struct lt_moved_account *moved,
    int64_t now_utc_s, struct lt_error *err)
{
	return lt_ledger_put_account(
	    ledger, moved->name, moved->to, now_utc_s, err);
}
