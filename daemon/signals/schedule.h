/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources are due, results come in.
 */
#ifndef LT_SCHEDULE_H
#define LT_SCHEDULE_H

#include <stdint.h>

struct lt_daemon;

void lt_schedule_start(struct lt_daemon *d);
void lt_schedule_stop(struct lt_daemon *d);
/* When it wants to be called again. */
int64_t lt_schedule_run(struct lt_daemon *d, int64_t now_utc_s);
/* Seconds to the next fetch, without jitter: the interval, or after failures
 * doubled pauses; never sooner than the source asks, up to a day. Pure. */
int64_t lt_schedule_wait_s(
    int64_t interval_s, int failures, int64_t retry_after_s);
/* From when on a source is asked whose past is complete up to then: two days
 * back for late values, further over what is missing, a month at most. */
int64_t lt_schedule_from(int64_t complete_utc_s, int64_t now_utc_s);
/* All once, here and now (--once). */
void lt_schedule_once(struct lt_daemon *d, int64_t now_utc_s);

#endif
