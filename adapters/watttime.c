/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * WattTime's v3 API (account needed): the marginal intensity of a grid region in steps of five
 * minutes, three days ahead. Pounds per MWh become grams per kWh, and the last revision of a value
 * wins. A token is kept until shortly before its end, and fetched anew when it is refused.
 * docs/sources/watttime.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fetch_parts.h"
#include "grow.h"
#include "units.h"
#include "source.h"
#include "web.h"

enum { STEP_S = 300 };

/* ---- answers ---- */

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
	const json_t *const first = json_is_array(message) ? json_array_get(message, 0) : message;
	const char *const text =
	    json_is_object(first) ? text_of(first, "msg") : json_string_value(first);

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
		    error[0] != '\0' && message[0] != '\0' ? ": " : "", message);
	json_decref(json);
}

int
lt_watttime_text(
    char *out, size_t size, const struct lt_answer *answer, const char *key, struct lt_error *err)
{
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return code;
	const char *const text = text_of(json, key);
	if (text == NULL || text[0] == '\0' || strlen(text) >= size)
		code = lt_fail(
		    err, LT_EINPUT, "want \"%s\" of 1 to %zu bytes in the answer", key, size - 1);
	else
		strcpy(out, text);
	json_decref(json);
	return code;
}

/* ---- rows ---- */

static int
row_add(struct answer *answer, const struct row *row, struct lt_error *err)
{
	struct row *const grown =
	    lt_items_grow(answer->rows, &answer->capacity, answer->count, sizeof(*grown));

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
		point->quality = point->end_utc_s <= answer->now_utc_s ? LT_QUALITY_ESTIMATED
								       : LT_QUALITY_FORECAST;
	else
		point->quality = json_is_true(json_object_get(json, "imputed_data_used"))
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

/* Past forecasts are a list of {generated_at, forecast}: each revises those before it. */
static int
read_data(struct answer *answer, const json_t *data, struct lt_error *err)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(json_object_get(json_array_get(data, 0), "forecast")))
		return read_rows(answer, data, err);
	answer->is_forecast = true;
	json_array_foreach(data, i, item) {
		const char *const issued = text_of(item, "generated_at");
		const int code = read_rows(answer, json_object_get(item, "forecast"), err);

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
add_points(struct answer *answer, struct lt_points *points, struct lt_error *err)
{
	/* Curtailment; what is missing has no row, or null. */
	points->zero_is_data = true;
	if (answer->count > 0)
		qsort(answer->rows, answer->count, sizeof(*answer->rows), by_revision);
	for (size_t i = 0; i < answer->count; i++) {
		const int code = lt_points_add(points, &answer->rows[i].point, &answer->refusal);

		if (code == LT_EINPUT)
			answer->refused++;
		else if (code != LT_OK)
			return lt_fail(err, (enum lt_code)code, "no room for more points");
	}
	if (answer->seen == 0)
		return lt_fail(err, LT_EINPUT, "no value in the answer");
	if (answer->refused == answer->seen)
		return lt_fail(err, LT_EINPUT, "%zu values and none that can be used: %s",
		    answer->seen, answer->refusal.text);
	if (answer->refused > 0)
		lt_note_add(
		    points, "%zu of %zu values can't be used", answer->refused, answer->seen);
	return LT_OK;
}

/* ---- meta ---- */

static int
want_text(const json_t *meta, const char *key, const char *wanted, struct lt_error *err)
{
	const char *const text = text_of(meta, key);

	return text != NULL && strcmp(text, wanted) == 0
		   ? LT_OK
		   : lt_fail(err, LT_EINPUT, "%s: got \"%.60s\", want %s", key,
			 text == NULL ? "nothing" : text, wanted);
}

static int
read_meta(const struct lt_source_options *options, const json_t *meta, struct answer *answer,
    struct lt_error *err)
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
	if (!lt_json_number(json_object_get(meta, "data_point_period_seconds"), &step_s))
		(void)lt_json_number(json_object_get(meta, "data_point_periods_second"), &step_s);
	if (!(step_s >= 60 && step_s <= LT_DAY_S))
		return lt_fail(err, LT_EINPUT, "data_point_period_seconds: got %g, want 60 to %d",
		    step_s, LT_DAY_S);
	answer->step_s = (int64_t)step_s;
	answer->is_forecast = issued != NULL;
	return issued == NULL ? LT_OK : lt_utc_parse(issued, &answer->issued_utc_s, err);
}

/* Texts, or {type, message}. */
static void
note_warnings(const json_t *warnings, struct lt_points *points)
{
	const json_t *const first = json_array_get(warnings, 0);
	const char *const text =
	    json_is_object(first) ? text_of(first, "message") : json_string_value(first);

	if (json_array_size(warnings) > 0)
		lt_note_add(
		    points, "WattTime warns: %.120s", text == NULL ? "without words" : text);
}

static int
parse_json(const struct lt_source_options *options, const json_t *json, struct answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	const json_t *const data = json_object_get(json, "data");
	const json_t *const meta = json_object_get(json, "meta");
	int code;

	if (!json_is_array(data) || !json_is_object(meta))
		return lt_fail(err, LT_EINPUT, "JSON without \"data\" and \"meta\"");
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
		points->issued_utc_s =
		    answer->issued_utc_s < answer->now_utc_s ? answer->issued_utc_s : 0;
	else
		lt_points_date(points, answer->now_utc_s);
	return LT_OK;
}

int
lt_watttime_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
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

/* ---- options ---- */

enum {
	TOKEN_S = 28 * 60,	 /* theirs is good for 30 minutes */
	CHUNK_S = 30 * LT_DAY_S, /* of history; more than 32 days: refused */
	CHUNKS_MAX = 16,
	REGION_SIZE = 64,
	LOGIN_SIZE = 512 + LT_SECRET_SIZE,
};

static const char base_url[] = "https://api.watttime.org";

static const struct lt_adapter_option watttime_options[] = {
    {"region", false, "grid region, as CAISO_NORTH", NULL},
    {"latitude", false, "of the site, instead of region", NULL},
    {"longitude", false, "of the site, instead of region", NULL},
    {"username", true, "of the account", NULL},
    {"password_file", false, "file with the password, mode 0600", NULL},
    {"password_env", false, "environment variable with the password, instead of password_file",
	NULL},
    {"model", false, "date of a model, as 2023-03-01", "the newest"},
    {"url", false, "base URL", base_url},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static bool
is_region(const char *text)
{
	const size_t length = strlen(text);

	return length > 0 && length < REGION_SIZE &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") ==
		   length;
}

static int
check_degrees(
    const struct lt_source_options *options, const char *key, double limit, struct lt_error *err)
{
	const char *const text = lt_source_option(options, key, NULL);
	double degrees;

	if (text == NULL)
		return lt_fail(
		    err, LT_EINPUT, "%s: want region, or latitude and longitude", options->name);
	if (lt_double_parse(text, &degrees, NULL) != LT_OK || degrees < -limit || degrees > limit)
		return lt_option_fail(options, key, err,
		    "%s: %s: got \"%s\", want degrees from -%g to %g", options->name, key, text,
		    limit, limit);
	return LT_OK;
}

static int
check_place(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const region = lt_source_option(options, "region", NULL);

	if (region == NULL) {
		const int code = check_degrees(options, "latitude", 90, err);

		return code == LT_OK ? check_degrees(options, "longitude", 180, err) : code;
	}
	if (lt_source_option(options, "latitude", NULL) != NULL ||
	    lt_source_option(options, "longitude", NULL) != NULL)
		return lt_option_fail(options, "region", err,
		    "%s: region and a place by degrees, want one of them", options->name);
	return is_region(region)
		   ? LT_OK
		   : lt_option_fail(options, "region", err,
			 "%s: region: got \"%s\", want a grid region such as CAISO_NORTH",
			 options->name, region);
}

static int
watttime_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const user = lt_source_option(options, "username", "");
	const char *const model = lt_source_option(options, "model", NULL);
	int64_t day;
	char noon[32];
	int code = check_place(options, err);

	if (code != LT_OK)
		return code;
	/* HTTP Basic ends the name at the first colon. */
	if (user[0] == '\0' || strchr(user, ':') != NULL ||
	    strlen(user) > LOGIN_SIZE - LT_SECRET_SIZE - 2)
		return lt_option_fail(options, "username", err,
		    "%s: username: want 1 to %d bytes without a colon", options->name,
		    LOGIN_SIZE - LT_SECRET_SIZE - 2);
	snprintf(noon, sizeof(noon), "%.15sT12:00Z", model == NULL ? "" : model);
	if (model != NULL && (strlen(model) != 10 || lt_utc_parse(noon, &day, NULL) != LT_OK))
		return lt_option_fail(options, "model", err,
		    "%s: model: got \"%s\", want a date such as 2023-03-01", options->name, model);
	code = lt_secret_check(options, "password", true, err);
	return code;
}

/* ---- one fetch ---- */

struct session {
	struct lt_web web;
	struct lt_source_options options; /* with `region`, once it is known */
	char region[REGION_SIZE];
	int64_t now_utc_s;
	bool is_new; /* the token came in this fetch: no other is better */
};

/* Text that may stand in a header. */
static bool
is_token(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

static void
forget_token(struct session *session)
{
	struct lt_source_memory *const memory = session->web.memory;

	explicit_bzero(memory->token, sizeof(memory->token));
	memory->token_until_utc_s = 0;
}

static int
take_token(struct session *session, const struct lt_http_response *response, struct lt_error *err)
{
	struct lt_source_memory *const memory = session->web.memory;
	const int code = lt_watttime_text(memory->token, sizeof(memory->token),
	    &(struct lt_answer){.bytes = response->body, .byte_count = response->body_length},
	    "token", err);

	if (code != LT_OK)
		return code;
	if (!is_token(memory->token)) {
		forget_token(session);
		return lt_fail(err, LT_EINPUT, "the token has bytes that can't stand in a header");
	}
	memory->token_until_utc_s = session->now_utc_s + TOKEN_S;
	session->is_new = true;
	return LT_OK;
}

/* Basic here, Bearer everywhere else, never both. */
static int
login(struct session *session, struct lt_error *err)
{
	char url[LT_URL_SIZE], secret[LT_SECRET_SIZE], user[LOGIN_SIZE];
	struct lt_http_response response = {0};
	const struct lt_web_request request = {
	    .url = url,
	    .secret_login = user,
	    .error_text = lt_watttime_error,
	};
	struct lt_error inner = {0};
	int code;

	forget_token(session);
	code = lt_url_start(
	    url, lt_source_option(&session->options, "url", base_url), "login", &inner);
	if (code == LT_OK)
		code =
		    lt_secret_read(&session->options, "password", secret, sizeof(secret), &inner);
	if (code == LT_OK) {
		snprintf(user, sizeof(user), "%s:%s",
		    lt_source_option(&session->options, "username", ""), secret);
		code = lt_web_do(&session->web, &request, &response, &inner);
		explicit_bzero(user, sizeof(user));
	}
	explicit_bzero(secret, sizeof(secret));
	if (code == LT_OK) {
		code = take_token(session, &response, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	if (response.body != NULL)
		explicit_bzero(response.body, response.body_length);
	lt_http_free(&response);
	return code == LT_OK ? LT_OK : lt_fail(err, (enum lt_code)code, "login: %s", inner.text);
}

static int
ask_once(struct session *session, const char *url, struct lt_http_response *response,
    struct lt_error *err)
{
	char header[LT_TOKEN_SIZE + 32];
	const struct lt_web_request request = {
	    .url = url,
	    .secret_header = header,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_watttime_error,
	};

	snprintf(header, sizeof(header), "Authorization: Bearer %s", session->web.memory->token);
	const int code = lt_web_do(&session->web, &request, response, err);
	explicit_bzero(header, sizeof(header));
	return code;
}

/* 403 in HTML comes from the gate before the API, which did not take the token; 403 in JSON from
 * the API, which did: another token is no help. */
static bool
is_token_refused(const struct lt_http_response *response)
{
	return response->status == 401 ||
	       (response->status == 403 && strstr(response->content_type, "json") == NULL);
}

/* The caller frees response in any case. */
static int
ask_source(struct session *session, const char *url, struct lt_http_response *response,
    struct lt_error *err)
{
	const struct lt_source_memory *const memory = session->web.memory;
	struct lt_error inner = {0};
	int code = LT_OK;

	if (memory->token[0] == '\0' || memory->token_until_utc_s <= session->now_utc_s)
		code = login(session, &inner);
	if (code == LT_OK)
		code = ask_once(session, url, response, &inner);
	if (code != LT_OK && is_token_refused(response) && !session->is_new) {
		lt_http_free(response);
		inner = (struct lt_error){0};
		code = login(session, &inner);
		if (code == LT_OK)
			code = ask_once(session, url, response, &inner);
	}
	if (code != LT_OK && is_token_refused(response))
		forget_token(session);
	return lt_error_give(err, code, &inner);
}

/* *status: what the API answered; 0 = nothing, or only the gate. */
static int
ask_points(struct session *session, const char *url, struct lt_points *points, long *status,
    struct lt_error *err)
{
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	int code;

	session->web.points = points;
	code = ask_source(session, url, &response, &inner);
	*status = is_token_refused(&response) ? 0 : response.status;
	if (code == LT_OK) {
		code = lt_watttime_parse(&session->options,
		    &(struct lt_answer){.bytes = response.body,
			.byte_count = response.body_length,
			.now_utc_s = session->now_utc_s},
		    points, &inner);
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* Borders of regions move: asked anew in each fetch. */
static int
find_region(struct session *session, struct lt_error *err)
{
	struct lt_source_options *const options = &session->options;
	const struct lt_query query[] = {
	    {"latitude", lt_source_option(options, "latitude", "")},
	    {"longitude", lt_source_option(options, "longitude", "")},
	    {"signal_type", "co2_moer"},
	    {NULL, NULL},
	};
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	char url[LT_URL_SIZE];
	int code = lt_url_start(
	    url, lt_source_option(options, "url", base_url), "v3/region-from-loc", &inner);

	if (code == LT_OK)
		code = lt_url_query(url, query, &inner);
	if (code == LT_OK)
		code = ask_source(session, url, &response, &inner);
	if (code == LT_OK) {
		code = lt_watttime_text(session->region, sizeof(session->region),
		    &(struct lt_answer){.bytes = response.body, .byte_count = response.body_length},
		    "region", &inner);
		if (code == LT_OK && !is_region(session->region))
			code = lt_fail(&inner, LT_EINPUT, "a region of odd letters");
		if (code != LT_OK)
			lt_web_refuse(url, &inner);
	}
	lt_http_free(&response);
	if (code == LT_OK && options->count == sizeof(options->items) / sizeof(options->items[0]))
		code = lt_fail(&inner, LT_ELIMIT, "no room for the region");
	if (code != LT_OK)
		return lt_error_give(err, code, &inner);
	options->items[options->count].key = "region";
	options->items[options->count].value = session->region;
	options->count++;
	return LT_OK;
}

static int
make_url(char url[LT_URL_SIZE], const struct session *session, const char *path,
    const struct lt_query *more, struct lt_error *err)
{
	const struct lt_source_options *const options = &session->options;
	const struct lt_query query[] = {
	    {"region", lt_source_option(options, "region", NULL)},
	    {"signal_type", "co2_moer"},
	    {"model", lt_source_option(options, "model", NULL)},
	    {NULL, NULL},
	};
	int code = lt_url_start(url, lt_source_option(options, "url", base_url), path, err);

	if (code == LT_OK)
		code = lt_url_query(url, query, err);
	return code == LT_OK ? lt_url_query(url, more, err) : code;
}

/* Three days where the account and the region have them, else one. */
static int
ask_ahead(struct session *session, struct lt_points *points, struct lt_error *err)
{
	static const char *const hours[] = {"72", "24"};
	struct lt_error inner = {0};
	int code = LT_OK;

	for (int i = 0; i < 2; i++) {
		const struct lt_query query[] = {{"horizon_hours", hours[i]}, {NULL, NULL}};
		char url[LT_URL_SIZE];
		long status = 0;

		inner = (struct lt_error){0};
		code = make_url(url, session, "v3/forecast", query, &inner);
		if (code == LT_OK)
			code = ask_points(session, url, points, &status, &inner);
		if (status != 400 && status != 403 && status != 422)
			break;
	}
	return lt_error_give(err, code, &inner);
}

/* "2022-07-15T00:00+00:00", as in their manual. */
static void
minute_text(char out[32], int64_t utc_s)
{
	const time_t seconds = (time_t)utc_s;
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(out, 32, "%Y-%m-%dT%H:%M+00:00", &parts);
}

static int64_t
step_start(int64_t utc_s)
{
	const int64_t step_s = STEP_S;

	return utc_s - (utc_s % step_s + step_s) % step_s;
}

/* Both ends are in the answer, so a chunk ends a step before the next. The newest first: it is
 * worth the most if a later one fails. */
static int
ask_past(
    struct session *session, int64_t from_utc_s, struct lt_points *points, struct lt_error *err)
{
	int64_t end_utc_s = step_start(session->now_utc_s);

	from_utc_s = step_start(from_utc_s);
	for (int i = 0; i < CHUNKS_MAX && end_utc_s >= from_utc_s; i++) {
		const int64_t least_utc_s = end_utc_s - CHUNK_S + STEP_S;
		const int64_t start_utc_s = from_utc_s > least_utc_s ? from_utc_s : least_utc_s;
		char url[LT_URL_SIZE], start[32], end[32];
		const struct lt_query query[] = {{"start", start}, {"end", end},
		    {"include_imputed_marker", "true"}, {NULL, NULL}};
		long status;

		minute_text(start, start_utc_s);
		minute_text(end, end_utc_s);
		int code = make_url(url, session, "v3/historical", query, err);
		if (code == LT_OK)
			code = ask_points(session, url, points, &status, err);
		if (code != LT_OK)
			return code;
		end_utc_s = start_utc_s - STEP_S;
	}
	return LT_OK;
}

static int
watttime_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	struct session session = {.options = *options, .now_utc_s = window->now_utc_s};
	const bool has_past = window->from_utc_s < window->now_utc_s - STEP_S;
	const bool has_future = window->to_utc_s > window->now_utc_s;
	struct lt_fetch_parts parts = {
	    .past = {.asked = has_past, .points.quantity = LT_QUANTITY_MARGINAL},
	    .ahead = {.asked = has_future, .points.quantity = LT_QUANTITY_MARGINAL},
	};
	int code = LT_OK;

	points->quantity = LT_QUANTITY_MARGINAL;
	lt_web_start(&session.web, &session.options, points);
	if (lt_source_option(options, "region", NULL) == NULL)
		code = find_region(&session, err);
	if (code == LT_OK && parts.ahead.asked)
		parts.ahead.code = ask_ahead(&session, &parts.ahead.points, &parts.ahead.err);
	/* Without a token its login failed: it is asked no more. */
	if (code == LT_OK && parts.past.asked &&
	    (!parts.ahead.asked || session.web.memory->token[0] != '\0'))
		parts.past.code =
		    ask_past(&session, window->from_utc_s, &parts.past.points, &parts.past.err);
	if (code == LT_OK)
		code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	explicit_bzero(&session, sizeof(session)); /* its own memory */
	return code;
}

const struct lt_adapter lt_adapter_watttime = {
    .name = "watttime",
    .usage = "WattTime v3, marginal intensity; account needed",
    .options = watttime_options,
    .interval_s = 15 * 60,
    .gives = LT_QUANTITY_MARGINAL,
    .basis = LT_BASIS_DIRECT,
    .version = "WattTime API v3, co2_moer",
    .check = watttime_check,
    .fetch = watttime_fetch,
    .parse = lt_watttime_parse,
};
