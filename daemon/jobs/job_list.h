/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations on the list of all jobs. Both the list and what is live are sorted and very long, and
 * are moved as little as possible. New jobs are at the list's end.
 */
#ifndef LT_JOB_LIST_H
#define LT_JOB_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "batch.h"
#include "budget_state.h"

struct lt_part {     /* that a record points to */
	size_t at;   /* the pointer */
	size_t size; /* 0: a text */
	bool is_own; /* seldom another's, too */
};

struct lt_layout { /* a record */
	size_t size;
	int part_count;
	struct lt_part parts[15];
};

extern const struct lt_layout lt_layout_of_job, lt_layout_of_run;

const void *lt_part_get(const void *record, const struct lt_part *part);
void lt_part_set(void *record, const struct lt_part *part, const void *at);
/* 0 for NULL. */
size_t lt_part_length(const void *at, const struct lt_part *part);
/* Copies a part into a pool. NULL: no memory. */
const void *lt_part_pool(struct lt_pool **pool, const struct lt_part *part, const void *at);

/* Drops jobs that were cancelled before they ran and hold nothing any more, where they are very
 * many and no fewer than the others. The last one stays:
 * the ids that came since are counted from it. Without memory all stay. */
void lt_keep_jobs(struct lt_batch_jobs *list);

struct lt_ids { /* of jobs that were asked for: lt_first_id() */
	uint32_t *ids;
	uint32_t count;
};

/* Sorts ids as the other functions want them. */
void lt_merge_sort(struct lt_ids ids);

/* Takes found, which is sorted, in place of what the list had of these ids. On failure nothing has
 * changed. */
int lt_merge_list(struct lt_batch_jobs *list, struct lt_batch_jobs *found, struct lt_ids ids,
    struct lt_error *err);

/* Merges into jobs->live, which has what is live of these ids; all others are as before. */
int lt_merge_live(struct lt_jobs_state *jobs, const struct lt_live *before, uint32_t before_count,
    struct lt_ids ids, struct lt_error *err);

/* Makes what is live, a row per quote: records of an array add up. */
void lt_merge_shares(struct lt_jobs_state *jobs);

#endif
