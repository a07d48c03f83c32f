/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slurm's long answers, and those to many questions, read by a child: libslurm needs several times
 * their size, and while slurmctld or slurmdbd think, others have their turns. What one call gives
 * is as of adapters/slurm; our own time ends it after LT_BATCH_CHILD_S seconds, as LT_ENET.
 */
#ifndef LT_BATCH_CHILD_H
#define LT_BATCH_CHILD_H

#include "batch.h"
#include "budget_state.h"

struct lt_job_lookup {
	const uint32_t *ids; /* all records of each one's array or het job */
	uint32_t count;
	uint32_t after, unseen; /* and upward from an id, until so many ids were
				 * somebody's */
};

struct lt_job_lookup_found {
	struct lt_batch_jobs jobs; /* each record once, in no order */
	uint32_t asked;		   /* so many of the ids, from the first on */
	uint32_t seen;		   /* of those upward */
};

enum { LT_BATCH_CHILD_S = 600 };

/* state: what is known of jobs, which the child has no use for. */
int lt_child_jobs(
    struct lt_batch_jobs *jobs, const struct lt_jobs_state *state, struct lt_error *err);
/* Looks up single jobs; each record owns its texts. */
int lt_child_named(
    struct lt_job_lookup_found *found, const struct lt_job_lookup *named, struct lt_error *err);
/* Reads rows of slurmdbd. rows: lt_batch_runs(), _ended() or _used(). */
typedef int lt_rows_function(
    struct lt_batch_runs *runs, int64_t from_utc_s, int64_t to_utc_s, struct lt_error *err);
int lt_child_rows(struct lt_batch_runs *runs, lt_rows_function *rows, int64_t from_utc_s,
    int64_t to_utc_s, struct lt_error *err);
int lt_child_runs_of_jobs(
    struct lt_batch_runs *runs, const uint32_t *job_ids, uint32_t count, struct lt_error *err);

#endif
