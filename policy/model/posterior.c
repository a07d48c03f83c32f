/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A gamma prior of the published rate, and Poisson interruptions.
 */
#include <string.h>

#include "posterior.h"

/* A published rate counts as much as so many interruptions seen here: enough
 * that one bad day does not double it, little enough to be outweighed within
 * weeks, for it may be wrong by a factor of 30. */
static const double prior_interruptions = 2;

bool
lt_is_interruption(const char *state_text)
{
	return strncmp(state_text, "NODE_FAIL", 9) == 0 ||
	       strncmp(state_text, "PREEMPTED", 9) == 0;
}

/* The mean of the posterior: shape a, rate a / published before. */
double
lt_posterior(
    double published, const struct lt_own_history *own, double *own_share)
{
	const double prior_hours =
	    published > 0 ? prior_interruptions / published : 0;
	const double shape = published > 0 ? prior_interruptions : 0;
	const double hours = prior_hours + own->node_hours;

	*own_share = hours > 0 ? own->node_hours / hours : 0;
	return hours > 0 ? (shape + own->interruptions) / hours : published;
}
