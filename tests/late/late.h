/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Can't Be Late" (Wu et al., NSDI '24): one job with a deadline, tick for tick on spot nodes, on
 * demand, or idle. The protocol is that of its published simulator, so that figures can be compared
 * to the cent.
 *
 * late_regimes.h is what it costs who has learned from others' traces.
 */
#ifndef LT_SIM_LATE_H
#define LT_SIM_LATE_H

#include "spot.h"

enum { LT_LATE_REGIONS_MAX = 16 };

enum lt_late_place { LT_LATE_IDLE, LT_LATE_SPOT, LT_LATE_ON_DEMAND, LT_LATE_PLACE_COUNT };

struct lt_late_job { /* seconds, each at least 1 */
	int64_t work_s, deadline_s;
	int64_t restart_s; /* of each start on another node */
};

struct lt_late {				 /* all lent */
	const struct lt_sim_spot_trace *regions; /* of ticks alike */
	uint32_t region_count;			 /* LT_LATE_REGIONS_MAX */
	const double *spot_per_hour;		 /* money, by region */
	double on_demand_per_hour;
	struct lt_late_job job;
};

/* What a policy sees when a tick begins: nothing of a later one. */
struct lt_late_now {
	const struct lt_late *of;
	uint32_t tick;
	int64_t left_s;		  /* until the deadline, in whole ticks */
	int64_t work_s;		  /* to do */
	int64_t unpaid_s;	  /* of the restart */
	enum lt_late_place place; /* in the tick before */
	bool there;		  /* spot, in its region, in this tick */
	uint32_t region;	  /* in the tick before */
};

struct lt_late_choice {
	enum lt_late_place place;
	uint32_t region;
};

struct lt_late_policy {
	const char *name, *what;
	struct lt_late_choice (*choose)(void *context, const struct lt_late_now *now);
	void *context;
};

struct lt_late_outcome {
	uint32_t on_demand_ticks;
	uint32_t spot_ticks[LT_LATE_REGIONS_MAX];
	uint32_t restarts;
	uint32_t region; /* where it ended */
	int64_t ended_s; /* INT64_MAX: not within the trace */
	bool is_late;
};

/*
 * A tick is paid whole. A start, but from spot to spot of a node that was not taken, costs
 * restart_s of the ticks that follow. Where the work, a restart and whole ticks leave no time any
 * more, the protocol itself goes on demand, or stays on spot that works; of a node that was taken
 * in that very tick it thinks that it works: a policy that lets it come to this is late.
 *
 * LT_EINPUT: no region, too many, ticks that differ, no ticks. Pure.
 */
int lt_late_run(struct lt_late_outcome *outcome, const struct lt_late *late,
    const struct lt_late_policy *policy, struct lt_error *err);
double lt_late_cost(const struct lt_late_outcome *outcome, const struct lt_late *late);

/* The published baselines, and the rules that lt_replan() has or might have; context is NULL for
 * all of them. */
enum {
	LT_LATE_ALL_ON_DEMAND,
	LT_LATE_GREEDY,
	LT_LATE_SPOT_ELSE,
	LT_LATE_UNIFORM,
	LT_LATE_SLACK,
	LT_LATE_ONE_WAY,
	LT_LATE_POLICY_COUNT
};
extern const struct lt_late_policy lt_late_policies[LT_LATE_POLICY_COUNT];
/*
 * Can it be on spot in this tick and still be in time, whatever is taken then? By induction over
 * ticks: a node that works keeps what is asked here. Source:
 * docs/model.md, eq. (24g).
 */
bool lt_late_is_safe(const struct lt_late_now *now);
/* Is there a tenth more time than work, beside a restart and three ticks? As long as that, who has
 * no node waits for one. */
bool lt_late_has_slack(const struct lt_late_now *now);

/*
 * What it costs who knows the trace, in whole ticks and by the same protocol; INFINITY: no way is
 * in time. LT_EINPUT: more than a region, a restart longer than a tick, a deadline before the
 * work's end or not of whole ticks. Exact.
 */
int lt_late_optimum(double *money, const struct lt_late *late, struct lt_error *err);

#endif
