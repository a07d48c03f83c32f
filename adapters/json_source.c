/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sources that answer in JSON, by their rows in sources.c: makes their
 * requests, and reads their lists of times and values into points. A row that
 * can't be read is counted and named in the note; an answer without a usable
 * one is LT_EINPUT. What is odd about a source's answers it reads itself, by
 * a function that its row names.
 */
#include <stdio.h>
#include <string.h>

#include "fetch_parts.h"
#include "json_source.h"
#include "prices.h"
#include "text_mend.h"
#include "units.h"
#include "web.h"

enum { TEXT_SIZE = 256 }; /* of a path or a query; longer: refused */

struct times { /* of one request; end 0 = open */
	int64_t start_utc_s, end_utc_s;
};

/* ---- texts with <names> ---- */

static const char *
value_of(const struct lt_adapter *adapter, const struct lt_source_options *options, const char *key)
{
	for (const struct lt_adapter_option *option = adapter->options; option->key != NULL;
	     option++)
		if (strcmp(option->key, key) == 0)
			return lt_source_option(options, key, option->fallback);
	return NULL;
}

/* The value of a name; "" = it has none. out is room for a time. */
static const char *
value_of_name(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct times *times, const char *name, char out[32])
{
	const bool is_start = strncmp(name, "start", 5) == 0;
	const char *const value = value_of(adapter, options, name);

	if (!is_start && strncmp(name, "end", 3) != 0)
		return value == NULL ? "" : value;
	if (!is_start && times->end_utc_s == 0)
		return "";
	lt_utc_text(out, 32, is_start ? times->start_utc_s : times->end_utc_s);
	out[strlen(strstr(name, "-minute") == NULL ? "2026-10-05T22:00:00" : "2026-10-05T22:00")] =
	    '\0';
	return out;
}

/* Writes a row's text with the values of its names. */
static int
fill_text(char out[TEXT_SIZE], const char *text, const struct lt_adapter *adapter,
    const struct lt_source_options *options, const struct times *times, struct lt_error *err)
{
	size_t length = 0;

	while (*text != '\0' && length < TEXT_SIZE) {
		const size_t plain = strcspn(text, "<");
		char name[32] = "", time[32];
		int name_length = 0;

		length +=
		    (size_t)snprintf(out + length, TEXT_SIZE - length, "%.*s", (int)plain, text);
		text += plain;
		if (sscanf(text, "<%31[^>]>%n", name, &name_length) == 1 && length < TEXT_SIZE)
			length += (size_t)snprintf(out + length, TEXT_SIZE - length, "%s",
			    value_of_name(adapter, options, times, name, time));
		text += name_length;
	}
	return length < TEXT_SIZE ? LT_OK
				  : lt_fail(err, LT_ELIMIT,
					"a text of more than %d bytes for a URL", TEXT_SIZE - 1);
}

/* ---- options ---- */

static int
read_terms(const struct lt_adapter *adapter, const struct lt_source_options *options,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	return adapter->json->rows.is_price
		   ? lt_tariff_terms_read(options, adapter->currency(options), terms, err)
		   : LT_OK;
}

int
lt_json_source_check(
    const struct lt_adapter *adapter, const struct lt_source_options *options, struct lt_error *err)
{
	struct lt_tariff_terms terms;

	return read_terms(adapter, options, &terms, err);
}

/* ---- an answer of rows ---- */

struct reading { /* of one answer */
	const struct lt_json_rows *rows;
	enum lt_json_kind kind;
	char value_key[TEXT_SIZE];
	const char *place; /* NULL = rows name none */
	struct lt_tariff_terms terms;
	int64_t now_utc_s;
	struct lt_points *points;
	/* Those without a value at the end may be of times to come. */
	size_t empty, trailing, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* Returns the request that an answer belongs to, by the dataset that it names. */
static const struct lt_json_request *
find_request(const struct lt_json_source *source, const json_t *json, struct lt_error *err)
{
	const struct lt_json_request *const requests[] = {
	    &source->all, &source->past, &source->ahead};
	const char *const name = json_string_value(json_object_get(json, "dataset"));
	const char *want = NULL;

	for (int i = 0; i < 3; i++) {
		if (requests[i]->path == NULL)
			continue;
		if (requests[i]->dataset == NULL ||
		    (name != NULL && strcmp(requests[i]->dataset, name) == 0))
			return requests[i];
		if (want == NULL)
			want = requests[i]->dataset;
	}
	lt_fail(err, LT_EINPUT, "dataset: got \"%.40s\", want %s", name == NULL ? "" : name,
	    name == NULL ? want : "one that was asked for");
	return NULL;
}

static bool
read_time(const struct lt_json_rows *rows, const json_t *row, int64_t *utc_s)
{
	const char *const text = json_string_value(json_object_get(row, rows->time));
	char whole[32];

	if (text == NULL || !rows->is_zoneless)
		return text != NULL && lt_utc_parse(text, utc_s, NULL) == LT_OK;
	if (strlen(text) != strlen("2025-09-27T21:00:00"))
		return false;
	snprintf(whole, sizeof(whole), "%sZ", text);
	return lt_utc_parse(whole, utc_s, NULL) == LT_OK;
}

static enum lt_quality
quality_of(const struct reading *reading, const struct lt_point *point)
{
	if (reading->kind == LT_JSON_MEASURED)
		return point->start_utc_s <= reading->now_utc_s ? LT_QUALITY_MEASURED
								: LT_QUALITY_FORECAST;
	return reading->kind == LT_JSON_ESTIMATES || point->end_utc_s <= reading->now_utc_s
		   ? LT_QUALITY_ESTIMATED
		   : LT_QUALITY_FORECAST;
}

/* One bad row must not cost the others. */
static int
add_row(struct reading *reading, const json_t *row)
{
	const struct lt_json_rows *const rows = reading->rows;
	const json_t *const value = json_object_get(row, reading->value_key);
	struct lt_error *const refusal = &reading->refusal;
	struct lt_point point;

	if (reading->place != NULL) {
		const char *const place = json_string_value(json_object_get(row, rows->place));

		if (place == NULL || strcmp(place, reading->place) != 0)
			return lt_fail(refusal, LT_EINPUT, "%s: got \"%.16s\", want %s",
			    rows->place, place == NULL ? "" : place, reading->place);
	}
	if (!read_time(rows, row, &point.start_utc_s))
		return lt_fail(refusal, LT_EINPUT, "a %s without %s", rows->row, rows->time);
	if (value == NULL || json_is_null(value)) {
		reading->trailing++;
		return LT_OK;
	}
	reading->empty += reading->trailing;
	reading->trailing = 0;
	if (!lt_json_number(value, &point.value))
		return lt_fail(refusal, LT_EINPUT, "%s: no number", reading->value_key);
	if (rows->is_price)
		point.value = lt_tariff_micros(&reading->terms, point.value);
	point.end_utc_s = point.start_utc_s + rows->step_s;
	point.quality = quality_of(reading, &point);
	return lt_points_add(reading->points, &point, refusal);
}

static int
add_rows(struct reading *reading, const json_t *list, struct lt_error *err)
{
	const char *const word = reading->rows->row;
	const size_t count = json_array_size(list);
	struct lt_points *const points = reading->points;
	const json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		const int code = add_row(reading, row);

		if (code == LT_EINPUT)
			reading->refused++;
		else if (code != LT_OK)
			return lt_error_give(err, code, &reading->refusal);
	}
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT, "%zu %ss and no usable value among them%s%s", count,
		    word, reading->refused > 0 ? ": " : "", reading->refusal.text);
	if (!reading->rows->ends_in_nulls)
		reading->empty += reading->trailing;
	points->note[0] = '\0'; /* of an answer before this one */
	if (reading->refused > 0)
		lt_note_add(points, "%zu of %zu %ss refused: %.80s", reading->refused, count, word,
		    reading->refusal.text);
	if (reading->empty > 0)
		lt_note_add(points, "%zu of %zu %s have no value", reading->empty, count,
		    reading->rows->gaps);
	lt_points_sort(points);
	lt_points_date(points, reading->now_utc_s);
	return LT_OK;
}

static int
read_rows(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const json_t *json, int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	static const struct times no_times;
	const struct lt_json_rows *const rows = &adapter->json->rows;
	const json_t *const list =
	    rows->may_be_bare && json_is_array(json) ? json : json_object_get(json, rows->list);
	struct reading reading = {.rows = rows,
	    .place = rows->place == NULL ? NULL : lt_source_option(options, rows->place_option, ""),
	    .now_utc_s = now_utc_s,
	    .points = points};
	int code = read_terms(adapter, options, &reading.terms, err);

	if (code == LT_OK)
		code = fill_text(reading.value_key, rows->value, adapter, options, &no_times, err);
	if (code != LT_OK)
		return code;
	if (!json_is_array(list))
		return lt_fail(err, LT_EINPUT, "JSON without %s\"%s\"",
		    rows->may_be_bare ? "a list of " : "", rows->list);
	const struct lt_json_request *const request = find_request(adapter->json, json, err);

	if (request == NULL)
		return LT_EINPUT;
	reading.kind = request->kind;
	points->quantity = adapter->gives;
	snprintf(points->currency, sizeof(points->currency), "%s",
	    adapter->currency == NULL ? "" : adapter->currency(options));
	return add_rows(&reading, list, err);
}

int
lt_json_source_parse(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err)
{
	const int64_t now_utc_s = answer->now_utc_s;
	json_t *json = NULL;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code == LT_OK)
		code = adapter->json->read != NULL
			   ? adapter->json->read(options, json, now_utc_s, points, err)
			   : read_rows(adapter, options, json, now_utc_s, points, err);
	json_decref(json);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

struct asking { /* the parts of a request that stay the same */
	const struct lt_adapter *adapter;
	struct lt_web *web;
	int64_t now_utc_s;
};

static int
make_url(char url[LT_URL_SIZE], const struct asking *asking, const struct lt_json_request *request,
    const struct times *times, struct lt_error *err)
{
	const struct lt_adapter *const adapter = asking->adapter;
	const struct lt_source_options *const options = asking->web->options;
	char text[TEXT_SIZE];
	int code = fill_text(text, request->path, adapter, options, times, err);

	if (code == LT_OK)
		code = lt_url_start(url, value_of(adapter, options, "url"), text, err);
	for (int i = 0; i < LT_JSON_QUERY_MAX && request->query[i].key != NULL; i++) {
		text[0] = '\0';
		if (code == LT_OK)
			code =
			    fill_text(text, request->query[i].value, adapter, options, times, err);
		if (code == LT_OK && text[0] != '\0')
			code = lt_url_add(url, request->query[i].key, text, err);
	}
	return code;
}

/* The header with the key, if the policy names one; "" = none. */
static int
make_key_header(char out[LT_SECRET_SIZE + 64], const char *scheme,
    const struct lt_source_options *options, struct lt_error *err)
{
	out[0] = '\0';
	if (scheme == NULL || (lt_source_option(options, "key_file", NULL) == NULL &&
				  lt_source_option(options, "key_env", NULL) == NULL))
		return LT_OK;
	const int length = snprintf(out, 64, "%s", scheme);

	return lt_secret_read(options, "key", out + length, LT_SECRET_SIZE, err);
}

/* Sends one request, and reads its answer into the web's points. */
static int
ask_source(const struct asking *asking, const struct lt_json_request *request,
    const struct times *times, struct lt_error *err)
{
	const struct lt_json_source *const source = asking->adapter->json;
	struct lt_web *const web = asking->web;
	char url[LT_URL_SIZE], header[LT_SECRET_SIZE + 64] = "";
	struct lt_web_request sent = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .error_text = source->error_text,
	};
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	int code = make_url(url, asking, request, times, &inner);

	if (code == LT_OK)
		code = make_key_header(header, source->key_header, web->options, &inner);
	if (code == LT_OK) {
		sent.secret_header = header[0] == '\0' ? NULL : header;
		code = lt_web_do(web, &sent, &response, &inner);
		if (response.status == 429 && web->points->retry_after_s < source->pause_s)
			web->points->retry_after_s = source->pause_s;
	}
	explicit_bzero(header, sizeof(header));
	if (code == LT_OK) {
		const struct lt_answer answer = {.bytes = response.body,
		    .byte_count = response.body_length,
		    .now_utc_s = asking->now_utc_s};

		code = lt_json_source_parse(
		    asking->adapter, web->options, &answer, web->points, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

static void
ask_part(const struct asking *asking, const struct lt_json_request *request,
    const struct times *times, struct lt_fetch_part *part)
{
	part->asked = true;
	part->points.quantity = asking->adapter->gives;
	asking->web->points = &part->points;
	part->code = ask_source(asking, request, times, &part->err);
}

/* Measured values, not forecasts, count for a time that is over. */
static void
drop_past(struct lt_points *points, int64_t now_utc_s)
{
	size_t kept = 0;

	for (size_t i = 0; i < points->count; i++)
		if (points->points[i].end_utc_s > now_utc_s)
			points->points[kept++] = points->points[i];
	points->count = kept;
}

static void
ask_parts(const struct asking *asking, const struct lt_window *window, int64_t reach_utc_s,
    struct lt_fetch_parts *parts)
{
	const struct lt_json_source *const source = asking->adapter->json;
	const int64_t now_utc_s = window->now_utc_s;
	const bool has_past = source->past.path != NULL;
	const struct times ahead = {.start_utc_s = has_past ? now_utc_s : reach_utc_s};
	const struct times past = {.start_utc_s = window->from_utc_s,
	    .end_utc_s = window->to_utc_s < now_utc_s ? window->to_utc_s + source->margin_s : 0};

	if (!has_past || window->to_utc_s > now_utc_s)
		ask_part(asking, &source->ahead, &ahead, &parts->ahead);
	if (!has_past)
		return;
	drop_past(&parts->ahead.points, now_utc_s);
	if (window->from_utc_s < now_utc_s)
		ask_part(asking, &source->past, &past, &parts->past);
}

int
lt_json_source_fetch(const struct lt_adapter *adapter, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err)
{
	const struct lt_json_source *const source = adapter->json;
	const int64_t now_utc_s = window->now_utc_s;
	const int64_t least_utc_s = now_utc_s - source->reach_s;
	struct times times = {
	    .start_utc_s = window->from_utc_s < least_utc_s ? window->from_utc_s : least_utc_s,
	    .end_utc_s = now_utc_s};
	struct lt_fetch_parts parts = {0};
	struct lt_web web;
	const struct asking asking = {.adapter = adapter, .web = &web, .now_utc_s = now_utc_s};
	int code;

	points->quantity = adapter->gives;
	lt_web_start(&web, options, points);
	if (source->all.path != NULL) {
		if (source->rows.step_s > 0) /* whole steps */
			times.start_utc_s -= times.start_utc_s % source->rows.step_s;
		return ask_source(&asking, &source->all, &times, err);
	}
	ask_parts(&asking, window, times.start_utc_s, &parts);
	code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}
