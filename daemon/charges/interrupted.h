/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that lost their nodes: how often a job did, and what of its work is kept.
 */
#ifndef LT_INTERRUPTED_H
#define LT_INTERRUPTED_H

#include "batch.h"
#include "decide.h"
#include "ledger.h"
#include "quote.h"

struct lt_market;

/* Returns how many of a run's seconds need not be worked again: for a run that said it can resume,
 * all but the time since its last checkpoint at most. */
int64_t lt_work_kept_s(const struct lt_market *market, int partition, const struct lt_wish *wish,
    uint32_t nodes, int64_t ran_s);
/* Returns how long it takes to write a checkpoint, by its user's word. */
int64_t lt_wish_write_s(const struct lt_wish *wish);

struct lt_ended_by_us { /* a run */
	int64_t at_utc_s;
	int64_t asked_utc_s; /* for a checkpoint; 0 = it was not */
	bool counts;	     /* its node is taken; else it is our own choice */
};
/* Notes that lowtide ends the run of this record so. */
int lt_interrupted_note(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ended_by_us *end, struct lt_error *err);
/* Notes a row of slurmdbd that shows an interruption in a preemptible partition. */
int lt_interrupted_row(const struct lt_market *market, struct lt_ledger *ledger,
    const struct lt_batch_run *row, struct lt_error *err);
/* Puts the job's interruptions into the request. hold: its own. */
void lt_interrupted_lay(struct lt_request *request, struct lt_ledger *ledger,
    const struct lt_batch_job *job, const struct lt_ledger_hold *hold, int64_t limit_asked_s);

#endif
