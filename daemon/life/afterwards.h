/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that lowtide moved and that Slurm can't start there, sent home. The list of jobs shows them
 * by their reason; where the reason says nothing, Slurm is asked, about one job a second at most.
 * docs/design.md, "Asked afterwards".
 */
#ifndef LT_LIFE_AFTERWARDS_H
#define LT_LIFE_AFTERWARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "batch.h"

struct lt_books;
struct lt_replan_state;
struct lt_site;

enum {
	LT_AFTER_DUE_S = 30,	    /* after its begin Slurm has looked at it */
	LT_AFTER_AGAIN_S = 300,	    /* where it could not, for nodes are away */
	LT_AFTER_AWAY_S = 3600,	    /* so long they may be: then they are gone */
	LT_AFTER_STILL_S = 3600,    /* one that could, and still waits in line */
	LT_AFTER_SLOW_MS = 50,	    /* an answer that took longer */
	LT_AFTER_SLOW_MOST_S = 600, /* is no reason to wait longer than this */
};

struct lt_after { /* a job that Slurm was asked about */
	uint32_t job_id;
	uint32_t place; /* where it was then, as a hash */
	int64_t asked_utc_s;
	int64_t cannot_utc_s; /* since when it can't start; 0 = it can */
	int64_t tried_utc_s;  /* when it was to go home, and did not */
	bool soon;	      /* ask again: the tables were older */
	bool was_due;	      /* its begin had come */
};

struct lt_after_state {	       /* start as { 0 } */
	struct lt_after *jobs; /* by id; those that are gone leave it in turn */
	uint32_t count;
	size_t capacity;
	uint32_t at[LT_REASON_NEVER + 1]; /* in the list, by what reasons say */
	int64_t next_utc_s;		  /* the next question, at the earliest */
	int64_t pause_s;		  /* since the last answer was slow; else 0 */
	int64_t pruned_utc_s;
	bool failed;	      /* the last question had no answer; it was logged */
	uint64_t asked, home; /* since the start: questions; jobs */
};

/*
 * True if a question to Slurm is due about a job, of which `known` is known (NULL: it was not
 * asked). Once at each place, again when its begin has come, and from then on each hour; where it
 * could not start, each five minutes, or soon. Pure.
 */
bool lt_after_is_due(
    const struct lt_after *known, uint32_t place, bool begin_came, int64_t now_utc_s);

/*
 * Does a job go home that could not start since known->cannot_utc_s? At once; where nodes of its
 * partition are down or drained, when its begin has come and they have been for an hour. Pure.
 */
bool lt_after_is_over(const struct lt_after *known, bool nodes_away, int64_t now_utc_s);

/*
 * True if nodes of the partition that are away may be back for the job. Nodes that were down or
 * drained when it was submitted were never there for it; if no node is, and all reserved ones are
 * so for an hour and more, it waits in vain. A requeued job is submitted anew, to nodes that may
 * have left it. Pure.
 */
bool lt_after_may_be_back(
    const struct lt_partition *partition, const struct lt_batch_job *job, int64_t now_utc_s);

/* Returns how long no question follows one that took so long, s: 1; twice as long as before for
 * each slow one in a row. Pure. */
int64_t lt_after_pause_s(int64_t before_s, int64_t took_ms);

/* Sends home the jobs that are due, 20 a second at most; then asks about one job. */
int lt_afterwards_run(struct lt_site *site, const struct lt_books *books,
    struct lt_replan_state *replan, struct lt_after_state *after, int64_t now_utc_s,
    struct lt_error *err);
void lt_afterwards_free(struct lt_after_state *state);

#endif
