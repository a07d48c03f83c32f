/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periods in the site's zone, so that a month with a clock change has its true
 * length; days and offset steps are found by asking localtime_r(3), for a
 * midnight may happen twice or never.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calendar.h"
#include "units.h"

enum {
	ZONE_LOOK_S = 400 * 86400, /* past and future of `now`: two years of
				    * clock changes are 4 steps, of 16 */
	ZONE_STEP_S = 86400,
	DAY_LOOK_S = 36 * 3600, /* offsets are -12 h to +14 h */
};

int
lt_calendar_zone(const char *zone, struct lt_error *err)
{
	if (zone[0] != '\0') {
		char path[256];
		snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", zone);
		if (strstr(zone, "..") || zone[0] == '/' ||
		    (strcmp(zone, "UTC") != 0 && access(path, R_OK) != 0))
			return lt_fail(err, LT_EINPUT,
			    "timezone: got \"%s\", want a name below "
			    "/usr/share/zoneinfo such as Europe/London",
			    zone);
		setenv("TZ", zone, 1);
	}
	tzset();
	return LT_OK;
}

/* Is it this local day (year, month, day of struct tm), or one after it? */
static bool
is_from(int64_t utc_s, const struct tm *day)
{
	struct tm tm;
	const time_t at = (time_t)utc_s;
	localtime_r(&at, &tm);
	if (tm.tm_year != day->tm_year)
		return tm.tm_year > day->tm_year;
	if (tm.tm_mon != day->tm_mon)
		return tm.tm_mon > day->tm_mon;
	return tm.tm_mday >= day->tm_mday;
}

/*
 * The first second of a local day; months and days may pass their bounds.
 * Where midnight happens twice that is the first of them, where it is skipped
 * the second of the clock change.
 */
static int64_t
day_start(int year, int month, int day)
{
	struct tm tm = {
	    .tm_year = year - 1900, .tm_mon = month, .tm_mday = day};
	const int64_t about = (int64_t)timegm(&tm); /* brings tm in bounds */
	int64_t low = about - DAY_LOOK_S, high = about + DAY_LOOK_S;
	const time_t near = (time_t)about;
	struct tm local;
	localtime_r(&near, &local);
	const int64_t plain = about - local.tm_gmtoff;
	if (is_from(plain, &tm) && !is_from(plain - 1, &tm))
		return plain; /* no clock change between: nearly always */
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;
		if (is_from(middle, &tm))
			high = middle;
		else
			low = middle;
	}
	return high;
}

static int
months_of(enum lt_period_kind kind)
{
	return kind == LT_YEAR ? 12 : kind == LT_QUARTER ? 3 : 1;
}

static void
fill(struct lt_period *period, enum lt_period_kind kind, int year, int month)
{
	static const char *const months[] = {"January", "February", "March",
	    "April", "May", "June", "July", "August", "September", "October",
	    "November", "December"};
	const int length = months_of(kind);
	year += month / 12 - (month % 12 < 0);
	month = (month % 12 + 12) % 12;
	period->start_utc_s = day_start(year, month, 1);
	period->end_utc_s = day_start(year, month + length, 1);
	if (kind == LT_YEAR)
		snprintf(period->label, sizeof(period->label), "%d", year);
	else if (kind == LT_QUARTER)
		snprintf(period->label, sizeof(period->label), "%d Q%d", year,
		    month / 3 + 1);
	else
		snprintf(
		    period->label, sizeof(period->label), "%s", months[month]);
}

void
lt_calendar_period(struct lt_period *period, enum lt_period_kind kind,
    int64_t utc_s, int ahead)
{
	struct tm tm;
	const time_t at = (time_t)utc_s;
	localtime_r(&at, &tm);
	const int length = months_of(kind);
	const int month = tm.tm_mon / length * length;
	/* Clocks that go back over midnight show the old month once more,
	 * when the new one has begun. */
	int by = 0;
	if (utc_s < day_start(tm.tm_year + 1900, month, 1))
		by = -1;
	else if (utc_s >= day_start(tm.tm_year + 1900, month + length, 1))
		by = 1;
	*period = (struct lt_period){0};
	fill(period, kind, tm.tm_year + 1900, month + (by + ahead) * length);
}

int
lt_calendar_parse(
    struct lt_period *period, const char *text, struct lt_error *err)
{
	int year = 0, part = 0, used = 0;
	*period = (struct lt_period){0};
	const size_t length = strlen(text);
	if (length == 4 && sscanf(text, "%4d%n", &year, &used) == 1 &&
	    used == 4 && isdigit((unsigned char)text[0])) {
		fill(period, LT_YEAR, year, 0);
		return LT_OK;
	}
	if (length == 7 &&
	    sscanf(text, "%4d-Q%1d%n", &year, &part, &used) == 2 && used == 7 &&
	    part >= 1 && part <= 4) {
		fill(period, LT_QUARTER, year, (part - 1) * 3);
		return LT_OK;
	}
	if (length == 7 && isdigit((unsigned char)text[5]) &&
	    sscanf(text, "%4d-%2d%n", &year, &part, &used) == 2 && used == 7 &&
	    part >= 1 && part <= 12) {
		fill(period, LT_MONTH, year, part - 1);
		return LT_OK;
	}
	return lt_fail(err, LT_EINPUT,
	    "period: got \"%.40s\", want a month "
	    "(2026-11), a quarter (2026-Q4) or a year (2026)",
	    text);
}

int
lt_calendar_time(int64_t *utc_s, const char *text, struct lt_error *err)
{
	struct tm tm = {0};
	const char *const end = strptime(text, "%Y-%m-%d", &tm);
	const int day = tm.tm_mday;
	if (lt_utc_parse(text, utc_s, NULL) == LT_OK)
		return LT_OK;
	/* timegm(3) turns 31 April into 1 May: such a day is not */
	if (strlen(text) == 10 && end && *end == '\0') {
		(void)timegm(&tm);
		*utc_s = day_start(tm.tm_year + 1900, tm.tm_mon, day);
		if (tm.tm_mday == day)
			return LT_OK;
	}
	return lt_fail(err, LT_EINPUT,
	    "got \"%.40s\", want a day such as 2026-11-21 or a time such as "
	    "2026-11-21T02:00Z",
	    text);
}

static void
offset_at(int64_t utc_s, int32_t *offset_s, char name[8])
{
	struct tm tm;
	const time_t at = (time_t)utc_s;
	localtime_r(&at, &tm);
	*offset_s = (int32_t)tm.tm_gmtoff;
	snprintf(name, 8, "%.7s", tm.tm_zone ? tm.tm_zone : "UTC");
}

/* The first second in (low, high] whose offset differs from that at low. */
static int64_t
find_change(int64_t low, int64_t high)
{
	int32_t first, middle_offset;
	char name[8];
	offset_at(low, &first, name);
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;
		offset_at(middle, &middle_offset, name);
		if (middle_offset == first)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void
lt_calendar_steps(struct lt_zone *zone, int64_t from_utc_s)
{
	int64_t at = from_utc_s - ZONE_LOOK_S;
	int32_t offset, next;
	char name[8];
	*zone = (struct lt_zone){0};
	offset_at(at, &offset, name);
	zone->steps[0].start_utc_s = INT64_MIN;
	zone->steps[0].offset_s = offset;
	memcpy(zone->steps[0].abbreviation, name, sizeof(name));
	zone->count = 1;
	for (; at < from_utc_s + ZONE_LOOK_S && zone->count < LT_ZONE_STEPS_MAX;
	     at += ZONE_STEP_S) {
		offset_at(at + ZONE_STEP_S, &next, name);
		if (next == offset)
			continue;
		const int i = zone->count++;
		zone->steps[i].start_utc_s = find_change(at, at + ZONE_STEP_S);
		zone->steps[i].offset_s = next;
		memcpy(zone->steps[i].abbreviation, name, sizeof(name));
		offset = next;
	}
}
