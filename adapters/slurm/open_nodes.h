/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes that take new jobs, by their state and by reservations.
 */
#ifndef LT_OPEN_NODES_H
#define LT_OPEN_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "compat.h"

/* Does the node take new jobs? One that is powered down or planned for a job
 * does; a state that is not listed does not. */
bool lt_node_is_open(const node_info_t *node);

/* Since when it takes no jobs, by its reason; INT64_MAX = not known, 0 = it
 * does. */
int64_t lt_away_since(const node_info_t *node);

/* The start of the next reservation of some of the partition's nodes; 0 = none.
 * Whom it lets in is not asked. */
int64_t lt_next_reservation(const partition_info_t *from,
    const reserve_info_msg_t *reservations, int64_t now_utc_s);

/* The last end of those that have some of its nodes now; 0 = none has. */
int64_t lt_reserved_until(const partition_info_t *from,
    const reserve_info_msg_t *reservations, int64_t now_utc_s);

/* Sets are_reserved[place] of each node that a reservation has now. */
void lt_note_reserved(bool *are_reserved, uint32_t node_count,
    const reserve_info_msg_t *reservations, int64_t now_utc_s);

#endif
