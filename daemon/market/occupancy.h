/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nodes booked over time in one partition, from the job list: what runs, and
 * what waits for a begin time, as long as its quote expects, else its limit.
 */
#ifndef LT_OCCUPANCY_H
#define LT_OCCUPANCY_H

#include "decide.h"
#include "slurm.h"

enum { LT_OCCUPANCY_STEPS = 24 * 7 }; /* hours ahead that are looked at */

struct lt_occupancy {
	uint32_t count; /* 0 = nothing booked */
	int64_t start_utc_s[LT_OCCUPANCY_STEPS + 1];
	double nodes[LT_OCCUPANCY_STEPS];
};

/* What a job that runs, or waits for a begin time, takes of its partition, in
 * whole hours; false: nothing. Pure. */
bool lt_occupancy_window(struct lt_planned *window,
    const struct lt_slurm_job *job, const struct lt_market *market,
    int partition, int64_t now_utc_s);
/* Pure. Node equivalents: nodes x share. */
void lt_occupancy_count(struct lt_occupancy *occupancy,
    const struct lt_slurm_jobs *jobs, const struct lt_market *market,
    int partition, int64_t now_utc_s);

#endif
