/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of the ledger: jobs that run and that lowtide lets stand still.
 */
#ifndef LT_PAUSES_H
#define LT_PAUSES_H

#include "ledger.h"

enum lt_pause_step {
	LT_PAUSE_SUSPENDING, /* the batch system is being asked */
	LT_PAUSE_PAUSED,     /* it was seen to stand still */
	LT_PAUSE_RESUMING,
	LT_PAUSE_RESUMING_FOR_GOOD, /* by its user's word: LEFT then */
	LT_PAUSE_LEFT, /* others had their say: no more pauses of this run */
	/* Of one that is requeued: it is being asked for a checkpoint, */
	LT_PAUSE_ASKED,
	LT_PAUSE_REQUEUED, /* the batch system for its requeue. */
	/* The same of one that is to go on elsewhere. */
	LT_PAUSE_ASKED_AWAY,
	LT_PAUSE_REQUEUED_AWAY,
	LT_PAUSE_STEP_COUNT
};
struct lt_paused {
	uint32_t job_id;
	int64_t start_utc_s; /* of the run */
	enum lt_pause_step step;
	int64_t at_utc_s; /* of the step */
	int64_t until_utc_s;
	/* Seconds of suspension, of the whole run, that are held for; 0: as
	 * many as there were. */
	int64_t held_s;
	/* When the batch system says that it was suspended; 0: not seen yet.
	 * Another time is another's suspension. */
	int64_t changed_utc_s;
	struct lt_amount saves; /* expected, of this pause and those after it */
};
int lt_ledger_put_paused(struct lt_ledger *ledger,
    const struct lt_paused *paused, struct lt_error *err);
int lt_ledger_drop_paused(
    struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* By their ids; malloc'd. */
int lt_ledger_paused(struct lt_ledger *ledger, struct lt_paused **paused,
    uint32_t *count, struct lt_error *err);

#endif
