/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types of GPUs of a node: how many are of one, and what they draw.
 */
#include <string.h>
#include <strings.h>

#include "ask_text.h"
#include "gpu_kinds.h"

static const struct lt_gpu_kind *
kind_of(const struct lt_shape *shape, const char *type)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0; i++)
		if (strcasecmp(shape->kinds[i].type, type) == 0)
			return &shape->kinds[i];
	return NULL;
}

bool
lt_shape_has_type(const struct lt_shape *shape, const char *type)
{
	return kind_of(shape, type) != NULL;
}

uint32_t
lt_shape_gpus(const struct lt_shape *shape, const char *type)
{
	uint32_t named = 0;

	if (type[0] == '\0' || lt_gpu_kinds(type) > 1)
		return shape->gpus;
	const struct lt_gpu_kind *const kind = kind_of(shape, type);

	if (kind != NULL)
		return kind->count;
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++)
		if (shape->kinds[i].type[0] != '\0')
			named += shape->kinds[i].count;
	return named < shape->gpus ? shape->gpus - named : 0;
}

int
lt_shape_gpu_index(const struct lt_shape *shape, const char *type)
{
	const struct lt_gpu_kind *const kind = kind_of(shape, type);

	return type[0] != '\0' && kind != NULL && shape->kinds[1].count > 0
		   ? kind->gpu_index
		   : shape->gpu_index;
}

/* The kind of the most power with less than that, or as much and later. */
static int
next_kind(const struct lt_shape *shape, int last)
{
	int best = -1;

	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0;
	     i++) {
		const double watts = shape->kinds[i].watts;
		const bool is_later =
		    last < 0 || watts < shape->kinds[last].watts ||
		    (i > last && !(watts > shape->kinds[last].watts));

		if (is_later && (best < 0 || watts > shape->kinds[best].watts))
			best = i;
	}
	return best;
}

double
lt_gpus_watts(const struct lt_shape *shape, double node_gpu_w, const char *type,
    double gpus)
{
	const struct lt_gpu_kind *const kind =
	    type[0] != '\0' ? kind_of(shape, type) : NULL;
	double watts = 0, named = 0;

	if (!(gpus > 0))
		return 0;
	if (kind != NULL && kind->watts > 0)
		return gpus * kind->watts;
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0;
	     i++) {
		if (!(shape->kinds[i].watts > 0))
			break;
		named += shape->kinds[i].count;
	}
	/* Where a model is not known, all are by what the node draws. */
	if (named < shape->gpus || shape->gpus == 0)
		return node_gpu_w > 0 && shape->gpus > 0
			   ? node_gpu_w * gpus / shape->gpus
			   : LT_WATTS_UNKNOWN;
	for (int i = next_kind(shape, -1); i >= 0 && gpus > 0;
	     i = next_kind(shape, i)) {
		const double here =
		    gpus < shape->kinds[i].count ? gpus : shape->kinds[i].count;

		watts += here * shape->kinds[i].watts;
		gpus -= here;
	}
	return watts;
}

bool
lt_gpu_power_unknown(
    const struct lt_market *market, const struct lt_partition *partition)
{
	for (uint32_t i = 0; i < partition->shape_count; i++) {
		const struct lt_shape *const shape =
		    &market->shapes[partition->first_shape + i];

		if (lt_gpus_watts(shape, partition->node_gpu_w, "",
			(double)shape->gpus) < 0)
			return true;
	}
	return false;
}
