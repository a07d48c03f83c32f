/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interruption rate of preemptible nodes: a published one, updated by what
 * the cluster itself went through. Pure.
 */
#ifndef LT_POSTERIOR_H
#define LT_POSTERIOR_H

#include <stdbool.h>
#include <stdint.h>

enum { LT_OWN_DAYS = 90 }; /* of the cluster's own runs that count */

struct lt_own_history { /* what nodes of a partition went through */
	double node_hours;
	uint32_t interruptions;
};

/* A run's state that says so: NODE_FAIL, PREEMPTED. */
bool lt_is_interruption(const char *state_text);

/*
 * Interruptions per node-hour from a published rate (0 = none is) and what was
 * seen; *own_share: the weight of the latter, 0 to 1. As published where
 * nothing was seen. Source: docs/model.md, eq. (35).
 */
double lt_posterior(
    double published, const struct lt_own_history *own, double *own_share);

#endif
