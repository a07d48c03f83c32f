/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's tree of accounts against the one that the ledger saw last.
 */
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

static void
keep(struct lt_moved_accounts *fresh, struct lt_batch_account *account,
    const struct lt_account_seen *was, const struct lt_moved_accounts *known)
{
	struct lt_moved_account *const move = &fresh->list[fresh->count++];

	memcpy(move->name, account->name, sizeof(move->name));
	memcpy(move->to, account->parent, sizeof(move->to));
	memcpy(move->from, was->parent, sizeof(move->from));
	memcpy(account->parent, was->parent, sizeof(account->parent));
	if (!was_known(known, move))
		lt_log("account_moved",
		    "account=%s from=%s to=%s why=\"other budgets would bind it: lowtide budget moved %s --accept\"",
		    move->name, move->from, move->to, move->name);
}

static int
by_name(const void *name, const void *seen)
{
	return strcmp(name, ((const struct lt_account_seen *)seen)->name);
}

int
lt_moved_keep(struct lt_moved_accounts *moved,
    struct lt_batch_account *accounts, uint32_t count, struct lt_ledger *ledger,
    const struct lt_policy *policy)
{
	const struct tree tree = {accounts, count};
	struct lt_moved_accounts fresh = {0};
	struct lt_account_seen *seen = NULL;
	uint32_t seen_count = 0;
	struct lt_error err = {0};
	const int code = lt_ledger_accounts(ledger, &seen, &seen_count, &err);

	if (code != LT_OK)
		return code;
	fresh.list = calloc((size_t)count + 1, sizeof(*fresh.list));
	if (fresh.list == NULL) {
		free(seen);
		return LT_ENOMEM;
	}
	for (uint32_t i = 0; i < count && policy->budget_count > 0; i++) {
		struct lt_batch_account *const now = &accounts[i];
		const struct lt_account_seen *const was =
		    seen_count == 0 ? NULL
				    : bsearch(now->name, seen, seen_count,
					  sizeof(*seen), by_name);

		if (was != NULL && strcmp(now->parent, was->parent) != 0 &&
		    find(&tree, was->parent) != NULL &&
		    !is_below(&tree, was->parent, now->name) &&
		    binds_otherwise(&tree, policy, was->parent, now->parent))
			keep(&fresh, now, was, moved);
	}
	free(seen);
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
