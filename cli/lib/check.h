/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checks of "lowtide check" for other commands that read or write a policy:
 * init, doctor, signals test and simulate.
 */
#ifndef LT_CHECK_H
#define LT_CHECK_H

#include "adapter.h"
#include "policy.h"

/* The keys that give the power of a partition's GPUs. */
#define LT_CHECK_GPU_KEYS                                                                          \
	"write gpu: with its model, or node_gpu_w: with the watts of all GPUs of a node"

/* Returns the options of a source as adapters take them, lent by the policy. */
struct lt_source_options lt_options_of(const struct lt_policy_source *source);
/* Checks the options of one source by its adapter: "FILE:LINE:COL: ...". */
int lt_check_source(
    const struct lt_policy *policy, const struct lt_policy_source *source, struct lt_error *err);
/* Checks the options of all sources, then whether they give what the policy's signals want; appends
 * each error. */
void lt_check_sources(const struct lt_policy *policy, struct lt_policy_errors *errors);
/* True if the power of its GPUs is needed and neither key gives it. */
bool lt_check_wants_gpu_power(const struct lt_policy_partition *partition);

#endif
