/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what Slurm allocated to the figures that charge.c multiplies.
 */
#include <assert.h>

#include "gpu_kinds.h"
#include "usage.h"

/*
 * Watts of the whole job at the plug: its share of the idle power, its CPUs'
 * part of the CPU power, that of its GPUs, times PUE; LT_WATTS_UNKNOWN.
 * docs/model.md, eq. (5).
 */
static double
watts_of(const struct lt_resources *r, struct lt_fraction share,
    const struct lt_place *p)
{
	const struct lt_power_parts parts = lt_charge_parts(r, share,
	    &(struct lt_charge_nodes){.shapes = p->shapes,
		.shape_count = p->shape_count,
		.gpu_w = p->gpu_w,
		.gpu_type = ""});

	if (parts.gpu_w < 0)
		return LT_WATTS_UNKNOWN;
	return r->nodes * p->pue *
	       (p->idle_w * (double)share.numerator /
		       (double)share.denominator +
		   p->cpu_w * parts.cpu + parts.gpu_w);
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
