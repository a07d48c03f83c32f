/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares of nodes that pods share, against sums of their own: by hand, and random pods on random
 * nodes, node-hour by node-hour.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "size.h"
#include "units.h"

enum {
	T0 = 1795219200, /* 2026-11-21T00:00:00Z */
	GIB = 1 << 20,	 /* in KiB */
	HOURS = 24,
};

static struct lt_shape
node_of(uint64_t cpu_milli, uint64_t memory_kib, uint32_t gpus)
{
	return (struct lt_shape){.node_count = 1,
	    .cpus = (uint32_t)(cpu_milli / 1000),
	    .gpus = gpus,
	    .memory_mib = memory_kib / 1024,
	    .exact = {cpu_milli, memory_kib, 0}};
}

static struct lt_resources
pod_of(uint64_t cpu_milli, uint64_t memory_kib, uint32_t gpus)
{
	return (struct lt_resources){.nodes = 1,
	    .cpus = (uint32_t)((cpu_milli + 999) / 1000),
	    .gpus = gpus,
	    .memory_mib = (memory_kib + 1023) / 1024,
	    .exact = {cpu_milli, memory_kib, 0}};
}

static double
share_on(const struct lt_resources *pod, const struct lt_shape *shape)
{
	const struct lt_fraction share = lt_charge_share(pod, shape, 1);

	return (double)share.numerator / (double)share.denominator;
}

/* What a part of a node is worth by OpenCost's default prices, in its own units: dollars of a core,
 * a GiB and a GPU. */
static double
worth(double cpus, double gib, double gpus)
{
	return cpus * 0.031611 + gib * 0.004237 + gpus * 0.95;
}

static void
by_hand(void **state)
{
	/* m5.24xlarge, p4d.24xlarge: 96 CPUs, 384 and 1152 GiB, 8 GPUs. */
	const struct lt_shape m5 = node_of(96000, UINT64_C(384) * GIB, 0);
	const struct lt_shape p4 = node_of(96000, UINT64_C(1152) * GIB, 8);
	const struct {
		const char *why;
		struct lt_resources pod;
		const struct lt_shape *shape;
		double want;
	} cases[] = {
	    {"all of it", pod_of(96000, UINT64_C(384) * GIB, 0), &m5, 1},
	    {"all CPUs", pod_of(96000, 1, 0), &m5, worth(96, 1. / GIB, 0) / worth(96, 384, 0)},
	    {"all GPUs", pod_of(1, 1, 8), &p4, worth(.001, 1. / GIB, 8) / worth(96, 1152, 8)},
	    {"a tenth of a CPU", pod_of(100, 16 * 1024, 0), &m5,
		worth(.1, 1. / 64, 0) / worth(96, 384, 0)},
	    {"more than it has: whole", pod_of(96001, GIB, 0), &m5, 1},
	    {"a GPU where there is none: whole", pod_of(1, 1, 1), &m5, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const double share = share_on(&cases[i].pod, cases[i].shape);

		if (fabs(share - cases[i].want) > 2e-12)
			fail_msg("%s: got %.15f, want %.15f", cases[i].why, share, cases[i].want);
	}
	/* 90 % of the CPUs, 90 % of the memory: nine tenths, not 1.8. */
	const struct lt_resources cpus = pod_of(86400, 1, 0);
	const struct lt_resources memory = pod_of(1, UINT64_C(384) * GIB / 10 * 9, 0);
	const double both = share_on(&cpus, &m5) + share_on(&memory, &m5);
	assert_true(fabs(both - 0.9) < 1e-5);
	/* Twenty of a tenth are a tenth of twenty whole ones. */
	const struct lt_resources small = pod_of(100, 1024, 0);
	const struct lt_resources big = pod_of(1000, 10240, 0);
	assert_true(fabs(20 * share_on(&small, &m5) - 2 * share_on(&big, &m5)) < 1e-10);
	assert_true(fabs(lt_weight_of(&p4, true) + lt_weight_of(&p4, false) -
			 worth(96, 0, 8) / worth(96, 1152, 8)) < 1e-12);
}

/* Parts of GPUs, on a node of MIG slices: all of them together are all of its GPUs, and a whole one
 * beside them is seven times a seventh. */
static void
parts_of_gpus(void **state)
{
	struct lt_shape node = node_of(96000, UINT64_C(1152) * GIB, 8);
	struct lt_resources slice = pod_of(1000, GIB, 1);
	const struct lt_resources whole = pod_of(1000, GIB, 1);
	const double all = worth(96, 1152, 7.999992);

	(void)state;
	node.exact.gpu_micro = 56 * 142857;
	slice.exact.gpu_micro = 142857;
	assert_true(fabs(share_on(&slice, &node) - worth(1, 1, 0.142857) / all) < 2e-12);
	assert_true(fabs(share_on(&whole, &node) - worth(1, 1, 1) / all) < 2e-12);
	slice.exact.gpu_micro = node.exact.gpu_micro;
	slice.exact.cpu_milli = node.exact.cpu_milli;
	slice.exact.memory_kib = node.exact.memory_kib;
	assert_true(share_on(&slice, &node) == 1);
	assert_true(fabs(lt_weight_of(&node, true) - worth(0, 0, 7.999992) / all) < 1e-12);
}

/* Of whole nodes the model of Slurm stays: none of its shapes is weighted. */
static void
slurm_is_dominant(void **state)
{
	struct lt_shape shape = node_of(64000, UINT64_C(512) * GIB, 8);
	const struct lt_resources run = {.nodes = 1, .cpus = 48, .gpus = 1, .memory_mib = 1024};

	(void)state;
	assert_true(share_on(&run, &shape) < 0.5);
	shape.exact = (struct lt_exact){0};
	const struct lt_fraction share = lt_charge_share(&run, &shape, 1);
	assert_int_equal(share.numerator, 3);
	assert_int_equal(share.denominator, 4);
}

/* ---- random pods on random nodes ---- */

struct placed {
	int64_t start_utc_s, end_utc_s;
	struct lt_resources pod;
};

static uint64_t
any(uint64_t least, uint64_t most)
{
	return least + (uint64_t)rand() % (most - least + 1);
}

/* Pods one after the other in a row of lanes, each lane a part of the node: so they never ask for
 * more than it has. */
static uint32_t
fill(struct placed *all, const struct lt_shape *node, uint32_t most)
{
	struct lt_exact left = node->exact;
	uint32_t gpus = node->gpus, count = 0;

	while (left.cpu_milli > 1 && left.memory_kib > 2048 && count < most) {
		const struct lt_exact lane = {
		    any(1, left.cpu_milli), any(1024, left.memory_kib), 0};
		const uint32_t lane_gpus = (uint32_t)any(0, gpus);

		left.cpu_milli -= lane.cpu_milli;
		left.memory_kib -= lane.memory_kib;
		gpus -= lane_gpus;
		for (int64_t at = (int64_t)any(0, 3000); at < HOURS * LT_HOUR_S && count < most;) {
			const int64_t end = at + (int64_t)any(1, 20000);

			all[count++] = (struct placed){T0 + at,
			    T0 + (end < HOURS * LT_HOUR_S ? end : HOURS * LT_HOUR_S),
			    pod_of(any(1, lane.cpu_milli), any(1024, lane.memory_kib), lane_gpus)};
			at = end + (int64_t)any(0, 1000);
		}
	}
	return count;
}

/* Money of the hours of a pod, by charge.c. */
static void
charge(double *by_hour, const struct placed *placed, const struct lt_shape *node,
    const struct lt_rate_step *price)
{
	struct lt_charge_input input = {.start_utc_s = placed->start_utc_s,
	    .end_utc_s = placed->end_utc_s,
	    .nodes = 1,
	    .share = lt_charge_share(&placed->pod, node, 1),
	    .price = {1, price}};
	struct lt_charge made = {0};
	struct lt_error err = {0};

	assert_int_equal(lt_charge_run(&made, &input, &err), LT_OK);
	for (uint32_t i = 0; i < made.hour_count; i++)
		by_hour[(made.hours[i].at_utc_s - T0) / LT_HOUR_S] += made.hours[i].money_micros;
	lt_charge_free(&made);
}

/* The same, second by second of what the pods request. */
static double
owed(const struct placed *all, uint32_t count, const struct lt_shape *node, int hour, double price)
{
	const int64_t from = T0 + hour * LT_HOUR_S, to = from + LT_HOUR_S;
	double worth_s = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct placed *const p = &all[i];
		const int64_t low = p->start_utc_s > from ? p->start_utc_s : from;
		const int64_t high = p->end_utc_s < to ? p->end_utc_s : to;

		if (low < high)
			worth_s += (double)(high - low) *
				   worth((double)p->pod.exact.cpu_milli / 1000,
				       (double)p->pod.exact.memory_kib / GIB, p->pod.gpus);
	}
	return price * worth_s / LT_HOUR_S /
	       worth((double)node->exact.cpu_milli / 1000, (double)node->exact.memory_kib / GIB,
		   node->gpus);
}

static void
nodes_add_up(void **state)
{
	enum { NODES = 60, PODS = 500 };
	static struct placed all[PODS];
	uint32_t pods = 0;

	(void)state;
	srand(44);
	for (int n = 0; n < NODES; n++) {
		const struct lt_shape node =
		    node_of(any(1000, 192000), any(GIB, UINT64_C(2048) * GIB), (uint32_t)any(0, 8));
		const struct lt_rate_step price = {.start_utc_s = T0,
		    .end_utc_s = INT64_MAX,
		    .value = (double)any(10000, 40000000)};
		const uint32_t count = fill(all, &node, PODS);
		double by_hour[HOURS] = {0};

		pods += count;
		for (uint32_t i = 0; i < count; i++)
			charge(by_hour, &all[i], &node, &price);
		for (int h = 0; h < HOURS; h++) {
			/* To the micro, and never more than the node. */
			const double want = owed(all, count, &node, h, price.value);

			if (fabs(by_hour[h] - want) > 0.01 ||
			    by_hour[h] > price.value * (1 + 1e-12))
				fail_msg("node %d, hour %d: got %.6f, want %.6f of %.0f", n, h,
				    by_hour[h], want, price.value);
		}
	}
	assert_true(pods > 5000);
}

/* ---- holds ---- */

/* Whichever node of its pool it runs on, a hold is no less than its charge. */
static void
holds_cover(void **state)
{
	enum { SHAPES = 4, ROUNDS = 20000 };
	struct lt_shape shapes[SHAPES];
	struct lt_partition pool = {.name = "general",
	    .flags = LT_PARTITION_UP | LT_PARTITION_MANAGED,
	    .shape_count = SHAPES};
	const struct lt_market market = {
	    .partition_count = 1, .partitions = &pool, .shape_count = SHAPES, .shapes = shapes};
	uint32_t fitting = 0;

	(void)state;
	srand(45);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SHAPES; i++)
			shapes[i] = node_of(
			    any(900, 96000), any(GIB, UINT64_C(384) * GIB), (uint32_t)any(0, 2));
		const struct lt_resources pod =
		    pod_of(any(1, 20000), any(1024, UINT64_C(100) * GIB), (uint32_t)any(0, 1));
		const struct lt_request request = {.tasks = 3,
		    .min_nodes = 1,
		    .cpus_per_task = pod.cpus,
		    .gpus_per_task = pod.gpus,
		    .pod = pod.exact};
		const struct lt_share most = lt_share_most(&request, &market, 0);
		const double part = lt_part_most(&request, &market, 0, most);
		const double held = (double)most.numerator / (double)most.denominator;

		assert_int_equal(most.nodes, 3);
		for (int i = 0; i < SHAPES; i++) {
			const struct lt_exact *const node = &shapes[i].exact;

			if (pod.exact.cpu_milli > node->cpu_milli ||
			    pod.exact.memory_kib > node->memory_kib || pod.gpus > shapes[i].gpus)
				continue;
			fitting++;
			assert_true(held >= share_on(&pod, &shapes[i]));
			/* Its power goes by each of its parts. */
			assert_true(part >= (double)pod.exact.cpu_milli / (double)node->cpu_milli);
			assert_true(part >= share_on(&pod, &shapes[i]));
		}
	}
	assert_true(fitting > ROUNDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_hand),
	    cmocka_unit_test(parts_of_gpus),
	    cmocka_unit_test(slurm_is_dominant),
	    cmocka_unit_test(nodes_add_up),
	    cmocka_unit_test(holds_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
