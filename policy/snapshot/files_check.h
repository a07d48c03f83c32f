/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold of a market and a balance sheet before they are written and
 * after they are read: every index, order and bound. Private to files_*.c.
 */
#ifndef LT_FILES_CHECK_H
#define LT_FILES_CHECK_H

#include "budget.h"
#include "market.h"

int lt_market_check(const struct lt_market *market, struct lt_error *err);
int lt_sheet_check(const struct lt_balance_sheet *sheet, struct lt_error *err);

#endif
