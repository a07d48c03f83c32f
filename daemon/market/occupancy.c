/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hour steps: a plan does not need more, and a step is never under-counted
 * (a job that touches an hour counts for all of it).
 */
#include <string.h>

#include "occupancy.h"
#include "charge.h"
#include "units.h"

static double
equivalents(const struct lt_slurm_job *job, const struct lt_market *market,
    int partition)
{
	const struct lt_resources resources = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exclusive = job->exclusive};
	const struct lt_partition *const p = &market->partitions[partition];
	const struct lt_fraction share = lt_charge_share(
	    &resources, market->shapes + p->first_shape, p->shape_count);

	return (double)job->nodes * (double)share.numerator /
	       (double)share.denominator;
}

static bool
in_partition(const struct lt_slurm_job *job, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(job->partition, name, length) == 0 &&
	       (job->partition[length] == '\0' ||
		   job->partition[length] == ',');
}

bool
lt_occupancy_window(struct lt_planned *window, const struct lt_slurm_job *job,
    const struct lt_market *market, int partition, int64_t now_utc_s)
{
	const bool running = job->state == LT_JOB_RUNNING;
	const bool booked = job->state == LT_JOB_PENDING && !job->held &&
			    job->eligible_utc_s > now_utc_s;

	if ((!running && !booked) || job->nodes == 0)
		return false;
	const int64_t start_utc_s = running ? now_utc_s : job->eligible_utc_s;
	const int64_t length_s = job->limit_s < LT_OCCUPANCY_STEPS * LT_HOUR_S
				     ? job->limit_s
				     : (int64_t)LT_OCCUPANCY_STEPS * LT_HOUR_S;
	const int64_t end_utc_s =
	    (running && job->start_utc_s ? job->start_utc_s : start_utc_s) +
	    length_s;

	*window = (struct lt_planned){.partition = (uint16_t)partition,
	    .nodes = (float)(equivalents(job, market, partition) *
			     (running ? 1 : job->array_pending)),
	    .start_utc_s = start_utc_s - start_utc_s % LT_HOUR_S,
	    .end_utc_s = (end_utc_s + LT_HOUR_S - 1) / LT_HOUR_S * LT_HOUR_S};
	return window->end_utc_s > window->start_utc_s;
}

void
lt_occupancy_count(struct lt_occupancy *occupancy,
    const struct lt_slurm_jobs *jobs, const struct lt_market *market,
    int partition, int64_t now_utc_s)
{
	const int64_t first = now_utc_s / LT_HOUR_S * LT_HOUR_S;
	uint32_t used = 0;

	memset(occupancy, 0, sizeof(*occupancy));
	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_slurm_job *const job = &jobs->jobs[i];
		struct lt_planned window;

		if (!in_partition(job, market->partitions[partition].name) ||
		    !lt_occupancy_window(
			&window, job, market, partition, now_utc_s))
			continue;
		for (int64_t h = (window.start_utc_s - first) / LT_HOUR_S;
		     h < LT_OCCUPANCY_STEPS &&
		     first + h * LT_HOUR_S < window.end_utc_s;
		     h++) {
			occupancy->nodes[h] += (double)window.nodes;
			used = (uint32_t)h + 1 > used ? (uint32_t)h + 1 : used;
		}
	}
	if (used == 0)
		return;
	occupancy->count = used < LT_OCCUPANCY_STEPS ? used + 1 : used;
	for (uint32_t h = 0; h <= occupancy->count; h++)
		occupancy->start_utc_s[h] = first + (int64_t)h * LT_HOUR_S;
}
