/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points as means of whole hours: what people are shown of the next day.
 */
#ifndef LT_HOURS_H
#define LT_HOURS_H

#include "points.h"

enum { LT_HOURS_SHOWN = 24 };

struct lt_hour {
	bool known;
	double value;		 /* mean over what is known of it */
	enum lt_quality quality; /* the worst of its parts */
};

/*
 * The count hours from start_utc_s on. points: sorted, not overlapping
 * (lt_points_sort). An hour of which less than half is covered stays unknown:
 * missing is not zero. Pure.
 */
void lt_points_hours(struct lt_hour *hours, int count, int64_t start_utc_s,
    const struct lt_point *points, size_t point_count);

#endif
