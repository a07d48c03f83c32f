/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pods that belong to no Job: those of Deployments, StatefulSets, DaemonSets
 * and of whatever else makes pods. Nothing is held for them, and they are
 * charged while they run, hour by hour, in rows of their owner's.
 */
#ifndef LT_KUBE_UNHELD_H
#define LT_KUBE_UNHELD_H

#include "cluster.h"

enum { LT_KUBE_OWNER_SIZE = 2 * LT_KUBE_KEY_SIZE };

/* "deployment/web", its owner: of a ReplicaSet that is named by its pods'
 * template the Deployment that makes those. False: the pod is a job by itself,
 * or of a Job. Pure. */
bool lt_kube_unheld_owner(char out[LT_KUBE_OWNER_SIZE], const json_t *pod);

/* Keeps such a pod as it is now, if its namespace takes part: it is charged
 * from when that was known to. */
struct lt_kube_unheld {
	const char *owner;
	const struct lt_kube_pod *pod;
	const struct lt_kube_namespace *namespace; /* NULL: it is not known */
	const char *pool;
	const struct lt_kube_node *node; /* NULL likewise */
};
int lt_kube_unheld_see(struct lt_kube_cluster *c,
    const struct lt_kube_unheld *seen, struct lt_error *err);

/* A namespace takes part, or no more, or has another team: what ran there is
 * charged until now, and by what it is now from then on. */
int lt_kube_unheld_change(struct lt_kube_cluster *c,
    struct lt_kube_namespace *of, bool is_managed, struct lt_error *err);

/* Charges the hour that is over, of all that ran then, once it is known that
 * the cluster was watched until after its end. */
int lt_kube_unheld_charge(struct lt_kube_cluster *c, struct lt_error *err);

#endif
