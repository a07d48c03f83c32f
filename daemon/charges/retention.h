/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `retention:` of the policy: erases the users and names of old runs; their costs stay.
 */
#ifndef LT_RETENTION_H
#define LT_RETENTION_H

#include "budget_state.h"
#include "ledger.h"
#include "policy.h"

/* So many months before, at the same day (the last one of a shorter month) and time, UTC;
 * INT64_MIN: the policy keeps users for ever. */
int64_t lt_retention_utc_s(const struct lt_policy *policy, int64_t now_utc_s);
/* Users of runs that ended before are erased: as above, but what caps of users are counted from
 * stays while their period is open. */
int64_t lt_retention_cut(
    const struct lt_policy *policy, const struct lt_budget_state *budget, int64_t now_utc_s);
/* Keeps an erased user from coming back with slurmdbd's row, from which run is made. known: as the
 * ledger has it, with its user until that is erased there; NULL = not. */
void lt_retention_keep(struct lt_run *run, const struct lt_run *known,
    const struct lt_policy *policy, const struct lt_budget_state *budget, int64_t now_utc_s);
/* Erases some of them; *done: all. */
int lt_retention_erase(const struct lt_policy *policy, struct lt_ledger *ledger,
    struct lt_budget_state *budget, int64_t now_utc_s, bool *done, struct lt_error *err);

#endif
