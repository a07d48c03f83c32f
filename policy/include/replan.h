/*
 * A job that waits for the start it was given, decided again: what was forecast then is known
 * better now. Pure, as lt_decide().
 */
#ifndef LT_REPLAN_H
#define LT_REPLAN_H

#include "decide.h"

enum lt_replan_why {
	LT_REPLAN_KEEP,	      /* nothing is enough better */
	LT_REPLAN_BETTER,     /* another start saves more than a change costs
			       */
	LT_REPLAN_NO_ROOM,    /* its window is full by now */
	LT_REPLAN_CANNOT_RUN, /* the partition can't run it any more */
	/* From lt_rearrange(): others went elsewhere at the same time. */
	LT_REPLAN_TOGETHER,
	LT_REPLAN_NOW,	       /* its user starts it now: never said by lt_replan() */
	LT_REPLAN_INTERRUPTED, /* too often: off to nodes that stay */
	LT_REPLAN_DEADLINE,    /* waits for preemptible nodes, and may no more
				*/
	/* It would, and its team's budget does not allow it: never said by lt_replan(). */
	LT_REPLAN_OVER_BUDGET,
	/* It ran, and went back to the queue until then: never said by lt_replan(). */
	LT_REPLAN_PAUSED,
	/* Slurm could not start it: back to where it would have gone by itself; and it could not go
	 * back. Never said by lt_replan(). */
	LT_REPLAN_CANNOT_START,
	LT_REPLAN_STUCK,
	LT_REPLAN_WHY_COUNT
};
/* "better": as in the ledger and in explain's JSON. */
const char *lt_replan_word(enum lt_replan_why why);
/* -1 = none. */
int lt_replan_find(const char *word);

/* Part of the saving that a change must exceed: forecasts go up and down by as much from one hour
 * to the next, and its user has to follow each change. */
#define LT_SWITCHING 0.1
/* A start that is no worse and by so much sooner is worth a change: room came. */
enum { LT_SOONER_S = 300 };
/* A job that may have to leave is looked at again within this. */
enum { LT_LEAVE_LOOK_S = 60 };
/* When lowtided looks at it: each half minute while it waits for nodes; and of the wait that Slurm
 * gives it after a requeue, so long before the end, by when slurmdbd has reported the run that
 * ended. Slurm's is that of its default. */
enum {
	LT_WAITING_EVERY_S = 30,
	LT_REQUEUE_WAIT_S = 120,
	LT_BACK_BEFORE_S = 90,
};

/*
 * When a job that lost its nodes is looked at: LT_BACK_BEFORE_S before it may start; where Slurm
 * lets it wait for less than 120 s (its requeue_delay of 25.11, cred_expire), a quarter into that.
 * submit, eligible: UTC seconds of the requeue and of its earliest start, not before that. Pure.
 */
int64_t lt_replan_back_utc_s(int64_t submit_utc_s, int64_t eligible_utc_s);

struct lt_replan {
	/* The job as it was submitted: home is where it would have gone by itself, earliest is now
	 * or later, latest_utc_s the last start that was promised. */
	const struct lt_request *request;
	const struct lt_market *market;
	/* Without the job's own window. */
	const struct lt_planned *planned;
	uint32_t planned_count;
	int partition;	     /* where it stands */
	int64_t start_utc_s; /* and from when */
	int64_t now_utc_s;
};

struct lt_replanned {
	enum lt_replan_why why;
	struct lt_estimate standing; /* by today's figures; CANNOT_RUN: none */
	/* The least by which a change must better its score, eq. (23), in units of that;
	 * CANNOT_RUN: 0. */
	double least_saving;
	struct lt_plan plan; /* new; not for KEEP. Not moved = home, now */
};

/*
 * lt_decide() now, and whether it is worth a change: by its first score, with what waiting is
 * worth, the new start must be better than the one that stands by a tenth of what it saves from
 * home's now (or from that one, where that is worse), and by what a figure shows. Errors as
 * lt_decide(); then *out says KEEP. Source: docs/model.md, eq. (24a).
 */
/* When it leaves a preemptible partition where it waits for nodes, at the latest: another then
 * still keeps what was promised. Eq. (24b). INT64_MAX:
 * nothing was. */
int64_t lt_replan_leave_utc_s(const struct lt_request *request, const struct lt_market *market);
/* So often it may be interrupted, by its user's word and its class. */
uint32_t lt_interruptions_allowed(const struct lt_request *request, const struct lt_market *market);

int lt_replan(struct lt_replanned *out, const struct lt_replan *of, struct lt_error *err);

/*
 * The plan that stands, as lt_decide() would have told it had it chosen that place: all figures by
 * this market. For a plan that somebody else made, whose figures are not believed. LT_ENOENT: the
 * partition can't run the job; other errors as lt_decide().
 */
int lt_replan_standing(struct lt_plan *plan, const struct lt_replan *of, struct lt_error *err);

struct lt_return_of { /* a job that runs on nodes that stay */
	/* As it runs: home where it runs, allocated. */
	const struct lt_request *request;
	const struct lt_market *market;
	const struct lt_planned *planned; /* as lt_decide() */
	uint32_t planned_count;
	int64_t worked_s;  /* of this run */
	int64_t requeue_s; /* of that, what a requeue has it do again */
	/* The most that it may still wait, in all: lt_pause_most_s(). */
	int64_t most_s;
	int64_t now_utc_s;
};

struct lt_return {
	int partition; /* preemptible, to continue in; -1 = it stays */
	/* Saving on the work that is left, a requeue's cost included; 0 where not known. */
	double saved_micros, saved_mg;
};

/*
 * Decides whether a requeue now, to resume on preemptible nodes, is worth it. Goes by the score of
 * the work that is left, and the decision that would be made for it, with the guard of its
 * deadline. Errors as lt_decide(); *out is always written. Source: docs/model.md, eq. (24j).
 */
int lt_replan_return(struct lt_return *out, const struct lt_return_of *of, struct lt_error *err);

#endif
