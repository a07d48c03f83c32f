/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the pods of a cluster take of its nodes, anybody's: a sum a node, and of
 * each pod its amounts alone.
 */
#ifndef LT_KUBE_ROOM_H
#define LT_KUBE_ROOM_H

#include "kube_facts.h"

struct lt_kube_taken {			    /* of a node */
	struct lt_kube_amounts all, others; /* others: of no job of ours */
};

struct lt_kube_rooms {	    /* start as { 0 } */
	void *pods, *nodes; /* trees of tsearch(3) */
	uint32_t list;	    /* of pods, begun */
	uint32_t pod_count;
};

/* A pod as it is now, or was at its end; is_ours: it is a job's of ours. False:
 * no memory. */
bool lt_kube_rooms_see(
    struct lt_kube_rooms *rooms, const json_t *pod, bool is_gone, bool is_ours);
/* A list of pods begins, and is whole: what was not in it is gone. */
void lt_kube_rooms_begin(struct lt_kube_rooms *rooms);
bool lt_kube_rooms_end(struct lt_kube_rooms *rooms);
/* Lent; zeros where it has no pod. */
const struct lt_kube_taken *lt_kube_rooms_of(
    const struct lt_kube_rooms *rooms, const char *node);
void lt_kube_rooms_free(struct lt_kube_rooms *rooms);

#endif
