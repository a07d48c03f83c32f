/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that take new jobs, by their state and by reservations, and that jobs
 * may lose to others.
 */
#ifndef LT_OPEN_NODES_H
#define LT_OPEN_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "compat.h"

/* Does the node take new jobs? One that is powered down or planned for a job
 * does; a state that is not listed does not. */
bool lt_node_is_open(const node_info_t *node);

/* Since when it is down, drained or the like, by its reason; INT64_MAX = not
 * known, 0 = it is not: a reservation alone takes no node away. */
int64_t lt_away_since(const node_info_t *node);

/* Do two lists of places of nodes (pairs of first and last, ended by -1) have
 * one in common? */
bool lt_share_nodes(const int32_t *a, const int32_t *b);

/* Reservations of some of a partition's nodes, whomever they let in. */
struct lt_reserved {
	int64_t next_utc_s;  /* start of the next one; 0 = there is none */
	int64_t until_utc_s; /* last end of those that have begun; 0 = none */
};
struct lt_reserved lt_reserved_of(const partition_info_t *from,
    const reserve_info_msg_t *reservations, int64_t now_utc_s);

/* Sets are_reserved[place] of each node that a reservation has now. */
void lt_note_reserved(bool *are_reserved, uint32_t node_count,
    const reserve_info_msg_t *reservations, int64_t now_utc_s);

/* Does Slurm cancel jobs of the partition to give their nodes to others? `all`:
 * every partition. */
bool lt_cancels(const partition_info_t *from, const partition_info_msg_t *all,
    const slurm_conf_t *conf);

#endif
