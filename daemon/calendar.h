/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Budget periods and offset steps in the site's time zone (TZ of this
 * process, set once).
 */
#ifndef LT_CALENDAR_H
#define LT_CALENDAR_H

#include "budget.h"
#include "policy.h"
#include "zone.h"

/* Set TZ to the policy's zone ("" = leave the system's); LT_EINPUT when the
 * system has no such zone. Not thread safe: before any thread, or in the one
 * thread that prints local time. */
int lt_calendar_zone(const char *zone, struct lt_error *err);

/* Bounds and label of the period `ahead` (0 current, 1 next) of that kind at
 * utc_s. LT_FIXED is not computed here. */
void lt_calendar_period(struct lt_period *period, enum lt_period_kind kind,
    int64_t utc_s, int ahead);

/* "2026-11", "2026-Q4", "2026" -> bounds and label. */
int lt_calendar_parse(
    struct lt_period *period, const char *text, struct lt_error *err);

/* "2026-11-21": its midnight; or a time that has its zone, such as
 * "2026-11-21T02:00Z". LT_EINPUT. */
int lt_calendar_time(int64_t *utc_s, const char *text, struct lt_error *err);

/* Offset steps from from_utc_s to some years ahead. */
void lt_calendar_steps(struct lt_zone *zone, int64_t from_utc_s);

#endif
