/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A time series in a local CSV or JSON file, by two adapters: `file`, which the site writes
 * (tariffs, negotiated prices, the output of a script of its own), and `replay`, which plays a
 * recorded year as if it were this one. A row holds until its end, else until the next row, the
 * last one as long as the one before it. Errors name file, line and column.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "plain_file.h"
#include "source.h"
#include "units.h"

enum {
	CELL_SIZE = 128, /* of one cell: refused */
	SKIP_MAX = 1000, /* lines before the header */
};

struct recording { /* options, read; texts are the options' own */
	enum lt_quantity quantity;
	char currency[4];		/* of money; "" = the site's */
	double scale;			/* values times this are the site's unit */
	const char *time, *value, *end; /* column names; end may be NULL */
	int skip;
	bool utc; /* times without a zone are UTC */
	bool zero_is_data;
};

/* ---- one row ---- */

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
	char copy[CELL_SIZE];

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
time_parse(const struct recording *recording, const char *column, const char *text, int64_t *utc_s,
    struct lt_error *err)
{
	/* 1990 to 2100: "20220101" is no number of seconds. */
	static const int64_t first_utc_s = 631152000, last_utc_s = 4102444800;

	if (!epoch_parse(text, utc_s) && !iso_parse(text, recording->utc, utc_s))
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a time such as 2026-11-21T02:00Z or seconds since 1970%s",
		    column, text, recording->utc ? "" : " (without a zone, say \"zone: utc\")");
	if (*utc_s < first_utc_s || *utc_s >= last_utc_s)
		return lt_fail(
		    err, LT_EINPUT, "%s: got \"%s\", want a time from 1990 to 2099", column, text);
	return LT_OK;
}

/* The texts of one row; value "" is a gap, end "" the next row. */
static int
add_row(const struct recording *recording, const char *time, const char *value, const char *end,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_point point = {.end_utc_s = INT64_MAX, .quality = LT_QUALITY_MEASURED};
	int code = time_parse(recording, recording->time, time, &point.start_utc_s, err);

	if (code != LT_OK)
		return code;
	if (value[0] == '\0') {
		/* Kept until all are sorted: it ends the row before it. */
		point.quality = LT_QUALITY_NONE;
		point.value = 1;
		return lt_points_add(points, &point, err);
	}
	if (lt_double_parse(value, &point.value, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%s\", want a number (empty where it is missing)", recording->value,
		    value);
	point.value *= recording->scale;
	point.value = lt_quantity_from(recording->quantity, point.value);
	if (end[0] != '\0') {
		code = time_parse(recording, recording->end, end, &point.end_utc_s, err);
		if (code != LT_OK)
			return code;
	}
	return lt_points_add(points, &point, err);
}

/* ---- CSV ---- */

enum { COLUMN_TIME, COLUMN_VALUE, COLUMN_END, COLUMN_COUNT };

static int
row_check(const struct lt_csv *csv, const struct lt_csv_row *row, struct lt_error *err)
{
	if (row->long_line != 0) {
		lt_fail(err, LT_ELIMIT, "a cell of more than %d bytes", LT_CSV_CELL_SIZE - 1);
		lt_error_at(err, row->long_line, row->long_column);
		return LT_ELIMIT;
	}
	if (row->cell_count > csv->index[COLUMN_TIME] && row->cell_count > csv->index[COLUMN_VALUE])
		return LT_OK;
	lt_fail(err, LT_EINPUT, "a row of %d cells, the header has more", row->cell_count);
	lt_error_at(err, row->line, 1);
	return LT_EINPUT;
}

static int
read_rows(struct lt_csv *csv, const struct recording *recording, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_csv_row row;

	for (;;) {
		int code = lt_csv_row(csv, &row, err);

		if (code != LT_OK || row.cell_count == 0)
			return code;
		code = row_check(csv, &row, err);
		if (code != LT_OK)
			return code;
		code = add_row(recording, row.cells[COLUMN_TIME], row.cells[COLUMN_VALUE],
		    row.cells[COLUMN_END], points, err);
		if (code != LT_OK) {
			lt_error_at(err, row.line, 1);
			return code;
		}
	}
}

static int
read_csv(const struct recording *recording, const char *bytes, size_t byte_count,
    struct lt_points *points, struct lt_error *err)
{
	const struct lt_csv_column columns[COLUMN_COUNT] = {
	    [COLUMN_TIME] = {recording->time, true},
	    [COLUMN_VALUE] = {recording->value, true},
	    [COLUMN_END] = {recording->end, recording->end != NULL},
	};
	struct lt_csv csv;
	int code;

	lt_csv_start(&csv, bytes, byte_count);
	code = lt_csv_skip(&csv, recording->skip, err);
	if (code == LT_OK)
		code = lt_csv_header(&csv, columns, COLUMN_COUNT, err);
	return code != LT_OK ? code : read_rows(&csv, recording, points, err);
}

/* ---- JSON ---- */

static const json_t *
find_rows(const json_t *json, struct lt_error *err)
{
	const json_t *rows = NULL, *member;
	const char *key;

	if (json_is_array(json))
		return json;
	json_object_foreach((json_t *)json, key, member) {
		if (!json_is_array(member))
			continue;
		if (rows != NULL) {
			lt_fail(err, LT_EINPUT, "an object with more than one list, want one");
			return NULL;
		}
		rows = member;
	}
	if (rows == NULL)
		lt_fail(err, LT_EINPUT, "no list of objects");
	return rows;
}

/* A member as text for add_row(). null and absence are "". */
static int
member_text(char *out, size_t size, const json_t *row, const char *key, struct lt_error *err)
{
	const json_t *const member = json_object_get(row, key);
	int length = 0;

	out[0] = '\0';
	if (member == NULL || json_is_null(member))
		return LT_OK;
	if (json_is_string(member))
		length = snprintf(out, size, "%s", json_string_value(member));
	else if (json_is_integer(member))
		length = snprintf(out, size, "%" JSON_INTEGER_FORMAT, json_integer_value(member));
	else if (json_is_real(member))
		length = snprintf(out, size, "%.17g", json_real_value(member));
	else
		return lt_fail(err, LT_EINPUT, "%s: want a text or a number", key);
	if (length < 0 || (size_t)length >= size)
		return lt_fail(err, LT_ELIMIT, "%s: longer than %zu bytes", key, size - 1);
	return LT_OK;
}

static int
row_add(const struct recording *recording, const json_t *row, struct lt_points *points,
    struct lt_error *err)
{
	char time[CELL_SIZE], value[CELL_SIZE], end[CELL_SIZE] = "";
	int code;

	if (!json_is_object(row))
		return lt_fail(err, LT_EINPUT, "not an object");
	if (json_object_get(row, recording->time) == NULL)
		return lt_fail(err, LT_EINPUT, "no member \"%s\"", recording->time);
	if (json_object_get(row, recording->value) == NULL)
		return lt_fail(err, LT_EINPUT, "no member \"%s\" (null where it is missing)",
		    recording->value);
	code = member_text(time, sizeof(time), row, recording->time, err);
	if (code == LT_OK)
		code = member_text(value, sizeof(value), row, recording->value, err);
	if (code == LT_OK && recording->end != NULL)
		code = member_text(end, sizeof(end), row, recording->end, err);
	if (code == LT_OK)
		code = add_row(recording, time, value, end, points, err);
	return code;
}

static int
read_json(const struct recording *recording, const char *bytes, size_t byte_count,
    struct lt_points *points, struct lt_error *err)
{
	json_t *json;
	int code = lt_json_load(&json, bytes, byte_count, err);

	if (code != LT_OK)
		return code;
	const json_t *const rows = find_rows(json, err);
	if (rows == NULL)
		code = LT_EINPUT;
	for (size_t i = 0; code == LT_OK && i < json_array_size(rows); i++) {
		code = row_add(recording, json_array_get(rows, i), points, err);
		if (code != LT_OK)
			lt_context(err, "row %zu", i + 1);
	}
	json_decref(json);
	return code;
}

/* ---- a file ---- */

static const struct lt_adapter_option recording_options[] = {
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
    {"zone", false, "utc: times without a zone are UTC", "none: such times are refused"},
    {"zero", false, "missing or data: what a value of 0 is", "missing"},
    {NULL, false, NULL, NULL},
};

static enum lt_quantity
recording_quantity(const struct lt_source_options *options)
{
	return lt_quantity_find(lt_source_option(options, "quantity", ""));
}

static int
recording_init(
    struct recording *recording, const struct lt_source_options *options, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");
	const char *const scale = lt_source_option(options, "scale", "1");
	const char *const skip = lt_source_option(options, "skip", "0");
	const char *const zone = lt_source_option(options, "zone", "");
	const char *const zero = lt_source_option(options, "zero", "missing");
	int64_t lines;

	recording->quantity = recording_quantity(options);
	recording->time = lt_source_option(options, "time", "time");
	recording->value = lt_source_option(options, "value", "value");
	recording->end = lt_source_option(options, "end", NULL);
	recording->utc = strcmp(zone, "utc") == 0;
	if (path[0] != '/')
		return lt_option_fail(options, "path", err,
		    "%s: path: got \"%s\", want an absolute path", options->name, path);
	if (recording->quantity == LT_QUANTITY_COUNT)
		return lt_option_fail(options, "quantity", err, "%s: quantity: got \"%s\", want %s",
		    options->name, lt_source_option(options, "quantity", ""),
		    recording_options[1].usage);
	if (lt_double_parse(scale, &recording->scale, NULL) != LT_OK || recording->scale <= 0)
		return lt_option_fail(options, "scale", err,
		    "%s: scale: got \"%s\", want a number above 0", options->name, scale);
	if (lt_int64_parse(skip, 0, SKIP_MAX, &lines, NULL) != LT_OK)
		return lt_option_fail(options, "skip", err, "%s: skip: got \"%s\", want 0 to %d",
		    options->name, skip, SKIP_MAX);
	if (zone[0] != '\0' && !recording->utc)
		return lt_option_fail(
		    options, "zone", err, "%s: zone: got \"%s\", want utc", options->name, zone);
	recording->zero_is_data = strcmp(zero, "data") == 0;
	if (!recording->zero_is_data && strcmp(zero, "missing") != 0)
		return lt_option_fail(options, "zero", err,
		    "%s: zero: got \"%s\", want missing or data", options->name, zero);
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
parse_rows(const struct recording *recording, const char *bytes, size_t byte_count,
    struct lt_points *points, struct lt_error *err)
{
	size_t first = 0;

	if (byte_count >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
		first = 3;
	while (
	    first < byte_count && strchr(" \t\r\n", bytes[first]) != NULL && bytes[first] != '\0')
		first++;
	if (first == byte_count)
		return lt_fail(err, LT_EINPUT, "empty, want CSV or JSON");
	if (bytes[first] == '[' || bytes[first] == '{')
		return read_json(recording, bytes, byte_count, points, err);
	return read_csv(recording, bytes, byte_count, points, err);
}

static int
recording_parse(const struct recording *recording, const char *bytes, size_t byte_count,
    struct lt_points *points, struct lt_error *err)
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

static int
recording_read(
    const struct lt_source_options *options, struct lt_points *points, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");
	struct recording recording;
	struct lt_error inner = {0};
	size_t byte_count = 0;
	char *bytes = NULL;
	int code = recording_init(&recording, options, err);

	if (code == LT_OK)
		code = lt_plain_file_read(path, &bytes, &byte_count, err);
	if (code != LT_OK)
		return code;
	code = recording_parse(&recording, bytes, byte_count, points, &inner);
	free(bytes);
	if (code != LT_OK && inner.line != 0)
		lt_fail(err, code, "%s:%d:%d: %s", path, inner.line, inner.column, inner.text);
	else if (code != LT_OK)
		lt_fail(err, code, "%s: %s", path, inner.text);
	return lt_error_mend(err, code); /* cut, maybe in a character */
}

/* ---- the adapter file ---- */

static int
file_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct recording recording;

	return recording_init(&recording, options, err);
}

/* A value that began is a measurement, what is to come a forecast. */
static void
set_quality(struct lt_points *points, int64_t now_utc_s)
{
	for (size_t i = 0; i < points->count; i++)
		points->points[i].quality = points->points[i].start_utc_s <= now_utc_s
						? LT_QUALITY_MEASURED
						: LT_QUALITY_FORECAST;
	lt_points_date(points, now_utc_s);
}

static int
file_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_points all = {0};
	int code = recording_read(options, &all, err);

	if (code == LT_OK) {
		set_quality(&all, window->now_utc_s);
		code = lt_points_copy(points, &all, window->from_utc_s, window->to_utc_s, err);
	}
	lt_points_free(&all);
	return code;
}

static int
file_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct recording recording;
	struct lt_points all = {0};
	int code = recording_init(&recording, options, err);

	if (code == LT_OK)
		code = recording_parse(&recording, answer->bytes, answer->byte_count, &all, err);
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
    .options = recording_options,
    .interval_s = 5 * 60,
    .quantity = recording_quantity,
    .currency = lt_currency_of_option,
    .check = file_check,
    .fetch = file_fetch,
    .parse = file_parse,
};

/* ---- the adapter replay ---- */

enum { WEEK_S = 7 * LT_DAY_S };

static int
replay_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct recording recording;

	return recording_init(&recording, options, err);
}

/* Rounded down, also below zero. */
static int64_t
divide_down(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

/* Length of the recording, in whole weeks. */
static int64_t
length_of(const struct lt_points *recording)
{
	const int64_t covered_s =
	    recording->points[recording->count - 1].end_utc_s - recording->points[0].start_utc_s;

	return covered_s - covered_s % WEEK_S;
}

/* The part of a pass, shifted by shift_s, that overlaps [from, to), cut at the pass's end. */
static int
add_pass(struct lt_points *points, const struct lt_points *recording, int64_t shift_s,
    const struct lt_window *window, struct lt_error *err)
{
	const int64_t stop_utc_s = recording->points[0].start_utc_s + length_of(recording);

	for (size_t i = 0; i < recording->count; i++) {
		struct lt_point point = recording->points[i];

		if (point.start_utc_s >= stop_utc_s)
			break;
		if (point.end_utc_s > stop_utc_s)
			point.end_utc_s = stop_utc_s;
		point.start_utc_s += shift_s;
		point.end_utc_s += shift_s;
		point.quality = LT_QUALITY_REPLAY;
		if (point.end_utc_s <= window->from_utc_s || point.start_utc_s >= window->to_utc_s)
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
label(struct lt_points *points, const char *path, int64_t first_weeks, int64_t last_weeks)
{
	if (first_weeks == last_weeks)
		snprintf(points->note, sizeof(points->note),
		    "replay of %.100s, shifted by %" PRId64 " weeks", base_name(path), first_weeks);
	else
		snprintf(points->note, sizeof(points->note),
		    "replay of %.100s, shifted by %" PRId64 " to %" PRId64 " weeks",
		    base_name(path), first_weeks, last_weeks);
}

/*
 * The whole weeks of the recording, over and over: the shift of an hour depends on that hour alone,
 * never on when it was fetched, so that what was planned is what is charged.
 */
static int
replay_points(const struct lt_source_options *options, const struct lt_points *recording,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err)
{
	const int64_t start_utc_s = recording->points[0].start_utc_s;
	const int64_t end_utc_s = recording->points[recording->count - 1].end_utc_s;
	const int64_t length_s = length_of(recording);

	points->zero_is_data = recording->zero_is_data;
	if (length_s == 0)
		return lt_fail(err, LT_EINPUT,
		    "%s: covers %" PRId64 " h, want a week (168 h) or more",
		    lt_source_option(options, "path", ""), (end_utc_s - start_utc_s) / LT_HOUR_S);
	points->quantity = recording->quantity;
	memcpy(points->currency, recording->currency, sizeof(points->currency));
	if (window->to_utc_s <= window->from_utc_s)
		return LT_OK;
	const int64_t first = divide_down(window->from_utc_s - start_utc_s, length_s);
	const int64_t last = divide_down(window->to_utc_s - 1 - start_utc_s, length_s);
	for (int64_t pass = first; pass <= last; pass++) {
		const int code = add_pass(points, recording, pass * length_s, window, err);

		if (code != LT_OK)
			return code;
	}
	label(points, lt_source_option(options, "path", ""), first * (length_s / WEEK_S),
	    last * (length_s / WEEK_S));
	return LT_OK;
}

static int
replay_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_points recording = {0};
	int code = recording_read(options, &recording, err);

	if (code == LT_OK)
		code = replay_points(options, &recording, window, points, err);
	lt_points_free(&recording);
	return code;
}

/* One bare pass from now on, at least a week. */
static int
replay_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	const int64_t now_utc_s = answer->now_utc_s;
	const struct lt_window week = {now_utc_s, now_utc_s + WEEK_S, now_utc_s};
	struct recording settings;
	struct lt_points recording = {0};
	int code = recording_init(&settings, options, err);

	if (code == LT_OK)
		code =
		    recording_parse(&settings, answer->bytes, answer->byte_count, &recording, err);
	if (code == LT_OK)
		code = replay_points(options, &recording, &week, points, err);
	lt_points_free(&recording);
	return code;
}

const struct lt_adapter lt_adapter_replay = {
    .name = "replay",
    .usage = "a recorded time series, re-dated to now by whole weeks",
    .options = recording_options,
    .interval_s = LT_HOUR_S,
    .replay = true,
    .quantity = recording_quantity,
    .currency = lt_currency_of_option,
    .check = replay_check,
    .fetch = replay_fetch,
    .parse = replay_parse,
};
