/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of each shape's GPUs: the policy's name for the partition, else by Gres
 * type. docs/model.md, eq. (32).
 */
#include <string.h>

#include "compile_gpus.h"
#include "gpu_kinds.h"
#include "policy_load.h"

/* GPUs without a type are a kind, too. */
static void
add_untyped(struct lt_shape *shape)
{
	uint32_t typed = 0;

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (kind->count == 0 && typed < shape->gpus &&
		    !shape->gpus_unclear)
			*kind =
			    (struct lt_gpu_kind){.count = shape->gpus - typed};
		typed += kind->count;
	}
}

/* "1g.5gb" alone: the slice of a GPU that its node has beside it. */
static bool
slice_of_node(struct lt_gpu *room, const struct lt_policy *policy,
    const struct lt_shape *shape, const char *type)
{
	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu whole;
		const struct lt_gpu *const gpu =
		    shape->kinds[i].count == 0
			? NULL
			: lt_policy_gpu(&whole, policy, shape->kinds[i].type);

		if (gpu == NULL || gpu->mig_slices == 0)
			continue;
		*room = *gpu;
		return lt_gpu_is_slice(type) && lt_gpu_slice(room, type);
	}
	return false;
}

/* The site's own row is of what Slurm counts as one. */
static bool
find(struct lt_gpu *room, const struct lt_policy *policy, const char *said,
    const struct lt_shape *shape, const char *type)
{
	const struct lt_gpu *const gpu =
	    lt_policy_gpu(room, policy, said[0] != '\0' ? said : type);

	if (gpu == NULL)
		return slice_of_node(room, policy, shape, type);
	if (gpu != room)
		*room = *gpu;
	return said[0] == '\0' || room->mig_slices == 0 ||
	       lt_gpu_slice(room, type);
}

static int
add_row(struct lt_market *m, const struct lt_gpu *gpu)
{
	for (uint32_t i = 0; i < m->gpu_count; i++)
		if (strcmp(m->gpus[i].name, gpu->name) == 0)
			return (int)i;
	if (m->gpu_count >= LT_GPUS_MAX)
		return -1;
	m->gpus[m->gpu_count] = *gpu;
	return (int)m->gpu_count++;
}

/* The least memory of the kinds; -1 where one is not known. */
static int
least_of(const struct lt_market *m, const struct lt_shape *shape)
{
	int least = -1;

	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0;
	     i++) {
		const int index = shape->kinds[i].gpu_index;

		if (index < 0)
			return -1;
		if (least < 0 ||
		    m->gpus[index].memory_mib < m->gpus[least].memory_mib)
			least = index;
	}
	return least;
}

/* The policy's watts are of the node: its kinds share them by their own, and
 * evenly where one is not known. */
static void
share_watts(struct lt_shape *shape, double node_gpu_w)
{
	const double own = lt_gpus_watts(shape, 0, "", (double)shape->gpus);

	for (int i = 0; i < LT_GPU_KINDS_MAX; i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];

		if (kind->count > 0)
			kind->watts = own > 0 ? kind->watts * node_gpu_w / own
					      : node_gpu_w / shape->gpus;
	}
}

static void
compile_shape(struct lt_market *m, struct lt_shape *shape,
    const struct lt_policy *policy, const struct lt_policy_partition *from)
{
	add_untyped(shape);
	for (int i = 0; i < LT_GPU_KINDS_MAX && shape->kinds[i].count > 0;
	     i++) {
		struct lt_gpu_kind *const kind = &shape->kinds[i];
		struct lt_gpu room;

		kind->gpu_index = -1;
		kind->watts = 0;
		if (!find(&room, policy, from != NULL ? from->gpu : "", shape,
			kind->type))
			continue;
		kind->watts = room.power_w;
		kind->gpu_index = add_row(m, &room);
	}
	shape->gpu_index = least_of(m, shape);
	if (from != NULL && from->node_gpu_w > 0)
		share_watts(shape, from->node_gpu_w);
}

void
lt_compile_gpus(struct lt_market *m, const struct lt_policy *policy)
{
	for (uint32_t i = 0; i < m->shape_count; i++)
		m->shapes[i].gpu_index = -1;
	for (uint32_t i = 0; i < m->partition_count; i++) {
		struct lt_partition *const p = &m->partitions[i];
		const struct lt_policy_partition *const from =
		    lt_policy_partition_find(policy, p->name);
		bool known = true;

		p->node_gpu_w = 0;
		for (uint32_t k = 0; k < p->shape_count; k++) {
			struct lt_shape *const shape =
			    &m->shapes[p->first_shape + k];

			if (shape->gpus == 0)
				continue;
			compile_shape(m, shape, policy, from);
			const double watts = lt_gpus_watts(shape,
			    from != NULL ? from->node_gpu_w : 0, "",
			    (double)shape->gpus);

			known = known && watts >= 0;
			if (watts > p->node_gpu_w)
				p->node_gpu_w = watts;
		}
		if (!known)
			p->node_gpu_w = 0;
	}
}
