/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carbon intensity of France by RTE's eCO2mix, from the open data platform
 * ODRE (no key), by quarter hour. docs/sources/rte_eco2mix.md.
 *
 * Missing: null, as of every quarter hour to come. A 0 is taken for missing,
 * too: it has been seen in place of null, and France burns something always.
 */
#include <stdio.h>
#include <string.h>

#include "source.h"
#include "units.h"
#include "web.h"

enum {
	STEP_S = 900,
	LATE_S = 2 * LT_HOUR_S,
	LEAST_S = LT_DAY_S, /* to ask for: more than one late hour */
};

#define BASE_URL "https://odre.opendatasoft.com"
#define EXPORT                                                                 \
	"api/explore/v2.1/catalog/datasets/eco2mix-national-tr/exports/json"

static const struct lt_adapter_option rte_options[] = {
    {"url", false, "base URL of a mirror", BASE_URL},
    LT_TIMEOUT_OPTION,
    {NULL, false, NULL, NULL},
};

static int
rte_check(const struct lt_source_options *options, struct lt_error *err)
{
	return lt_url_check(options, "url", err);
}

/* ---- an answer ---- */

struct tally { /* of one answer; what is empty at its end is yet to come */
	size_t empty, trailing, refused;
	struct lt_error refusal; /* the first: lt_fail() keeps it */
};

/* One bad row must not cost the others. */
static int
add_row(const json_t *row, struct lt_points *points, struct tally *tally)
{
	const char *const time =
	    json_string_value(json_object_get(row, "date_heure"));
	const json_t *const value = json_object_get(row, "taux_co2");
	struct lt_point point = {.quality = LT_QUALITY_ESTIMATED};

	if (time == NULL ||
	    lt_utc_parse(time, &point.start_utc_s, NULL) != LT_OK)
		return lt_fail(
		    &tally->refusal, LT_EINPUT, "a row without date_heure");
	if (value == NULL || json_is_null(value)) {
		tally->trailing++;
		return LT_OK;
	}
	tally->empty += tally->trailing;
	tally->trailing = 0;
	if (!lt_json_number(value, &point.value))
		return lt_fail(
		    &tally->refusal, LT_EINPUT, "taux_co2: no number");
	point.end_utc_s = point.start_utc_s + STEP_S;
	return lt_points_add(points, &point, &tally->refusal);
}

/* The export is a list of rows; a page of records has one. */
static int
parse_json(const struct lt_source_options *options, const json_t *json,
    int64_t now_utc_s, struct lt_points *points, struct lt_error *err)
{
	const json_t *const rows =
	    json_is_array(json) ? json : json_object_get(json, "results");
	struct tally tally = {0};
	const json_t *row;
	size_t i;

	(void)options;
	if (!json_is_array(rows))
		return lt_fail(
		    err, LT_EINPUT, "JSON without a list of \"results\"");
	points->quantity = LT_QUANTITY_CARBON;
	json_array_foreach(rows, i, row) {
		const int code = add_row(row, points, &tally);

		if (code == LT_EINPUT)
			tally.refused++;
		else if (code != LT_OK)
			return lt_error_give(err, code, &tally.refusal);
	}
	if (points->count == 0)
		return lt_fail(err, LT_EINPUT,
		    "%zu rows and no usable value among them%s%s",
		    json_array_size(rows), tally.refused > 0 ? ": " : "",
		    tally.refusal.text);
	points->note[0] = '\0'; /* of an answer before this one */
	if (tally.refused > 0)
		lt_note_add(points, "%zu of %zu rows refused: %.80s",
		    tally.refused, json_array_size(rows), tally.refusal.text);
	if (tally.empty > 0)
		lt_note_add(points, "%zu of %zu quarter hours have no value",
		    tally.empty, json_array_size(rows));
	lt_points_sort(points);
	lt_points_date(points, now_utc_s);
	return LT_OK;
}

static int
rte_parse(const struct lt_source_options *options,
    const struct lt_answer *answer, struct lt_points *points,
    struct lt_error *err)
{
	return lt_json_parse(parse_json, options, answer, points, err);
}

/* ---- requests ---- */

/* {"error_code": "ODSQLError", "message": "..."} */
static void
error_text(char *out, size_t size, const char *body, size_t length)
{
	json_t *json;

	out[0] = '\0';
	if (lt_json_load(&json, body, length, NULL) != LT_OK)
		return;
	const char *const message =
	    json_string_value(json_object_get(json, "message"));

	if (message != NULL)
		snprintf(out, size, "%.200s", message);
	json_decref(json);
}

/* Of [from, to) the time and the intensity alone, oldest first. */
static int
make_url(char out[LT_URL_SIZE], const struct lt_source_options *options,
    const struct lt_window *window, struct lt_error *err)
{
	char from[32], to[32], where[128];
	const struct {
		const char *key, *value;
	} query[] = {
	    {"select", "date_heure,taux_co2"},
	    {"where", where},
	    {"order_by", "date_heure asc"},
	    {"timezone", "UTC"},
	};
	int code = lt_url_start(
	    out, lt_source_option(options, "url", BASE_URL), EXPORT, err);

	lt_utc_text(from, sizeof(from), window->from_utc_s);
	lt_utc_text(to, sizeof(to), window->to_utc_s);
	snprintf(where, sizeof(where),
	    "date_heure IN [date'%.19s+00:00' TO date'%.19s+00:00'[", from, to);
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
		if (code == LT_OK)
			code =
			    lt_url_add(out, query[i].key, query[i].value, err);
	return code;
}

static int
rte_fetch(const struct lt_source_options *options,
    const struct lt_window *window, struct lt_points *points,
    struct lt_error *err)
{
	const int64_t now_utc_s = window->now_utc_s;
	const int64_t least_utc_s = now_utc_s - LEAST_S;
	int64_t from_utc_s =
	    window->from_utc_s < least_utc_s ? window->from_utc_s : least_utc_s;
	char url[LT_URL_SIZE];
	const struct lt_web_request request = {
	    .url = url,
	    .headers = {"Accept: application/json"},
	    .error_text = error_text,
	};
	struct lt_web web;
	int code;

	from_utc_s -= from_utc_s % STEP_S;
	lt_web_start(&web, options, points);
	points->quantity = LT_QUANTITY_CARBON;
	code = make_url(url, options,
	    &(struct lt_window){from_utc_s, now_utc_s, now_utc_s}, err);
	return code == LT_OK
		   ? lt_web_points(&web, &request, rte_parse, now_utc_s, err)
		   : code;
}

const struct lt_adapter lt_adapter_rte_eco2mix = {
    .name = "rte_eco2mix",
    .usage = "carbon intensity of France, by RTE's eCO2mix; no key",
    .options = rte_options,
    .interval_s = LT_HOUR_S / 2,
    .fresh_s = LATE_S,
    .basis = LT_BASIS_DIRECT,
    .version = "eco2mix-national-tr, taux_co2; imports not counted",
    .gives = LT_QUANTITY_CARBON,
    .check = rte_check,
    .fetch = rte_fetch,
    .parse = rte_parse,
};
