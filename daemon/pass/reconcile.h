/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs of slurmctld against the ledger's holds.
 */
#ifndef LT_RECONCILE_H
#define LT_RECONCILE_H

#include <stdint.h>

#include "merge.h"
#include "batch.h"

struct lt_daemon;

enum { LT_LOCKS_A_PASS = 1000 }; /* 1 to 2 ms each; the rest in the next */

/* All jobs, by a list. */
int lt_reconcile(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);

/* The jobs that were asked for by these ids, of which *found
 * is what slurmctld has. It becomes part of the list, and is taken: on failure
 * nothing is. The ids, one at least, are sorted. */
int lt_reconcile_some(struct lt_daemon *d, struct lt_batch_jobs *found,
    struct lt_ids ids, int64_t now_utc_s, struct lt_error *err);

#endif
