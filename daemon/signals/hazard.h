/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interruption rate of a partition and what it is made of.
 */
#ifndef LT_HAZARD_H
#define LT_HAZARD_H

#include "posterior.h"
#include "signals.h"

struct lt_hazard { /* per node-hour */
	/* Of nodes that are not preemptible: one of them failed here. */
	bool known;
	double value; /* what the market has */
	/* As published by a source or written in the policy; of nodes that are
	 * not preemptible LT_FAILURES_PER_NODE_HOUR. */
	double published;
	const struct lt_source *source; /* NULL = the policy, or that */
	bool counts_own;
	struct lt_own_history own; /* the cluster's, from slurmdbd */
	double own_share; /* weight of the own history in value, 0 to 1 */
};
struct lt_hazard lt_hazard_of(struct lt_signals_state *signals,
    struct lt_ledger *ledger, const struct lt_policy *policy,
    const struct lt_policy_partition *partition, int64_t now_utc_s);

#endif
