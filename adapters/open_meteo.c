/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weather forecasts in the format of Open-Meteo's API, by the hour: the mean of a few places of a
 * grid's zone. docs/sources/open_meteo.md.
 *
 * Missing: null. 0 is data: calms, nights and frost are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "source.h"
#include "units.h"
#include "web.h"

enum {
	PLACES_MAX = 16,
	INTERVAL_S = 3 * LT_HOUR_S,
	PAST_DAYS = 92, /* the most that it has */
	AHEAD_DAYS = 15,
	HOURS_MAX = (PAST_DAYS + AHEAD_DAYS + 2) * 24,
	GAP_MS = 100,
};

#define FORECAST "v1/forecast"

static const struct lt_adapter_option meteo_options[] = {
    {"url", true, "base URL, as https://api.open-meteo.com", NULL},
    {"places", true, "latitude,longitude,weight of each; \"51.5,-0.1,2; 55.9,-3.2,1\"", NULL},
    {"variable", true, "as wind_speed_100m, shortwave_radiation, temperature_2m", NULL},
    {"key_file", false, "file of mode 0600 with the API key", NULL},
    {"key_env", false, "environment variable with it, instead", NULL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct kind { /* of variables, by how their names begin */
	const char *prefix;
	enum lt_quantity quantity;
	int64_t back_s; /* its hour begins so long before its time */
} kinds[] = {
    {"wind_speed_", LT_QUANTITY_WIND, 0},
    {"windspeed_", LT_QUANTITY_WIND, 0}, /* until 2023 */
    {"temperature_", LT_QUANTITY_TEMPERATURE, 0},
    /* The mean of the hour before. */
    {"shortwave_radiation", LT_QUANTITY_SUN, LT_HOUR_S},
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static const struct {
	enum lt_quantity quantity;
	const char *unit;
	double factor;
} units[] = {
    {LT_QUANTITY_WIND, "m/s", 1},
    {LT_QUANTITY_WIND, "km/h", 1 / 3.6},
    {LT_QUANTITY_TEMPERATURE, "\u00b0C", 1},
    {LT_QUANTITY_SUN, "W/m\u00b2", 1},
};

struct place {
	double latitude, longitude, weight;
};

/* ---- options ---- */

static const char *
variable_of(const struct lt_source_options *options)
{
	return lt_source_option(options, "variable", "");
}

/* NULL = none. */
static const struct kind *
kind_of(const struct lt_source_options *options)
{
	const char *const variable = variable_of(options);

	for (int i = 0; i < KIND_COUNT; i++)
		if (strncmp(variable, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return &kinds[i];
	return NULL;
}

static enum lt_quantity
meteo_quantity(const struct lt_source_options *options)
{
	const struct kind *const kind = kind_of(options);

	return kind != NULL ? kind->quantity : LT_QUANTITY_WIND;
}

static int
check_variable(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const variable = variable_of(options);

	if (kind_of(options) == NULL || strlen(variable) > 40 ||
	    strspn(variable, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(variable))
		return lt_option_fail(options, "variable", err,
		    "%s: variable: got \"%.40s\", want one such as wind_speed_100m, shortwave_radiation or temperature_2m",
		    options->name, variable);
	return LT_OK;
}

/* "51.5,-0.1,2" up to the end of text. */
static bool
read_place(const char *text, struct place *place)
{
	char words[3][32] = {"", "", "1"};
	int end = -1;
	const int count = sscanf(text, " %31[0-9.+-] , %31[0-9.+-] %n,", words[0], words[1], &end);

	if (count != 2 || end < 0)
		return false;
	if (text[end] == ',') {
		const char *const rest = text + end + 1;

		end = -1;
		if (sscanf(rest, " %31[0-9.] %n", words[2], &end) != 1 || end < 0 ||
		    rest[end] != '\0')
			return false;
	} else if (text[end] != '\0') {
		return false;
	}
	return lt_double_parse(words[0], &place->latitude, NULL) == LT_OK &&
	       lt_double_parse(words[1], &place->longitude, NULL) == LT_OK &&
	       lt_double_parse(words[2], &place->weight, NULL) == LT_OK &&
	       fabs(place->latitude) <= 90 && fabs(place->longitude) <= 180 && place->weight > 0;
}

/* Returns how many, or an error. */
static int
read_places(
    const struct lt_source_options *options, struct place places[PLACES_MAX], struct lt_error *err)
{
	const char *at = lt_source_option(options, "places", "");
	int count = 0;

	for (;;) {
		const size_t length = strcspn(at, ";");
		char text[128];

		if (count == PLACES_MAX)
			return lt_option_fail(options, "places", err,
			    "%s: places: got more than %d", options->name, PLACES_MAX);
		snprintf(text, sizeof(text), "%.*s",
		    (int)(length < sizeof(text) ? length : sizeof(text)), at);
		if (!read_place(text, &places[count]))
			return lt_option_fail(options, "places", err,
			    "%s: places: got \"%.60s\", want latitude,longitude or latitude,longitude,weight in degrees, such as 51.5,-0.1,2",
			    options->name, text);
		count++;
		if (at[length] == '\0')
			return count;
		at += length + 1;
	}
}

static int
meteo_check(const struct lt_source_options *options, struct lt_error *err)
{
	struct place places[PLACES_MAX];
	const int count = read_places(options, places, err);
	int code = count < 0 ? count : check_variable(options, err);

	if (code == LT_OK)
		code = lt_secret_check(options, "key", false, err);
	return code;
}

/* ---- an answer ---- */

struct reading { /* of one answer */
	const struct kind *kind;
	double factor;
	int64_t offset_s; /* of its times from UTC */
};

static int
read_unit(const struct lt_source_options *options, const json_t *json, struct reading *reading,
    struct lt_error *err)
{
	const char *const variable = variable_of(options);
	const char *const unit =
	    json_string_value(json_object_get(json_object_get(json, "hourly_units"), variable));

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (unit != NULL && units[i].quantity == reading->kind->quantity &&
		    strcmp(units[i].unit, unit) == 0)
			reading->factor = units[i].factor;
	if (reading->factor > 0)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "hourly_units: %s is in \"%.20s\", want %s", variable,
	    unit != NULL ? unit : "", lt_quantity_unit(reading->kind->quantity));
}

/* One hour; null is missing. */
static int
add_hour(const struct reading *reading, const json_t *time, const json_t *cell,
    struct lt_points *points, struct lt_error *err)
{
	struct lt_point point = {.quality = LT_QUALITY_FORECAST};
	char text[40];

	if (cell == NULL || json_is_null(cell))
		return LT_OK;
	snprintf(text, sizeof(text), "%.30sZ", json_is_string(time) ? json_string_value(time) : "");
	if (lt_utc_parse(text, &point.start_utc_s, NULL) != LT_OK)
		return lt_fail(
		    err, LT_EINPUT, "time: got \"%.30s\", want one such as 2026-11-21T02:00", text);
	if (!lt_json_number(cell, &point.value))
		return lt_fail(err, LT_EINPUT, "a value that is no number at %s", text);
	point.value *= reading->factor;
	/* The models' own rounding, at night. */
	if (reading->kind->quantity == LT_QUANTITY_SUN && point.value < 0 && point.value > -1)
		point.value = 0;
	point.start_utc_s -= reading->offset_s + reading->kind->back_s;
	point.end_utc_s = point.start_utc_s + LT_HOUR_S;
	return lt_points_add(points, &point, err);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {.kind = kind_of(options),
	    .offset_s = json_integer_value(json_object_get(json, "utc_offset_seconds"))};
	const json_t *const hourly = json_object_get(json, "hourly");
	const json_t *const times = json_object_get(hourly, "time");
	const json_t *const values = json_object_get(hourly, variable_of(options));
	int code = check_variable(options, err);

	if (code != LT_OK)
		return code;
	if (!json_is_array(times) || !json_is_array(values))
		return lt_fail(err, LT_EINPUT,
		    "JSON without lists \"time\" and \"%s\" in \"hourly\"", variable_of(options));
	if (json_array_size(times) != json_array_size(values) || json_array_size(times) > HOURS_MAX)
		return lt_fail(err, LT_EINPUT,
		    "%zu values for %zu times, want one for each, at most %d",
		    json_array_size(values), json_array_size(times), HOURS_MAX);
	if (reading.offset_s % LT_HOUR_S != 0 || reading.offset_s > LT_DAY_S ||
	    reading.offset_s < -LT_DAY_S)
		return lt_fail(err, LT_EINPUT, "utc_offset_seconds: want whole hours");
	code = read_unit(options, json, &reading, err);
	points->quantity = reading.kind->quantity;
	for (size_t i = 0; code == LT_OK && i < json_array_size(times); i++)
		code = add_hour(
		    &reading, json_array_get(times, i), json_array_get(values, i), points, err);
	if (code == LT_OK && points->count == 0)
		code = lt_fail(err, LT_EINPUT, "no value of %s for %zu times", variable_of(options),
		    json_array_size(times));
	if (code != LT_OK)
		return code;
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
meteo_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

/* ---- requests ---- */

/* {"error": true, "reason": "..."} */
static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const char *const reason = json_string_value(json_object_get(json, "reason"));

	if (reason != NULL)
		snprintf(out, size, "%.200s", reason);
	json_decref(json);
}

static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options, const struct place *place,
    const struct lt_window *window, struct lt_error *err)
{
	char latitude[32], longitude[32], past[16], ahead[16];
	/* Its days begin at midnight; all that it has, where more than the last ones are wanted. */
	const int64_t days = (window->now_utc_s - window->from_utc_s) / LT_DAY_S + 1;
	const int past_days = days > AHEAD_DAYS ? PAST_DAYS : days < 0 ? 0 : (int)days;
	const struct lt_query query[] = {
	    {"latitude", latitude},
	    {"longitude", longitude},
	    {"hourly", variable_of(options)},
	    {"wind_speed_unit", "ms"},
	    {"timezone", "GMT"},
	    {"past_days", past},
	    {"forecast_days", ahead},
	    {NULL, NULL},
	};
	int code = lt_url_start(out, lt_source_option(options, "url", ""), FORECAST, err);

	snprintf(latitude, sizeof(latitude), "%.6g", place->latitude);
	snprintf(longitude, sizeof(longitude), "%.6g", place->longitude);
	snprintf(past, sizeof(past), "%d", past_days);
	snprintf(ahead, sizeof(ahead), "%d", AHEAD_DAYS);
	return code == LT_OK ? lt_url_query(out, query, err) : code;
}

static bool
has_key(const struct lt_source_options *options)
{
	return lt_source_option(options, "key_file", NULL) != NULL ||
	       lt_source_option(options, "key_env", NULL) != NULL;
}

struct mean {		     /* over places, by the hour */
	int64_t first_utc_s; /* INT64_MIN = none came yet */
	double sums[HOURS_MAX], weights[HOURS_MAX];
};

static void
add_to_mean(struct mean *mean, const struct lt_points *points, double weight)
{
	if (mean->first_utc_s == INT64_MIN)
		mean->first_utc_s = points->points[0].start_utc_s;
	for (size_t i = 0; i < points->count; i++) {
		const struct lt_point *const point = &points->points[i];
		const int64_t hour = (point->start_utc_s - mean->first_utc_s) / LT_HOUR_S;

		if (hour < 0 || hour >= HOURS_MAX)
			continue;
		mean->sums[hour] += weight * point->value;
		mean->weights[hour] += weight;
	}
}

/* An hour that a place does not have is nobody's: the mean of the others
 * would be of another zone. */
static int
take_mean(const struct mean *mean, double weight, struct lt_points *points, struct lt_error *err)
{
	int code = LT_OK;

	for (int i = 0; i < HOURS_MAX && code == LT_OK; i++) {
		const int64_t start_utc_s = mean->first_utc_s + (int64_t)i * LT_HOUR_S;

		if (mean->weights[i] > weight * (1 - 1e-9))
			code = lt_points_add(points,
			    &(struct lt_point){.start_utc_s = start_utc_s,
				.end_utc_s = start_utc_s + LT_HOUR_S,
				.value = mean->sums[i] / mean->weights[i],
				.quality = LT_QUALITY_FORECAST},
			    err);
	}
	if (code == LT_OK && points->count == 0)
		code = lt_fail(err, LT_EINPUT, "no hour that all its places have");
	return code;
}

static int
request_all(struct lt_web *web, const struct place *places, int count,
    const struct lt_window *window, struct lt_error *err)
{
	struct lt_points *const points = web->points;
	char url[LT_URL_SIZE], query[LT_SECRET_SIZE] = "";
	const struct lt_web_request request = {
	    .url = url,
	    .secret_query = has_key(web->options) ? query : NULL,
	    .headers = {"Accept: application/json"},
	    .gap_ms = GAP_MS,
	    .error_text = error_text,
	};
	struct mean mean = {.first_utc_s = INT64_MIN};
	double weight = 0;
	int code = LT_OK;

	if (has_key(web->options))
		code = lt_web_secret_query(query, web->options, "key", "apikey", err);
	for (int i = 0; i < count && code == LT_OK; i++) {
		struct lt_points one = {0};

		web->points = &one;
		code = make_url(url, web->options, &places[i], window, err);
		if (code == LT_OK)
			code = lt_web_points(web, &request, meteo_parse, window->now_utc_s, err);
		if (code == LT_OK)
			add_to_mean(&mean, &one, places[i].weight);
		points->retry_after_s = one.retry_after_s;
		lt_points_free(&one);
		weight += places[i].weight;
	}
	explicit_bzero(query, sizeof(query));
	web->points = points;
	return code == LT_OK ? take_mean(&mean, weight, points, err) : code;
}

static int
meteo_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct place places[PLACES_MAX];
	struct lt_web web;
	const int count = read_places(options, places, err);

	lt_web_start(&web, options, points);
	points->quantity = meteo_quantity(options);
	return count < 0 ? count : request_all(&web, places, count, window, err);
}

const struct lt_adapter lt_adapter_open_meteo = {
    .name = "open_meteo",
    .usage = "weather forecasts of places, in Open-Meteo's format",
    .options = meteo_options,
    .interval_s = INTERVAL_S,
    .quantity = meteo_quantity,
    .check = meteo_check,
    .fetch = meteo_fetch,
    .parse = meteo_parse,
};
