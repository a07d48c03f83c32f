/*
 * What is known of the GPUs of each kind of node: model and power.
 */
#ifndef LT_COMPILE_GPUS_H
#define LT_COMPILE_GPUS_H

#include "market.h"
#include "policy.h"

/* Rows are added to market->gpus, which has room for LT_GPUS_MAX. */
void lt_compile_gpus(struct lt_market *market, const struct lt_policy *policy);

#endif
