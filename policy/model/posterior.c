/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A published rate that may be wrong by a factor of 30, and Poisson interruptions.
 */
#include <math.h>
#include <string.h>

#include "posterior.h"

/* Variance of the logarithm of a published rate: 95 % are within a factor of 30, that is ln 30 =
 * 1.96 x the root of 3. */
static const double doubt = 3;

bool
lt_is_interruption(const char *state_text)
{
	return strncmp(state_text, "NODE_FAIL", 9) == 0 || strncmp(state_text, "PREEMPTED", 9) == 0;
}

/* x = ln(rate / published) where seen = expected e^x + x / doubt. The right side rises and is
 * convex, so that Newton comes down to it from above. */
static double
likeliest_rate(double expected, double seen)
{
	double x = fmin(doubt * seen, fmax(log(seen / expected), 0));

	for (int i = 0; i < 64; i++) {
		const double slope = expected * exp(x) + 1 / doubt;
		const double next = x - (expected * exp(x) + x / doubt - seen) / slope;

		if (fabs(next - x) <= 1e-12)
			break;
		x = next;
	}
	return x;
}

double
lt_posterior(double published, const struct lt_own_history *own, double *own_share)
{
	const double seen = own->interruptions;
	const double hours = own->node_hours;

	*own_share = 0;
	if (!(hours > 0))
		return published;
	*own_share = 1;
	if (!(published > 0)) /* 0 to what power: own history is all */
		return seen / hours;
	const double rate = published * exp(likeliest_rate(published * hours, seen));

	*own_share = rate * hours / (rate * hours + 1 / doubt);
	return rate;
}
