/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs with a deadline on nodes that are taken and given back as a trace says, beside nodes that
 * stay: lt_decide() when a job comes, and lt_replan() when lowtided would ask it. Each job is
 * alone: no other one takes its nodes.
 */
#ifndef LT_SIM_SPOT_H
#define LT_SIM_SPOT_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

enum {
	LT_SIM_SPOT_TICKS_MAX = 1 << 18, /* more: refused */
	LT_SIM_SPOT_JOBS_MAX = 100000,	 /* more: refused */
};

/* A node, tick for tick; behind the end it begins again. */
struct lt_sim_spot_trace { /* lent */
	int64_t tick_s;
	uint32_t count;
	const uint8_t *taken; /* 0 or 1 */
};

struct lt_sim_spot_options {
	int64_t work_s;				  /* of a job, checkpoints and restarts aside */
	double limit_factor;			  /* its time limit, of the work */
	double deadline_factor;			  /* its deadline, of the work, from its coming */
	int64_t every_s, write_s;		  /* checkpoints */
	int64_t restart_s;			  /* until it works again, after a loss */
	int64_t slack_s;			  /* deadline_slack */
	uint32_t max_interruptions;		  /* 0 = any */
	bool returns;				  /* by its class: pause: requeue */
	double spot_per_hour, on_demand_per_hour; /* money */
	uint32_t jobs;
	uint64_t seed;	 /* of the seconds of the trace at which they come */
	int64_t comes_s; /* all then; -1 = drawn */
};

/* 4 h, limit 1.25, deadline 2, a checkpoint each 10 min, the policy file's deadline_slack, and what
 * AWS asks for a p3.2xlarge. */
extern const struct lt_sim_spot_options lt_sim_spot_defaults;

enum lt_sim_spot_what {
	LT_SIM_SPOT_SUBMITTED,
	LT_SIM_SPOT_STARTED,
	LT_SIM_SPOT_TAKEN,
	LT_SIM_SPOT_DECIDED, /* and goes elsewhere */
	LT_SIM_SPOT_RETURNS, /* requeued for spot nodes, by lt_replan_return()
			      */
	LT_SIM_SPOT_ENDED,
	LT_SIM_SPOT_TIMED_OUT, /* its limit was too short */
	LT_SIM_SPOT_GAVE_UP,   /* not done in ten times its deadline */
	LT_SIM_SPOT_WHAT_COUNT
};
const char *lt_sim_spot_word(enum lt_sim_spot_what what);

struct lt_sim_spot_event {
	uint32_t job;
	int64_t at_s; /* of the trace, which may have begun again */
	enum lt_sim_spot_what what;
	bool is_spot;	 /* where it is, after it */
	const char *why; /* lt_replan_word(); "" where nobody asked */
	int64_t done_s;	 /* as lowtided counts it */
	uint32_t interruptions;
};

struct lt_sim_spot_fate {
	int64_t came_s, ended_s, deadline_s; /* of the trace */
	bool done;			     /* else it timed out or gave up: late */
	bool timed_out;
	bool left; /* it ended on demand */
	uint32_t interruptions, returns;
	double money;
};

struct lt_sim_spot_result {
	uint32_t in_time, left, interruptions, returns;
	uint32_t timed_out;	       /* of the late ones: killed by their limit */
	double money, on_demand_money; /* had all begun on demand at once */
	double there;		       /* part of the trace */
	uint32_t taken;		       /* how often in it */
};

struct lt_sim_spot_watch { /* told of each event, in order; may be NULL */
	void (*event)(void *context, const struct lt_sim_spot_event *event);
	void *context;
};

struct lt_sim_spot { /* all lent */
	struct lt_sim_spot_trace trace;
	const struct lt_sim_spot_options *options;
	struct lt_sim_spot_watch watch;
};

/* LT_EINPUT: figures that contradict each other, or a limit that is longer than the time until the
 * deadline or shorter than the work. */
int lt_sim_spot_check(const struct lt_sim_spot *spot, struct lt_error *err);
/* One job that comes at that second of the trace. */
int lt_sim_spot_job(struct lt_sim_spot_fate *fate, const struct lt_sim_spot *spot, uint32_t number,
    int64_t came_s, struct lt_error *err);
/* All of them. */
int lt_simulate_spot(
    struct lt_sim_spot_result *result, const struct lt_sim_spot *spot, struct lt_error *err);

#endif
