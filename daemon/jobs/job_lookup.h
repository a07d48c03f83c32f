/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single jobs, asked for by their ids: what batch_child.c's child does.
 */
#ifndef LT_JOB_LOOKUP_H
#define LT_JOB_LOOKUP_H

#include "batch.h"

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

/* While slurmctld is busy each waits for it: after a second those that are left
 * are not asked for. On failure nothing is found. */
int lt_job_lookup_find(struct lt_job_lookup_found *found,
    const struct lt_job_lookup *named, struct lt_error *err);

#endif
