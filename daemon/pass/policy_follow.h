/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The policy at run time: read again when it changes, and switched off and on.
 */
#ifndef LT_POLICY_FOLLOW_H
#define LT_POLICY_FOLLOW_H

#include <stdint.h>

struct lt_daemon;
struct lt_error;

/* Looks at the off switch; the log says at each change, and each hour, what is in force. */
void lt_daemon_follow_off(struct lt_daemon *d, int64_t now_utc_s);

/*
 * Reads the policy file. A bad one keeps the policy that is in force; where none is, at a start,
 * the last good one of the state directory is taken, and the result is LT_OK. d->policy_error says
 * what is wrong in both cases. err may be NULL.
 */
int lt_daemon_load_policy(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* Loads the policy while lowtided runs, with all that follows from another one. */
int lt_daemon_reload_policy(struct lt_daemon *d, int64_t now_utc_s, struct lt_error *err);
/* Logs a refused file again, each hour. */
void lt_policy_remind(struct lt_daemon *d, int64_t now_utc_s);

#endif
