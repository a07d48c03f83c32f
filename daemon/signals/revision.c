/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what a source gives with what the ledger has of it, for the log.
 */
#include <math.h>

#include "revision.h"

uint32_t
lt_revisions(const struct lt_rate_step *known, uint32_t count,
    const struct lt_points *points, double *most)
{
	uint32_t at = 0, revised = 0;

	*most = 0;
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const point = &points->points[i];

		while (at < count && known[at].start_utc_s < point->start_utc_s)
			at++;
		if (at == count)
			break;
		const double change = fabs(known[at].value - point->value);
		if (known[at].start_utc_s != point->start_utc_s ||
		    known[at].quality != LT_QUALITY_MEASURED ||
		    point->quality != LT_QUALITY_MEASURED || change == 0)
			continue;
		revised++;
		*most = fmax(*most, change);
	}
	return revised;
}
