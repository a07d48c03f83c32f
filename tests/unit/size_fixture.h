/*
 * Shapes and partitions of a site, for the tests of size.c and share.c.
 */
#ifndef LT_TESTS_SIZE_FIXTURE_H
#define LT_TESTS_SIZE_FIXTURE_H

#include "size.h"

enum {
	PLAIN,
	HYPER,
	SOCKETS,
	EXCLUSIVE,
	PER_GPU,
	PER_GPU_HYPER,
	ONE_TASK,
	MAX_PER_CPU,
	MIXED,
	LIMITED,
	PARTITIONS
};

static struct lt_shape shapes[] = {
    {.node_count = 4,
	.cpus = 64,
	.sockets = 2,
	.threads = 1,
	.gpus = 8,
	.memory_mib = 512000,
	.gpu_index = -1},
    {.node_count = 4,
	.cpus = 64,
	.sockets = 2,
	.threads = 2,
	.gpus = 8,
	.memory_mib = 512000,
	.gpu_index = -1},
    {.node_count = 2, .cpus = 16, .sockets = 2, .threads = 1, .memory_mib = 64000, .gpu_index = -1},
};
static struct lt_partition partitions[PARTITIONS];
static struct lt_market market;

static int
setup(void **state)
{
	(void)state;
	for (int i = 0; i < PARTITIONS; i++)
		partitions[i] = (struct lt_partition){.flags = LT_PARTITION_BY_CORE,
		    .max_nodes = UINT32_MAX,
		    .min_nodes = 1,
		    .node_count = 4,
		    .first_shape = i == HYPER || i == PER_GPU_HYPER || i == ONE_TASK,
		    .shape_count = 1};
	partitions[SOCKETS].flags = LT_PARTITION_BY_SOCKET;
	partitions[EXCLUSIVE].flags |= LT_PARTITION_EXCLUSIVE;
	partitions[PER_GPU].default_cpus_per_gpu = 6;
	partitions[PER_GPU_HYPER].default_cpus_per_gpu = 3;
	partitions[ONE_TASK].flags |= LT_PARTITION_TASK_PER_CORE;
	partitions[MAX_PER_CPU].max_memory_mib = 1000;
	partitions[MAX_PER_CPU].max_memory_is_per_cpu = true;
	partitions[LIMITED].max_cpus_per_node = 48;
	partitions[LIMITED].default_cpus_per_gpu = 6;
	partitions[MIXED].first_shape = 1;
	partitions[MIXED].shape_count = 2;
	partitions[MIXED].node_count = 6;
	market = (struct lt_market){.partition_count = PARTITIONS,
	    .partitions = partitions,
	    .shape_count = 3,
	    .shapes = shapes,
	    .memory_ignored = true};
	return 0;
}

static inline void
allocation_on(struct lt_allocation *allocation, const struct lt_request *request,
    const struct lt_market *on, int partition, const struct lt_shape *shape, uint32_t nodes)
{
	const struct lt_need need = lt_need_of(request, on, partition);

	lt_allocation_on(allocation, &need, shape, nodes);
}

#endif
