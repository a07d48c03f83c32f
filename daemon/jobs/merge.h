/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that were looked at, into the list of all and into what is live: both
 * are in order and very long, and are moved as little as may be. Who is new is
 * at the list's end.
 */
#ifndef LT_MERGE_H
#define LT_MERGE_H

#include "budget_state.h"

struct lt_ids { /* of jobs that were asked for: lt_first_id() */
	uint32_t *ids;
	uint32_t count;
};

/* As the others want them. */
void lt_merge_sort(struct lt_ids ids);

/* Takes found, which is sorted, in place of what the list had of these ids. On
 * failure nothing has changed. */
int lt_merge_list(struct lt_batch_jobs *list, struct lt_batch_jobs *found,
    struct lt_ids ids, struct lt_error *err);

/* jobs->live has what is live of these ids; of all others what was before is
 * so still. */
int lt_merge_live(struct lt_jobs_state *jobs, const struct lt_live *before,
    uint32_t before_count, struct lt_ids ids, struct lt_error *err);

/* What is live, a row per quote: records of an array add up. */
void lt_merge_shares(struct lt_jobs_state *jobs);

#endif
