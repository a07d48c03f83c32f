/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations as shares of nodes: for a run from what it was given, for a request from the most
 * that it may be given, over the shapes and the number of nodes that Slurm may choose. On
 * Kubernetes the share of a pod is the weighted sum of its parts of the node's CPUs, memory and
 * GPUs, docs/model.md, eq. (2a).
 *
 * Also what a charge is made of, AllocTRES and the parts of the nodes' power, so that plans and
 * charges use the same arithmetic: eqs. (2) and (5). Pure; in doubt a share is larger.
 */
#include <assert.h>
#include <math.h>

#include "counts.h"
#include "gpu_kinds.h"
#include "size.h"
#include "units.h"

/* ---- Shares of pods ---- */

__extension__ typedef __int128 wide;

/*
 * OpenCost's default prices of a CPU-hour, a GiB-hour and a GPU-hour, in millionths of a US dollar,
 * times 1000 x 2^20. Only their ratios count, as where OpenCost divides a node's price. Source: its
 * configs/default.json.
 */
static wide
value_of(struct lt_exact exact)
{
	/* GPU: of a millionth, 950000 x milli / 10^6. */
	enum { CPU = 31611, GIB = 4237, GPU = 950 };
	const int64_t milli = 1000, kib_a_gib = 1 << 20;

	return (wide)exact.cpu_milli * CPU * kib_a_gib + (wide)exact.memory_kib * GIB * milli +
	       (wide)exact.gpu_micro * GPU * kib_a_gib;
}

/* Returns millionths of GPUs; for a pod without them the whole GPUs, which are no fewer. */
static uint64_t
gpu_micro(struct lt_exact exact, uint64_t gpus)
{
	return exact.gpu_micro > 0 ? exact.gpu_micro : gpus * UINT64_C(1000000);
}

/* All of a node. */
static wide
value_of_shape(const struct lt_shape *shape)
{
	struct lt_exact exact = shape->exact;

	exact.gpu_micro = gpu_micro(exact, shape->gpus);
	return value_of(exact);
}

double
lt_weight_of(const struct lt_shape *shape, bool of_gpus)
{
	const struct lt_exact gpus = {.gpu_micro = gpu_micro(shape->exact, shape->gpus)};
	const struct lt_exact cpus = {.cpu_milli = shape->exact.cpu_milli};

	return (double)value_of(of_gpus ? gpus : cpus) / (double)value_of_shape(shape);
}

/* The same for all sizes: whole CPUs and MiB. */
static struct lt_exact
exact_of(const struct lt_resources *resources)
{
	struct lt_exact exact = resources->exact;

	if (exact.cpu_milli == 0)
		exact.cpu_milli = resources->cpus * UINT64_C(1000);
	if (exact.memory_kib == 0)
		exact.memory_kib = resources->memory_mib * 1024;
	exact.gpu_micro = gpu_micro(exact, resources->gpus);
	return exact;
}

struct lt_fraction
lt_weighted_share(const struct lt_resources *resources, const struct lt_shape *shape)
{
	static const int64_t parts = INT64_C(1000000000000);

	const wide full = value_of_shape(shape) * (wide)resources->nodes;
	const wide used = value_of(exact_of(resources));

	return (struct lt_fraction){(int64_t)(used * parts / full), parts};
}

/* True if it is made of pods and priced where nodes are shared by weights. */
static bool
is_of_pods(const struct lt_request *request, const struct lt_market *market, int partition)
{
	const struct lt_partition *const part = &market->partitions[partition];

	return part->shape_count > 0 && request->tasks > 0 && request->pod.cpu_milli > 0 &&
	       lt_shape_is_weighted(&market->shapes[part->first_shape]);
}

/* Returns one of its pods, on a node. */
static struct lt_resources
pod_of(const struct lt_request *request)
{
	return (struct lt_resources){
	    .nodes = 1, .gpus = request->gpus_per_task, .exact = request->pod};
}

/* Returns 0 if nothing is used; more than 1 for what is not there: it does not fit. */
static double
node_part(uint64_t used, uint64_t full)
{
	return used == 0 ? 0 : full == 0 ? 2 : (double)used / (double)full;
}

static double
greatest_part(const struct lt_resources *pod, const struct lt_shape *shape)
{
	const double parts[] = {node_part(pod->exact.cpu_milli, shape->exact.cpu_milli),
	    node_part(pod->exact.memory_kib, shape->exact.memory_kib),
	    node_part(gpu_micro(pod->exact, pod->gpus), gpu_micro(shape->exact, shape->gpus))};
	double most = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] > most)
			most = parts[i];
	return most;
}

double
lt_part_most(const struct lt_request *request, const struct lt_market *market, int partition,
    struct lt_share share)
{
	const struct lt_partition *const part = &market->partitions[partition];
	const struct lt_resources pod = pod_of(request);
	double most = 0;

	if (!is_of_pods(request, market, partition))
		return (double)share.numerator / (double)share.denominator;
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const double here = greatest_part(&pod, &market->shapes[part->first_shape + i]);

		if (here <= 1 && here > most)
			most = here;
	}
	return most > 0 ? most : 1;
}

/* ---- Parts of a charge ---- */

static double
part_of(double used, double full)
{
	return full > 0 ? used / full : 0;
}

/* Watts of its GPUs on one node; LT_WATTS_UNKNOWN. */
static double
gpu_watts_of(
    const struct lt_resources *r, const struct lt_shape *shape, const struct lt_charge_nodes *on)
{
	const double nodes = r->nodes, all = shape->gpus;
	const double micro = (double)gpu_micro(shape->exact, shape->gpus);
	const double gpus = part_of(all * (double)gpu_micro(r->exact, r->gpus), micro * nodes);
	const double shards = part_of(r->shards, nodes * shape->shards);
	const double whole = lt_gpus_watts(shape, on->gpu_w, "", all);
	const double watts = lt_gpus_watts(shape, on->gpu_w, on->gpu_type, gpus < all ? gpus : all);

	if (watts < 0 || (shards > 0 && whole < 0))
		return LT_WATTS_UNKNOWN;
	if (all <= 0)
		return 0;
	return fmin(watts + (shards > 0 ? shards * whole : 0), whole);
}

/* Returns the power of the GPUs where the kind of node is not known: as much as the share. */
static double
gpu_watts_by_share(const struct lt_resources *r, double part, const struct lt_charge_nodes *on)
{
	if (on->gpu_w > 0 || (r->gpus == 0 && r->shards == 0))
		return on->gpu_w * part;
	for (uint32_t i = 0; i < on->shape_count; i++)
		if (on->shapes[i].gpus > 0)
			return LT_WATTS_UNKNOWN;
	return 0;
}

struct lt_power_parts
lt_charge_parts(
    const struct lt_resources *r, struct lt_fraction share, const struct lt_charge_nodes *on)
{
	const int index = lt_charge_shape(r, on->shapes, on->shape_count);
	const double part = (double)share.numerator / (double)share.denominator;
	double cpu = part;

	if (index >= 0 && lt_shape_is_weighted(&on->shapes[index]) && r->exact.cpu_milli > 0)
		cpu = (double)r->exact.cpu_milli /
		      ((double)r->nodes * (double)on->shapes[index].exact.cpu_milli);
	else if (index >= 0 && on->shapes[index].cpus > 0)
		cpu = r->cpus / ((double)r->nodes * on->shapes[index].cpus);
	return (struct lt_power_parts){.cpu = cpu < 1 ? cpu : 1,
	    .gpu_w = index >= 0 ? gpu_watts_of(r, &on->shapes[index], on)
				: gpu_watts_by_share(r, part, on)};
}

struct lt_resources
lt_resources_of(const struct lt_allocation *allocation, const struct lt_need *need,
    const struct lt_shape *shape)
{
	const uint32_t nodes = allocation->nodes;
	const uint64_t all_memory_mib = (uint64_t)nodes * shape->memory_mib;

	if (need->whole)
		return (struct lt_resources){.nodes = nodes,
		    .cpus = nodes * shape->cpus,
		    .gpus = nodes * shape->gpus,
		    .shards = shape->gpus > 0 ? 0 : nodes * shape->shards,
		    .memory_mib = all_memory_mib,
		    .exclusive = true};
	return (struct lt_resources){.nodes = nodes,
	    .cpus = (uint32_t)smaller(allocation->cpus, UINT32_MAX),
	    .gpus = (uint32_t)smaller(allocation->gpus, UINT32_MAX),
	    .shards = (uint32_t)smaller(allocation->shards, UINT32_MAX),
	    .memory_mib = allocation->whole ? all_memory_mib : allocation->memory_mib,
	    .exact = {need->request->pod.cpu_milli * need->request->tasks,
		need->request->pod.memory_kib * need->request->tasks,
		need->request->pod.gpu_micro * need->request->tasks}};
}

/* ---- Shares of nodes ---- */

static struct lt_fraction
reduce(int64_t numerator, int64_t denominator)
{
	int64_t a = numerator, b = denominator;

	while (b != 0) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return (struct lt_fraction){numerator / a, denominator / a};
}

struct used {
	uint64_t nodes, cpus, gpus, shards, memory_mib;
	struct lt_exact exact;
};

/* The dominant resource over the nodes, were they of this shape; may pass 1. Source: Ghodsi et al.,
 * NSDI 2011. */
static struct lt_fraction
dominant(const struct used *used, const struct lt_shape *shape)
{
	const bool exact = lt_shape_is_weighted(shape);
	const struct {
		uint64_t used, full;
	} parts[] = {
	    {exact ? used->exact.gpu_micro : used->gpus,
		exact ? gpu_micro(shape->exact, shape->gpus) : shape->gpus},
	    {used->shards, shape->shards},
	    {exact ? used->exact.cpu_milli : used->cpus,
		exact ? shape->exact.cpu_milli : shape->cpus},
	    {exact ? used->exact.memory_kib : used->memory_mib,
		exact ? shape->exact.memory_kib : shape->memory_mib},
	};
	struct lt_fraction best = {0, 1};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const int64_t part = (int64_t)parts[i].used;
		const int64_t full = (int64_t)(parts[i].full * used->nodes);

		if (part == 0)
			continue;
		if (full == 0) /* asks for what the shape has not */
			return (struct lt_fraction){INT64_MAX, 1};
		if ((wide)part * best.denominator > (wide)best.numerator * full)
			best = (struct lt_fraction){part, full};
	}
	return best;
}

static struct used
used_of(const struct lt_resources *resources)
{
	return (struct used){resources->nodes, resources->cpus, resources->gpus, resources->shards,
	    resources->memory_mib, exact_of(resources)};
}

/* Returns the charged share, were the nodes of this shape; above 1: it does not fit there. */
static struct lt_fraction
share_of(const struct lt_resources *resources, const struct lt_shape *shape)
{
	const struct used used = used_of(resources);
	const struct lt_fraction most = dominant(&used, shape);

	return lt_shape_is_weighted(shape) && most.numerator <= most.denominator
		   ? lt_weighted_share(resources, shape)
		   : most;
}

int
lt_charge_shape(
    const struct lt_resources *resources, const struct lt_shape *shapes, uint32_t shape_count)
{
	struct lt_fraction largest = {0, 1};
	int chosen = -1;

	for (uint32_t i = 0; i < shape_count; i++) {
		const struct lt_fraction share = share_of(resources, &shapes[i]);

		if (share.numerator > share.denominator)
			continue; /* does not fit there */
		if (chosen < 0 || (wide)share.numerator * largest.denominator >
				      (wide)largest.numerator * share.denominator) {
			chosen = (int)i;
			largest = share;
		}
	}
	return chosen;
}

struct lt_fraction
lt_charge_share(
    const struct lt_resources *resources, const struct lt_shape *shapes, uint32_t shape_count)
{
	assert(shapes != NULL || shape_count == 0);

	const struct lt_fraction whole = {1, 1};

	if (resources->exclusive || resources->nodes == 0)
		return whole;
	const int shape = lt_charge_shape(resources, shapes, shape_count);
	if (shape < 0)
		return whole;
	const struct lt_fraction share = share_of(resources, &shapes[shape]);
	if (share.numerator == 0)
		return whole;
	return reduce(share.numerator, share.denominator);
}

static const struct lt_shape *
shape_at(const struct lt_need *need, uint32_t i)
{
	return &need->market->shapes[need->partition->first_shape + i];
}

/* Returns the part of a node that is sure where Slurm may give the job cores of one socket only:
 * the smallest socket, with its part of the GPUs. */
static struct lt_shape
one_socket_of(const struct lt_shape *shape)
{
	const uint64_t sockets = larger(shape->sockets, 1);
	const uint64_t others =
	    (sockets - 1) * larger(divided_up(shape->cpus, sockets),
				shape->socket_cores * larger(shape->threads, 1));
	struct lt_shape one = *shape;

	one.sockets = 1;
	one.cpus -= (uint32_t)smaller(shape->cpus, others);
	one.gpus /= (uint32_t)sockets;
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++)
		one.kinds[i].count /= (uint32_t)sockets;
	return one;
}

/*
 * As many nodes as it may need there, whichever it may not use: the smallest first, each for its
 * part of the job, 1 / needed. All that can run it where those parts do not make up the job. 0 =
 * can't run.
 */
static uint32_t
nodes_bound(const struct lt_need *need, bool one_socket)
{
	const struct lt_partition *const part = need->partition;
	const double rounding = 1e-9;
	uint32_t needed[LT_SHAPES_MAX];
	uint32_t larger_ones = UINT32_MAX;
	uint64_t most = 0;
	double left = 1.0;

	for (uint32_t i = 0; i < part->shape_count; i++) {
		const struct lt_shape one = one_socket_of(shape_at(need, i));

		needed[i] = lt_nodes_needed(need, one_socket ? &one : shape_at(need, i));
	}
	while (left > rounding) {
		uint64_t there = 0;
		uint32_t next = 0;

		for (uint32_t i = 0; i < part->shape_count; i++) {
			if (needed[i] >= larger_ones || needed[i] < next)
				continue;
			if (needed[i] > next)
				there = 0;
			next = needed[i];
			there += shape_at(need, i)->node_count;
		}
		if (next == 0)
			break;

		/* Rounded up. */
		const double wanted = left * next - rounding;
		const uint64_t taken = wanted < (double)there ? (uint64_t)wanted + 1 : there;

		most += taken;
		left -= (double)taken / next;
		larger_ones = next;
	}
	if (most < need->request->min_nodes)
		return 0;
	return most > LT_NODES_MAX ? LT_NODES_MAX : (uint32_t)most;
}

/* Without tasks, or with tasks by GPU, --spread-job adds nodes for the GPUs until it has no
 * more. */
static bool
gpus_spread(const struct lt_request *request)
{
	return request->spread && (request->tasks == 0 || request->tasks_per_gpu > 0) &&
	       lt_request_wants_gpus(request);
}

/* True if a maximum of nodes is lowered to the tasks. From 23.02 on not where these are by node,
 * nor where more nodes than tasks are asked for: 24.11.5 gave three for -N2-3 -n1, as eval_nodes()
 * counts the maximum down from the tasks. */
static bool
is_max_of_tasks(const struct lt_request *request, const struct lt_partition *part)
{
	return request->tasks > 0 &&
	       !((part->flags & LT_PARTITION_TASKS_BY_NODE) &&
		   (request->tasks_per_node > 0 || request->tasks < request->min_nodes));
}

/* As many nodes as Slurm may give it there. */
static uint32_t
nodes_most(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	uint64_t parts = 0, nodes = 0;
	const uint64_t asked = larger(request->max_nodes, request->min_nodes);

	for (uint32_t i = 0; i < part->shape_count; i++) {
		struct lt_allocation allocation;

		lt_allocation_on(&allocation, need, shape_at(need, i), request->min_nodes);
		parts = larger(parts, allocation.parts);
		nodes += shape_at(need, i)->node_count;
	}
	if (lt_is_one_task(need))
		parts = 1;
	parts = larger(parts, lt_nodes_unshared(need));
	/* Slurm takes the nodes that are named, or counted by their features, and then one at
	 * least: 26.05.5 gave two for --nodelist=g2, three for
	 * --prefer=fast*2 (_eval_nodes_spread()). */
	if (request->spread && request->tasks == 0 &&
	    (request->nodes_named || lt_nodes_counted(need) > 0))
		parts = larger(parts, larger(request->min_nodes, lt_nodes_counted(need)) + 1);
	/* A QOS may lift the partition's, but only with one of the user's. */
	if (request->nodes_open && nodes > part->max_nodes)
		nodes = part->max_nodes;
	if (!request->nodes_open && asked < nodes)
		nodes = asked;
	/* Without tasks a maximum counts as wanted. */
	if ((request->nodes_open || is_max_of_tasks(request, part)) && parts < nodes &&
	    !gpus_spread(request))
		nodes = parts;
	nodes = larger(
	    larger(nodes, lt_nodes_counted(need)), larger(request->min_nodes, part->min_nodes));
	return nodes > LT_NODES_MAX ? LT_NODES_MAX : (uint32_t)nodes;
}

/* The share on that many nodes, whatever their shapes. */
static struct lt_share
share_on(const struct lt_need *need, uint32_t nodes)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	const uint64_t asked = (uint64_t)request->tasks * larger(request->cpus_per_task, 1);
	const struct used least = {.nodes = nodes,
	    .cpus = request->overcommit ? nodes : larger(request->cpus, asked),
	    .gpus = request->gpus,
	    .shards = (uint64_t)nodes * request->shards_per_node};
	const struct lt_share whole = {1, 1, nodes};
	struct used most = {.nodes = nodes};
	struct lt_fraction best = {0, 1};

	for (uint32_t i = 0; i < part->shape_count; i++) {
		const struct lt_shape *const shape = shape_at(need, i);
		struct lt_allocation a;

		if (lt_nodes_needed(need, shape) == 0)
			continue;
		lt_allocation_on(&a, need, shape, nodes);
		if (a.whole)
			return whole;
		most.cpus = larger(most.cpus, a.cpus);
		most.gpus = larger(most.gpus, a.gpus);
		most.shards = larger(most.shards, a.shards);
		most.memory_mib = larger(most.memory_mib, a.memory_mib);
	}
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const struct lt_shape *const shape = shape_at(need, i);
		const struct lt_fraction must = dominant(&least, shape);
		const struct lt_fraction share = dominant(&most, shape);

		if (must.numerator > must.denominator || (most.gpus > 0 && shape->gpus == 0))
			continue; /* no charge is by a shape that can't */
		if ((wide)share.numerator * best.denominator >
		    (wide)best.numerator * share.denominator)
			best = share;
	}
	if (best.numerator == 0 || best.numerator >= best.denominator)
		return whole;
	best = reduce(best.numerator, best.denominator);
	return (struct lt_share){best.numerator, best.denominator, nodes};
}

/* True if nodes have more CPUs or fewer, and the smaller ones set the price where the job is on so
 * many that it would fit on them. Only where tasks and their CPUs are all that was asked is it
 * known how many nodes of each kind a job needs. */
static bool
by_unlike_nodes(const struct lt_request *request, const struct lt_market *market,
    const struct lt_partition *part)
{
	const struct lt_shape *const shapes = &market->shapes[part->first_shape];
	bool unlike = false;

	for (uint32_t i = 1; i < part->shape_count; i++)
		unlike |= shapes[i].cpus != shapes[0].cpus;
	return unlike && request->tasks > 0 &&
	       request->cpus <= (uint64_t)request->tasks * larger(request->cpus_per_task, 1) &&
	       request->tasks_per_board == 0 && !request->plane && !request->overcommit &&
	       request->spec_cores == 0;
}

/* True if the job's share grows with the number of its nodes. */
static bool
by_nodes(const struct lt_request *request, const struct lt_market *market, int partition)
{
	const struct lt_partition *const part = &market->partitions[partition];
	const bool default_memory = request->memory_mib_per_cpu == 0 &&
				    request->memory_mib_per_gpu == 0 &&
				    !part->default_memory_is_per_cpu;

	return request->exclusive || lt_stays_whole(request, market) ||
	       lt_request_wants_gpus(request) || by_unlike_nodes(request, market, part) ||
	       request->shards_per_node > 0 || request->tasks_per_node > 0 ||
	       request->cpus_per_node > request->cpus_per_task ||
	       (part->flags & (LT_PARTITION_EXCLUSIVE | LT_PARTITION_BY_SOCKET)) ||
	       (part->max_memory_is_per_cpu && part->max_memory_mib > 0 &&
		   (request->memory_mib_per_node > 0 || default_memory)) ||
	       (!market->memory_ignored &&
		   (request->memory_mib_per_node > 0 || request->whole_memory || default_memory));
}

static bool
is_more(const struct lt_share *a, const struct lt_share *b)
{
	return (wide)a->numerator * a->nodes * b->denominator >
	       (wide)b->numerator * b->nodes * a->denominator;
}

/* True if whole sockets are given on several nodes: Slurm fills the first ones, and may need more
 * for the rest. */
static bool
several_by_socket(const struct lt_request *request, const struct lt_partition *partition)
{
	return (partition->flags & LT_PARTITION_BY_SOCKET) &&
	       larger(request->min_nodes, partition->min_nodes) > 1;
}

/* Where whole sockets are given, these leave some of a node unused, and how much depends on how
 * Slurm deals the tasks out. */
static bool
sockets_unsure(const struct lt_request *request, const struct lt_partition *partition)
{
	return (partition->flags & LT_PARTITION_BY_SOCKET) &&
	       (several_by_socket(request, partition) || request->plane ||
		   request->tasks_per_board > 0 || request->tasks_per_socket > 0 ||
		   partition->max_cpus_per_node > 0 ||
		   (lt_request_wants_gpus(request) &&
		       ((partition->flags & LT_PARTITION_BIND_SOCKETS) ||
			   request->cpus_per_task > 1 || request->gpus_per_task > 0 ||
			   request->tasks_per_gpu > 0)));
}

/* Sockets of the node that has the most. */
static uint32_t
sockets_most(const struct lt_market *market, const struct lt_partition *part)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < part->shape_count; i++)
		most = (uint32_t)larger(most, market->shapes[part->first_shape + i].sockets);
	return most;
}

/* Slurm rounds the CPUs of a node down to a multiple of --cpus-per-gpu, and to its GPUs times that
 * (gres_sched_add() of 22.05): where the tasks come to such a multiple, and one socket holds them,
 * one node does. */
static bool
fills_gpus(const struct lt_need *need, uint64_t wanted)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;

	if (request->cpus_per_gpu == 0 || wanted % request->cpus_per_gpu != 0 ||
	    request->gpus == 0 || request->bind_gpus || request->overcommit ||
	    (part->flags & LT_PARTITION_TASKS_BY_NODE))
		return false;
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const struct lt_shape *const shape = shape_at(need, i);
		const uint32_t gpus =
		    lt_gpus_unsure(request, shape) ? 0 : lt_shape_gpus(shape, request->gpu_type);

		if (gpus < wanted / request->cpus_per_gpu && lt_nodes_needed(need, shape) > 0)
			return false;
	}
	return nodes_bound(need, true) == 1;
}

/* True if options may set or round the number of tasks, and by that the nodes, as Slurms from 23.02
 * on count. */
static bool
tasks_move_nodes(const struct lt_request *request, uint64_t by_gpus)
{
	/* These may set the least number of nodes, more tasks than the GPUs have, too; --mincpus
	 * may count for each task. */
	if (request->cpus_per_node > larger(request->cpus_per_task, 1) ||
	    (request->tasks_per_gpu > 0 &&
		(uint64_t)request->gpus * request->tasks_per_gpu < larger(request->tasks, 1)))
		return true;
	/* Nor are tasks known that are rounded down to whole cores of them (26.05.5 refused -n5
	 * --ntasks-per-core=2 on one node), or that are dealt out by the plane and by the GPU
	 * (24.11.5), or by the socket where GPUs bring the CPUs (both refused -n8
	 * --ntasks-per-socket=4
	 * --gpus=3 with DefCpuPerGPU=6 on two nodes). */
	return (request->tasks_per_core > 1 && request->tasks % request->tasks_per_core != 0) ||
	       (request->tasks_per_socket > 0 && by_gpus > 0) ||
	       (request->plane && request->bind_gpus && request->tasks_per_gpu > 0);
}

/* A bound must never keep a job from running. With GPUs Slurm may use only some of a node's cores:
 * how many is not known where an option counts tasks that are not there yet, or GPUs bring fewer
 * CPUs than the tasks want; nor, unless one socket holds all of the job, where the system keeps
 * cores or a node gives only some of its own. */
static bool
nodes_unknown(const struct lt_need *need)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	const uint64_t of_tasks = (uint64_t)request->tasks * larger(request->cpus_per_task, 1);
	const uint64_t wanted = larger(larger(request->cpus, lt_cpus_sought(request)), of_tasks);
	const uint64_t by_gpus = (uint64_t)lt_cpus_per_gpu(request, part) * request->gpus;

	/* Slurm counts by the board first, and finds too late what a socket holds: 22.05.8 refused
	 * -n8 with four a board and three a socket. */
	if (request->tasks_per_board > 0 && request->tasks_per_socket > 0)
		return true;
	if (!lt_request_wants_gpus(request))
		return false;
	/* --segment is in it, and a maximum may be no multiple of that. */
	if (request->spread && (part->flags & LT_PARTITION_TASKS_BY_NODE))
		return true;
	/* On one node 22.05.8 has one CPU too few for two tasks on a core. */
	if (request->spec_threads)
		return true;
	/* A raw request has more CPUs than its tasks. */
	if (request->tasks > 0 && wanted > of_tasks)
		return true;
	/* From a maximum Slurm would make up the number of tasks. */
	if (request->tasks == 0 && request->gpus_per_task > 0)
		return true;
	if ((part->flags & LT_PARTITION_TASKS_BY_NODE) && tasks_move_nodes(request, by_gpus))
		return true;
	/* Only the sum of a node's GPUs is known. */
	for (uint32_t i = 0; i < part->shape_count; i++)
		if (lt_gpus_unsure(request, shape_at(need, i)))
			return true;
	/* From 23.02 on a node gives no more CPUs than its GPUs bring; 22.05.8 refuses -n17
	 * --gpus=1 --cpus-per-gpu=7 on one idle node of 64 CPUs, and runs it on two; so it does -n6
	 * --gpus-per-task=1 with 6 CPUs a GPU and MaxCPUsPerNode=24. */
	const bool limited = lt_cpus_per_gpu(request, part) > 0 && lt_gpus_in_total(request) > 0 &&
			     part->max_cpus_per_node > 0;

	if ((by_gpus > 0 && by_gpus < wanted && !fills_gpus(need, wanted)) ||
	    (limited && (part->flags & LT_PARTITION_TASKS_BY_NODE)))
		return true;
	return (limited || request->spec_cores > 0) && nodes_bound(need, true) != 1;
}

/* The nodes that it may need there, where it needs `least` with all cores of each: where it may get
 * the cores of one socket, or tasks share CPUs, as many as that comes to, but no more than a node
 * for each socket. */
static uint64_t
nodes_wanted(const struct lt_need *need, uint64_t least)
{
	const struct lt_request *const request = need->request;
	const struct lt_partition *const part = need->partition;
	const bool shares = lt_request_wants_gpus(request) &&
			    (request->overcommit || request->bind_gpus || request->spec_cores > 0 ||
				request->tasks_per_core > 1 || request->tasks_per_socket > 0);

	if (!shares && !sockets_unsure(request, part))
		return least;

	const uint64_t most = least * larger(2, sockets_most(need->market, part));
	const uint64_t by_socket = nodes_bound(need, true);

	return by_socket > 0 && !several_by_socket(request, part) ? smaller(most, by_socket) : most;
}

uint32_t
lt_nodes_bound(const struct lt_request *request, const struct lt_market *market,
    const int *partitions, int count)
{
	const uint64_t gpus = lt_gpus_in_total(request);
	uint32_t bound = 0;
	bool matters = false;

	/* A maximum is how far tasks are spread, not so GPUs in total. */
	if (!request->nodes_open || (request->spread && gpus == 0))
		return 0;
	for (int i = 0; i < count; i++) {
		const struct lt_need need = lt_need_of(request, market, partitions[i]);
		uint64_t least = nodes_bound(&need, false);

		/* The counted nodes may be others than those. */
		if (least > 0)
			least += lt_nodes_counted(&need);
		/* Slurm lowers a maximum to --gpus, though not one of a later change: less than it
		 * needs? */
		if (nodes_unknown(&need) || lt_counts_unsure(&need) ||
		    (gpus > 0 && larger(least, lt_nodes_unshared(&need)) > gpus))
			return 0;
		bound = (uint32_t)smaller(
		    larger(bound, nodes_wanted(&need, least)), gpus > 0 ? gpus : LT_NODES_MAX);
	}
	for (int i = 0; i < count && bound > 0 && !matters; i++) {
		struct lt_share fewer, more;

		if (!by_nodes(request, market, partitions[i]))
			continue;
		const struct lt_need need = lt_need_of(request, market, partitions[i]);

		fewer = share_on(&need, bound);
		more = share_on(&need, nodes_most(&need));
		matters = is_more(&more, &fewer);
	}
	return matters ? bound : 0;
}

struct lt_share
lt_share_most(const struct lt_request *request, const struct lt_market *market, int partition)
{
	assert(partition >= 0 && (uint32_t)partition < market->partition_count);
	const struct lt_partition *const part = &market->partitions[partition];
	const struct lt_resources pod = pod_of(request);
	const bool is_pods = is_of_pods(request, market, partition);
	const struct lt_resources *got = is_pods ? &pod : request->allocated;
	if (got != NULL) {
		const struct lt_fraction share =
		    lt_charge_share(got, &market->shapes[part->first_shape], part->shape_count);

		return (struct lt_share){
		    share.numerator, share.denominator, is_pods ? request->tasks : got->nodes};
	}
	const struct lt_need need = lt_need_of(request, market, partition);

	return share_on(&need, nodes_most(&need));
}
