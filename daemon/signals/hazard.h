/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of a signal that counts now, and the interruption rate of a partition with its parts.
 */
#ifndef LT_HAZARD_H
#define LT_HAZARD_H

#include "posterior.h"
#include "signals.h"

/* ---- failover ---- */

/* Returns the time from which `stale_after` counts: when something newer than its issue time could
 * be there, or now. */
int64_t lt_source_made(const struct lt_source *source, int64_t now_utc_s);
/* Returns the first that is fresh, else the first that has data; NULL =
 * none. */
const struct lt_source *lt_signal_source(const struct lt_signals_state *signals,
    const struct lt_policy *policy, const struct lt_policy_signal *signal, int64_t now_utc_s);
/* Logs once each signal whose source is another than before. */
void lt_failover_watch(
    struct lt_signals_state *signals, const struct lt_policy *policy, int64_t now_utc_s);

/* ---- hazard ---- */

struct lt_hazard { /* per node-hour */
	/* For nodes that are not preemptible: one of them failed here. */
	bool known;
	double value; /* what the market has */
	/* Rate as published by a source or written in the policy; of nodes that are not preemptible
	 * LT_FAILURES_PER_NODE_HOUR. */
	double published;
	const struct lt_source *source; /* NULL = the policy, or that */
	bool counts_own;
	struct lt_own_history own; /* the cluster's, from slurmdbd */
	double own_share;	   /* weight of the own history in value, 0 to 1 */
};
struct lt_hazard lt_hazard_of(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, const struct lt_policy_partition *partition, int64_t now_utc_s);

#endif
