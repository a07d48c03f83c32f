/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected active time under Poisson interruptions, and the checkpoint
 * interval that makes it least. docs/model.md, eqs. (10) to (14).
 */
#include <assert.h>
#include <math.h>

#include "interruption.h"

static const double active_max_s = 1e12;
static const double hour_s = 3600;
/* However small a checkpoint is: a file is opened, written and synced. */
static const double write_least_s = 1;

/* How long one takes, as far as it is known. */
static double
write_of(const struct lt_checkpoint *checkpoint)
{
	return checkpoint->write_s > 0 ? checkpoint->write_s
				       : LT_CHECKPOINT_WRITE_S;
}

struct lt_checkpoint
lt_checkpoint_there(
    const struct lt_checkpoint *checkpoint, double storage_gib_per_s)
{
	struct lt_checkpoint there = *checkpoint;

	if (!(there.write_s > 0) && there.size_gib > 0 && storage_gib_per_s > 0)
		there.write_s =
		    fmax(write_least_s, there.size_gib / storage_gib_per_s);
	return there;
}

double
lt_checkpoint_every_s(
    const struct lt_checkpoint *checkpoint, double hazard_per_h)
{
	if (!checkpoint->enabled)
		return 0;
	return checkpoint->every_s > 0 ? checkpoint->every_s
				       : lt_checkpoint_interval_s(
					     checkpoint->write_s, hazard_per_h);
}

double
lt_checkpoint_told_s(double every_s)
{
	return every_s > 0 ? fmax(every_s, 1) : LT_CHECKPOINT_CALM_S;
}

double
lt_checkpoint_lost_s(const struct lt_checkpoint *checkpoint,
    double hazard_per_h, double restart_s)
{
	return checkpoint->enabled ? lt_checkpoint_told_s(lt_checkpoint_every_s(
					 checkpoint, hazard_per_h)) +
					 write_of(checkpoint) + restart_s
				   : INFINITY;
}

int64_t
lt_checkpoint_kept_s(const struct lt_checkpoint *checkpoint,
    double hazard_per_h, double restart_s, int64_t ran_s)
{
	const double kept_s = (double)ran_s - lt_checkpoint_lost_s(checkpoint,
						  hazard_per_h, restart_s);

	return kept_s > 0 ? (int64_t)kept_s : 0;
}

bool
lt_checkpoint_fits(const struct lt_checkpoint *checkpoint, double notice_s)
{
	return notice_s > 0 && write_of(checkpoint) <= notice_s;
}

double
lt_checkpoint_interval_s(double write_s, double hazard_per_h)
{
	if (!(hazard_per_h > 0))
		return 0;
	/*
	 * With x = interval / M and d = write / M the optimum solves
	 * (1 - x) e^x = e^-d, that is f(x) = log(1 - x) + x + d = 0. f falls
	 * and is concave, so Newton from any point right of the root comes
	 * down to it; both Young's sqrt(2 d) and 1 - e^-(d + 1) lie right.
	 */
	const double mean_s = hour_s / hazard_per_h;
	const double d =
	    (write_s > 0 ? write_s : LT_CHECKPOINT_WRITE_S) / mean_s;
	double x = fmin(sqrt(2 * d), -expm1(-(d + 1)));

	for (int i = 0; i < 64 && x < 1; i++) {
		const double next = x + (log1p(-x) + x + d) * (1 - x) / x;

		if (!(next < x && next > 0))
			break;
		x = next;
	}
	return mean_s * x;
}

double
lt_hazard_per_hour(double chance, double period_h)
{
	if (!(chance >= 0 && chance < 1 && period_h > 0))
		return NAN;
	return -log1p(-chance) / period_h;
}

struct lt_active
lt_active_time(const struct lt_exposure *exposure)
{
	assert(exposure->work_s >= 0 && exposure->restart_s >= 0);

	const struct lt_checkpoint *checkpoint = &exposure->checkpoint;
	const double hazard_per_s = exposure->hazard_per_h / hour_s;
	const double write_s = write_of(checkpoint);
	const double work_s = exposure->work_s;
	struct lt_active active = {.active_s = work_s};
	double segments = 1, last_s = work_s;

	active.interval_s =
	    lt_checkpoint_every_s(checkpoint, exposure->hazard_per_h);
	if (active.interval_s > 0) {
		segments = ceil(work_s / active.interval_s);
		last_s = work_s - (segments - 1) * active.interval_s;
	}
	const double full_s = active.interval_s + write_s;
	double calm_s = work_s + (segments - 1) * write_s;

	if (!(hazard_per_s > 0)) {
		active.active_s = calm_s;
		return active;
	}
	const double mean_s = 1 / hazard_per_s;
	const double again = exp(exposure->restart_s / mean_s);

	active.restart_chance = -expm1(-work_s / mean_s);
	if (checkpoint->enabled &&
	    lt_checkpoint_fits(checkpoint, exposure->notice_s)) {
		/* Written within the notice: only restarts are lost. */
		active.interval_s = checkpoint->every_s;
		active.active_s = work_s * again;
		calm_s = work_s;
	} else {
		active.active_s =
		    mean_s * again *
		    ((segments > 1 ? (segments - 1) * expm1(full_s / mean_s)
				   : 0) +
			expm1(last_s / mean_s));
	}
	if (!(active.active_s <= active_max_s))
		active.active_s = INFINITY;
	active.lost_s = active.active_s - calm_s;
	active.expected_interruptions = active.active_s / mean_s;
	return active;
}
