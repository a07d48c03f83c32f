/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes booked over time in one partition, from the job list: what runs, what waits for a begin
 * time, as long as its quote expects, else its limit, and what waits in line, which takes what they
 * leave until its work is done.
 */
#ifndef LT_OCCUPANCY_H
#define LT_OCCUPANCY_H

#include "decide.h"
#include "batch.h"

enum {
	LT_OCCUPANCY_GRAIN_S = 900, /* of the first day; hours after it */
	LT_OCCUPANCY_DAYS = 7,	    /* that are looked at */
	LT_OCCUPANCY_STEPS = 24 * 4 + (LT_OCCUPANCY_DAYS - 1) * 24,
};

struct lt_occupancy {
	/* Given: nodes that take no job now; who knows for how long, so for an hour. */
	uint32_t away;
	/* Given: node equivalents that no job of the list has, and that stay taken. */
	double others;
	/* Given, or NULL: one of each job; what it takes, where it takes anything of this
	 * partition. */
	struct lt_planned *windows;
	bool queued;	/* jobs wait in line */
	uint32_t count; /* steps; 0 = nothing booked */
	int64_t start_utc_s[LT_OCCUPANCY_STEPS + 2];
	double nodes[LT_OCCUPANCY_STEPS + 1];
};

/* How long it will run in all: as its quote expected, past that by what remains; without one its
 * limit. */
int64_t lt_occupancy_length_s(const struct lt_batch_job *job, int64_t now_utc_s);
/* Does it wait for nodes, or for those before it, and for nothing else? */
bool lt_occupancy_in_line(const struct lt_batch_job *job, int64_t now_utc_s);

/* Finds the nodes and the time that a running job, or one that waits for a begin time, takes in its
 * partition, in whole grains; false: nothing. Pure. */
bool lt_occupancy_window(struct lt_planned *window, const struct lt_batch_job *job,
    const struct lt_market *market, int partition, int64_t now_utc_s);
/* Counts node equivalents: nodes x share. The last step has none. Pure. */
void lt_occupancy_count(struct lt_occupancy *occupancy, const struct lt_batch_jobs *jobs,
    const struct lt_market *market, int partition, int64_t now_utc_s);

/* Returns the submission time up to which the list is complete, 0 = nothing is known: the list's,
 * or that of the newest job found since, as ids rise. */
int64_t lt_occupancy_until(const struct lt_batch_jobs *list);

#endif
