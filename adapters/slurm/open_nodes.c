/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that take new jobs, by their state and by reservations, and that jobs
 * may lose to others.
 */
#include "open_nodes.h"

#include <string.h>

static bool
takes_jobs(uint32_t state)
{
	const uint32_t base = state & NODE_STATE_BASE;
	const uint32_t known =
	    NODE_STATE_BASE | NODE_STATE_CLOUD | NODE_STATE_COMPLETING |
	    NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP |
	    NODE_STATE_POWERING_DOWN | NODE_STATE_PLANNED |
	    NODE_STATE_POWER_DOWN | NODE_STATE_POWER_UP | LT_SLURM_NODE_DYNAMIC;

	return (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED ||
		   base == NODE_STATE_MIXED) &&
	       (state & ~known) == 0;
}

bool
lt_node_is_open(const node_info_t *node)
{
	return takes_jobs(node->node_state);
}

int64_t
lt_away_since(const node_info_t *node)
{
	const uint32_t reserved = NODE_STATE_RES | NODE_STATE_MAINT;

	if (takes_jobs(node->node_state & ~reserved))
		return 0;
	return node->reason_time > 0 ? (int64_t)node->reason_time : INT64_MAX;
}

bool
lt_share_nodes(const int32_t *a, const int32_t *b)
{
	for (const int32_t *x = a; x != NULL && x[0] >= 0; x += 2)
		for (const int32_t *y = b; y != NULL && y[0] >= 0; y += 2)
			if (x[0] <= y[1] && y[0] <= x[1])
				return true;
	return false;
}

struct lt_reserved
lt_reserved_of(const partition_info_t *from,
    const reserve_info_msg_t *reservations, int64_t now_utc_s)
{
	struct lt_reserved reserved = {0};

	for (uint32_t i = 0; i < reservations->record_count; i++) {
		const reserve_info_t *const r =
		    &reservations->reservation_array[i];

		if (!lt_share_nodes(from->node_inx, r->node_inx))
			continue;
		if (r->start_time > now_utc_s) {
			if (reserved.next_utc_s == 0 ||
			    r->start_time < reserved.next_utc_s)
				reserved.next_utc_s = r->start_time;
		} else if (r->end_time > now_utc_s &&
			   r->end_time > reserved.until_utc_s) {
			reserved.until_utc_s = r->end_time;
		}
	}
	return reserved;
}

void
lt_note_reserved(bool *are_reserved, uint32_t node_count,
    const reserve_info_msg_t *reservations, int64_t now_utc_s)
{
	for (uint32_t i = 0; i < reservations->record_count; i++) {
		const reserve_info_t *const r =
		    &reservations->reservation_array[i];

		if (r->start_time > now_utc_s || r->end_time <= now_utc_s)
			continue;
		for (const int32_t *at = r->node_inx; at != NULL && at[0] >= 0;
		     at += 2)
			for (int32_t k = at[0];
			     k <= at[1] && (uint32_t)k < node_count; k++)
				are_reserved[k] = true;
	}
}

/* Can jobs of the partition lose their nodes to others? By partitions only to
 * those of a higher tier that share nodes with it; by QOS to any job. */
static bool
may_be_preempted(const partition_info_t *from, const partition_info_msg_t *all,
    const char *type)
{
	if (type == NULL || strstr(type, "partition_prio") == NULL)
		return true;
	for (uint32_t i = 0; i < all->record_count; i++) {
		const partition_info_t *const other = &all->partition_array[i];

		if (other->priority_tier > from->priority_tier &&
		    lt_share_nodes(other->node_inx, from->node_inx))
			return true;
	}
	return false;
}

bool
lt_cancels(const partition_info_t *from, const partition_info_msg_t *all,
    const slurm_conf_t *conf)
{
	const uint16_t used = from->preempt_mode == NO_VAL16
				  ? conf->preempt_mode
				  : from->preempt_mode;

	return (used & (uint16_t) ~(PREEMPT_MODE_GANG | PREEMPT_MODE_WITHIN)) ==
		   PREEMPT_MODE_CANCEL &&
	       may_be_preempted(from, all, conf->preempt_type);
}
