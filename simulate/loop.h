/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that come, wait, run and end, at one time; what the files that move
 * them on share.
 */
#ifndef LT_SIM_LOOP_H
#define LT_SIM_LOOP_H

#include "internal.h"

struct lt_sim_event { /* a job ends, or its CPUs become free */
	int64_t at_utc_s;
	uint32_t job;
	bool reserved; /* it ran on such CPUs */
};

struct lt_sim_loop {
	struct lt_sim_run *run;
	struct lt_sim_event *heap; /* all that run, by their ends */
	uint32_t event_count;
	uint32_t next;	    /* of the trace, to come */
	uint32_t cpus_free; /* with a capacity */
	uint32_t *waiting;  /* in the order that they came in */
	uint32_t waiting_count, planned_count;
	int64_t *rank;		    /* room for ties.c */
	int64_t *planned_utc_s;	    /* when it shall start, of each job */
	int64_t soonest_utc_s;	    /* of those that wait and are not due */
	int64_t at_utc_s;	    /* of the last step */
	struct lt_planned *windows; /* room for plan.c */
};

/* start.c */
bool lt_sim_fits_reserved(
    const struct lt_sim_run *run, const struct lt_sim_job *job);
int lt_sim_start(struct lt_sim_loop *loop, uint32_t job, int64_t now_utc_s,
    struct lt_error *err);
/* All that have ended by now. */
int lt_sim_end_all(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err);

/* queue.c: those whose time has come start, as far as there is room. */
int lt_sim_dispatch(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err);

/* plan.c: of those that came, or of all that wait, when each shall start. */
int lt_sim_plan(struct lt_sim_loop *loop, bool again, int64_t now_utc_s,
    struct lt_error *err);
/* What is known of its run time. */
struct lt_sim_ask lt_sim_ask_of(
    const struct lt_sim_run *run, const struct lt_sim_job *job);
/* What it takes from its start on, as far as it is known. */
struct lt_planned lt_sim_window(
    const struct lt_sim_loop *loop, uint32_t index, int64_t start_utc_s);
/* Of one that runs. */
struct lt_planned lt_sim_running(
    const struct lt_sim_loop *loop, uint32_t index, int64_t now_utc_s);

/* rearrange.c: those that wait, together. */
int lt_sim_rearrange(
    struct lt_sim_loop *loop, int64_t now_utc_s, struct lt_error *err);

#endif
