/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Would Slurm start the job in another partition, where it has room? Limits of
 * QOS and associations, and reservations, can keep it waiting for ever. Where
 * only the kind of a limit is known, the job may be given no more there than at
 * home, which Slurm accepts.
 */
#include <string.h>

#include "decide_internal.h"

static bool
passes(struct layout *layout, uint64_t given, uint64_t most)
{
	layout->wanted = (double)given;
	layout->found = (double)most;
	return most > 0 && given > most;
}

/* The limits of the partition's own QOS, in numbers. */
static bool
breaks_qos(struct layout *layout, const struct job *job,
    const struct lt_limits *limits)
{
	const uint64_t nodes =
	    layout->share.nodes > 0 ? layout->share.nodes : 1;

	if (limits->others ||
	    (limits->most_s > 0 && job->limit_s > limits->most_s))
		return true;
	for (int i = 0; i < LT_LIMITED_COUNT; i++) {
		const uint64_t given = layout->given[i];
		const uint64_t on_one =
		    nodes == 1 ? given : (given + nodes - 1) / nodes;

		if (passes(layout, given, limits->most[i]) ||
		    passes(layout, on_one, limits->most_per_node[i]))
			return true;
	}
	/* Slurm counts what was asked: less than it gives. */
	const uint64_t asked[LT_LIMITED_COUNT] = {
	    [LT_LIMITED_CPU] = job->request->cpus,
	    [LT_LIMITED_NODE] = job->request->min_nodes,
	    [LT_LIMITED_GPU] = layout->given[LT_LIMITED_GPU]};

	for (int i = 0; i < LT_LIMITED_COUNT; i++)
		if (asked[i] < limits->least[i]) {
			layout->wanted = (double)limits->least[i];
			layout->found = (double)asked[i];
			return true;
		}
	return false;
}

/* Limits that only their kind is known of: of its own QOS, its account, its
 * user. */
static bool
may_break_others(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_market *const market = job->market;
	const struct lt_partition *const part = &market->partitions[partition];
	const struct lt_partition *const home =
	    &market->partitions[job->request->home];

	for (int i = 0;
	     market->job_limits & LT_LIMITS_AMOUNTS && i < LT_LIMITED_COUNT;
	     i++)
		if (layout->given[i] > job->given_at_home[i]) {
			layout->wanted = (double)layout->given[i];
			layout->found = (double)job->given_at_home[i];
			return true;
		}
	if (!(market->job_limits & LT_LIMITS_OTHERS))
		return false;
	return part->billing_hash != home->billing_hash ||
	       (lt_request_wants_gpus(job->request) &&
		   market->shapes[layout->shape].gpu_index !=
		       (job->home_gpu != NULL
			       ? (int)(job->home_gpu - market->gpus)
			       : -1));
}

/* Memory per node that Slurm compares with MaxMemPerNode, MiB: the default
 * though --mem-per-gpu says less, and the whole node's where there is no
 * default or the user asks for it. */
static uint64_t
memory_compared(const struct layout *layout, const struct job *job,
    const struct lt_partition *part)
{
	const bool by_default = job->request->memory_mib_per_gpu > 0 &&
				!part->default_memory_is_per_cpu;
	const uint64_t most = job->market->shapes[layout->shape].memory_mib;

	if (job->request->whole_memory ||
	    (by_default && part->default_memory_mib == 0))
		return most;
	return by_default ? part->default_memory_mib : layout->memory_mib;
}

enum lt_reject
lt_limit_reject(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_partition *const part =
	    &job->market->partitions[partition];
	const uint64_t memory_mib = memory_compared(layout, job, part);

	if (!part->max_memory_is_per_cpu &&
	    passes(layout, memory_mib, part->max_memory_mib))
		return LT_REJECT_MEMORY;
	/* MinNodes gives the job more nodes than it asks for; Slurm 26.05
	 * refuses it with --use-min-nodes. */
	if (part->min_nodes > 1 && part->min_nodes > job->request->min_nodes) {
		layout->wanted = job->request->min_nodes;
		layout->found = part->min_nodes;
		return LT_REJECT_LIMITS;
	}
	return breaks_qos(layout, job, &part->limits) ||
		       may_break_others(layout, job, partition)
		   ? LT_REJECT_LIMITS
		   : LT_REJECT_NONE;
}

int64_t
lt_limit_unsaid(const struct lt_request *request,
    const struct lt_market *market, const struct lt_partition *part)
{
	const int64_t here_s = part->limits.most_s;
	const int64_t wall_s =
	    here_s > request->wall_s ? here_s : request->wall_s;
	const int64_t else_s = part->max_time_s != INT64_MAX
				   ? part->max_time_s
				   : market->assume_time_s;

	if (here_s > 0 || request->wall_always)
		return wall_s < part->max_time_s ? wall_s : part->max_time_s;
	if (else_s > 0 && wall_s > else_s && part->max_time_s == INT64_MAX)
		return wall_s;
	return else_s > 0 ? else_s : LT_UNSET_64;
}
