/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's tree of accounts against the one that the ledger saw last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "log.h"
#include "moved_accounts.h"

enum { DEPTH_MAX = 64 }; /* a loop ends here */

struct tree {
	struct lt_batch_account *accounts;
	uint32_t count;
};

static struct lt_batch_account *
find(const struct tree *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->count; i++)
		if (strcmp(tree->accounts[i].name, name) == 0)
			return &tree->accounts[i];
	return NULL;
}

/* Is the team that account, or above it? */
static bool
is_below(const struct tree *tree, const char *name, const char *team)
{
	for (int depth = 0; depth < DEPTH_MAX && name[0]; depth++) {
		if (strcasecmp(name, team) == 0)
			return true;
		const struct lt_batch_account *const at = find(tree, name);
		name = at != NULL ? at->parent : "";
	}
	return false;
}

/* Do other budgets bind below the one than below the other? */
static bool
binds_otherwise(const struct tree *tree, const struct lt_policy *policy,
    const char *from, const char *to)
{
	for (int i = 0; i < policy->budget_count; i++)
		if (is_below(tree, from, policy->budgets[i].team) !=
		    is_below(tree, to, policy->budgets[i].team))
			return true;
	return false;
}

static bool
was_known(
    const struct lt_moved_accounts *known, const struct lt_moved_account *move)
{
	for (uint32_t i = 0; i < known->count; i++)
		if (memcmp(&known->list[i], move, sizeof(*move)) == 0)
			return true;
	return false;
}

static int
by_name(const void *name, const void *seen)
{
	return strcmp(name, ((const struct lt_account_seen *)seen)->name);
}

struct past { /* the tree that was seen */
	struct lt_account_seen *seen;
	uint32_t count;
};

static const struct lt_account_seen *
find_past(const struct past *past, const char *name)
{
	return past->count == 0 ? NULL
				: bsearch(name, past->seen, past->count,
				      sizeof(*past->seen), by_name);
}

/* Returns the nearest account above it, as it was seen, that is still there;
 * "": none. */
static const char *
former_parent(const struct past *past, const struct tree *tree,
    const struct lt_account_seen *was)
{
	for (int depth = 0; depth < DEPTH_MAX && was != NULL; depth++) {
		if (find(tree, was->parent) != NULL)
			return was->parent;
		was = find_past(past, was->parent);
	}
	return "";
}

/* Puts every account back where it was, and lists those. */
static void
put_back(struct lt_moved_accounts *fresh, const struct tree *tree,
    const struct past *past)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		struct lt_batch_account *const now = &tree->accounts[i];
		const struct lt_account_seen *const was =
		    find_past(past, now->name);

		if (was == NULL || strcmp(was->parent, now->parent) == 0)
			continue;
		const char *const from = former_parent(past, tree, was);
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
let_go(struct lt_moved_accounts *fresh, const struct tree *tree,
    const struct lt_policy *policy)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fresh->count; i++) {
		const struct lt_moved_account move = fresh->list[i];
		struct lt_batch_account *const at = find(tree, move.name);

		if (is_below(tree, move.to, move.name) ||
		    binds_otherwise(tree, policy, move.from, move.to))
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
    struct lt_batch_account *accounts, uint32_t count, struct lt_ledger *ledger,
    const struct lt_policy *policy)
{
	const struct tree tree = {accounts, count};
	struct lt_moved_accounts fresh = {0};
	struct past past = {0};
	struct lt_error err = {0};
	const int code =
	    lt_ledger_accounts(ledger, &past.seen, &past.count, &err);

	if (code != LT_OK)
		return code;
	fresh.list = calloc((size_t)count + 1, sizeof(*fresh.list));
	if (fresh.list == NULL) {
		free(past.seen);
		return LT_ENOMEM;
	}
	if (policy->budget_count > 0)
		put_back(&fresh, &tree, &past);
	while (let_go(&fresh, &tree, policy))
		;
	tell_new(&fresh, moved);
	free(past.seen);
	free(moved->list);
	*moved = fresh;
	return LT_OK;
}

int
lt_moved_accept(struct lt_ledger *ledger, const struct lt_moved_account *moved,
    struct lt_error *err)
{
	return lt_ledger_put_account(ledger, moved->name, moved->to, err);
}
