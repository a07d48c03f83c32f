/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording played again as if it were now, for demos, trials and
 * simulations: shifted by whole weeks, so that hours and weekdays stay.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "recording.h"
#include "units.h"

enum { WEEK_S = 7 * LT_DAY_S };

static int
replay_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_recording recording;

	return lt_recording_init(&recording, options, err);
}

/* Rounded down, also below zero. */
static int64_t
divide_down(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

/* Of the recording, in whole weeks. */
static int64_t
length_of(const struct lt_points *recording)
{
	const int64_t covered_s =
	    recording->points[recording->count - 1].end_utc_s -
	    recording->points[0].start_utc_s;

	return covered_s - covered_s % WEEK_S;
}

/* The part of a pass, shifted by shift_s, that overlaps [from, to), cut at the
 * pass's end. */
static int
add_pass(struct lt_points *points, const struct lt_points *recording,
    int64_t shift_s, const struct lt_window *window, struct lt_error *err)
{
	const int64_t stop_utc_s =
	    recording->points[0].start_utc_s + length_of(recording);

	for (size_t i = 0; i < recording->count; i++) {
		struct lt_point point = recording->points[i];

		if (point.start_utc_s >= stop_utc_s)
			break;
		if (point.end_utc_s > stop_utc_s)
			point.end_utc_s = stop_utc_s;
		point.start_utc_s += shift_s;
		point.end_utc_s += shift_s;
		point.quality = LT_QUALITY_REPLAY;
		if (point.end_utc_s <= window->from_utc_s ||
		    point.start_utc_s >= window->to_utc_s)
			continue;
		const int code = lt_points_add(points, &point, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

static const char *
base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

static void
label(struct lt_points *points, const char *path, int64_t first_weeks,
    int64_t last_weeks)
{
	if (first_weeks == last_weeks)
		snprintf(points->note, sizeof(points->note),
		    "replay of %.100s, shifted by %" PRId64 " weeks",
		    base_name(path), first_weeks);
	else
		snprintf(points->note, sizeof(points->note),
		    "replay of %.100s, shifted by %" PRId64 " to %" PRId64
		    " weeks",
		    base_name(path), first_weeks, last_weeks);
}

/*
 * The whole weeks of the recording, over and over: the shift of an hour
 * depends on that hour alone, never on when it was fetched, so that what was
 * planned is what is charged.
 */
static int
replay_points(const struct lt_source_options *options,
    const struct lt_points *recording, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t start_utc_s = recording->points[0].start_utc_s;
	const int64_t end_utc_s =
	    recording->points[recording->count - 1].end_utc_s;
	const int64_t length_s = length_of(recording);

	points->zero_is_data = recording->zero_is_data;
	if (length_s == 0)
		return lt_fail(err, LT_EINPUT,
		    "%s: covers %" PRId64 " h, want a week (168 h) or more",
		    lt_source_option(options, "path", ""),
		    (end_utc_s - start_utc_s) / LT_HOUR_S);
	points->quantity = recording->quantity;
	memcpy(points->currency, recording->currency, sizeof(points->currency));
	if (window->to_utc_s <= window->from_utc_s)
		return LT_OK;
	const int64_t first =
	    divide_down(window->from_utc_s - start_utc_s, length_s);
	const int64_t last =
	    divide_down(window->to_utc_s - 1 - start_utc_s, length_s);
	for (int64_t pass = first; pass <= last; pass++) {
		const int code =
		    add_pass(points, recording, pass * length_s, window, err);

		if (code != LT_OK)
			return code;
	}
	label(points, lt_source_option(options, "path", ""),
	    first * (length_s / WEEK_S), last * (length_s / WEEK_S));
	return LT_OK;
}

static int
replay_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_points recording = {0};
	int code = lt_recording_read(options, &recording, err);

	if (code == LT_OK)
		code = replay_points(options, &recording, window, points, err);
	lt_points_free(&recording);
	return code;
}

/* One bare pass from now on, at least a week. */
static int
replay_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	const int64_t now_utc_s = answer->now_utc_s;
	const struct lt_window week = {
	    now_utc_s, now_utc_s + WEEK_S, now_utc_s};
	struct lt_recording settings;
	struct lt_points recording = {0};
	int code = lt_recording_init(&settings, options, err);

	if (code == LT_OK)
		code = lt_recording_parse(&settings, answer->bytes,
		    answer->byte_count, &recording, err);
	if (code == LT_OK)
		code = replay_points(options, &recording, &week, points, err);
	lt_points_free(&recording);
	return code;
}

const struct lt_adapter lt_adapter_replay = {
    .name = "replay",
    .usage = "a recorded time series, re-dated to now by whole weeks",
    .options = lt_recording_options,
    .interval_s = LT_HOUR_S,
    .replay = true,
    .quantity = lt_recording_quantity,
    .currency = lt_currency_of_option,
    .check = replay_check,
    .fetch = replay_fetch,
    .parse = replay_parse,
};
