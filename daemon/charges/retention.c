/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when users are erased from old runs, and how much of that is done at once.
 *
 * Reads the policy's `retention:`, writes the ledger. On failure the rest is erased by a later
 * pass.
 */
#include "breath.h"
#include "budget_state.h"
#include "date.h"
#include "ledger.h"
#include "policy.h"
#include "retention.h"
#include "units.h"

enum { PARTS_A_PASS = 20 };

int64_t
lt_retention_utc_s(const struct lt_policy *policy, int64_t now_utc_s)
{
	if (policy->retention_months == 0)
		return INT64_MIN;
	const int64_t today = lt_day_of_second(now_utc_s);
	const struct lt_date date = lt_date_of_day(today);
	const int64_t month = date.year * 12 + date.month - 1 - (int64_t)policy->retention_months;
	const int64_t first = lt_day_of_date(month / 12, (int)(month % 12) + 1, 1);
	const int64_t next = lt_day_of_date((month + 1) / 12, (int)((month + 1) % 12) + 1, 1);
	const int64_t same = first + date.day - 1;

	return (same < next ? same : next - 1) * LT_DAY_S + (now_utc_s - today * LT_DAY_S);
}

int64_t
lt_retention_cut(
    const struct lt_policy *policy, const struct lt_budget_state *budget, int64_t now_utc_s)
{
	int64_t cut_utc_s = lt_retention_utc_s(policy, now_utc_s);

	if (!budget->has_snapshot)
		return INT64_MIN; /* its periods are not known */
	for (uint32_t i = 0; i < budget->snapshot.budget_count; i++) {
		const struct lt_budget *const b = &budget->snapshot.budgets[i];

		if (b->has_per_user && b->periods[0].start_utc_s < cut_utc_s &&
		    b->periods[0].start_utc_s < b->periods[0].end_utc_s)
			cut_utc_s = b->periods[0].start_utc_s;
	}
	return cut_utc_s;
}

void
lt_retention_keep(struct lt_run *run, const struct lt_run *known, const struct lt_policy *policy,
    const struct lt_budget_state *budget, int64_t now_utc_s)
{
	if (known != NULL ? known->uid == LT_NOBODY_UID
			  : run->end_utc_s < lt_retention_cut(policy, budget, now_utc_s))
		lt_run_erase_user(run);
}

int
lt_retention_erase(const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_budget_state *budget, int64_t now_utc_s, bool *done, struct lt_error *err)
{
	const int64_t cut_utc_s = lt_retention_cut(policy, budget, now_utc_s);
	int code = LT_OK;

	*done = false;
	for (int i = 0; i < PARTS_A_PASS && code == LT_OK && !*done; i++) {
		code = lt_ledger_erase_users(ledger, cut_utc_s, done, err);
		lt_breath(LT_TURN_COMMITTED);
	}
	return code;
}
