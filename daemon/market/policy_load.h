/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy at run time.
 */
#ifndef LT_POLICY_LOAD_H
#define LT_POLICY_LOAD_H

#include "policy.h"

struct lt_daemon;

/* Looks at the off switch; the log says at each change, and each hour, what is
 * in force. */
void lt_daemon_follow_off(struct lt_daemon *d, int64_t now_utc_s);

/*
 * Reads the policy file. A bad one keeps the policy that is in force; where
 * none is, at a start, the last good one of the state directory is taken, and
 * the result is LT_OK. d->policy_error says what is wrong in both cases. err
 * may be NULL.
 */
int lt_daemon_load_policy(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* The same while lowtided runs, with all that follows from another policy. */
int lt_daemon_reload_policy(
    struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* Logs a refused file again, each hour. */
void lt_policy_remind(struct lt_daemon *d, int64_t now_utc_s);
void lt_policy_drop(struct lt_daemon *d);
/* What becomes of a job whose team's balance is not known: on_unknown, where
 * the mode may refuse. */
enum lt_rule lt_policy_unknown_rule(const struct lt_policy *policy);
/* The policy's row of a partition; NULL = none. */
const struct lt_policy_partition *lt_daemon_policy_partition(
    const struct lt_policy *policy, const char *name);

#endif
