/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many nodes a job may get, and to how many it is kept: share.c. The figures are those of real
 * Slurms (22.05.8 where none is named).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "size_fixture.h"

static uint32_t
bound_on(const struct lt_request *request, int partition)
{
	return lt_nodes_bound(request, &market, &partition, 1);
}

/* One task: a node that has room for it, and its GPUs, is enough. */
static void
test_one_task(void **state)
{
	static const struct {
		const char *why;
		struct lt_request asked;
		uint32_t nodes;
	} rows[] = {
	    {"GPUs of a node", {.gpus_per_node = 2}, 1},
	    {"GPUs of a socket", {.gpus_per_socket = 1}, 1},
	    {"GPUs of the task", {.gpus_per_task = 2}, 1},
	    {"GPUs in total may be of several nodes", {.gpus = 2}, 2},
	    {"so may more CPUs than the task's", {.gpus_per_node = 2, .cpus = 2}, 2},
	    {"tasks by node count on", {.gpus_per_node = 2, .tasks_per_node = 2}, 2},
	    {"a maximum is a wish", {.gpus_per_node = 2, .max_nodes = 2}, 2},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_request request = rows[i].asked;

		request.tasks = request.min_nodes = 1;
		request.nodes_open = request.max_nodes == 0;
		const struct lt_share share = lt_share_most(&request, &market, PLAIN);
		if (share.nodes != rows[i].nodes)
			fail_msg("%s: %u", rows[i].why, share.nodes);
	}
}

/* With --overcommit Slurm looks for as many CPUs as a node is to have, and on a busy one finds only
 * some; with GPUs it counts those that these bring. */
static void
test_sought(void **state)
{
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .overcommit = true,
	    .cores_per_socket = 12};

	(void)state;
	assert_int_equal(lt_cpus_sought(&request), 12);
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 4);
	request.threads_per_core = request.sockets_per_node = 2;
	assert_int_equal(lt_cpus_sought(&request), 48);
	request.gpus = request.cpus_per_gpu = 1;
	request.exclusive = true;
	assert_int_equal(bound_on(&request, PLAIN), 0);
	request.overcommit = false;
	assert_int_equal(lt_cpus_sought(&request), 0);
}

/* A node more than those named or counted (26.05.5), and as many as the maximum where they are more
 * than the tasks (24.11.5). */
static void
test_named_nodes(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 1, .nodes_open = true, .spread = true, .exclusive = true};

	(void)state;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
	request.nodes_named = true;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
	request.nodes_named = false;
	request.nodes_counted = 2;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 3);
	request.spread = false;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
	request.nodes_counted = 0;
	request.nodes_named = request.spread = true;
	request.tasks = 1;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
	request =
	    (struct lt_request){.min_nodes = 2, .max_nodes = 3, .tasks = 1, .exclusive = true};
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
	partitions[PLAIN].flags |= LT_PARTITION_TASKS_BY_NODE;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 3);
	request.tasks = 2;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
}

/* Tasks that share CPUs may be given as many nodes as if they did not, with a GPU on each: 26.05.5,
 * -n17 -c4 --gpus=1. */
static void
test_unshared(void **state)
{
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 17,
	    .cpus_per_task = 4,
	    .gpus = 1,
	    .overcommit = true};

	(void)state;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
	partitions[PLAIN].flags |= LT_PARTITION_GPUS_BY_NODE;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
	assert_int_equal(bound_on(&request, PLAIN), 0);
	request.gpus = 0;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
}

/* Counts of features come on top of the nodes named, and are no more than there are; a bound leaves
 * room for them. */
static void
test_counted_nodes(void **state)
{
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 2,
	    .exclusive = true,
	    .nodes_counted = 2};

	(void)state;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 2);
	request.nodes_counted = 3;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 3);
	assert_int_equal(bound_on(&request, PLAIN), 0);
	request.nodes_named = 1;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 4);
	request.nodes_counted = 9;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 4);
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 8,
	    .cpus_per_node = 4,
	    .nodes_counted = 1};
	assert_int_equal(bound_on(&request, PLAIN), 2);
	/* Slurm refuses some of these where a maximum is written. */
	request.gpus_per_node = 1;
	assert_int_equal(bound_on(&request, PLAIN), 0);
}

static void
test_gpus_in_total(void **state)
{
	struct lt_request request = {.tasks = 3, .gpus_per_task = 2};

	(void)state;
	assert_int_equal(lt_gpus_in_total(&request), 6);
	request.tasks_per_node = 4; /* which may be more tasks */
	assert_int_equal(lt_gpus_in_total(&request), 0);
	request.gpus = 5;
	assert_int_equal(lt_gpus_in_total(&request), 5);
}

static void
test_bound(void **state)
{
	static const struct {
		const char *why;
		int partition;
		struct lt_request asked;
		uint32_t bound;
	} rows[] = {
	    {"CPUs cost the same anywhere", PLAIN, {.tasks = 40}, 0},
	    {"so do GPUs in total", PLAIN, {.tasks = 8, .gpus = 8}, 0},
	    {"GPUs per node do not", PLAIN, {.tasks = 8, .gpus_per_node = 1}, 1},
	    {"never fewer than it needs", PLAIN, {.tasks = 100, .gpus_per_node = 8}, 2},
	    {"one task is on one node", PLAIN, {.tasks = 1, .gpus_per_node = 1}, 0},
	    {"whole nodes", EXCLUSIVE, {.tasks = 65}, 2},
	    {"whole sockets", SOCKETS, {.tasks = 40}, 1},
	    {"whole sockets and planes: one socket of each node at worst", SOCKETS,
		{.tasks = 40, .plane = true}, 2},
	    {"whole sockets of two nodes, as 22.05 needed a third: of all", SOCKETS,
		{.tasks = 6, .min_nodes = 2, .tasks_per_gpu = 1}, 0},
	    {"small nodes first", MIXED, {.tasks = 80, .exclusive = true}, 4},
	    {"two tasks a board, of which Slurm takes no notice", PLAIN,
		{.tasks = 6, .tasks_per_board = 2, .exclusive = true}, 1},
	    {"tasks by board and by socket: not known", PLAIN,
		{.tasks = 6, .tasks_per_board = 4, .tasks_per_socket = 3, .exclusive = true}, 0},
	    {"two tasks a core, with GPUs: one socket holds them", PLAIN,
		{.tasks = 8, .gpus_per_node = 1, .tasks_per_core = 2}, 1},
	    {"cores of the GPUs' sockets: one holds them", PLAIN,
		{.tasks = 8, .gpus_per_node = 1, .bind_gpus = true}, 1},
	    {"one does not: on twice as many at worst", PLAIN,
		{.tasks = 40, .gpus_per_node = 2, .bind_gpus = true}, 2},
	    {"one does, but has not that many GPUs", PLAIN,
		{.tasks = 8, .gpus_per_node = 5, .bind_gpus = true}, 2},
	    {"tasks by socket, where GPUs are of one", PLAIN,
		{.tasks = 16, .gpus_per_node = 2, .tasks_per_socket = 8}, 2},
	    {"no more than --gpus, to which Slurm lowers it", PLAIN,
		{.tasks = 8, .gpus = 1, .bind_gpus = true}, 1},
	    {"it needs more nodes than --gpus", PLAIN, {.tasks = 100, .gpus = 1, .bind_gpus = true},
		0},
	    {"cores of the system's, with GPUs: one socket is left", PLAIN,
		{.tasks = 8, .gpus_per_node = 1, .spec_cores = 1}, 1},
	    {"with them one socket does not do: not known", PLAIN,
		{.tasks = 32, .gpus_per_node = 1, .spec_cores = 1}, 0},
	    {"fewer CPUs by GPUs than tasks: 22.05.8 refused one node", PLAIN,
		{.tasks = 17, .gpus = 1, .cpus_per_gpu = 7}, 0},
	    {"so many CPUs of a node; one socket holds all", LIMITED,
		{.tasks = 8, .gpus = 4, .exclusive = true}, 1},
	    {"one does not: not known", LIMITED, {.tasks = 40, .gpus = 8, .exclusive = true}, 0},
	    {"so many by each socket, of which 22.05 takes no notice", PLAIN,
		{.tasks = 8, .gpus_per_socket = 1, .sockets_per_node = 1, .cpus_per_gpu = 1}, 1},
	    {"two of three nodes can run it: none can, as far as is known", MIXED,
		{.min_nodes = 5, .cpus = 80, .gpus_per_node = 1}, 0},
	    {"as many as can be", PLAIN, {.tasks = 8, .gpus_per_node = 1, .spread = true}, 0},
	    {"GPUs in total are not spread", PLAIN, {.tasks = 8, .gpus = 2, .spread = true}, 1},
	    {"CPUs by GPUs, of which the tasks are a multiple", PLAIN,
		{.tasks = 6, .gpus = 1, .cpus_per_gpu = 2}, 1},
	    {"the same, but a node has not that many GPUs", PLAIN,
		{.tasks = 18, .gpus = 1, .cpus_per_gpu = 2}, 0},
	    {"the same, but tasks share CPUs", PLAIN,
		{.tasks = 6, .gpus = 1, .cpus_per_gpu = 2, .overcommit = true}, 0},
	    {"the same, but one socket is too small", PLAIN,
		{.tasks = 48, .gpus = 1, .cpus_per_gpu = 24}, 0},
	    {"threads for the system, and GPUs: not known", PLAIN,
		{.tasks = 2, .gpus = 1, .spec_cores = 1, .spec_threads = true, .exclusive = true},
		0},
	    {"tasks by GPU, at least two nodes: two tasks on each", PLAIN,
		{.min_nodes = 2, .tasks = 5, .tasks_per_gpu = 1, .exclusive = true}, 3},
	    {"nodes of 64 and 16 CPUs: 16 may be all of two", MIXED, {.tasks = 64}, 3},
	    {"raw: CPUs that are not the tasks'", MIXED, {.tasks = 64, .cpus = 65}, 0},
	    {"unlike nodes, and planes: not known", MIXED, {.tasks = 64, .plane = true}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lt_request request = rows[i].asked;

		if (request.min_nodes == 0)
			request.min_nodes = 1;
		request.max_nodes = request.min_nodes;
		request.nodes_open = true;
		const uint32_t bound = bound_on(&request, rows[i].partition);
		if (bound != rows[i].bound)
			fail_msg("%s: %u", rows[i].why, bound);
		request.nodes_open = false;
		assert_int_equal(bound_on(&request, rows[i].partition), 0);
	}
}

/* None is known with tasks by node, and one is before. */
static void
assert_unbound_from_newer(const struct lt_request *request)
{
	partitions[PLAIN].flags |= LT_PARTITION_TASKS_BY_NODE;
	assert_int_equal(bound_on(request, PLAIN), 0);
	partitions[PLAIN].flags &= ~(uint32_t)LT_PARTITION_TASKS_BY_NODE;
	assert_int_not_equal(bound_on(request, PLAIN), 0);
	partitions[PLAIN].flags |= LT_PARTITION_TASKS_BY_NODE;
}

/* MaxCPUsPerNode=24: 22.05.8 refused one node, where GPUs bring 36 CPUs. */
static void
test_gpus_bring_too_much(void **state)
{
	const struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 6,
	    .gpus_per_task = 1,
	    .cpus_per_gpu = 6};

	(void)state;
	assert_int_equal(bound_on(&request, PLAIN), 1);
	partitions[PLAIN].max_cpus_per_node = 24;
	assert_int_equal(bound_on(&request, PLAIN), 0);
	partitions[PLAIN].max_cpus_per_node = 0;
}

/* From 23.02 on --mincpus and --ntasks-per-gpu may ask for more nodes. */
static void
test_bound_newer(void **state)
{
	struct lt_request request = {.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 6,
	    .cpus_per_node = 15,
	    .gpus_per_node = 1};

	(void)state;
	assert_int_equal(bound_on(&request, PLAIN), 1);
	partitions[PLAIN].flags |= LT_PARTITION_TASKS_BY_NODE;
	assert_int_equal(bound_on(&request, PLAIN), 0);
	request.cpus_per_node = 0;
	assert_int_equal(bound_on(&request, PLAIN), 1);
	request.tasks_per_gpu = 2;
	assert_int_equal(bound_on(&request, PLAIN), 0);
	/* Both gave four whole nodes, and refused three. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 24,
	    .tasks_per_gpu = 2,
	    .gpus = 4,
	    .cpus_per_gpu = 31,
	    .exclusive = true};
	assert_unbound_from_newer(&request);
	request.tasks = 8;
	assert_int_not_equal(bound_on(&request, PLAIN), 0);
	/* 26.05.5 refused one node where some core would not be full. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 4,
	    .tasks_per_core = 2,
	    .gpus_per_node = 1};
	assert_int_not_equal(bound_on(&request, PLAIN), 0);
	request.tasks = 5;
	assert_unbound_from_newer(&request);
	/* 24.11.5, of planes and tasks by GPU. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 4,
	    .tasks_per_gpu = 1,
	    .gpus = 4,
	    .bind_gpus = true,
	    .plane = true,
	    .exclusive = true};
	assert_unbound_from_newer(&request);
	/* 24.11.5 and 26.05.5 refused two nodes, and gave three. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 8,
	    .tasks_per_socket = 4,
	    .gpus = 3,
	    .cpus_per_gpu = 6,
	    .exclusive = true};
	assert_unbound_from_newer(&request);
	/* 24.11.5 refused one node. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 8,
	    .gpus_per_socket = 1,
	    .sockets_per_node = 1,
	    .cpus_per_gpu = 1};
	assert_int_equal(bound_on(&request, PLAIN), 0);
	/* --segment counts as spread. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 8,
	    .gpus = 2,
	    .spread = true};
	assert_int_equal(bound_on(&request, PLAIN), 0);
	/* -n24 --gpus=1 in 26.05: 6 CPUs a node, whatever a socket holds. */
	request = (struct lt_request){.min_nodes = 1,
	    .max_nodes = 1,
	    .nodes_open = true,
	    .tasks = 17,
	    .gpus = 1,
	    .cpus_per_gpu = 6};
	assert_int_equal(bound_on(&request, PLAIN), 0);
}

/* 22.05.8: without tasks on one node; with GPUs, and tasks by GPU, on more. */
static void
test_spread(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 1, .nodes_open = true, .spread = true};

	(void)state;
	assert_int_equal(lt_share_most(&request, &market, PLAIN).nodes, 1);
	request.gpus = 1;
	assert_true(lt_share_most(&request, &market, PLAIN).nodes > 1);
	request.gpus_per_node = request.tasks = 1;
	request.tasks_per_gpu = 2;
	assert_true(lt_share_most(&request, &market, PLAIN).nodes > 2);
}

/* More tasks than a small node has CPUs may run there, with --overcommit. */
static void
test_overcommit_small(void **state)
{
	struct lt_request request = {
	    .min_nodes = 1, .max_nodes = 3, .tasks = 92, .cpus = 1, .overcommit = true};
	struct lt_share share;

	(void)state;
	partitions[MIXED].flags = 0;
	share = lt_share_most(&request, &market, MIXED);
	/* 26.05.5: cpu=3, two of the three nodes with 16 */
	assert_true(share.numerator * 16 >= share.denominator);
	assert_int_equal(share.nodes, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_spread, setup),
	    cmocka_unit_test_setup(test_overcommit_small, setup),
	    cmocka_unit_test_setup(test_one_task, setup),
	    cmocka_unit_test_setup(test_sought, setup),
	    cmocka_unit_test_setup(test_named_nodes, setup),
	    cmocka_unit_test_setup(test_unshared, setup),
	    cmocka_unit_test_setup(test_counted_nodes, setup),
	    cmocka_unit_test_setup(test_gpus_in_total, setup),
	    cmocka_unit_test_setup(test_bound, setup),
	    cmocka_unit_test_setup(test_gpus_bring_too_much, setup),
	    cmocka_unit_test_setup(test_bound_newer, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
