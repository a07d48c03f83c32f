/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Periods in the site's zone, so that a month with a clock change has its true length; where days
 * begin is found by looking at the table of offsets on both sides, for a midnight may happen twice
 * or never.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "calendar.h"
#include "date.h"
#include "units.h"
#include "min_max.h"

enum {
	ZONE_LOOK_S = 400 * 86400, /* past and future of `now`: two years of
				    * clock changes are 4 steps, of 16 */
	DAY_LOOK_S = 36 * 3600,	   /* offsets are -12 h to +14 h */
};

/* The step that holds then; count >= 1. */
static int
step_at(const struct lt_offsets *offsets, int64_t utc_s)
{
	int i = 0;

	while (i + 1 < offsets->count && offsets->steps[i + 1].start_utc_s <= utc_s)
		i++;
	return i;
}

static int64_t
local_of(const struct lt_offsets *offsets, int64_t utc_s)
{
	return offsets->count == 0 ? utc_s
				   : utc_s + offsets->steps[step_at(offsets, utc_s)].offset_s;
}

/* True if it is this local day, or one after it. */
static bool
is_from(const struct lt_offsets *offsets, int64_t utc_s, int64_t day)
{
	return lt_day_of_second(local_of(offsets, utc_s)) >= day;
}

/*
 * The first second of a local day. Where midnight happens twice that is the first of them, where it
 * is skipped the second of the clock change.
 */
static int64_t
day_start(const struct lt_offsets *offsets, int64_t day)
{
	const int64_t about = day * LT_DAY_S;
	int64_t low = about - DAY_LOOK_S, high = about + DAY_LOOK_S;
	const int64_t plain = 2 * about - local_of(offsets, about);

	if (is_from(offsets, plain, day) && !is_from(offsets, plain - 1, day))
		return plain; /* no clock change between: nearly always */
	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (is_from(offsets, middle, day))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Returns the first day of a month from 0, which may pass its bounds. */
static int64_t
month_start(const struct lt_offsets *offsets, int year, int month)
{
	year += month / 12 - (month % 12 < 0);
	month = (month % 12 + 12) % 12;
	return day_start(offsets, lt_day_of_date(year, month + 1, 1));
}

static int
months_of(enum lt_period_kind kind)
{
	return kind == LT_YEAR ? 12 : kind == LT_QUARTER ? 3 : 1;
}

static void
fill_period(struct lt_period *period, const struct lt_offsets *offsets, enum lt_period_kind kind,
    int year, int month)
{
	const int length = months_of(kind);

	year += month / 12 - (month % 12 < 0);
	month = (month % 12 + 12) % 12;
	period->start_utc_s = month_start(offsets, year, month);
	period->end_utc_s = month_start(offsets, year, month + length);
	if (kind == LT_YEAR)
		snprintf(period->label, sizeof(period->label), "%d", year);
	else if (kind == LT_QUARTER)
		snprintf(period->label, sizeof(period->label), "%d-Q%d", year, month / 3 + 1);
	else
		snprintf(period->label, sizeof(period->label), "%d-%02d", year, month + 1);
}

void
lt_calendar_period(struct lt_period *period, const struct lt_offsets *offsets,
    enum lt_period_kind kind, int64_t utc_s, int ahead)
{
	assert(kind != LT_FIXED && ahead >= 0);
	assert(offsets->count >= 0 && offsets->count <= LT_OFFSETS_MAX);

	const struct lt_date date = lt_date_of_day(lt_day_of_second(local_of(offsets, utc_s)));
	const int year = (int)date.year, length = months_of(kind);
	const int month = (date.month - 1) / length * length;
	/* Clocks that go back over midnight show the old month once more,
	 * when the new one has begun. */
	int by = 0;
	if (utc_s < month_start(offsets, year, month))
		by = -1;
	else if (utc_s >= month_start(offsets, year, month + length))
		by = 1;
	*period = (struct lt_period){0};
	fill_period(period, offsets, kind, year, month + (by + ahead) * length);
}

int
lt_calendar_parse(struct lt_period *period, const struct lt_offsets *offsets, const char *text,
    struct lt_error *err)
{
	assert(offsets->count >= 0 && offsets->count <= LT_OFFSETS_MAX);

	int year = 0, part = 0, used = 0;
	*period = (struct lt_period){0};
	const size_t length = strlen(text);
	if (length == 4 && sscanf(text, "%4d%n", &year, &used) == 1 && used == 4 &&
	    isdigit((unsigned char)text[0])) {
		fill_period(period, offsets, LT_YEAR, year, 0);
		return LT_OK;
	}
	if (length == 7 && sscanf(text, "%4d-Q%1d%n", &year, &part, &used) == 2 && used == 7 &&
	    part >= 1 && part <= 4) {
		fill_period(period, offsets, LT_QUARTER, year, (part - 1) * 3);
		return LT_OK;
	}
	if (length == 7 && isdigit((unsigned char)text[5]) &&
	    sscanf(text, "%4d-%2d%n", &year, &part, &used) == 2 && used == 7 && part >= 1 &&
	    part <= 12) {
		fill_period(period, offsets, LT_MONTH, year, part - 1);
		return LT_OK;
	}
	return lt_fail(err, LT_EINPUT,
	    "period: got \"%.40s\", want a month (2026-11), a quarter (2026-Q4) or a year (2026)",
	    text);
}

int64_t
lt_calendar_day(char text[LT_DAY_TEXT_SIZE], int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_offsets *offsets, int64_t utc_s)
{
	assert(offsets->count >= 0 && offsets->count <= LT_OFFSETS_MAX);

	int64_t day = lt_day_of_second(local_of(offsets, utc_s));
	/* Clocks that go back over midnight show the old day once more. */
	if (utc_s >= day_start(offsets, day + 1))
		day++;
	const struct lt_date date = lt_date_of_day(day);
	snprintf(text, LT_DAY_TEXT_SIZE, "%04d-%02d-%02d", (int)date.year % 10000, date.month % 100,
	    date.day % 100);
	*start_utc_s = day_start(offsets, day);
	*end_utc_s = day_start(offsets, day + 1);
	return day;
}

int64_t
lt_calendar_hour(const struct lt_offsets *offsets, int64_t utc_s)
{
	const int64_t hour_utc_s = utc_s - utc_s % LT_HOUR_S;
	char text[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	lt_calendar_day(text, &start, &end, offsets, utc_s);
	return lt_max_i64(start, hour_utc_s);
}

int64_t
lt_calendar_next_hour(const struct lt_offsets *offsets, int64_t utc_s)
{
	int64_t hour_utc_s = utc_s - utc_s % LT_HOUR_S;
	char text[LT_DAY_TEXT_SIZE];
	int64_t start, end;

	if (hour_utc_s < utc_s)
		hour_utc_s += LT_HOUR_S;
	lt_calendar_day(text, &start, &end, offsets, utc_s);
	if (start == utc_s)
		return utc_s;
	return lt_min_i64(end, hour_utc_s);
}

int
lt_calendar_time(
    int64_t *utc_s, const struct lt_offsets *offsets, const char *text, struct lt_error *err)
{
	assert(offsets->count >= 0 && offsets->count <= LT_OFFSETS_MAX);

	char midnight[32];
	if (lt_utc_parse(text, utc_s, NULL) == LT_OK)
		return LT_OK;
	snprintf(midnight, sizeof(midnight), "%.10sT00:00Z", text);
	if (strlen(text) == 10 && lt_utc_parse(midnight, utc_s, NULL) == LT_OK) {
		*utc_s = day_start(offsets, lt_day_of_second(*utc_s));
		return LT_OK;
	}
	return lt_fail(err, LT_EINPUT,
	    "got \"%.40s\", want a day such as 2026-11-21 or a time such as 2026-11-21T02:00Z",
	    text);
}

int64_t
lt_calendar_month_parts(const struct lt_offsets *offsets, int64_t start_utc_s, int64_t end_utc_s)
{
	enum { DAYS_MAX = 36525 };
	int64_t parts = 0;

	if (end_utc_s <= start_utc_s)
		return 0;
	int64_t day = lt_day_of_second(local_of(offsets, start_utc_s));
	int64_t end = lt_day_of_second(local_of(offsets, end_utc_s - 1)) + 1;
	if (end - day > DAYS_MAX)
		end = day + DAYS_MAX;
	while (day < end) {
		const struct lt_date at = lt_date_of_day(day);
		const int64_t next = at.month == 12 ? lt_day_of_date(at.year + 1, 1, 1)
						    : lt_day_of_date(at.year, at.month + 1, 1);
		const int64_t length = next - lt_day_of_date(at.year, at.month, 1);
		const int64_t until = lt_min_i64(next, end);

		parts += (until - day) * (LT_MONTH_PARTS / length);
		day = until;
	}
	return parts;
}

void
lt_calendar_zone(struct lt_zone *zone, const struct lt_offsets *offsets, int64_t now_utc_s)
{
	assert(offsets->count >= 0 && offsets->count <= LT_OFFSETS_MAX);

	static const struct lt_offset utc = {.abbreviation = "UTC"};
	int i = offsets->count > 0 ? step_at(offsets, now_utc_s - ZONE_LOOK_S) : 0;
	const struct lt_offset *step = offsets->count > 0 ? &offsets->steps[i] : &utc;

	*zone = (struct lt_zone){0};
	do {
		const int at = zone->count++;

		zone->steps[at].start_utc_s = at == 0 ? INT64_MIN : step->start_utc_s;
		zone->steps[at].offset_s = step->offset_s;
		memcpy(
		    zone->steps[at].abbreviation, step->abbreviation, sizeof(step->abbreviation));
		step++;
	} while (++i < offsets->count && zone->count < LT_ZONE_STEPS_MAX &&
		 step->start_utc_s <= now_utc_s + ZONE_LOOK_S);
}

/* True if b has all steps that a has from then on. */
static bool
has_steps_of(const struct lt_offsets *b, const struct lt_offsets *a, int64_t from_utc_s)
{
	for (int i = 0; i < a->count; i++) {
		const int64_t at = a->steps[i].start_utc_s;

		if (at >= from_utc_s && local_of(b, at) != local_of(a, at))
			return false;
	}
	return local_of(b, from_utc_s) == local_of(a, from_utc_s);
}

bool
lt_calendar_agree(const struct lt_offsets *a, const struct lt_offsets *b, int64_t from_utc_s)
{
	return has_steps_of(b, a, from_utc_s) && has_steps_of(a, b, from_utc_s);
}

int64_t
lt_calendar_same_part(const struct lt_offsets *offsets, const struct lt_period *period,
    const struct lt_period *before, int64_t utc_s)
{
	const int64_t next_utc_s = lt_calendar_next_hour(offsets, utc_s + 1);
	char text[LT_DAY_TEXT_SIZE];
	int64_t start, end, today, tomorrow;
	const int64_t first = lt_calendar_day(text, &start, &end, offsets, period->start_utc_s);
	const int64_t days = lt_calendar_day(text, &today, &tomorrow, offsets, utc_s) - first;

	int64_t i = 0;

	end = before->start_utc_s;
	for (; i <= days && end < before->end_utc_s; i++)
		(void)lt_calendar_day(text, &start, &end, offsets, end);
	/* A day of a clock change is an hour longer or shorter. */
	if (i > days && next_utc_s < tomorrow && start + next_utc_s - today < end)
		end = start + next_utc_s - today;
	return lt_min_i64(end, before->end_utc_s);
}
