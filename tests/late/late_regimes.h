/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "Can't Be Late" costs who has learned how spot nodes come and go: a decision process over
 * work and slack for each of a few regimes, and a belief in which of them it is. Not what
 * lt_replan() does: what that could gain.
 */
#ifndef LT_SIM_LATE_REGIMES_H
#define LT_SIM_LATE_REGIMES_H

#include "late.h"

enum {
	LT_LATE_AGES = 10, /* buckets of ticks since nodes came or went */
	LT_LATE_REGIMES_MAX = 12,
};

/* By whether nodes are there (1), and the bucket: chance that the next tick is the other way. */
struct lt_late_regime {
	double share; /* of the segments that it was learned from */
	double flips[2][LT_LATE_AGES];
};

struct lt_late_regimes {
	uint32_t count;
	struct lt_late_regime regimes[LT_LATE_REGIMES_MAX];
};

/* Of an age in ticks, from 1 on. */
int lt_late_age(uint32_t ticks);

/*
 * `count` regimes of traces of ticks alike, cut into segments of segment_ticks:
 * a mixture by expectation and maximisation, from a start that is the same each time. LT_EINPUT:
 * more than LT_LATE_REGIMES_MAX, or nothing to learn from.
 */
int lt_late_learn(struct lt_late_regimes *regimes, const struct lt_sim_spot_trace *traces,
    uint32_t trace_count, uint32_t segment_ticks, struct lt_error *err);

struct lt_late_mdp;
/*
 * Plans for jobs of up to that work and slack, by its restarts and prices; the traces of *largest
 * only say how long a tick is. LT_EINPUT: a restart that is longer than a tick. The mdp is the
 * caller's to close, also after an error.
 */
int lt_late_mdp_open(struct lt_late_mdp **mdp, const struct lt_late_regimes *regimes,
    const struct lt_late *largest, struct lt_error *err);
void lt_late_mdp_close(struct lt_late_mdp *mdp);
/* What a tick shows counts for the belief to that power: ticks are less independent than regimes
 * have it. The context is the mdp's; one run at a time. */
struct lt_late_policy lt_late_mdp_policy(struct lt_late_mdp *mdp, double power);

struct lt_late_zones {			    /* start as { 0 } but for the first two */
	const struct lt_late_regime *usual; /* lent */
	int64_t usual_tick_s;
	struct {
		uint32_t ticks; /* since its nodes came or went */
		double taken, expected;
	} zones[LT_LATE_REGIONS_MAX];
};
/*
 * The slack rule over regions: it is on spot where price and what a loss costs are least, and comes
 * back from on demand for a spell that is worth it. Of one run; the context is *zones. Source:
 * docs/model.md, eq. (24i).
 */
struct lt_late_policy lt_late_zones_policy(struct lt_late_zones *zones);

#endif
