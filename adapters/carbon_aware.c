/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Green Software Foundation's Carbon Aware SDK: its JSON data file, read without the SDK, and
 * its WebAPI, run by the site before a data source of its own. Both have rows of time, grams per
 * kWh and duration; a row that can't be used is counted only. docs/sources/carbon_aware_file.md,
 * carbon_aware_sdk.md.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "fetch_parts.h"
#include "plain_file.h"
#include "source.h"
#include "units.h"
#include "web.h"

/* A row without a duration holds until the next one, at most as long as the SDK itself took such a
 * row to be. */
enum { OPEN_S = 8 * 3600 };

struct keys {
	const char *time, *value, *duration;
};

struct rows { /* of one answer or file */
	int64_t now_utc_s;
	bool is_forecast;
	const char *asked; /* only rows whose "Location" is it; NULL = all */
	const char *other; /* a location that was not asked for */
	size_t seen, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* ---- rows ---- */

enum { TEXT_SIZE = 48, DURATION_MAX_S = 31 * LT_DAY_S };

static enum lt_quantity
carbon_quantity(const struct lt_source_options *options)
{
	return strcmp(lt_source_option(options, "intensity", "average"), "marginal") == 0
		   ? LT_QUANTITY_MARGINAL
		   : LT_QUANTITY_CARBON;
}

static const struct lt_option_choice carbon_choices[] = {
    {"intensity", {"average", "marginal"}, "average or marginal"},
    {NULL, {NULL}, NULL},
};

static int
carbon_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const location = lt_source_option(options, "location", "");

	if (location[0] == '\0' || strlen(location) > 128)
		return lt_option_fail(
		    options, "location", err, "%s: location: want 1 to 128 bytes", options->name);
	return LT_OK;
}

/* Times without a zone are UTC, as the SDK takes them. */
static int
read_time(const json_t *row, const char *key, int64_t *utc_s, struct lt_error *err)
{
	const char *const text = json_string_value(json_object_get(row, key));
	char zoned[TEXT_SIZE + 8];

	if (text == NULL || strlen(text) >= TEXT_SIZE)
		return lt_fail(err, LT_EINPUT, "a row without a time in \"%s\"", key);
	if (lt_utc_parse(text, utc_s, NULL) == LT_OK)
		return LT_OK;
	snprintf(zoned, sizeof(zoned), "%s%s", text, strlen(text) == 10 ? "T00:00Z" : "Z");
	if (lt_utc_parse(zoned, utc_s, NULL) == LT_OK)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "%s: got \"%s\", want a time", key, text);
}

/* "[d.]hh:mm[:ss[.fraction]]" as .NET writes it. */
static bool
read_span(const char *text, int64_t *span_s)
{
	int days = 0, hours = 0, minutes = 0, seconds = 0, length = -1;

	if (strspn(text, "0123456789:.") != strlen(text) || strlen(text) >= TEXT_SIZE)
		return false;
	if (sscanf(text, "%4d.%2d:%2d%n", &days, &hours, &minutes, &length) != 3 || length < 0) {
		days = 0;
		if (sscanf(text, "%2d:%2d%n", &hours, &minutes, &length) != 2 || length < 0)
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
	*span_s = (int64_t)days * LT_DAY_S + hours * LT_HOUR_S + minutes * 60 + seconds;
	return *text == '\0' && hours < 24 && minutes < 60 && seconds < 60;
}

/* A text is a span, a number minutes; 0 or nothing is an open end. */
static int
read_duration(const json_t *row, const char *key, int64_t *duration_s, struct lt_error *err)
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
	if (!good || minutes < 0 || minutes >= 1e6 || *duration_s > DURATION_MAX_S)
		return lt_fail(err, LT_EINPUT,
		    "%s: got \"%.40s\", want hh:mm:ss of at most 31 days", key,
		    text == NULL ? "something else" : text);
	if (*duration_s == 0)
		*duration_s = OPEN_S;
	return LT_OK;
}

static int
read_row(struct rows *rows, const json_t *json, const struct keys *keys, struct lt_points *points)
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
		return lt_fail(err, LT_EINPUT, "a row without a number in \"%s\"", keys->value);
	point.end_utc_s = point.start_utc_s + duration_s;
	if (rows->is_forecast)
		point.quality =
		    point.end_utc_s <= rows->now_utc_s ? LT_QUALITY_ESTIMATED : LT_QUALITY_FORECAST;
	else
		point.quality = point.start_utc_s <= rows->now_utc_s ? LT_QUALITY_MEASURED
								     : LT_QUALITY_FORECAST;
	return lt_points_add(points, &point, err);
}

static bool
is_asked(struct rows *rows, const json_t *row)
{
	const char *const location = json_string_value(json_object_get(row, "Location"));

	if (rows->asked == NULL || (location != NULL && strcmp(location, rows->asked) == 0))
		return true;
	if (rows->other == NULL)
		rows->other = location;
	return false;
}

static int
read_list(struct rows *rows, const json_t *list, const struct keys *keys, struct lt_points *points,
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
			return lt_fail(err, (enum lt_code)code, "no room for more points");
	}
	return LT_OK;
}

static int
tally_rows(const struct rows *rows, struct lt_points *points, struct lt_error *err)
{
	if (rows->seen == rows->refused)
		return lt_fail(err, LT_EINPUT, "%zu rows and none that can be used%s%s", rows->seen,
		    rows->seen == 0 ? "" : ": ", rows->refusal.text);
	if (rows->refused > 0)
		lt_note_add(points, "%zu of %zu rows can't be used", rows->refused, rows->seen);
	return LT_OK;
}

void
lt_carbon_error(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const char *const title = json_string_value(json_object_get(json, "title"));
	const char *detail = json_string_value(json_object_get(json, "detail"));
	/* The fault of a parameter stands in a list by its name. */
	void *const first = json_object_iter(json_object_get(json, "errors"));
	if (detail == NULL && first != NULL)
		detail = json_string_value(json_array_get(json_object_iter_value(first), 0));
	if (title != NULL || detail != NULL)
		snprintf(out, size, "%s%s%s", title == NULL ? "" : title,
		    title != NULL && detail != NULL ? ": " : "", detail == NULL ? "" : detail);
	json_decref(json);
}

/* ---- the data file ---- */

static const struct lt_adapter_option file_options[] = {
    {"path", true, "the file; an absolute path", NULL},
    {"location", true, "name of a location in it, as eastus", NULL},
    {"intensity", false, "average or marginal: what the file holds", "average"},
    LT_BASIS_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct keys file_keys = {"Time", "Rating", "Duration"};

static int
file_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");

	if (path[0] != '/')
		return lt_option_fail(options, "path", err,
		    "%s: path: got \"%s\", want an absolute path", options->name, path);
	return carbon_check(options, err);
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* {Location: {Name}, GeneratedAt, ForecastData: rows}, of newer SDKs. */
static int
add_forecasts(const json_t *forecasts, const char *asked, struct rows *rows,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *forecast;
	size_t i;

	rows->is_forecast = true;
	json_array_foreach(forecasts, i, forecast) {
		const char *const location = text_of(json_object_get(forecast, "Location"), "Name");

		if (location == NULL || strcmp(location, asked) != 0) {
			if (rows->other == NULL)
				rows->other = location;
			continue;
		}
		const int code = read_list(
		    rows, json_object_get(forecast, "ForecastData"), &file_keys, points, err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* Refuses the file of the SDK's own examples. */
static int
check_real(const json_t *json, struct lt_error *err)
{
	const char *const text = text_of(json, "Description");

	return text != NULL && strcasestr(text, "fictional") != NULL
		   ? lt_fail(err, LT_EINPUT,
			 "its Description says that the data is fictional: \"%.100s\"", text)
		   : LT_OK;
}

static int
parse_file(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const emissions =
	    json_is_array(json) ? json : json_object_get(json, "Emissions");
	const json_t *const forecasts = json_object_get(json, "EmissionsForecasts");
	const char *const asked = lt_source_option(options, "location", "");
	struct rows rows = {.now_utc_s = now_utc_s};
	int code;

	points->quantity = carbon_quantity(options);
	if (!json_is_array(emissions) && !json_is_array(forecasts))
		return lt_fail(err, LT_EINPUT, "JSON without a list, or \"Emissions\"");
	code = check_real(json, err);
	/* Forecasts first: measured values come after them, and win. */
	if (code == LT_OK)
		code = add_forecasts(forecasts, asked, &rows, points, err);
	rows.is_forecast = false;
	rows.asked = asked;
	if (code == LT_OK)
		code = read_list(&rows, emissions, &file_keys, points, err);
	if (code != LT_OK)
		return code;
	if (rows.seen == 0)
		return lt_fail(err, LT_EINPUT, "no row of location \"%s\"%s%.60s%s", asked,
		    rows.other == NULL ? "" : "; there is \"", rows.other == NULL ? "" : rows.other,
		    rows.other == NULL ? "" : "\"");
	code = tally_rows(&rows, points, err);
	if (code != LT_OK)
		return code;
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
file_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_file, options, answer, points, err);
}

static int
file_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");
	struct lt_points all = {0};
	struct lt_error inner = {0};
	size_t byte_count = 0;
	char *bytes = NULL;
	int code = lt_plain_file_read(path, &bytes, &byte_count, err);

	if (code != LT_OK)
		return code;
	code = file_parse(options,
	    &(struct lt_answer){
		.bytes = bytes, .byte_count = byte_count, .now_utc_s = window->now_utc_s},
	    &all, &inner);
	free(bytes);
	if (code == LT_OK) {
		memcpy(points->note, all.note, sizeof(points->note));
		code = lt_points_copy(points, &all, window->from_utc_s, window->to_utc_s, &inner);
	}
	if (code == LT_OK && points->count == 0)
		code = lt_fail(&inner, LT_EINPUT, "nothing of the time that was asked for");
	lt_points_free(&all);
	if (code == LT_OK)
		return LT_OK;
	if (inner.line != 0)
		lt_fail(err, (enum lt_code)code, "%s:%d:%d: %s", path, inner.line, inner.column,
		    inner.text);
	else
		lt_fail(err, (enum lt_code)code, "%s: %s", path, inner.text);
	return lt_error_mend(err, code); /* cut, maybe in a character */
}

const struct lt_adapter lt_adapter_carbon_aware_file = {
    .name = "carbon_aware_file",
    .usage = "JSON data file of the Carbon Aware SDK",
    .options = file_options,
    .choices = carbon_choices,
    .interval_s = 5 * 60,
    .quantity = carbon_quantity,
    .check = file_check,
    .fetch = file_fetch,
    .parse = file_parse,
};

/* ---- the WebAPI ---- */

enum {
	/* History: a data source behind the SDK takes at most 10 days. */
	CHUNK_S = 9 * LT_DAY_S,
	CHUNKS_MAX = 16,
	NO_CONTENT = 204,
};

static const struct lt_adapter_option sdk_options[] = {
    {"url", true, "base URL of the WebAPI", NULL},
    {"location", true, "name of a location that the SDK knows, as eastus", NULL},
    {"intensity", false, "average or marginal: what the SDK's own data source gives", "average"},
    LT_BASIS_OPTION,
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static int
sdk_check(const struct lt_source_options *options, struct lt_error *err)
{
	const int code = carbon_check(options, err);

	return code;
}

/* ---- answers ---- */

/* The rows of a forecast name the grid zone; the forecast names what was asked. The optimal points
 * are among the rows. */
static int
add_forecast(const struct lt_source_options *options, const json_t *forecast, struct rows *rows,
    struct lt_points *points, struct lt_error *err)
{
	static const struct keys keys = {"timestamp", "value", "duration"};
	const char *const asked = lt_source_option(options, "location", "");
	const char *const location = json_string_value(json_object_get(forecast, "location"));
	const char *const issued = json_string_value(json_object_get(forecast, "generatedAt"));
	int64_t issued_utc_s = 0;

	if (location == NULL || strcasecmp(location, asked) != 0)
		return lt_fail(err, LT_EINPUT, "location: got \"%.60s\", want %s",
		    location == NULL ? "nothing" : location, asked);
	rows->is_forecast = true;
	if (issued != NULL && lt_utc_parse(issued, &issued_utc_s, err) != LT_OK)
		return LT_EINPUT;
	/* Year 1 where the data source gives no time. */
	points->issued_utc_s =
	    issued_utc_s > 0 && issued_utc_s < rows->now_utc_s ? issued_utc_s : 0;
	return read_list(rows, json_object_get(forecast, "forecastData"), &keys, points, err);
}

static int
parse_answer(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	static const struct keys keys = {"time", "rating", "duration"};
	struct rows rows = {.now_utc_s = now_utc_s};
	const json_t *const first = json_array_get(json, 0);
	int code;

	points->quantity = carbon_quantity(options);
	if (!json_is_array(json))
		return lt_fail(err, LT_EINPUT, "JSON that is no list");
	if (json_object_get(first, "forecastData") != NULL)
		code = add_forecast(options, first, &rows, points, err);
	else
		code = read_list(&rows, json, &keys, points, err);
	if (code == LT_OK)
		code = tally_rows(&rows, points, err);
	if (code != LT_OK)
		return code;
	lt_points_sort(points);
	if (!rows.is_forecast)
		lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
sdk_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_answer, options, answer, points, err);
}

/* ---- requests ---- */

static int
make_url(char url[LT_URL_SIZE], const struct lt_source_options *options, const char *path,
    const char *start, const char *end, struct lt_error *err)
{
	const struct lt_query query[] = {
	    {"location", lt_source_option(options, "location", "")},
	    {"time", start},
	    {"toTime", end},
	    {NULL, NULL},
	};
	const int code = lt_url_start(url, lt_source_option(options, "url", ""), path, err);

	return code == LT_OK ? lt_url_query(url, query, err) : code;
}

static int
ask_sdk(struct lt_web *web, const char *url, int64_t now_utc_s, long *status, struct lt_error *err)
{
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_carbon_error,
	};
	struct lt_http_response response = {0};
	struct lt_error inner = {0};

	int code = lt_web_do(web, &request, &response, &inner);

	*status = response.status;
	if (code == LT_OK) {
		code = sdk_parse(web->options,
		    &(struct lt_answer){response.body, response.body_length, now_utc_s},
		    web->points, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	/* Its own login or plan at the data source, not one of ours. */
	if (response.status == 401 || response.status == 403)
		lt_context(&inner, "the SDK's data source");
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

static void
ask_ahead(struct lt_web *web, int64_t now_utc_s, struct lt_fetch_part *ahead)
{
	char url[LT_URL_SIZE];
	long status;

	web->points = &ahead->points;
	ahead->code =
	    make_url(url, web->options, "emissions/forecasts/current", NULL, NULL, &ahead->err);
	if (ahead->code == LT_OK)
		ahead->code = ask_sdk(web, url, now_utc_s, &status, &ahead->err);
}

/* The newest first: it is worth the most if a later one fails. No content is an answer: the data
 * source has nothing of that time. */
static void
ask_past(struct lt_web *web, int64_t from_utc_s, int64_t now_utc_s, struct lt_fetch_part *past)
{
	int64_t end_utc_s = now_utc_s;

	web->points = &past->points;
	for (int i = 0; i < CHUNKS_MAX && end_utc_s > from_utc_s; i++) {
		const int64_t start_utc_s =
		    from_utc_s > end_utc_s - CHUNK_S ? from_utc_s : end_utc_s - CHUNK_S;
		char url[LT_URL_SIZE], start[32], end[32];
		struct lt_error err = {0};
		long status = 0;

		lt_utc_text(start, sizeof(start), start_utc_s);
		lt_utc_text(end, sizeof(end), end_utc_s);
		int code = make_url(url, web->options, "emissions/bylocation", start, end, &err);
		if (code == LT_OK)
			code = ask_sdk(web, url, now_utc_s, &status, &err);
		if (code != LT_OK && status != NO_CONTENT) {
			past->code = lt_error_give(&past->err, code, &err);
			return;
		}
		end_utc_s = start_utc_s;
	}
}

static int
sdk_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const enum lt_quantity quantity = carbon_quantity(options);
	const bool has_past = window->from_utc_s < window->now_utc_s;
	const bool has_future = window->to_utc_s > window->now_utc_s;
	struct lt_fetch_parts parts = {
	    .past = {.asked = has_past, .points.quantity = quantity},
	    .ahead = {.asked = has_future, .points.quantity = quantity},
	};
	struct lt_fetch_part *const ahead = &parts.ahead;
	struct lt_web web;

	points->quantity = quantity;
	lt_web_start(&web, options, points);
	if (ahead->asked)
		ask_ahead(&web, window->now_utc_s, ahead);
	if (parts.past.asked)
		ask_past(&web, window->from_utc_s, window->now_utc_s, &parts.past);
	const int code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_carbon_aware_sdk = {
    .name = "carbon_aware_sdk",
    .usage = "WebAPI of the Green Software Foundation's Carbon Aware SDK",
    .options = sdk_options,
    .choices = carbon_choices,
    .interval_s = 15 * 60,
    .quantity = carbon_quantity,
    .check = sdk_check,
    .fetch = sdk_fetch,
    .parse = sdk_parse,
};
