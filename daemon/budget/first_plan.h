/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that its system keeps until lowtide lets it go, and that nobody has
 * decided: where and when it runs is decided here, as job_submit would have.
 */
#ifndef LT_FIRST_PLAN_H
#define LT_FIRST_PLAN_H

#include "ledger.h"
#include "change.h"

struct lt_daemon;

/* Its hold, made, and told with the plan; of one that is there the job is told
 * if it was not. In the ledger's transaction. */
int lt_first_take(struct lt_daemon *d, const struct lt_change *change,
    struct lt_ledger_hold *hold, struct lt_error *err);

#endif
