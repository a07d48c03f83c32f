/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that runs, as lt_pause_plan() is asked about it, and what its record shows of its pause.
 */
#ifndef LT_LIFE_PAUSE_PLAN_H
#define LT_LIFE_PAUSE_PLAN_H

#include "batch.h"
#include "pause.h"
#include "ledger_jobs.h"
#include "standing.h"

struct lt_batch_jobs;
struct lt_books;
struct lt_notice_state;
struct lt_replan_state;
struct lt_tables;

/* True if the record was made after the row's step had shown. */
bool lt_pausing_is_newer(const struct lt_batch_job *job, const struct lt_paused *row);

/* Returns the step that the record shows its run to be at; the row's own:
 * nothing new, or not seen yet. LEFT: somebody else resumed or suspended it, and has it. */
enum lt_pause_step lt_pausing_seen(const struct lt_batch_job *job, const struct lt_paused *row);

/* True if it runs, and no late answer can come any more. */
bool lt_pausing_is_over(const struct lt_batch_job *job, const struct lt_paused *row);

/* Partitions of Slurm's table on whose nodes nobody waits for room. */
struct lt_pausing_lines {
	bool waits[LT_PARTITIONS_MAX];
};
void lt_pausing_lines(struct lt_pausing_lines *lines, const struct lt_tables *tables,
    const struct lt_batch_jobs *list, int64_t now_utc_s);

/* True if somebody waits for its partition's nodes; also where that partition is not known. */
bool lt_pausing_is_waited_for(const struct lt_pausing_lines *lines, const struct lt_tables *tables,
    const struct lt_batch_job *job);

struct lt_pausing {		     /* large: not for the stack */
	struct lt_standing standing; /* of what its request needs */
	struct lt_pause_course course;
	bool requeues; /* by its class: else it is suspended */
	/* It is not to stand still, but to resume on preemptible nodes: by then it may be requeued
	 * and placed. */
	bool goes_away;
};

/* Does any class of the market let jobs stand still? */
bool lt_pausing_any_class(const struct lt_market *market);
/* Its user said once that it is to start now: it is not to wait any more. */
bool lt_pausing_is_urgent(struct lt_ledger *ledger, uint64_t quote_id);
/*
 * True if it may stand still, or continue to, and how. Its class and its own wish count; to be
 * suspended, it must have the whole of its nodes by memory or GPUs, so that nobody takes what it
 * leaves, and nobody may wait for them; to be requeued, it must be able to resume. False: it runs,
 * and nothing of *s counts.
 */
bool lt_pausing_plan(struct lt_pausing *s, const struct lt_books *books,
    struct lt_replan_state *replan, struct lt_notice_state *notices, const struct lt_batch_job *job,
    const struct lt_pausing_lines *lines, int64_t now_utc_s);

#endif
