/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of a signal's sources counts: the first in the policy file's order
 * that is not stale. A switch is logged once.
 */
#include <stdlib.h>
#include <string.h>

#include "failover.h"
#include "log.h"

enum { SIGNALS = 4 }; /* of a partition */

struct lt_chosen { /* of one partition, by the order of kinds[] */
	char partition[LT_NAME_SIZE];
	char source[SIGNALS][LT_NAME_SIZE];
};

int64_t
lt_source_made(const struct lt_source *source, int64_t now_utc_s)
{
	const int64_t made_utc_s = source->issued_utc_s +
				   source->adapter->fresh_s +
				   source->adapter->interval_s;

	return made_utc_s < now_utc_s ? made_utc_s : now_utc_s;
}

const struct lt_source *
lt_signal_source(const struct lt_signals_state *signals,
    const struct lt_policy *policy, const struct lt_policy_signal *signal,
    int64_t now_utc_s)
{
	const struct lt_source *first = NULL;

	for (int i = 0; i < signal->source_count; i++) {
		const struct lt_source *const source =
		    &signals->sources[signal->sources[i]];

		if (source->step_count == 0)
			continue;
		if (now_utc_s - lt_source_made(source, now_utc_s) <=
		    policy->stale_after_s)
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
watch(const struct lt_source *source, const struct lt_source *first,
    const char *partition, const char *key, char last[LT_NAME_SIZE])
{
	if (strcmp(last, source->policy->name) == 0)
		return;
	if (last[0] || source != first)
		lt_log("source_switched",
		    "partition=%s signal=%s from=%s to=%s", partition, key,
		    last[0] ? last : first->policy->name, source->policy->name);
	memcpy(last, source->policy->name, LT_NAME_SIZE);
}

void
lt_failover_watch(struct lt_signals_state *signals,
    const struct lt_policy *policy, int64_t now_utc_s)
{
	if (signals->chosen == NULL)
		signals->chosen =
		    calloc(LT_PARTITIONS_MAX, sizeof(*signals->chosen));
	for (int i = 0; signals->chosen != NULL && i < policy->partition_count;
	     i++) {
		const struct lt_policy_partition *const p =
		    &policy->partitions[i];
		struct lt_chosen *const row = row_of(signals->chosen, p->name);

		for (int k = 0; row != NULL && k < SIGNALS; k++) {
			const struct lt_policy_signal *const signal =
			    (const void *)((const char *)p + kinds[k].offset);
			const struct lt_source *const source = lt_signal_source(
			    signals, policy, signal, now_utc_s);

			if (source != NULL)
				watch(source,
				    &signals->sources[signal->sources[0]],
				    p->name, kinds[k].name, row->source[k]);
		}
	}
}
