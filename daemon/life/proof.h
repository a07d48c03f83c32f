/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that are watched over their interruptions, and what that proves for the next ones of the
 * same user, account, name and script: given to job_submit with the lengths of runs.
 */
#ifndef LT_LIFE_PROOF_H
#define LT_LIFE_PROOF_H

#include "ledger_jobs.h"
#include "quote.h"

struct lt_batch_job;
struct lt_batch_jobs;
struct lt_charges;
struct lt_jobs_state;
struct lt_ledger;

struct lt_proof_state { /* start as { 0 } */
	bool is_read;	/* from the ledger */
	struct lt_life *lives;
	uint32_t life_count;
	size_t life_capacity;
	int64_t looked_utc_s; /* for jobs of classes with canary */
};

struct lt_proof_job {	       /* whose proof a job's would be */
	struct lt_quote quote; /* of */
	struct lt_proof_of of; /* lent from that and the job */
};
/* False: it did not say --checkpoint, or its script is not known. */
bool lt_proof_of_job(struct lt_proof_job *whose, const struct lt_batch_job *job);

enum lt_proof_taken { LT_PROOF_TAKEN, LT_PROOF_LATER, LT_PROOF_REFUSED };
struct lt_proof_told {	  /* by a node; lent */
	const char *node; /* it runs there */
	uint32_t job_id, uid;
	struct lt_progress progress;
};
/* Takes a report of progress. LATER: slurmctld's last list does not have that run yet. REFUSED: it
 * is not that user's job on that node, or the run is over. */
enum lt_proof_taken lt_proof_tell(struct lt_ledger *ledger, struct lt_charges *charges,
    struct lt_jobs_state *jobs, struct lt_proof_state *proof, const struct lt_proof_told *told,
    int64_t now_utc_s);
/* Notes that it is asked for a checkpoint now. */
void lt_proof_ask(
    struct lt_ledger *ledger, struct lt_proof_state *proof, uint32_t job_id, int64_t now_utc_s);
/* Returns its reported progress; NULL: none. */
const struct lt_life *lt_proof_life(const struct lt_proof_state *state, uint32_t job_id);
/* Forgets jobs that have ended. */
int lt_proof_run(struct lt_ledger *ledger, const struct lt_batch_jobs *list,
    struct lt_proof_state *proof, int64_t now_utc_s, struct lt_error *err);
void lt_proof_free(struct lt_proof_state *state);

#endif
