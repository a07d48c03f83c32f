/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A policy file, put in force.
 */
#ifndef LT_POLICY_LOAD_H
#define LT_POLICY_LOAD_H

#include "policy.h"

struct lt_ledger;
struct lt_policy;
struct lt_signals_state;
struct lt_site;
struct lt_tables;

/* price_per_gpu_hour as the price of a node, by the GPUs that its partition's nodes have now: the
 * same number in each, else there is no price, and the log says so, once. What has changed counts
 * from now on; tables have been read. */
void lt_gpu_prices(struct lt_policy *policy, const struct lt_tables *tables, int64_t now_utc_s);

/* Logs each name in a policy that the batch system does not have. */
void lt_unknown_names_log(const struct lt_policy *policy, const struct lt_tables *tables);

/* Puts the policy of a file in force, with its sources, and keeps the text of a good one in keep
 * ("" = not). A bad one changes nothing; *err says why. */
int lt_policy_use(struct lt_site *site, struct lt_signals_state *signals, struct lt_ledger *ledger,
    const char *path, const char *keep, int64_t now_utc_s, struct lt_error *err);
void lt_policy_drop(struct lt_site *site, struct lt_signals_state *signals);
/* Returns what becomes of a job whose team's balance is not known: on_unknown, where the mode may
 * refuse. */
enum lt_rule lt_policy_unknown_rule(const struct lt_policy *policy);
/* Returns the policy's row of a partition; NULL = none. */
const struct lt_policy_partition *lt_policy_partition_find(
    const struct lt_policy *policy, const char *name);

#endif
