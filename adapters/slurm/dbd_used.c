/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run used, by its steps. Their CPU time is exact: each task's is taken
 * when it ends. Of GPUs Slurm keeps, for each task, the last sample
 * (TRESUsageInTot and InAve) and the largest one (InMax), neither of which is a
 * mean; only the largest says something of all of the time: no sample was above
 * it. So this is the most that can have been used of them. Source:
 * jag_common_poll_data() of jobacct_gather/common, 22.05 to 26.05.
 */
#include "dbd_used.h"
#include "slurm_text.h"
#include "units.h"

enum { PERCENT = 100 };

/* So many of the run's GPUs, in ppm of all that it had. */
static int64_t
gpu_ppm_of(const slurmdb_step_rec_t *step, uint32_t gpus, uint64_t percent)
{
	const uint64_t tasks = step->ntasks > 0 ? step->ntasks : 1;

	if (percent > UINT32_MAX || percent * tasks >= (uint64_t)PERCENT * gpus)
		return LT_MICROS;
	return (int64_t)(percent * tasks * LT_MICROS / PERCENT / gpus);
}

void
lt_copy_used(
    struct lt_batch_run *to, const slurmdb_job_rec_t *from, uint32_t gpu_use_id)
{
	const int64_t elapsed_s =
	    to->end_utc_s - to->start_utc_s - to->suspended_s;
	int64_t busy = 0; /* ppm x s */

	if (from->steps == NULL || to->start_utc_s == 0 || elapsed_s <= 0)
		return;
	lt_slurm_iterator *const iterator =
	    slurm_list_iterator_create(from->steps);
	for (slurmdb_step_rec_t *step;
	     (step = slurm_list_next(iterator)) != NULL;) {
		const char *const used = step->stats.tres_usage_in_tot;
		const int64_t step_s =
		    step->elapsed < elapsed_s ? step->elapsed : elapsed_s;
		uint64_t percent;

		/* Where nobody gathers it there is none. */
		to->has_cpu_used |= used != NULL && used[0] != '\0';
		to->cpu_used_ms += (int64_t)step->tot_cpu_sec * 1000 +
				   (int64_t)step->tot_cpu_usec / 1000;
		if (gpu_use_id == 0 || to->gpus == 0 ||
		    !lt_tres_count_of(
			step->stats.tres_usage_in_max, gpu_use_id, &percent))
			continue;
		to->has_gpu_used = true;
		busy += step_s * gpu_ppm_of(step, to->gpus, percent);
	}
	slurm_list_iterator_destroy(iterator);
	to->gpu_used_ppm = busy / elapsed_s < LT_MICROS
			       ? (uint32_t)(busy / elapsed_s)
			       : LT_MICROS;
}
