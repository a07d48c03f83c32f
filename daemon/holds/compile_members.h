/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accounts, users and managers of the budget snapshot, while it is made.
 */
#ifndef LT_COMPILE_MEMBERS_H
#define LT_COMPILE_MEMBERS_H

#include "budget.h"
#include "jobs.h"
#include "policy.h"
#include "tables.h"

struct lt_budget_build {
	struct lt_budget_snapshot snapshot;
	int *parents;	   /* by account index; -1 = none */
	int *first, *next; /* budgets by account */
	size_t binding_capacity, usage_capacity;
	struct lt_open_holds open;
	struct lt_ledger *ledger;
	const struct lt_account_moves *moves;
	int64_t now_utc_s;
};

int lt_fill_accounts(struct lt_budget_build *b, const struct lt_tables *tables,
    const struct lt_policy *policy, struct lt_error *err);
/* The account above that one then; -1: none. */
int lt_sheet_parent_then(const struct lt_budget_snapshot *s, const struct lt_account_moves *moves,
    uint32_t account, int64_t at_utc_s);
int lt_fill_pairs(struct lt_budget_build *b, const struct lt_tables *tables, struct lt_error *err);
int lt_fill_managers(
    struct lt_budget_build *b, const struct lt_tables *tables, struct lt_error *err);
void lt_mark_arrays(struct lt_budget_build *b, const struct lt_batch_jobs *list);

#endif
