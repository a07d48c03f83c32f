/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with a time series: options, and from the bytes of a file to sorted
 * points. recording_csv.c and recording_json.c know the two formats,
 * recording_row.c their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "plain_file.h"
#include "recording.h"
#include "units.h"

const struct lt_adapter_option lt_recording_options[] = {
    {"path", true, "the file, CSV or JSON; an absolute path", NULL},
    {"quantity", true,
	"carbon, marginal_carbon, price, tariff, interruption, wind, sun, temperature, wind_power, solar_power or load",
	NULL},
    {"currency", false, "of prices and tariffs, as USD", "the site's own"},
    LT_BASIS_OPTION,
    {"scale", false, "values are multiplied by it", "1"},
    {"time", false, "name of the column with the start", "time"},
    {"value", false, "name of the column with the value", "value"},
    {"end", false, "name of the column with the end", "until the next row"},
    {"skip", false, "lines before the header of a CSV", "0"},
    {"zone", false, "utc: times without a zone are UTC",
	"none: such times are refused"},
    {"zero", false, "missing or data: what a value of 0 is", "missing"},
    {NULL, false, NULL, NULL},
};

enum lt_quantity
lt_recording_quantity(const struct lt_source_options *options)
{
	return lt_quantity_find(lt_source_option(options, "quantity", ""));
}

int
lt_recording_init(struct lt_recording *recording,
    const struct lt_source_options *options, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");
	const char *const scale = lt_source_option(options, "scale", "1");
	const char *const skip = lt_source_option(options, "skip", "0");
	const char *const zone = lt_source_option(options, "zone", "");
	const char *const zero = lt_source_option(options, "zero", "missing");
	int64_t lines;

	recording->quantity = lt_recording_quantity(options);
	recording->time = lt_source_option(options, "time", "time");
	recording->value = lt_source_option(options, "value", "value");
	recording->end = lt_source_option(options, "end", NULL);
	recording->utc = strcmp(zone, "utc") == 0;
	if (path[0] != '/')
		return lt_option_fail(options, "path", err,
		    "%s: path: got \"%s\", want an absolute path",
		    options->name, path);
	if (recording->quantity == LT_QUANTITY_COUNT)
		return lt_option_fail(options, "quantity", err,
		    "%s: quantity: got \"%s\", want %s", options->name,
		    lt_source_option(options, "quantity", ""),
		    lt_recording_options[1].usage);
	if (lt_double_parse(scale, &recording->scale, NULL) != LT_OK ||
	    recording->scale <= 0)
		return lt_option_fail(options, "scale", err,
		    "%s: scale: got \"%s\", want a number above 0",
		    options->name, scale);
	if (lt_int64_parse(skip, 0, LT_RECORDING_SKIP_MAX, &lines, NULL) !=
	    LT_OK)
		return lt_option_fail(options, "skip", err,
		    "%s: skip: got \"%s\", want 0 to %d", options->name, skip,
		    LT_RECORDING_SKIP_MAX);
	if (zone[0] != '\0' && !recording->utc)
		return lt_option_fail(options, "zone", err,
		    "%s: zone: got \"%s\", want utc", options->name, zone);
	recording->zero_is_data = strcmp(zero, "data") == 0;
	if (!recording->zero_is_data && strcmp(zero, "missing") != 0)
		return lt_option_fail(options, "zero", err,
		    "%s: zero: got \"%s\", want missing or data", options->name,
		    zero);
	recording->skip = (int)lines;
	struct lt_points money = {.quantity = recording->quantity};
	const int code = lt_currency_option(&money, options, err);
	memcpy(recording->currency, money.currency, sizeof(money.currency));
	return code;
}

/* Sorting has cut every open end but the last. A gap is an end as well. */
static int
close_last(struct lt_points *points, struct lt_error *err)
{
	struct lt_point *const last = &points->points[points->count - 1];

	if (last->end_utc_s != INT64_MAX || last->quality == LT_QUALITY_NONE)
		return LT_OK;
	if (points->count == 1)
		return lt_fail(err, LT_EINPUT,
		    "one row without an end, want two rows or a column for the end (option \"end\")");
	last->end_utc_s = 2 * last->start_utc_s - last[-1].start_utc_s;
	return LT_OK;
}

static void
drop_gaps(struct lt_points *points)
{
	size_t kept = 0;

	for (size_t i = 0; i < points->count; i++)
		if (points->points[i].quality != LT_QUALITY_NONE)
			points->points[kept++] = points->points[i];
	points->count = kept;
}

static int
parse_rows(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err)
{
	size_t first = 0;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		first = 3;
	while (first < byte_count && strchr(" \t\r\n", bytes[first]) != NULL &&
	       bytes[first] != '\0')
		first++;
	if (first == byte_count)
		return lt_fail(err, LT_EINPUT, "empty, want CSV or JSON");
	if (bytes[first] == '[' || bytes[first] == '{')
		return lt_recording_json(
		    recording, bytes, byte_count, points, err);
	return lt_recording_csv(recording, bytes, byte_count, points, err);
}

int
lt_recording_parse(const struct lt_recording *recording, const char *bytes,
    size_t byte_count, struct lt_points *points, struct lt_error *err)
{
	int code;

	points->quantity = recording->quantity;
	points->zero_is_data = recording->zero_is_data;
	memcpy(points->currency, recording->currency, sizeof(points->currency));
	code = parse_rows(recording, bytes, byte_count, points, err);
	if (code == LT_OK && points->count > 0) {
		lt_points_sort(points);
		code = close_last(points, err);
		drop_gaps(points);
	}
	if (code == LT_OK && points->count == 0)
		code = lt_fail(err, LT_EINPUT, "no row with a value");
	return lt_error_mend(err, code);
}

int
lt_recording_read(const struct lt_source_options *options,
    struct lt_points *points, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");
	struct lt_recording recording;
	struct lt_error inner = {0};
	size_t byte_count = 0;
	char *bytes = NULL;
	int code = lt_recording_init(&recording, options, err);

	if (code == LT_OK)
		code = lt_plain_file_read(path, &bytes, &byte_count, err);
	if (code != LT_OK)
		return code;
	code =
	    lt_recording_parse(&recording, bytes, byte_count, points, &inner);
	free(bytes);
	if (code != LT_OK && inner.line != 0)
		lt_fail(err, code, "%s:%d:%d: %s", path, inner.line,
		    inner.column, inner.text);
	else if (code != LT_OK)
		lt_fail(err, code, "%s: %s", path, inner.text);
	return lt_error_mend(err, code); /* cut, maybe in a character */
}
