/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only place of lowtided that touches TZ. What a zone is, is found by asking localtime_r(3)
 * once a day of its years.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "date.h"
#include "time_zone.h"
#include "units.h"

enum { FIRST_YEAR = 1970, LAST_YEAR = 2200 };

int
lt_time_zone_set(const char *zone, struct lt_error *err)
{
	if (zone[0] != '\0') {
		char path[256];

		snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", zone);
		if (strstr(zone, "..") != NULL || zone[0] == '/' ||
		    (strcmp(zone, "UTC") != 0 && access(path, R_OK) != 0))
			return lt_fail(err, LT_EINPUT,
			    "timezone: got \"%s\", want a name below /usr/share/zoneinfo such as Europe/London",
			    zone);
		setenv("TZ", zone, 1);
	}
	tzset();
	return LT_OK;
}

static struct lt_offset
offset_at(int64_t utc_s)
{
	struct lt_offset offset = {.start_utc_s = utc_s};
	const time_t at = (time_t)utc_s;
	struct tm tm;

	localtime_r(&at, &tm);
	offset.offset_s = (int32_t)tm.tm_gmtoff;
	snprintf(offset.abbreviation, sizeof(offset.abbreviation), "%.7s",
	    tm.tm_zone != NULL ? tm.tm_zone : "UTC");
	return offset;
}

static bool
is_same(const struct lt_offset *a, const struct lt_offset *b)
{
	return a->offset_s == b->offset_s && strcmp(a->abbreviation, b->abbreviation) == 0;
}

/* Finds the change that begins in (low, high], at its first second. */
static struct lt_offset
find_change(int64_t low, int64_t high)
{
	const struct lt_offset first = offset_at(low);

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;
		const struct lt_offset offset = offset_at(middle);

		if (is_same(&offset, &first))
			low = middle;
		else
			high = middle;
	}
	return offset_at(high);
}

void
lt_time_zone_offsets(struct lt_offsets *offsets)
{
	int64_t at = lt_day_of_date(FIRST_YEAR, 1, 1) * LT_DAY_S;
	const int64_t end = lt_day_of_date(LAST_YEAR, 1, 1) * LT_DAY_S;
	struct lt_offset last = offset_at(at);

	offsets->count = 1;
	offsets->steps[0] = last;
	offsets->steps[0].start_utc_s = INT64_MIN;
	for (; at < end && offsets->count < LT_OFFSETS_MAX; at += LT_DAY_S) {
		const struct lt_offset next = offset_at(at + LT_DAY_S);

		if (is_same(&next, &last))
			continue;
		offsets->steps[offsets->count++] = find_change(at, at + LT_DAY_S);
		last = next;
	}
}
