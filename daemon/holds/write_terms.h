/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of what each live job was admitted on (terms.c).
 */
#ifndef LT_WRITE_TERMS_H
#define LT_WRITE_TERMS_H

struct lt_budget_state;
struct lt_jobs_state;
struct lt_ledger;
struct lt_paths;
struct lt_policy;
struct lt_error;

int lt_write_terms(const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_jobs_state *jobs, struct lt_budget_state *budget, const struct lt_paths *paths,
    struct lt_error *err);

#endif
