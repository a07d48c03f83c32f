/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The US Energy Information Administration's hourly fuel mix (EIA-930, API
 * v2, public domain) as an average intensity. docs/sources/eia.md.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fuel_mix.h"
#include "source.h"
#include "web.h"

enum {
	PAGE_ROWS = 5000,	  /* what one answer holds at most */
	PAGES_MAX = 8,		  /* 35 days of 47 fuels: more is left out */
	LATE_S = 3 * LT_HOUR_S,	  /* of most authorities' complete hours */
	OVER_LIMIT_S = LT_HOUR_S, /* limits are counted by the hour */
};

static const struct lt_adapter_option eia_options[] = {
    {"respondent", true, "balancing authority or region, as CISO, PJM, ERCO", NULL},
    {"key_file", false, "file with the API key, mode 0600", NULL},
    {"key_env", false, "or the environment variable that has it", NULL},
    {"emission_factors", false, "lifecycle or direct", "lifecycle"},
    {"url", false, "base URL of a mirror", "https://api.eia.gov"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};
enum { EIA_URL = 4 };

/* Everybody's key of api.data.gov: 30 requests an hour, 50 a day, by address. Enough for one or two
 * regions. */
static const char demo_key[] = "DEMO_KEY";

/* All of the facet `fueltype`. Solar and wind with batteries are what they generate. */
static const struct lt_mix_code fuels[] = {
    {"BAT", LT_FUEL_STORAGE},
    {"COL", LT_FUEL_COAL},
    {"GEO", LT_FUEL_GEOTHERMAL},
    {"NG", LT_FUEL_GAS},
    {"NUC", LT_FUEL_NUCLEAR},
    {"OES", LT_FUEL_STORAGE},
    {"OIL", LT_FUEL_OIL},
    {"OTH", LT_FUEL_OTHER},
    {"PS", LT_FUEL_STORAGE},
    {"SNB", LT_FUEL_SOLAR_BATTERY},
    {"SUN", LT_FUEL_SOLAR},
    {"UES", LT_FUEL_STORAGE},
    {"UNK", LT_FUEL_OTHER},
    {"WAT", LT_FUEL_HYDRO},
    {"WNB", LT_FUEL_WIND_BATTERY},
    {"WND", LT_FUEL_WIND},
    {NULL, LT_FUEL_OTHER},
};

static int
eia_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const respondent = lt_source_option(options, "respondent", "");
	const size_t length = strlen(respondent);
	int code;

	if (length < 2 || length > 8 ||
	    strspn(respondent, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != length)
		return lt_option_fail(options, "respondent", err,
		    "%s: respondent: got \"%s\", want EIA's code in capitals, such as CISO",
		    options->name, respondent);
	code = lt_secret_check(options, "key", false, err);
	return code;
}

/* ---- an answer ---- */

/* "2022-10-31T11": the hour that ends then, in UTC. */
static bool
row_end(const json_t *row, int64_t *end_utc_s)
{
	const char *const period = json_string_value(json_object_get(row, "period"));
	char text[24];

	if (period == NULL || strlen(period) != 13)
		return false;
	snprintf(text, sizeof(text), "%.13s:00Z", period);
	return lt_utc_parse(text, end_utc_s, NULL) == LT_OK;
}

static bool
is_text(const json_t *row, const char *key, const char *wanted, struct lt_mix *mix)
{
	const char *const text = json_string_value(json_object_get(row, key));

	if (text != NULL && strcmp(text, wanted) == 0)
		return true;
	lt_mix_refuse(mix, "%s: got %.40s, want %s", key, text == NULL ? "none" : text, wanted);
	return false;
}

static void
read_row(const struct lt_source_options *options, const json_t *row, struct lt_mix *mix)
{
	const char *const fuel = json_string_value(json_object_get(row, "fueltype"));
	const json_t *const value = json_object_get(row, "value");
	int64_t end_utc_s;
	double mwh;

	if (!is_text(row, "respondent", lt_source_option(options, "respondent", ""), mix) ||
	    !is_text(row, "value-units", "megawatthours", mix))
		return;
	if (fuel == NULL || !row_end(row, &end_utc_s)) {
		lt_mix_refuse(mix, "a row without fueltype or period");
		return;
	}
	if (value == NULL || json_is_null(value))
		return; /* not known yet */
	if (!lt_json_number(value, &mwh) || !(fabs(mwh) <= LT_MIX_MW_MAX)) {
		lt_mix_refuse(
		    mix, "value of %.8s: want a number of at most %d", fuel, LT_MIX_MW_MAX);
		return;
	}
	lt_mix_put(mix, lt_mix_column(mix, fuel), end_utc_s - LT_HOUR_S, end_utc_s, mwh);
}

/* {"error": {"code", "message"}} of the gateway, {"error": "...", "code": 400} of the API. */
static void
error_words(char *out, size_t size, const json_t *json)
{
	const json_t *const error = json_object_get(json, "error");
	const char *const code = json_string_value(json_object_get(error, "code"));
	const char *const message = json_string_value(json_object_get(error, "message"));

	out[0] = '\0';
	if (json_is_string(error))
		snprintf(out, size, "%.200s", json_string_value(error));
	else if (error != NULL)
		snprintf(out, size, "%.40s: %.150s", code == NULL ? "error" : code,
		    message == NULL ? "no reason" : message);
}

static void
eia_error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	error_words(out, size, json);
	json_decref(json);
}

struct page {
	int offset; /* which is asked for: of its first row */
	size_t rows;
	double total; /* of all pages; a number or a text; -1 = not said */
};

static int
read_json(const struct lt_source_options *options, const json_t *json, struct lt_mix *mix,
    struct page *page, struct lt_error *err)
{
	const json_t *const response = json_object_get(json, "response");
	const json_t *const data = json_object_get(response, "data");
	const json_t *row;
	char words[256];
	size_t i;

	error_words(words, sizeof(words), json);
	if (words[0] != '\0')
		return lt_fail(err, LT_ENET, "the source says: %s", words);
	if (!json_is_array(data))
		return lt_fail(err, LT_EINPUT, "JSON without \"data\" in \"response\"");
	json_array_foreach(data, i, row)
		read_row(options, row, mix);
	page->rows = json_array_size(data);
	if (!lt_json_number(json_object_get(response, "total"), &page->total))
		page->total = -1;
	return LT_OK;
}

static int
read_page(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_mix *mix, struct page *page, struct lt_error *err)
{
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return code;
	code = read_json(options, json, mix, page, err);
	json_decref(json);
	return code;
}

static int
eia_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	struct page page;
	struct lt_mix mix;
	int code =
	    lt_mix_start(&mix, fuels, answer->now_utc_s - LT_MIX_SPAN_S, answer->now_utc_s, err);

	if (code == LT_OK)
		code = read_page(options, answer, &mix, &page, err);
	if (code == LT_OK)
		code = lt_mix_points(&mix, options, answer->now_utc_s, points, err);
	lt_mix_free(&mix);
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

static void
period_text(char out[24], int64_t utc_s)
{
	const time_t seconds = (time_t)utc_s;
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(out, 24, "%Y-%m-%dT%H", &parts);
}

/* Newest first, so that what no page has is the oldest; then by fuel, so that pages neither overlap
 * nor leave a row out. */
static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options, const struct lt_mix *mix,
    int offset, struct lt_error *err)
{
	char start[24], end[24], from[16];

	const struct lt_query query[] = {
	    {"frequency", "hourly"},
	    {"data[0]", "value"},
	    {"facets[respondent][]", lt_source_option(options, "respondent", "")},
	    {"start", start},
	    {"end", end},
	    {"sort[0][column]", "period"},
	    {"sort[0][direction]", "desc"},
	    {"sort[1][column]", "fueltype"},
	    {"sort[1][direction]", "asc"},
	    {"offset", from},
	    {"length", "5000"},
	    {NULL, NULL},
	};
	int code =
	    lt_url_start(out, lt_source_option(options, "url", eia_options[EIA_URL].fallback),
		"v2/electricity/rto/fuel-type-data/data/", err);

	/* A period is the end of its hour; one more, should the end not be part of the range. */
	period_text(start, mix->start_utc_s + LT_HOUR_S);
	period_text(end, mix->start_utc_s + (mix->hour_count + 1LL) * LT_HOUR_S);
	snprintf(from, sizeof(from), "%d", offset);
	return code == LT_OK ? lt_url_query(out, query, err) : code;
}

static int
request_page(struct lt_web *web, const char *secret_query, struct lt_mix *mix, struct page *page,
    struct lt_error *err)
{
	char url[LT_URL_SIZE];
	struct lt_http_response response = {0};
	struct lt_error inner = {0};
	const struct lt_web_request request = {
	    .url = url,
	    .secret_query = secret_query,
	    .headers = {"Accept: application/json"},
	    .gap_ms = 250, /* at most 5 a second are asked for */
	    .error_text = eia_error_text,
	};
	int code = make_url(url, web->options, mix, page->offset, &inner);

	if (code == LT_OK) {
		code = lt_web_do(web, &request, &response, &inner);
		if (response.status == 429 && web->points->retry_after_s == 0)
			web->points->retry_after_s = OVER_LIMIT_S;
		if (code == LT_OK) {
			code = read_page(web->options,
			    &(struct lt_answer){response.body, response.body_length, 0}, mix, page,
			    &inner);
			if (code != LT_OK)
				lt_web_refuse(url, &inner);
		}
	}
	lt_http_free(&response);
	return lt_error_give(err, code, &inner);
}

/* Later pages are older hours: without them the newer ones still count. */
static int
request_pages(struct lt_web *web, const char *secret_query, struct lt_mix *mix,
    char missing[LT_POINTS_NOTE_SIZE], struct lt_error *err)
{
	struct page page = {0};

	for (int i = 0; i < PAGES_MAX; i++) {
		struct lt_error inner = {0};

		page.offset = i * PAGE_ROWS;
		const int code = request_page(web, secret_query, mix, &page, &inner);
		if (code != LT_OK && i == 0)
			return lt_error_give(err, code, &inner);
		if (code != LT_OK) {
			snprintf(missing, LT_POINTS_NOTE_SIZE, "without older hours: %.120s",
			    inner.text);
			web->points->past_lost = true;
			return LT_OK;
		}
		if (i == 0 && page.rows == 0)
			return lt_fail(err, LT_EINPUT,
			    "no rows for respondent %s: is it EIA's code?",
			    lt_source_option(web->options, "respondent", ""));
		if (page.total >= 0 ? page.rows == 0 || page.total <= (i + 1.0) * PAGE_ROWS
				    : page.rows < PAGE_ROWS)
			return LT_OK;
	}
	snprintf(missing, LT_POINTS_NOTE_SIZE, "without older hours: too many rows");
	return LT_OK;
}

/* "api_key=..."; the caller wipes out. */
static int
make_secret(char out[LT_SECRET_SIZE], const struct lt_source_options *options, struct lt_error *err)
{
	if (lt_source_option(options, "key_file", NULL) != NULL ||
	    lt_source_option(options, "key_env", NULL) != NULL)
		return lt_web_secret_query(out, options, "key", "api_key", err);
	snprintf(out, LT_SECRET_SIZE, "api_key=%s", demo_key);
	return LT_OK;
}

static int
eia_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	char secret_query[LT_SECRET_SIZE], missing[LT_POINTS_NOTE_SIZE] = "";
	struct lt_web web;
	struct lt_mix mix;
	int code = lt_mix_start(&mix, fuels, window->from_utc_s,
	    window->to_utc_s < window->now_utc_s ? window->to_utc_s : window->now_utc_s, err);

	lt_web_start(&web, options, points);
	points->quantity = LT_QUANTITY_CARBON;
	if (code == LT_OK)
		code = make_secret(secret_query, options, err);
	if (code == LT_OK)
		code = request_pages(&web, secret_query, &mix, missing, err);
	explicit_bzero(secret_query, sizeof(secret_query));
	if (code == LT_OK)
		code = lt_mix_points(&mix, options, window->now_utc_s, points, err);
	if (code == LT_OK && missing[0] != '\0')
		memcpy(points->note, missing, sizeof(points->note));
	lt_mix_free(&mix);
	lt_text_mend(points->note);
	return lt_error_mend(err, code);
}

const struct lt_adapter lt_adapter_eia = {
    .name = "eia",
    .usage = "US EIA: hourly fuel mix of a balancing authority",
    .options = eia_options,
    .interval_s = LT_HOUR_S,
    .fresh_s = LATE_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_LIFECYCLE,
    .version = "EIA-930, API v2; " LT_FUEL_MIX_VERSION,
    .check = eia_check,
    .fetch = eia_fetch,
    .parse = eia_parse,
};
