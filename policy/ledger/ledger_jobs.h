/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger's records of jobs while they run: runs that ended before their work did, nodes that
 * their owner takes back and how far the jobs there are, jobs that lowtide pauses, and which jobs
 * were seen to resume. Each step is written before it is done, so that a restart does none twice.
 *
 * Lists are malloc'd and the caller's. LT_OK or an error of SQLite.
 */
#ifndef LT_LEDGER_JOBS_H
#define LT_LEDGER_JOBS_H

#include "ledger.h"
#include "life.h"

/* ---- Interruptions ---- */

struct lt_interrupted {
	uint32_t job_id;
	int64_t start_utc_s; /* of the run */
	int64_t at_utc_s;
	bool counts;	/* its node was taken; else lowtide moved it */
	int64_t done_s; /* of its work, that it need not do again */
};
struct lt_losses {
	uint32_t interruptions;
	int64_t done_s;
};
/* One that is there stays as it is. */
int lt_ledger_put_interruption(
    struct lt_ledger *ledger, const struct lt_interrupted *run, struct lt_error *err);
/* Sums up the runs of this id that began since then: an id is given again. */
int lt_ledger_losses(struct lt_ledger *ledger, uint32_t job_id, int64_t since_utc_s,
    struct lt_losses *life, struct lt_error *err);
int lt_ledger_prune_interruptions(
    struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

/* ---- Notices: nodes that their owner takes back ---- */

enum lt_notice_step { /* of a job there */
	LT_NOTICE_SEEN,
	LT_NOTICE_SIGNALLED, /* it was asked for a checkpoint */
	LT_NOTICE_REQUEUED,
	LT_NOTICE_STARTED, /* may start elsewhere */
	LT_NOTICE_STEP_COUNT
};
/* The stage of a node's notice: after the first its notice is over, and the row stays until Slurm
 * gives the node to jobs again. */
enum lt_notice_stage {
	LT_NOTICE_LEAVES,
	LT_NOTICE_GONE,	 /* resumed when it is back */
	LT_NOTICE_STAYS, /* withdrawn: resumed as soon as Slurm answers */
};
struct lt_notice {
	char node[LT_NAME_SIZE];
	int64_t told_utc_s, end_utc_s;
	enum lt_notice_stage stage;
};
struct lt_reclaimed {
	uint32_t job_id;
	int64_t start_utc_s; /* of the run that is interrupted */
	enum lt_notice_step step;
	int64_t at_utc_s; /* of the step */
	bool is_leaving;  /* the daemon's, of a pass; not kept */
};
/* One that is there gets the new end and stage. */
int lt_ledger_put_notice(
    struct lt_ledger *ledger, const struct lt_notice *notice, struct lt_error *err);
int lt_ledger_drop_notice(struct lt_ledger *ledger, const char *node, struct lt_error *err);
/* Reads all by name; malloc'd. */
int lt_ledger_notices(
    struct lt_ledger *ledger, struct lt_notice **notices, uint32_t *count, struct lt_error *err);
int lt_ledger_put_reclaimed(
    struct lt_ledger *ledger, const struct lt_reclaimed *job, struct lt_error *err);
int lt_ledger_drop_reclaimed(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Reads all by id; malloc'd. */
int lt_ledger_reclaimed(
    struct lt_ledger *ledger, struct lt_reclaimed **jobs, uint32_t *count, struct lt_error *err);

/* ---- Pauses ---- */

enum lt_pause_step {
	LT_PAUSE_SUSPENDING, /* the batch system is being asked */
	LT_PAUSE_PAUSED,     /* it was seen to stand still */
	LT_PAUSE_RESUMING,
	LT_PAUSE_RESUMING_FOR_GOOD, /* by its user's word: LEFT then */
	LT_PAUSE_LEFT,		    /* others had their say: no more pauses of this run */
	/* One that is requeued: it is being asked for a checkpoint, */
	LT_PAUSE_ASKED,
	LT_PAUSE_REQUEUED, /* the batch system for its requeue. */
	/* The same for one that is to continue elsewhere. */
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
	/* Seconds of suspension, of the whole run, that are held for; 0: as many as there were. */
	int64_t held_s;
	/* When the batch system says that it was suspended; 0: not seen yet. Another time is
	 * another's suspension. */
	int64_t changed_utc_s;
	struct lt_amount saves; /* expected, of this pause and those after it */
};
int lt_ledger_put_paused(
    struct lt_ledger *ledger, const struct lt_paused *paused, struct lt_error *err);
int lt_ledger_drop_paused(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Reads all by id; malloc'd. */
int lt_ledger_paused(
    struct lt_ledger *ledger, struct lt_paused **paused, uint32_t *count, struct lt_error *err);

/* ---- Proofs: which jobs were seen to resume, and the jobs that are watched
 * for it ---- */

struct lt_proof_of { /* whose; strings are lent */
	struct lt_history_key key;
	const char *account, *name;
	uint64_t script_hash;
};
struct lt_proof_row {
	int64_t proven_utc_s;	   /* last; 0 = never */
	uint32_t survived, failed; /* survived: since it failed last */
	int64_t write_s, restart_s;
	int64_t canary_utc_s; /* by its class; 0 = not yet */
	int64_t last_utc_s;   /* when something was learned of it */
};
/* { 0 } where nothing is known. */
int lt_ledger_proof(struct lt_ledger *ledger, const struct lt_history_key *key,
    struct lt_proof_row *row, struct lt_error *err);
int lt_ledger_put_proof(struct lt_ledger *ledger, const struct lt_proof_of *of,
    const struct lt_proof_row *row, struct lt_error *err);
int lt_ledger_prune_proofs(struct lt_ledger *ledger, int64_t before_utc_s, struct lt_error *err);

int lt_ledger_put_life(struct lt_ledger *ledger, const struct lt_life *life, struct lt_error *err);
int lt_ledger_drop_life(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Reads all by id; malloc'd. */
int lt_ledger_lives(
    struct lt_ledger *ledger, struct lt_life **lives, uint32_t *count, struct lt_error *err);

struct lt_canary { /* a run that is interrupted to see what comes of it */
	uint32_t job_id;
	int64_t start_utc_s, requeue_utc_s;
};
int lt_ledger_put_canary(
    struct lt_ledger *ledger, const struct lt_canary *canary, struct lt_error *err);
int lt_ledger_drop_canary(struct lt_ledger *ledger, uint32_t job_id, struct lt_error *err);
/* Reads all by id; malloc'd. */
int lt_ledger_canaries(
    struct lt_ledger *ledger, struct lt_canary **canaries, uint32_t *count, struct lt_error *err);

#endif
