/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of the Carbon Aware SDK: time, grams per kWh, duration; shared by the
 * adapters carbon_aware_sdk and carbon_aware_file.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "carbon_aware.h"
#include "units.h"

enum { TEXT_SIZE = 48, DURATION_MAX_S = 31 * LT_DAY_S };

enum lt_quantity
lt_carbon_quantity(const struct lt_source_options *options)
{
	return strcmp(lt_source_option(options, "intensity", "average"),
		   "marginal") == 0
		   ? LT_QUANTITY_MARGINAL
		   : LT_QUANTITY_CARBON;
}

int
lt_carbon_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const intensity =
	    lt_source_option(options, "intensity", "average");
	const char *const location = lt_source_option(options, "location", "");

	if (strcmp(intensity, "average") != 0 &&
	    strcmp(intensity, "marginal") != 0)
		return lt_option_fail(options, "intensity", err,
		    "%s: intensity: got \"%s\", want average or marginal",
		    options->name, intensity);
	if (location[0] == '\0' || strlen(location) > 128)
		return lt_option_fail(options, "location", err,
		    "%s: location: want 1 to 128 bytes", options->name);
	return LT_OK;
}

/* Times without a zone are UTC, as the SDK takes them. */
static int
read_time(
    const json_t *row, const char *key, int64_t *utc_s, struct lt_error *err)
{
	const char *const text = json_string_value(json_object_get(row, key));
	char zoned[TEXT_SIZE + 8];

	if (text == NULL || strlen(text) >= TEXT_SIZE)
		return lt_fail(
		    err, LT_EINPUT, "a row without a time in \"%s\"", key);
	if (lt_utc_parse(text, utc_s, NULL) == LT_OK)
		return LT_OK;
	snprintf(zoned, sizeof(zoned), "%s%s", text,
	    strlen(text) == 10 ? "T00:00Z" : "Z");
	if (lt_utc_parse(zoned, utc_s, NULL) == LT_OK)
		return LT_OK;
	return lt_fail(
	    err, LT_EINPUT, "%s: got \"%s\", want a time", key, text);
}

/* "[d.]hh:mm[:ss[.fraction]]" as .NET writes it. */
static bool
read_span(const char *text, int64_t *span_s)
{
	int days = 0, hours = 0, minutes = 0, seconds = 0, length = -1;

	if (strspn(text, "0123456789:.") != strlen(text) ||
	    strlen(text) >= TEXT_SIZE)
		return false;
	if (sscanf(text, "%4d.%2d:%2d%n", &days, &hours, &minutes, &length) !=
		3 ||
	    length < 0) {
		days = 0;
		if (sscanf(text, "%2d:%2d%n", &hours, &minutes, &length) != 2 ||
		    length < 0)
			return false;
	}
	text += length;
	if (*text == ':') {
		if (sscanf(text, ":%2d%n", &seconds, &length) != 1)
			return false;
		text += length;
		if (*text == '.')
			text += 1 + strspn(text + 1, "0123456789");
	}
	*span_s = (int64_t)days * LT_DAY_S + hours * LT_HOUR_S + minutes * 60 +
		  seconds;
	return *text == '\0' && hours < 24 && minutes < 60 && seconds < 60;
}

/* A text is a span, a number minutes; 0 or nothing is an open end. */
static int
read_duration(const json_t *row, const char *key, int64_t *duration_s,
    struct lt_error *err)
{
	const json_t *const json = json_object_get(row, key);
	const char *const text = json_string_value(json);
	double minutes = 0;
	bool good = true;

	*duration_s = 0;
	if (text != NULL)
		good = read_span(text, duration_s);
	else if (json_is_number(json))
		minutes = json_number_value(json);
	else
		good = json == NULL || json_is_null(json);
	if (minutes != 0 && minutes > 0 && minutes < 1e6)
		*duration_s = (int64_t)round(minutes * 60);
	if (!good || minutes < 0 || minutes >= 1e6 ||
	    *duration_s > DURATION_MAX_S)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%.40s\", want hh:mm:ss of at most 31 days", key,
		    text == NULL ? "something else" : text);
	if (*duration_s == 0)
		*duration_s = LT_CARBON_OPEN_S;
	return LT_OK;
}

static int
read_row(struct lt_carbon_rows *rows, const json_t *json,
    const struct lt_carbon_keys *keys, struct lt_points *points)
{
	struct lt_error *const err = &rows->refusal;
	struct lt_point point = {0};
	int64_t duration_s = 0;
	int code = read_time(json, keys->time, &point.start_utc_s, err);

	if (code == LT_OK)
		code = read_duration(json, keys->duration, &duration_s, err);
	if (code != LT_OK)
		return code;
	if (!lt_json_number(json_object_get(json, keys->value), &point.value))
		return lt_fail(err, LT_EINPUT,
		    "a row without a number in \"%s\"", keys->value);
	point.end_utc_s = point.start_utc_s + duration_s;
	if (rows->is_forecast)
		point.quality = point.end_utc_s <= rows->now_utc_s
				    ? LT_QUALITY_ESTIMATED
				    : LT_QUALITY_FORECAST;
	else
		point.quality = point.start_utc_s <= rows->now_utc_s
				    ? LT_QUALITY_MEASURED
				    : LT_QUALITY_FORECAST;
	return lt_points_add(points, &point, err);
}

static bool
is_asked(struct lt_carbon_rows *rows, const json_t *row)
{
	const char *const location =
	    json_string_value(json_object_get(row, "Location"));

	if (rows->asked == NULL ||
	    (location != NULL && strcmp(location, rows->asked) == 0))
		return true;
	if (rows->other == NULL)
		rows->other = location;
	return false;
}

int
lt_carbon_read(struct lt_carbon_rows *rows, const json_t *list,
    const struct lt_carbon_keys *keys, struct lt_points *points,
    struct lt_error *err)
{
	const json_t *json;
	size_t i;

	json_array_foreach(list, i, json) {
		if (!is_asked(rows, json))
			continue;
		const int code = read_row(rows, json, keys, points);
		rows->seen++;
		if (code == LT_EINPUT)
			rows->refused++;
		else if (code != LT_OK)
			return lt_fail(
			    err, (enum lt_code)code, "no room for more points");
	}
	return LT_OK;
}

int
lt_carbon_tally(const struct lt_carbon_rows *rows, struct lt_points *points,
    struct lt_error *err)
{
	if (rows->seen == rows->refused)
		return lt_fail(err, LT_EINPUT,
		    "%zu rows and none that can be used%s%s", rows->seen,
		    rows->seen == 0 ? "" : ": ", rows->refusal.text);
	if (rows->refused > 0)
		lt_note_add(points, "%zu of %zu rows can't be used",
		    rows->refused, rows->seen);
	return LT_OK;
}

void
lt_carbon_error(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const char *const title =
	    json_string_value(json_object_get(json, "title"));
	const char *detail = json_string_value(json_object_get(json, "detail"));
	/* What is wrong with a parameter stands in a list by its name. */
	void *const first = json_object_iter(json_object_get(json, "errors"));
	if (detail == NULL && first != NULL)
		detail = json_string_value(
		    json_array_get(json_object_iter_value(first), 0));
	if (title != NULL || detail != NULL)
		snprintf(out, size, "%s%s%s", title == NULL ? "" : title,
		    title != NULL && detail != NULL ? ": " : "",
		    detail == NULL ? "" : detail);
	json_decref(json);
}
