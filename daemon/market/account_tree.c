/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's accounts as a tree: look-ups by name; accounts that Slurm has deleted, which stay in the
 * tree while something is charged to them; and accounts that were moved below another one, which
 * stay where they were until an admin accepts the move.
 *
 * Reads slurmdbd's associations and the accounts that the ledger saw last; writes newly seen and
 * moved accounts into the ledger. On failure the caller's accounts are as before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "account_tree.h"
#include "log.h"
#include "text.h"

static int
compare_accounts(const void *a, const void *b)
{
	const struct lt_batch_account *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

static int
by_account_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_batch_account *)account)->name);
}

void
lt_accounts_sort(struct lt_batch_account *accounts, uint32_t count)
{
	if (count > 1)
		qsort(accounts, count, sizeof(*accounts), compare_accounts);
}

struct lt_batch_account *
lt_account_find(const struct lt_account_tree *tree, const char *name)
{
	return tree->count == 0 ? NULL
				: bsearch(name, tree->accounts, tree->count,
				      sizeof(*tree->accounts), by_account_name);
}

const char *
lt_account_parent(const struct lt_account_tree *tree, const char *name, int64_t at_utc_s)
{
	const char *const then = lt_account_parent_then(&tree->moves, name, at_utc_s);
	const struct lt_batch_account *const now =
	    then == NULL ? lt_account_find(tree, name) : NULL;

	return then != NULL ? then : now != NULL ? now->parent : "";
}

bool
lt_account_is_below(
    const struct lt_account_tree *tree, const char *name, const char *team, int64_t at_utc_s)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX && name[0]; depth++) {
		if (strcasecmp(name, team) == 0)
			return true;
		name = lt_account_parent(tree, name, at_utc_s);
	}
	return false;
}

static int
by_seen_name(const void *name, const void *seen)
{
	return strcmp(name, ((const struct lt_account_seen *)seen)->name);
}

const struct lt_account_seen *
lt_seen_find(const struct lt_accounts_seen *seen, const char *name)
{
	return seen->count == 0
		   ? NULL
		   : bsearch(name, seen->list, seen->count, sizeof(*seen->list), by_seen_name);
}

/* Keeps what is new or moved: 1; 0: there was none. */
static int
remember(struct lt_ledger *ledger, const struct lt_account_tree *tree,
    const struct lt_accounts_seen *seen, int64_t now_utc_s, struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);
	bool any = false;

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < tree->count; i++) {
		const struct lt_batch_account *const now = &tree->accounts[i];
		const struct lt_account_seen *const was = lt_seen_find(seen, now->name);

		if (was != NULL && strcmp(was->parent, now->parent) == 0)
			continue;
		any = true;
		code = lt_ledger_put_account(ledger, now->name, now->parent, now_utc_s, err);
	}
	if (code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(ledger);
	return code == LT_OK ? any : code;
}

/* Returns the nearest account above it, as it was seen, that is still there; "": none. */
static const char *
heir_of(const struct lt_account_seen *gone, const struct lt_accounts_seen *seen,
    const struct lt_account_tree *tree)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX && gone != NULL; depth++) {
		if (lt_account_find(tree, gone->parent) != NULL)
			return gone->parent;
		gone = lt_seen_find(seen, gone->parent);
	}
	return "";
}

/* Adds the accounts that Slurm has no more, behind the others. */
static int
add_gone(
    struct lt_batch_associations *all, const struct lt_accounts_seen *seen, struct lt_error *err)
{
	struct lt_batch_account *const grown = reallocarray(
	    all->accounts, (size_t)all->account_count + seen->count + 1, sizeof(*grown));
	const struct lt_account_tree tree = {.accounts = grown, .count = all->account_count};

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "accounts: out of memory");
	all->accounts = grown;
	for (uint32_t i = 0; i < seen->count; i++) {
		const struct lt_account_seen *const gone = &seen->list[i];

		if ((!gone->charged && !gone->was_parent) ||
		    lt_account_find(&tree, gone->name) != NULL)
			continue;
		struct lt_batch_account *const to = &grown[all->account_count++];
		memcpy(to->name, gone->name, sizeof(to->name));
		snprintf(to->parent, sizeof(to->parent), "%s", heir_of(gone, seen, &tree));
	}
	lt_accounts_sort(grown, all->account_count);
	return LT_OK;
}

int
lt_heirs_add(struct lt_batch_associations *all, struct lt_ledger *ledger,
    const struct lt_accounts_seen *seen, int64_t now_utc_s, struct lt_error *err)
{
	struct lt_accounts_seen fresh = {0};

	lt_accounts_sort(all->accounts, all->account_count);
	const struct lt_account_tree tree = {
	    .accounts = all->accounts, .count = all->account_count};
	const int any = remember(ledger, &tree, seen, now_utc_s, err);
	int code = any < 0 ? any : LT_OK;

	/* A move has made its former parent one that is asked for. */
	if (any == 1)
		code = lt_ledger_accounts(ledger, &fresh.list, &fresh.count, err);
	if (code == LT_OK)
		code = add_gone(all, any == 1 ? &fresh : seen, err);
	free(fresh.list);
	return code;
}

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
		const struct lt_batch_account *const at = lt_account_find(&tree->is, team);
		if (at != NULL)
			tree->is_team[at - tree->is.accounts] = true;
	}
}

/* Does a budget bind below the one that does not bind below the other? */
static bool
binds_more(const struct tree *tree, const char *name, const char *other)
{
	for (int depth = 0; depth < LT_TREE_DEPTH_MAX; depth++) {
		const struct lt_batch_account *const at = lt_account_find(&tree->is, name);

		if (at == NULL)
			break;
		if (tree->is_team[at - tree->is.accounts] && !is_below(tree, other, name))
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
was_known(const struct lt_moved_accounts *known, const struct lt_moved_account *move)
{
	const struct lt_moved_account *const same =
	    known->count == 0
		? NULL
		: bsearch(move, known->list, known->count, sizeof(*move), compare_moves);

	return same != NULL && memcmp(same, move, sizeof(*move)) == 0;
}

/* Puts every account back where it was, and lists those. */
static void
put_back(
    struct lt_moved_accounts *fresh, const struct tree *tree, const struct lt_accounts_seen *seen)
{
	for (uint32_t i = 0; i < tree->is.count; i++) {
		struct lt_batch_account *const now = &tree->is.accounts[i];
		const struct lt_account_seen *const was = lt_seen_find(seen, now->name);

		if (was == NULL || strcmp(was->parent, now->parent) == 0)
			continue;
		const char *const from = heir_of(was, seen, &tree->is);
		struct lt_moved_account *const move = &fresh->list[fresh->count];

		if (!from[0] || strcmp(from, now->parent) == 0)
			continue;
		snprintf(move->name, sizeof(move->name), "%s", now->name);
		snprintf(move->from, sizeof(move->from), "%s", from);
		snprintf(move->to, sizeof(move->to), "%s", now->parent);
		snprintf(now->parent, sizeof(now->parent), "%s", from);
		fresh->count++;
	}
}

/* Lets go each that the same budgets bind there, below none of its own: one by one, as one move may
 * make room for another. False: none. */
static bool
let_go(struct lt_moved_accounts *fresh, const struct tree *tree)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fresh->count; i++) {
		const struct lt_moved_account move = fresh->list[i];
		struct lt_batch_account *const at = lt_account_find(&tree->is, move.name);

		if (is_below(tree, move.to, move.name) || binds_more(tree, move.from, move.to) ||
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
tell_new(const struct lt_moved_accounts *fresh, const struct lt_moved_accounts *known)
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
lt_moved_keep(struct lt_moved_accounts *moved, struct lt_batch_account *accounts, uint32_t count,
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
lt_moved_accept(struct lt_ledger *ledger, const struct lt_moved_account *moved, int64_t now_utc_s,
    struct lt_error *err)
{
	return lt_ledger_put_account(ledger, moved->name, moved->to, now_utc_s, err);
}
