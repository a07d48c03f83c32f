/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job is laid out once for all partitions that lt_market_liken() calls alike:
 * that changes no plan, in no figure and no reason of any candidate. Nor does any byte of a
 * partition that the two may differ in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "decide_world.h"

enum { WORLDS = 6000, ROUNDS = 40, KINDS = 2 };

static struct lt_shape shapes[PARTITIONS * KINDS];
static struct lt_plan with, without;

/* Two kinds of nodes in each partition, settings of Slurm that change what a job is given, and
 * requests that these matter to. */
static void
enrich_world(void)
{
	struct lt_request *const request = &world.request;

	world.market.shapes = shapes;
	world.market.shape_count = PARTITIONS * KINDS;
	for (int i = 0; i < PARTITIONS; i++) {
		struct lt_partition *const part = &world.partitions[i];
		struct lt_shape *const own = &shapes[i * KINDS];

		own[0] = own[1] = world.shapes[i];
		own[1].cpus *= 2;
		own[1].sockets = (uint32_t)among(1, 2);
		own[1].threads = (uint32_t)among(1, 2);
		own[1].closed_count = one_in(2) ? 1 : 0;
		part->first_shape = (uint32_t)(i * KINDS);
		part->shape_count = (uint32_t)among(1, KINDS);
		part->flags |= (one_in(3) ? LT_PARTITION_BY_CORE : 0) |
			       (one_in(3) ? LT_PARTITION_TASKS_BY_NODE : 0) |
			       (one_in(3) ? LT_PARTITION_DEALS_TASKS : 0) |
			       (one_in(3) ? LT_PARTITION_BY_SOCKET : 0);
		part->default_cpus_per_gpu = one_in(3) ? (uint32_t)among(1, 4) : 0;
		part->default_memory_mib = one_in(2) ? (uint64_t)among(100, 9000) : 0;
		part->default_memory_is_per_cpu = one_in(2);
		part->max_memory_mib = one_in(3) ? (uint64_t)among(1000, 90000) : 0;
		part->max_memory_is_per_cpu = one_in(2);
	}
	request->nodes_open = one_in(2);
	if (one_in(2))
		request->tasks = (uint32_t)among(1, 40);
	if (one_in(5))
		request->gpus_per_node = (uint32_t)among(1, 4);
	if (one_in(5))
		request->tasks_per_node = (uint32_t)among(1, 16);
	if (one_in(5))
		request->memory_mib_per_gpu = (uint64_t)among(100, 9000);
	request->cpus_per_task = one_in(2) ? (uint32_t)among(1, 4) : 0;
	request->bind_gpus = one_in(4);
	request->plane = one_in(6);
	request->overcommit = one_in(8);
	request->exclusive |= one_in(4);
	if (one_in(8))
		request->excluded_nodes = 1;
}

/* The same nodes as in another partition, more or fewer of them. */
static void
copy_nodes(int to, int from)
{
	struct lt_partition *const part = &world.partitions[to];
	const struct lt_partition was = *part;

	*part = world.partitions[from];
	part->first_shape = was.first_shape;
	part->price_series = was.price_series;
	part->carbon_series = was.carbon_series;
	part->tariff_series = was.tariff_series;
	for (int k = 0; k < KINDS; k++) {
		shapes[to * KINDS + k] = shapes[from * KINDS + k];
		shapes[to * KINDS + k].node_count = (uint32_t)among(1, 8);
	}
}

/* To the last bit, NaN too. */
#define SAME(field) (memcmp(&a->field, &b->field, sizeof(a->field)) == 0)

static bool
same_estimates(const struct lt_estimate *a, const struct lt_estimate *b)
{
	return SAME(partition) && SAME(start_utc_s) && SAME(end_utc_s) && SAME(free_utc_s) &&
	       SAME(too_late) && SAME(expected_active_s) && SAME(expected_interruptions) &&
	       SAME(expected_lost_s) && SAME(restart_chance) && SAME(interval_s) &&
	       SAME(time_ratio) && SAME(time_ratio_known) && SAME(node_equivalents) &&
	       SAME(task_nodes) && SAME(task_w) && SAME(has_cost) && SAME(has_carbon) &&
	       SAME(expected_compute_micros) && SAME(expected_energy_micros) &&
	       SAME(expected_storage_micros) && SAME(expected_failure_micros) &&
	       SAME(cost_micros) && SAME(most_micros) && SAME(carbon_mg) && SAME(energy_wh) &&
	       SAME(score);
}

static bool
same_plans(const struct lt_plan *a, const struct lt_plan *b)
{
	if (!SAME(moved) || !SAME(fits) || !SAME(room_utc_s) || !SAME(candidate_count) ||
	    !same_estimates(&a->chosen, &b->chosen) || !same_estimates(&a->home, &b->home))
		return false;
	for (uint32_t i = 0; i < a->candidate_count; i++)
		if (!SAME(candidates[i].reject) || !SAME(candidates[i].wanted) ||
		    !SAME(candidates[i].found) ||
		    !same_estimates(&a->candidates[i].best, &b->candidates[i].best))
			return false;
	return true;
}

static void
decide(struct lt_plan *plan)
{
	assert_int_equal(lt_decide(plan, &world.request, &world.market, world.planned,
			     world.planned_count, NOW, NULL),
	    LT_OK);
}

/* How many partitions are of a kind that another one is of, too. */
static int
check_plan(const char *what, uint64_t number)
{
	int alike = 0;

	for (int i = 0; i < PARTITIONS; i++)
		world.partitions[i].like = 0;
	decide(&without);
	lt_market_liken(&world.market);
	decide(&with);
	if (!same_plans(&with, &without))
		fail_msg("%s %llu: another plan than of each partition alone", what,
		    (unsigned long long)number);
	for (uint32_t i = 0; i < world.market.partition_count; i++)
		alike += world.partitions[i].like <= i;
	return alike;
}

static void
test_alike_changes_nothing(void **state)
{
	int alike = 0, moves = 0;

	(void)state;
	for (uint64_t number = 1; number <= WORLDS; number++) {
		make_world(number);
		enrich_world();
		for (int i = 1; i < PARTITIONS; i++)
			if (one_in(2))
				copy_nodes(i, among(0, i - 1));
		alike += check_plan("world", number);
		moves += with.chosen.partition != with.home.partition;
	}
	print_message("# %d alike, %d move\n", alike, moves);
	assert_true(alike > WORLDS && moves > WORLDS / 20);
}

/* Not what lt_market_check() would refuse: pointers and indexes. */
static bool
is_free(size_t byte)
{
	return byte < offsetof(struct lt_partition, allow_accounts) ||
	       (byte >= offsetof(struct lt_partition, limits) &&
		   byte < offsetof(struct lt_partition, first_shape)) ||
	       byte >= offsetof(struct lt_partition, node_idle_w);
}

/* Two partitions of one kind, one of them with another bit: they are not alike, or no plan shows
 * it. */
static bool
is_alike_without(size_t byte, int bit, uint64_t number)
{
	make_world(number);
	world.market.partition_count = PARTITIONS;
	enrich_world();
	world.request.home = 0;
	world.request.named_count = 0;
	copy_nodes(1, 0);
	copy_nodes(2, 0);
	((unsigned char *)&world.partitions[2])[byte] ^= (unsigned char)(1 << bit);
	(void)check_plan("byte", byte);
	return world.partitions[1].like == world.partitions[2].like;
}

/* The lowest bit alone: of a bool there is no other. */
static void
test_each_byte(void **state)
{
	static const size_t size = sizeof(struct lt_partition);
	int alike = 0, apart = 0;

	(void)state;
	for (uint64_t number = 1; number <= ROUNDS; number++)
		for (size_t byte = 0; byte < size; byte++)
			if (is_free(byte))
				*(is_alike_without(byte, 0, number * size + byte) ? &alike
										  : &apart) += 1;
	print_message("# %d alike, %d not\n", alike, apart);
	assert_true(alike > 0 && apart > ROUNDS * 30);
}

static void
test_each_flag(void **state)
{
	static const size_t flags = offsetof(struct lt_partition, flags);

	(void)state;
	for (uint64_t number = 1; number <= ROUNDS * 20; number++)
		for (size_t byte = 0; byte < sizeof(uint32_t); byte++)
			for (int bit = 0; bit < 8; bit++)
				(void)is_alike_without(flags + byte, bit, number);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_alike_changes_nothing),
	    cmocka_unit_test(test_each_byte),
	    cmocka_unit_test(test_each_flag),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
