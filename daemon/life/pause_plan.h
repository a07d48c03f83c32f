/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job that runs, as lt_pause_plan() is asked about it.
 */
#ifndef LT_LIFE_PAUSE_PLAN_H
#define LT_LIFE_PAUSE_PLAN_H

#include "pause.h"
#include "standing.h"

struct lt_batch_jobs;
struct lt_books;
struct lt_notice_state;
struct lt_replan_state;
struct lt_tables;

/* Partitions of Slurm's table on whose nodes nobody waits for room. */
struct lt_pausing_lines {
	bool waits[LT_PARTITIONS_MAX];
};
void lt_pausing_lines(struct lt_pausing_lines *lines,
    const struct lt_tables *tables, const struct lt_batch_jobs *list,
    int64_t now_utc_s);

/* Of its partition's nodes; also where nobody knows that partition. */
bool lt_pausing_is_waited_for(const struct lt_pausing_lines *lines,
    const struct lt_tables *tables, const struct lt_batch_job *job);

struct lt_pausing {		     /* large: not for the stack */
	struct lt_standing standing; /* of what its request needs */
	struct lt_pause_course course;
	bool requeues; /* by its class: else it is suspended */
	/* It is not to stand still, but to go on on preemptible nodes: until
	 * then it may be requeued and told for that. */
	bool goes_away;
};

/* Does any class of the market let jobs stand still? */
bool lt_pausing_any_class(const struct lt_market *market);
/* Its user said once that it is to start now: it is not to wait any more. */
bool lt_pausing_is_urgent(struct lt_ledger *ledger, uint64_t quote_id);
/*
 * Is it one that may stand still, or go on doing so, and how would it? Its
 * class and its own wish; to be suspended the whole of its nodes by memory or
 * GPUs, so that nobody takes what it leaves, and nobody who waits for them; to
 * be requeued that it can resume. False: it runs, and nothing of *s counts.
 */
bool lt_pausing_plan(struct lt_pausing *s, const struct lt_books *books,
    struct lt_replan_state *replan, struct lt_notice_state *notices,
    const struct lt_batch_job *job, const struct lt_pausing_lines *lines,
    int64_t now_utc_s);

#endif
