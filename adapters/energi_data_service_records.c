/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energi Data Service of Energinet (Denmark): records of its datasets, and the
 * requests. For energi_data_service.c and _price.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "energi_data_service.h"
#include "units.h"
#include "web.h"

enum {
	/* Start and end are taken as Danish time, which is up to two hours
	 * ahead: what was meant as UTC begins early, and must end later. More
	 * than asked for is dropped. */
	MARGIN_S = 3 * LT_HOUR_S,
	PAUSE_S = 60, /* one request a minute, dataset and address */
};

int
lt_eds_area_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const area = lt_source_option(options, "area", "");

	return strcmp(area, "DK1") == 0 || strcmp(area, "DK2") == 0
		   ? LT_OK
		   : lt_option_fail(options, "area", err,
			 "%s: area: got \"%s\", want DK1 (west) or DK2 (east)",
			 options->name, area);
}

/* ---- an answer ---- */

struct reading { /* of one answer */
	const struct lt_eds_dataset *dataset;
	const struct lt_tariff_terms *terms;
	const char *area;
	int64_t now_utc_s;
	struct lt_points *points;
	size_t empty, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static const struct lt_eds_dataset *
find_dataset(const struct lt_eds_dataset *datasets, const json_t *json,
    struct lt_error *err)
{
	const char *const name =
	    json_string_value(json_object_get(json, "dataset"));

	for (; name != NULL && datasets->name != NULL; datasets++)
		if (strcmp(datasets->name, name) == 0)
			return datasets;
	lt_fail(err, LT_EINPUT, "dataset: got \"%.40s\", want %s",
	    name == NULL ? "" : name,
	    datasets->name == NULL ? "one that was asked for" : datasets->name);
	return NULL;
}

/* "2025-09-27T21:00:00", in UTC though it does not say so. */
static bool
read_time(const json_t *value, int64_t *utc_s)
{
	const char *const text = json_string_value(value);
	char whole[32];

	if (text == NULL || strlen(text) != 19)
		return false;
	snprintf(whole, sizeof(whole), "%sZ", text);
	return lt_utc_parse(whole, utc_s, NULL) == LT_OK;
}

static enum lt_quality
quality_of(const struct reading *reading, const struct lt_point *point)
{
	if (!reading->dataset->is_outlook)
		return point->start_utc_s <= reading->now_utc_s
			   ? LT_QUALITY_MEASURED
			   : LT_QUALITY_FORECAST;
	return point->end_utc_s <= reading->now_utc_s ? LT_QUALITY_ESTIMATED
						      : LT_QUALITY_FORECAST;
}

/* One bad record must not cost the others. */
static int
add_record(struct reading *reading, const json_t *record)
{
	const struct lt_eds_dataset *const dataset = reading->dataset;
	const char *const area =
	    json_string_value(json_object_get(record, "PriceArea"));
	const json_t *const value = json_object_get(record, dataset->value);
	struct lt_point point;

	if (area == NULL || strcmp(area, reading->area) != 0)
		return lt_fail(&reading->refusal, LT_EINPUT,
		    "PriceArea: got \"%.16s\", want %s",
		    area == NULL ? "" : area, reading->area);
	if (!read_time(
		json_object_get(record, dataset->time), &point.start_utc_s))
		return lt_fail(&reading->refusal, LT_EINPUT,
		    "a record without %s", dataset->time);
	if (value == NULL || json_is_null(value)) {
		reading->empty++;
		return LT_OK;
	}
	if (!lt_json_number(value, &point.value))
		return lt_fail(&reading->refusal, LT_EINPUT, "%s: no number",
		    dataset->value);
	if (reading->terms != NULL)
		point.value = lt_tariff_micros(reading->terms, point.value);
	point.end_utc_s = point.start_utc_s + dataset->step_s;
	point.quality = quality_of(reading, &point);
	return lt_points_add(reading->points, &point, &reading->refusal);
}

static int
add_records(
    struct reading *reading, const json_t *records, struct lt_error *err)
{
	struct lt_points *const points = reading->points;
	const json_t *record;
	size_t i;

	json_array_foreach(records, i, record) {
		const int code = add_record(reading, record);

		if (code == LT_EINPUT)
			reading->refused++;
		else if (code != LT_OK)
			return lt_error_give(err, code, &reading->refusal);
	}
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT,
		    "%zu records and no usable value among them%s%s",
		    json_array_size(records), reading->refused > 0 ? ": " : "",
		    reading->refusal.text);
	points->note[0] = '\0'; /* of an answer before this one */
	if (reading->refused > 0)
		lt_note_add(points, "%zu of %zu records refused: %.80s",
		    reading->refused, json_array_size(records),
		    reading->refusal.text);
	if (reading->empty > 0)
		lt_note_add(points, "%zu of %zu records have no value",
		    reading->empty, json_array_size(records));
	lt_points_sort(points);
	lt_points_date(points, reading->now_utc_s);
	return LT_OK;
}

int
lt_eds_read(const struct lt_source_options *options,
    const struct lt_eds_wanted *wanted, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {
	    .terms = wanted->terms,
	    .area = lt_source_option(options, "area", ""),
	    .now_utc_s = answer->now_utc_s,
	    .points = points,
	};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	const json_t *const records = json_object_get(json, "records");

	if (!json_is_array(records))
		code = lt_fail(err, LT_EINPUT, "JSON without \"records\"");
	else if ((reading.dataset =
			 find_dataset(wanted->datasets, json, err)) == NULL)
		code = LT_EINPUT;
	else
		code = add_records(&reading, records, err);
	json_decref(json);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

/* "2026-10-05T22:00" */
static int
add_time(
    char url[LT_URL_SIZE], const char *key, int64_t utc_s, struct lt_error *err)
{
	char text[32];

	lt_utc_text(text, sizeof(text), utc_s);
	text[strlen("2026-10-05T22:00")] = '\0';
	return lt_url_add(url, key, text, err);
}

int
lt_eds_request(struct lt_web *web, const struct lt_eds_dataset *dataset,
    lt_parse_fn *parse, const struct lt_window *window, struct lt_error *err)
{
	const struct lt_source_options *const options = web->options;
	char url[LT_URL_SIZE], path[64], filter[64], columns[96];
	const struct {
		const char *key, *value;
	} query[] = {
	    {"filter", filter}, {"columns", columns},
	    {"limit", "0"}, /* no limit but the times */
	};
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	};
	int code;

	snprintf(path, sizeof(path), "dataset/%s", dataset->name);
	snprintf(filter, sizeof(filter), "{\"PriceArea\":[\"%.8s\"]}",
	    lt_source_option(options, "area", ""));
	snprintf(columns, sizeof(columns), "%s,PriceArea,%s", dataset->time,
	    dataset->value);
	code = lt_url_start(
	    url, lt_source_option(options, "url", LT_EDS_URL), path, err);
	if (code == LT_OK)
		code = add_time(url, "start", window->from_utc_s, err);
	if (code == LT_OK && window->to_utc_s != 0)
		code = add_time(url, "end", window->to_utc_s + MARGIN_S, err);
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
		if (code == LT_OK)
			code =
			    lt_url_add(url, query[i].key, query[i].value, err);
	if (code == LT_OK)
		code =
		    lt_web_points(web, &request, parse, window->now_utc_s, err);
	if (lt_web_status(web) == 429 && web->points->retry_after_s < PAUSE_S)
		web->points->retry_after_s = PAUSE_S;
	return code;
}
