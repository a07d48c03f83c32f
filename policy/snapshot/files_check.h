/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a market and a budget snapshot before they are written and after they are read: every
 * index, order and bound. Private to files_*.c.
 */
#ifndef LT_FILES_CHECK_H
#define LT_FILES_CHECK_H

#include "budget.h"
#include "market.h"

int lt_market_check(const struct lt_market *market, struct lt_error *err);
int lt_sheet_check(const struct lt_budget_snapshot *snapshot, struct lt_error *err);

#endif
