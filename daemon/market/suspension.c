/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job's time limit stops while others suspend it, and it keeps its memory and GPUs: its hold
 * grows, a minute ahead of the suspended time. For a pause of lowtide's own the hold grows before
 * it (life/pause_move.c).
 *
 * Reads the job's record, the market and the ledger; writes the caller's amount only if the sum
 * fits.
 */
#include "suspension.h"

#include <math.h>
#include <stdio.h>

#include "price.h"

enum { STEP_S = 60 }; /* each step is written onto the job */

int64_t
lt_suspension_worked_s(const struct lt_batch_job *job, int64_t now_utc_s)
{
	const int64_t at_utc_s = job->state == LT_JOB_SUSPENDED ? job->seen_utc_s : now_utc_s;

	return at_utc_s - job->start_utc_s - job->suspended_s;
}

int64_t
lt_suspension_held_s(const struct lt_batch_job *job)
{
	int64_t held_s = job->pause_s;

	if (job->state == LT_JOB_PENDING || job->state == LT_JOB_FINISHED)
		return 0;
	if (job->suspended_s > 0 && (job->suspended_s / STEP_S + 1) * STEP_S > held_s)
		held_s = (job->suspended_s / STEP_S + 1) * STEP_S;
	return held_s;
}

static double
value_of(struct lt_fraction f)
{
	return (double)f.numerator / (double)f.denominator;
}

/* Rounded up. */
static bool
scale(int64_t *amount, double factor)
{
	static const double most = 9e18; /* below 2^63 */
	const double scaled = ceil((double)*amount * factor);

	if (!(scaled < most))
		return false;
	*amount = (int64_t)scaled;
	return true;
}

bool
lt_suspension_add(struct lt_amount *amount, int64_t length_s, const struct lt_batch_job *job,
    const struct lt_market *market, struct lt_ledger *ledger)
{
	const int64_t held_s = lt_suspension_held_s(job);
	struct lt_amount grown = *amount;
	struct lt_place place;
	struct lt_run run = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .suspended_s = held_s};

	if (held_s == 0 || length_s <= 0)
		return true;
	snprintf(run.partition, sizeof(run.partition), "%.*s", (int)sizeof(run.partition) - 1,
	    job->partition);
	lt_place_of(&place, market, ledger, run.partition);
	const struct lt_resources got = {.nodes = job->nodes,
	    .cpus = job->cpus,
	    .gpus = job->gpus,
	    .shards = job->shards,
	    .memory_mib = job->memory_mib,
	    .exact = job->exact,
	    .exclusive = job->exclusive || place.exclusive};
	const double share = value_of(lt_charge_share(&got, place.shapes, place.shape_count));
	const double longer = (double)held_s / (double)length_s;
	/* Power is no part of a share: as if it ran on. */
	if (!scale(&grown.carbon_mg, 1 + longer) ||
	    (share > 0 &&
		!scale(&grown.money_micros,
		    1 + value_of(lt_suspended_share(&run, market, ledger)) / share * longer)))
		return false;
	*amount = grown;
	return true;
}
