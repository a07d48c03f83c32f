/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Policies of "Can't Be Late" that need no memory: the published baselines, and
 * the slack rule.
 */
#include <stddef.h>

#include "late.h"

static int64_t
tick_of(const struct lt_late_now *now)
{
	return now->of->regions[0].tick_s;
}

/* Is there so much time beside a tick? */
static bool
has_time(const struct lt_late_now *now, int64_t need_s)
{
	return need_s <= now->left_s - tick_of(now);
}

bool
lt_late_is_safe(const struct lt_late_now *now)
{
	const bool works = now->place == LT_LATE_SPOT && now->there;
	const int64_t restart_s = now->of->job.restart_s;

	return has_time(
	    now, now->work_s + restart_s + (works ? now->unpaid_s : restart_s));
}

bool
lt_late_has_slack(const struct lt_late_now *now)
{
	const int64_t beside_s = now->of->job.restart_s + 3 * tick_of(now);

	return 10 * (now->left_s - beside_s) > 11 * now->work_s;
}

static struct lt_late_choice
at(const struct lt_late_now *now, enum lt_late_place place)
{
	return (struct lt_late_choice){place, now->region};
}

static struct lt_late_choice
all_on_demand(void *context, const struct lt_late_now *now)
{
	(void)context;
	return at(now, LT_LATE_ON_DEMAND);
}

/* The net below all of the published policies: true where it decides. */
static bool
net(struct lt_late_choice *choice, const struct lt_late_now *now)
{
	const int64_t restart_s = now->of->job.restart_s;

	*choice = at(now, LT_LATE_ON_DEMAND);
	if (!has_time(now, now->work_s + restart_s))
		return true;
	if (has_time(now, now->work_s + 2 * restart_s))
		return false;
	if (now->place == LT_LATE_SPOT && now->there)
		choice->place = LT_LATE_SPOT;
	return true;
}

static struct lt_late_choice
greedy(void *context, const struct lt_late_now *now)
{
	struct lt_late_choice choice;

	(void)context;
	return net(&choice, now)
		   ? choice
		   : at(now, now->there ? LT_LATE_SPOT : LT_LATE_IDLE);
}

static struct lt_late_choice
spot_else(void *context, const struct lt_late_now *now)
{
	(void)context;
	return at(now, now->there ? LT_LATE_SPOT : LT_LATE_ON_DEMAND);
}

/* What is done beyond what is due at that time, times the deadline. */
static int64_t
ahead_of(const struct lt_late_now *now, int64_t at_s)
{
	const struct lt_late_job *const job = &now->of->job;

	return (job->work_s - now->work_s) * job->deadline_s -
	       at_s * job->work_s;
}

static struct lt_late_choice
uniform(void *context, const struct lt_late_now *now)
{
	const int64_t now_s = now->tick * tick_of(now);
	struct lt_late_choice choice;

	(void)context;
	if (net(&choice, now))
		return choice;
	if (now->there)
		return at(now, LT_LATE_SPOT);
	/* Who is on demand stays until it is ahead by two restarts. */
	if (now->place == LT_LATE_ON_DEMAND
		? ahead_of(now, now_s + 2 * now->of->job.restart_s) <= 0
		: ahead_of(now, now_s) < 0)
		return at(now, LT_LATE_ON_DEMAND);
	return at(now, LT_LATE_IDLE);
}

static struct lt_late_choice
slack(void *context, const struct lt_late_now *now)
{
	(void)context;
	if (now->there && lt_late_is_safe(now))
		return at(now, LT_LATE_SPOT);
	if (now->place != LT_LATE_ON_DEMAND && !now->there &&
	    lt_late_has_slack(now))
		return at(now, LT_LATE_IDLE);
	return at(now, LT_LATE_ON_DEMAND);
}

/* As slack, but nobody comes back from on demand. */
static struct lt_late_choice
one_way(void *context, const struct lt_late_now *now)
{
	return now->place == LT_LATE_ON_DEMAND ? at(now, LT_LATE_ON_DEMAND)
					       : slack(context, now);
}

const struct lt_late_policy lt_late_policies[LT_LATE_POLICY_COUNT] = {
    [LT_LATE_ALL_ON_DEMAND] = {"on-demand", "on demand", all_on_demand, NULL},
    [LT_LATE_GREEDY] = {"greedy", "spot, as long as the deadline allows",
	greedy, NULL},
    [LT_LATE_SPOT_ELSE] = {"spot-else", "spot, else on demand", spot_else,
	NULL},
    [LT_LATE_UNIFORM] = {"uniform-progress",
	"on demand where less is done than is due (NSDI '24)", uniform, NULL},
    [LT_LATE_SLACK] = {"slack",
	"waits while there is a tenth more time than work", slack, NULL},
    [LT_LATE_ONE_WAY] = {"slack-one-way", "the same, and never back to spot",
	one_way, NULL},
};
