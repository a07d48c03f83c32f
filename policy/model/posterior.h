/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interruption rate of nodes: a published one, updated by what the cluster itself went through.
 * Pure.
 */
#ifndef LT_POSTERIOR_H
#define LT_POSTERIOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
	LT_OWN_DAYS = 90, /* of the cluster's own runs that count */
	/* A job whose node failed works again: Slurm lets it wait for two minutes, then come its
	 * prolog and what it loads. */
	LT_FAILED_RESTART_S = 600,
};

/* Failures of nodes that nobody takes away, per node-hour: 6.5 in 1,000
 * node-days of GPU nodes (Kokolis et al., HPCA 2025, arXiv 2410.21680,
 * RSC-1). */
#define LT_FAILURES_PER_NODE_HOUR (6.5 / (1000 * 24))

struct lt_own_history { /* what nodes of a partition went through */
	double node_hours;
	uint32_t interruptions;
};

/* A run's state that says so: NODE_FAIL, PREEMPTED. */
bool lt_is_interruption(const char *state_text);

/*
 * Interruptions per node-hour from a published rate (0 = none is) and what was seen: the rate that
 * is likeliest, where the published one is off by a factor of 30 at most with 95 %. *own_share: the
 * weight of what was seen, 0 to 1. As published where no hours were seen. Source: docs/model.md,
 * eq. (35).
 */
double lt_posterior(double published, const struct lt_own_history *own, double *own_share);

#endif
