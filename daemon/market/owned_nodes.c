/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that are paid for, into the ledger as time passes: what was is never
 * changed, so that what a closed period had unused stays.
 */
#include "owned_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "ledger.h"
#include "policy_load.h"
#include "units.h"

/* Are its nodes paid for, whether they are used or not? */
static bool
is_paid(const struct lt_policy_partition *partition)
{
	return partition->owned ||
	       (lt_batch_words.pays_all_nodes &&
		   (partition->price.is_set || partition->has_gpu_price));
}

/* Those of a partition of Slurm's that nobody has counted. */
static uint32_t
take_nodes(bool *taken, const struct lt_batch_nodes *nodes, uint32_t partition)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < nodes->range_count; i++) {
		const struct lt_node_range *const range = &nodes->ranges[i];

		if (range->partition != partition)
			continue;
		for (uint32_t k = range->first;
		     k <= range->last && k < nodes->count; k++) {
			count += nodes->are_there[k] && !taken[k];
			taken[k] = true;
		}
	}
	return count;
}

int
lt_owned_nodes_count(uint32_t counts[LT_PARTITIONS_MAX],
    const struct lt_policy *policy, const struct lt_tables *tables,
    struct lt_error *err)
{
	bool *const taken =
	    calloc(tables->nodes.count + (size_t)1, sizeof(*taken));

	if (taken == NULL)
		return lt_fail(err, LT_ENOMEM, "owned nodes: out of memory");
	for (int i = 0; i < policy->partition_count; i++) {
		counts[i] = 0;
		for (uint32_t k = 0; is_paid(&policy->partitions[i]) &&
				     k < tables->partition_count;
		     k++)
			if (strcmp(tables->partitions[k].name,
				policy->partitions[i].name) == 0)
				counts[i] +=
				    take_nodes(taken, &tables->nodes, k);
	}
	free(taken);
	return LT_OK;
}

static int
record(struct lt_ledger *ledger, const char *partition, double count,
    int64_t now_utc_s, struct lt_error *err)
{
	const struct lt_rates_asked asked = {
	    partition, LT_RATE_NODES, {now_utc_s, now_utc_s + 1}};
	const int64_t hour_utc_s = now_utc_s - now_utc_s % LT_HOUR_S;
	struct lt_rate_step *steps = NULL;
	struct lt_rate_step fresh = {.start_utc_s = now_utc_s,
	    .end_utc_s = INT64_MAX,
	    .value = count,
	    .quality = LT_QUALITY_CONSTANT};
	uint32_t step_count = 0;
	const int code =
	    lt_ledger_rates(ledger, &asked, &steps, &step_count, err);

	if (code != LT_OK)
		return code;
	/* Of a time before all that was recorded the first is a guess. */
	const bool was = step_count > 0 &&
			 steps[0].quality == LT_QUALITY_CONSTANT &&
			 steps[0].value != LT_RATE_ENDED;
	const bool same =
	    was ? steps[0].value == count && steps[0].end_utc_s == INT64_MAX
		: count == LT_RATE_ENDED;
	free(steps);
	if (same)
		return LT_OK;
	if (!was)
		fresh.start_utc_s = hour_utc_s;
	else if (count == LT_RATE_ENDED)
		fresh.start_utc_s = hour_utc_s + LT_HOUR_S;
	return lt_ledger_put_rates(ledger, partition, LT_RATE_NODES,
	    &(struct lt_rates){1, &fresh}, err);
}

/* Those that the policy has no more, or no more as owned. */
static int
record_ends(struct lt_ledger *ledger, const struct lt_owned_now *now,
    struct lt_error *err)
{
	char(*names)[LT_NAME_SIZE] = NULL;
	uint32_t count = 0;
	int code = lt_ledger_rated(ledger, LT_RATE_NODES, &names, &count, err);

	for (uint32_t i = 0; code == LT_OK && i < count; i++) {
		const struct lt_policy_partition *const partition =
		    lt_policy_partition_find(now->policy, names[i]);

		if (partition == NULL || !is_paid(partition))
			code = record(ledger, names[i], LT_RATE_ENDED,
			    now->now_utc_s, err);
	}
	free(names);
	return code;
}

int
lt_owned_nodes_record(struct lt_owned_seen *seen, struct lt_ledger *ledger,
    const struct lt_owned_now *now, struct lt_error *err)
{
	const struct lt_owned_seen fresh = {
	    now->policy_utc_s, now->tables->read_utc_s};
	uint32_t counts[LT_PARTITIONS_MAX];

	/* Without an answer of Slurm what was goes on. */
	if (fresh.tables_utc_s == 0 ||
	    (fresh.tables_utc_s == seen->tables_utc_s &&
		fresh.policy_utc_s == seen->policy_utc_s))
		return LT_OK;
	int code = lt_owned_nodes_count(counts, now->policy, now->tables, err);
	for (int i = 0; code == LT_OK && i < now->policy->partition_count; i++)
		if (is_paid(&now->policy->partitions[i]))
			code = record(ledger, now->policy->partitions[i].name,
			    counts[i], now->now_utc_s, err);
	if (code == LT_OK)
		code = record_ends(ledger, now, err);
	if (code == LT_OK)
		*seen = fresh;
	return code;
}
