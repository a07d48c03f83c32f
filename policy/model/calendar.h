/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budget periods and days in a time zone that is a table, which a program with zone files makes
 * (lowtided in time_zone.c). Pure.
 */
#ifndef LT_CALENDAR_H
#define LT_CALENDAR_H

#include "budget.h"
#include "zone.h"

enum { LT_OFFSETS_MAX = 640 }; /* 2 a year, 4 in some; more: cut */

struct lt_offsets {
	int count; /* 0 = UTC */
	struct lt_offset {
		int64_t start_utc_s; /* first step: INT64_MIN */
		int32_t offset_s;    /* east of UTC */
		char abbreviation[8];
	} steps[LT_OFFSETS_MAX];
};

/* Bounds and label of the period `ahead` (0 current, 1 next) of that kind at utc_s. LT_FIXED is not
 * computed here. */
void lt_calendar_period(struct lt_period *period, const struct lt_offsets *offsets,
    enum lt_period_kind kind, int64_t utc_s, int ahead);

/* "2026-11", "2026-Q4", "2026" -> bounds and label. */
int lt_calendar_parse(struct lt_period *period, const struct lt_offsets *offsets, const char *text,
    struct lt_error *err);

/* The day that utc_s is in, as "2026-11-21", and its bounds: its number since 1970-01-01. */
enum { LT_DAY_TEXT_SIZE = 16 };
int64_t lt_calendar_day(char text[LT_DAY_TEXT_SIZE], int64_t *start_utc_s, int64_t *end_utc_s,
    const struct lt_offsets *offsets, int64_t utc_s);

/* Returns the time at which the period before is as far as this one is at utc_s, which is in it:
 * after as many days, at the end of the same hour; its end if it is shorter. */
int64_t lt_calendar_same_part(const struct lt_offsets *offsets, const struct lt_period *period,
    const struct lt_period *before, int64_t utc_s);

/* Returns the time under which an event of utc_s is booked: the begin of its hour of UTC, or of its
 * day, which in zones of half hours may be later. */
int64_t lt_calendar_hour(const struct lt_offsets *offsets, int64_t utc_s);
/* The first such begin at that time or after it. */
int64_t lt_calendar_next_hour(const struct lt_offsets *offsets, int64_t utc_s);

/* "2026-11-21": its midnight; or a time that has its zone, such as "2026-11-21T02:00Z".
 * LT_EINPUT. */
int lt_calendar_time(
    int64_t *utc_s, const struct lt_offsets *offsets, const char *text, struct lt_error *err);

/*
 * Returns the months of [start, end), in parts of which LT_MONTH_PARTS are one:
 * each local day that it touches is 1 / (days of its month), so a whole month is one and a quarter
 * three, exactly. 0 when empty. A century at most counts.
 */
enum { LT_MONTH_PARTS = 28 * 29 * 15 * 31 }; /* 28, 29, 30, 31 divide it */
int64_t lt_calendar_month_parts(
    const struct lt_offsets *offsets, int64_t start_utc_s, int64_t end_utc_s);

/* True if both have the same time from then on. */
bool lt_calendar_agree(const struct lt_offsets *a, const struct lt_offsets *b, int64_t from_utc_s);

/* The steps around now, for messages: a year and a month each way. */
void lt_calendar_zone(struct lt_zone *zone, const struct lt_offsets *offsets, int64_t now_utc_s);

#endif
