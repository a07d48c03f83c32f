/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The WebAPI of the Green Software Foundation's Carbon Aware SDK, run by the
 * site before a data source of its own. docs/sources/carbon_aware_sdk.md.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "carbon_aware.h"
#include "fetch_parts.h"
#include "units.h"
#include "web.h"

enum {
	/* Of history: a data source behind the SDK takes at most 10 days. */
	CHUNK_S = 9 * LT_DAY_S,
	CHUNKS_MAX = 16,
	NO_CONTENT = 204,
};

static const struct lt_adapter_option sdk_options[] = {
    {"url", true, "base URL of the WebAPI", NULL},
    {"location", true, "name of a location that the SDK knows, as eastus",
	NULL},
    {"intensity", false,
	"average or marginal: what the SDK's own data source gives", "average"},
    LT_BASIS_OPTION,
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static int
sdk_check(const struct lt_source_options *options, struct lt_error *err)
{
	const int code = lt_carbon_check(options, err);

	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

/* ---- answers ---- */

/* The rows of a forecast name the grid zone; the forecast names what was
 * asked. The optimal points are among the rows. */
static int
add_forecast(const struct lt_source_options *options, const json_t *forecast,
    struct lt_carbon_rows *rows, struct lt_points *points, struct lt_error *err)
{
	static const struct lt_carbon_keys keys = {
	    "timestamp", "value", "duration"};
	const char *const asked = lt_source_option(options, "location", "");
	const char *const location =
	    json_string_value(json_object_get(forecast, "location"));
	const char *const issued =
	    json_string_value(json_object_get(forecast, "generatedAt"));
	int64_t issued_utc_s = 0;

	if (location == NULL || strcasecmp(location, asked) != 0)
		return lt_fail(err, LT_EINPUT,
		    "location: got \"%.60s\", want %s",
		    location == NULL ? "nothing" : location, asked);
	rows->is_forecast = true;
	if (issued != NULL && lt_utc_parse(issued, &issued_utc_s, err) != LT_OK)
		return LT_EINPUT;
	/* Year 1 where the data source gives no time. */
	points->issued_utc_s =
	    issued_utc_s > 0 && issued_utc_s < rows->now_utc_s ? issued_utc_s
							       : 0;
	return lt_carbon_read(rows, json_object_get(forecast, "forecastData"),
	    &keys, points, err);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	static const struct lt_carbon_keys keys = {
	    "time", "rating", "duration"};
	struct lt_carbon_rows rows = {.now_utc_s = now_utc_s};
	const json_t *const first = json_array_get(json, 0);
	int code;

	points->quantity = lt_carbon_quantity(options);
	if (!json_is_array(json))
		return lt_fail(err, LT_EINPUT, "JSON that is no list");
	if (json_object_get(first, "forecastData") != NULL)
		code = add_forecast(options, first, &rows, points, err);
	else
		code = lt_carbon_read(&rows, json, &keys, points, err);
	if (code == LT_OK)
		code = lt_carbon_tally(&rows, points, err);
	if (code != LT_OK)
		return code;
	lt_points_sort(points);
	if (!rows.is_forecast)
		lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
sdk_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

/* ---- requests ---- */

static int
start_url(char url[LT_URL_SIZE], const struct lt_source_options *options,
    const char *path, struct lt_error *err)
{
	const int code =
	    lt_url_start(url, lt_source_option(options, "url", ""), path, err);

	return code == LT_OK
		   ? lt_url_add(url, "location",
			 lt_source_option(options, "location", ""), err)
		   : code;
}

static int
ask(struct lt_web *web, const char *url, int64_t now_utc_s, long *status,
    struct lt_error *err)
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
		    &(struct lt_answer){
			response.body, response.body_length, now_utc_s},
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
	ahead->code = start_url(
	    url, web->options, "emissions/forecasts/current", &ahead->err);
	if (ahead->code == LT_OK)
		ahead->code = ask(web, url, now_utc_s, &status, &ahead->err);
}

/* The newest first: it is worth the most if a later one fails. No content is
 * an answer: the data source has nothing of that time. */
static void
ask_past(struct lt_web *web, int64_t from_utc_s, int64_t now_utc_s,
    struct lt_fetch_part *past)
{
	int64_t end_utc_s = now_utc_s;

	web->points = &past->points;
	for (int i = 0; i < CHUNKS_MAX && end_utc_s > from_utc_s; i++) {
		const int64_t start_utc_s = from_utc_s > end_utc_s - CHUNK_S
						? from_utc_s
						: end_utc_s - CHUNK_S;
		char url[LT_URL_SIZE], start[32], end[32];
		struct lt_error err = {0};
		long status = 0;

		lt_utc_text(start, sizeof(start), start_utc_s);
		lt_utc_text(end, sizeof(end), end_utc_s);
		int code =
		    start_url(url, web->options, "emissions/bylocation", &err);
		if (code == LT_OK)
			code = lt_url_add(url, "time", start, &err);
		if (code == LT_OK)
			code = lt_url_add(url, "toTime", end, &err);
		if (code == LT_OK)
			code = ask(web, url, now_utc_s, &status, &err);
		if (code != LT_OK && status != NO_CONTENT) {
			past->code = lt_error_give(&past->err, code, &err);
			return;
		}
		end_utc_s = start_utc_s;
	}
}

static int
sdk_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const enum lt_quantity quantity = lt_carbon_quantity(options);
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
		ask_past(
		    &web, window->from_utc_s, window->now_utc_s, &parts.past);
	const int code =
	    lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_carbon_aware_sdk = {
    .name = "carbon_aware_sdk",
    .usage = "WebAPI of the Green Software Foundation's Carbon Aware SDK",
    .options = sdk_options,
    .interval_s = 15 * 60,
    .quantity = lt_carbon_quantity,
    .check = sdk_check,
    .fetch = sdk_fetch,
    .parse = sdk_parse,
};
