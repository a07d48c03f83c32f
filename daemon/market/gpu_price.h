/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_GPU_PRICE_H
#define LT_GPU_PRICE_H

#include "policy.h"

struct lt_tables;

/* price_per_gpu_hour as the price of a node, by the GPUs that its partition's
 * nodes have now: the same number in each, else there is no price, and the log
 * says so, once. What has changed counts from now on; tables have been read. */
void lt_gpu_prices(struct lt_policy *policy, const struct lt_tables *tables,
    int64_t now_utc_s);

#endif
