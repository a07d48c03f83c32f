/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hour steps: a plan does not need more, and a step is never under-counted
 * (a job that touches an hour counts for all of it).
 */
#include <string.h>

#include "occupancy.h"
#include "charge.h"
#include "quote.h"
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

/* How long it will run in all: as its quote expected, past that by what
 * remains; without one its limit. */
static int64_t
length_s(const struct lt_slurm_job *job, int64_t now_utc_s)
{
	const char *const text = job->admin_comment;
	const bool runs = job->state == LT_JOB_RUNNING && job->start_utc_s > 0;
	struct lt_quote quote;
	struct lt_quote_run run;

	if (text == NULL ||
	    lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK ||
	    lt_quote_run_unpack(&run, quote.run, strlen(quote.run), NULL) !=
		LT_OK)
		return job->limit_s;
	/* In the planned partition it takes so much of home's time. */
	if (strcmp(job->partition, quote.partition) == 0 &&
	    (!lt_scale_up(run.expected.expected_s, run.ratio_ppm, LT_MICROS,
		 &run.expected.expected_s) ||
		!lt_scale_up(run.expected.upper_s, run.ratio_ppm, LT_MICROS,
		    &run.expected.upper_s)))
		return job->limit_s;
	return lt_expected_length_s(&run.expected,
	    runs ? now_utc_s - job->start_utc_s - job->suspended_s : 0,
	    job->limit_s);
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
	const int64_t whole_s = length_s(job, now_utc_s);
	const int64_t most_s = whole_s < LT_OCCUPANCY_STEPS * LT_HOUR_S
				   ? whole_s
				   : (int64_t)LT_OCCUPANCY_STEPS * LT_HOUR_S;
	const int64_t end_utc_s =
	    (running && job->start_utc_s ? job->start_utc_s : start_utc_s) +
	    (running ? job->suspended_s : 0) + most_s;

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
