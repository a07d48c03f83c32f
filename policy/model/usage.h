/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run has of the nodes of a partition: its share, its power, and what
 * it keeps of both while it is suspended. Pure.
 */
#ifndef LT_USAGE_H
#define LT_USAGE_H

#include "charge.h"
#include "market.h"
#include "size.h"

enum { LT_PLACE_SHAPES_MAX = 64 };

struct lt_place {
	bool known; /* the policy has or had it */
	/* The policy has it no more since; 0 = it has. */
	int64_t left_utc_s;
	double idle_w, cpu_w, gpu_w, pue, embodied_g_per_node_hour;
	bool exclusive;
	uint32_t shape_count;
	struct lt_shape shapes[LT_PLACE_SHAPES_MAX]; /* cpus, gpus, memory */
};

/* A node without a known power is unknown, not free of carbon. */
bool lt_place_has_power(const struct lt_place *place);

/* Nodes, shares, watts and embodied carbon of the input: eqs. (2), (5). */
void lt_usage_of(struct lt_charge_input *input, const struct lt_resources *used,
    const struct lt_place *place);

/* The share of its nodes that it keeps while it is suspended: of memory and
 * GPUs, of the shape that its share is of. */
struct lt_fraction lt_kept_share(
    const struct lt_resources *used, const struct lt_place *place);

#endif
