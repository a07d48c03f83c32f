/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local time for messages, from the offset steps in the market snapshot: the plugins may neither
 * read zone files nor touch TZ. Reads a zone and a time, writes text into the caller's buffer.
 * Nothing fails.
 */
#include <assert.h>
#include <stdio.h>

#include "date.h"
#include "units.h"
#include "zone.h"

static const char *const day_names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const month_names[] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct local {
	int64_t day; /* days since 1970-01-01, local */
	struct lt_date date;
	int weekday, hour, minute;
	const char *abbreviation;
};

static struct local
local_of(const struct lt_zone *zone, int64_t utc_s)
{
	struct local local = {.abbreviation = "UTC"};
	int64_t local_s = utc_s;
	int64_t of_day;

	for (int i = 0; i < zone->count && i < LT_ZONE_STEPS_MAX; i++) {
		if (i > 0 && zone->steps[i].start_utc_s > utc_s)
			break;
		local_s = utc_s + zone->steps[i].offset_s;
		local.abbreviation = zone->steps[i].abbreviation;
	}
	local.day = lt_day_of_second(local_s);
	local.weekday = (int)(((local.day + 4) % 7 + 7) % 7);
	of_day = local_s - local.day * LT_DAY_S;
	local.hour = (int)(of_day / 3600);
	local.minute = (int)(of_day % 3600 / 60);
	local.date = lt_date_of_day(local.day);
	return local;
}

const char *
lt_zone_text(char *out, size_t size, const struct lt_zone *zone, int64_t utc_s, int64_t now_utc_s)
{
	assert(zone->count >= 0 && zone->count <= LT_ZONE_STEPS_MAX);

	const struct local local = local_of(zone, utc_s);
	const int64_t away = local.day - local_of(zone, now_utc_s).day;

	/* On the seventh day the weekday's name would mean today. */
	if (away > -7 && away < 7)
		snprintf(out, size, "%s %02d:%02d %.7s", day_names[local.weekday], local.hour,
		    local.minute, local.abbreviation);
	else
		snprintf(out, size, "%s %d %s %02d:%02d %.7s", day_names[local.weekday],
		    local.date.day, month_names[local.date.month - 1], local.hour, local.minute,
		    local.abbreviation);
	return out;
}

const char *
lt_zone_text_short(char *out, size_t size, const struct lt_zone *zone, int64_t utc_s,
    int64_t other_utc_s, int64_t now_utc_s)
{
	assert(zone->count >= 0 && zone->count <= LT_ZONE_STEPS_MAX);

	const struct local local = local_of(zone, utc_s);

	if (local.day != local_of(zone, other_utc_s).day)
		return lt_zone_text(out, size, zone, utc_s, now_utc_s);
	snprintf(out, size, "%02d:%02d", local.hour, local.minute);
	return out;
}
