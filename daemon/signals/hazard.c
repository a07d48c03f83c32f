/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often nodes of a partition are taken away or fail: what is published or
 * written, and what the ledger has of the cluster itself.
 */
#include <stdlib.h>
#include <string.h>

#include "failover.h"
#include "hazard.h"
#include "log.h"
#include "units.h"

enum { LOOK_EVERY_S = 6 * LT_HOUR_S }; /* over all runs of 90 days */

struct lt_seen_here { /* of one partition */
	char partition[LT_NAME_SIZE];
	int64_t looked_utc_s;
	struct lt_own_history own;
};

static void
look(struct lt_ledger *ledger, struct lt_seen_here *seen, int64_t now_utc_s)
{
	struct lt_error err = {0};

	if (seen->looked_utc_s > now_utc_s - LOOK_EVERY_S)
		return;
	if (lt_ledger_exposure(ledger, seen->partition,
		(struct lt_span){
		    now_utc_s - (int64_t)LT_OWN_DAYS * LT_DAY_S, now_utc_s},
		&seen->own, &err) != LT_OK)
		lt_log("interruptions_unknown", "partition=%s error=\"%s\"",
		    seen->partition, err.text);
	seen->looked_utc_s = now_utc_s;
}

/* What the ledger has of a partition, looked up now and then and after each
 * interruption. NULL = no memory. */
static const struct lt_seen_here *
seen_here(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const char *partition, int64_t now_utc_s)
{
	if (signals->seen == NULL)
		signals->seen =
		    calloc(LT_PARTITIONS_MAX, sizeof(*signals->seen));
	if (signals->seen != NULL && signals->seen_dirty)
		memset(signals->seen, 0,
		    LT_PARTITIONS_MAX * sizeof(*signals->seen));
	signals->seen_dirty = false;
	for (int i = 0; signals->seen != NULL && i < LT_PARTITIONS_MAX; i++) {
		struct lt_seen_here *const seen = &signals->seen[i];

		if (seen->partition[0] == '\0')
			memcpy(seen->partition, partition, LT_NAME_SIZE);
		if (strcmp(seen->partition, partition) != 0)
			continue;
		look(ledger, seen, now_utc_s);
		return seen;
	}
	return NULL;
}

/* Nodes that nobody takes away fail, too. Until one did, none is counted: the
 * cluster's own failures are what is known of them. */
static struct lt_hazard
failures_of(const struct lt_seen_here *seen)
{
	struct lt_hazard hazard = {.published = LT_FAILURES_PER_NODE_HOUR};

	if (seen == NULL || seen->own.interruptions == 0)
		return (struct lt_hazard){0};
	hazard.known = hazard.counts_own = true;
	hazard.own = seen->own;
	hazard.value =
	    lt_posterior(hazard.published, &seen->own, &hazard.own_share);
	return hazard;
}

struct lt_hazard
lt_hazard_of(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, const struct lt_policy_partition *partition,
    int64_t now_utc_s)
{
	const struct lt_policy_signal *const signal = &partition->hazard;
	struct lt_hazard hazard = {
	    .known = signal->is_constant, .published = signal->constant};

	if (!partition->preemptible)
		return failures_of(
		    seen_here(signals, ledger, partition->name, now_utc_s));
	if (!signal->is_constant) {
		hazard.source =
		    lt_signal_source(signals, policy, signal, now_utc_s);
		hazard.known = hazard.source != NULL;
		if (hazard.known)
			hazard.published =
			    lt_source_value(hazard.source, now_utc_s);
	}
	hazard.value = hazard.published;
	hazard.counts_own = partition->own_history == LT_OWN_DEFAULT
				? !signal->is_constant
				: partition->own_history == 1;
	const struct lt_seen_here *const seen =
	    hazard.known && hazard.counts_own
		? seen_here(signals, ledger, partition->name, now_utc_s)
		: NULL;
	if (seen != NULL) {
		hazard.own = seen->own;
		hazard.value = lt_posterior(
		    hazard.published, &seen->own, &hazard.own_share);
	}
	return hazard;
}
