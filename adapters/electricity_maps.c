/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity by Electricity Maps (a key is needed): the present, history
 * and, where the plan has one, a forecast. docs/sources/electricity_maps.md.
 */
#include <stdio.h>
#include <string.h>

#include "electricity_maps.h"
#include "fetch_parts.h"
#include "units.h"
#include "web.h"

enum {
	CHUNK_S = 9 * LT_DAY_S, /* past-range takes ten days of hours */
	LATE_S = 2 * LT_HOUR_S, /* what its newest value is usually behind */
};

static const struct lt_adapter_option em_options[] = {
    {"zone", false, "as DE, DK-DK1, US-CAL-CISO", NULL},
    {"data_center_provider", false,
	"gcp, aws or azure, with data_center_region instead of zone", NULL},
    {"data_center_region", false, "as europe-west1", NULL},
    {"key_file", false, "file of mode 0600 with the API key", NULL},
    {"key_env", false, "environment variable with it, instead", NULL},
    {"emission_factors", false, "lifecycle or direct", LT_EM_FACTORS},
    {"forecast", false, "yes or no: some plans have none", "yes"},
    {"horizon_hours", false, "of the forecast: 6, 24, 48 or 72", "72"},
    {"url", false, "base URL, with the version",
	"https://api.electricitymaps.com/v3"},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
value_of(const struct lt_source_options *options, const char *key)
{
	for (int i = 0; em_options[i].key != NULL; i++)
		if (strcmp(em_options[i].key, key) == 0)
			return lt_source_option(
			    options, key, em_options[i].fallback);
	return NULL;
}

/* One of a few words, ended by NULL. */
static int
check_choice(const struct lt_source_options *options, const char *key,
    const char *const *words, const char *usage, struct lt_error *err)
{
	const char *const value = value_of(options, key);

	for (; *words != NULL; words++)
		if (strcmp(value, *words) == 0)
			return LT_OK;
	return lt_option_fail(options, key, err, "%s: %s: got \"%s\", want %s",
	    options->name, key, value, usage);
}

/* Names in queries: what the documentation has, and nothing that could be
 * taken for another part of a URL. */
static int
check_name(const struct lt_source_options *options, const char *key,
    const char *letters, const char *usage, struct lt_error *err)
{
	const char *const value = value_of(options, key);
	const size_t length = value == NULL ? 1 : strlen(value);

	if (value == NULL ||
	    (length >= 1 && length <= 40 && strspn(value, letters) == length))
		return LT_OK;
	return lt_option_fail(options, key, err, "%s: %s: got \"%s\", want %s",
	    options->name, key, value, usage);
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
		    "%s: want zone, or data_center_provider and data_center_region",
		    options->name);
	if ((provider == NULL) != (region == NULL))
		return lt_option_fail(options,
		    provider == NULL ? "data_center_region"
				     : "data_center_provider",
		    err,
		    "%s: want data_center_provider and data_center_region together",
		    options->name);
	code = check_name(options, "zone", capitals,
	    "a zone of app.electricitymaps.com in capitals, such as DE", err);
	if (code == LT_OK)
		code = check_name(options, "data_center_provider", smalls,
		    "small letters such as gcp", err);
	return code == LT_OK ? check_name(options, "data_center_region", smalls,
				   "small letters such as europe-west1", err)
			     : code;
}

static int
em_check(const struct lt_source_options *options, struct lt_error *err)
{
	static const char *const answers[] = {"yes", "no", NULL};
	static const char *const hours[] = {"6", "24", "48", "72", NULL};
	int code = check_place(options, err);

	if (code == LT_OK)
		code = check_choice(
		    options, "forecast", answers, "yes or no", err);
	if (code == LT_OK)
		code = check_choice(
		    options, "horizon_hours", hours, "6, 24, 48 or 72", err);
	if (code == LT_OK)
		code = lt_secret_check(options, "key", true, err);
	return code == LT_OK ? lt_url_check(options, "url", err) : code;
}

/* ---- requests ---- */

struct asking { /* the parts of a request that stay the same */
	struct lt_web web;
	int64_t now_utc_s;
	char header[LT_SECRET_SIZE + 16]; /* wiped at the end */
};

/* A zone that it does not know would give the zone of who asks, by his IP
 * address, with nothing to tell: version 3 names the switch for that one way,
 * version 4 the other. */
static int
make_url(char url[LT_URL_SIZE], const struct lt_source_options *options,
    const char *endpoint, struct lt_error *err)
{
	static const struct {
		const char *key, *option;
	} query[] = {
	    {"zone", "zone"},
	    {"dataCenterProvider", "data_center_provider"},
	    {"dataCenterRegion", "data_center_region"},
	    {"emissionFactorType", "emission_factors"},
	};
	char path[64];
	int code;

	snprintf(path, sizeof(path), "carbon-intensity/%s", endpoint);
	code = lt_url_start(url, value_of(options, "url"), path, err);
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++) {
		const char *const value = value_of(options, query[i].option);

		if (code == LT_OK && value != NULL)
			code = lt_url_add(url, query[i].key, value, err);
	}
	if (code == LT_OK)
		code = lt_url_add(
		    url, "shouldUseFallbackCallerLookup", "false", err);
	return code == LT_OK
		   ? lt_url_add(url, "disableCallerLookup", "true", err)
		   : code;
}

/* The points of an answer come to those of the part; a part that failed keeps
 * its first error. */
static int
request(struct asking *asking, const char *url, struct lt_fetch_part *part)
{
	const struct lt_web_request request = {
	    .url = url,
	    .secret_header = asking->header,
	    .headers = {"Accept: application/json"},
	    .error_text = lt_em_error_text,
	};

	part->asked = true;
	asking->web.points = &part->points;
	part->code = lt_web_points(
	    &asking->web, &request, lt_em_parse, asking->now_utc_s, &part->err);
	return part->code;
}

static int
request_plain(struct asking *asking, const char *endpoint, const char *key,
    const char *value, struct lt_fetch_part *part)
{
	char url[LT_URL_SIZE];

	part->code = make_url(url, asking->web.options, endpoint, &part->err);
	if (part->code == LT_OK && key != NULL)
		part->code = lt_url_add(url, key, value, &part->err);
	return part->code == LT_OK ? request(asking, url, part) : part->code;
}

static int
request_range(struct asking *asking, int64_t start_utc_s, int64_t end_utc_s,
    struct lt_fetch_part *part)
{
	char url[LT_URL_SIZE], start[32], end[32];

	lt_utc_text(
	    start, sizeof(start), start_utc_s - start_utc_s % LT_HOUR_S);
	lt_utc_text(end, sizeof(end), end_utc_s);
	part->code =
	    make_url(url, asking->web.options, "past-range", &part->err);
	if (part->code == LT_OK)
		part->code = lt_url_add(url, "start", start, &part->err);
	if (part->code == LT_OK)
		part->code = lt_url_add(url, "end", end, &part->err);
	return part->code == LT_OK ? request(asking, url, part) : part->code;
}

/* The newest chunk first. Plans without past-range have the last 24 hours. */
static void
request_past(struct asking *asking, int64_t from_utc_s, int64_t end_utc_s,
    struct lt_fetch_part *past)
{
	struct lt_fetch_part day = {0};

	while (end_utc_s > from_utc_s && past->code == LT_OK) {
		const int64_t start_utc_s = end_utc_s - CHUNK_S > from_utc_s
						? end_utc_s - CHUNK_S
						: from_utc_s;

		request_range(asking, start_utc_s, end_utc_s, past);
		end_utc_s = start_utc_s;
	}
	if (past->code == LT_OK || past->points.count > 0 ||
	    past->points.retry_after_s > 0)
		return;
	if (request_plain(asking, "history", NULL, NULL, &day) == LT_OK) {
		lt_points_free(&past->points);
		lt_note_add(
		    &day.points, "its last day only, without past-range");
		*past = day;
	} else {
		past->points.retry_after_s = day.points.retry_after_s;
		lt_points_free(&day.points);
	}
}

/* The hours to come of the forecast, and over them what is said of now. */
static int
join_ahead(const struct lt_fetch_part *forecast, int64_t now_utc_s,
    struct lt_fetch_part *ahead)
{
	struct lt_points *const latest = &ahead->points;
	struct lt_points both = {0};
	int code = lt_points_copy(
	    &both, &forecast->points, now_utc_s, INT64_MAX, &ahead->err);

	if (code == LT_OK)
		code = lt_points_copy(
		    &both, latest, INT64_MIN, INT64_MAX, &ahead->err);
	both.issued_utc_s = forecast->points.issued_utc_s;
	both.retry_after_s = latest->retry_after_s;
	memcpy(both.note, latest->note, sizeof(both.note));
	if (forecast->points.note[0] != '\0' &&
	    strcmp(forecast->points.note, latest->note) != 0)
		lt_note_add(&both, "forecast: %s", forecast->points.note);
	lt_points_free(latest);
	*latest = both;
	return code;
}

/* A plan without forecast is no failure; nor is an hour of now without value,
 * if there is a forecast. Returns false for a key that is refused, or gets
 * made-up values: it is asked for no more. */
static bool
request_ahead(struct asking *asking, struct lt_fetch_part *ahead)
{
	const struct lt_source_options *const options = asking->web.options;
	struct lt_fetch_part forecast = {0};

	request_plain(asking, "latest", NULL, NULL, ahead);
	if (ahead->code == LT_EDENIED || lt_web_status(&asking->web) == 401)
		return false;
	if (strcmp(value_of(options, "forecast"), "no") == 0)
		return true;
	request_plain(asking, "forecast", "horizonHours",
	    value_of(options, "horizon_hours"), &forecast);
	if (forecast.points.retry_after_s > ahead->points.retry_after_s)
		ahead->points.retry_after_s = forecast.points.retry_after_s;
	if (forecast.code != LT_OK && ahead->code == LT_OK) {
		lt_note_add(&ahead->points, "without forecast: %.140s",
		    forecast.err.text);
	} else if (forecast.code == LT_OK) {
		if (ahead->code != LT_OK)
			lt_note_add(&ahead->points,
			    "without the present: %.140s", ahead->err.text);
		ahead->err = (struct lt_error){0};
		ahead->code = join_ahead(&forecast, asking->now_utc_s, ahead);
	}
	lt_points_free(&forecast.points);
	return true;
}

static int
em_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
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
		    window->to_utc_s < window->now_utc_s ? window->to_utc_s
							 : window->now_utc_s,
		    &parts.past);
	explicit_bzero(asking.header, sizeof(asking.header));
	points->quantity = LT_QUANTITY_CARBON;
	code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

const struct lt_adapter lt_adapter_electricity_maps = {
    .name = "electricity_maps",
    .usage =
	"carbon intensity of a zone or data centre, by Electricity Maps; needs a key",
    .options = em_options,
    .interval_s = LT_HOUR_S,
    .fresh_s = LATE_S,
    .gives = LT_QUANTITY_CARBON,
    .basis = LT_BASIS_LIFECYCLE,
    .version = "Electricity Maps API v3, or v4 by url; imports counted",
    .check = em_check,
    .fetch = em_fetch,
    .parse = lt_em_parse,
};
