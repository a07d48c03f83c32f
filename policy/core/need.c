/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one task and one node of a request ask at least on a partition, after
 * the site's defaults and MaxMemPerCPU; size.c derives the rest from it. Pure.
 */
#include <assert.h>

#include "counts.h"
#include "size.h"

/* What Slurm holds against MaxMemPerCPU: what was asked, else the default, else
 * all of a node; where memory is not consumed, too. */
static void
memory_asked(struct lt_need *need)
{
	const struct lt_request *const request = need->request;

	need->memory_mib_per_cpu = request->memory_mib_per_cpu;
	need->memory_mib_per_node = request->memory_mib_per_node;
	need->whole_memory = request->whole_memory;
	if (request->memory_mib_per_cpu > 0 ||
	    request->memory_mib_per_node > 0 || request->whole_memory)
		return;
	if (need->partition->default_memory_mib == 0)
		need->whole_memory = true;
	else if (!need->partition->default_memory_is_per_cpu)
		need->memory_mib_per_node = need->partition->default_memory_mib;
}

/*
 * MaxMemPerCPU: memory above it is paid with CPUs. Slurm does this for each
 * partition that the job names, one after the other, on what is there by then.
 */
static void
apply_memory_limit(struct lt_need *need, const struct lt_partition *partition)
{
	const uint64_t limit = partition->max_memory_mib;
	uint64_t per_node = need->memory_mib_per_node;

	if (limit == 0 || !partition->max_memory_is_per_cpu)
		return;
	if (need->memory_mib_per_cpu > limit) {
		const uint64_t ratio =
		    divided_up(need->memory_mib_per_cpu, limit);

		need->cpus_per_task =
		    product(need->cpus_per_task, ratio, cpus_max);
		need->memory_mib_per_cpu =
		    divided_up(need->memory_mib_per_cpu, ratio);
	}
	if (need->whole_memory)
		for (uint32_t i = 0; i < partition->shape_count; i++)
			per_node = larger(per_node,
			    need->market->shapes[partition->first_shape + i]
				.memory_mib);
	need->cpus_per_node =
	    larger(need->cpus_per_node, divided_up(per_node, limit));
}

/* Of a task, so that all of a node's together have what its memory needs. */
static uint64_t
cpus_by_memory(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const uint64_t nodes = larger(request->min_nodes, 1);
	const uint64_t by_node = nodes * request->tasks_per_node;
	const uint64_t tasks = by_node > 0 ? by_node : request->tasks;

	return divided_up(need->cpus_per_node, larger(tasks / nodes, 1));
}

bool
lt_stays_whole(const struct lt_request *request, const struct lt_market *market)
{
	for (uint32_t i = 0; i < request->named_count; i++) {
		const uint32_t flags =
		    market->partitions[request->named[i]].flags;

		if ((flags & LT_PARTITION_EXCLUSIVE) &&
		    !(flags & LT_PARTITION_TASKS_BY_NODE))
			return true;
	}
	return false;
}

struct lt_need
lt_need_of(const struct lt_request *request, const struct lt_market *market,
    int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);
	assert(request->named_count <= LT_PARTITIONS_MAX);

	struct lt_need need = {
	    .request = request,
	    .market = market,
	    .partition = &market->partitions[partition],
	    .cpus_per_task = larger(request->cpus_per_task, 1),
	    .cpus_per_node = request->cpus_per_node,
	    .whole = request->exclusive || lt_stays_whole(request, market),
	};

	need.whole |= (need.partition->flags & LT_PARTITION_EXCLUSIVE) != 0;

	memory_asked(&need);
	for (uint32_t i = 0; i < request->named_count; i++)
		apply_memory_limit(
		    &need, &market->partitions[request->named[i]]);
	if (request->named_count == 0)
		apply_memory_limit(&need, need.partition);
	/* 22.05 does so where it is told how many tasks a node has. */
	if (need.cpus_per_node > request->cpus_per_node &&
	    (request->tasks_per_node > 0 ||
		(need.partition->flags & LT_PARTITION_TASKS_BY_NODE)))
		need.cpus_per_task =
		    larger(need.cpus_per_task, cpus_by_memory(&need));
	/* DefCpuPerGPU counts only where the user said no --cpus-per-task. */
	if (request->cpus_per_task == 0 && request->gpus_per_task > 0)
		need.cpus_per_task = larger(need.cpus_per_task,
		    product(request->gpus_per_task,
			need.partition->default_cpus_per_gpu, cpus_max));
	return need;
}

uint64_t
lt_nodes_counted(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	uint64_t there = 0;

	if (request->nodes_counted == 0)
		return 0;
	for (uint32_t i = 0; i < need->partition->shape_count; i++)
		there += need->market->shapes[need->partition->first_shape + i]
			     .node_count;
	return smaller(
	    (uint64_t)request->nodes_counted + request->nodes_named, there);
}

bool
lt_counts_unsure(const struct lt_need *need)
{
	return need->request->nodes_counted > 0 &&
	       (need->request->plane || need->request->tasks_per_board > 0 ||
		   lt_request_wants_gpus(need->request) ||
		   (need->partition->flags & LT_PARTITION_BY_SOCKET));
}

uint32_t
lt_cpus_per_gpu(
    const struct lt_request *request, const struct lt_partition *partition)
{
	if (request->cpus_per_gpu > 0 || request->cpus_per_task > 0)
		return request->cpus_per_gpu;
	return partition->default_cpus_per_gpu;
}

/* On each node that it adds Slurm keeps the cores of all tasks, as far as the
 * node has them: they are bound before the tasks are dealt out. */
static uint64_t
cpus_bound_by_node(const struct lt_need *need, uint64_t gpus, uint64_t nodes)
{
	const struct lt_request *const request = need->request;

	return request->bind_gpus && gpus > 0 && nodes > request->min_nodes &&
		       (need->partition->flags & LT_PARTITION_TASKS_BY_NODE)
		   ? product(nodes,
			 larger(
			     request->cpus, product(request->tasks,
						need->cpus_per_task, cpus_max)),
			 cpus_max)
		   : 0;
}

uint64_t
lt_cpus_bound(
    const struct lt_need *need, uint64_t gpus, uint64_t nodes, uint64_t cpus)
{
	const struct lt_request *const request = need->request;
	/* DefCpuPerGPU is nothing to a job without GPUs. */
	const uint64_t each = gpus > 0
				  ? lt_cpus_per_gpu(request, need->partition)
				  : request->cpus_per_gpu;
	const uint64_t all = product(larger(gpus, nodes), each, cpus_max);
	const uint64_t by_socket = product(larger(request->sockets_per_node, 1),
	    request->gpus_per_socket, cpus_max);
	const uint64_t first =
	    product(larger(larger(request->gpus_per_node, by_socket), 1), each,
		cpus_max);

	if (!request->bind_gpus || each == 0)
		return cpus_bound_by_node(need, gpus, nodes);
	return larger(
		   larger(cpus, all), cpus_bound_by_node(need, gpus, nodes)) +
	       (nodes > 1 ? all - smaller(all, first) : 0);
}

uint64_t
lt_cpus_sought(const struct lt_request *request)
{
	const uint64_t node =
	    product(product(larger(request->threads_per_core, 1),
			larger(request->cores_per_socket, 1), cpus_max),
		larger(request->sockets_per_node, 1), cpus_max);

	return request->overcommit ? product(request->min_nodes, node, cpus_max)
				   : 0;
}

bool
lt_tasks_apart(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;

	return need->cpus_per_task > larger(request->cpus_per_task, 1) ||
	       !request->overcommit || !request->nodes_open ||
	       request->spread || request->plane ||
	       request->tasks_per_node > 0 || request->tasks_per_socket > 0 ||
	       request->tasks_per_core > 0 || request->tasks_per_board > 0 ||
	       request->tasks_per_gpu > 0 || request->cpus_per_node > 0;
}

uint64_t
lt_tasks_updated(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const uint32_t each = request->tasks_per_node > 0
				  ? request->tasks_per_node
				  : request->tasks_per_gpu;

	if (request->tasks == 0 ||
	    !(need->partition->flags & LT_PARTITION_DEALS_TASKS) ||
	    (!request->nodes_open && request->max_nodes > request->min_nodes))
		return request->tasks;
	return larger(
	    request->tasks, product(request->min_nodes, each, cpus_max));
}

uint64_t
lt_tasks_dealt(const struct lt_need *need, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const uint32_t flags = need->partition->flags;
	uint64_t tasks = lt_tasks_updated(need);

	if (!(flags & LT_PARTITION_DEALS_TASKS) || request->tasks_implied ||
	    lt_request_wants_gpus(request) || need->whole)
		return 0;
	if ((flags & LT_PARTITION_DEALS_BY_NODE) && request->tasks_per_node > 0)
		tasks = product(nodes, request->tasks_per_node, cpus_max);
	/* 26.05.5 gave ten CPUs on four nodes for -n5 --overcommit --spread-job
	 * --threads-per-core=1: the tasks share none. */
	return request->overcommit && !request->spread ? smaller(tasks, nodes)
						       : tasks;
}

bool
lt_counts_by_node(const struct lt_need *need, uint64_t gpus, uint64_t tasks)
{
	const struct lt_request *const request = need->request;

	return tasks != 1 || request->max_cpus > 0 ||
	       (gpus == 0 && request->cpus_per_gpu > 0) ||
	       (need->partition->flags & LT_PARTITION_TASKS_BY_NODE);
}

bool
lt_has_one_gpu(
    const struct lt_request *request, const struct lt_partition *partition)
{
	return (partition->flags & LT_PARTITION_DEALS_TASKS) &&
	       !(partition->flags & LT_PARTITION_BY_SOCKET) &&
	       request->gpus == 1 && request->gpus_per_node == 0 &&
	       request->gpus_per_socket == 0 && request->gpus_per_task == 0 &&
	       request->tasks > 0 && !request->tasks_implied &&
	       request->tasks_per_node == 0 && request->tasks_per_board == 0 &&
	       request->tasks_per_socket == 0 && request->tasks_per_core == 0 &&
	       request->tasks_per_gpu == 0 &&
	       lt_cpus_per_gpu(request, partition) == 0;
}

uint64_t
lt_memory_of(const struct lt_allocation *allocation, const struct lt_need *need,
    const struct lt_shape *shape)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const uint64_t nodes = allocation->nodes, cpus = allocation->cpus;
	const uint64_t per_gpu = request->memory_mib_per_gpu > 0
				     ? request->memory_mib_per_gpu
				     : partition->default_memory_mib_per_gpu;
	const uint64_t per_node =
	    smaller(partition->default_memory_mib, shape->memory_mib);
	uint64_t memory =
	    larger(product(nodes, request->memory_mib_per_node, memory_max),
		product(cpus, need->memory_mib_per_cpu, memory_max));

	if (memory > 0 && request->memory_mib_per_gpu == 0)
		return memory;
	memory = larger(memory, product(allocation->gpus, per_gpu, memory_max));
	/* --ntasks-per-gpu alone may come to no GPU, and to the default. */
	if (memory > 0 && (request->tasks_per_gpu == 0 || request->gpus > 0))
		return memory;
	return larger(memory,
	    partition->default_memory_is_per_cpu
		? product(cpus, partition->default_memory_mib, memory_max)
		: product(nodes, per_node, memory_max));
}

uint64_t
lt_gpus_in_total(const struct lt_request *request)
{
	if (request->gpus > 0 || request->tasks_per_node > 0)
		return request->gpus;
	return (uint64_t)request->tasks * request->gpus_per_task;
}

bool
lt_is_one_task(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;

	return request->nodes_open && request->tasks == 1 &&
	       request->cpus <= need->cpus_per_task && request->gpus == 0 &&
	       request->tasks_per_node == 0 && request->tasks_per_board == 0 &&
	       request->tasks_per_socket == 0 && request->tasks_per_core == 0 &&
	       request->tasks_per_gpu == 0 &&
	       !(need->partition->flags & LT_PARTITION_TASKS_BY_NODE);
}

uint64_t
lt_nodes_unshared(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	uint64_t least = cpus_max;

	if (!request->overcommit || lt_gpus_in_total(request) == 0 ||
	    !(part->flags & LT_PARTITION_GPUS_BY_NODE))
		return 0;
	for (uint32_t i = 0; i < part->shape_count; i++)
		least = smaller(least,
		    larger(
			need->market->shapes[part->first_shape + i].cpus, 1));
	return divided_up(
	    product(request->tasks, need->cpus_per_task, cpus_max), least);
}
