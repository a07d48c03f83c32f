/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The budget snapshot: what each team may still spend, for job_submit and for releases.
 */
#ifndef LT_COMPILE_BUDGET_H
#define LT_COMPILE_BUDGET_H

#include "budget.h"
#include "budget_state.h"
#include "holdout.h"
#include "ledger.h"
#include "periods.h"

struct lt_books;
struct lt_paths;

/* d->budget.snapshot and the file. */
int lt_compile_budget(const struct lt_books *books, int64_t now_utc_s, struct lt_error *err);
/* Writes the same figures as of now, when nothing has changed. */
int lt_renew_budget(struct lt_budget_state *budget, const struct lt_paths *paths, int64_t now_utc_s,
    struct lt_error *err);
/* Notes that the holds were judged against the present periods: kept over restarts. */
int lt_period_judged(struct lt_budget_state *budget, struct lt_ledger *ledger, int64_t now_utc_s,
    struct lt_error *err);

#endif
