/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a notice, between its source and lowtided.
 */
#include "watch.h"

static bool
is_same(int64_t left_utc_s, int64_t right_utc_s)
{
	const int64_t apart_s = left_utc_s - right_utc_s;

	return apart_s <= LT_WATCH_SAME_S && apart_s >= -LT_WATCH_SAME_S;
}

bool
lt_watch_see(
    struct lt_watch *watch, const struct lt_reading *reading, int64_t now_utc_s)
{
	const bool was_noticed = watch->is_noticed;
	const int64_t old_utc_s = watch->end_utc_s;

	watch->is_seen = true;
	watch->is_noticed = reading->is_noticed;
	if (!reading->is_noticed)
		return was_noticed;
	if (reading->has_end)
		watch->end_utc_s = reading->end_utc_s;
	else if (!was_noticed)
		watch->end_utc_s = now_utc_s + reading->lead_s;
	return !was_noticed || !is_same(watch->end_utc_s, old_utc_s);
}

enum lt_watch_task
lt_watch_task(const struct lt_watch *watch)
{
	if (watch->is_noticed)
		return watch->is_told &&
			       is_same(watch->end_utc_s, watch->told_end_utc_s)
			   ? LT_WATCH_NOTHING
			   : LT_WATCH_TELL;
	return watch->is_seen && watch->is_tried ? LT_WATCH_WITHDRAW
						 : LT_WATCH_NOTHING;
}

void
lt_watch_try(struct lt_watch *watch)
{
	watch->is_tried = true;
	watch->is_told = false;
}

void
lt_watch_heard(
    struct lt_watch *watch, enum lt_watch_task task, int64_t end_utc_s)
{
	watch->is_told = watch->is_tried = task == LT_WATCH_TELL;
	watch->told_end_utc_s = end_utc_s;
}
