/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source that is a file which the site writes: tariffs, negotiated prices,
 * or the output of a script of its own.
 */
#include "recording.h"
#include "units.h"

static int
file_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_recording recording;

	return lt_recording_init(&recording, options, err);
}

/* What began is a measurement, what is to come a forecast. */
static void
set_quality(struct lt_points *points, int64_t now_utc_s)
{
	for (size_t i = 0; i < points->count; i++)
		points->points[i].quality =
		    points->points[i].start_utc_s <= now_utc_s
			? LT_QUALITY_MEASURED
			: LT_QUALITY_FORECAST;
	lt_points_date(points, now_utc_s);
}

static int
file_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_points all = {0};
	int code = lt_recording_read(options, &all, err);

	if (code == LT_OK) {
		set_quality(&all, window->now_utc_s);
		code = lt_points_copy(
		    points, &all, window->from_utc_s, window->to_utc_s, err);
	}
	lt_points_free(&all);
	return code;
}

static int
file_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_recording recording;
	struct lt_points all = {0};
	int code = lt_recording_init(&recording, options, err);

	if (code == LT_OK)
		code = lt_recording_parse(
		    &recording, answer->bytes, answer->byte_count, &all, err);
	if (code == LT_OK) {
		set_quality(&all, answer->now_utc_s);
		code = lt_points_copy(points, &all, INT64_MIN, INT64_MAX, err);
	}
	lt_points_free(&all);
	return code;
}

const struct lt_adapter lt_adapter_file = {
    .name = "file",
    .usage = "a CSV or JSON time series that the site keeps",
    .options = lt_recording_options,
    .interval_s = 5 * 60,
    .quantity = lt_recording_quantity,
    .currency = lt_currency_of_option,
    .check = file_check,
    .fetch = file_fetch,
    .parse = file_parse,
};
