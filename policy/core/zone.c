/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Local time for messages from the offset steps in the market snapshot: the
 * plugins may neither read zone files nor touch TZ.
 */
#include <stdio.h>

#include "units.h"
#include "zone.h"

static const char *const day_names[] = {
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char *const month_names[] = {"Jan", "Feb", "Mar", "Apr", "May",
    "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct local {
	int64_t day; /* days since 1970-01-01, local */
	int weekday, month, month_day, hour, minute;
	const char *abbreviation;
};

/* Gregorian date of a day number, by eras of 400 years that start in March
 * (so that the leap day is a year's last). */
static void
date_of_day(int64_t day, int *month, int *month_day)
{
	const int64_t shifted = day + 719468;
	const int64_t era =
	    (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	const int64_t of_era = shifted - era * 146097;
	const int64_t year =
	    (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	const int64_t march_month = (5 * of_year + 2) / 153;

	*month_day = (int)(of_year - (153 * march_month + 2) / 5 + 1);
	*month = (int)((march_month + 2) % 12);
}

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
	of_day = local_s % LT_DAY_S;
	if (of_day < 0)
		of_day += LT_DAY_S;
	local.day = (local_s - of_day) / LT_DAY_S;
	local.weekday = (int)(((local.day + 4) % 7 + 7) % 7);
	local.hour = (int)(of_day / 3600);
	local.minute = (int)(of_day % 3600 / 60);
	date_of_day(local.day, &local.month, &local.month_day);
	return local;
}

const char *
lt_zone_text(char *out, size_t size, const struct lt_zone *zone, int64_t utc_s,
    int64_t now_utc_s)
{
	const struct local local = local_of(zone, utc_s);
	const int64_t away = local.day - local_of(zone, now_utc_s).day;

	/* On the seventh day the weekday's name would mean today. */
	if (away > -7 && away < 7)
		snprintf(out, size, "%s %02d:%02d %.7s",
		    day_names[local.weekday], local.hour, local.minute,
		    local.abbreviation);
	else
		snprintf(out, size, "%s %d %s %02d:%02d %.7s",
		    day_names[local.weekday], local.month_day,
		    month_names[local.month], local.hour, local.minute,
		    local.abbreviation);
	return out;
}

const char *
lt_zone_text_short(char *out, size_t size, const struct lt_zone *zone,
    int64_t utc_s, int64_t other_utc_s, int64_t now_utc_s)
{
	const struct local local = local_of(zone, utc_s);

	if (local.day != local_of(zone, other_utc_s).day)
		return lt_zone_text(out, size, zone, utc_s, now_utc_s);
	snprintf(out, size, "%02d:%02d", local.hour, local.minute);
	return out;
}
