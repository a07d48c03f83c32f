/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What newer Slurms allocate otherwise than 22.05: AllocTRES of 24.11.5 and 26.05.5 for the options
 * beside them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "size_fixture.h"

/* AllocTRES of 26.05.5, and of 22.05.8 without the flag. */
static void
test_newer(void **state)
{
	static const struct {
		const char *options;
		enum lt_partition_flag flag;
		struct lt_request asked;
		uint32_t nodes;
		uint64_t cpus, gpus, older_cpus, older_gpus;
	} newer[] = {
	    {"-n1 --ntasks-per-node=3", LT_PARTITION_TASKS_BY_NODE,
		{.tasks = 1, .tasks_per_node = 3}, 1, 3, 0, 1, 0},
	    {"-n1 --ntasks-per-node=3 --gpus-per-task=1", LT_PARTITION_TASKS_BY_NODE,
		{.tasks = 1, .tasks_per_node = 3, .gpus_per_task = 1}, 1, 3, 3, 1, 1},
	    {"--gpus=2 --spread-job on four nodes", LT_PARTITION_GPUS_BY_NODE,
		{.gpus = 2, .spread = true}, 4, 4, 8, 4, 4},
	    {"--gpus=3, a node less than there are", LT_PARTITION_GPUS_BY_NODE,
		{.gpus = 3, .spread = true}, 4, 4, 4, 4, 4},
	    {"--cpus-per-gpu=7 -n2 --ntasks-per-gpu=1 --spread-job", LT_PARTITION_GPUS_BY_NODE,
		{.cpus_per_gpu = 7, .tasks = 2, .tasks_per_gpu = 1, .spread = true}, 2, 28, 2, 14,
		2},
	    {"--cpus-per-gpu=6 --gpus=4 on two nodes: 18 CPUs on each", LT_PARTITION_GPUS_BY_NODE,
		{.cpus_per_gpu = 6, .gpus = 4}, 2, 36, 4, 24, 4},
	    {"--cpus-per-gpu=6 --gpus=6 on three nodes", LT_PARTITION_GPUS_BY_NODE,
		{.cpus_per_gpu = 6, .gpus = 6}, 3, 72, 6, 36, 6},
	    {"--cpus-per-gpu=6 --gpus=12 on two: no node has more than 8",
		LT_PARTITION_GPUS_BY_NODE, {.cpus_per_gpu = 6, .gpus = 12}, 2, 96, 12, 72, 12},
	    {"--cpus-per-gpu=6 --gpus=4 on up to four: most on two or three",
		LT_PARTITION_GPUS_BY_NODE, {.cpus_per_gpu = 6, .gpus = 4}, 4, 36, 4, 24, 4},
	    {"--cpus-per-gpu=6 --gpus-per-node=2 on two nodes", LT_PARTITION_GPUS_BY_NODE,
		{.cpus_per_gpu = 6, .gpus_per_node = 2}, 2, 24, 4, 24, 4},
	    {"--cpus-per-gpu=2 --gpus-per-socket=1, of each of the 8 sockets",
		LT_PARTITION_BIND_SOCKETS,
		{.cpus_per_gpu = 2, .gpus_per_socket = 1, .sockets_per_node = 1}, 1, 16, 8, 4, 2},
	    {"--cpus-per-gpu=1 --gpus-per-socket=1, 24.11.5: of each, too",
		LT_PARTITION_BIND_SOCKETS,
		{.cpus_per_gpu = 1, .gpus_per_socket = 1, .sockets_per_node = 1}, 1, 8, 8, 1, 1},
	    {"--gres-flags=enforce-binding --gpus=1, GPUs of all sockets",
		LT_PARTITION_BIND_SOCKETS, {.gpus = 1, .bind_gpus = true}, 1, 64, 1, 1, 1},
	};
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 2, .tasks = 1, .tasks_per_node = 1};

	(void)state;
	shapes[0].sockets = 8;
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		const uint32_t flags[] = {0, LT_PARTITION_BY_CORE};

		for (int k = 0; k < 4; k++) {
			const bool is_newer = k < 2;
			struct lt_request asked = newer[i].asked;
			struct lt_allocation a;

			asked.min_nodes = 1;
			partitions[PLAIN].flags =
			    flags[k % 2] | (is_newer ? (uint32_t)newer[i].flag : 0);
			allocation_on(&a, &asked, &market, PLAIN, &shapes[0], newer[i].nodes);
			if (a.cpus != (is_newer ? newer[i].cpus : newer[i].older_cpus) ||
			    a.gpus != (is_newer ? newer[i].gpus : newer[i].older_gpus))
				fail_msg("%s, %d: cpu=%llu gpu=%llu", newer[i].options, k,
				    (unsigned long long)a.cpus, (unsigned long long)a.gpus);
		}
	}
	for (int i = 0; i < 2; i++) { /* MaxMemPerCPU=1000: --mem=4000 -n3 */
		struct lt_allocation a;
		const struct lt_request asked = {
		    .min_nodes = 1, .tasks = 3, .memory_mib_per_node = 4000};

		if (i == 1)
			partitions[MAX_PER_CPU].flags |= LT_PARTITION_TASKS_BY_NODE;
		allocation_on(&a, &asked, &market, MAX_PER_CPU, &shapes[0], 1);
		assert_int_equal(a.cpus, i == 1 ? 6 : 4);
	}
	shapes[0].sockets = 2;
	/* [max_nodes=2] -n1 --ntasks-per-node=1 */
	partitions[PLAIN].flags = LT_PARTITION_BY_CORE;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
	partitions[PLAIN].flags |= LT_PARTITION_TASKS_BY_NODE;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
}

/* AllocTRES of 24.11.5 and 26.05.5: CPUs of tasks, not of nodes. */
static void
test_dealt(void **state)
{
	enum {
		AT_24_11 = LT_PARTITION_DEALS_TASKS | LT_PARTITION_TASKS_BY_NODE |
			   LT_PARTITION_BIND_SOCKETS | LT_PARTITION_GPUS_BY_NODE,
		AT_25_11 = AT_24_11 | LT_PARTITION_DEALS_BY_NODE,
		BY_CORE = LT_PARTITION_BY_CORE,
		BY_SOCKET = LT_PARTITION_BY_SOCKET,
	};
	static const struct {
		const char *options;
		uint32_t flags;
		struct lt_request asked;
		uint32_t nodes;
		uint64_t cpus, gpus;
	} dealt[] = {
	    {"-n1 -N2", AT_24_11, {.tasks = 1}, 2, 1, 0},
	    {"-n1 -N2, by core", AT_24_11 | BY_CORE, {.tasks = 1}, 2, 1, 0},
	    {"-n5 -N1-2 --ntasks-per-node=16", AT_24_11,
		{.tasks = 5, .tasks_per_node = 16, .max_nodes = 2}, 2, 5, 0},
	    {"-n5 -N1 --ntasks-per-node=16, after any update", AT_24_11,
		{.tasks = 5, .tasks_per_node = 16, .max_nodes = 1}, 1, 16, 0},
	    {"the same without a maximum", AT_24_11,
		{.tasks = 5, .tasks_per_node = 16, .nodes_open = true}, 2, 16, 0},
	    {"-n5 -N2 --ntasks-per-node=16 from 25.11 on", AT_25_11,
		{.tasks = 5, .tasks_per_node = 16}, 2, 32, 0},
	    {"--ntasks-per-node=16 without -n", AT_24_11,
		{.tasks = 16, .tasks_implied = true, .tasks_per_node = 16}, 2, 32, 0},
	    {"-n4 --mincpus=15", AT_24_11, {.tasks = 4, .cpus_per_node = 15}, 1, 4, 0},
	    {"-n2 -c2 --ntasks-per-node=4 on up to four nodes", AT_24_11,
		{.tasks = 2, .cpus_per_task = 2, .tasks_per_node = 4, .max_nodes = 4}, 4, 4, 0},
	    {"-n5 --overcommit --spread-job", AT_24_11,
		{.tasks = 5, .overcommit = true, .spread = true}, 4, 5, 0},
	    {"-n64 --overcommit", AT_24_11, {.tasks = 64, .overcommit = true}, 1, 1, 0},
	    {"-n2 --ntasks-per-gpu=4: no GPU, and four after any update", AT_24_11,
		{.tasks = 2, .tasks_per_gpu = 4}, 1, 4, 0},
	    {"-n16 --gpus=1 --gres-flags=enforce-binding", AT_24_11,
		{.tasks = 16, .gpus = 1, .bind_gpus = true}, 1, 16, 1},
	    {"-n12 --gpus=1 --gres-flags=enforce-binding --spread-job", AT_24_11,
		{.tasks = 12, .gpus = 1, .bind_gpus = true, .spread = true, .nodes_open = true}, 4,
		48, 4},
	    {"-n60 --gpus=1 --gres-flags=enforce-binding", AT_24_11,
		{.tasks = 60, .gpus = 1, .bind_gpus = true}, 2, 120, 2},
	    {"-n12 --spread-job -N1, too", AT_24_11,
		{.tasks = 12, .gpus = 1, .bind_gpus = true, .spread = true}, 1, 12, 1},
	    {"-n1 --gpus=1 --gres-flags=enforce-binding, by socket", AT_24_11 | BY_SOCKET,
		{.tasks = 1, .gpus = 1, .bind_gpus = true}, 1, 64, 1},
	    {"-n1 -N2 by socket: a node without a task is given whole", AT_24_11 | BY_SOCKET,
		{.tasks = 1}, 2, 96, 0},
	    {"-n2 -N2 --distribution=plane by socket", AT_24_11 | BY_SOCKET,
		{.tasks = 2, .plane = true}, 2, 128, 0},
	    {"-n4 --gpus=2 --gres-flags=enforce-binding", AT_24_11,
		{.tasks = 4, .gpus = 2, .bind_gpus = true}, 1, 64, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(dealt) / sizeof(dealt[0]); i++) {
		struct lt_request asked = dealt[i].asked;
		struct lt_allocation a;

		asked.min_nodes = 1;
		partitions[PLAIN].flags = dealt[i].flags;
		allocation_on(&a, &asked, &market, PLAIN, &shapes[0], dealt[i].nodes);
		if (a.cpus != dealt[i].cpus || a.gpus != dealt[i].gpus)
			fail_msg("%s: cpu=%llu gpu=%llu", dealt[i].options,
			    (unsigned long long)a.cpus, (unsigned long long)a.gpus);
	}
	partitions[PLAIN].flags = 0;
	/* 26.05.5: cpu=10 on four nodes. */
	const struct lt_request spread = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 5,
	    .threads_per_core = 1,
	    .overcommit = true,
	    .spread = true};
	struct lt_allocation a;

	partitions[HYPER].flags = AT_24_11 | BY_CORE;
	allocation_on(&a, &spread, &market, HYPER, &shapes[1], 4);
	assert_int_equal(a.cpus, 10);
	assert_int_equal(lt_share_most(&spread, &market, HYPER).nodes, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_newer, setup),
	    cmocka_unit_test_setup(test_dealt, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
