/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which source of a signal counts now.
 */
#ifndef LT_FAILOVER_H
#define LT_FAILOVER_H

#include "signals.h"

/* From when on `stale_after` counts: when something newer than its issue time
 * could be there, or now. */
int64_t lt_source_made(const struct lt_source *source, int64_t now_utc_s);
/* The first that is fresh, else the first that has data; NULL = none. */
const struct lt_source *lt_signal_source(const struct lt_signals_state *signals,
    const struct lt_policy *policy, const struct lt_policy_signal *signal,
    int64_t now_utc_s);
/* Log once each signal whose source is another than before. */
void lt_failover_watch(struct lt_signals_state *signals,
    const struct lt_policy *policy, int64_t now_utc_s);

#endif
