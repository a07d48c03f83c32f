/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources are due, results come in.
 */
#ifndef LT_SCHEDULE_H
#define LT_SCHEDULE_H

#include "signals.h"

void lt_schedule_start(int64_t now_utc_s);
/* Returns the time when it wants to be called again. */
int64_t lt_schedule_run(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s);
/* Seconds to the next fetch, without jitter: the interval, or after failures doubled pauses; never
 * sooner than the source asks, up to a day. Pure. */
int64_t lt_schedule_wait_s(int64_t interval_s, int failures, int64_t retry_after_s);
/* Returns the time from which a source is asked whose past is complete up to then: two days back
 * for late values, further over what is missing, a month at most, and that once a day (deep: the
 * last time). */
int64_t lt_schedule_from(int64_t complete_utc_s, int64_t deep_utc_s, int64_t now_utc_s);
/* All once, here and now (--once). */
void lt_schedule_once(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, int64_t now_utc_s);

#endif
