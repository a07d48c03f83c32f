/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "gpu_price.h"
#include "log.h"
#include "tables.h"

/* Of each node; 0: none has any, or they differ. */
static uint32_t
gpus_of(const struct lt_tables *tables,
    const struct lt_policy_partition *partition)
{
	for (uint32_t i = 0; i < tables->partition_count; i++) {
		const struct lt_partition *const p = &tables->partitions[i];
		const struct lt_shape *const shapes =
		    tables->shapes + p->first_shape;

		if (strcmp(p->name, partition->name) != 0)
			continue;
		for (uint32_t k = 1; k < p->shape_count; k++)
			if (shapes[k].gpus != shapes[0].gpus)
				return 0;
		return p->shape_count > 0 ? shapes[0].gpus
					  : partition->node.gpus;
	}
	return 0;
}

void
lt_gpu_prices(
    struct lt_policy *policy, const struct lt_tables *tables, int64_t now_utc_s)
{
	for (int i = 0; i < policy->partition_count; i++) {
		struct lt_policy_partition *const partition =
		    &policy->partitions[i];
		const uint32_t gpus = partition->has_gpu_price
					  ? gpus_of(tables, partition)
					  : 0;

		if (!partition->has_gpu_price)
			continue;
		const struct lt_policy_signal was = partition->price;
		const struct lt_policy_signal is = {.is_set = gpus > 0,
		    .is_constant = true,
		    .constant = (double)(partition->gpu_price_micros * gpus)};

		/* As the policy was read it is no constant yet. */
		if (was.is_constant && was.is_set == is.is_set &&
		    was.constant == is.constant)
			continue;
		/* With other nodes it is another price from now on, and what
		 * ran before keeps its own. */
		if (was.is_constant)
			partition->price_from_utc_s = now_utc_s;
		partition->price = is;
		if (gpus == 0)
			lt_log("no_gpu_price",
			    "partition=%s error=\"price_per_gpu_hour: its nodes do not all have the same number of GPUs, want price_per_node_hour\"",
			    partition->name);
	}
}
