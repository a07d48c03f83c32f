/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an allocation to what a charge is made of: AllocTRES of it, and the
 * parts of its nodes' power. Plans and charges go by the same; docs/model.md,
 * eqs. (2) and (5).
 */
#include "counts.h"
#include "size.h"

static double
part_of(double used, double full)
{
	return full > 0 ? used / full : 0;
}

struct lt_power_parts
lt_charge_parts(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_shape *shapes, uint32_t shape_count)
{
	const int index = lt_charge_shape(r, shapes, shape_count);
	const double part = (double)share.numerator / (double)share.denominator;
	const double nodes = r->nodes;
	double cpu = part, gpu = part;

	if (index >= 0 && shapes[index].cpus > 0)
		cpu = r->cpus / (nodes * shapes[index].cpus);
	if (index >= 0)
		gpu = part_of(r->gpus, nodes * shapes[index].gpus) +
		      part_of(r->shards, nodes * shapes[index].shards);
	return (struct lt_power_parts){cpu < 1 ? cpu : 1, gpu < 1 ? gpu : 1};
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
		allocation->whole ? all_memory_mib : allocation->memory_mib};
}
