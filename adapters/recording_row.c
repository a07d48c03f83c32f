/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One row of a file with a time series, from its texts to a point.
 */
#include <math.h>
#include <string.h>

#include "recording.h"
#include "units.h"

/* Seconds or milliseconds since 1970; 1e11 s would be the year 5138. */
static bool
epoch_parse(const char *text, int64_t *utc_s)
{
	double number;

	if (lt_double_parse(text, &number, NULL) != LT_OK)
		return false;
	if (number >= 1e11)
		number /= 1000;
	if (!(number >= 0 && number < 1e11))
		return false;
	*utc_s = (int64_t)floor(number);
	return true;
}

static bool
iso_parse(const char *text, bool utc, int64_t *utc_s)
{
	char copy[LT_RECORDING_CELL_SIZE];

	if (strlen(text) + sizeof("T00:00Z") > sizeof(copy))
		return false;
	strcpy(copy, text);
	if (lt_utc_parse(copy, utc_s, NULL) == LT_OK)
		return true;
	if (!utc)
		return false;
	strcat(copy, strlen(copy) == 10 ? "T00:00Z" : "Z");
	return lt_utc_parse(copy, utc_s, NULL) == LT_OK;
}

static int
time_parse(const struct lt_recording *recording, const char *column,
    const char *text, int64_t *utc_s, struct lt_error *err)
{
	/* 1990 to 2100: "20220101" is no number of seconds. */
	static const int64_t first_utc_s = 631152000, last_utc_s = 4102444800;

	if (!epoch_parse(text, utc_s) &&
	    !iso_parse(text, recording->utc, utc_s))
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a time such as 2026-11-21T02:00Z or seconds since 1970%s",
		    column, text,
		    recording->utc ? ""
				   : " (without a zone, say \"zone: utc\")");
	if (*utc_s < first_utc_s || *utc_s >= last_utc_s)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a time from 1990 to 2099", column,
		    text);
	return LT_OK;
}

int
lt_recording_row(const struct lt_recording *recording,
    const struct lt_recording_row *row, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_point point = {
	    .end_utc_s = INT64_MAX, .quality = LT_QUALITY_MEASURED};
	int code = time_parse(
	    recording, recording->time, row->time, &point.start_utc_s, err);

	if (code != LT_OK)
		return code;
	if (row->value[0] == '\0') {
		/* Kept until all are sorted: it ends the row before it. */
		point.quality = LT_QUALITY_NONE;
		point.value = 1;
		return lt_points_add(points, &point, err);
	}
	if (lt_double_parse(row->value, &point.value, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a number (empty where it is missing)",
		    recording->value, row->value);
	point.value *= recording->scale;
	point.value = lt_quantity_from(recording->quantity, point.value);
	if (row->end[0] != '\0') {
		code = time_parse(
		    recording, recording->end, row->end, &point.end_utc_s, err);
		if (code != LT_OK)
			return code;
	}
	return lt_points_add(points, &point, err);
}
