/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares slurmctld's jobs with the ledger's holds.
 */
#ifndef LT_RECONCILE_H
#define LT_RECONCILE_H

#include <stdint.h>

#include "job_list.h"
#include "batch.h"

struct lt_daemon;

enum { LT_LOCKS_A_PASS = 1000 }; /* 1 to 2 ms each; the rest in the next */

/* All jobs, by a list. */
int lt_reconcile(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* Reconciles the jobs of these ids, of which *found is what slurmctld has. It becomes part of the
 * list, and is taken: on failure nothing changes. The ids, one at least, are sorted. */
int lt_reconcile_some(struct lt_daemon *d, struct lt_batch_jobs *found, struct lt_ids ids,
    int64_t now_utc_s, struct lt_error *err);

#endif
