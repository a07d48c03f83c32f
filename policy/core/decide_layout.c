/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes what a job takes from a partition's nodes, and which of their shapes can hold it. This
 * is most of the time of lt_decide(), so partitions with the same kinds of nodes,
 * lt_market_liken(), are laid out once. Reads the request and the market; writes a layout, or
 * returns the reject.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "ask_text.h"
#include "counts.h"
#include "decide_internal.h"
#include "gpu_kinds.h"

/* True if the word is in a comma list; case counts for neither accounts nor QOS. */
bool
lt_listed(const char *list, const char *word, size_t length)
{
	for (const char *at = list; length > 0 && *at != '\0';) {
		const size_t item = strcspn(at, ",");

		if (item == length && strncasecmp(at, word, length) == 0)
			return true;
		at += item + (at[item] == ',' ? 1 : 0);
	}
	return false;
}

/* Devices report a few per cent less than is on the box: 22,888 MiB on an L4 of "24 GB". So a
 * request fits when the device has 90 % of it. */
static bool
gpu_memory_fits(uint32_t wanted_mib, const struct lt_gpu *gpu)
{
	return gpu != NULL && (uint64_t)wanted_mib * 9 <= (uint64_t)gpu->memory_mib * 10;
}

const struct lt_gpu *
lt_layout_gpu(const struct lt_market *market, const struct lt_shape *shape, const char *type)
{
	const int index = lt_shape_gpu_index(shape, type);

	return index >= 0 && (uint32_t)index < market->gpu_count ? &market->gpus[index] : NULL;
}

/* True if a node has no GPUs of the type. Requests for several types at once, or whose types are
 * not known, are left to Slurm: where the job would go without lowtide. */
static bool
lacks_type(const struct lt_shape *shape, const char *type, bool moves)
{
	const bool is_clear = lt_gpu_kinds(type) == 1 && !shape->gpus_unclear;

	if (type[0] == '\0')
		return moves && shape->gpus_unclear;
	return is_clear ? !lt_shape_has_type(shape, type) : moves;
}

/* True if a node has the wanted features, such as "ib&fast" of "ib,fast,v5". Only Slurm can judge
 * more than a list of names (or, counts, groups): these are not known to be there. */
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

/* Called only for a partition where the job would not go without lowtide. */
static bool
lacks_attributes(const struct lt_request *request, const struct lt_shape *shape)
{
	const uint32_t sockets = shape->sockets > 0 ? shape->sockets : 1;
	const uint32_t threads = shape->threads > 0 ? shape->threads : 1;

	return !has_features(shape, request->features) ||
	       shape->tmp_disk_mib < request->tmp_disk_mib || sockets < request->sockets_per_node ||
	       shape->cpus / sockets / threads < request->cores_per_socket ||
	       threads < request->threads_per_core;
}

struct need { /* of one task on one node */
	uint64_t gpus, shards, cpus, memory_mib;
	/* CPUs that the node must have; where whole sockets are given, cpus is cut at the CPUs that
	 * it has. */
	uint64_t cpus_least;
	bool whole;
};

/* A GPU computes in its best precision where it lacks the one that was asked for, so home runs the
 * job all the same; but a move must not lose it. */
static bool
loses_precision(const struct job *job, const struct lt_gpu *there)
{
	const enum lt_precision wanted = job->request->precision;

	if (wanted <= LT_PRECISION_FP32 ||
	    (job->home_gpu != NULL && lt_gpu_lacks(job->home_gpu, wanted)))
		return false;
	return there == NULL || lt_gpu_lacks(there, wanted);
}

/* CPUs of a node that the job may have in the partition: without those above MaxCPUsPerNode and
 * those that are kept for jobs with GPUs. */
static uint32_t
cpus_open(const struct job *job, const struct lt_shape *shape, int partition)
{
	const struct lt_partition *const part = &job->market->partitions[partition];
	const uint32_t kept = lt_request_wants_gpus(job->request)
				  ? 0
				  : shape->gpu_cores * (shape->threads > 0 ? shape->threads : 1);
	const uint32_t cpus = shape->cpus > kept ? shape->cpus - kept : 0;

	return part->max_cpus_per_node > 0 && part->max_cpus_per_node < cpus
		   ? part->max_cpus_per_node
		   : cpus;
}

/*
 * Memory that Slurm looks for on a node, MiB: what was asked where memory is not consumed, too;
 * DefMemPerGPU of each GPU though --mem says less, and DefMemPerCPU or -Node though --mem-per-gpu
 * does; memory by CPU of all CPUs that a job has alone.
 */
static uint64_t
memory_sought(const struct job *job, const struct need *need, int partition)
{
	const struct lt_partition *const part = &job->market->partitions[partition];
	const bool by_gpu = job->request->memory_mib_per_gpu > 0;
	const uint64_t times = !by_gpu				 ? need->gpus
			       : part->default_memory_is_per_cpu ? need->cpus
								 : 1;
	const uint64_t each = by_gpu ? part->default_memory_mib : part->default_memory_mib_per_gpu;

	const uint64_t by_cpu = need->whole ? job->asked.memory_mib_per_cpu : 0;

	return larger(
	    larger(product(times, each, memory_max), product(need->cpus_least, by_cpu, memory_max)),
	    larger(job->asked.memory_mib_per_node, need->memory_mib));
}

/* True where whole sockets are given and the system keeps cores of some: Slurm gives no part of
 * these. */
static bool
lacks_sockets(const struct job *job, const struct lt_shape *shape, int partition)
{
	const uint64_t cores = (uint64_t)shape->sockets * shape->socket_cores;

	return (job->market->partitions[partition].flags & LT_PARTITION_BY_SOCKET) &&
	       shape->cpus < cores * larger(shape->threads, 1);
}

/* Why one node of the layout's shape can't hold its part. */
static enum lt_reject
shape_reject(struct layout *layout, const struct job *job, const struct need *need, bool moves)
{
	const struct lt_request *request = job->request;
	const struct lt_shape *shape = &job->market->shapes[layout->shape];
	const struct lt_gpu *gpu = lt_layout_gpu(job->market, shape, request->gpu_type);
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
		if (request->gpu_memory_mib > 0 && !gpu_memory_fits(request->gpu_memory_mib, gpu))
			return LT_REJECT_GPU_MEMORY;
		if (moves && loses_precision(job, gpu))
			return LT_REJECT_PRECISION;
	}
	*wanted = (double)need->shards;
	*found = shape->shards;
	if (shape->shards < need->shards)
		return LT_REJECT_GPU_COUNT;
	*wanted = (double)(moves ? larger(need->cpus, need->cpus_least) : need->cpus);
	*found = moves ? (double)cpus_open(job, shape, layout->partition) : shape->cpus;
	if (*found < *wanted || (moves && lacks_sockets(job, shape, layout->partition)))
		return LT_REJECT_CPUS;
	*wanted = (double)(moves ? memory_sought(job, need, layout->partition) : need->memory_mib);
	*found = (double)shape->memory_mib;
	if (*found < *wanted)
		return LT_REJECT_MEMORY;
	*wanted = *found = 0;
	return moves && lacks_attributes(request, shape) ? LT_REJECT_ATTRIBUTES : LT_REJECT_NONE;
}

static uint32_t
at_most_nodes(uint32_t nodes)
{
	return nodes < LT_NODES_MAX ? nodes : LT_NODES_MAX;
}

/*
 * Nodes that the job would take if all of them were of this shape: those that were asked for, else
 * as few as it needs.
 */
static uint32_t
nodes_on(const struct lt_need *asked, const struct lt_shape *shape)
{
	const struct lt_request *const request = asked->request;
	const uint32_t fewest =
	    (uint32_t)larger(larger(request->min_nodes, 1), lt_nodes_counted(asked));
	uint32_t nodes;

	if (!request->nodes_open)
		return at_most_nodes(request->max_nodes > fewest ? request->max_nodes : fewest);
	nodes = lt_nodes_needed(asked, shape);
	return at_most_nodes(nodes > fewest ? nodes : fewest);
}

/* CPUs that one of so many nodes must have. */
static uint64_t
cpus_least(const struct lt_need *asked, const struct lt_shape *shape, bool whole, uint32_t nodes)
{
	const struct lt_request *const request = asked->request;
	const uint64_t of_all = request->overcommit ? 0 : divided_up(request->cpus, nodes);

	/* A job that has its nodes alone has no MaxCPUsPerNode of them. */
	return larger(
	    whole ? shape->cpus : of_all, larger(asked->cpus_per_task, asked->cpus_per_node));
}

/* Computes what the job takes from nodes of one shape, as it will be charged there, and from one of
 * them. */
static void
layout_on(struct layout *layout, struct need *need, const struct lt_need *asked, int index)
{
	const struct lt_partition *const part = asked->partition;
	const struct lt_shape *const shapes = &asked->market->shapes[part->first_shape];
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
	const struct lt_fraction share = lt_charge_share(&got, shapes, part->shape_count);
	const struct lt_power_parts parts = lt_charge_parts(&got, share,
	    &(struct lt_charge_nodes){.shapes = shapes,
		.shape_count = part->shape_count,
		.gpu_w = part->node_gpu_w,
		.gpu_type = asked->request->gpu_type});
	*layout = (struct layout){.shape = index,
	    .share = {share.numerator, share.denominator, nodes},
	    .given = {[LT_LIMITED_CPU] = a.whole ? (uint64_t)nodes * shape->cpus : a.cpus,
		/* All of it where none is asked, or none is consumed. */
		[LT_LIMITED_MEMORY] =
		    a.memory_mib > 0 ? a.memory_mib : product(nodes, shape->memory_mib, memory_max),
		[LT_LIMITED_NODE] = nodes,
		[LT_LIMITED_GPU] = a.whole ? (uint64_t)nodes * shape->gpus : a.gpus},
	    .memory_mib = need->memory_mib,
	    .cpu_part = parts.cpu,
	    .gpu_w = parts.gpu_w};
}

static bool
takes_more(const struct lt_share *a, const struct lt_share *b)
{
	return (double)a->nodes * (double)a->numerator * (double)b->denominator >
	       (double)b->nodes * (double)b->numerator * (double)a->denominator;
}

/*
 * The smallest shape that can hold the job: of those that fit, where it takes the greatest share.
 * The reject is of the shape that came nearest.
 */
void
lt_lay_out(struct laid *laid, const struct job *job, int partition)
{
	const struct lt_market *market = job->market;
	const struct lt_partition *part = &market->partitions[partition];
	const struct lt_need asked = lt_need_of(&job->asked, market, partition);
	struct layout *const layout = &laid->layout;
	const bool moves = partition != job->request->home;

	*laid = (struct laid){.nearest = LT_REJECT_NONE,
	    .layout = {.shape = -1,
		.share = {1, 1,
		    job->asked.max_nodes > job->asked.min_nodes ? job->asked.max_nodes
								: job->asked.min_nodes}}};
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const int index = (int)(part->first_shape + i);
		struct layout here;
		struct need need;
		enum lt_reject reject;

		layout_on(&here, &need, &asked, index);
		here.partition = partition;
		reject = shape_reject(&here, job, &need, moves);
		if (reject != LT_REJECT_NONE) {
			if (layout->shape < 0 && reject > laid->nearest) {
				laid->nearest = reject;
				layout->wanted = here.wanted;
				layout->found = here.found;
			}
			continue;
		}
		laid->fits[i / 64] |= UINT64_C(1) << i % 64;
		if (layout->shape < 0 || takes_more(&here.share, &layout->share)) {
			*layout = here;
			laid->shape = (int)i;
		}
	}
}

/* Nodes of the shapes that can hold the job; where it does not stand, those that take jobs now. */
static uint64_t
nodes_fitting(const struct laid *laid, const struct job *job, int partition)
{
	const struct lt_partition *const part = &job->market->partitions[partition];
	const bool comes = partition != job->request->home && partition != job->standing;
	uint64_t nodes = 0;

	for (uint32_t i = 0; i < part->shape_count; i++) {
		const struct lt_shape *const shape = &job->market->shapes[part->first_shape + i];

		if ((laid->fits[i / 64] >> i % 64 & 1) == 0)
			continue;
		nodes += shape->node_count;
		if (comes && shape->closed_count <= shape->node_count)
			nodes -= shape->closed_count;
	}
	return nodes;
}

/* As it was laid out at home, or on the first other partition of the same kind; else into own. */
static const struct laid *
laid_on(struct laid *own, const struct job *job, int partition)
{
	struct layouts *const kept = job->layouts;
	const uint32_t like = job->market->partitions[partition].like;

	if (partition == job->request->home)
		return &job->at_home;
	if (kept == NULL || like == 0) {
		lt_lay_out(own, job, partition);
		return own;
	}
	assert(like <= LT_PARTITIONS_MAX);
	if (!kept->known[like - 1]) {
		lt_lay_out(&kept->laid[like - 1], job, partition);
		kept->known[like - 1] = true;
	}
	return &kept->laid[like - 1];
}

enum lt_reject
lt_layout_of(struct layout *layout, const struct job *job, int partition)
{
	const struct lt_partition *const part = &job->market->partitions[partition];
	struct laid own;
	const struct laid *const laid = laid_on(&own, job, partition);

	*layout = laid->layout;
	layout->partition = partition;
	if (part->shape_count == 0)
		return LT_REJECT_NO_NODES;
	if (layout->shape < 0)
		return laid->nearest != LT_REJECT_NONE ? laid->nearest : LT_REJECT_NODES;
	const uint64_t fitting = nodes_fitting(laid, job, partition);

	layout->shape = (int)part->first_shape + laid->shape;
	layout->wanted = layout->share.nodes;
	layout->found = (double)fitting;
	/* All that are excluded may be of this partition. */
	if (partition != job->request->home && job->request->excluded_nodes > 0 &&
	    fitting < layout->share.nodes + (uint64_t)job->request->excluded_nodes)
		return LT_REJECT_ATTRIBUTES;
	return fitting < layout->share.nodes ? LT_REJECT_NODES : LT_REJECT_NONE;
}
