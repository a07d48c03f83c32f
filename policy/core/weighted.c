/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The share of a pod on a node of Kubernetes: the sum of its parts of the
 * node's CPUs, memory and GPUs, weighted by what these cost.
 */
#include "weighted.h"

__extension__ typedef __int128 wide;

/*
 * OpenCost's default prices of a CPU-hour, a GiB-hour and a GPU-hour, in
 * millionths of a US dollar, times 1000 x 2^20. Only their ratios count, as
 * where OpenCost divides a node's price. Source: its configs/default.json.
 */
static wide
value_of(struct lt_exact exact)
{
	/* GPU: of a millionth, 950000 x milli / 10^6. */
	enum { CPU = 31611, GIB = 4237, GPU = 950 };
	const int64_t milli = 1000, kib_a_gib = 1 << 20;

	return (wide)exact.cpu_milli * CPU * kib_a_gib +
	       (wide)exact.memory_kib * GIB * milli +
	       (wide)exact.gpu_micro * GPU * kib_a_gib;
}

uint64_t
lt_gpu_micro(struct lt_exact exact, uint64_t gpus)
{
	return exact.gpu_micro > 0 ? exact.gpu_micro : gpus * UINT64_C(1000000);
}

/* All of a node. */
static wide
value_of_shape(const struct lt_shape *shape)
{
	struct lt_exact exact = shape->exact;

	exact.gpu_micro = lt_gpu_micro(exact, shape->gpus);
	return value_of(exact);
}

double
lt_weight_of(const struct lt_shape *shape, bool of_gpus)
{
	const struct lt_exact gpus = {
	    .gpu_micro = lt_gpu_micro(shape->exact, shape->gpus)};
	const struct lt_exact cpus = {.cpu_milli = shape->exact.cpu_milli};

	return (double)value_of(of_gpus ? gpus : cpus) /
	       (double)value_of_shape(shape);
}

struct lt_exact
lt_exact_of(const struct lt_resources *resources)
{
	struct lt_exact exact = resources->exact;

	if (exact.cpu_milli == 0)
		exact.cpu_milli = resources->cpus * UINT64_C(1000);
	if (exact.memory_kib == 0)
		exact.memory_kib = resources->memory_mib * 1024;
	exact.gpu_micro = lt_gpu_micro(exact, resources->gpus);
	return exact;
}

struct lt_fraction
lt_weighted_share(
    const struct lt_resources *resources, const struct lt_shape *shape)
{
	static const int64_t parts = INT64_C(1000000000000);

	const wide full = value_of_shape(shape) * (wide)resources->nodes;
	const wide used = value_of(lt_exact_of(resources));

	return (struct lt_fraction){(int64_t)(used * parts / full), parts};
}

bool
lt_is_of_pods(const struct lt_request *request, const struct lt_market *market,
    int partition)
{
	const struct lt_partition *const part = &market->partitions[partition];

	return part->shape_count > 0 && request->tasks > 0 &&
	       request->pod.cpu_milli > 0 &&
	       lt_shape_is_weighted(&market->shapes[part->first_shape]);
}

struct lt_resources
lt_pod_of(const struct lt_request *request)
{
	return (struct lt_resources){
	    .nodes = 1, .gpus = request->gpus_per_task, .exact = request->pod};
}

/* 0 of nothing; more than 1, or of what is not there: it does not fit. */
static double
part_of(uint64_t used, uint64_t full)
{
	return used == 0 ? 0 : full == 0 ? 2 : (double)used / (double)full;
}

static double
greatest_part(const struct lt_resources *pod, const struct lt_shape *shape)
{
	const double parts[] = {
	    part_of(pod->exact.cpu_milli, shape->exact.cpu_milli),
	    part_of(pod->exact.memory_kib, shape->exact.memory_kib),
	    part_of(lt_gpu_micro(pod->exact, pod->gpus),
		lt_gpu_micro(shape->exact, shape->gpus))};
	double most = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] > most)
			most = parts[i];
	return most;
}

double
lt_part_most(const struct lt_request *request, const struct lt_market *market,
    int partition, struct lt_share share)
{
	const struct lt_partition *const part = &market->partitions[partition];
	const struct lt_resources pod = lt_pod_of(request);
	double most = 0;

	if (!lt_is_of_pods(request, market, partition))
		return (double)share.numerator / (double)share.denominator;
	for (uint32_t i = 0; i < part->shape_count; i++) {
		const double here =
		    greatest_part(&pod, &market->shapes[part->first_shape + i]);

		if (here <= 1 && here > most)
			most = here;
	}
	return most > 0 ? most : 1;
}
