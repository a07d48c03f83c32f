/*
 * Computes what Slurm may allocate to a request on a partition, which is more than what was asked:
 * whole cores or sockets, the site's defaults, per-node figures on as many nodes as Slurm likes.
 * Holds, plans and changes are priced by it; docs/model.md, eqs. (2) and (37) to (40).
 */
#ifndef LT_SIZE_H
#define LT_SIZE_H

#include "decide.h"

/* The allocation of a whole job (one array task) on `nodes` nodes. */
struct lt_allocation {
	uint32_t nodes;
	uint64_t parts;				 /* the most nodes that it could be spread over */
	uint64_t cpus, gpus, shards, memory_mib; /* 0 where it is not counted */
	bool whole;				 /* its nodes are the job's alone */
};

/* A request on one partition, with what one task and one node of it ask there at least, after the
 * site's limits. Looks into what it was made from. */
struct lt_need {
	const struct lt_request *request;
	const struct lt_market *market;
	const struct lt_partition *partition;
	uint64_t cpus_per_task, cpus_per_node;
	uint64_t memory_mib_per_cpu, memory_mib_per_node;
	bool whole_memory;
	bool whole; /* its nodes are the job's alone */
};

struct lt_need lt_need_of(
    const struct lt_request *request, const struct lt_market *market, int partition);

/*
 * The most that Slurm gives the request on `nodes` nodes, all of this shape,
 * whether they have that much or not. Pure; the arithmetic saturates.
 * Source: select/cons_tres of 22.05, 24.11 and 26.05, and tests/cover.
 */
void lt_allocation_on(struct lt_allocation *allocation, const struct lt_need *need,
    const struct lt_shape *shape, uint32_t nodes);

/* True if it has whole nodes on each partition that it names, as one of them gives no others.
 * Before 23.11 what a job was tried with on such a partition stays. Source: whole_node in
 * _resolve_shared_status(). */
bool lt_stays_whole(const struct lt_request *request, const struct lt_market *market);

/*
 * The most nodes that counts of features bring there ("ib*4"), with those of
 * --nodelist; 0 without counts. Slurm takes so many of each, one after the
 * other, and the job runs on all of them: fewer where one node has several of the features, or
 * where the count was a wish (--prefer). Source:
 * _get_req_features() of slurmctld.
 */
uint64_t lt_nodes_counted(const struct lt_need *need);

/* Where planes, boards, whole sockets or GPUs bound what a node takes, it is not known how much of
 * the job those that are counted hold. */
bool lt_counts_unsure(const struct lt_need *need);

/* CPUs that each GPU brings there: the user's, else DefCpuPerGPU, which counts only where the user
 * said no --cpus-per-task. 0 = none. */
uint32_t lt_cpus_per_gpu(const struct lt_request *request, const struct lt_partition *partition);

/*
 * CPUs of a job that has so many on all its nodes, where
 * --gres-flags=enforce-binding binds them to GPUs that bring some; else 0. Each
 * node is given those of its GPUs, of one where it has none; the first may have
 * all that the job asks for in one place, and those after it theirs besides.
 * 22.05.8 gave 26 for -N2 --cpus-per-gpu=9, with one GPU a node or none.
 * On newer Slurms each node has those of all tasks where it adds nodes: 26.05.5
 * gave 48 on four for -n12 --gpus=1 --spread-job, 112 on two of 56 for -n60
 * --gpus=1. Source: min_gres_cpu and min_job_gres_cpu in cons_tres.
 */
uint64_t lt_cpus_bound(const struct lt_need *need, uint64_t gpus, uint64_t nodes, uint64_t cpus);

/* CPUs that Slurm looks for with --overcommit, though tasks share fewer: as many threads, cores and
 * sockets as are asked for of each node. Without it 0. */
uint64_t lt_cpus_sought(const struct lt_request *request);

/* With --overcommit Slurm looks for one CPU and takes the first node that has it, unless a maximum
 * of nodes, or something by task or node, is asked, or memory brings a task more CPUs. False:
 * so. */
bool lt_tasks_apart(const struct lt_need *need);

/* --ntasks; where the number of nodes is said, from 24.11 on, no fewer than by
 * node, or else by GPU, on them: 24.11 and 25.05 make that of it at any update of the job,
 * lowtided's too. Source: _figure_out_num_tasks() of slurmctld. */
uint64_t lt_tasks_updated(const struct lt_need *need);

/*
 * Tasks that get CPUs on so many nodes from 24.11 on, where the user said how many there are: a
 * node has CPUs for no other. 0 = not known. Source:
 * _get_task_count() and _dist_tasks_compute_c_b() of cons_tres.
 */
uint64_t lt_tasks_dealt(const struct lt_need *need, uint64_t nodes);

/* True if --ntasks-per-node tasks count on each node. For one task they do not, but for a job that
 * says --cpus-per-gpu and asks for no GPU. */
bool lt_counts_by_node(const struct lt_need *need, uint64_t gpus, uint64_t tasks);

/* True if the job has one GPU for all its tasks. From 24.11 on they get their CPUs and no more,
 * bound to it or not. Source: gres_filter_sock_core(), which estimates the CPUs of a GPU. */
bool lt_has_one_gpu(const struct lt_request *request, const struct lt_partition *partition);

/* A node that has room for the only task, with its CPUs and GPUs, is all that it gets, unless GPUs
 * in total are asked for or tasks are counted by node. */
bool lt_is_one_task(const struct lt_need *need);

/* Nodes that the tasks of --overcommit would fill, had each CPUs of its own, where GPUs are asked
 * for in total: 26.05.5 gave two of 64 CPUs, and a GPU on each, for -n17 -c4 --gpus=1. Else 0. */
uint64_t lt_nodes_unshared(const struct lt_need *need);

/* MiB of the whole allocation, whose GPUs and CPUs are known. */
uint64_t lt_memory_of(const struct lt_allocation *allocation, const struct lt_need *need,
    const struct lt_shape *shape);

/* GPUs of the whole job that --gpus or the tasks name, to which Slurm lowers a maximum of nodes
 * when it makes a job; 0 = none. */
uint64_t lt_gpus_in_total(const struct lt_request *request);

/* True if a node of the shape has GPUs of several types, and some of them are perhaps what is asked
 * for. */
bool lt_gpus_unsure(const struct lt_request *request, const struct lt_shape *shape);

/* The fewest idle nodes of this shape alone that can run the request, not looking at how many there
 * are; 0 = it can't run there. */
uint32_t lt_nodes_needed(const struct lt_need *need, const struct lt_shape *shape);

/*
 * The number of nodes that a request without a maximum is priced for, and that job_submit writes
 * into it: as many as it may need on any of the partitions, taking the smallest nodes first. 0
 * where nothing is to be written: the user gave a maximum or --spread-job, the price is the same on
 * any number, or a maximum could keep the job from running: model.md, (40).
 */
uint32_t lt_nodes_bound(const struct lt_request *request, const struct lt_market *market,
    const int *partitions, int count);

/*
 * The largest share of nodes that Slurm may allocate on the partition, by the rule of charges: of
 * the shapes that can hold the total, the one where the dominant resource is most. 1/1 of the nodes
 * where no shape can. Of a request that says what it was allocated: the share of that.
 */
struct lt_share lt_share_most(
    const struct lt_request *request, const struct lt_market *market, int partition);

/* The greatest part of a resource of its nodes, which bounds its part of their power: where the
 * share is the dominant resource's, that; of pods on the shape that one fits on where it is
 * most. */
double lt_part_most(const struct lt_request *request, const struct lt_market *market, int partition,
    struct lt_share share);

/* The share that plans count with: idle nodes, as few as it needs, of the smallest shape that can
 * hold it. In decide_fit.c. */
struct lt_share lt_share_likely(
    const struct lt_request *request, const struct lt_market *market, int partition);

/* Resources of a job that has them, as AllocTRES says. */
struct lt_resources {
	uint32_t nodes, cpus, gpus;
	uint32_t shards;     /* parts of GPUs: gres/shard, gres/mps */
	uint64_t memory_mib; /* 0 = not counted */
	bool exclusive;
	struct lt_exact exact; /* Kubernetes; 0 = by CPUs and MiB */
};

struct lt_fraction {
	int64_t numerator, denominator;
}; /* lowest terms */

/*
 * Share of the job's nodes: the largest of its GPUs, shards, CPUs and memory over those of as many
 * nodes of the smallest shape that can hold it; at most 1; 1 if exclusive or when no shape is
 * known. Eq. (2).
 */
struct lt_fraction lt_charge_share(
    const struct lt_resources *resources, const struct lt_shape *shapes, uint32_t shape_count);

/*
 * Returns the share on nodes that pods share: the sum of its parts of their CPUs, memory and GPUs,
 * weighted so that all of a node is 1, rounded down to 10^-12: pods that fit on a node together are
 * never more than the node. Eq. (2a). Pure.
 */
struct lt_fraction lt_weighted_share(
    const struct lt_resources *resources, const struct lt_shape *shape);
/* The weight in all of a node of its GPUs, or else its CPUs, 0 to 1. */
double lt_weight_of(const struct lt_shape *shape, bool of_gpus);
static inline bool
lt_shape_is_weighted(const struct lt_shape *shape)
{
	return shape->exact.cpu_milli > 0;
}

/* The shape that lt_charge_share() took; -1 = none. */
int lt_charge_shape(
    const struct lt_resources *resources, const struct lt_shape *shapes, uint32_t shape_count);

/* The nodes that a charge is for, lent. gpu_w: of all GPUs of one, where the policy says it;
 * gpu_type: what the job named, "" = the dearest. */
struct lt_charge_nodes {
	const struct lt_shape *shapes;
	uint32_t shape_count;
	double gpu_w;
	const char *gpu_type;
};
/* The job's part of the CPU power of a node, 0 to 1, and the watts of its GPUs on one
 * (LT_WATTS_UNKNOWN), by the shape of its share; its share where none is known. Eq. (5). */
struct lt_power_parts {
	double cpu, gpu_w;
};
struct lt_power_parts lt_charge_parts(const struct lt_resources *resources,
    struct lt_fraction share, const struct lt_charge_nodes *nodes);

/* AllocTRES of the allocation on nodes of this shape: a job that has its nodes alone is given all
 * of their CPUs and GPUs. */
struct lt_resources lt_resources_of(const struct lt_allocation *allocation,
    const struct lt_need *need, const struct lt_shape *shape);

#endif
