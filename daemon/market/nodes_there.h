/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which nodes of preemptible partitions are there, as lowtided sees them each minute, and how long
 * work waits for them by that.
 */
#ifndef LT_NODES_THERE_H
#define LT_NODES_THERE_H

#include "availability.h"
#include "policy.h"
#include "tables.h"

struct lt_ledger;

struct lt_there_now {
	const struct lt_policy *policy;
	const struct lt_tables *tables;
	const struct lt_batch_jobs *jobs;
	int64_t policy_utc_s, now_utc_s; /* the policy was loaded then */
};

struct lt_there; /* what was recorded and learned last; lt_there_free() */
void lt_there_free(struct lt_there *there);

/*
 * Counts the nodes of the partition, by its place in the tables, that take jobs or have some. A
 * cloud's node that is powered down counts as one that would come, unless a job waits for nodes
 * longer than a boot takes: restart_s, ten minutes at least.
 */
uint32_t lt_there_count(const struct lt_there_now *now, uint32_t partition, int64_t restart_s);

/* True if that partition says something about nodes that could be had. */
bool lt_there_counts(const struct lt_policy_partition *partition);

/* Records them as LT_RATE_THERE, where the number has changed, and as LT_RATE_ENDED where a new
 * policy no longer has the partition as preemptible. */
int lt_there_record(struct lt_there **there, struct lt_ledger *ledger,
    const struct lt_there_now *now, struct lt_error *err);

/* Returns the availability of the last LT_OWN_DAYS, learned again every six hours; lent. NULL: not
 * known. */
const struct lt_availability *lt_there_learned(struct lt_there **there, struct lt_ledger *ledger,
    const struct lt_partition *partition, int64_t now_utc_s);

#endif
