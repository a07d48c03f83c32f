/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pause_seen.h"

enum {
	SEEN_S = 2,  /* a record so much newer than a step shows what it did */
	CLOCK_S = 1, /* Slurm's times are whole seconds */
	LOST_S = 30, /* what nobody heard the answer of may come so late */
};

bool
lt_pausing_is_newer(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return job->seen_utc_s > row->at_utc_s + SEEN_S;
}

/* By what we asked for: another's is older, or of another time. */
static bool
is_ours(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return row->changed_utc_s != 0
		   ? job->changed_utc_s == row->changed_utc_s
		   : job->changed_utc_s >= row->at_utc_s - CLOCK_S;
}

enum lt_pause_step
lt_pausing_seen(const struct lt_batch_job *job, const struct lt_paused *row)
{
	const bool is_still = job->state == LT_JOB_SUSPENDED;
	const bool is_again = row->changed_utc_s == 0 &&
			      job->changed_utc_s >= row->at_utc_s - CLOCK_S;

	switch (row->step) {
	case LT_PAUSE_SUSPENDING:
		if (is_still)
			return is_ours(job, row) ? LT_PAUSE_PAUSED
						 : LT_PAUSE_LEFT;
		/* It never was, or somebody let it go on at once. */
		return !lt_pausing_is_newer(job, row) ? row->step
		       : is_again		      ? LT_PAUSE_LEFT
						      : LT_PAUSE_RESUMING;
	case LT_PAUSE_PAUSED:
		return is_still && is_ours(job, row) ? row->step
						     : LT_PAUSE_LEFT;
	case LT_PAUSE_RESUMING_FOR_GOOD:
		return is_still && is_ours(job, row) ? row->step
						     : LT_PAUSE_LEFT;
	case LT_PAUSE_RESUMING:
		return is_still && !is_ours(job, row) ? LT_PAUSE_LEFT
						      : row->step;
	default:
		return row->step;
	}
}

bool
lt_pausing_is_over(const struct lt_batch_job *job, const struct lt_paused *row)
{
	return row->step == LT_PAUSE_RESUMING && job->state == LT_JOB_RUNNING &&
	       (row->changed_utc_s != 0 ||
		   job->seen_utc_s > row->at_utc_s + LOST_S);
}
