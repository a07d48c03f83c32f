/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What Slurm allocates to a request. The wanted figures are AllocTRES of real Slurms (22.05.8) for
 * the options beside them, not worked out here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ask_text.h"
#include "size_fixture.h"

static const struct {
	const char *options;
	int partition;
	struct lt_request asked;
	uint32_t nodes;
	uint64_t cpus, gpus;
} cases[] = {
    {"-n5", HYPER, {.tasks = 5, .cpus = 5}, 1, 6, 0},
    {"-n1", HYPER, {.tasks = 1}, 1, 2, 0},
    {"-n16 --ntasks-per-core=1", HYPER, {.tasks = 16, .tasks_per_core = 1}, 1, 32, 0},
    {"-n32 --threads-per-core=1", HYPER, {.tasks = 32, .threads_per_core = 1}, 1, 64, 0},
    {"-n3 -c3", HYPER, {.tasks = 3, .cpus_per_task = 3}, 1, 10, 0},
    {"-n4, on any nodes: a core a task at the most", HYPER, {.tasks = 4}, 4, 8, 0},
    {"-n4, plain cores", PLAIN, {.tasks = 4}, 4, 4, 0},
    {"-n2: cyclic over the sockets", SOCKETS, {.tasks = 2}, 1, 64, 0},
    {"-n1, whole sockets", SOCKETS, {.tasks = 1}, 1, 32, 0},
    {"-n2 -c2, whole sockets of a node that others are on", SOCKETS,
	{.tasks = 2, .cpus_per_task = 2}, 1, 64, 0},
    {"-n2 -c2 --ntasks-per-socket=1, whole sockets", SOCKETS,
	{.tasks = 2, .cpus_per_task = 2, .tasks_per_socket = 1}, 1, 64, 0},
    {"-n8 --ntasks-per-gpu=1", PLAIN, {.tasks = 8, .tasks_per_gpu = 1}, 1, 8, 8},
    {"-N2 --ntasks-per-node=4 --gpus-per-task=2", PLAIN,
	{.min_nodes = 2, .tasks_per_node = 4, .gpus_per_task = 2}, 2, 8, 16},
    {"-N2 --gpus-per-node=8", PLAIN, {.gpus_per_node = 8}, 2, 2, 16},
    {"DefCpuPerGPU=6: -n1 --gpus=2", PER_GPU, {.tasks = 1, .gpus = 2}, 1, 12, 2},
    {"DefCpuPerGPU=6: -n1 -c1 --gpus=2", PER_GPU, {.tasks = 1, .cpus_per_task = 1, .gpus = 2}, 1, 1,
	2},
    {"DefCpuPerGPU=3: -n3 --gpus-per-task=1 --ntasks-per-core=1", PER_GPU_HYPER,
	{.tasks = 3, .gpus_per_task = 1, .tasks_per_core = 1}, 1, 12, 3},
    {"DefCpuPerGPU=3: -n3 --gpus-per-task=1 --threads-per-core=1", PER_GPU_HYPER,
	{.tasks = 3, .gpus_per_task = 1, .threads_per_core = 1}, 1, 18, 3},
    {"CR_ONE_TASK_PER_CORE: -n16", ONE_TASK, {.tasks = 16}, 1, 32, 0},
    {"CR_ONE_TASK_PER_CORE: -n4 -c2", ONE_TASK, {.tasks = 4, .cpus_per_task = 2}, 1, 8, 0},
    {"CR_ONE_TASK_PER_CORE: -n4 -c3", ONE_TASK, {.tasks = 4, .cpus_per_task = 3}, 1, 16, 0},
    {"CR_ONE_TASK_PER_CORE: -n16 --ntasks-per-core=2", ONE_TASK, {.tasks = 16, .tasks_per_core = 2},
	1, 16, 0},
    {"-n100 --gpus=1, on four nodes: one on each", PLAIN, {.tasks = 100, .gpus = 1}, 4, 100, 4},
    {"-n4 --ntasks-per-node=1 --gpus=2: one on each node", PLAIN,
	{.tasks = 4, .tasks_per_node = 1, .gpus = 2}, 4, 4, 4},
    {"MaxMemPerCPU=1000: -n1 --mem=64000", MAX_PER_CPU, {.tasks = 1, .memory_mib_per_node = 64000},
	1, 64, 0},
    {"MaxMemPerCPU=1000: -n1 --mem-per-cpu=8000", MAX_PER_CPU,
	{.tasks = 1, .memory_mib_per_cpu = 8000}, 1, 8, 0},
    {"-n28 --gpus=2 --cpus-per-gpu=6 on three nodes", PLAIN,
	{.tasks = 28, .gpus = 2, .cpus_per_gpu = 6}, 3, 36, 3},
    {"--mincpus=15 -n5 on two nodes", PLAIN, {.tasks = 5, .cpus_per_node = 15}, 2, 30, 0},
    {"DefCpuPerGPU=6: GPUs of both sockets (Slurm: 6 CPUs)", PER_GPU,
	{.gpus_per_socket = 1, .sockets_per_node = 1}, 1, 12, 2},
    {"--gpus-per-socket=1 --cpus-per-gpu=4, too (Slurm: 4)", PLAIN,
	{.gpus_per_socket = 1, .sockets_per_node = 1, .cpus_per_gpu = 4}, 1, 8, 2},
    {"--gpus=a100:6 --gpus-per-node=h100:1 on two nodes", PLAIN,
	{.gpus = 6, .gpus_per_node = 1, .gpu_type = LT_GPU_TYPES}, 2, 2, 8},
    {"--gpus=1 --gres-flags=enforce-binding, max_cpus=18", PLAIN,
	{.gpus = 1, .bind_gpus = true, .max_cpus = 18}, 1, 18, 1},
    {"-N2 -c2 --gpus=4 --gres-flags=enforce-binding, max_cpus=32; cpu=33", PLAIN,
	{.cpus_per_task = 2, .gpus = 4, .bind_gpus = true, .max_cpus = 32}, 2, 34, 4},
    {"-N2 -n32 --mincpus=2 --gpus=3 --gres-flags=enforce-binding: cpu=33", PLAIN,
	{.tasks = 32, .cpus_per_node = 2, .gpus = 3, .bind_gpus = true}, 2, 33, 3},
    {"-n2 -c15 --gpus=4 --gres-flags=enforce-binding, two a node: cpu=45", PLAIN,
	{.tasks = 2, .cpus_per_task = 15, .gpus = 4, .bind_gpus = true}, 2, 45, 4},
    {"--gpus-per-socket=1 --sockets-per-node=1 --gres-flags=enforce-binding", PLAIN,
	{.tasks = 1, .gpus_per_socket = 1, .sockets_per_node = 1, .bind_gpus = true}, 1, 1, 2},
    {"-n1 --cpus-per-gpu=9 --gres-flags=enforce-binding, no GPU", PLAIN,
	{.tasks = 1, .cpus_per_gpu = 9, .bind_gpus = true}, 1, 9, 0},
    {"-N2 of it (Slurm: 26)", PLAIN, {.tasks = 2, .cpus_per_gpu = 9, .bind_gpus = true}, 2, 27, 0},
    {"-N3 --gpus-per-node=1 of it (Slurm: 43)", PLAIN,
	{.tasks = 3, .gpus_per_node = 1, .cpus_per_gpu = 9, .bind_gpus = true}, 3, 45, 3},
    {"-N2 --gpus=4 of it (Slurm: 50)", HYPER,
	{.tasks = 2, .gpus = 4, .cpus_per_gpu = 9, .bind_gpus = true}, 2, 64, 4},
    {"-n1 --gpus-per-task=2 --nodelist of two", PLAIN, {.tasks = 1, .gpus_per_task = 2}, 2, 2, 4},
    {"--gpus-per-socket=1 --sockets-per-node=1 on two nodes", PLAIN,
	{.gpus_per_socket = 1, .sockets_per_node = 1}, 2, 2, 2},
    {"--overcommit -n32 --mincpus=24 --gpus=1", PLAIN,
	{.overcommit = true, .tasks = 32, .cpus_per_node = 24, .gpus = 1}, 1, 1, 1},
    {"--overcommit -n8 --gpus=4 --cpus-per-gpu=6 (Slurm: 2)", HYPER,
	{.overcommit = true, .tasks = 8, .gpus = 4, .cpus_per_gpu = 6}, 1, 2, 4},
    {"--overcommit -n8 --gpus-per-task=1: their CPUs", PLAIN,
	{.overcommit = true, .tasks = 8, .gpus_per_task = 1}, 1, 8, 8},
    {"--overcommit -n8 --gpus=1 --mincpus=24 "
     "--gres-flags=enforce-binding: not known",
	PLAIN, {.overcommit = true, .tasks = 8, .cpus_per_node = 24, .gpus = 1, .bind_gpus = true},
	1, 24, 1},
    {"MaxMemPerCPU=1000: -n3 --ntasks-per-node=2 --overcommit --mem=64000", MAX_PER_CPU,
	{.tasks = 3, .tasks_per_node = 2, .overcommit = true, .memory_mib_per_node = 64000}, 2, 64,
	0},
    {"MaxMemPerCPU=1000: --gpus-per-socket=1 --mem=2500: CPUs of both", MAX_PER_CPU,
	{.gpus_per_socket = 1, .sockets_per_node = 1, .memory_mib_per_node = 2500}, 1, 3, 2},
    {"MaxMemPerCPU=1000: -n1 --gpus-per-task=1 --mem=2500", MAX_PER_CPU,
	{.tasks = 1, .gpus_per_task = 1, .memory_mib_per_node = 2500}, 1, 3, 3},
    {"-n1 --gpus-per-task=1 --mincpus=24: no more than there are", PLAIN,
	{.tasks = 1, .gpus_per_task = 1, .cpus_per_node = 24}, 1, 24, 8},
    {"MaxMemPerCPU=1000: -n1 --gpus-per-node=1 --mem=64000", MAX_PER_CPU,
	{.tasks = 1, .cpus = 1, .gpus_per_node = 1, .memory_mib_per_node = 64000}, 1, 1, 1},
    {"the same -n2 -c2, on the one node", MAX_PER_CPU,
	{.tasks = 2,
	    .cpus_per_task = 2,
	    .cpus = 4,
	    .gpus_per_node = 1,
	    .memory_mib_per_node = 64000},
	1, 4, 1},
    {"the same, raw: CPUs that are not the tasks'", MAX_PER_CPU,
	{.tasks = 2, .cpus = 1, .gpus_per_node = 1, .memory_mib_per_node = 64000}, 1, 64, 1},
    {"the same with --cpus-per-gpu", MAX_PER_CPU,
	{.tasks = 2,
	    .cpus = 2,
	    .gpus_per_node = 1,
	    .cpus_per_gpu = 2,
	    .memory_mib_per_node = 64000},
	1, 64, 1},
    {"the same on two nodes: the second has them", MAX_PER_CPU,
	{.tasks = 1, .cpus = 1, .gpus_per_node = 1, .memory_mib_per_node = 64000}, 2, 128, 2},
    {"-n1 --mincpus=2 --gpus-per-node=1: a core of two threads", HYPER,
	{.tasks = 1, .cpus = 1, .cpus_per_node = 5, .gpus_per_node = 1}, 1, 2, 1},
    {"-n12 --ntasks-per-node=6 --gpus=a:1,b:1: one of each on each node", PLAIN,
	{.tasks = 12, .tasks_per_node = 6, .gpus = 2, .gpu_type = ","}, 2, 12, 4},
    {"-N2 --gpus=a:15,b:1: no more than there are", PLAIN,
	{.min_nodes = 2, .max_nodes = 2, .gpus = 16, .gpu_type = ","}, 2, 2, 16},
};

static uint32_t
nodes_needed(const struct lt_request *request, const struct lt_market *on, int partition,
    const struct lt_shape *shape)
{
	const struct lt_need need = lt_need_of(request, on, partition);

	return lt_nodes_needed(&need, shape);
}

/* CoreSpecCount=4 of 2 x 16 cores with 2 threads: a whole socket has its own 16, of which the
 * system keeps some (24.11.5: cpu=32 of 56). */
static void
test_kept_cores(void **state)
{
	const struct lt_request one = {.min_nodes = 1, .max_nodes = 1, .tasks = 1};
	struct lt_allocation a;

	(void)state;
	partitions[HYPER].flags = LT_PARTITION_BY_SOCKET;
	shapes[1].cpus = 56;
	shapes[1].socket_cores = 16;
	allocation_on(&a, &one, &market, HYPER, &shapes[1], 1);
	assert_int_equal(a.cpus, 32);
	shapes[1].cpus = 64;
	shapes[1].socket_cores = 0;
}

static void
test_allocation(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lt_request request = cases[i].asked;
		struct lt_allocation a;
		const struct lt_partition *const p = &partitions[cases[i].partition];

		if (request.min_nodes == 0)
			request.min_nodes = request.max_nodes = 1;
		allocation_on(&a, &request, &market, cases[i].partition, &shapes[p->first_shape],
		    cases[i].nodes);
		if (a.cpus != cases[i].cpus || a.gpus != cases[i].gpus)
			fail_msg("%s: cpu=%llu gpu=%llu", cases[i].options,
			    (unsigned long long)a.cpus, (unsigned long long)a.gpus);
	}
}

/* CR_CPU: GPUs are bound to whole cores (22.05.8: -n17 cpu=18). */
static void
test_bound_cores(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 1, .tasks = 17, .gpus = 1, .bind_gpus = true};
	struct lt_allocation a;

	(void)state;
	partitions[HYPER].flags = 0;
	allocation_on(&a, &request, &market, HYPER, &shapes[1], 1);
	assert_int_equal(a.cpus, 18);
	request.bind_gpus = false;
	allocation_on(&a, &request, &market, HYPER, &shapes[1], 1);
	assert_int_equal(a.cpus, 17);
}

/* 22.05.8: 3 sockets for -n2 in planes of 2 on two nodes. */
static void
test_planes_by_socket(void **state)
{
	const struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 2, .tasks = 2, .plane = true};
	struct lt_allocation a;

	(void)state;
	partitions[HYPER].flags = LT_PARTITION_BY_SOCKET;
	allocation_on(&a, &request, &market, HYPER, &shapes[1], 2);
	assert_int_equal(a.cpus, 96);
}

/* 22.05.8, -p excl,spec: what excl could not start was given whole nodes of spec, too. 23.11 takes
 * that back. */
static void
test_stays_whole(void **state)
{
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .tasks = 1,
	    .named_count = 2,
	    .named = {PLAIN, EXCLUSIVE}};
	struct lt_allocation a;

	(void)state;
	allocation_on(&a, &request, &market, PLAIN, &shapes[0], 1);
	assert_true(a.whole);
	assert_int_equal(lt_share_most(&request, &market, PLAIN).denominator, 1);
	partitions[EXCLUSIVE].flags |= LT_PARTITION_TASKS_BY_NODE;
	allocation_on(&a, &request, &market, PLAIN, &shapes[0], 1);
	assert_false(a.whole);
	allocation_on(&a, &request, &market, EXCLUSIVE, &shapes[0], 1);
	assert_true(a.whole);
	request.named[1] = HYPER;
	allocation_on(&a, &request, &market, PLAIN, &shapes[0], 1);
	assert_false(a.whole);
}

/* A part of a GPU is held as charges count it: shards of the node's shards. */
static void
test_shards(void **state)
{
	struct lt_request request = {
	    .min_nodes = 2, .max_nodes = 2, .tasks = 2, .shards_per_node = 3};
	struct lt_share share;

	(void)state;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.numerator, share.denominator);
	assert_int_equal(nodes_needed(&request, &market, PLAIN, &shapes[0]), 0);
	shapes[0].shards = 16;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.numerator, 3);
	assert_int_equal(share.denominator, 16);
	assert_int_equal(share.nodes, 2);
	request.nodes_open = true;
	request.min_nodes = request.max_nodes = 1;
	assert_int_equal(lt_nodes_bound(&request, &market, &(int){PLAIN}, 1), 1);
	shapes[0].shards = 0;
}

/* DefMemPerGPU, and no GPU for --ntasks-per-gpu: the node's memory by default (Slurm:
 * cpu=1,mem=500G). */
static void
test_tasks_per_gpu_alone(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 1, .tasks = 1, .tasks_per_gpu = 2};
	struct lt_share share;

	(void)state;
	market.memory_ignored = false;
	partitions[PLAIN].default_memory_mib = 512000;
	partitions[PLAIN].default_memory_mib_per_gpu = 50000;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.numerator, share.denominator);
	request.gpus = 1;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.denominator / share.numerator, 8);
}

/* Two nodes of 6 a100 and 2 h100 each, and four of 8 v100. */
static void
test_gpu_types(void **state)
{
	static const struct {
		const char *why, *type;
		uint32_t gpus, of_type, needed[2], bound;
	} rows[] = {
	    {"any", "", 2, 6, {1, 1}, 1},
	    {"only one kind of node has it", "v100", 2, 8, {0, 1}, 1},
	    {"the others may be it", "v100", 3, 6, {2, 1}, 0},
	    {"of several types the most", "A100", 2, 6, {1, 0}, 1},
	    {"several types", LT_GPU_TYPES, 2, 6, {1, 1}, 0},
	};

	(void)state;
	strcpy(shapes[1].kinds[0].type, "a100");
	shapes[2].gpus = shapes[2].kinds[0].count = 8;
	strcpy(shapes[2].kinds[0].type, "v100");
	shapes[2].cpus = 64;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_request request = {.min_nodes = 1,
		    .max_nodes = 1,
		    .nodes_open = true,
		    .tasks = 16,
		    .gpus = rows[i].gpus};

		shapes[1].kinds[0].count = rows[i].of_type;
		strcpy(request.gpu_type, rows[i].type);
		for (int k = 0; k < 2; k++)
			if (nodes_needed(&request, &market, MIXED, &shapes[1 + k]) !=
			    rows[i].needed[k])
				fail_msg("%s: shape %d", rows[i].why, k);
		if (lt_nodes_bound(&request, &market, &(int){MIXED}, 1) != rows[i].bound)
			fail_msg("%s: another bound", rows[i].why);
	}
	memset(shapes[1].kinds, 0, sizeof(shapes[1].kinds));
	memset(shapes[2].kinds, 0, sizeof(shapes[2].kinds));
	shapes[2].gpus = 0;
	shapes[2].cpus = 16;
}

/* --overcommit: Slurm takes the first node, unless a maximum is given. */
static void
test_overcommit(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 1, .nodes_open = true, .overcommit = true, .tasks = 3};
	struct lt_share share;

	(void)state;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.nodes, 1);
	assert_int_equal(share.denominator / share.numerator, 64);
	request.tasks = 22; /* more than the smaller kind has CPUs */
	share = lt_share_most(&request, &market, MIXED);
	assert_int_equal(share.denominator / share.numerator, 8);
	request.tasks = 3;
	request.nodes_open = false;
	request.max_nodes = 2;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.nodes, 2);
	/* 22.05.8: --mincpus=15 gets cpu=1, and -n5 -c13 gets cpu=13 */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .overcommit = true,
	    .cpus_per_node = 15};
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.denominator / share.numerator, 64);
	request.tasks = 5;
	request.cpus_per_task = 13;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.numerator * 64 / share.denominator, 13);
}

static void
test_whole_nodes(void **state)
{
	struct lt_request request = {.min_nodes = 1, .max_nodes = 1, .tasks = 1};
	struct lt_share share;

	(void)state;
	share = lt_share_most(&request, &market, EXCLUSIVE);
	assert_int_equal(share.numerator, share.denominator);
	request.exclusive = true;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.numerator, share.denominator);
}

/* Nodes that the user gave: no more of them are paid for. */
static void
test_nodes_given(void **state)
{
	struct lt_request request = {.min_nodes = 2, .max_nodes = 2, .gpus_per_node = 8};
	struct lt_share share = lt_share_most(&request, &market, PLAIN);

	(void)state;
	assert_int_equal(share.nodes, 2);
	request.nodes_open = true;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.nodes, 4); /* all there are */
	/* MaxNodes of the partition: a QOS with PartitionMaxNodes gives as many as the user says,
	 * and MaxNodes to who says nothing. */
	partitions[PLAIN].max_nodes = 2;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.nodes, 2);
	request.nodes_open = false;
	request.min_nodes = 1;
	request.max_nodes = 3;
	share = lt_share_most(&request, &market, PLAIN);
	assert_int_equal(share.nodes, 3);
}

/* Memory is consumed: 512,000 MiB a node. */
static void
test_memory(void **state)
{
	static const struct {
		const char *why;
		uint64_t per_node, per_cpu, per_gpu, by_default;
		bool default_is_per_cpu;
		uint64_t mib; /* of 4 CPUs and 2 GPUs on 2 nodes */
	} rows[] = {
	    {"per node", 1000, 0, 0, 0, false, 2000},
	    {"per CPU", 0, 1000, 0, 0, false, 4000},
	    {"per GPU", 0, 0, 1000, 0, false, 2000},
	    {"DefMemPerCPU", 0, 0, 0, 500, true, 2000},
	    {"DefMemPerNode", 0, 0, 0, 500, false, 1000},
	    {"the user's wins", 700, 0, 0, 500, false, 1400},
	};

	(void)state;
	market.memory_ignored = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lt_request request = {.min_nodes = 2,
		    .max_nodes = 2,
		    .tasks = 4,
		    .gpus = 2,
		    .memory_mib_per_node = rows[i].per_node,
		    .memory_mib_per_cpu = rows[i].per_cpu,
		    .memory_mib_per_gpu = rows[i].per_gpu};
		struct lt_allocation a;

		partitions[PLAIN].default_memory_mib = rows[i].by_default;
		partitions[PLAIN].default_memory_is_per_cpu = rows[i].default_is_per_cpu;
		allocation_on(&a, &request, &market, PLAIN, &shapes[0], 2);
		if (a.memory_mib != rows[i].mib)
			fail_msg("%s: %llu", rows[i].why, (unsigned long long)a.memory_mib);
	}
}

/* A bound below these would keep the job from running. */
static void
test_needed(void **state)
{
	static const struct {
		const char *why;
		struct lt_request asked;
		uint32_t nodes;
	} rows[] = {
	    {"100 tasks on 64 cores", {.tasks = 100}, 2},
	    {"3 GPUs, one a node as asked",
		{.tasks = 3, .gpus = 3, .gpus_per_socket = 1, .sockets_per_node = 1}, 3},
	    {"5 tasks on 2 GPUs a node, one on each",
		{.tasks = 5, .tasks_per_gpu = 1, .gpus_per_socket = 2, .sockets_per_node = 1}, 3},
	    {"9 GPUs on nodes of 8", {.tasks = 1, .gpus = 9}, 2},
	    {"more on a node than it has", {.tasks = 1, .gpus_per_node = 9}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_request request = rows[i].asked;

		request.min_nodes = request.max_nodes = 1;
		request.nodes_open = true;
		if (nodes_needed(&request, &market, PLAIN, &shapes[0]) != rows[i].nodes)
			fail_msg("%s", rows[i].why);
	}
}

/* Nothing that a user can send makes it wrap around or divide by nothing. */
static void
test_hostile(void **state)
{
	struct lt_request request;
	struct lt_allocation a;
	struct lt_share share;

	(void)state;
	memset(&request, 0xff, sizeof(request));
	request.nodes_open = request.spread = request.exclusive = true;
	request.bind_gpus = request.plane = request.overcommit = true;
	request.whole_memory = request.has_available = true;
	request.named_count = 0;
	request.allocated = NULL;
	request.home = PLAIN;
	for (int i = 0; i < PARTITIONS; i++) {
		share = lt_share_most(&request, &market, i);
		assert_int_equal(share.numerator, share.denominator);
		lt_nodes_bound(&request, &market, &i, 1);
	}
	request.exclusive = request.whole_memory = request.spread = false;
	share = lt_share_most(&request, &market, HYPER);
	assert_int_equal(share.numerator, share.denominator);
	/* A node without CPUs for jobs runs none. */
	struct lt_shape none = {.node_count = 1, .gpus = 1, .gpu_index = -1};
	request = (struct lt_request){.min_nodes = 1, .tasks = 1, .gpus = 1};
	assert_int_equal(nodes_needed(&request, &market, PLAIN, &none), 0);
	/* The most, where 64 bits would not hold it. */
	request =
	    (struct lt_request){.min_nodes = 1, .tasks = UINT32_MAX, .cpus_per_task = UINT32_MAX};
	allocation_on(&a, &request, &market, PLAIN, &shapes[0], 1);
	assert_int_equal(a.cpus, UINT32_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_allocation, setup),
	    cmocka_unit_test_setup(test_kept_cores, setup),
	    cmocka_unit_test_setup(test_bound_cores, setup),
	    cmocka_unit_test_setup(test_planes_by_socket, setup),
	    cmocka_unit_test_setup(test_stays_whole, setup),
	    cmocka_unit_test_setup(test_shards, setup),
	    cmocka_unit_test_setup(test_tasks_per_gpu_alone, setup),
	    cmocka_unit_test_setup(test_gpu_types, setup),
	    cmocka_unit_test_setup(test_overcommit, setup),
	    cmocka_unit_test_setup(test_whole_nodes, setup),
	    cmocka_unit_test_setup(test_nodes_given, setup),
	    cmocka_unit_test_setup(test_memory, setup),
	    cmocka_unit_test_setup(test_needed, setup),
	    cmocka_unit_test_setup(test_hostile, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
