/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a plan tells is what the run is charged if it takes as long as was expected, in money and in
 * carbon: random requests on random nodes at random rates. The charge is made of AllocTRES as Slurm
 * has it for the allocation.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "charge.h"
#include "decide_world.h"
#include "size.h"

enum { TRIALS = 20000, SHAPES = 3, NODES = 400 };

static struct lt_shape shapes[SHAPES];
static struct lt_rate_step steps[2][STEPS];
static uint32_t told, of_whole_nodes, with_gpus, with_shards, uneven, unlike;

static struct lt_rates
rates_of(struct lt_rate_step *to, const struct lt_series *series)
{
	for (uint32_t i = 0; i < series->count; i++)
		to[i] = (struct lt_rate_step){
		    .start_utc_s = series->start_utc_s[i], .value = series->value[i]};
	return (struct lt_rates){.steps = to, .count = series->count};
}

static void
make_shapes(struct lt_partition *part)
{
	const int gpus = one_in(3) ? 0 : 1 << among(1, 3);
	const bool has_shards = one_in(4);

	part->shape_count = one_in(2) ? 1 : SHAPES;
	part->first_shape = 0;
	part->node_count = part->shape_count * NODES;
	for (uint32_t i = 0; i < part->shape_count; i++)
		shapes[i] = (struct lt_shape){.node_count = NODES,
		    .cpus = (uint32_t)(16 << among(0, 3)),
		    .sockets = (uint32_t)among(1, 2),
		    .threads = (uint32_t)among(1, 2),
		    .gpus = one_in(4) ? 0 : (uint32_t)gpus,
		    .shards = has_shards ? (uint32_t)(4 * gpus) : 0,
		    .memory_mib = 65536u << among(0, 3),
		    .gpu_index = -1};
	part->flags |= LT_PARTITION_BY_CORE | (one_in(2) ? LT_PARTITION_TASKS_BY_NODE : 0) |
		       (one_in(6) ? LT_PARTITION_BY_SOCKET : 0) |
		       (one_in(6) ? LT_PARTITION_EXCLUSIVE : 0);
	part->default_memory_mib = one_in(2) ? 2000 : 0;
	part->default_memory_is_per_cpu = one_in(2);
	part->default_cpus_per_gpu = one_in(4) ? 6 : 0;
}

/* As sbatch and salloc make them. */
static void
make_asked(struct lt_request *request)
{
	const bool has_gpus = shapes[0].gpus > 0 && !one_in(3);
	const uint32_t nodes = (uint32_t)among(1, 4);

	*request = (struct lt_request){.min_nodes = nodes,
	    .max_nodes = nodes,
	    .tasks = one_in(2) ? (uint32_t)among(1, 40) : 0,
	    .cpus_per_task = one_in(3) ? (uint32_t)among(1, 7) : 0,
	    .cpus_per_node = one_in(5) ? (uint32_t)among(1, 15) : 0,
	    .tasks_per_node = one_in(6) ? (uint32_t)among(1, 8) : 0,
	    .threads_per_core = one_in(8) ? 1 : 0,
	    .gpus = has_gpus && one_in(2) ? (uint32_t)among(1, 8) : 0,
	    .cpus_per_gpu = has_gpus && one_in(4) ? 2 : 0,
	    .memory_mib_per_node = one_in(5) ? (uint64_t)among(100, 120000) : 0,
	    .whole_memory = one_in(8),
	    .exclusive = one_in(4),
	    .array_tasks = (uint32_t)(one_in(4) ? among(2, 5) : 1),
	    .limit_s = 7200,
	    .expected_run_s = among(60, 7200),
	    .deadline_utc_s = LT_UNSET_64,
	    .max_cost_micros = LT_UNSET_64,
	    .home = 0};
	request->cpus = request->tasks * (request->cpus_per_task > 0 ? request->cpus_per_task : 1);
	if (has_gpus && request->gpus == 0)
		request->gpus_per_node = (uint32_t)among(1, 4);
	if (!has_gpus && one_in(2))
		request->shards_per_node = shapes[0].shards > 0 ? (uint32_t)among(1, 6) : 0;
}

static void
make_trial(uint64_t number)
{
	struct lt_partition *const part = &world.partitions[0];

	make_world(number);
	make_shapes(part);
	make_asked(&world.request);
	part->price_series = make_series(0, 1e6, 9e6);
	part->carbon_series = make_series(1, 20, 700);
	part->tariff_series = part->occupancy_series = LT_NO_SERIES;
	part->max_time_s = INT64_MAX;
	part->hazard_per_node_hour = 0;
	part->node_cpu_w = among(0, 1500);
	part->node_gpu_w = among(0, 5000);
	part->pue = 1 + fraction();
	world.market.shapes = shapes;
	world.market.shape_count = SHAPES;
	world.market.memory_ignored = one_in(5);
	world.market.partition_count = 1;
}

/* AllocTRES on such nodes: alone on them, a job has all of their CPUs and GPUs, and shards only of
 * nodes without GPUs. False: they can't hold it. */
static bool
allocated(struct lt_resources *got, const struct lt_shape *shape)
{
	const struct lt_request *const request = &world.request;
	const struct lt_need need = lt_need_of(request, &world.market, 0);
	const uint32_t nodes = request->max_nodes;
	struct lt_allocation a;

	lt_allocation_on(&a, &need, shape, nodes);
	*got = (struct lt_resources){.nodes = nodes,
	    .cpus = (uint32_t)a.cpus,
	    .gpus = (uint32_t)a.gpus,
	    .shards = (uint32_t)a.shards,
	    .memory_mib =
		a.whole && !world.market.memory_ignored ? nodes * shape->memory_mib : a.memory_mib,
	    .exclusive = (world.partitions[0].flags & LT_PARTITION_EXCLUSIVE) != 0};
	if ((a.cpus + nodes - 1) / nodes > shape->cpus ||
	    (a.gpus + nodes - 1) / nodes > shape->gpus ||
	    (a.shards + nodes - 1) / nodes > shape->shards ||
	    (got->memory_mib + nodes - 1) / nodes > shape->memory_mib)
		return false;
	if (request->exclusive || got->exclusive) {
		of_whole_nodes++;
		got->cpus = nodes * shape->cpus;
		got->gpus = nodes * shape->gpus;
		got->shards = shape->gpus > 0 ? 0 : nodes * shape->shards;
	}
	with_gpus += got->gpus > 0;
	with_shards += got->shards > 0;
	uneven += got->cpus % nodes > 0;
	return true;
}

/* What the tasks are charged, were they given that. */
static void
charge(struct lt_charge *charged, const struct lt_resources *got, int64_t from)
{
	const struct lt_partition *const part = &world.partitions[0];
	struct lt_place place = {.known = true,
	    .idle_w = part->node_idle_w,
	    .cpu_w = part->node_cpu_w,
	    .gpu_w = part->node_gpu_w,
	    .pue = part->pue,
	    .embodied_g_per_node_hour = part->embodied_g_per_node_hour,
	    .shape_count = part->shape_count};
	const struct lt_rate_step per_tonne = {
	    .value = (double)world.market.charge_micros_per_tonne};
	struct lt_charge_input input = {.start_utc_s = from,
	    .end_utc_s = from + world.request.expected_run_s,
	    .price = rates_of(steps[0], &world.series[0]),
	    .carbon = rates_of(steps[1], &world.series[1]),
	    .carbon_charge = {.steps = &per_tonne, .count = 1}};

	for (uint32_t i = 0; i < part->shape_count; i++)
		place.shapes[i] = shapes[i];
	lt_usage_of(&input, got, &place);
	assert_int_equal(lt_charge_run(charged, &input, NULL), LT_OK);
	lt_charge_free(&(struct lt_charge){.hours = charged->hours});
	charged->hours = NULL;
	charged->money_micros *= world.request.array_tasks;
	charged->carbon_mg *= world.request.array_tasks;
}

static bool
is_same(double a, double b)
{
	return fabs(a - b) <= 1 + 1e-6 * fabs(b);
}

static void
check_trial(uint64_t number)
{
	const int64_t start = NOW + among(0, 3000);
	const struct lt_partition *const part = &world.partitions[0];
	struct lt_resources got[SHAPES];
	double shares[SHAPES] = {0}, most = 0;
	struct lt_charge charged = {0};
	struct lt_estimate at;
	enum lt_reject reject;
	bool same = false;

	if (!lt_estimate_at(&at, &reject, &world.request, &world.market, 0, start))
		return;
	/* Of nodes that can hold it, the smallest: where its share is most. */
	for (uint32_t i = 0; i < part->shape_count; i++) {
		if (!allocated(&got[i], &shapes[i]))
			continue;
		const struct lt_fraction share =
		    lt_charge_share(&got[i], shapes, part->shape_count);

		shares[i] = (double)share.numerator / (double)share.denominator;
		most = fmax(most, shares[i]);
	}
	for (uint32_t i = 0; i < part->shape_count; i++) {
		if (shares[i] < most || !(most > 0))
			continue;
		charge(&charged, &got[i], start);
		same |= is_same((double)at.cost_micros, charged.money_micros) &&
			is_same((double)at.carbon_mg, charged.carbon_mg);
	}
	if (!same)
		fail_msg("%llu: told %lld micros, %lld mg, charged %.1f, %.1f",
		    (unsigned long long)number, (long long)at.cost_micros, (long long)at.carbon_mg,
		    charged.money_micros, charged.carbon_mg);
	told++;
	unlike += world.partitions[0].shape_count > 1;
}

static void
test_told_is_charged(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= TRIALS; number++) {
		make_trial(number);
		check_trial(number);
	}
	print_message("# told %u, of several kinds of nodes %u; whole %u, "
		      "GPUs %u, shards %u, uneven %u\n",
	    told, unlike, of_whole_nodes, with_gpus, with_shards, uneven);
	assert_true(told > 5000 && unlike > 500 && of_whole_nodes > 1000);
	assert_true(with_gpus > 1000 && with_shards > 100 && uneven > 500);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_told_is_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
