/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts people into the budget snapshot: accounts with their parents, users with their accounts,
 * managers. Each table is sorted for its look-ups.
 *
 * Reads Slurm's tables; writes the snapshot that is being made. Without memory, or above a limit,
 * the caller's snapshot fails.
 */
#include <stdlib.h>
#include <string.h>

#include "compile_members.h"
#include "text.h"

static int
compare_accounts(const void *a, const void *b)
{
	return strcmp(((const struct lt_account *)a)->name, ((const struct lt_account *)b)->name);
}

/* Slurm's accounts, and teams of the policy that Slurm no longer has: what they spent still
 * counts. */
int
lt_fill_accounts(struct lt_budget_build *b, const struct lt_tables *tables,
    const struct lt_policy *policy, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	const size_t most = (size_t)tables->account_count + (size_t)policy->budget_count + 1;

	if (tables->account_count > LT_ACCOUNTS_MAX)
		return lt_fail(err, LT_ELIMIT, "Slurm has %u accounts, limit %d",
		    tables->account_count, LT_ACCOUNTS_MAX);
	s->accounts = calloc(most, sizeof(*s->accounts));
	b->parents = calloc(most, sizeof(*b->parents));
	if (s->accounts == NULL || b->parents == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	uint32_t n = 0;
	for (uint32_t i = 0; i < tables->account_count; i++)
		lt_copy_lower(s->accounts[n++].name, LT_ACCOUNT_SIZE, tables->accounts[i].name);
	for (int i = 0; i < policy->budget_count; i++)
		lt_copy_lower(s->accounts[n++].name, LT_ACCOUNT_SIZE, policy->budgets[i].team);
	qsort(s->accounts, n, sizeof(*s->accounts), compare_accounts);
	for (uint32_t i = 0; i < n; i++)
		if (s->account_count == 0 ||
		    strcmp(s->accounts[i].name, s->accounts[s->account_count - 1].name) != 0)
			s->accounts[s->account_count++] = s->accounts[i];
	for (uint32_t i = 0; i < s->account_count; i++)
		b->parents[i] = -1;
	for (uint32_t i = 0; i < tables->account_count; i++) {
		const int account = lt_sheet_account(s, tables->accounts[i].name);

		if (account >= 0 && tables->accounts[i].parent[0])
			b->parents[account] = lt_sheet_account(s, tables->accounts[i].parent);
	}
	for (uint32_t i = 0; i < s->account_count; i++)
		s->accounts[i].parent = (uint32_t)(b->parents[i] + 1);
	return LT_OK;
}

int
lt_sheet_parent_then(const struct lt_budget_snapshot *s, const struct lt_account_moves *moves,
    uint32_t account, int64_t at_utc_s)
{
	const char *const then = lt_account_parent_then(moves, s->accounts[account].name, at_utc_s);

	return then != NULL ? lt_sheet_account(s, then) : (int)s->accounts[account].parent - 1;
}

static int
compare_pairs(const void *a, const void *b)
{
	const struct lt_pair *const x = a, *const y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->account < y->account ? -1 : x->account > y->account;
}

int
lt_fill_pairs(struct lt_budget_build *b, const struct lt_tables *tables, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;

	if (tables->pair_count > LT_PAIRS_MAX)
		return lt_fail(err, LT_ELIMIT, "Slurm has %u associations, limit %d",
		    tables->pair_count, LT_PAIRS_MAX);
	s->pairs = calloc((size_t)tables->pair_count + 1, sizeof(*s->pairs));
	if (s->pairs == NULL)
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	for (uint32_t i = 0; i < tables->pair_count; i++) {
		const int account = lt_sheet_account(s, tables->pairs[i].account);

		if (account < 0)
			continue;
		s->pairs[s->pair_count++] = (struct lt_pair){.uid = tables->pairs[i].uid,
		    .account = (uint32_t)account,
		    .is_default = tables->pairs[i].is_default,
		    .wall_s = tables->pairs[i].wall_s,
		    .wall_always = tables->pairs[i].wall_always};
	}
	qsort(s->pairs, s->pair_count, sizeof(*s->pairs), compare_pairs);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->pair_count; i++) {
		if (n > 0 && !compare_pairs(&s->pairs[i], &s->pairs[n - 1])) {
			s->pairs[n - 1].is_default |= s->pairs[i].is_default;
			continue;
		}
		s->pairs[n++] = s->pairs[i];
	}
	s->pair_count = n;
	return LT_OK;
}

static int
compare_managers(const void *a, const void *b)
{
	const struct lt_manager *const x = a, *const y = b;

	if (x->uid != y->uid)
		return x->uid < y->uid ? -1 : 1;
	return x->account < y->account ? -1 : x->account > y->account;
}

/* True if the manager has the account above, too: Slurm names a coordinator of an account for each
 * account below it, the snapshot only for the topmost. */
static bool
is_implied(const struct lt_budget_snapshot *s, const struct lt_manager *manager)
{
	const uint32_t above = manager->account ? s->accounts[manager->account - 1].parent : 0;
	const struct lt_manager parent = {manager->uid, above};

	return above > 0 && bsearch(&parent, s->managers, s->manager_count, sizeof(parent),
				compare_managers) != NULL;
}

int
lt_fill_managers(struct lt_budget_build *b, const struct lt_tables *tables, struct lt_error *err)
{
	struct lt_budget_snapshot *const s = &b->snapshot;
	struct lt_manager *const kept = calloc((size_t)tables->manager_count + 1, sizeof(*kept));

	s->managers = calloc((size_t)tables->manager_count + 1, sizeof(*kept));
	if (s->managers == NULL || kept == NULL) {
		free(kept);
		return lt_fail(err, LT_ENOMEM, "budget: out of memory");
	}
	for (uint32_t i = 0; i < tables->manager_count; i++) {
		const struct lt_batch_manager *const from = &tables->managers[i];
		const int account = from->account[0] ? lt_sheet_account(s, from->account) : -1;

		if (!from->account[0] || account >= 0)
			s->managers[s->manager_count++] =
			    (struct lt_manager){from->uid, (uint32_t)(account + 1)};
	}
	qsort(s->managers, s->manager_count, sizeof(*kept), compare_managers);
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->manager_count; i++)
		if (!is_implied(s, &s->managers[i]) &&
		    (n == 0 || compare_managers(&kept[n - 1], &s->managers[i])))
			kept[n++] = s->managers[i];
	free(s->managers);
	s->managers = kept;
	s->manager_count = n;
	return LT_OK;
}

/* Marks where tasks of an array wait, which get job ids of their own. */
void
lt_mark_arrays(struct lt_budget_build *b, const struct lt_batch_jobs *list)
{
	struct lt_budget_snapshot *const s = &b->snapshot;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct lt_batch_job *const job = &list->jobs[i];
		const int account = lt_sheet_account(s, job->account);
		const struct lt_pair wanted = {.uid = job->uid, .account = (uint32_t)account};

		if (job->state != LT_JOB_PENDING || !job->array_job_id ||
		    job->array_task != UINT32_MAX || account < 0)
			continue;
		struct lt_pair *const pair =
		    bsearch(&wanted, s->pairs, s->pair_count, sizeof(wanted), compare_pairs);
		if (pair != NULL)
			pair->has_array = true;
	}
}
