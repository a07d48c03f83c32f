/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node of a pool is while the pool has none: as each kind of node (of a
 * pool, machine, way of being sold and zone) was last, by kube.db, else as the
 * policy writes it.
 */
#ifndef LT_KUBE_KEPT_H
#define LT_KUBE_KEPT_H

#include "batch.h"
#include "kube_facts.h"

struct lt_kube_cluster;

struct lt_kube_kept {
	struct lt_kube_node facts;
	bool is_written;   /* by the policy: no node that was there */
	int64_t put_utc_s; /* the store has it since */
};

struct lt_kube_growth { /* what the policy says of a pool's number of nodes */
	bool scales;
	uint32_t most;
};

/* A node as it is now: the next of its kind will be so. */
void lt_kube_keep_node(struct lt_kube_cluster *c,
    const struct lt_kube_node *facts, const json_t *object);
/* Those of kube.db. */
int lt_kube_kept_load(
    struct lt_kube_cluster *c, const char *state_dir, struct lt_error *err);
/* The policy names these partitions and no others. */
void lt_kube_kept_name(struct lt_kube_cluster *c,
    const struct lt_batch_named *named, uint32_t count);
/* The first that is kept of a pool, or of a part of it; NULL: none. */
const struct lt_kube_node *lt_kube_kept_of(
    const struct lt_kube_cluster *c, const char *pool);
/* How many nodes a pool that has so many may bring; 0: the policy does not say
 * that it scales, or what a node of it is is not known. */
uint32_t lt_kube_pool_brings(
    const struct lt_kube_cluster *c, const char *pool, uint32_t has);

#endif
