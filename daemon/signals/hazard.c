/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the source that counts for each signal (failover), and adds up how often nodes of a
 * partition are taken away or fail (hazard).
 *
 * The first source in the policy file's order that is not stale counts; a switch is logged once. A
 * hazard is the rate that a source publishes or the policy has, corrected by what the ledger has of
 * the cluster itself; a ledger that can't be read is logged, and the published rate alone counts.
 */
#include <stdlib.h>
#include <string.h>

#include "hazard.h"
#include "log.h"
#include "units.h"
#include "min_max.h"

/* ---- failover ---- */

enum { SIGNALS = 4 }; /* of a partition */

struct lt_chosen { /* of one partition, by the order of kinds[] */
	char partition[LT_NAME_SIZE];
	char source[SIGNALS][LT_NAME_SIZE];
};

int64_t
lt_source_made(const struct lt_source *source, int64_t now_utc_s)
{
	const int64_t made_utc_s =
	    source->issued_utc_s + source->adapter->fresh_s + source->adapter->interval_s;

	return lt_min_i64(made_utc_s, now_utc_s);
}

const struct lt_source *
lt_signal_source(const struct lt_signals_state *signals, const struct lt_policy *policy,
    const struct lt_policy_signal *signal, int64_t now_utc_s)
{
	const struct lt_source *first = NULL;

	for (int i = 0; i < signal->source_count; i++) {
		const struct lt_source *const source = &signals->sources[signal->sources[i]];

		if (source->step_count == 0)
			continue;
		if (now_utc_s - lt_source_made(source, now_utc_s) <= policy->stale_after_s)
			return source;
		if (first == NULL)
			first = source;
	}
	return first;
}

static const struct {
	const char *name;
	size_t offset;
} kinds[SIGNALS] = {
    {"price_per_node_hour", offsetof(struct lt_policy_partition, price)},
    {"carbon", offsetof(struct lt_policy_partition, carbon)},
    {"electricity_price_per_kwh", offsetof(struct lt_policy_partition, tariff)},
    {"interruptions_per_hour", offsetof(struct lt_policy_partition, hazard)},
};

/* Its row, a new one for a partition that has none; NULL = no room. */
static struct lt_chosen *
row_of(struct lt_chosen *rows, const char *partition)
{
	for (int i = 0; i < LT_PARTITIONS_MAX; i++) {
		if (rows[i].partition[0] == '\0')
			memcpy(rows[i].partition, partition, LT_NAME_SIZE);
		if (strcmp(rows[i].partition, partition) == 0)
			return &rows[i];
	}
	return NULL;
}

/* first: the signal's first source. That one, first used, is no news. */
static void
log_switch(const struct lt_source *source, const struct lt_source *first, const char *partition,
    const char *key, char last[LT_NAME_SIZE])
{
	if (strcmp(last, source->policy->name) == 0)
		return;
	if (last[0] || source != first)
		lt_log("source_switched", "partition=%s signal=%s from=%s to=%s", partition, key,
		    last[0] ? last : first->policy->name, source->policy->name);
	memcpy(last, source->policy->name, LT_NAME_SIZE);
}

void
lt_failover_watch(
    struct lt_signals_state *signals, const struct lt_policy *policy, int64_t now_utc_s)
{
	if (signals->chosen == NULL)
		signals->chosen = calloc(LT_PARTITIONS_MAX, sizeof(*signals->chosen));
	for (int i = 0; signals->chosen != NULL && i < policy->partition_count; i++) {
		const struct lt_policy_partition *const p = &policy->partitions[i];
		struct lt_chosen *const row = row_of(signals->chosen, p->name);

		for (int k = 0; row != NULL && k < SIGNALS; k++) {
			const struct lt_policy_signal *const signal =
			    (const void *)((const char *)p + kinds[k].offset);
			const struct lt_source *const source =
			    lt_signal_source(signals, policy, signal, now_utc_s);

			if (source != NULL)
				log_switch(source, &signals->sources[signal->sources[0]], p->name,
				    kinds[k].name, row->source[k]);
		}
	}
}

/* ---- hazard ---- */

enum { LOOK_EVERY_S = 6 * LT_HOUR_S }; /* over all runs of 90 days */

struct lt_seen_here { /* of one partition */
	char partition[LT_NAME_SIZE];
	int64_t looked_utc_s;
	struct lt_own_history own;
};

static void
look_up_exposure(struct lt_ledger *ledger, struct lt_seen_here *seen, int64_t now_utc_s)
{
	struct lt_error err = {0};

	if (seen->looked_utc_s > now_utc_s - LOOK_EVERY_S)
		return;
	if (lt_ledger_exposure(ledger, seen->partition,
		(struct lt_span){now_utc_s - (int64_t)LT_OWN_DAYS * LT_DAY_S, now_utc_s},
		&seen->own, &err) != LT_OK)
		lt_log("interruptions_unknown", "partition=%s error=\"%s\"", seen->partition,
		    err.text);
	seen->looked_utc_s = now_utc_s;
}

/* Returns what the ledger has of a partition, looked up now and then and after each interruption.
 * NULL = no memory. */
static const struct lt_seen_here *
seen_here(struct lt_signals_state *signals, struct lt_ledger *ledger, const char *partition,
    int64_t now_utc_s)
{
	if (signals->seen == NULL)
		signals->seen = calloc(LT_PARTITIONS_MAX, sizeof(*signals->seen));
	if (signals->seen != NULL && signals->seen_dirty)
		memset(signals->seen, 0, LT_PARTITIONS_MAX * sizeof(*signals->seen));
	signals->seen_dirty = false;
	for (int i = 0; signals->seen != NULL && i < LT_PARTITIONS_MAX; i++) {
		struct lt_seen_here *const seen = &signals->seen[i];

		if (seen->partition[0] == '\0')
			memcpy(seen->partition, partition, LT_NAME_SIZE);
		if (strcmp(seen->partition, partition) != 0)
			continue;
		look_up_exposure(ledger, seen, now_utc_s);
		return seen;
	}
	return NULL;
}

/* Nodes that nobody takes away fail, too. Until one did, none is counted: the cluster's own
 * failures are what is known of them. */
static struct lt_hazard
failures_of(const struct lt_seen_here *seen)
{
	struct lt_hazard hazard = {.published = LT_FAILURES_PER_NODE_HOUR};

	if (seen == NULL || seen->own.interruptions == 0)
		return (struct lt_hazard){0};
	hazard.known = hazard.counts_own = true;
	hazard.own = seen->own;
	hazard.value = lt_posterior(hazard.published, &seen->own, &hazard.own_share);
	return hazard;
}

struct lt_hazard
lt_hazard_of(struct lt_signals_state *signals, struct lt_ledger *ledger,
    const struct lt_policy *policy, const struct lt_policy_partition *partition, int64_t now_utc_s)
{
	const struct lt_policy_signal *const signal = &partition->hazard;
	struct lt_hazard hazard = {.known = signal->is_constant, .published = signal->constant};

	if (!partition->preemptible)
		return failures_of(seen_here(signals, ledger, partition->name, now_utc_s));
	if (!signal->is_constant) {
		hazard.source = lt_signal_source(signals, policy, signal, now_utc_s);
		hazard.known = hazard.source != NULL;
		if (hazard.known)
			hazard.published = lt_source_value(hazard.source, now_utc_s);
	}
	hazard.value = hazard.published;
	hazard.counts_own = partition->own_history == LT_OWN_DEFAULT ? !signal->is_constant
								     : partition->own_history == 1;
	const struct lt_seen_here *const seen =
	    hazard.known && hazard.counts_own
		? seen_here(signals, ledger, partition->name, now_utc_s)
		: NULL;
	if (seen != NULL) {
		hazard.own = seen->own;
		hazard.value = lt_posterior(hazard.published, &seen->own, &hazard.own_share);
	}
	return hazard;
}
