/*
 * The types of GPUs of a node. A type of "" is any; of several at once (or one that is too long to
 * be known) LT_GPU_TYPES. Pure.
 */
#ifndef LT_GPU_KINDS_H
#define LT_GPU_KINDS_H

#include "market.h"

#define LT_WATTS_UNKNOWN (-1.0)

/* True if it is one of the node's. */
bool lt_shape_has_type(const struct lt_shape *shape, const char *type);

/* GPUs of a node that may be of the type. */
uint32_t lt_shape_gpus(const struct lt_shape *shape, const char *type);

/* Their row of the market; -1 = unknown. */
int lt_shape_gpu_index(const struct lt_shape *shape, const char *type);

/* Watts of so many of a node's GPUs: of a type, else those that draw the most. node_gpu_w is of the
 * whole node, and counts for GPUs whose own power is not known. LT_WATTS_UNKNOWN: neither is known,
 * and there is at least one. */
double lt_gpus_watts(
    const struct lt_shape *shape, double node_gpu_w, const char *type, double gpus);

/* True if it has nodes with GPUs whose power is not known. */
bool lt_gpu_power_unknown(const struct lt_market *market, const struct lt_partition *partition);

#endif
