/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The number of nodes that a job is kept to, against all ways to choose them. Shares themselves are
 * in test_size.c and test_charge.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "size.h"

enum { KINDS = 3 };
static const uint32_t kinds[KINDS] = {4, 8, 64}; /* CPUs */

/* A partition of so many nodes of 4, 8 and 64 CPUs. */
static void
three_kinds(struct lt_market *three, struct lt_partition *part, struct lt_shape *nodes)
{
	*part = (struct lt_partition){.flags = LT_PARTITION_BY_CORE,
	    .max_nodes = UINT32_MAX,
	    .min_nodes = 1,
	    .shape_count = KINDS};
	for (int i = 0; i < KINDS; i++)
		part->node_count += nodes[i].node_count;
	*three = (struct lt_market){.partition_count = 1,
	    .partitions = part,
	    .shape_count = KINDS,
	    .shapes = nodes,
	    .memory_ignored = true};
}

/* The fewest nodes with so many CPUs of the ones that are there; 0 = none. */
static uint32_t
fewest(const uint32_t *there, uint32_t cpus)
{
	uint32_t nodes = 0;

	for (int i = KINDS - 1; i >= 0; i--)
		for (uint32_t k = 0; k < there[i] && cpus > 0; k++) {
			cpus -= kinds[i] < cpus ? kinds[i] : cpus;
			nodes++;
		}
	return cpus == 0 ? nodes : 0;
}

/* A bound is never fewer nodes than it takes, whichever of them the job may not use: -x, -C, a
 * reservation. */
static void
test_bound_runs(void **state)
{
	static const struct {
		uint32_t tasks, count[KINDS], without[KINDS], bound;
	} rows[] = {
	    {104, {4, 4, 3}, {0, 0, 2}, 10},
	    {40, {4, 4, 1}, {0, 0, 1}, 7},
	    {40, {10, 4, 1}, {0, 0, 1}, 10},
	};
	struct lt_shape nodes[KINDS] = {0};
	struct lt_partition part;
	struct lt_market three;

	(void)state;
	for (int i = 0; i < KINDS; i++)
		nodes[i] = (struct lt_shape){.cpus = kinds[i], .gpu_index = -1};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct lt_request request = {.min_nodes = 1,
		    .max_nodes = 1,
		    .tasks = rows[i].tasks,
		    .exclusive = true,
		    .nodes_open = true};
		uint32_t there[KINDS];

		for (int k = 0; k < KINDS; k++) {
			nodes[k].node_count = rows[i].count[k];
			there[k] = rows[i].count[k] - rows[i].without[k];
		}
		three_kinds(&three, &part, nodes);
		assert_true(fewest(there, rows[i].tasks) <= rows[i].bound);
		assert_int_equal(lt_nodes_bound(&request, &three, &(int){0}, 1), rows[i].bound);
	}
}

static void
test_bound_brute(void **state)
{
	struct lt_shape nodes[KINDS] = {0};
	struct lt_partition part;
	struct lt_market three;
	uint32_t seed = 1, bounded = 0, left[KINDS];

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct lt_request request = {
		    .min_nodes = 1, .max_nodes = 1, .exclusive = true, .nodes_open = true};
		uint32_t bound;

		for (int i = 0; i < KINDS; i++) {
			seed = seed * 1664525U + 1013904223U;
			nodes[i] = (struct lt_shape){
			    .cpus = kinds[i], .node_count = (seed >> 16) % 6, .gpu_index = -1};
		}
		seed = seed * 1664525U + 1013904223U;
		request.tasks = 1 + (seed >> 16) % 200;
		three_kinds(&three, &part, nodes);
		bound = lt_nodes_bound(&request, &three, &(int){0}, 1);
		bounded += bound > 0;
		for (left[0] = 0; left[0] <= nodes[0].node_count; left[0]++)
			for (left[1] = 0; left[1] <= nodes[1].node_count; left[1]++)
				for (left[2] = 0; left[2] <= nodes[2].node_count; left[2]++)
					if (bound > 0 && fewest(left, request.tasks) > bound)
						fail_msg("-n%u: bound %u, on "
							 "%u+%u+%u nodes",
						    request.tasks, bound, left[0], left[1],
						    left[2]);
	}
	assert_true(bounded > 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bound_runs),
	    cmocka_unit_test(test_bound_brute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
