/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Apart from jobs.c, which needs libslurm: who only holds a list frees it.
 */
#include <stdlib.h>

#include "pool.h"
#include "slurm.h"

void
lt_slurm_jobs_free(struct lt_slurm_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->count; i++)
		free(jobs->jobs[i].texts);
	free(jobs->jobs);
	lt_pool_free(jobs->pool);
	*jobs = (struct lt_slurm_jobs){0};
}
