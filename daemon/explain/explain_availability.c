/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers in brackets are the equations of docs/model.md.
 */
#include <math.h>
#include <stdio.h>

#include "explain_availability.h"
#include "posterior.h"
#include "units.h"
#include "equations.h"

const char *
lt_explain_availability(
    char *out, size_t size, const struct lt_partition *partition)
{
	const struct lt_availability *const seen = &partition->availability;
	static const struct lt_wait_ask ask = {
	    8 * LT_HOUR_S, LT_FAILED_RESTART_S, 0};
	const double mean_s = lt_wait_mean_s(seen, &ask);
	const double most_s = lt_wait_passed_s(seen, &ask, 0.05);
	char age[64], mean[64], most[64];
	int used;

	out[0] = '\0';
	if (!(partition->flags & LT_PARTITION_PREEMPTIBLE))
		return out;
	lt_duration_text(age, sizeof(age), seen->seen_s);
	if (seen->seen_s < LT_WAIT_SEEN_S) {
		snprintf(out, size,
		    "    nodes there: looked at for %s, %d h are needed: taken as always there\n",
		    age, LT_WAIT_SEEN_S / LT_HOUR_S);
		return out;
	}
	used = snprintf(out, size,
	    "    nodes there %.1f %% of the %s that lowtided looked" LT_EQUATION(
		" (15c)") ", all gone %.2g times an hour: 8 h of work wait ",
	    seen->there_ppm / 1e4, age, seen->taken_ppm / 1e6);
	if (used < 0 || (size_t)used >= size)
		return out;
	if (isinf(mean_s) || isinf(most_s))
		snprintf(out + used, size - (size_t)used,
		    "longer than was ever seen\n");
	else
		snprintf(out + used, size - (size_t)used,
		    "%s on average, %s at most with 95 %%\n",
		    lt_duration_text(mean, sizeof(mean), (int64_t)mean_s),
		    lt_duration_text(most, sizeof(most), (int64_t)most_s));
	return out;
}
