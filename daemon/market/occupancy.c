/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the nodes that jobs take, in quarters of an hour and later in hours: a plan needs no more,
 * and a step is never under-counted (a job that touches one counts for all of it).
 *
 * Pure: reads the job list and the market, writes the caller's steps.
 */
#include <string.h>

#include "breath.h"
#include "occupancy.h"
#include "charge.h"
#include "min_max.h"
#include "quote.h"
#include "suspension.h"
#include "units.h"

static const int64_t horizon_s = LT_OCCUPANCY_DAYS * LT_DAY_S;
static const double noise = 1e-9; /* of sums of nodes */

static double
equivalents(const struct lt_batch_job *job, const struct lt_market *market, int partition)
{
	const struct lt_resources resources = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exact = job->exact,
	    .exclusive = job->exclusive};
	const struct lt_partition *const p = &market->partitions[partition];
	const struct lt_fraction share =
	    lt_charge_share(&resources, market->shapes + p->first_shape, p->shape_count);

	return (double)job->nodes * (double)share.numerator / (double)share.denominator;
}

int64_t
lt_occupancy_length_s(const struct lt_batch_job *job, int64_t now_utc_s)
{
	const char *const text = job->admin_comment;
	const bool runs = (job->state == LT_JOB_RUNNING || job->state == LT_JOB_SUSPENDED) &&
			  job->start_utc_s > 0;
	struct lt_quote quote;
	struct lt_quote_run run;

	if (text == NULL || lt_quote_unpack(&quote, text, strlen(text), NULL) != LT_OK ||
	    lt_quote_run_unpack(&run, quote.run, strlen(quote.run), NULL) != LT_OK)
		return job->limit_s;
	/* In the planned partition it takes so much of home's time. */
	if (strcmp(job->partition, quote.partition) == 0 &&
	    (!lt_scale_up(
		 run.expected.expected_s, run.ratio_ppm, LT_MICROS, &run.expected.expected_s) ||
		!lt_scale_up(
		    run.expected.upper_s, run.ratio_ppm, LT_MICROS, &run.expected.upper_s)))
		return job->limit_s;
	return lt_expected_length_s(
	    &run.expected, runs ? lt_suspension_worked_s(job, now_utc_s) : 0, job->limit_s);
}

static bool
in_partition(const struct lt_batch_job *job, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(job->partition, name, length) == 0 &&
	       (job->partition[length] == '\0' || job->partition[length] == ',');
}

bool
lt_occupancy_window(struct lt_planned *window, const struct lt_batch_job *job,
    const struct lt_market *market, int partition, int64_t now_utc_s)
{
	/* A job that others suspended may never resume. */
	const bool running =
	    job->state == LT_JOB_RUNNING || (job->state == LT_JOB_SUSPENDED && job->pause_s > 0);
	const bool booked =
	    job->state == LT_JOB_PENDING && !job->held && job->eligible_utc_s > now_utc_s;

	if ((!running && !booked) || job->nodes == 0)
		return false;
	const int64_t start_utc_s = running ? now_utc_s : job->eligible_utc_s;
	const int64_t whole_s = lt_occupancy_length_s(job, now_utc_s);
	const int64_t most_s = whole_s < horizon_s ? whole_s : horizon_s;
	const int64_t end_utc_s = (running && job->start_utc_s ? job->start_utc_s : start_utc_s) +
				  (running ? lt_max_i64(job->suspended_s, job->pause_s) : 0) +
				  most_s;

	*window = (struct lt_planned){.partition = (uint16_t)partition,
	    .nodes =
		(float)(equivalents(job, market, partition) * (running ? 1 : job->array_pending)),
	    .start_utc_s = start_utc_s - start_utc_s % LT_OCCUPANCY_GRAIN_S,
	    .end_utc_s = (end_utc_s + LT_OCCUPANCY_GRAIN_S - 1) / LT_OCCUPANCY_GRAIN_S *
			 LT_OCCUPANCY_GRAIN_S};
	return window->end_utc_s > window->start_utc_s;
}

/* Where step i starts; one behind the last is where that ends. */
static int64_t
step_s(int i)
{
	enum { FINE = LT_DAY_S / LT_OCCUPANCY_GRAIN_S };

	return i < FINE ? (int64_t)i * LT_OCCUPANCY_GRAIN_S
			: LT_DAY_S + (int64_t)(i - FINE) * LT_HOUR_S;
}

/* Returns the step that holds that second, 0 to LT_OCCUPANCY_STEPS. */
static int
step_of(int64_t after_s)
{
	if (after_s < 0)
		return 0;
	if (after_s >= horizon_s)
		return LT_OCCUPANCY_STEPS;
	return after_s < LT_DAY_S
		   ? (int)(after_s / LT_OCCUPANCY_GRAIN_S)
		   : (int)(LT_DAY_S / LT_OCCUPANCY_GRAIN_S + (after_s - LT_DAY_S) / LT_HOUR_S);
}

bool
lt_occupancy_in_line(const struct lt_batch_job *job, int64_t now_utc_s)
{
	return job->state == LT_JOB_PENDING && !job->held && job->nodes > 0 &&
	       job->eligible_utc_s <= now_utc_s && job->reason_text != NULL &&
	       (strcmp(job->reason_text, "Resources") == 0 ||
		   strcmp(job->reason_text, "Priority") == 0);
}

static double
node_seconds(const struct lt_batch_job *job, const struct lt_market *market, int partition,
    int64_t now_utc_s)
{
	const int64_t whole_s = lt_occupancy_length_s(job, now_utc_s);

	return equivalents(job, market, partition) * job->array_pending *
	       (double)(whole_s < horizon_s ? whole_s : horizon_s);
}

/* Gives the free nodes to jobs in line, until their work is done. */
static void
fill_free_nodes(double *nodes, double room, double work)
{
	for (int i = 0; i < LT_OCCUPANCY_STEPS && work > 0; i++) {
		const double length_of_step_s = (double)(step_s(i + 1) - step_s(i));
		double taken = work / length_of_step_s;

		if (taken > room - nodes[i])
			taken = room - nodes[i];
		if (!(taken > 0))
			continue;
		nodes[i] += taken;
		work -= taken * length_of_step_s;
	}
}

/* Steps, equal ones as one; the last of all is empty. */
static void
write_steps(struct lt_occupancy *occupancy, const double *nodes, int64_t first_utc_s)
{
	int used = LT_OCCUPANCY_STEPS;
	uint32_t count = 0;

	while (used > 0 && nodes[used - 1] < noise)
		used--;
	for (int i = 0; i < used; i++) {
		if (count > 0 && nodes[i] == occupancy->nodes[count - 1])
			continue;
		occupancy->start_utc_s[count] = first_utc_s + step_s(i);
		occupancy->nodes[count++] = nodes[i] < noise ? 0 : nodes[i];
	}
	if (count > 0) {
		occupancy->start_utc_s[count] = first_utc_s + step_s(used);
		occupancy->nodes[count++] = 0;
		occupancy->start_utc_s[count] = occupancy->start_utc_s[count - 1] + LT_HOUR_S;
	}
	occupancy->count = count;
}

void
lt_occupancy_count(struct lt_occupancy *occupancy, const struct lt_batch_jobs *jobs,
    const struct lt_market *market, int partition, int64_t now_utc_s)
{
	const struct lt_partition *const p = &market->partitions[partition];
	const int64_t first = now_utc_s - now_utc_s % LT_OCCUPANCY_GRAIN_S;
	double nodes[LT_OCCUPANCY_STEPS + 2] = {0}; /* changes, then sums */
	double in_line = 0;			    /* node-seconds */

	for (uint32_t i = 0; i < jobs->count; i++) {
		const struct lt_batch_job *const job = &jobs->jobs[i];
		struct lt_planned window;

		lt_breath(LT_TURN_READ);
		if (!in_partition(job, p->name))
			continue;
		if (lt_occupancy_in_line(job, now_utc_s))
			in_line += node_seconds(job, market, partition, now_utc_s);
		if (!lt_occupancy_window(&window, job, market, partition, now_utc_s))
			continue;
		if (occupancy->windows != NULL)
			occupancy->windows[i] = window;
		nodes[step_of(window.start_utc_s - first)] += (double)window.nodes;
		/* The step in which it ends counts, unless it ends at that step's start. */
		nodes[step_of(window.end_utc_s - 1 - first) + 1] -= (double)window.nodes;
	}
	nodes[0] += occupancy->away;
	nodes[step_of(now_utc_s + LT_HOUR_S - first) + 1] -= occupancy->away;
	for (int i = 1; i < LT_OCCUPANCY_STEPS; i++)
		nodes[i] += nodes[i - 1];
	for (int i = 0; i < LT_OCCUPANCY_STEPS; i++)
		nodes[i] += occupancy->others;
	fill_free_nodes(nodes, p->node_count, in_line);
	occupancy->queued = in_line > 0;
	write_steps(occupancy, nodes, first);
}

int64_t
lt_occupancy_until(const struct lt_batch_jobs *list)
{
	const int64_t newest_utc_s = list->count > 0 ? list->jobs[list->count - 1].submit_utc_s : 0;

	return newest_utc_s > list->begun_utc_s ? newest_utc_s : list->begun_utc_s;
}
