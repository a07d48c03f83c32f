/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares of nodes that pods share: docs/model.md, eq. (2a).
 */
#ifndef LT_WEIGHTED_H
#define LT_WEIGHTED_H

#include "size.h"

/* Millionths of GPUs; of who has none whole GPUs, which are no less. */
uint64_t lt_gpu_micro(struct lt_exact exact, uint64_t gpus);
/* The same of all sizes: whole CPUs and MiB. */
struct lt_exact lt_exact_of(const struct lt_resources *resources);

/* Is it made of pods, and priced where nodes are shared by weights? */
bool lt_is_of_pods(const struct lt_request *request,
    const struct lt_market *market, int partition);
/* One of its pods, on a node. */
struct lt_resources lt_pod_of(const struct lt_request *request);

#endif
