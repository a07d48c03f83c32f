/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pools take a job's pods, as kube-scheduler would have it: by taints,
 * labels, and what is free on each node.
 */
#ifndef LT_KUBE_WHERE_H
#define LT_KUBE_WHERE_H

#include "cluster.h"

struct lt_kube_where { /* of one pool */
	/* One of its nodes does, with what lowtide adds, or one that it would
	 * bring: of a pool that scales, by the policy. */
	bool takes;
	bool takes_alone; /* and as the job is */
	/* So many of its pods have room, at most as many as it has: beside
	 * what is not ours, and beside all that runs. */
	uint32_t beside_others, now;
	/* kube-scheduler's LeastAllocated of the best node that takes it as it
	 * is, 0 to 1; LT_KUBE_SCORE_NEW: none has room, but one that the pool
	 * would bring; below that: that neither. */
	double score;
};
#define LT_KUBE_SCORE_NEW (-0.5)

struct lt_kube_where_asked {
	const struct lt_kube_job *job;
	const char *const *pools; /* names, each once */
	uint32_t count;
	/* Else what it takes and takes alone is all that is looked at: of many
	 * jobs the room need not be counted. */
	bool wants_room;
};
/* all: one of each pool. */
void lt_kube_find_where(struct lt_kube_where *all,
    const struct lt_kube_cluster *c, const struct lt_kube_where_asked *asked);

#endif
