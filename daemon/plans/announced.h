/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans that SPANK made and announced before their jobs came: without job_submit they let
 * submissions see each other, and let a job be decided again. In memory alone, and for minutes: if
 * a plan is lost its job stays where it was put.
 */
#ifndef LT_ANNOUNCED_H
#define LT_ANNOUNCED_H

#include "batch.h"
#include "quote.h"

struct lt_market;

enum {
	/* Until then its job was seen, or never came; and a login node's market, at most a minute
	 * and a half old, has the job. */
	LT_ANNOUNCED_KEEP_S = 120,
	LT_ANNOUNCED_TOLD = 512,	   /* the newest; of more the rest are not */
	LT_ANNOUNCED_OF_USER = 512,	   /* without a job yet; more: refused */
	LT_ANNOUNCED_MAX = LT_PLANNED_MAX, /* more: refused */
};

struct lt_announced { /* one job, or one array */
	uint32_t uid;
	/* These identify its job; limit_s 0: not known; account "": default. A start that is not
	 * after the submission does not count. */
	char account[LT_ACCOUNT_SIZE], partition[LT_NAME_SIZE];
	int64_t start_utc_s, limit_s;
	uint32_t tasks;
	/* The nodes and the time that it takes there. */
	struct lt_planned window;
	/* The user's wishes: they count for the user's own job, and all amounts are lowtided's. */
	char home[LT_NAME_SIZE];
	enum lt_objective objective;
	uint32_t flags; /* of the quote: CHECKPOINT and PLANE */
	struct lt_wish wish;
	/* The keeper's. */
	uint64_t sequence; /* counts up, from 1 */
	int64_t made_utc_s;
	uint32_t job_id; /* 0: not seen yet */
	/* The market's when it was seen: a later market has the job itself. */
	uint64_t generation;
};

struct lt_announced_state {	    /* start as { 0 } */
	struct lt_announced *plans; /* by sequence */
	uint32_t count;
	size_t capacity;
	uint64_t sequence; /* the last one */
};

/* LT_ELIMIT: too many, of this user or in all; LT_ENOMEM. */
int lt_announced_add(struct lt_announced_state *state, const struct lt_announced *plan,
    int64_t now_utc_s, struct lt_error *err);

/* Returns a window that is in no market of this generation and was announced after `seen`, the next
 * one after *at, which begins as 0; NULL: no more. Only the newest LT_ANNOUNCED_TOLD. */
struct lt_announced_seen {
	uint64_t generation, sequence;
	int64_t now_utc_s;
};
const struct lt_announced *lt_announced_next(
    uint32_t *at, const struct lt_announced_state *state, const struct lt_announced_seen *seen);

/* Finds the plan that this job was announced with: the first that fits and has no other job. False:
 * none. */
bool lt_announced_find(struct lt_announced *plan, const struct lt_market *market,
    struct lt_announced_state *announced, const struct lt_batch_job *job, int64_t now_utc_s);

void lt_announced_free(struct lt_announced_state *state);

/* Adds to the quote of lt_quote_of_job() all that a plan has: the announced wishes, and what the
 * plan comes to by this market. */
void lt_announced_lay(struct lt_quote *quote, const struct lt_market *market,
    const struct lt_announced_state *announced, const struct lt_batch_job *job,
    const struct lt_announced *told);

#endif
