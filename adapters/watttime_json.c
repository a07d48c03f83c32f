/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of WattTime's v3 API to points: pounds per MWh become grams per
 * kWh, the last revision of a value wins. Between watttime.c and the daemon.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "units.h"
#include "watttime.h"

static const char units[] = "lbs_co2_per_mwh", signal_type[] = "co2_moer";
static const double g_per_lb = 453.59237; /* exact, by definition */

struct row { /* as added, so that equal revisions keep their order */
	struct lt_point point;
	int64_t revised_utc_s;
	size_t index;
};

struct answer {
	int64_t now_utc_s, step_s;
	bool is_forecast;
	int64_t issued_utc_s;
	size_t seen, refused, count, capacity;
	struct row *rows;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* "" in words: none. Some errors are a list of what is wrong with what. */
static const char *
message_of(const json_t *message)
{
	const json_t *const first =
	    json_is_array(message) ? json_array_get(message, 0) : message;
	const char *const text = json_is_object(first)
				     ? text_of(first, "msg")
				     : json_string_value(first);

	return text == NULL ? "" : text;
}

void
lt_watttime_error(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const char *const error = message_of(json_object_get(json, "error"));
	const char *message = message_of(json_object_get(json, "message"));
	if (message[0] == '\0')
		message = message_of(json_object_get(json, "detail"));
	/* The error before it says "Invalid query parameters". */
	if (strncmp(message, "Invalid scope", 13) == 0)
		snprintf(out, size, "not in this account's plan: %s", message);
	else
		snprintf(out, size, "%s%s%s", error,
		    error[0] != '\0' && message[0] != '\0' ? ": " : "",
		    message);
	json_decref(json);
}

int
lt_watttime_text(char *out, size_t size, const struct lt_answer *answer,
    const char *key, struct lt_error *err)
{
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return code;
	const char *const text = text_of(json, key);
	if (text == NULL || text[0] == '\0' || strlen(text) >= size)
		code = lt_fail(err, LT_EINPUT,
		    "want \"%s\" of 1 to %zu bytes in the answer", key,
		    size - 1);
	else
		strcpy(out, text);
	json_decref(json);
	return code;
}

/* ---- rows ---- */

static int
row_add(struct answer *answer, const struct row *row, struct lt_error *err)
{
	struct row *const grown = lt_items_grow(
	    answer->rows, &answer->capacity, answer->count, sizeof(*grown));

	if (grown == NULL)
		return lt_fail(err, LT_ENOMEM, "%zu rows", answer->count + 1);
	answer->rows = grown;
	answer->rows[answer->count] = *row;
	answer->rows[answer->count].index = answer->count;
	answer->count++;
	return LT_OK;
}

/* One bad value must not cost the others. */
static bool
row_read(struct answer *answer, const json_t *json, struct row *row)
{
	struct lt_error *const err = &answer->refusal;
	struct lt_point *const point = &row->point;
	const char *const time = text_of(json, "point_time");
	const char *const revised = text_of(json, "last_updated");

	if (time == NULL)
		lt_fail(err, LT_EINPUT, "a row without \"point_time\"");
	if (time == NULL || lt_utc_parse(time, &point->start_utc_s, err))
		return false;
	if (!lt_json_number(json_object_get(json, "value"), &point->value)) {
		lt_fail(err, LT_EINPUT, "%s: no value", time);
		return false;
	}
	if (revised != NULL)
		(void)lt_utc_parse(revised, &row->revised_utc_s, NULL);
	point->end_utc_s = point->start_utc_s + answer->step_s;
	point->value = point->value * g_per_lb / 1000;
	if (answer->is_forecast)
		point->quality = point->end_utc_s <= answer->now_utc_s
				     ? LT_QUALITY_ESTIMATED
				     : LT_QUALITY_FORECAST;
	else
		point->quality =
		    json_is_true(json_object_get(json, "imputed_data_used"))
			? LT_QUALITY_ESTIMATED
			: LT_QUALITY_MEASURED;
	return true;
}

static int
read_rows(struct answer *answer, const json_t *list, struct lt_error *err)
{
	const json_t *json;
	size_t i;

	json_array_foreach(list, i, json) {
		struct row row = {0};
		int code = LT_OK;

		answer->seen++;
		if (row_read(answer, json, &row))
			code = row_add(answer, &row, err);
		else
			answer->refused++;
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* Past forecasts are a list of {generated_at, forecast}: each revises those
 * before it. */
static int
read_data(struct answer *answer, const json_t *data, struct lt_error *err)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(
		json_object_get(json_array_get(data, 0), "forecast")))
		return read_rows(answer, data, err);
	answer->is_forecast = true;
	json_array_foreach(data, i, item) {
		const char *const issued = text_of(item, "generated_at");
		const int code =
		    read_rows(answer, json_object_get(item, "forecast"), err);

		if (code != LT_OK)
			return code;
		if (issued != NULL)
			(void)lt_utc_parse(issued, &answer->issued_utc_s, NULL);
	}
	return LT_OK;
}

static int
by_revision(const void *left, const void *right)
{
	const struct row *const a = left, *const b = right;

	if (a->revised_utc_s != b->revised_utc_s)
		return a->revised_utc_s < b->revised_utc_s ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static int
add_points(
    struct answer *answer, struct lt_points *points, struct lt_error *err)
{
	/* Curtailment; what is missing has no row, or null. */
	points->zero_is_data = true;
	if (answer->count > 0)
		qsort(answer->rows, answer->count, sizeof(*answer->rows),
		    by_revision);
	for (size_t i = 0; i < answer->count; i++) {
		const int code = lt_points_add(
		    points, &answer->rows[i].point, &answer->refusal);

		if (code == LT_EINPUT)
			answer->refused++;
		else if (code != LT_OK)
			return lt_fail(
			    err, (enum lt_code)code, "no room for more points");
	}
	if (answer->seen == 0)
		return lt_fail(err, LT_EINPUT, "no value in the answer");
	if (answer->refused == answer->seen)
		return lt_fail(err, LT_EINPUT,
		    "%zu values and none that can be used: %s", answer->seen,
		    answer->refusal.text);
	if (answer->refused > 0)
		lt_note_add(points, "%zu of %zu values can't be used",
		    answer->refused, answer->seen);
	return LT_OK;
}

/* ---- meta ---- */

static int
want_text(const json_t *meta, const char *key, const char *wanted,
    struct lt_error *err)
{
	const char *const text = text_of(meta, key);

	return text != NULL && strcmp(text, wanted) == 0
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "%s: got \"%.60s\", want %s", key,
			 text == NULL ? "nothing" : text, wanted);
}

static int
read_meta(const struct lt_source_options *options, const json_t *meta,
    struct answer *answer, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", NULL);
	const char *const issued = text_of(meta, "generated_at");
	double step_s = 0;
	int code = want_text(meta, "units", units, err);

	if (code == LT_OK && text_of(meta, "signal_type") != NULL)
		code = want_text(meta, "signal_type", signal_type, err);
	if (code == LT_OK && region != NULL)
		code = want_text(meta, "region", region, err);
	if (code != LT_OK)
		return code;
	/* A client's model of this answer has the other spelling. */
	if (!lt_json_number(
		json_object_get(meta, "data_point_period_seconds"), &step_s))
		(void)lt_json_number(
		    json_object_get(meta, "data_point_periods_second"),
		    &step_s);
	if (!(step_s >= 60 && step_s <= LT_DAY_S))
		return lt_fail(err, LT_EINPUT,
		    "data_point_period_seconds: got %g, want 60 to %d", step_s,
		    LT_DAY_S);
	answer->step_s = (int64_t)step_s;
	answer->is_forecast = issued != NULL;
	return issued == NULL
		   ? LT_OK
		   : lt_utc_parse(issued, &answer->issued_utc_s, err);
}

/* Texts, or {type, message}. */
static void
note_warnings(const json_t *warnings, struct lt_points *points)
{
	const json_t *const first = json_array_get(warnings, 0);
	const char *const text = json_is_object(first)
				     ? text_of(first, "message")
				     : json_string_value(first);

	if (json_array_size(warnings) > 0)
		lt_note_add(points, "WattTime warns: %.120s",
		    text == NULL ? "without words" : text);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json,
    struct answer *answer, struct lt_points *points, struct lt_error *err)
{
	const json_t *const data = json_object_get(json, "data");
	const json_t *const meta = json_object_get(json, "meta");
	int code;

	if (!json_is_array(data) || !json_is_object(meta))
		return lt_fail(
		    err, LT_EINPUT, "JSON without \"data\" and \"meta\"");
	points->quantity = LT_QUANTITY_MARGINAL;
	code = read_meta(options, meta, answer, err);
	if (code == LT_OK)
		code = read_data(answer, data, err);
	if (code == LT_OK)
		code = add_points(answer, points, err);
	if (code != LT_OK)
		return code;
	note_warnings(json_object_get(meta, "warnings"), points);
	lt_points_sort(points);
	/* A clock of theirs that runs before ours: as new as can be. */
	if (answer->is_forecast)
		points->issued_utc_s = answer->issued_utc_s < answer->now_utc_s
					   ? answer->issued_utc_s
					   : 0;
	else
		lt_points_date(points, answer->now_utc_s);
	return LT_OK;
}

int
lt_watttime_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	struct answer read = {.now_utc_s = answer->now_utc_s};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	code = parse_json(options, json, &read, points, err);
	json_decref(json);
	free(read.rows);
	return lt_error_mend(err, code);
}
