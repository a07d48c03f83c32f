/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that wait for the start they were given are decided again: each hour, shortly before they
 * start, and when what they were decided by has changed. Only what lowtide set is changed, within
 * what was promised at the submission.
 */
#ifndef LT_REPLANNING_H
#define LT_REPLANNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"
#include "decide.h"
#include "error.h"

struct lt_books;
struct lt_jobs_state;
struct lt_market;

struct lt_replan_due {
	int64_t start_utc_s;
	uint32_t job_id;
	bool changes; /* it was decided, and has a better plan */
};

struct lt_replan_state {      /* start as { 0 } */
	int64_t looked_utc_s; /* jobs that were due until then were queued; 0:
			       * all are */
	int64_t passed_utc_s; /* when the pass before was */
	uint32_t gathered;    /* row of the list of jobs: rearrange_some() */
	struct lt_replan_due *queue;
	uint32_t count;
	size_t capacity;
	uint32_t again; /* so many were queued when a signal changed, and
			 * not all of them are decided yet; else 0 */
	/* The next day's signals when all were looked at; series x hours. */
	float *seen;
	uint32_t seen_count;
	/* The jobs that came and were changed since the market was compiled. */
	uint64_t generation;
	uint32_t young_id; /* jobs up to this one are counted */
	uint32_t planned_count;
	struct lt_planned *planned; /* LT_PLANNED_MAX; NULL = none yet */
};

/* At most LT_REPLANS_A_SECOND changes since the pass before, nearest starts first; the others are
 * changed in the next pass, if that is still better. */
enum { LT_REPLANS_A_SECOND = 20 };
int lt_replan_run(const struct lt_books *books, struct lt_replan_state *replan, int64_t now_utc_s,
    struct lt_error *err);
/* Returns when a job that waits for its start is looked at next by the hour or before its start, if
 * no signal changes before; 0: not any more. */
int64_t lt_replan_next(const struct lt_batch_job *job, int64_t now_utc_s);
/* True if some are left over. */
bool lt_replan_waits(const struct lt_replan_state *replan);
/* Begins a new market: the replan state's windows are those that this market lacks; false: no
 * memory. */
bool lt_replan_begin_market(
    const struct lt_market *market, struct lt_jobs_state *jobs, struct lt_replan_state *replan);
void lt_replan_free(struct lt_replan_state *state);

#endif
