/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON data file of the Carbon Aware SDK, read without the SDK: emissions
 * of many locations, and forecasts. docs/sources/carbon_aware_file.md.
 */
#include <stdlib.h>
#include <string.h>

#include "carbon_aware.h"
#include "plain_file.h"
#include "units.h"

static const struct lt_adapter_option file_options[] = {
    {"path", true, "the file; an absolute path", NULL},
    {"location", true, "name of a location in it, as eastus", NULL},
    {"intensity", false, "average or marginal: what the file holds", "average"},
    LT_BASIS_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct lt_carbon_keys keys = {"Time", "Rating", "Duration"};

static int
file_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const path = lt_source_option(options, "path", "");

	if (path[0] != '/')
		return lt_option_fail(options, "path", err,
		    "%s: path: got \"%s\", want an absolute path",
		    options->name, path);
	return lt_carbon_check(options, err);
}

static const char *
text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* {Location: {Name}, GeneratedAt, ForecastData: rows}, of newer SDKs. */
static int
add_forecasts(const json_t *forecasts, const char *asked,
    struct lt_carbon_rows *rows, struct lt_points *points, struct lt_error *err)
{
	const json_t *forecast;
	size_t i;

	rows->is_forecast = true;
	json_array_foreach(forecasts, i, forecast) {
		const char *const location =
		    text_of(json_object_get(forecast, "Location"), "Name");

		if (location == NULL || strcmp(location, asked) != 0) {
			if (rows->other == NULL)
				rows->other = location;
			continue;
		}
		const int code = lt_carbon_read(rows,
		    json_object_get(forecast, "ForecastData"), &keys, points,
		    err);
		if (code != LT_OK)
			return code;
	}
	return LT_OK;
}

/* What stands in the file of the SDK's own examples. */
static int
check_real(const json_t *json, struct lt_error *err)
{
	const char *const text = text_of(json, "Description");

	return text != NULL && strcasestr(text, "fictional") != NULL
		   ? lt_fail(err, LT_EINPUT,
			 "its Description says that the data is fictional: \"%.100s\"",
			 text)
		   : LT_OK;
}

static int
parse_json(const struct lt_source_options *options, const json_t *json,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	const json_t *const emissions =
	    json_is_array(json) ? json : json_object_get(json, "Emissions");
	const json_t *const forecasts =
	    json_object_get(json, "EmissionsForecasts");
	const char *const asked = lt_source_option(options, "location", "");
	struct lt_carbon_rows rows = {.now_utc_s = now_utc_s};
	int code;

	points->quantity = lt_carbon_quantity(options);
	if (!json_is_array(emissions) && !json_is_array(forecasts))
		return lt_fail(
		    err, LT_EINPUT, "JSON without a list, or \"Emissions\"");
	code = check_real(json, err);
	/* Forecasts first: what is known of a time comes after, and wins. */
	if (code == LT_OK)
		code = add_forecasts(forecasts, asked, &rows, points, err);
	rows.is_forecast = false;
	rows.asked = asked;
	if (code == LT_OK)
		code = lt_carbon_read(&rows, emissions, &keys, points, err);
	if (code != LT_OK)
		return code;
	if (rows.seen == 0)
		return lt_fail(err, LT_EINPUT,
		    "no row of location \"%s\"%s%.60s%s", asked,
		    rows.other == NULL ? "" : "; there is \"",
		    rows.other == NULL ? "" : rows.other,
		    rows.other == NULL ? "" : "\"");
	code = lt_carbon_tally(&rows, points, err);
	if (code != LT_OK)
		return code;
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
file_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

static int
file_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
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
	    &(struct lt_answer){bytes, byte_count, window->now_utc_s}, &all,
	    &inner);
	free(bytes);
	if (code == LT_OK) {
		memcpy(points->note, all.note, sizeof(points->note));
		code = lt_points_copy(
		    points, &all, window->from_utc_s, window->to_utc_s, &inner);
	}
	if (code == LT_OK && points->count == 0)
		code = lt_fail(&inner, LT_EINPUT,
		    "nothing of the time that was asked for");
	lt_points_free(&all);
	if (code == LT_OK)
		return LT_OK;
	if (inner.line != 0)
		lt_fail(err, (enum lt_code)code, "%s:%d:%d: %s", path,
		    inner.line, inner.column, inner.text);
	else
		lt_fail(err, (enum lt_code)code, "%s: %s", path, inner.text);
	return lt_error_mend(err, code); /* cut, maybe in a character */
}

const struct lt_adapter lt_adapter_carbon_aware_file = {
    .name = "carbon_aware_file",
    .usage = "JSON data file of the Carbon Aware SDK",
    .options = file_options,
    .interval_s = 5 * 60,
    .quantity = lt_carbon_quantity,
    .check = file_check,
    .fetch = file_fetch,
    .parse = file_parse,
};
