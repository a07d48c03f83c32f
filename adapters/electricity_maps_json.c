/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads answers of the Electricity Maps API, version 3 or 4: one value, or a
 * list of them by hour. For electricity_maps.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "electricity_maps.h"
#include "units.h"

enum { STEP_S = LT_HOUR_S, ZONE_SIZE = 48 };

/* Whose values are wanted, and what the rows of one answer came to. */
struct reading {
	int64_t now_utc_s;
	const char *factors;
	/* As asked for; else that of the first row: one who asks by data centre
	 * does not know it. */
	char zone[ZONE_SIZE];
	int rows, empty, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static const char *
text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

/* Keys of the sandbox get made-up values, and say so. */
static bool
is_made_up(const json_t *json)
{
	const char *const method = text_of(json, "estimationMethod");
	const char *const disclaimer = text_of(json, "_disclaimer");

	return (method != NULL && strstr(method, "SANDBOX") != NULL) ||
	       (disclaimer != NULL && strstr(disclaimer, "SANDBOX") != NULL);
}

static int
fail_made_up(struct lt_error *err)
{
	return lt_fail(err, LT_EDENIED,
	    "made-up values (SANDBOX_MODE_DATA): the key is one of the sandbox, want one of a plan");
}

/* Of one row, or of the whole answer where rows do not say it. */
static int
check_zone(const char *zone, struct reading *reading, struct lt_error *err)
{
	if (zone == NULL)
		return lt_fail(err, LT_EINPUT, "a value without \"zone\"");
	if (reading->zone[0] == '\0')
		snprintf(reading->zone, sizeof(reading->zone), "%s", zone);
	if (strcmp(reading->zone, zone) == 0)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "zone: got \"%.40s\", want \"%s\"", zone,
	    reading->zone);
}

/* A key that may be left out, but has only one right value. */
static int
check_word(
    const json_t *row, const char *key, const char *want, struct lt_error *err)
{
	const char *const word = text_of(row, key);

	if (word == NULL || strcmp(word, want) == 0)
		return LT_OK;
	return lt_fail(
	    err, LT_EINPUT, "%s: got \"%.40s\", want \"%s\"", key, word, want);
}

/* Forecasts have no isEstimated; the hour that is now, nobody has measured. */
static enum lt_quality
quality_of(const json_t *row, const struct lt_point *point, int64_t now_utc_s)
{
	const json_t *const estimated = json_object_get(row, "isEstimated");

	if (point->start_utc_s > now_utc_s)
		return LT_QUALITY_FORECAST;
	if (json_is_false(estimated))
		return LT_QUALITY_MEASURED;
	return json_is_true(estimated) || point->end_utc_s <= now_utc_s
		   ? LT_QUALITY_ESTIMATED
		   : LT_QUALITY_FORECAST;
}

/* The time that the value is of is `datetime`; `updatedAt` is when it was
 * made, which may be days later. */
static int
read_row(const json_t *row, const json_t *answer, struct reading *reading,
    struct lt_point *point, struct lt_error *err)
{
	const char *const time = text_of(row, "datetime");
	const char *zone = text_of(row, "zone");
	int code;

	if (zone == NULL)
		zone = text_of(answer, "zone");
	code = check_zone(zone, reading, err);
	if (code == LT_OK)
		code = check_word(
		    row, "emissionFactorType", reading->factors, err);
	if (code == LT_OK)
		code = check_word(row, "temporalGranularity", "hourly", err);
	if (code != LT_OK)
		return code;
	if (time == NULL)
		return lt_fail(err, LT_EINPUT, "a value without \"datetime\"");
	if (lt_utc_parse(time, &point->start_utc_s, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT,
		    "datetime: got \"%.40s\", want a time", time);
	point->end_utc_s = point->start_utc_s + STEP_S;
	point->quality = quality_of(row, point, reading->now_utc_s);
	return LT_OK;
}

/* A value of null is a gap; one bad row must not cost the others. */
static int
add_row(const json_t *row, const json_t *answer, struct reading *reading,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const value = json_object_get(row, "carbonIntensity");
	struct lt_point point = {0};
	int code;

	reading->rows++;
	if (is_made_up(row))
		return fail_made_up(err);
	code = read_row(row, answer, reading, &point, &reading->refusal);
	if (code == LT_OK && json_is_null(value)) {
		reading->empty++;
		return LT_OK;
	}
	if (code == LT_OK && !lt_json_number(value, &point.value))
		code = lt_fail(&reading->refusal, LT_EINPUT,
		    "carbonIntensity is no number");
	if (code == LT_OK)
		code = lt_points_add(points, &point, &reading->refusal);
	if (code == LT_OK)
		return LT_OK;
	reading->refused++;
	return code == LT_EINPUT ? LT_OK
				 : lt_fail(err, (enum lt_code)code,
				       "no room for more points");
}

/* The rows of a list; NULL = the answer is one value itself. */
static const json_t *
find_rows(const json_t *answer)
{
	static const char *const keys[] = {"history", "forecast", "data"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *const rows = json_object_get(answer, keys[i]);

		if (json_is_array(rows))
			return rows;
	}
	return NULL;
}

static int
add_rows(const json_t *answer, const json_t *rows, struct reading *reading,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *row;
	size_t i;

	if (rows == NULL)
		return add_row(answer, answer, reading, points, err);
	json_array_foreach(rows, i, row) {
		const int code = add_row(row, answer, reading, points, err);

		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* {"error": "...", "message": "..."} with any status, or {"status": "no-data",
 * "data": {}} of older interfaces. "" = it is none. */
static void
error_words(char *out, size_t size, const json_t *answer)
{
	const char *const error = text_of(answer, "error");
	const char *const message = text_of(answer, "message");
	const char *const status = text_of(answer, "status");

	out[0] = '\0';
	if (error != NULL && message != NULL)
		snprintf(out, size, "%.100s %.90s", error, message);
	else if (error != NULL || message != NULL)
		snprintf(out, size, "%.190s", error != NULL ? error : message);
	else if (status != NULL && strcmp(status, "ok") != 0)
		snprintf(out, size, "%.100s", status);
}

void
lt_em_error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	error_words(out, size, json);
	json_decref(json);
}

static void
add_notes(const struct lt_source_options *options,
    const struct reading *reading, struct lt_points *points)
{
	points->note[0] = '\0'; /* of an answer before this one */
	if (lt_source_option(options, "zone", NULL) == NULL)
		lt_note_add(points, "zone %s", reading->zone);
	if (reading->refused + reading->empty > 0)
		lt_note_add(points, "%d of %d hours have no usable value",
		    reading->refused + reading->empty, reading->rows);
}

/* When a forecast was made is told once, for all of it. */
static void
date_points(const json_t *answer, int64_t now_utc_s, struct lt_points *points)
{
	const char *const made = text_of(answer, "updatedAt");
	int64_t made_utc_s;

	lt_points_date(points, now_utc_s);
	if (json_is_array(json_object_get(answer, "forecast")) &&
	    made != NULL && lt_utc_parse(made, &made_utc_s, NULL) == LT_OK &&
	    made_utc_s > 0 && made_utc_s <= now_utc_s)
		points->issued_utc_s = made_utc_s;
}

static int
parse_json(const struct lt_source_options *options, const json_t *answer,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {.now_utc_s = now_utc_s};
	const json_t *const rows = find_rows(answer);
	const size_t before = points->count;
	char words[256];
	int code;

	snprintf(reading.zone, sizeof(reading.zone), "%s",
	    lt_source_option(options, "zone", ""));
	reading.factors =
	    lt_source_option(options, "emission_factors", LT_EM_FACTORS);
	/* What is missing is null; a life cycle always emits something. */
	points->zero_is_data = strcmp(reading.factors, "direct") == 0;
	error_words(words, sizeof(words), answer);
	if (words[0] != '\0')
		return lt_fail(err, LT_ENET, "the source says: %s", words);
	if (is_made_up(answer))
		return fail_made_up(err);
	if (rows == NULL && json_object_get(answer, "carbonIntensity") == NULL)
		return lt_fail(
		    err, LT_EINPUT, "JSON without \"carbonIntensity\"");
	code = check_word(answer, "temporalGranularity", "hourly", err);
	points->quantity = LT_QUANTITY_CARBON;
	if (code == LT_OK)
		code = add_rows(answer, rows, &reading, points, err);
	if (code != LT_OK)
		return code;
	if (points->count == before)
		return lt_fail(err, LT_EINPUT,
		    "%d hours and no usable value among them%s%s", reading.rows,
		    reading.refused > 0 ? ": " : "", reading.refusal.text);
	add_notes(options, &reading, points);
	lt_points_sort(points);
	date_points(answer, now_utc_s, points);
	return LT_OK;
}

int
lt_em_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}
