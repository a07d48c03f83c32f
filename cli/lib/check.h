/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `lowtide check` finds in a policy that was read, for the commands that
 * read or write one too (init, signals test).
 */
#ifndef LT_CHECK_H
#define LT_CHECK_H

#include "adapter.h"
#include "policy.h"

/* What says the power of a partition's GPUs. */
#define LT_CHECK_GPU_KEYS                                                      \
	"write gpu: with its model, or node_gpu_w: with the watts of all GPUs of a node"

/* What adapters see of a source: its options, lent by the policy. */
struct lt_source_options lt_options_of(const struct lt_policy_source *source);
/* The options of one source, by its adapter: "FILE:LINE:COL: ...". */
int lt_check_source(const struct lt_policy *policy,
    const struct lt_policy_source *source, struct lt_error *err);
/* The options of all sources, then whether they give what the policy's signals
 * want: each error is appended. */
void lt_check_sources(
    const struct lt_policy *policy, struct lt_policy_errors *errors);
/* Is the power of its GPUs to be known, and not said by one of these keys? */
bool lt_check_wants_gpu_power(const struct lt_policy_partition *partition);

#endif
