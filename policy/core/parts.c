/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an allocation to what a charge is made of: AllocTRES of it, and the
 * parts of its nodes' power. Plans and charges go by the same; docs/model.md,
 * eqs. (2) and (5).
 */
#include <math.h>

#include "counts.h"
#include "gpu_kinds.h"
#include "size.h"
#include "weighted.h"

static double
part_of(double used, double full)
{
	return full > 0 ? used / full : 0;
}

/* Watts of its GPUs on one node; LT_WATTS_UNKNOWN. */
static double
gpu_watts_of(const struct lt_resources *r, const struct lt_shape *shape,
    const struct lt_charge_nodes *on)
{
	const double nodes = r->nodes, all = shape->gpus;
	const double micro = (double)lt_gpu_micro(shape->exact, shape->gpus);
	const double gpus = part_of(
	    all * (double)lt_gpu_micro(r->exact, r->gpus), micro * nodes);
	const double shards = part_of(r->shards, nodes * shape->shards);
	const double whole = lt_gpus_watts(shape, on->gpu_w, "", all);
	const double watts = lt_gpus_watts(
	    shape, on->gpu_w, on->gpu_type, gpus < all ? gpus : all);

	if (watts < 0 || (shards > 0 && whole < 0))
		return LT_WATTS_UNKNOWN;
	if (all <= 0)
		return 0;
	return fmin(watts + (shards > 0 ? shards * whole : 0), whole);
}

/* Of nodes of no kind that is known, as much as its share. */
static double
gpu_watts_by_share(
    const struct lt_resources *r, double part, const struct lt_charge_nodes *on)
{
	if (on->gpu_w > 0 || (r->gpus == 0 && r->shards == 0))
		return on->gpu_w * part;
	for (uint32_t i = 0; i < on->shape_count; i++)
		if (on->shapes[i].gpus > 0)
			return LT_WATTS_UNKNOWN;
	return 0;
}

struct lt_power_parts
lt_charge_parts(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_charge_nodes *on)
{
	const int index = lt_charge_shape(r, on->shapes, on->shape_count);
	const double part = (double)share.numerator / (double)share.denominator;
	double cpu = part;

	if (index >= 0 && lt_shape_is_weighted(&on->shapes[index]) &&
	    r->exact.cpu_milli > 0)
		cpu = (double)r->exact.cpu_milli /
		      ((double)r->nodes *
			  (double)on->shapes[index].exact.cpu_milli);
	else if (index >= 0 && on->shapes[index].cpus > 0)
		cpu = r->cpus / ((double)r->nodes * on->shapes[index].cpus);
	return (struct lt_power_parts){.cpu = cpu < 1 ? cpu : 1,
	    .gpu_w = index >= 0 ? gpu_watts_of(r, &on->shapes[index], on)
				: gpu_watts_by_share(r, part, on)};
}

struct lt_resources
lt_resources_of(const struct lt_allocation *allocation,
    const struct lt_need *need, const struct lt_shape *shape)
{
	const uint32_t nodes = allocation->nodes;
	const uint64_t all_memory_mib = (uint64_t)nodes * shape->memory_mib;

	if (need->whole)
		return (struct lt_resources){.nodes = nodes,
		    .cpus = nodes * shape->cpus,
		    .gpus = nodes * shape->gpus,
		    .shards = shape->gpus > 0 ? 0 : nodes * shape->shards,
		    .memory_mib = all_memory_mib,
		    .exclusive = true};
	return (struct lt_resources){.nodes = nodes,
	    .cpus = (uint32_t)smaller(allocation->cpus, UINT32_MAX),
	    .gpus = (uint32_t)smaller(allocation->gpus, UINT32_MAX),
	    .shards = (uint32_t)smaller(allocation->shards, UINT32_MAX),
	    .memory_mib =
		allocation->whole ? all_memory_mib : allocation->memory_mib,
	    .exact = {need->request->pod.cpu_milli * need->request->tasks,
		need->request->pod.memory_kib * need->request->tasks,
		need->request->pod.gpu_micro * need->request->tasks}};
}
