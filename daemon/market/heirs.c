/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of accounts as it was: between slurmdbd's associations, which
 * forget a deleted account at once, and budgets and reports, which must not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heirs.h"

enum { DEPTH_MAX = 64 }; /* a loop of renamed accounts ends here */

static int
remember(struct lt_ledger *ledger, const struct lt_batch_account *accounts,
    uint32_t count, struct lt_error *err)
{
	int code = lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	for (uint32_t i = 0; code == LT_OK && i < count; i++)
		code = lt_ledger_put_account(
		    ledger, accounts[i].name, accounts[i].parent, err);
	if (code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (code != LT_OK)
		lt_ledger_rollback(ledger);
	return code;
}

static bool
is_there(
    const struct lt_batch_account *accounts, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(accounts[i].name, name) == 0)
			return true;
	return false;
}

static int
by_name(const void *name, const void *seen)
{
	return strcmp(name, ((const struct lt_account_seen *)seen)->name);
}

/* The nearest account above it that Slurm has; "" = none. */
static const char *
heir_of(const struct lt_account_seen *gone, const struct lt_account_seen *seen,
    uint32_t seen_count, const struct lt_batch_account *accounts,
    uint32_t count)
{
	const char *parent = gone->parent;

	for (int depth = 0; depth < DEPTH_MAX && parent[0]; depth++) {
		if (is_there(accounts, count, parent))
			return parent;
		const struct lt_account_seen *const above =
		    bsearch(parent, seen, seen_count, sizeof(*seen), by_name);
		parent = above != NULL ? above->parent : "";
	}
	return "";
}

int
lt_heirs_add(struct lt_batch_account **accounts, uint32_t *count,
    struct lt_ledger *ledger, struct lt_error *err)
{
	struct lt_account_seen *seen = NULL;
	uint32_t seen_count = 0, all = *count;
	int code = remember(ledger, *accounts, *count, err);

	if (code == LT_OK)
		code = lt_ledger_accounts(ledger, &seen, &seen_count, err);
	if (code != LT_OK)
		return code;
	struct lt_batch_account *const grown = reallocarray(
	    *accounts, (size_t)*count + seen_count + 1, sizeof(*grown));
	if (grown == NULL) {
		free(seen);
		return lt_fail(err, LT_ENOMEM, "accounts: out of memory");
	}
	*accounts = grown;
	for (uint32_t i = 0; i < seen_count; i++) {
		if (!seen[i].charged || is_there(grown, *count, seen[i].name))
			continue;
		struct lt_batch_account *const to = &grown[all++];
		memcpy(to->name, seen[i].name, sizeof(to->name));
		snprintf(to->parent, sizeof(to->parent), "%s",
		    heir_of(&seen[i], seen, seen_count, grown, *count));
	}
	*count = all;
	free(seen);
	return LT_OK;
}
