/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "limits.h"

static bool
is_same(const struct lt_budget *a, const struct lt_budget *b)
{
	const struct lt_period *const p = &a->periods[0], *const q =
							      &b->periods[0];

	return strcmp(a->team, b->team) == 0 &&
	       p->start_utc_s == q->start_utc_s &&
	       p->end_utc_s == q->end_utc_s &&
	       p->limit.has_money == q->limit.has_money &&
	       p->limit.money_micros == q->limit.money_micros &&
	       p->limit.has_carbon == q->limit.has_carbon &&
	       p->limit.carbon_mg == q->limit.carbon_mg;
}

static int
put(struct lt_ledger *ledger, const struct lt_budget *b, bool *begun,
    struct lt_error *err)
{
	const struct lt_period *const p = &b->periods[0];
	const int code = *begun ? LT_OK : lt_ledger_begin(ledger, err);

	if (code != LT_OK)
		return code;
	*begun = true;
	return lt_ledger_put_limit(ledger, b->team,
	    (struct lt_span){p->start_utc_s, p->end_utc_s}, &p->limit, err);
}

int
lt_limits_keep(struct lt_ledger *ledger, const struct lt_budget_snapshot *had,
    const struct lt_budget_snapshot *has, struct lt_error *err)
{
	bool begun = false; /* nearly always there is nothing to write */
	int code = LT_OK;

	for (uint32_t i = 0; code == LT_OK && i < has->budget_count; i++) {
		const struct lt_budget *const b = &has->budgets[i];
		const bool is_known = had != NULL && i < had->budget_count &&
				      is_same(&had->budgets[i], b);

		if (!is_known &&
		    b->periods[0].start_utc_s != b->periods[0].end_utc_s)
			code = put(ledger, b, &begun, err);
	}
	if (begun && code == LT_OK)
		code = lt_ledger_commit(ledger, err);
	if (begun && code != LT_OK)
		lt_ledger_rollback(ledger);
	return code;
}
