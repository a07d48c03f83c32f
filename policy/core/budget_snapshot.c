/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Look-ups in a loaded budget snapshot: accounts, who belongs to them, and
 * whether a budget binds them. Used before lt_admit() by whoever admits.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "lookup.h"

const char *
lt_rule_name(enum lt_rule rule)
{
	static const char *const names[LT_RULE_COUNT] = {
	    [LT_RULE_REJECT] = "reject",
	    [LT_RULE_HOLD] = "hold",
	    [LT_RULE_WARN] = "warn",
	    [LT_RULE_ALLOW] = "allow",
	};

	return LT_WORD(names, rule);
}

static int
by_name(const void *name, const void *account)
{
	return strcmp(name, ((const struct lt_account *)account)->name);
}

int
lt_sheet_account(const struct lt_budget_snapshot *snapshot, const char *name)
{
	char lower[LT_ACCOUNT_SIZE];
	size_t length = 0;

	for (; name[length] != '\0'; length++) {
		if (length == sizeof(lower) - 1)
			return -1;
		lower[length] = name[length];
		if (lower[length] >= 'A' && lower[length] <= 'Z')
			lower[length] = (char)(lower[length] - 'A' + 'a');
	}
	lower[length] = '\0';
	const struct lt_account *const found =
	    snapshot->account_count == 0
		? NULL
		: bsearch(lower, snapshot->accounts, snapshot->account_count,
		      sizeof(*found), by_name);
	return found == NULL ? -1 : (int)(found - snapshot->accounts);
}

/* First pair at or after (uid, account). */
static uint32_t
pair_from(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	uint32_t low = 0, high = snapshot->pair_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct lt_pair *const pair = &snapshot->pairs[middle];

		if (pair->uid < uid ||
		    (pair->uid == uid && pair->account < account))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int
lt_sheet_default_account(
    const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	for (uint32_t i = pair_from(snapshot, uid, 0);
	     i < snapshot->pair_count && snapshot->pairs[i].uid == uid; i++)
		if (snapshot->pairs[i].is_default)
			return (int)snapshot->pairs[i].account;
	return -1;
}

const struct lt_pair *
lt_sheet_pair(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, int account)
{
	if (account < 0)
		return NULL;
	const uint32_t i = pair_from(snapshot, uid, (uint32_t)account);
	return i < snapshot->pair_count && snapshot->pairs[i].uid == uid &&
		       snapshot->pairs[i].account == (uint32_t)account
		   ? &snapshot->pairs[i]
		   : NULL;
}

bool
lt_sheet_budgeted(const struct lt_budget_snapshot *snapshot, int account)
{
	return account >= 0 && (uint32_t)account < snapshot->account_count &&
	       snapshot->accounts[account].binding_count > 0;
}

/* First manager at or after (uid, account). */
static uint32_t
manager_from(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	uint32_t low = 0, high = snapshot->manager_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct lt_manager *const m = &snapshot->managers[middle];

		if (m->uid < uid || (m->uid == uid && m->account < account))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_manager(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, uint32_t account)
{
	const uint32_t i = manager_from(snapshot, uid, account);

	return i < snapshot->manager_count &&
	       snapshot->managers[i].uid == uid &&
	       snapshot->managers[i].account == account;
}

bool
lt_sheet_is_manager(const struct lt_budget_snapshot *snapshot, uint32_t uid)
{
	const uint32_t i = manager_from(snapshot, uid, 0);

	return i < snapshot->manager_count && snapshot->managers[i].uid == uid;
}

bool
lt_sheet_manages(
    const struct lt_budget_snapshot *snapshot, uint32_t uid, int account)
{
	assert(account >= -1 && account < (int)snapshot->account_count);

	enum { DEPTH_MAX = 64 }; /* a loop in the tree ends here */
	if (is_manager(snapshot, uid, 0))
		return true;
	uint32_t at = (uint32_t)(account + 1);
	for (int depth = 0; at > 0 && depth < DEPTH_MAX; depth++) {
		if (is_manager(snapshot, uid, at))
			return true;
		at = snapshot->accounts[at - 1].parent;
	}
	return false;
}
