/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files with a time series: options, bounded reading, times and values of a
 * row. recording_csv.c and recording_json.c know the two formats.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"
#include "units.h"

const struct lt_adapter_option lt_recording_options[] = {
    {"path", true, "the file, CSV or JSON; an absolute path", NULL},
    {"quantity", true, "carbon, marginal_carbon, price, tariff or interruption",
	NULL},
    {"currency", false, "of prices and tariffs, as USD", "the site's own"},
    {"scale", false, "values are multiplied by it", "1"},
    {"time", false, "name of the column with the start", "time"},
    {"value", false, "name of the column with the value", "value"},
    {"end", false, "name of the column with the end", "until the next row"},
    {"skip", false, "lines before the header of a CSV", "0"},
    {"zone", false, "utc: times without a zone are UTC",
	"none: such times are refused"},
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
	recording->skip = (int)lines;
	struct lt_points money = {.quantity = recording->quantity};
	const int code = lt_currency_option(&money, options, err);
	memcpy(recording->currency, money.currency, sizeof(money.currency));
	return code;
}

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
		    "%s: got \"%s\", want a time such as "
		    "2026-11-21T02:00Z or seconds since 1970%s",
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
lt_recording_row(const struct lt_recording *recording, const char *time,
    const char *value, const char *end, struct lt_points *points,
    struct lt_error *err)
{
	struct lt_point point = {
	    .end_utc_s = INT64_MAX, .quality = LT_QUALITY_MEASURED};
	int code = time_parse(
	    recording, recording->time, time, &point.start_utc_s, err);

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
		    "%s: got \"%s\", want a number (empty where it is "
		    "missing)",
		    recording->value, value);
	point.value *= recording->scale;
	point.value = lt_quantity_from(recording->quantity, point.value);
	if (end != NULL && end[0] != '\0') {
		code = time_parse(
		    recording, recording->end, end, &point.end_utc_s, err);
		if (code != LT_OK)
			return code;
	}
	return lt_points_add(points, &point, err);
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
		    "one row without an end, want two rows or a column for "
		    "the end (option \"end\")");
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
file_fail(struct lt_error *err, const char *path)
{
	return lt_fail(err, errno == ENOENT ? LT_ENOENT : LT_EIO, "%s: %s",
	    path, strerror(errno));
}

/* O_NONBLOCK: a FIFO in place of the file must not stop the daemon. */
static int
file_open(const char *path, size_t *byte_count, struct lt_error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return file_fail(err, path);
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return lt_fail(err, LT_EIO, "%s: not a regular file", path);
	}
	if (status.st_size > LT_RECORDING_BYTES_MAX) {
		close(fd);
		return lt_fail(err, LT_ELIMIT, "%s: %lld bytes, limit %d", path,
		    (long long)status.st_size, LT_RECORDING_BYTES_MAX);
	}
	*byte_count = (size_t)status.st_size;
	return fd;
}

/* At most the size that it had when opened; it may be shorter by now. */
static int
file_read(int fd, char *bytes, size_t *byte_count)
{
	size_t done = 0;

	while (done < *byte_count) {
		const ssize_t got = read(fd, bytes + done, *byte_count - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*byte_count = done;
	return 0;
}

int
lt_recording_bytes(
    const char *path, char **bytes, size_t *byte_count, struct lt_error *err)
{
	const int fd = file_open(path, byte_count, err);
	int code = LT_OK;

	if (fd < 0)
		return fd;
	*bytes = malloc(*byte_count + 1);
	if (*bytes == NULL)
		code =
		    lt_fail(err, LT_ENOMEM, "%s: %zu bytes", path, *byte_count);
	else if (file_read(fd, *bytes, byte_count) != 0)
		code = file_fail(err, path);
	close(fd);
	if (code != LT_OK)
		free(*bytes);
	return code;
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
		code = lt_recording_bytes(path, &bytes, &byte_count, err);
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
