/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Means of hours over points, for lowtided's answer and `signals test`.
 */
#include "hours.h"

enum { HOUR_S = 3600 };

static struct lt_hour
mean(int64_t from_utc_s, const struct lt_point *points, size_t point_count)
{
	const int64_t to_utc_s = from_utc_s + HOUR_S;
	struct lt_hour hour = {.quality = LT_QUALITY_NONE};
	int64_t covered_s = 0;
	double sum = 0;

	for (size_t i = 0; i < point_count && points[i].start_utc_s < to_utc_s;
	     i++) {
		const struct lt_point *const point = &points[i];
		const int64_t start = point->start_utc_s > from_utc_s
					  ? point->start_utc_s
					  : from_utc_s;
		const int64_t end =
		    point->end_utc_s < to_utc_s ? point->end_utc_s : to_utc_s;

		if (end <= start)
			continue;
		covered_s += end - start;
		sum += point->value * (double)(end - start);
		if (point->quality > hour.quality)
			hour.quality = point->quality;
	}
	hour.known = covered_s >= HOUR_S / 2;
	if (hour.known)
		hour.value = sum / (double)covered_s;
	else
		hour.quality = LT_QUALITY_NONE;
	return hour;
}

void
lt_points_hours(struct lt_hour *hours, int count, int64_t start_utc_s,
    const struct lt_point *points, size_t point_count)
{
	for (int i = 0; i < count; i++)
		hours[i] = mean(start_utc_s + i * HOUR_S, points, point_count);
}
