/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy-Charts (Fraunhofer ISE; no key, CC BY 4.0): carbon intensity of European countries,
 * measured and forecast; day-ahead prices of power exchanges, as a tariff; forecasts of wind, sun
 * and load by the operators of the grids, as published the day before. All endpoints answer in
 * columns, one of times and one or two of values. docs/sources/energy_charts*.md.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fetch_parts.h"
#include "source.h"
#include "prices.h"
#include "units.h"
#include "web.h"

#define BASE_URL "https://api.energy-charts.info"

enum { COLUMNS_MAX = 2 };

struct charts { /* one endpoint */
	enum lt_quantity quantity;
	const char *currency; /* "" = no money */
	const char *path;     /* "co2eq" */
	const char *zone_key; /* of the query */
	const char *zone_option;
	/* Without start and end it answers with today and tomorrow; else both are sent always. */
	bool default_is_present;
	struct lt_query query[3];	  /* more; ended by key NULL */
	const char *columns[COLUMNS_MAX]; /* NULL = no second */
	lt_parse_fn *parse;		  /* the adapter's */
	/* True if the answer is in our unit. May be NULL. */
	int (*begin)(const struct lt_source_options *options, const json_t *json,
	    struct lt_tariff_terms *terms, struct lt_error *err);
	/* Value and quality of a point that has its times, from its cells (NULL = no such column).
	 * False: a gap. NAN: a cell that is no number. */
	bool (*value)(const json_t *const cells[COLUMNS_MAX], const struct lt_tariff_terms *terms,
	    int64_t now_utc_s, struct lt_point *point);
};

/* ---- an answer in columns ---- */

enum {
	STEP_MAX_S = LT_HOUR_S,	 /* longer: a hole */
	GAP_MS = 1500,		 /* faster, and it answers 429 */
	CHUNK_S = 31 * LT_DAY_S, /* prices: two requests a minute, no more */
	CHUNK_MIN_S = LT_DAY_S,	 /* one time alone would have no step */
	PRESENT_S = 2 * LT_DAY_S,
};
#define TIME_MAX_UTC_S INT64_C(253402300799) /* the end of the year 9999 */

struct columns {
	const json_t *times, *values[COLUMNS_MAX];
	size_t count;
	struct lt_error refusal; /* of the first that can't be read */
};

struct reading { /* of one answer */
	const struct charts *charts;
	struct lt_tariff_terms terms;
	int64_t now_utc_s;
	struct columns columns;
	struct lt_points *points;
	/* Counts of its times. Values that are still missing at its end are
	 * of a time to come: no reason for a note. */
	int empty, trailing, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

static double
cell_number(const json_t *cell)
{
	double value;

	return lt_json_number(cell, &value) ? value : NAN;
}

static int
check_country(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const country = lt_source_option(options, "country", "");
	const size_t length = strlen(country);

	if (length < 2 || length > 3 || strspn(country, "abcdefghijklmnopqrstuvwxyz") != length)
		return lt_option_fail(options, "country", err,
		    "%s: country: got \"%s\", want two small letters such as de, or eu or all",
		    options->name, country);
	return LT_OK;
}

static int64_t
time_at(const struct columns *columns, size_t i)
{
	return json_integer_value(json_array_get(columns->times, i));
}

static int
check_times(const struct columns *columns, struct lt_error *err)
{
	int64_t last_utc_s = -1;
	const json_t *time;
	size_t i;

	json_array_foreach(columns->times, i, time) {
		const int64_t utc_s = json_integer_value(time);

		if (!json_is_integer(time) || utc_s < 0 || utc_s > TIME_MAX_UTC_S)
			return lt_fail(err, LT_EINPUT, "unix_seconds: item %zu is no time", i + 1);
		if (utc_s <= last_utc_s)
			return lt_fail(err, LT_EINPUT,
			    "unix_seconds: item %zu: got %" PRId64 " after %" PRId64
			    ", want a later one",
			    i + 1, utc_s, last_utc_s);
		last_utc_s = utc_s;
	}
	return LT_OK;
}

/* A column may be left out, or be null; one that is there is as long as the times are: else nobody
 * knows which value is whose. */
static int
find_column(const struct charts *charts, const json_t *json, int index, struct columns *columns,
    struct lt_error *err)
{
	const char *const name = charts->columns[index];
	const json_t *const list = name == NULL ? NULL : json_object_get(json, name);

	if (list == NULL || json_is_null(list))
		return LT_OK;
	if (!json_is_array(list))
		return lt_fail(err, LT_EINPUT, "\"%s\" is no list", name);
	if (json_array_size(list) != columns->count)
		return lt_fail(err, LT_EINPUT,
		    "\"%s\" has %zu values, want %zu as \"unix_seconds\"", name,
		    json_array_size(list), columns->count);
	columns->values[index] = list;
	return LT_OK;
}

static int
find_columns(
    const struct charts *charts, const json_t *json, struct columns *columns, struct lt_error *err)
{
	bool found = false;
	int code;

	columns->times = json_object_get(json, "unix_seconds");
	if (!json_is_array(columns->times))
		return lt_fail(err, LT_EINPUT, "JSON without \"unix_seconds\"");
	columns->count = json_array_size(columns->times);
	code = check_times(columns, err);
	if (code != LT_OK)
		return code;
	/* One that can't be read, as of the forecast, does not cost the other. */
	for (int i = 0; i < COLUMNS_MAX; i++)
		found |= find_column(charts, json, i, columns, &columns->refusal) == LT_OK &&
			 columns->values[i] != NULL;
	if (!found && columns->refusal.text[0] != '\0')
		return lt_error_give(err, LT_EINPUT, &columns->refusal);
	if (!found)
		return lt_fail(err, LT_EINPUT, "JSON without \"%s\"", charts->columns[0]);
	if (columns->count == 1)
		return lt_fail(err, LT_EINPUT, "one time only: how long it holds is not known");
	return LT_OK;
}

/* Steps are as long as to the next time, or from the one before where that is less: then one is
 * missing, which leaves a gap and makes no long step. */
static int64_t
step_at(const struct columns *columns, size_t i)
{
	int64_t step_s = STEP_MAX_S;

	if (i + 1 < columns->count) {
		const int64_t next_s = time_at(columns, i + 1) - time_at(columns, i);

		step_s = next_s < step_s ? next_s : step_s;
	}
	if (i > 0) {
		const int64_t last_s = time_at(columns, i) - time_at(columns, i - 1);

		step_s = last_s < step_s ? last_s : step_s;
	}
	return step_s;
}

/* One bad value must not cost the others. */
static int
add_point(struct reading *reading, size_t i, struct lt_error *err)
{
	const struct columns *const columns = &reading->columns;
	const struct lt_tariff_terms *const terms = &reading->terms;
	struct lt_points *const points = reading->points;
	const int64_t start_utc_s = time_at(columns, i);
	struct lt_point point = {
	    .start_utc_s = start_utc_s, .end_utc_s = start_utc_s + step_at(columns, i)};
	const json_t *cells[COLUMNS_MAX];

	for (int j = 0; j < COLUMNS_MAX; j++)
		cells[j] =
		    columns->values[j] == NULL ? NULL : json_array_get(columns->values[j], i);
	if (!reading->charts->value(cells, terms, reading->now_utc_s, &point)) {
		reading->trailing++;
		return LT_OK;
	}
	reading->empty += reading->trailing;
	reading->trailing = 0;
	switch (lt_points_add(points, &point, &reading->refusal)) {
	case LT_OK:
		return LT_OK;
	case LT_EINPUT:
		reading->refused++;
		return LT_OK;
	default:
		return lt_error_give(err, (int)reading->refusal.code, &reading->refusal);
	}
}

static int
add_points(struct reading *reading, struct lt_error *err)
{
	const struct columns *const columns = &reading->columns;
	const size_t count = columns->count;
	struct lt_points *const points = reading->points;
	const size_t before = points->count;

	for (size_t i = 0; i < count; i++) {
		const int code = add_point(reading, i, err);

		if (code != LT_OK)
			return code;
	}
	if (points->count == before)
		return lt_fail(err, LT_EINPUT, "%zu times and no usable value among them%s%s",
		    count, reading->refusal.text[0] == '\0' ? "" : ": ", reading->refusal.text);
	if (columns->refusal.text[0] != '\0')
		lt_note_add(points, "%s", columns->refusal.text);
	if (reading->refused + reading->empty > 0)
		lt_note_add(points, "%d of %zu times have no usable value",
		    reading->refused + reading->empty, count);
	return LT_OK;
}

static int
parse_json(struct reading *reading, const struct lt_source_options *options, const json_t *json,
    struct lt_error *err)
{
	const struct charts *const charts = reading->charts;
	struct lt_points *const points = reading->points;
	int code = find_columns(charts, json, &reading->columns, err);

	if (code == LT_OK && charts->begin != NULL)
		code = charts->begin(options, json, &reading->terms, err);
	if (code != LT_OK)
		return code;
	points->quantity = charts->quantity;
	strcpy(points->currency, charts->currency);
	points->note[0] = '\0'; /* of an answer before this one */
	reading->refusal = reading->columns.refusal;
	code = add_points(reading, err);
	if (code == LT_OK && json_is_true(json_object_get(json, "deprecated")))
		lt_note_add(points, "the source says that it will end this interface (deprecated)");
	return code;
}

static int
charts_parse(const struct charts *charts, const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points, struct lt_error *err)
{
	struct reading reading = {
	    .charts = charts,
	    .now_utc_s = answer->now_utc_s,
	    .points = points,
	};
	json_t *json;
	int code = lt_json_load(&json, answer->bytes, answer->byte_count, err);

	if (code != LT_OK)
		return lt_error_mend(err, code);
	code = parse_json(&reading, options, json, err);
	json_decref(json);
	if (code == LT_OK) {
		lt_points_sort(points);
		lt_points_date(points, answer->now_utc_s);
	}
	return lt_error_mend(err, code);
}

/* ---- requests ---- */

/* {"detail": "Not Found"}, or {"detail": [{"msg": "..."}, ...]} of a query that it does not
 * understand; all else is plain text. */
static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const json_t *const detail = json_object_get(json, "detail");
	const char *const text = json_string_value(
	    json_is_array(detail) ? json_object_get(json_array_get(detail, 0), "msg") : detail);

	snprintf(out, size, "%s", text == NULL ? "" : text);
	json_decref(json);
}

struct asking { /* the parts of a request that stay the same */
	const struct charts *charts;
	struct lt_web *web;
	int64_t now_utc_s;
};

/* "2026-10-05T22:00Z" */
static void
minute_text(char out[32], int64_t utc_s)
{
	lt_utc_text(out, 32, utc_s);
	strcpy(out + strlen("2026-10-05T22:00"), "Z");
}

/* [start, end) in whole hours at the start, or with end 0 the present as the source sees it. */
static void
request(
    const struct asking *asking, int64_t start_utc_s, int64_t end_utc_s, struct lt_fetch_part *part)
{
	const struct charts *const charts = asking->charts;
	const struct lt_source_options *const options = asking->web->options;
	char url[LT_URL_SIZE], start[32] = "", end[32] = "";
	const struct lt_query times[] = {{"start", start}, {"end", end}, {NULL, NULL}};
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .gap_ms = GAP_MS,
	    .error_text = error_text,
	};
	struct lt_error *const err = &part->err;
	int code = lt_url_start(url, lt_source_option(options, "url", BASE_URL), charts->path, err);

	if (end_utc_s != 0) {
		minute_text(start, start_utc_s - start_utc_s % LT_HOUR_S);
		minute_text(end, end_utc_s);
	}
	if (code == LT_OK)
		code = lt_url_add(
		    url, charts->zone_key, lt_source_option(options, charts->zone_option, ""), err);
	if (code == LT_OK)
		code = lt_url_query(url, charts->query, err);
	if (code == LT_OK)
		code = lt_url_query(url, times, err);
	part->asked = true;
	asking->web->points = &part->points;
	part->code = code == LT_OK ? lt_web_points(asking->web, &request, charts->parse,
					 asking->now_utc_s, err)
				   : code;
}

/* The newest first, so that a refusal costs the oldest. */
static void
request_past(
    const struct asking *asking, int64_t from_utc_s, int64_t end_utc_s, struct lt_fetch_part *past)
{
	while (end_utc_s > from_utc_s && past->code == LT_OK) {
		int64_t start_utc_s = end_utc_s - CHUNK_S;

		if (start_utc_s < from_utc_s)
			start_utc_s = from_utc_s < end_utc_s - CHUNK_MIN_S
					  ? from_utc_s
					  : end_utc_s - CHUNK_MIN_S;
		request(asking, start_utc_s, end_utc_s, past);
		end_utc_s = start_utc_s;
	}
}

static int
charts_fetch(const struct charts *charts, const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points, struct lt_error *err)
{
	struct lt_fetch_parts parts = {0};
	struct lt_web web;
	const struct asking asking = {charts, &web, window->now_utc_s};
	const int64_t known_utc_s =
	    window->to_utc_s < window->now_utc_s ? window->to_utc_s : window->now_utc_s;
	int64_t past_end_utc_s = known_utc_s;

	lt_web_start(&web, options, points);
	if (window->to_utc_s > window->now_utc_s && charts->default_is_present) {
		request(&asking, 0, 0, &parts.ahead);
	} else if (window->to_utc_s > window->now_utc_s) {
		/* With yesterday, too: a time without any value is "no content" (404), also today
		 * before its prices are there. */
		past_end_utc_s = window->from_utc_s > window->now_utc_s - PRESENT_S
				     ? window->from_utc_s
				     : window->now_utc_s - PRESENT_S;
		request(&asking, past_end_utc_s, window->now_utc_s + PRESENT_S, &parts.ahead);
	}
	request_past(&asking, window->from_utc_s,
	    parts.ahead.code == LT_OK ? past_end_utc_s : known_utc_s, &parts.past);
	points->quantity = charts->quantity;
	const int code = lt_fetch_parts_join(&parts, options, window, points, err);
	lt_fetch_parts_free(&parts);
	return code;
}

/* ---- carbon intensity ---- */

static const struct lt_adapter_option co2_options[] = {
    {"country", true, "as de, fr, ch, or eu", NULL},
    LT_BASIS_OPTION,
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

/* Measured where there is a measured value of a time that has begun. */
static bool
co2_value(const json_t *const cells[COLUMNS_MAX], const struct lt_tariff_terms *terms,
    int64_t now_utc_s, struct lt_point *point)
{
	(void)terms;
	if (cells[0] != NULL && !json_is_null(cells[0]) && point->start_utc_s <= now_utc_s) {
		point->value = cell_number(cells[0]);
		point->quality = LT_QUALITY_MEASURED;
		return true;
	}
	if (cells[1] == NULL || json_is_null(cells[1]))
		return false;
	point->value = cell_number(cells[1]);
	point->quality = point->end_utc_s <= now_utc_s ? LT_QUALITY_ESTIMATED : LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn co2_parse;

static const struct charts co2_charts = {
    .quantity = LT_QUANTITY_CARBON,
    .currency = "",
    .path = "co2eq",
    .zone_key = "country",
    .zone_option = "country",
    .default_is_present = true,
    .columns = {"co2eq", "co2eq_forecast"},
    .parse = co2_parse,
    .value = co2_value,
};

static int
co2_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return charts_parse(&co2_charts, options, answer, points, err);
}

static int
co2_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	return charts_fetch(&co2_charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts = {
    .name = "energy_charts",
    .usage = "carbon intensity of a European country, by Energy-Charts; no key",
    .options = co2_options,
    .interval_s = LT_HOUR_S / 2,
    .gives = LT_QUANTITY_CARBON,
    .check = check_country,
    .fetch = co2_fetch,
    .parse = co2_parse,
};

/* ---- prices ---- */

#define UNIT "EUR / MWh"

static const struct lt_adapter_option price_options[] = {
    {"bidding_zone", true, "as DE-LU, FR, SE4", NULL},
    LT_TARIFF_TERMS_OPTIONS,
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const char *
price_currency(const struct lt_source_options *options)
{
	(void)options;
	return "EUR";
}

static int
price_check(const struct lt_source_options *options, struct lt_error *err)
{
	const char *const zone = lt_source_option(options, "bidding_zone", "");
	const size_t length = strlen(zone);
	struct lt_tariff_terms terms;
	const int code = lt_tariff_terms_read(options, "EUR", &terms, err);

	if (code != LT_OK)
		return code;
	if (length < 2 || length > 24 ||
	    strspn(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-()") !=
		length)
		return lt_option_fail(options, "bidding_zone", err,
		    "%s: bidding_zone: got \"%s\", want one such as DE-LU", options->name, zone);
	return LT_OK;
}

static int
price_begin(const struct lt_source_options *options, const json_t *json,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	const char *const unit = json_string_value(json_object_get(json, "unit"));

	if (unit == NULL || strcmp(unit, UNIT) != 0)
		return lt_fail(err, LT_EINPUT, "unit: got \"%.40s\", want \"" UNIT "\"",
		    unit == NULL ? "" : unit);
	return lt_tariff_terms_read(options, "EUR", terms, err);
}

/* An auction's result: what is to come is settled too, but has not been. */
static bool
price_value(const json_t *const cells[COLUMNS_MAX], const struct lt_tariff_terms *terms,
    int64_t now_utc_s, struct lt_point *point)
{
	if (json_is_null(cells[0]))
		return false;
	point->value = lt_tariff_micros(terms, cell_number(cells[0]));
	point->quality =
	    point->start_utc_s <= now_utc_s ? LT_QUALITY_MEASURED : LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn price_parse;

static const struct charts price_charts = {
    .quantity = LT_QUANTITY_TARIFF,
    .currency = "EUR",
    .path = "price",
    .zone_key = "bzn",
    .zone_option = "bidding_zone",
    .columns = {"price"},
    .begin = price_begin,
    .parse = price_parse,
    .value = price_value,
};

static int
price_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	return charts_parse(&price_charts, options, answer, points, err);
}

static int
price_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	return charts_fetch(&price_charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts_price = {
    .name = "energy_charts_price",
    .usage = "day-ahead price of a European bidding zone, by Energy-Charts; no key",
    .options = price_options,
    .interval_s = LT_HOUR_S,
    .gives = LT_QUANTITY_TARIFF,
    .currency = price_currency,
    .check = price_check,
    .fetch = price_fetch,
    .parse = price_parse,
};

/* ---- forecasts of the day before ---- */

static const struct lt_adapter_option ahead_options[] = {
    {"country", true, "as de, fr, ch", NULL},
    {"series", true, "wind_onshore, wind_offshore, solar or load", NULL},
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static const struct {
	const char *name;
	enum lt_quantity quantity;
} series[] = {
    {"wind_onshore", LT_QUANTITY_WIND_POWER},
    {"wind_offshore", LT_QUANTITY_WIND_POWER},
    {"solar", LT_QUANTITY_SOLAR_POWER},
    {"load", LT_QUANTITY_LOAD},
};

static enum lt_quantity
ahead_quantity(const struct lt_source_options *options)
{
	const char *const name = lt_source_option(options, "series", "");

	for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++)
		if (strcmp(series[i].name, name) == 0)
			return series[i].quantity;
	return LT_QUANTITY_COUNT;
}

static int
ahead_check(const struct lt_source_options *options, struct lt_error *err)
{
	if (ahead_quantity(options) == LT_QUANTITY_COUNT)
		return lt_option_fail(options, "series", err,
		    "%s: series: got \"%s\", want wind_onshore, wind_offshore, solar or load",
		    options->name, lt_source_option(options, "series", ""));
	return check_country(options, err);
}

/* Refuses an answer to another question, or not of the day before. */
static int
ahead_begin(const struct lt_source_options *options, const json_t *json,
    struct lt_tariff_terms *terms, struct lt_error *err)
{
	const struct {
		const char *key, *want;
	} says[] = {
	    {"production_type", lt_source_option(options, "series", "")},
	    {"forecast_type", "day-ahead"},
	};

	(void)terms;
	for (int i = 0; i < 2; i++) {
		const char *const got = json_string_value(json_object_get(json, says[i].key));

		if (got == NULL || strcmp(got, says[i].want) != 0)
			return lt_fail(err, LT_EINPUT, "%s: got \"%.40s\", want \"%s\"",
			    says[i].key, got == NULL ? "" : got, says[i].want);
	}
	return LT_OK;
}

static bool
ahead_value(const json_t *const cells[COLUMNS_MAX], const struct lt_tariff_terms *terms,
    int64_t now_utc_s, struct lt_point *point)
{
	(void)terms;
	(void)now_utc_s;
	if (json_is_null(cells[0]))
		return false;
	point->value = cell_number(cells[0]);
	point->quality = LT_QUALITY_FORECAST;
	return true;
}

static lt_parse_fn ahead_parse;

static struct charts
charts_of(const struct lt_source_options *options)
{
	return (struct charts){
	    .quantity = ahead_quantity(options),
	    .currency = "",
	    .path = "public_power_forecast",
	    .zone_key = "country",
	    .zone_option = "country",
	    .query = {{"production_type", lt_source_option(options, "series", "")},
		{"forecast_type", "day-ahead"}},
	    .columns = {"forecast_values"},
	    .begin = ahead_begin,
	    .parse = ahead_parse,
	    .value = ahead_value,
	};
}

static int
ahead_parse(const struct lt_source_options *options, const struct lt_answer *answer,
    struct lt_points *points, struct lt_error *err)
{
	const struct charts charts = charts_of(options);

	return charts_parse(&charts, options, answer, points, err);
}

static int
ahead_fetch(const struct lt_source_options *options, const struct lt_window *window,
    struct lt_points *points, struct lt_error *err)
{
	const struct charts charts = charts_of(options);

	return charts_fetch(&charts, options, window, points, err);
}

const struct lt_adapter lt_adapter_energy_charts_day_ahead = {
    .name = "energy_charts_day_ahead",
    .usage = "what a grid's operator expects for tomorrow, by Energy-Charts; no key",
    .options = ahead_options,
    .interval_s = LT_HOUR_S,
    .quantity = ahead_quantity,
    .check = ahead_check,
    .fetch = ahead_fetch,
    .parse = ahead_parse,
};
