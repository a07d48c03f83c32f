/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BUDGET_LIMITS_H
#define LT_BUDGET_LIMITS_H

#include "budget.h"
#include "periods.h"

/* Into the ledger what the budgets of now allow, for reports of this period
 * when it is over. had: as it was told last; NULL = not yet. */
int lt_limits_keep(struct lt_ledger *ledger,
    const struct lt_budget_snapshot *had, const struct lt_budget_snapshot *has,
    struct lt_error *err);

#endif
