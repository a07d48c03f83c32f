/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes what Slurm may allocate to a request on a partition. First the least that one task and
 * one node ask for there, after the site's defaults and MaxMemPerCPU; then the rules of
 * select/cons_tres (select/linear: whole nodes), each as its upper bound. share.c takes the worst
 * number of nodes. docs/model.md, "What Slurm may allocate".
 *
 * Reads the request and the market's partition. Pure; in doubt a bound is higher.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "ask_text.h"
#include "counts.h"
#include "gpu_kinds.h"
#include "size.h"

/* ---- The least that is asked ---- */

/* Sets the memory that Slurm compares with MaxMemPerCPU: what was asked, else the default, else all
 * of a node; where memory is not consumed, too. */
static void
memory_asked(struct lt_need *need)
{
	const struct lt_request *const request = need->request;

	need->memory_mib_per_cpu = request->memory_mib_per_cpu;
	need->memory_mib_per_node = request->memory_mib_per_node;
	need->whole_memory = request->whole_memory;
	if (request->memory_mib_per_cpu > 0 || request->memory_mib_per_node > 0 ||
	    request->whole_memory)
		return;
	if (need->partition->default_memory_mib == 0)
		need->whole_memory = true;
	else if (!need->partition->default_memory_is_per_cpu)
		need->memory_mib_per_node = need->partition->default_memory_mib;
}

/*
 * MaxMemPerCPU: memory above it is paid with CPUs. Slurm does this for each partition that the job
 * names, one after the other, on what is there by then.
 */
static void
apply_memory_limit(struct lt_need *need, const struct lt_partition *partition)
{
	const uint64_t limit = partition->max_memory_mib;
	uint64_t per_node = need->memory_mib_per_node;

	if (limit == 0 || !partition->max_memory_is_per_cpu)
		return;
	if (need->memory_mib_per_cpu > limit) {
		const uint64_t ratio = divided_up(need->memory_mib_per_cpu, limit);

		need->cpus_per_task = product(need->cpus_per_task, ratio, cpus_max);
		need->memory_mib_per_cpu = divided_up(need->memory_mib_per_cpu, ratio);
	}
	if (need->whole_memory)
		for (uint32_t i = 0; i < partition->shape_count; i++)
			per_node = larger(
			    per_node, need->market->shapes[partition->first_shape + i].memory_mib);
	need->cpus_per_node = larger(need->cpus_per_node, divided_up(per_node, limit));
}

/* Returns the CPUs of a task, so that all tasks of a node together have the CPUs that their memory
 * needs. */
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
		const uint32_t flags = market->partitions[request->named[i]].flags;

		if ((flags & LT_PARTITION_EXCLUSIVE) && !(flags & LT_PARTITION_TASKS_BY_NODE))
			return true;
	}
	return false;
}

struct lt_need
lt_need_of(const struct lt_request *request, const struct lt_market *market, int partition)
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
		apply_memory_limit(&need, &market->partitions[request->named[i]]);
	if (request->named_count == 0)
		apply_memory_limit(&need, need.partition);
	/* 22.05 does so where the request says how many tasks a node has. */
	if (need.cpus_per_node > request->cpus_per_node &&
	    (request->tasks_per_node > 0 || (need.partition->flags & LT_PARTITION_TASKS_BY_NODE)))
		need.cpus_per_task = larger(need.cpus_per_task, cpus_by_memory(&need));
	/* DefCpuPerGPU counts only where the user said no --cpus-per-task. */
	if (request->cpus_per_task == 0 && request->gpus_per_task > 0)
		need.cpus_per_task =
		    larger(need.cpus_per_task, product(request->gpus_per_task,
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
		there += need->market->shapes[need->partition->first_shape + i].node_count;
	return smaller((uint64_t)request->nodes_counted + request->nodes_named, there);
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
lt_cpus_per_gpu(const struct lt_request *request, const struct lt_partition *partition)
{
	if (request->cpus_per_gpu > 0 || request->cpus_per_task > 0)
		return request->cpus_per_gpu;
	return partition->default_cpus_per_gpu;
}

/* On each node that it adds Slurm keeps the cores of all tasks, as far as the node has them: they
 * are bound before the tasks are dealt out. */
static uint64_t
cpus_bound_by_node(const struct lt_need *need, uint64_t gpus, uint64_t nodes)
{
	const struct lt_request *const request = need->request;

	return request->bind_gpus && gpus > 0 && nodes > request->min_nodes &&
		       (need->partition->flags & LT_PARTITION_TASKS_BY_NODE)
		   ? product(nodes,
			 larger(
			     request->cpus, product(request->tasks, need->cpus_per_task, cpus_max)),
			 cpus_max)
		   : 0;
}

uint64_t
lt_cpus_bound(const struct lt_need *need, uint64_t gpus, uint64_t nodes, uint64_t cpus)
{
	const struct lt_request *const request = need->request;
	/* DefCpuPerGPU is nothing to a job without GPUs. */
	const uint64_t each =
	    gpus > 0 ? lt_cpus_per_gpu(request, need->partition) : request->cpus_per_gpu;
	const uint64_t all = product(larger(gpus, nodes), each, cpus_max);
	const uint64_t by_socket =
	    product(larger(request->sockets_per_node, 1), request->gpus_per_socket, cpus_max);
	const uint64_t first =
	    product(larger(larger(request->gpus_per_node, by_socket), 1), each, cpus_max);

	if (!request->bind_gpus || each == 0)
		return cpus_bound_by_node(need, gpus, nodes);
	return larger(larger(cpus, all), cpus_bound_by_node(need, gpus, nodes)) +
	       (nodes > 1 ? all - smaller(all, first) : 0);
}

uint64_t
lt_cpus_sought(const struct lt_request *request)
{
	const uint64_t node = product(product(larger(request->threads_per_core, 1),
					  larger(request->cores_per_socket, 1), cpus_max),
	    larger(request->sockets_per_node, 1), cpus_max);

	return request->overcommit ? product(request->min_nodes, node, cpus_max) : 0;
}

bool
lt_tasks_apart(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;

	return need->cpus_per_task > larger(request->cpus_per_task, 1) || !request->overcommit ||
	       !request->nodes_open || request->spread || request->plane ||
	       request->tasks_per_node > 0 || request->tasks_per_socket > 0 ||
	       request->tasks_per_core > 0 || request->tasks_per_board > 0 ||
	       request->tasks_per_gpu > 0 || request->cpus_per_node > 0;
}

uint64_t
lt_tasks_updated(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const uint32_t each =
	    request->tasks_per_node > 0 ? request->tasks_per_node : request->tasks_per_gpu;

	if (request->tasks == 0 || !(need->partition->flags & LT_PARTITION_DEALS_TASKS) ||
	    (!request->nodes_open && request->max_nodes > request->min_nodes))
		return request->tasks;
	return larger(request->tasks, product(request->min_nodes, each, cpus_max));
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
	return request->overcommit && !request->spread ? smaller(tasks, nodes) : tasks;
}

bool
lt_counts_by_node(const struct lt_need *need, uint64_t gpus, uint64_t tasks)
{
	const struct lt_request *const request = need->request;

	return tasks != 1 || request->max_cpus > 0 || (gpus == 0 && request->cpus_per_gpu > 0) ||
	       (need->partition->flags & LT_PARTITION_TASKS_BY_NODE);
}

bool
lt_has_one_gpu(const struct lt_request *request, const struct lt_partition *partition)
{
	return (partition->flags & LT_PARTITION_DEALS_TASKS) &&
	       !(partition->flags & LT_PARTITION_BY_SOCKET) && request->gpus == 1 &&
	       request->gpus_per_node == 0 && request->gpus_per_socket == 0 &&
	       request->gpus_per_task == 0 && request->tasks > 0 && !request->tasks_implied &&
	       request->tasks_per_node == 0 && request->tasks_per_board == 0 &&
	       request->tasks_per_socket == 0 && request->tasks_per_core == 0 &&
	       request->tasks_per_gpu == 0 && lt_cpus_per_gpu(request, partition) == 0;
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
	const uint64_t per_node = smaller(partition->default_memory_mib, shape->memory_mib);
	uint64_t memory = larger(product(nodes, request->memory_mib_per_node, memory_max),
	    product(cpus, need->memory_mib_per_cpu, memory_max));

	if (memory > 0 && request->memory_mib_per_gpu == 0)
		return memory;
	memory = larger(memory, product(allocation->gpus, per_gpu, memory_max));
	/* --ntasks-per-gpu alone may come to no GPU, and to the default. */
	if (memory > 0 && (request->tasks_per_gpu == 0 || request->gpus > 0))
		return memory;
	return larger(memory, partition->default_memory_is_per_cpu
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

	return request->nodes_open && request->tasks == 1 && request->cpus <= need->cpus_per_task &&
	       request->gpus == 0 && request->tasks_per_node == 0 &&
	       request->tasks_per_board == 0 && request->tasks_per_socket == 0 &&
	       request->tasks_per_core == 0 && request->tasks_per_gpu == 0 &&
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
		least = smaller(least, larger(need->market->shapes[part->first_shape + i].cpus, 1));
	return divided_up(product(request->tasks, need->cpus_per_task, cpus_max), least);
}

/* ---- What Slurm may allocate ---- */

/* --ntasks, else what Slurm puts in its place; 0 = it counts CPUs only. */
static uint64_t
tasks_of(const struct lt_request *request, uint64_t gpus)
{
	uint64_t tasks = request->tasks;

	if (tasks == 0 && request->tasks_per_node > 0)
		tasks = product(request->tasks_per_node, request->min_nodes, cpus_max);
	if (tasks == 0 && request->tasks_per_gpu > 0 && gpus == 0)
		tasks = product(request->tasks_per_gpu, request->min_nodes, cpus_max);
	if (tasks == 0 && request->gpus_per_task > 0)
		tasks = request->min_nodes;
	if (request->tasks_per_gpu > 0)
		tasks = larger(tasks, product(gpus, request->tasks_per_gpu, cpus_max));
	return tasks;
}

/* GPUs of a node that has only as many sockets as are asked for; 0 = not
 * asked by socket. */
static uint64_t
gpus_by_socket(const struct lt_request *request)
{
	return product(larger(request->sockets_per_node, 1), request->gpus_per_socket, cpus_max);
}

/* Sockets of all nodes that the job may have CPUs on: Slurm deals tasks out to the sockets of a
 * node, whatever --sockets-per-node says. */
static uint64_t
sockets_of(const struct lt_need *need, const struct lt_shape *shape, uint64_t tasks, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const uint64_t all = nodes * larger(shape->sockets, 1);
	const uint64_t per_node =
	    larger(request->sockets_per_node, larger(need->cpus_per_node, request->tasks_per_node));
	uint64_t used = larger(request->cpus, request->max_cpus);

	/* Where GPUs bring CPUs they are counted on every socket. */
	if (request->bind_gpus || ((partition->flags & LT_PARTITION_BIND_SOCKETS) &&
				      lt_cpus_per_gpu(request, partition) > 0))
		return all;
	used = larger(used, product(tasks, larger(request->cpus_per_task, 1), cpus_max));
	used = larger(used, product(nodes, per_node, cpus_max));
	/* The CPUs that the GPUs of the least sockets bring. */
	used = larger(used, product(product(nodes, gpus_by_socket(request), cpus_max),
				lt_cpus_per_gpu(request, partition), cpus_max));
	return smaller(larger(used, nodes), all);
}

/* GPUs by task. Slurm counts tasks anew by the CPUs that the job has: each of them gets its GPUs,
 * as far as the nodes have any. */
static uint64_t
gpus_by_task(
    const struct lt_need *need, const struct lt_shape *shape, uint64_t tasks, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const uint64_t each = request->gpus_per_task;
	const uint64_t cpus_per_task = larger(request->cpus_per_task, 1);
	const uint64_t by_gpus =
	    product(tasks, product(each, request->cpus_per_gpu, cpus_max), cpus_max);
	const uint64_t by_node = product(nodes, need->cpus_per_node, cpus_max);
	const uint64_t least = larger(tasks, nodes); /* each node has one */
	const uint64_t counted = larger(request->cpus, larger(by_gpus, by_node)) / cpus_per_task;

	return larger(product(least, each, cpus_max),
	    smaller(product(counted, each, cpus_max), product(nodes, shape->gpus, cpus_max)));
}

bool
lt_gpus_unsure(const struct lt_request *request, const struct lt_shape *shape)
{
	return request->gpu_type[0] != '\0' && lt_shape_gpus(shape, request->gpu_type) > 0 &&
	       !lt_shape_has_type(shape, request->gpu_type);
}

/* --gpus. Of each type a node has one at least: 22.05.8 gave three of
 * a100:1,h100:1 on two nodes. The most is where all types but one have one. */
static uint64_t
gpus_in_total(const struct lt_need *need, const struct lt_shape *shape, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const uint64_t gpus = request->gpus;
	const bool other_ways = request->gpus_per_node > 0 || request->gpus_per_socket > 0 ||
				request->gpus_per_task > 0;
	const uint64_t named = lt_gpu_kinds(request->gpu_type) - other_ways;
	const uint64_t kinds = smaller(named, gpus);

	if (kinds <= 1 || (need->partition->flags & LT_PARTITION_GPUS_BY_NODE))
		return gpus;

	const uint64_t most = product(kinds - 1, nodes, cpus_max) + larger(gpus - kinds + 1, nodes);

	return larger(gpus, smaller(most, product(nodes, shape->gpus, cpus_max)));
}

/*
 * GPUs by each way to ask for them: Slurm wants them to agree, unless they are of several types. A
 * node of a job with GPUs has one at least, so --gpus is no maximum.
 */
static uint64_t
gpus_of(const struct lt_need *need, const struct lt_shape *shape, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const uint64_t asked = tasks_of(request, 0);
	uint64_t tasks = asked, gpus = 0, all = 0;

	/* As many on each node, --ntasks or not. */
	if (tasks != 1 || (partition->flags & LT_PARTITION_TASKS_BY_NODE))
		tasks = larger(tasks, product(nodes, request->tasks_per_node, cpus_max));
	const bool several = lt_gpu_kinds(request->gpu_type) > 1;
	const uint64_t ways[] = {gpus_in_total(need, shape, nodes),
	    product(nodes, request->gpus_per_node, cpus_max),
	    product(sockets_of(need, shape, tasks, nodes), request->gpus_per_socket, cpus_max),
	    gpus_by_task(need, shape, tasks, nodes)};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		gpus = larger(gpus, ways[i]);
		all += ways[i];
	}
	if (several)
		gpus = smaller(all, cpus_max);
	if (gpus == 0 && request->tasks_per_gpu > 0)
		gpus = asked / request->tasks_per_gpu;
	if ((partition->flags & LT_PARTITION_GPUS_BY_NODE) && (gpus + 1 < nodes || several))
		gpus = product(nodes, smaller(gpus, shape->gpus), cpus_max);
	return gpus > 0 ? larger(gpus, nodes) : 0;
}

struct grain {		  /* of CPUs on a node */
	uint64_t threads; /* CPUs of a core */
	uint64_t usable;  /* of them, that one job's tasks may use */
	uint64_t cores;	  /* of a node */
	uint64_t sockets, socket_cores;
	bool apart; /* each task on cores of its own */
};

static struct grain
grain_of(const struct lt_request *request, const struct lt_partition *partition,
    const struct lt_shape *shape, uint64_t cpus_per_task)
{
	struct grain grain = {
	    .threads = larger(shape->threads, 1), .sockets = larger(shape->sockets, 1)};
	uint64_t per_core = request->tasks_per_core;

	if (per_core == 0 && (partition->flags & LT_PARTITION_TASK_PER_CORE))
		per_core = 1;
	grain.cores = larger(shape->cpus / grain.threads, 1);
	grain.socket_cores = larger(divided_up(grain.cores, grain.sockets), shape->socket_cores);
	grain.usable = grain.threads;
	if (per_core > 0)
		grain.usable = smaller(grain.usable, per_core * cpus_per_task);
	if (request->threads_per_core > 0)
		grain.usable = smaller(grain.usable, request->threads_per_core);
	grain.apart = per_core == 1 && cpus_per_task > grain.usable;
	return grain;
}

/*
 * GPUs that CPUs are counted for on newer Slurms: each node has the CPUs of that with the most
 * GPUs, and each of the others has one GPU at least. On m nodes m x min(GPUs of a node, gpus - m +
 * 1): the most of what it is on min_nodes to nodes.
 */
static uint64_t
gpus_counted(
    const struct lt_request *request, const struct lt_shape *shape, uint64_t gpus, uint64_t nodes)
{
	const uint64_t full = gpus + 1 > shape->gpus ? gpus + 1 - shape->gpus : 1;

	if (request->spread)
		return product(nodes, smaller(gpus, shape->gpus), cpus_max);
	const uint64_t best =
	    smaller(larger(larger(full, (gpus + 1) / 2), request->min_nodes), nodes);
	return product(best, smaller(shape->gpus, gpus + 1 - best), cpus_max);
}

/* With --overcommit a node gives CPUs for one task, which all share. With GPUs that is so where
 * neither tasks nor sockets of theirs, nor from 23.02 on anything else, bring more. */
static bool
shares_cpus(const struct lt_request *request, const struct lt_partition *partition)
{
	return request->overcommit && (!lt_request_wants_gpus(request) ||
					  (request->gpus_per_task == 0 && !request->bind_gpus &&
					      !(partition->flags & LT_PARTITION_TASKS_BY_NODE)));
}

/*
 * Before 23.02 a job with GPUs keeps on a node the cores of the tasks that it may have there,
 * whatever MaxMemPerCPU or --mincpus ask. How many tasks is known of one, and on the one node that
 * it may have. Source:
 * gres_select_filter_sock_core() and _select_cores() of 22.05.
 */
static bool
has_task_cores_only(const struct lt_need *need, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const bool one_node = !request->nodes_open && request->max_nodes == 1;

	return nodes == 1 && lt_request_wants_gpus(request) &&
	       !(need->partition->flags & LT_PARTITION_TASKS_BY_NODE) &&
	       (request->tasks == 1 || (one_node && request->tasks > 1)) &&
	       request->cpus == (uint64_t)request->tasks * larger(request->cpus_per_task, 1) &&
	       lt_cpus_per_gpu(request, need->partition) == 0 && request->gpus_per_task == 0 &&
	       request->tasks_per_gpu == 0 && request->tasks_per_node == 0 &&
	       request->tasks_per_board == 0 && request->tasks_per_socket == 0 &&
	       request->tasks_per_core == 0 && request->max_cpus == 0 && !request->bind_gpus &&
	       !request->plane && !request->overcommit;
}

/* True if each task has CPUs of its own. With --overcommit too where GPUs bring it: 26.05.5 gave 13
 * CPUs for -n13 bound to one GPU. */
static bool
have_own_cpus(const struct lt_request *request, uint64_t gpus)
{
	return !request->overcommit || request->gpus_per_task > 0 ||
	       (request->bind_gpus && gpus > 0);
}

/* CPUs before they are rounded up to cores. */
static uint64_t
cpus_counted(
    const struct lt_need *need, const struct lt_shape *shape, uint64_t gpus, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const uint64_t asked = tasks_of(request, gpus);
	const uint64_t tasks =
	    gpus == 0 && request->tasks_per_gpu > 0 ? larger(asked, lt_tasks_updated(need)) : asked;
	const uint64_t dealt = lt_tasks_dealt(need, nodes);
	const bool shared = shares_cpus(request, partition);
	const uint64_t per_gpu = shared ? 0 : lt_cpus_per_gpu(request, partition);
	/* More than --gpus bring: each node gives what all of them do. */
	const uint64_t by_gpus = product(request->gpus, per_gpu, cpus_max);
	uint64_t per_node = larger(need->cpus_per_node, need->cpus_per_task);
	uint64_t cpus = larger(request->cpus, nodes);

	if (dealt > 0)
		return product(dealt, need->cpus_per_task, cpus_max);
	if (has_task_cores_only(need, nodes)) {
		const struct grain grain = grain_of(request, partition, shape, need->cpus_per_task);

		return product(
		    tasks, divided_up(need->cpus_per_task, grain.usable) * grain.threads, cpus_max);
	}
	if (lt_counts_by_node(need, gpus, tasks))
		per_node = larger(
		    per_node, product(request->tasks_per_node, need->cpus_per_task, cpus_max));
	/* Whatever a node asks. */
	if (shared)
		per_node = need->cpus_per_task;
	if (request->overcommit) /* a core of each node, all threads of it */
		cpus = larger(cpus, nodes * larger(shape->threads, 1));
	if (have_own_cpus(request, gpus))
		cpus = larger(cpus, product(tasks, need->cpus_per_task, cpus_max));
	cpus = larger(cpus, product(nodes, per_node, cpus_max));
	/* As many as the maximum, and the last task of each node in full. */
	if (request->max_cpus > 0 && ((request->bind_gpus && gpus > 0) || request->plane))
		cpus = larger(cpus, request->max_cpus + nodes * (need->cpus_per_task - 1));
	/* All but the first node may have one task, and then more CPUs. */
	if (request->bind_gpus && gpus > 0 && need->cpus_per_node > need->cpus_per_task)
		cpus = larger(cpus, product(tasks, need->cpus_per_task, cpus_max) +
					(nodes - 1) * (need->cpus_per_node - need->cpus_per_task));
	/* A plane a node, full or not; a node that is there for its GPUs has a task, though the
	 * others have them all. */
	if (request->plane || (request->bind_gpus && request->gpus > 0 && request->max_cpus == 0 &&
				  need->cpus_per_node <= need->cpus_per_task))
		cpus += product(nodes - 1, need->cpus_per_task, cpus_max);
	cpus = larger(cpus, product(gpus, per_gpu, cpus_max));
	cpus = larger(cpus, product(divided_up(cpus, larger(by_gpus, 1)), by_gpus, cpus_max));
	if ((partition->flags & LT_PARTITION_GPUS_BY_NODE) && gpus >= nodes &&
	    (request->spread || (request->gpus_per_node == 0 && request->gpus_per_socket == 0)))
		cpus = larger(
		    cpus, product(per_gpu, gpus_counted(request, shape, gpus, nodes), cpus_max));
	return larger(cpus, lt_cpus_bound(need, gpus, nodes, cpus));
}

/* Rounds up to whole sockets. CPUs are dealt out to all sockets in turn; the CPUs of a task are
 * kept on as few as can hold it. Slurm keeps several tasks on one socket, too, but not where others
 * have parts of the node. */
static uint64_t
sockets_rounded(const struct lt_need *need, const struct grain *grain, uint64_t cores,
    uint64_t tasks, uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	/* Each task may be on planes of its own, threads of a core or not. */
	const uint64_t all =
	    smaller(request->plane ? larger(cores, tasks) : cores, nodes * grain->sockets);
	const uint64_t socket_cpus = grain->cores / grain->sockets * grain->usable;

	if (need->cpus_per_task > socket_cpus || lt_request_wants_gpus(request) ||
	    request->tasks_per_socket > 0)
		return all;
	return smaller(all, larger(tasks, nodes));
}

/* Cores of a node that --gres-flags=enforce-binding brings: all of the sockets that its GPUs belong
 * to, which may be all. */
static uint64_t
cores_for_binding(const struct lt_request *request, const struct lt_partition *partition,
    const struct grain *grain, uint64_t gpus)
{
	return request->bind_gpus && (gpus > 0 || request->cpus_per_gpu > 0) &&
		       !lt_has_one_gpu(request, partition) &&
		       (partition->flags & (LT_PARTITION_BY_SOCKET | LT_PARTITION_BIND_SOCKETS))
		   ? grain->cores
		   : 0;
}

static uint64_t
cpus_rounded(const struct lt_need *need, const struct lt_shape *shape, uint64_t cpus, uint64_t gpus,
    uint64_t nodes)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const struct grain grain = grain_of(request, partition, shape, need->cpus_per_task);
	const uint64_t tasks = divided_up(cpus, need->cpus_per_task);
	const uint64_t apart =
	    product(tasks, divided_up(need->cpus_per_task, grain.usable), cpus_max);
	/* Each node may have one core that is not full. */
	uint64_t cores = (cpus + nodes * (grain.usable - 1)) / grain.usable;
	const uint64_t bound =
	    product(nodes, cores_for_binding(request, partition, &grain, gpus), cpus_max);

	cores = larger(grain.apart ? apart : smaller(cores, apart), nodes);
	cores = larger(cores, bound);
	/* GPUs are bound to whole cores, whatever a job is given. */
	if (!(partition->flags & (LT_PARTITION_BY_CORE | LT_PARTITION_BY_SOCKET)))
		return request->bind_gpus && (gpus > 0 || request->cpus_per_gpu)
			   ? larger(cpus, product(cores, grain.threads, cpus_max))
			   : cpus;
	if (partition->flags & LT_PARTITION_BY_SOCKET)
		cores = product(sockets_rounded(need, &grain, cores, tasks, nodes),
		    grain.socket_cores, cpus_max);
	return product(cores, grain.threads, cpus_max);
}

/* From 24.11 on a node that has none of the tasks is given whole where sockets are, by planes and
 * by blocks of blocks: _block_sync_core_bitmap() keeps all that was looked at for no CPUs. */
static uint64_t
nodes_left_whole(const struct lt_need *need, uint64_t dealt, uint64_t nodes)
{
	if (dealt == 0 || !(need->partition->flags & LT_PARTITION_BY_SOCKET))
		return 0;
	return need->request->plane ? nodes - 1 : nodes - smaller(dealt, nodes);
}

void
lt_allocation_on(struct lt_allocation *allocation, const struct lt_need *need,
    const struct lt_shape *shape, uint32_t nodes)
{
	assert(need->cpus_per_task > 0);

	const struct lt_request *const request = need->request;
	const bool ignored = need->market->memory_ignored;
	const uint64_t gpus = gpus_of(need, shape, nodes);
	const uint64_t cpus = cpus_counted(need, shape, gpus, nodes);
	const uint64_t dealt = lt_tasks_dealt(need, nodes);
	const uint64_t used = dealt > 0 ? smaller(dealt, nodes) : nodes;

	uint64_t tasks = lt_tasks_apart(need) ? tasks_of(request, gpus) : 1;

	/* 24.11.5: two nodes for --ntasks-per-socket=1 --overcommit. */
	if (request->overcommit)
		tasks = larger(larger(tasks, lt_cpus_sought(request)),
		    product(request->tasks_per_socket, shape->sockets, cpus_max));
	*allocation = (struct lt_allocation){
	    .nodes = nodes,
	    .parts = larger(larger(tasks, gpus), divided_up(request->cpus, need->cpus_per_task)),
	    .gpus = gpus,
	    .shards = product(nodes, request->shards_per_node, cpus_max),
	    .cpus = cpus_rounded(need, shape, cpus, gpus, used) +
		    product(nodes_left_whole(need, dealt, nodes), shape->cpus, cpus_max),
	    .whole = need->whole || (request->whole_memory && !ignored),
	};
	if (!ignored && !request->whole_memory)
		allocation->memory_mib = lt_memory_of(allocation, need, shape);
}

/* Cores of an idle node that the job may use. */
static uint64_t
cores_open(const struct lt_request *request, const struct lt_partition *partition,
    const struct lt_shape *shape, const struct grain *grain)
{
	uint64_t cores = smaller(grain->cores, shape->cpus); /* none: 0 */

	if (partition->max_cpus_per_node > 0)
		cores = smaller(cores, divided_up(partition->max_cpus_per_node, grain->threads));
	if (partition->max_cpus_per_socket > 0)
		cores = smaller(cores,
		    grain->sockets * divided_up(partition->max_cpus_per_socket, grain->threads));
	if (!lt_request_wants_gpus(request))
		cores -= smaller(cores, shape->gpu_cores);
	cores -= smaller(cores, request->spec_cores);
	return cores;
}

/* Tasks that a node's GPUs leave room for: Slurm puts a job with few GPUs on their sockets only,
 * and so many tasks to a GPU. */
static uint64_t
tasks_by_gpus(const struct lt_need *need, const struct grain *grain)
{
	const struct lt_request *const request = need->request;
	const uint64_t gpus = request->gpus_per_node > 0 ? request->gpus_per_node : request->gpus;
	const uint64_t by_socket = gpus_by_socket(request);
	uint64_t tasks = UINT32_MAX;

	if (request->tasks_per_socket > 0)
		tasks = request->tasks_per_socket;
	if (request->bind_gpus)
		tasks = smaller(tasks,
		    larger(grain->cores / grain->sockets * grain->usable / need->cpus_per_task, 1));
	if (request->gpus_per_task > 0 && request->gpus_per_node > 0)
		tasks = smaller(tasks, larger(request->gpus_per_node / request->gpus_per_task, 1));
	if (request->gpus_per_task > 0 && by_socket > 0)
		tasks = smaller(tasks, larger(by_socket / request->gpus_per_task, 1));
	if (request->tasks_per_gpu > 0 && gpus > 0)
		tasks = smaller(tasks, product(request->tasks_per_gpu, gpus, cpus_max));
	if (request->tasks_per_gpu > 0 && by_socket > 0)
		tasks = smaller(tasks, product(request->tasks_per_gpu, by_socket, cpus_max));
	return tasks;
}

/* Tasks of the request that one idle node of the shape can hold. From 23.02 on these have no more
 * CPUs than GPUs by node or socket bring. */
static uint64_t
tasks_on_node(const struct lt_need *need, const struct lt_shape *shape)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const partition = need->partition;
	const struct grain grain = grain_of(request, partition, shape, need->cpus_per_task);
	const uint64_t cores = cores_open(request, partition, shape, &grain);
	uint64_t tasks = grain.apart ? cores / divided_up(need->cpus_per_task, grain.usable)
				     : cores * grain.usable / need->cpus_per_task;

	const struct {
		uint64_t each, times; /* each 0 = no such limit */
	} limits[] = {{request->tasks_per_node, 1}, {request->tasks_per_socket, grain.sockets},
	    {request->tasks_per_core, grain.cores},
	    {request->gpus_per_task > 0
		    ? larger(lt_shape_gpus(shape, request->gpu_type) / request->gpus_per_task, 1)
		    : 0,
		1}};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (limits[i].each > 0)
			tasks = smaller(tasks, limits[i].each * limits[i].times);
	if (lt_request_wants_gpus(request))
		tasks = smaller(tasks, tasks_by_gpus(need, &grain));
	/* Slurm deals them out evenly (_select_cores()). */
	if (request->tasks_per_gpu > 0 && request->min_nodes > 1)
		tasks = smaller(tasks, larger(request->tasks / request->min_nodes, 1));
	const uint64_t by_gpus = product(larger(request->gpus_per_node, gpus_by_socket(request)),
	    lt_cpus_per_gpu(request, partition), cpus_max);
	if (by_gpus > 0 && (partition->flags & LT_PARTITION_TASKS_BY_NODE))
		tasks = smaller(tasks, larger(by_gpus / need->cpus_per_task, 1));
	if (need->memory_mib_per_cpu > 0 && !need->market->memory_ignored) {
		/* A core brings all its threads' memory. */
		const uint64_t task_cpus =
		    product(divided_up(need->cpus_per_task, grain.usable), grain.threads, cpus_max);

		tasks = smaller(tasks,
		    shape->memory_mib / product(task_cpus, need->memory_mib_per_cpu, memory_max));
	}
	return tasks;
}

uint32_t
lt_nodes_needed(const struct lt_need *need, const struct lt_shape *shape)
{
	assert(need->cpus_per_task > 0);

	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	const uint64_t gpus = gpus_of(need, shape, request->min_nodes);
	const uint64_t usable = lt_shape_gpus(shape, request->gpu_type);
	const uint64_t tasks = tasks_of(request, gpus);
	const uint64_t room = tasks_on_node(need, shape);
	uint64_t nodes = larger(request->min_nodes, part->min_nodes);

	if (request->gpus_per_node > 0)
		nodes = larger(nodes, request->gpus / request->gpus_per_node);
	if (request->gpus_per_socket > 0)
		nodes = larger(nodes, divided_up(request->gpus, gpus_by_socket(request)));

	if (room == 0 || (gpus > 0 && usable == 0) || usable < request->gpus_per_node ||
	    shape->shards < request->shards_per_node || shape->cpus < need->cpus_per_node ||
	    (!need->market->memory_ignored && shape->memory_mib < request->memory_mib_per_node))
		return 0;
	nodes = larger(
	    nodes, divided_up(larger(tasks, divided_up(request->cpus, need->cpus_per_task)), room));
	if (gpus > 0)
		nodes = larger(
		    nodes, larger(divided_up(gpus, usable),
			       divided_up(product(gpus, lt_cpus_per_gpu(request, part), cpus_max),
				   shape->cpus)));
	return (uint32_t)smaller(nodes, LT_NODES_MAX);
}
