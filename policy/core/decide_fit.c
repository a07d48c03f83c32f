/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Can a partition run the job, and may the job be moved there? The first step
 * of lt_decide(); the share of a node is made here for everyone.
 */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "ask_text.h"
#include "counts.h"
#include "decide_internal.h"
#include "gpu_kinds.h"
#include "lookup.h"

static const double least_left_s = 60; /* of work: Slurm's grain */

static bool
has_home(const struct lt_request *request, const struct lt_market *market)
{
	return request->home >= 0 &&
	       (uint32_t)request->home < market->partition_count;
}

/* What is left of it when so much is done. */
static double
left_of(double work_s, double done_s)
{
	return work_s > least_left_s ? fmax(work_s - done_s, least_left_s)
				     : work_s;
}

int64_t
lt_limit_of(const struct lt_request *request, const struct lt_market *market,
    int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	const struct lt_partition *part = &market->partitions[partition];
	int64_t default_s = part->default_time_s;

	/* What a deadline leaves is for what is left to do: in the minutes
	 * that Slurm counts, or it would be late by the last of them. */
	if (request->limit_s > 0 && request->deadline_utc_s != LT_UNSET_64 &&
	    request->done_s > request->cut_s)
		return (int64_t)ceil(
			   left_of((double)request->limit_s,
			       (double)(request->done_s - request->cut_s)) /
			   LT_MINUTE_S) *
		       LT_MINUTE_S;
	if (request->limit_s > 0)
		return request->limit_s;
	/* Of several partitions Slurm takes the first one's for all. */
	for (uint32_t i = 0; default_s > 0 && i < request->named_count; i++)
		default_s = (int64_t)larger((uint64_t)default_s,
		    (uint64_t)market->partitions[request->named[i]]
			.default_time_s);
	if (default_s > 0)
		return default_s < part->max_time_s ? default_s
						    : part->max_time_s;
	return lt_limit_unsaid(request, market, part);
}

/* Devices report a few per cent less than is on the box: 22,888 MiB on an L4
 * of "24 GB". So a request fits when the device has 90 % of it. */
static bool
gpu_memory_fits(uint32_t wanted_mib, const struct lt_gpu *gpu)
{
	return gpu != NULL &&
	       (uint64_t)wanted_mib * 9 <= (uint64_t)gpu->memory_mib * 10;
}

static const struct lt_gpu *
shape_gpu(const struct lt_market *market, const struct lt_shape *shape,
    const char *type)
{
	const int index = lt_shape_gpu_index(shape, type);

	return index >= 0 && (uint32_t)index < market->gpu_count
		   ? &market->gpus[index]
		   : NULL;
}

/* Has a node GPUs of the type? Those of several types at once, or whose types
 * are not known, are left to Slurm: where the job goes by itself. */
static bool
lacks_type(const struct lt_shape *shape, const char *type, bool moves)
{
	const bool is_clear = lt_gpu_kinds(type) == 1 && !shape->gpus_unclear;

	if (type[0] == '\0')
		return moves && shape->gpus_unclear;
	return is_clear ? !lt_shape_has_type(shape, type) : moves;
}

/* "ib&fast" of a node's "ib,fast,v5". What is more than a list of names (or,
 * counts, groups) only Slurm can judge: not known to be there. */
static bool
has_features(const struct lt_shape *shape, const char *wanted)
{
	if (strpbrk(wanted, "|[]()*") != NULL)
		return false;
	while (*wanted != '\0') {
		const size_t length = strcspn(wanted, "&,");

		if (length > 0 && !lt_listed(shape->features, wanted, length))
			return false;
		wanted += length + (wanted[length] != '\0');
	}
	return true;
}

/* Asked only of a partition where the job would not go by itself. */
static bool
lacks_attributes(const struct lt_request *request, const struct lt_shape *shape)
{
	const uint32_t sockets = shape->sockets > 0 ? shape->sockets : 1;
	const uint32_t threads = shape->threads > 0 ? shape->threads : 1;

	return !has_features(shape, request->features) ||
	       shape->tmp_disk_mib < request->tmp_disk_mib ||
	       sockets < request->sockets_per_node ||
	       shape->cpus / sockets / threads < request->cores_per_socket ||
	       threads < request->threads_per_core;
}

struct need { /* of one task on one node */
	uint64_t gpus, shards, cpus, memory_mib;
	/* That the node must have; where whole sockets are given, cpus is cut
	 * at what it has. */
	uint64_t cpus_least;
	bool whole;
};

/* A GPU computes in its best precision where it lacks the one that was asked
 * for, so home runs the job all the same; but a move must not lose it. */
static bool
loses_precision(const struct job *job, const struct lt_gpu *there)
{
	const enum lt_precision wanted = job->request->precision;

	if (wanted <= LT_PRECISION_FP32 ||
	    (job->home_gpu != NULL && lt_gpu_lacks(job->home_gpu, wanted)))
		return false;
	return there == NULL || lt_gpu_lacks(there, wanted);
}

/* CPUs of a node that the job may have in the partition: without those above
 * MaxCPUsPerNode and those that are kept for jobs with GPUs. */
static uint32_t
cpus_open(const struct job *job, const struct lt_shape *shape, int partition)
{
	const struct lt_partition *const part =
	    &job->market->partitions[partition];
	const uint32_t kept =
	    lt_request_wants_gpus(job->request)
		? 0
		: shape->gpu_cores * (shape->threads > 0 ? shape->threads : 1);
	const uint32_t cpus = shape->cpus > kept ? shape->cpus - kept : 0;

	return part->max_cpus_per_node > 0 && part->max_cpus_per_node < cpus
		   ? part->max_cpus_per_node
		   : cpus;
}

/*
 * Memory that Slurm looks for on a node, MiB: what was asked where memory is
 * not consumed, too; DefMemPerGPU of each GPU though --mem says less, and
 * DefMemPerCPU or -Node though --mem-per-gpu does; memory by CPU of all CPUs
 * that a job has alone.
 */
static uint64_t
memory_sought(const struct job *job, const struct need *need, int partition)
{
	const struct lt_partition *const part =
	    &job->market->partitions[partition];
	const bool by_gpu = job->request->memory_mib_per_gpu > 0;
	const uint64_t times = !by_gpu				 ? need->gpus
			       : part->default_memory_is_per_cpu ? need->cpus
								 : 1;
	const uint64_t each = by_gpu ? part->default_memory_mib
				     : part->default_memory_mib_per_gpu;

	const uint64_t by_cpu = need->whole ? job->asked.memory_mib_per_cpu : 0;

	return larger(larger(product(times, each, memory_max),
			  product(need->cpus_least, by_cpu, memory_max)),
	    larger(job->asked.memory_mib_per_node, need->memory_mib));
}

/* True where whole sockets are given and the system keeps cores of some: Slurm
 * gives no part of these. */
static bool
lacks_sockets(
    const struct job *job, const struct lt_shape *shape, int partition)
{
	const uint64_t cores = (uint64_t)shape->sockets * shape->socket_cores;

	return (job->market->partitions[partition].flags &
		   LT_PARTITION_BY_SOCKET) &&
	       shape->cpus < cores * larger(shape->threads, 1);
}

/* Why one node of the layout's shape can't hold its part. */
static enum lt_reject
shape_reject(struct layout *layout, const struct job *job,
    const struct need *need, bool moves)
{
	const struct lt_request *request = job->request;
	const struct lt_shape *shape = &job->market->shapes[layout->shape];
	const struct lt_gpu *gpu =
	    shape_gpu(job->market, shape, request->gpu_type);
	double *const wanted = &layout->wanted, *const found = &layout->found;

	*wanted = *found = 0;
	if (need->gpus > 0) {
		*wanted = (double)need->gpus;
		*found = shape->gpus;
		if (shape->gpus < need->gpus)
			return LT_REJECT_GPU_COUNT;
		if (lacks_type(shape, request->gpu_type, moves))
			return LT_REJECT_GPU_TYPE;
		if (lt_shape_has_type(shape, request->gpu_type)) {
			*found = lt_shape_gpus(shape, request->gpu_type);
			if (*found < *wanted)
				return LT_REJECT_GPU_COUNT;
		}
		*wanted = request->gpu_memory_mib;
		*found = gpu != NULL ? gpu->memory_mib : 0;
		if (request->gpu_memory_mib > 0 &&
		    !gpu_memory_fits(request->gpu_memory_mib, gpu))
			return LT_REJECT_GPU_MEMORY;
		if (moves && loses_precision(job, gpu))
			return LT_REJECT_PRECISION;
	}
	*wanted = (double)need->shards;
	*found = shape->shards;
	if (shape->shards < need->shards)
		return LT_REJECT_GPU_COUNT;
	*wanted =
	    (double)(moves ? larger(need->cpus, need->cpus_least) : need->cpus);
	*found = moves ? (double)cpus_open(job, shape, layout->partition)
		       : shape->cpus;
	if (*found < *wanted ||
	    (moves && lacks_sockets(job, shape, layout->partition)))
		return LT_REJECT_CPUS;
	*wanted = (double)(moves ? memory_sought(job, need, layout->partition)
				 : need->memory_mib);
	*found = (double)shape->memory_mib;
	if (*found < *wanted)
		return LT_REJECT_MEMORY;
	*wanted = *found = 0;
	return moves && lacks_attributes(request, shape) ? LT_REJECT_ATTRIBUTES
							 : LT_REJECT_NONE;
}

static uint32_t
at_most_nodes(uint32_t nodes)
{
	return nodes < LT_NODES_MAX ? nodes : LT_NODES_MAX;
}

/*
 * Nodes that the job would take if all of them were of this shape: those that
 * were asked for, else as few as it needs.
 */
static uint32_t
nodes_on(const struct lt_need *asked, const struct lt_shape *shape)
{
	const struct lt_request *const request = asked->request;
	const uint32_t fewest = (uint32_t)larger(
	    larger(request->min_nodes, 1), lt_nodes_counted(asked));
	uint32_t nodes;

	if (!request->nodes_open)
		return at_most_nodes(
		    request->max_nodes > fewest ? request->max_nodes : fewest);
	nodes = lt_nodes_needed(asked, shape);
	return at_most_nodes(nodes > fewest ? nodes : fewest);
}

/* CPUs that one of so many nodes must have. */
static uint64_t
cpus_least(const struct lt_need *asked, const struct lt_shape *shape,
    bool whole, uint32_t nodes)
{
	const struct lt_request *const request = asked->request;
	const uint64_t of_all =
	    request->overcommit ? 0 : divided_up(request->cpus, nodes);

	/* A job that has its nodes alone has no MaxCPUsPerNode of them. */
	return larger(whole ? shape->cpus : of_all,
	    larger(asked->cpus_per_task, asked->cpus_per_node));
}

/* What the job takes of nodes of one shape, as it will be charged there, and
 * what of one of them. */
static void
layout_on(struct layout *layout, struct need *need, const struct lt_need *asked,
    int index)
{
	const struct lt_partition *const part = asked->partition;
	const struct lt_shape *const shapes =
	    &asked->market->shapes[part->first_shape];
	const struct lt_shape *const shape = &asked->market->shapes[index];
	const uint32_t nodes = nodes_on(asked, shape);
	struct lt_allocation a;

	lt_allocation_on(&a, asked, shape, nodes);
	*need = (struct need){.gpus = divided_up(a.gpus, nodes),
	    .shards = divided_up(a.shards, nodes),
	    .cpus = divided_up(a.cpus, nodes),
	    .memory_mib = divided_up(a.memory_mib, nodes),
	    .cpus_least = cpus_least(asked, shape, a.whole, nodes),
	    .whole = a.whole};
	const struct lt_resources got = lt_resources_of(&a, asked, shape);
	const struct lt_fraction share =
	    lt_charge_share(&got, shapes, part->shape_count);
	const struct lt_power_parts parts = lt_charge_parts(&got, share,
	    &(struct lt_charge_nodes){.shapes = shapes,
		.shape_count = part->shape_count,
		.gpu_w = part->node_gpu_w,
		.gpu_type = asked->request->gpu_type});
	*layout = (struct layout){.shape = index,
	    .share = {share.numerator, share.denominator, nodes},
	    .given = {[LT_LIMITED_CPU] =
			  a.whole ? (uint64_t)nodes * shape->cpus : a.cpus,
		/* All of it where none is asked, or none is consumed. */
		[LT_LIMITED_MEMORY] =
		    a.memory_mib > 0
			? a.memory_mib
			: product(nodes, shape->memory_mib, memory_max),
		[LT_LIMITED_NODE] = nodes,
		[LT_LIMITED_GPU] =
		    a.whole ? (uint64_t)nodes * shape->gpus : a.gpus},
	    .memory_mib = need->memory_mib,
	    .cpu_part = parts.cpu,
	    .gpu_w = parts.gpu_w};
}

static bool
takes_more(const struct lt_share *a, const struct lt_share *b)
{
	return (double)a->nodes * (double)a->numerator *
		   (double)b->denominator >
	       (double)b->nodes * (double)b->numerator * (double)a->denominator;
}

/*
 * The smallest shape that can hold the job: of those that fit, where it takes
 * the greatest share. The reject is of the shape that came nearest.
 */
static enum lt_reject
layout_of(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[partition];
	const struct lt_need asked = lt_need_of(&job->asked, market, partition);
	enum lt_reject nearest = LT_REJECT_NONE;
	const bool moves = partition != job->request->home;
	uint64_t fitting = 0;

	*layout = (struct layout){.shape = -1,
	    .share = {1, 1,
		job->asked.max_nodes > job->asked.min_nodes
		    ? job->asked.max_nodes
		    : job->asked.min_nodes}};
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const int index = (int)(part->first_shape + i);
		const struct lt_shape *shape = &market->shapes[index];
		struct layout here;
		struct need need;
		enum lt_reject reject;

		layout_on(&here, &need, &asked, index);
		here.partition = partition;
		reject = shape_reject(&here, job, &need, moves);
		if (reject != LT_REJECT_NONE) {
			if (layout->shape < 0 && reject > nearest) {
				nearest = reject;
				layout->wanted = here.wanted;
				layout->found = here.found;
			}
			continue;
		}
		fitting += shape->node_count -
			   (moves && partition != job->standing &&
				       shape->closed_count <= shape->node_count
				   ? shape->closed_count
				   : 0);
		if (layout->shape < 0 ||
		    takes_more(&here.share, &layout->share))
			*layout = here;
	}
	if (part->shape_count == 0)
		return LT_REJECT_NO_NODES;
	if (layout->shape < 0)
		return nearest != LT_REJECT_NONE ? nearest : LT_REJECT_NODES;
	layout->wanted = layout->share.nodes;
	layout->found = (double)fitting;
	/* All that are excluded may be of this partition. */
	if (moves && job->request->excluded_nodes > 0 &&
	    fitting <
		layout->share.nodes + (uint64_t)job->request->excluded_nodes)
		return LT_REJECT_ATTRIBUTES;
	return fitting < layout->share.nodes ? LT_REJECT_NODES : LT_REJECT_NONE;
}

/* Home's default is written into the job when it moves. */
static void
set_default_memory(struct lt_request *asked, const struct lt_partition *home)
{
	if (lt_memory_said(asked) || lt_memory_by_gpu(asked, home))
		return;
	if (home->default_memory_is_per_cpu)
		asked->memory_mib_per_cpu = home->default_memory_mib;
	else
		asked->memory_mib_per_node = home->default_memory_mib;
}

/* How long it will run: as the user says, else as such jobs did. */
static void
set_expected(struct job *job)
{
	const double done_s = (double)job->request->done_s;
	const struct lt_request *const request = job->request;
	const double limit_s = (double)job->limit_s;

	if (request->expected_run_s > 0) {
		job->expected_s =
		    left_of((double)request->expected_run_s, done_s);
	} else if (request->learned.expected_s > 0) {
		const struct lt_expected *const is = &request->learned;

		job->expected_s = left_of((double)is->expected_s, done_s);
		job->upper_s = left_of((double)is->upper_s, done_s);
		job->low_s = left_of((double)is->low_s, done_s);
		job->high_s = left_of((double)is->high_s, done_s);
	}
	/* What was learned of long runs is as sure as the site wants it: who
	 * wants more goes by the limit. */
	if (lt_class_confidence_ppm(job->class, job->market) >
	    job->market->deadline_confidence_ppm)
		job->upper_s = 0;
	job->expected_known = job->expected_s > 0;
	job->bound_s = job->upper_s > 0 ? job->upper_s : job->high_s;
	if (job->limit_s > 0) {
		/* That of a deadline is of what is left already. */
		const double left_s = request->deadline_utc_s != LT_UNSET_64
					  ? limit_s
					  : left_of(limit_s, done_s);

		if (!job->expected_known)
			job->expected_s = left_s;
		job->bound_s = job->upper_s > 0 ? job->upper_s : left_s;
		job->bound_s = fmin(job->bound_s, limit_s);
		job->expected_s = fmin(job->expected_s, limit_s);
		job->upper_s = fmin(job->upper_s, limit_s);
		job->high_s = fmin(job->high_s, limit_s);
	}
	if (request->expected_run_s > 0)
		job->bound_s = job->expected_s;
	if (!(job->low_s > 0 && job->high_s > 0))
		job->low_s = job->high_s = 0;
	job->low_s = fmin(job->low_s, job->expected_s);
	job->high_s = fmax(job->high_s, job->expected_s);
	job->bound_s = fmax(job->bound_s, job->high_s);
}

void
lt_job_resolve(struct job *job, const struct lt_request *request,
    const struct lt_market *market, int64_t now_utc_s)
{
	struct layout layout;

	*job = (struct job){.request = request,
	    .market = market,
	    .now_utc_s = now_utc_s,
	    .class = lt_request_class(request, market),
	    .max_price_micros = lt_max_price_micros(request, market),
	    .limit_s = LT_UNSET_64,
	    .standing = -1,
	    .asked = *request};
	job->earliest_utc_s = request->earliest_utc_s > now_utc_s
				  ? request->earliest_utc_s
				  : now_utc_s;
	if (!has_home(request, market))
		return;
	set_default_memory(&job->asked, &market->partitions[request->home]);
	job->limit_s = lt_limit_of(request, market, request->home);
	set_expected(job);
	layout_of(&layout, job, request->home);
	if (layout.shape >= 0)
		memcpy(job->given_at_home, layout.given,
		    sizeof(job->given_at_home));
	if (lt_request_wants_gpus(request)) {
		const struct lt_partition *home =
		    &market->partitions[request->home];

		/* Where the job fits; a job that asks for more than home has
		 * was still measured on home's GPU. */
		if (layout.shape < 0 && home->shape_count > 0)
			layout.shape = (int)home->first_shape;
		if (layout.shape >= 0)
			job->home_gpu = shape_gpu(market,
			    &market->shapes[layout.shape], request->gpu_type);
	}
}

enum lt_reject
lt_fit_reject(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_partition *part = &job->market->partitions[partition];
	const enum lt_reject reject = layout_of(layout, job, partition);
	const uint32_t nodes = layout->share.nodes;
	const bool moves = partition != job->request->home;

	if (job->limit_s > part->max_time_s) {
		layout->wanted = (double)job->limit_s;
		layout->found = (double)part->max_time_s;
		return LT_REJECT_MAX_TIME;
	}
	if (reject != LT_REJECT_NONE)
		return reject;
	layout->wanted = nodes;
	/* --spread-job asks for a node for each task. */
	if (job->request->min_nodes > part->max_nodes ||
	    (moves && (nodes > part->max_nodes ||
			  (job->request->spread &&
			      job->request->tasks > part->max_nodes))) ||
	    nodes < part->min_nodes) {
		layout->found =
		    nodes < part->min_nodes ? part->min_nodes : part->max_nodes;
		return LT_REJECT_NODES;
	}
	/* MaxMemPerCPU refuses nothing: Slurm gives more CPUs instead. */
	layout->wanted = (double)layout->memory_mib;
	layout->found = (double)part->max_memory_mib;
	if (part->max_memory_mib > 0 && !part->max_memory_is_per_cpu &&
	    layout->memory_mib > part->max_memory_mib)
		return LT_REJECT_MEMORY;
	return moves ? lt_limit_reject(layout, job, partition) : LT_REJECT_NONE;
}

/* In what it computes there: what its user said, else the site's rules. */
static enum lt_precision
precision_at(const struct job *job, int partition)
{
	const struct lt_request *const request = job->request;
	const struct lt_market *const market = job->market;
	const char *const names[LT_PRECISION_OF_COUNT] = {
	    [LT_PRECISION_OF_ACCOUNT] = request->account,
	    [LT_PRECISION_OF_QOS] = request->qos,
	    [LT_PRECISION_OF_PARTITION] =
		partition >= 0 ? market->partitions[partition].name : ""};

	for (uint32_t i = 0;
	     i < market->precision_rule_count && !request->precision_said; i++)
		if (strcmp(market->precision_rules[i].name,
			LT_WORD(names, market->precision_rules[i].of)) == 0)
			return market->precision_rules[i].precision;
	return request->precision;
}

double
lt_ratio_there(bool *known, const struct job *job, int partition, int gpu)
{
	const struct lt_gpu *const gpus = job->market->gpus;
	const uint32_t *const median_s = job->request->gpu_median_s;

	if (median_s != NULL && job->home_gpu != NULL && gpu >= 0 &&
	    median_s[job->home_gpu - gpus] > 0 && median_s[gpu] > 0) {
		*known = true;
		return (double)median_s[gpu] / median_s[job->home_gpu - gpus];
	}
	const struct lt_gpu_use home = {
	    job->home_gpu, precision_at(job, job->request->home)};
	const struct lt_gpu_use there = {
	    gpu >= 0 ? &gpus[gpu] : NULL, precision_at(job, partition)};

	return lt_gpu_time_ratio(&home, &there, known);
}

struct lt_share
lt_share_likely(const struct lt_request *request,
    const struct lt_market *market, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);

	struct layout layout;
	struct job job;

	lt_job_resolve(&job, request, market, 0);
	layout_of(&layout, &job, partition);
	return layout.share;
}
