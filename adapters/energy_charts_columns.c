/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy-Charts (Fraunhofer ISE): the answers in columns that all of its
 * endpoints give, and the requests. For energy_charts.c and _price.c.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "energy_charts.h"
#include "fetch_parts.h"
#include "units.h"
#include "web.h"

enum {
	STEP_MAX_S = LT_HOUR_S,	 /* longer: a hole */
	GAP_MS = 1500,		 /* faster, and it answers 429 */
	CHUNK_S = 31 * LT_DAY_S, /* prices: two requests a minute, no more */
	CHUNK_MIN_S = LT_DAY_S,	 /* one time alone would have no step */
	PRESENT_S = 2 * LT_DAY_S,
};
#define TIME_MAX_UTC_S INT64_C(253402300799) /* the end of the year 9999 */

struct columns {
	const json_t *times, *values[LT_CHARTS_COLUMNS_MAX];
	size_t count;
	struct lt_error refusal; /* of the first that can't be read */
};

struct reading { /* of one answer */
	const struct lt_charts *charts;
	struct lt_tariff_terms terms;
	int64_t now_utc_s;
	struct columns columns;
	struct lt_points *points;
	/* What its times came to. Values that are still missing at its end are
	 * of a time to come: no reason for a note. */
	int empty, trailing, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

double
lt_charts_number(const json_t *cell)
{
	double value;

	return lt_json_number(cell, &value) ? value : NAN;
}

int
lt_charts_check_country(
    const struct lt_source_options *options, struct lt_error *err)
{
	const char *const country = lt_source_option(options, "country", "");
	const size_t length = strlen(country);

	if (length < 2 || length > 3 ||
	    strspn(country, "abcdefghijklmnopqrstuvwxyz") != length)
		return lt_option_fail(options, "country", err,
		    "%s: country: got \"%s\", want two small letters such as de, or eu or all",
		    options->name, country);
	return lt_url_check(options, "url", err);
}

static int64_t
time_at(const struct columns *columns, size_t i)
{
	return json_integer_value(json_array_get(columns->times, i));
}

static int
check_times(const struct columns *columns, struct lt_error *err)
{
	int64_t last_utc_s = -1;
	const json_t *time;
	size_t i;

	json_array_foreach(columns->times, i, time) {
		const int64_t utc_s = json_integer_value(time);

		if (!json_is_integer(time) || utc_s < 0 ||
		    utc_s > TIME_MAX_UTC_S)
			return lt_fail(err, LT_EINPUT,
			    "unix_seconds: item %zu is no time", i + 1);
		if (utc_s <= last_utc_s)
			return lt_fail(err, LT_EINPUT,
			    "unix_seconds: item %zu: got %" PRId64
			    " after %" PRId64 ", want a later one",
			    i + 1, utc_s, last_utc_s);
		last_utc_s = utc_s;
	}
	return LT_OK;
}

/* A column may be left out, or be null; one that is there is as long as the
 * times are: else nobody knows which value is whose. */
static int
find_column(const struct lt_charts *charts, const json_t *json, int index,
    struct columns *columns, struct lt_error *err)
{
	const char *const name = charts->columns[index];
	const json_t *const list =
	    name == NULL ? NULL : json_object_get(json, name);

	if (list == NULL || json_is_null(list))
		return LT_OK;
	if (!json_is_array(list))
		return lt_fail(err, LT_EINPUT, "\"%s\" is no list", name);
	if (json_array_size(list) != columns->count)
		return lt_fail(err, LT_EINPUT,
		    "\"%s\" has %zu values, want %zu as \"unix_seconds\"", name,
		    json_array_size(list), columns->count);
	columns->values[index] = list;
	return LT_OK;
}

static int
find_columns(const struct lt_charts *charts, const json_t *json,
    struct columns *columns, struct lt_error *err)
{
	bool found = false;
	int code;

	columns->times = json_object_get(json, "unix_seconds");
	if (!json_is_array(columns->times))
		return lt_fail(err, LT_EINPUT, "JSON without \"unix_seconds\"");
	columns->count = json_array_size(columns->times);
	code = check_times(columns, err);
	if (code != LT_OK)
		return code;
	/* One that can't be read, as of the forecast, does not cost the other.
	 */
	for (int i = 0; i < LT_CHARTS_COLUMNS_MAX; i++)
		found |= find_column(charts, json, i, columns,
			     &columns->refusal) == LT_OK &&
			 columns->values[i] != NULL;
	if (!found && columns->refusal.text[0] != '\0')
		return lt_error_give(err, LT_EINPUT, &columns->refusal);
	if (!found)
		return lt_fail(
		    err, LT_EINPUT, "JSON without \"%s\"", charts->columns[0]);
	if (columns->count == 1)
		return lt_fail(err, LT_EINPUT,
		    "one time only: how long it holds is not known");
	return LT_OK;
}

/* Steps are as long as to the next time, or from the one before where that is
 * less: then one is missing, which leaves a gap and makes no long step. */
static int64_t
step_at(const struct columns *columns, size_t i)
{
	int64_t step_s = STEP_MAX_S;

	if (i + 1 < columns->count) {
		const int64_t next_s =
		    time_at(columns, i + 1) - time_at(columns, i);

		step_s = next_s < step_s ? next_s : step_s;
	}
	if (i > 0) {
		const int64_t last_s =
		    time_at(columns, i) - time_at(columns, i - 1);

		step_s = last_s < step_s ? last_s : step_s;
	}
	return step_s;
}

/* One bad value must not cost the others. */
static int
add_point(struct reading *reading, size_t i, struct lt_error *err)
{
	const struct columns *const columns = &reading->columns;
	const struct lt_tariff_terms *const terms = &reading->terms;
	struct lt_points *const points = reading->points;
	const int64_t start_utc_s = time_at(columns, i);
	struct lt_point point = {.start_utc_s = start_utc_s,
	    .end_utc_s = start_utc_s + step_at(columns, i)};
	const json_t *cells[LT_CHARTS_COLUMNS_MAX];

	for (int j = 0; j < LT_CHARTS_COLUMNS_MAX; j++)
		cells[j] = columns->values[j] == NULL
			       ? NULL
			       : json_array_get(columns->values[j], i);
	if (!reading->charts->value(cells, terms, reading->now_utc_s, &point)) {
		reading->trailing++;
		return LT_OK;
	}
	reading->empty += reading->trailing;
	reading->trailing = 0;
	switch (lt_points_add(points, &point, &reading->refusal)) {
	case LT_OK:
		return LT_OK;
	case LT_EINPUT:
		reading->refused++;
		return LT_OK;
	default:
		return lt_error_give(
		    err, (int)reading->refusal.code, &reading->refusal);
	}
}

static int
add_points(struct reading *reading, struct lt_error *err)
{
	const struct columns *const columns = &reading->columns;
	const size_t count = columns->count;
	struct lt_points *const points = reading->points;
	const size_t before = points->count;

	for (size_t i = 0; i < count; i++) {
		const int code = add_point(reading, i, err);

		if (code != LT_OK)
			return code;
	}
	if (points->count == before)
		return lt_fail(err, LT_EINPUT,
		    "%zu times and no usable value among them%s%s", count,
		    reading->refusal.text[0] == '\0' ? "" : ": ",
		    reading->refusal.text);
	if (columns->refusal.text[0] != '\0')
		lt_note_add(points, "%s", columns->refusal.text);
	if (reading->refused + reading->empty > 0)
		lt_note_add(points, "%d of %zu times have no usable value",
		    reading->refused + reading->empty, count);
	return LT_OK;
}

static int
parse_json(struct reading *reading, const struct lt_source_options *options,
    const json_t *json, struct lt_error *err)
{
	const struct lt_charts *const charts = reading->charts;
	struct lt_points *const points = reading->points;
	int code = find_columns(charts, json, &reading->columns, err);

	if (code == LT_OK && charts->begin != NULL)
		code = charts->begin(options, json, &reading->terms, err);
	if (code != LT_OK)
		return code;
	points->quantity = charts->quantity;
	strcpy(points->currency, charts->currency);
	points->note[0] = '\0'; /* of an answer before this one */
	reading->refusal = reading->columns.refusal;
	code = add_points(reading, err);
	if (code == LT_OK && json_is_true(json_object_get(json, "deprecated")))
		lt_note_add(points,
		    "the source says that it will end this interface (deprecated)");
	return code;
}

int
lt_charts_parse(const struct lt_charts *charts,
    const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {
	    .charts = charts,
	    .now_utc_s = answer->now_utc_s,
	    .points = points,
	};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	code = parse_json(&reading, options, json, err);
	json_decref(json);
	if (code == LT_OK) {
		lt_points_sort(points);
		lt_points_date(points, answer->now_utc_s);
	}
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

/* {"detail": "Not Found"}, or {"detail": [{"msg": "..."}, ...]} of a query that
 * it does not understand; all else is plain text. */
static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const json_t *const detail = json_object_get(json, "detail");
	const char *const text = json_string_value(
	    json_is_array(detail)
		? json_object_get(json_array_get(detail, 0), "msg")
		: detail);

	snprintf(out, size, "%s", text == NULL ? "" : text);
	json_decref(json);
}

struct asking { /* the parts of a request that stay the same */
	const struct lt_charts *charts;
	struct lt_web *web;
	int64_t now_utc_s;
};

/* "2026-10-05T22:00Z" */
static int
add_time(
    char url[LT_URL_SIZE], const char *key, int64_t utc_s, struct lt_error *err)
{
	char text[32];

	lt_utc_text(text, sizeof(text), utc_s);
	strcpy(text + strlen("2026-10-05T22:00"), "Z");
	return lt_url_add(url, key, text, err);
}

/* [start, end) in whole hours at the start, or with end 0 the present as the
 * source sees it. */
static void
request(const struct asking *asking, int64_t start_utc_s, int64_t end_utc_s,
    struct lt_fetch_part *part)
{
	const struct lt_charts *const charts = asking->charts;
	const struct lt_source_options *const options = asking->web->options;
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .gap_ms = GAP_MS,
	    .error_text = error_text,
	};
	struct lt_error *const err = &part->err;
	int code = lt_url_start(url,
	    lt_source_option(options, "url", LT_CHARTS_URL), charts->path, err);

	if (code == LT_OK)
		code = lt_url_add(url, charts->zone_key,
		    lt_source_option(options, charts->zone_option, ""), err);
	for (int i = 0; i < 2 && charts->query[i].key != NULL; i++)
		if (code == LT_OK)
			code = lt_url_add(url, charts->query[i].key,
			    charts->query[i].value, err);
	if (code == LT_OK && end_utc_s != 0)
		code = add_time(
		    url, "start", start_utc_s - start_utc_s % LT_HOUR_S, err);
	if (code == LT_OK && end_utc_s != 0)
		code = add_time(url, "end", end_utc_s, err);
	part->asked = true;
	asking->web->points = &part->points;
	part->code = code == LT_OK ? lt_web_points(asking->web, &request,
					 charts->parse, asking->now_utc_s, err)
				   : code;
}

/* The newest first, so that a refusal costs the oldest. */
static void
request_past(const struct asking *asking, int64_t from_utc_s, int64_t end_utc_s,
    struct lt_fetch_part *past)
{
	while (end_utc_s > from_utc_s && past->code == LT_OK) {
		int64_t start_utc_s = end_utc_s - CHUNK_S;

		if (start_utc_s < from_utc_s)
			start_utc_s = from_utc_s < end_utc_s - CHUNK_MIN_S
					  ? from_utc_s
					  : end_utc_s - CHUNK_MIN_S;
		request(asking, start_utc_s, end_utc_s, past);
		end_utc_s = start_utc_s;
	}
}

int
lt_charts_fetch(const struct lt_charts *charts,
    const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_parts parts = {0};
	struct lt_web web;
	const struct asking asking = {charts, &web, window->now_utc_s};
	const int64_t known_utc_s = window->to_utc_s < window->now_utc_s
					? window->to_utc_s
					: window->now_utc_s;
	int64_t past_end_utc_s = known_utc_s;

	lt_web_start(&web, options, points);
	if (window->to_utc_s > window->now_utc_s &&
	    charts->default_is_present) {
		request(&asking, 0, 0, &parts.ahead);
	} else if (window->to_utc_s > window->now_utc_s) {
		/* With yesterday, too: a time without any value is "no content"
		 * (404), also today before its prices are there. */
		past_end_utc_s =
		    window->from_utc_s > window->now_utc_s - PRESENT_S
			? window->from_utc_s
			: window->now_utc_s - PRESENT_S;
		request(&asking, past_end_utc_s, window->now_utc_s + PRESENT_S,
		    &parts.ahead);
	}
	request_past(&asking, window->from_utc_s,
	    parts.ahead.code == LT_OK ? past_end_utc_s : known_utc_s,
	    &parts.past);
	points->quantity = charts->quantity;
	const int code =
	    lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}
