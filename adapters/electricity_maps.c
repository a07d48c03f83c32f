/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity by Electricity Maps (a key is needed): the present, history and, where the plan
 * has one, a forecast, by version 3 or 4 of its API. An answer is one value, or a list of them by
 * hour. One that has no usable value is LT_EINPUT; made-up values of a sandbox's key are
 * LT_EDENIED. docs/sources/electricity_maps.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fetch_parts.h"
#include "source.h"
#include "units.h"
#include "web.h"

#define FACTORS "lifecycle" /* emission_factors, when not given */

/* ---- answers ---- */

enum { STEP_S = LT_HOUR_S, ZONE_SIZE = 48 };

/* The zone whose values are wanted, and counts of the rows of one answer. */
struct reading {
	int64_t now_utc_s;
	const char *factors;
	/* As asked for; else that of the first row: one who asks by data centre does not know
	 * it. */
	char zone[ZONE_SIZE];
	int rows, empty, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static const char *
text_of(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

/* True for made-up values, which the answers to sandbox keys are marked as. */
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

/* The zone of one row, or of the whole answer where rows do not say it. */
static int
check_zone(const char *zone, struct reading *reading, struct lt_error *err)
{
	if (zone == NULL)
		return lt_fail(err, LT_EINPUT, "a value without \"zone\"");
	if (reading->zone[0] == '\0')
		snprintf(reading->zone, sizeof(reading->zone), "%s", zone);
	if (strcmp(reading->zone, zone) == 0)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "zone: got \"%.40s\", want \"%s\"", zone, reading->zone);
}

/* A key that may be left out, but has only one right value. */
static int
check_word(const json_t *row, const char *key, const char *want, struct lt_error *err)
{
	const char *const word = text_of(row, key);

	if (word == NULL || strcmp(word, want) == 0)
		return LT_OK;
	return lt_fail(err, LT_EINPUT, "%s: got \"%.40s\", want \"%s\"", key, word, want);
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
	return json_is_true(estimated) || point->end_utc_s <= now_utc_s ? LT_QUALITY_ESTIMATED
									: LT_QUALITY_FORECAST;
}

/* The time that the value is of is `datetime`; `updatedAt` is when it was made, which may be days
 * later. */
static int
read_row(const json_t *row, const json_t *answer, struct reading *reading, struct lt_point *point,
    struct lt_error *err)
{
	const char *const time = text_of(row, "datetime");
	const char *zone = text_of(row, "zone");
	int code;

	if (zone == NULL)
		zone = text_of(answer, "zone");
	code = check_zone(zone, reading, err);
	if (code == LT_OK)
		code = check_word(row, "emissionFactorType", reading->factors, err);
	if (code == LT_OK)
		code = check_word(row, "temporalGranularity", "hourly", err);
	if (code != LT_OK)
		return code;
	if (time == NULL)
		return lt_fail(err, LT_EINPUT, "a value without \"datetime\"");
	if (lt_utc_parse(time, &point->start_utc_s, NULL) != LT_OK)
		return lt_fail(err, LT_EINPUT, "datetime: got \"%.40s\", want a time", time);
	point->end_utc_s = point->start_utc_s + STEP_S;
	point->quality = quality_of(row, point, reading->now_utc_s);
	return LT_OK;
}

/* A value of null is a gap; one bad row must not cost the others. */
static int
add_row(const json_t *row, const json_t *answer, struct reading *reading, struct lt_points *points,
    struct lt_error *err)
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
		code = lt_fail(&reading->refusal, LT_EINPUT, "carbonIntensity is no number");
	if (code == LT_OK)
		code = lt_points_add(points, &point, &reading->refusal);
	if (code == LT_OK)
		return LT_OK;
	reading->refused++;
	return code == LT_EINPUT ? LT_OK
				 : lt_fail(err, (enum lt_code)code, "no room for more points");
}

/* Returns the rows of a list; NULL = the answer is one value itself. */
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

/* {"error": "...", "message": "..."} with any status, or {"status": "no-data", "data": {}} of older
 * interfaces. "" = it is none. */
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
add_notes(const struct lt_source_options *options, const struct reading *reading,
    struct lt_points *points)
{
	points->note[0] = '\0'; /* of an answer before this one */
	if (lt_source_option(options, "zone", NULL) == NULL)
		lt_note_add(points, "zone %s", reading->zone);
	if (reading->refused + reading->empty > 0)
		lt_note_add(points, "%d of %d hours have no usable value",
		    reading->refused + reading->empty, reading->rows);
}

/* Dates the points; an answer has one time of issue for a whole forecast. */
static void
date_points(const json_t *answer, int64_t now_utc_s, struct lt_points *points)
{
	const char *const made = text_of(answer, "updatedAt");
	int64_t made_utc_s;

	lt_points_date(points, now_utc_s);
	if (json_is_array(json_object_get(answer, "forecast")) && made != NULL &&
	    lt_utc_parse(made, &made_utc_s, NULL) == LT_OK && made_utc_s > 0 &&
	    made_utc_s <= now_utc_s)
		points->issued_utc_s = made_utc_s;
}

static int
parse_json(const struct lt_source_options *options, const json_t *answer, int64_t now_utc_s,
    struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {.now_utc_s = now_utc_s};
	const json_t *const rows = find_rows(answer);
	const size_t before = points->count;
	char words[256];
	int code;

	snprintf(reading.zone, sizeof(reading.zone), "%s", lt_source_option(options, "zone", ""));
	reading.factors = lt_source_option(options, "emission_factors", FACTORS);
	/* A missing value is null; a life cycle always emits something. */
	points->zero_is_data = strcmp(reading.factors, "direct") == 0;
	error_words(words, sizeof(words), answer);
	if (words[0] != '\0')
		return lt_fail(err, LT_ENET, "the source says: %s", words);
	if (is_made_up(answer))
		return fail_made_up(err);
	if (rows == NULL && json_object_get(answer, "carbonIntensity") == NULL)
		return lt_fail(err, LT_EINPUT, "JSON without \"carbonIntensity\"");
	code = check_word(answer, "temporalGranularity", "hourly", err);
	points->quantity = LT_QUANTITY_CARBON;
	if (code == LT_OK)
		code = add_rows(answer, rows, &reading, points, err);
	if (code != LT_OK)
		return code;
	if (points->count == before)
		return lt_fail(err, LT_EINPUT, "%d hours and no usable value among them%s%s",
		    reading.rows, reading.refused > 0 ? ": " : "", reading.refusal.text);
	add_notes(options, &reading, points);
	lt_points_sort(points);
	date_points(answer, now_utc_s, points);
	return LT_OK;
}

static int
em_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

/* ---- options ---- */

enum {
	CHUNK_S = 9 * LT_DAY_S, /* past-range takes ten days of hours */
	LATE_S = 2 * LT_HOUR_S, /* what its newest value is usually behind */
};

static const struct lt_adapter_option em_options[] = {
    {"zone", false, "as DE, DK-DK1, US-CAL-CISO", NULL},
    {"data_center_provider", false, "gcp, aws or azure, with data_center_region instead of zone",
	NULL},
    {"data_center_region", false, "as europe-west1", NULL},
    {"key_file", false, "file of mode 0600 with the API key", NULL},
    {"key_env", false, "environment variable with it, instead", NULL},
    {"emission_factors", false, "lifecycle or direct", FACTORS},
    {"forecast", false, "yes or no: some plans have none", "yes"},
    {"horizon_hours", false, "of the forecast: 6, 24, 48 or 72", "72"},
    {"url", false, "base URL, with the version", "https://api.electricitymaps.com/v3"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
value_of(const struct lt_source_options *options, const char *key)
{
	for (int i = 0; em_options[i].key != NULL; i++)
		if (strcmp(em_options[i].key, key) == 0)
			return lt_source_option(options, key, em_options[i].fallback);
	return NULL;
}

static const struct lt_option_choice em_choices[] = {
    {"forecast", {"yes", "no"}, "yes or no"},
    {"horizon_hours", {"6", "24", "48", "72"}, "6, 24, 48 or 72"},
    {NULL, {NULL}, NULL},
};

/* Names in queries: what the documentation has, and nothing that could be taken for another part of
 * a URL. */
static int
check_name(const struct lt_source_options *options, const char *key, const char *letters,
    const char *usage, struct lt_error *err)
{
	const char *const value = value_of(options, key);
	const size_t length = value == NULL ? 1 : strlen(value);

	if (value == NULL || (length >= 1 && length <= 40 && strspn(value, letters) == length))
		return LT_OK;
	return lt_option_fail(
	    options, key, err, "%s: %s: got \"%s\", want %s", options->name, key, value, usage);
}

static int
check_place(const struct lt_source_options *options, struct lt_error *err)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	static const char smalls[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	const char *const zone = value_of(options, "zone");
	const char *const provider = value_of(options, "data_center_provider");
	const char *const region = value_of(options, "data_center_region");
	int code;

	if ((zone != NULL) == (provider != NULL || region != NULL))
		return lt_option_fail(options, "data_center_provider", err,
		    "%s: want zone, or data_center_provider and data_center_region", options->name);
	if ((provider == NULL) != (region == NULL))
		return lt_option_fail(options,
		    provider == NULL ? "data_center_region" : "data_center_provider", err,
		    "%s: want data_center_provider and data_center_region together", options->name);
	code = check_name(options, "zone", capitals,
	    "a zone of app.electricitymaps.com in capitals, such as DE", err);
	if (code == LT_OK)
		code = check_name(
		    options, "data_center_provider", smalls, "small letters such as gcp", err);
	return code == LT_OK ? check_name(options, "data_center_region", smalls,
				   "small letters such as europe-west1", err)
			     : code;
}

static int
em_check(const struct lt_source_options *options, struct lt_error *err)
{
	const int code = check_place(options, err);

	return code == LT_OK ? lt_secret_check(options, "key", true, err) : code;
}

/* ---- requests ---- */

struct asking { /* the parts of a request that stay the same */
	struct lt_web web;
	int64_t now_utc_s;
	char header[LT_SECRET_SIZE + 16]; /* wiped at the end */
};

/* For an unknown zone the API would silently answer with the zone of the client's IP address.
 * Versions 3 and 4 name the switch against that differently. */
static int
make_url(char url[LT_URL_SIZE], const struct lt_source_options *options, const char *endpoint,
    const struct lt_query *more, struct lt_error *err)
{
	const struct lt_query query[] = {
	    {"zone", value_of(options, "zone")},
	    {"dataCenterProvider", value_of(options, "data_center_provider")},
	    {"dataCenterRegion", value_of(options, "data_center_region")},
	    {"emissionFactorType", value_of(options, "emission_factors")},
	    {"shouldUseFallbackCallerLookup", "false"},
	    {"disableCallerLookup", "true"},
	    {NULL, NULL},
	};
	char path[64];
	int code;

	snprintf(path, sizeof(path), "carbon-intensity/%s", endpoint);
	code = lt_url_start(url, value_of(options, "url"), path, err);
	if (code == LT_OK)
		code = lt_url_query(url, query, err);
	return code == LT_OK ? lt_url_query(url, more, err) : code;
}

/* The points of an answer come to those of the part; a part that failed keeps its first error. */
static int
request(struct asking *asking, const char *endpoint, const struct lt_query *more,
    struct lt_fetch_part *part)
{
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .secret_header = asking->header,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_em_error_text,
	};

	part->code = make_url(url, asking->web.options, endpoint, more, &part->err);
	if (part->code != LT_OK)
		return part->code;
	part->asked = true;
	asking->web.points = &part->points;
	part->code = lt_web_points(&asking->web, &request, em_parse, asking->now_utc_s, &part->err);
	return part->code;
}

static const struct lt_query no_more[] = {{NULL, NULL}};

static int
request_range(
    struct asking *asking, int64_t start_utc_s, int64_t end_utc_s, struct lt_fetch_part *part)
{
	char start[32], end[32];
	const struct lt_query query[] = {{"start", start}, {"end", end}, {NULL, NULL}};

	lt_utc_text(start, sizeof(start), start_utc_s - start_utc_s % LT_HOUR_S);
	lt_utc_text(end, sizeof(end), end_utc_s);
	return request(asking, "past-range", query, part);
}

/* The newest chunk first. Plans without past-range have the last 24 hours. */
static void
request_past(
    struct asking *asking, int64_t from_utc_s, int64_t end_utc_s, struct lt_fetch_part *past)
{
	struct lt_fetch_part day = {0};

	while (end_utc_s > from_utc_s && past->code == LT_OK) {
		const int64_t start_utc_s =
		    end_utc_s - CHUNK_S > from_utc_s ? end_utc_s - CHUNK_S : from_utc_s;

		request_range(asking, start_utc_s, end_utc_s, past);
		end_utc_s = start_utc_s;
	}
	if (past->code == LT_OK || past->points.count > 0 || past->points.retry_after_s > 0)
		return;
	if (request(asking, "history", no_more, &day) == LT_OK) {
		lt_points_free(&past->points);
		lt_note_add(&day.points, "its last day only, without past-range");
		*past = day;
	} else {
		past->points.retry_after_s = day.points.retry_after_s;
		lt_points_free(&day.points);
	}
}

/* Joins the hours of the forecast and, over them, the present value. */
static int
join_ahead(const struct lt_fetch_part *forecast, int64_t now_utc_s, struct lt_fetch_part *ahead)
{
	struct lt_points *const latest = &ahead->points;
	struct lt_points both = {0};
	int code = lt_points_copy(&both, &forecast->points, now_utc_s, INT64_MAX, &ahead->err);

	if (code == LT_OK)
		code = lt_points_copy(&both, latest, INT64_MIN, INT64_MAX, &ahead->err);
	both.issued_utc_s = forecast->points.issued_utc_s;
	both.retry_after_s = latest->retry_after_s;
	memcpy(both.note, latest->note, sizeof(both.note));
	if (forecast->points.note[0] != '\0' && strcmp(forecast->points.note, latest->note) != 0)
		lt_note_add(&both, "forecast: %s", forecast->points.note);
	lt_points_free(latest);
	*latest = both;
	return code;
}

/* A plan without forecast is no failure; nor is an hour of now without value, if there is a
 * forecast. Returns false for a key that is refused, or gets made-up values: it is asked for no
 * more. */
static bool
request_ahead(struct asking *asking, struct lt_fetch_part *ahead)
{
	const struct lt_source_options *const options = asking->web.options;
	const struct lt_query horizon[] = {
	    {"horizonHours", value_of(options, "horizon_hours")}, {NULL, NULL}};
	struct lt_fetch_part forecast = {0};

	request(asking, "latest", no_more, ahead);
	if (ahead->code == LT_EDENIED || lt_web_status(&asking->web) == 401)
		return false;
	if (strcmp(value_of(options, "forecast"), "no") == 0)
		return true;
	request(asking, "forecast", horizon, &forecast);
	if (forecast.points.retry_after_s > ahead->points.retry_after_s)
		ahead->points.retry_after_s = forecast.points.retry_after_s;
	if (forecast.code != LT_OK && ahead->code == LT_OK) {
		lt_note_add(&ahead->points, "without forecast: %.140s", forecast.err.text);
	} else if (forecast.code == LT_OK) {
		if (ahead->code != LT_OK)
			lt_note_add(&ahead->points, "without the present: %.140s", ahead->err.text);
		ahead->err = (struct lt_error){0};
		ahead->code = join_ahead(&forecast, asking->now_utc_s, ahead);
	}
	lt_points_free(&forecast.points);
	return true;
}

static int
em_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct asking asking = {.now_utc_s = window->now_utc_s};
	struct lt_fetch_parts parts = {0};
	char key[LT_SECRET_SIZE];
	bool goes_on = true;
	int code = lt_secret_read(options, "key", key, sizeof(key), err);

	if (code != LT_OK)
		return code;
	snprintf(asking.header, sizeof(asking.header), "auth-token: %s", key);
	explicit_bzero(key, sizeof(key));
	lt_web_start(&asking.web, options, points);
	if (window->to_utc_s > window->now_utc_s)
		goes_on = request_ahead(&asking, &parts.ahead);
	if (goes_on && window->from_utc_s < window->now_utc_s)
		request_past(&asking, window->from_utc_s,
		    window->to_utc_s < window->now_utc_s ? window->to_utc_s : window->now_utc_s,
		    &parts.past);
	explicit_bzero(asking.header, sizeof(asking.header));
	points->quantity = LT_QUANTITY_CARBON;
	code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_electricity_maps = {
    .name = "electricity_maps",
    .usage = "carbon intensity of a zone or data centre, by Electricity Maps; needs a key",
    .options = em_options,
    .choices = em_choices,
    .interval_s = LT_HOUR_S,
    .fresh_s = LATE_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_LIFECYCLE,
    .version = "Electricity Maps API v3, or v4 by url; imports counted",
    .check = em_check,
    .fetch = em_fetch,
    .parse = em_parse,
};
