/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy at run time.
 */
#ifndef LT_POLICY_LOAD_H
#define LT_POLICY_LOAD_H

#include "policy.h"

struct lt_daemon;

/* Load or reload; a bad file keeps the one that is there. */
/* Looks at the off switch; the log says at each change, and each hour, what is
 * in force. */
void lt_daemon_follow_off(struct lt_daemon *d, int64_t now_utc_s);

int lt_daemon_load_policy(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
void lt_policy_drop(struct lt_daemon *d);
/* What becomes of a job whose team's balance is not known: on_unknown, where
 * the mode may refuse. */
enum lt_rule lt_policy_unknown_rule(const struct lt_policy *policy);
/* The policy's row of a partition; NULL = none. */
const struct lt_policy_partition *lt_daemon_policy_partition(
    const struct lt_policy *policy, const char *name);

#endif
