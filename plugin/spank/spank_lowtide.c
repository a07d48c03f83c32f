/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SPANK plugin: Slurm's entry points. They handle the options on sbatch, salloc and srun
 * (spank_options.c); the decision if job_submit/lowtide is absent (spank_place.c); and on the node
 * the job's environment (spank_env.c), its power cap (spank_cap.c) and its progress
 * (spank_progress.c). On a node a failure never stops the job.
 */
#include "spank_parts.h"

SPANK_PLUGIN(lowtide, 1)

int
slurm_spank_init(spank_t spank, int count, char **arguments)
{
	const spank_context_t context = spank_context();

	if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR && context != S_CTX_REMOTE)
		return 0;
	lt_spank_begin(spank, count, arguments, context != S_CTX_REMOTE);
	return 0;
}

int
slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	switch (spank_context()) {
	case S_CTX_LOCAL:
	case S_CTX_ALLOCATOR:
		lt_spank_client();
		return 0;
	case S_CTX_REMOTE:
		lt_spank_environment(spank);
		lt_spank_cap(spank);
		return 0;
	default:
		return 0;
	}
}

int
slurm_spank_task_init(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	lt_spank_task(spank);
	return 0;
}

int
slurm_spank_task_post_fork(spank_t spank, int count, char **arguments)
{
	(void)count;
	(void)arguments;
	lt_spank_progress_begin(spank);
	return 0;
}

int
slurm_spank_task_exit(spank_t spank, int count, char **arguments)
{
	(void)spank;
	(void)count;
	(void)arguments;
	lt_spank_progress_task_over();
	return 0;
}

int
slurm_spank_exit(spank_t spank, int count, char **arguments)
{
	(void)spank;
	(void)count;
	(void)arguments;
	lt_spank_progress_end();
	return 0;
}
