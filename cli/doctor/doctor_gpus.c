/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: GPUs whose power nobody knows. What runs on them has no carbon, and
 * no cost of energy: not 0.
 */
#include <string.h>

#include "check.h"
#include "doctor.h"
#include "policy.h"

/* A slice alone is of the GPU that the node has beside it, if any. */
static bool
is_known(const struct lt_policy *policy, const json_t *types, const char *type)
{
	struct lt_gpu room;
	size_t index;
	const json_t *other;

	if (lt_policy_gpu(&room, policy, type) != NULL)
		return true;
	json_array_foreach(types, index, other) {
		const struct lt_gpu *const gpu =
		    lt_policy_gpu(&room, policy, json_string_value(other));

		if (gpu != NULL && gpu->mig_slices > 0)
			return lt_gpu_is_slice(type);
	}
	return false;
}

static void
tell(struct lt_doctor *doctor, const struct lt_policy *policy,
    const char *partition, const char *type)
{
	char mend[1024];

	(void)snprintf(mend, sizeof(mend),
	    "in %.300s, partitions: %s: " LT_CHECK_GPU_KEYS "%s%s%s",
	    policy->path, partition, type[0] ? "; or gpus: {" : "", type,
	    type[0] ? ": {memory: 40GiB, power_w: 300}} with its figures" : "");
	lt_doctor_say(doctor, LT_LEVEL_WARNING, "gpus", mend,
	    "partition %s: %s%s: power unknown, so carbon and energy of its jobs are, too",
	    partition,
	    type[0] ? "GPU of Gres type " : "GPUs without a Gres type", type);
}

static void
check_shape(struct lt_doctor *doctor, const struct lt_policy *policy,
    const char *partition, const json_t *shape)
{
	const json_t *const types = json_object_get(shape, "gpu_types");
	int64_t gpus = 0;
	size_t index;
	const json_t *type;

	lt_json_int(shape, "gpus", &gpus);
	if (gpus > 0 && json_array_size(types) == 0)
		tell(doctor, policy, partition, "");
	json_array_foreach(types, index, type)
		if (!is_known(policy, types, json_string_value(type)))
			tell(
			    doctor, policy, partition, json_string_value(type));
}

void
lt_doctor_gpus(struct lt_doctor *doctor, const struct lt_policy *policy,
    const json_t *partitions)
{
	size_t index, k;
	const json_t *partition, *shape;

	json_array_foreach(partitions, index, partition) {
		const char *const name = lt_json_text(partition, "name", "");

		for (int i = 0; i < policy->partition_count; i++) {
			const struct lt_policy_partition *const from =
			    &policy->partitions[i];

			if (strcmp(from->name, name) != 0 ||
			    !lt_check_wants_gpu_power(from))
				continue;
			json_array_foreach(
			    json_object_get(partition, "shapes"), k, shape)
				check_shape(doctor, policy, name, shape);
		}
	}
}
