/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the cause of a charge above its hold: for each cause, do the facts prove it, and what would
 * the charge have been without it? Pure; over_reason.h has the facts. If no cause is proved the
 * word is the one for an unknown cause.
 */
#include <string.h>

#include "over_reason.h"

/* A carry of rounding and the 1 that holds have for it. */
static const double ROUNDING = 2;

/* Returns the charge for its running time, had that been `seconds`. */
static double
charged_for(const struct lt_over *o, int64_t seconds)
{
	const double ran = o->charged - o->suspended;

	return o->active_s > 0 ? ran * (double)seconds / (double)o->active_s + o->suspended
			       : o->charged;
}

static double
rate_of(const struct lt_over *o)
{
	const double hours = (double)o->active_s / 3600;

	return o->node_shares > 0 && hours > 0
		   ? (o->charged - o->suspended) / (o->node_shares * hours)
		   : 0;
}

/* Returns the node shares that the hold could pay for at its own price and limit. */
static double
covered_shares(const struct lt_over *o)
{
	const double hours = (double)o->held_limit_s / 3600;

	return o->held_rate > 0 && hours > 0 ? (o->held + ROUNDING) / (o->held_rate * hours) : 0;
}

static bool
requeue(const struct lt_over *o, double *without)
{
	*without = 0;
	return o->share_missing;
}

static bool
size(const struct lt_over *o, double *without)
{
	const double covered = covered_shares(o);

	if (covered <= 0 || o->node_shares <= covered)
		return false;
	*without = o->charged * covered / o->node_shares;
	return true;
}

static bool
resize(const struct lt_over *o, double *without)
{
	return o->is_resized && size(o, without);
}

/* True if the limit was raised after the hold was made, and the run used that. */
static bool
admin(const struct lt_over *o, double *without)
{
	if (o->held_limit_s <= 0 || o->limit_s <= 0 || o->limit_s == INT64_MAX ||
	    o->limit_s + o->over_time_limit_s <= o->held_limit_s || o->active_s <= o->held_limit_s)
		return false;
	*without = charged_for(o, o->held_limit_s);
	return true;
}

static bool
over_time(const struct lt_over *o, double *without)
{
	if (o->limit_s <= 0 || o->active_s <= o->limit_s)
		return false;
	*without = charged_for(o, o->limit_s);
	return true;
}

static bool
suspend(const struct lt_over *o, double *without)
{
	*without = o->charged - o->suspended;
	return o->suspended > 0;
}

static bool
price(const struct lt_over *o, double *without)
{
	const double rate = rate_of(o);

	/* Rates are whole seconds' sums of doubles. */
	if (o->held_rate <= 0 || rate <= o->held_rate * (1 + 1e-9))
		return false;
	*without = o->charged * o->held_rate / rate;
	return true;
}

static const struct {
	const char *word;
	bool (*proves)(const struct lt_over *over, double *without);
	bool defect;
} causes[] = {
    {"requeue", requeue, false},
    {"resize", resize, false},
    {"size", size, true},
    {"admin", admin, false},
    {"OverTimeLimit", over_time, false},
    {"suspend", suspend, false},
    {"price", price, false},
    {"unknown", NULL, true},
};
enum { CAUSES = sizeof(causes) / sizeof(causes[0]) };

const char *
lt_over_reason(const struct lt_over *over)
{
	const char *first = NULL;

	if (!over->share_missing && over->charged <= over->held)
		return "";
	for (int i = 0; i < CAUSES && causes[i].proves != NULL; i++) {
		double without = 0;

		if (!causes[i].proves(over, &without))
			continue;
		if (without <= over->held + ROUNDING)
			return causes[i].word;
		if (first == NULL)
			first = causes[i].word;
	}
	return first != NULL ? first : causes[CAUSES - 1].word;
}

bool
lt_over_is_defect(const char *reason)
{
	for (int i = 0; i < CAUSES; i++)
		if (strcmp(causes[i].word, reason) == 0)
			return causes[i].defect;
	return false;
}
