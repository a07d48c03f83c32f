/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what Slurm allocated to the figures that charge.c multiplies.
 */
#include <assert.h>
#include <math.h>

#include "gpu_kinds.h"
#include "usage.h"

static double
part_of(double used, double full)
{
	return full > 0 ? used / full : 0;
}

/* Watts of its GPUs on one node; LT_WATTS_UNKNOWN. */
static double
gpu_watts_of(const struct lt_resources *r, const struct lt_shape *shape,
    double node_gpu_w)
{
	const double nodes = r->nodes, all = shape->gpus;
	const double gpus = r->gpus / nodes;
	const double shards = part_of(r->shards, nodes * shape->shards);
	const double whole = lt_gpus_watts(shape, node_gpu_w, "", all);
	const double watts =
	    lt_gpus_watts(shape, node_gpu_w, "", gpus < all ? gpus : all);

	if (watts < 0 || (shards > 0 && whole < 0))
		return LT_WATTS_UNKNOWN;
	if (all <= 0)
		return 0;
	return fmin(watts + (shards > 0 ? shards * whole : 0), whole);
}

/* Of nodes of no kind that is known, as much as its share. */
static double
gpu_watts_by_share(
    const struct lt_resources *r, double part, const struct lt_place *p)
{
	if (p->gpu_w > 0 || (r->gpus == 0 && r->shards == 0))
		return p->gpu_w * part;
	for (uint32_t i = 0; i < p->shape_count; i++)
		if (p->shapes[i].gpus > 0)
			return LT_WATTS_UNKNOWN;
	return 0;
}

/*
 * Watts of the whole job at the plug: its share of the idle power, its CPUs'
 * part of the CPU power, that of its GPUs, times PUE; LT_WATTS_UNKNOWN.
 * docs/model.md, eq. (5).
 */
static double
watts_of(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_place *p)
{
	const int index = lt_charge_shape(r, p->shapes, p->shape_count);
	const double nodes = r->nodes;
	const double part = (double)share.numerator / (double)share.denominator;
	double cpu = part;

	if (index >= 0 && p->shapes[index].cpus > 0)
		cpu = r->cpus / (nodes * p->shapes[index].cpus);
	const double gpu_w = index >= 0
				 ? gpu_watts_of(r, &p->shapes[index], p->gpu_w)
				 : gpu_watts_by_share(r, part, p);

	if (gpu_w < 0)
		return LT_WATTS_UNKNOWN;
	return nodes * p->pue *
	       (p->idle_w * part + p->cpu_w * (cpu < 1 ? cpu : 1) + gpu_w);
}

/* What a suspended job keeps: memory, GPUs and shards of them; Slurm gives its
 * CPUs away. */
static struct lt_resources
kept_of(const struct lt_resources *r)
{
	struct lt_resources kept = *r;

	kept.cpus = 0;
	kept.exclusive = false;
	return kept;
}

struct lt_fraction
lt_kept_share(const struct lt_resources *r, const struct lt_place *p)
{
	assert(p->shape_count <= LT_PLACE_SHAPES_MAX);

	const struct lt_fraction none = {0, 1}, whole = {1, 1};
	const struct lt_resources kept = kept_of(r);
	const int index = lt_charge_shape(r, p->shapes, p->shape_count);
	if (kept.gpus == 0 && kept.shards == 0 && kept.memory_mib == 0)
		return none;
	return index < 0 ? whole : lt_charge_share(&kept, &p->shapes[index], 1);
}

bool
lt_place_has_power(const struct lt_place *place)
{
	return place->idle_w + place->cpu_w + place->gpu_w > 0;
}

void
lt_usage_of(struct lt_charge_input *input, const struct lt_resources *used,
    const struct lt_place *place)
{
	assert(place->shape_count <= LT_PLACE_SHAPES_MAX);

	const struct lt_resources kept = kept_of(used);
	input->nodes = used->nodes;
	input->share = lt_charge_share(used, place->shapes, place->shape_count);
	input->suspended_share = lt_kept_share(used, place);
	if (used->nodes > 0) {
		input->watts = watts_of(used, input->share, place);
		input->suspended_watts =
		    watts_of(&kept, input->suspended_share, place);
	}
	/* A part that is not known is in no sum. */
	input->watts_unknown = input->watts < 0;
	if (input->watts < 0 || input->suspended_watts < 0)
		input->watts = input->suspended_watts = 0;
	input->pue = place->pue;
	input->embodied_g_per_node_hour = place->embodied_g_per_node_hour;
}
