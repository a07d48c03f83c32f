/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes that the site pays for whether they are used or not: those of
 * partitions that the policy has as `owned:`.
 */
#ifndef LT_OWNED_NODES_H
#define LT_OWNED_NODES_H

#include "policy.h"
#include "tables.h"

struct lt_ledger;

/* How many each partition of the policy has, in its order: drained and down
 * ones too, not FUTURE, and no cloud's that is powered down. Each node counts
 * once, in the first owned partition that has it; others have none. LT_ENOMEM.
 */
int lt_owned_nodes_count(uint32_t counts[LT_PARTITIONS_MAX],
    const struct lt_policy *policy, const struct lt_tables *tables,
    struct lt_error *err);

struct lt_owned_seen { /* of what was recorded last; { 0 } = nothing */
	int64_t policy_utc_s, tables_utc_s;
};
/* Record them as LT_RATE_NODES, where policy or tables are newer than seen:
 * from the start of the hour in which a partition is first seen as owned, from
 * now on where their number has changed, and until the end of the hour in which
 * it is owned no more. So paid and booked hours are the same. */
struct lt_owned_now {
	const struct lt_policy *policy;
	const struct lt_tables *tables;
	int64_t policy_utc_s, now_utc_s;
};
int lt_owned_nodes_record(struct lt_owned_seen *seen, struct lt_ledger *ledger,
    const struct lt_owned_now *now, struct lt_error *err);

#endif
